"""End a process and everything that came from it, also what left its process group.

`setsid` takes a process out of the group that we kill, and a parent that ends cuts it off from the tree. So every
process of one run carries a mark in its environment, which children inherit, and `/proc` is searched for it. Out of
reach stays what does all three: a session of its own, a parent that has ended, and an environment that was cleared.
Without `/proc` only the group is ended.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_MOST_ROUNDS = 50


def kill_group(leader: int) -> None:
    """The leader of a group, what it started, and what it left in the background."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def kill_tree(leader: int, mark: str) -> None:
    """The group, the leader's descendants, and every process with `mark` ("NAME=value") in its environment. Searched
    again until nobody new is found: a process may have forked while we looked."""
    killed: set[int] = set()
    for _ in range(_MOST_ROUNDS):
        living = dict(_living())
        victims = _below(leader, living) | {pid for pid in living if _is_marked(pid, mark)}
        kill_group(leader)
        for pid in victims - killed:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if victims <= killed:
            return
        killed |= victims


def below(leader: int) -> set[int]:
    """The leader, if it lives, and everything that came from it and still hangs below it."""
    return _below(leader, dict(_living()))


def tasks_of_user() -> int:
    """How many threads the processes of this user have, as the kernel counts them against a limit."""
    count = 0
    for pid, _ in _living():
        with contextlib.suppress(OSError):
            count += sum(1 for _ in (_PROC / str(pid) / "task").iterdir())
    return count


def _living() -> Iterator[tuple[int, int]]:
    """The processes of this user that have not ended, each with its parent."""
    try:
        entries = [entry for entry in os.scandir(_PROC) if entry.name.isdigit()]
    except OSError:
        return
    for entry in entries:
        with contextlib.suppress(OSError, ValueError, IndexError):
            if entry.stat().st_uid == os.getuid():
                # "pid (name) state parent …"; a name may have anything in it, also brackets
                state, parent = (_PROC / entry.name / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
                if state not in "ZX":
                    yield int(entry.name), int(parent)


def _below(leader: int, parents: dict[int, int]) -> set[int]:
    found = {leader}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found & parents.keys()


def _is_marked(pid: int, mark: str) -> bool:
    try:
        return mark.encode() in (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
