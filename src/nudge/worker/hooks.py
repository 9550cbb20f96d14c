"""Hooks and settings of git that would run a program later, outside the sandbox, when somebody only looks at the work.

Tools that write files do not touch `.git` at all. A command may, through git, so what it armed there is put back
when it has ended: hooks that are new or changed, and settings that name a program.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from nudge.errors import NudgeError, UsageError
from nudge.worker.workspace import GIT, Workspace, parts_of

_MOST_BYTES = 1_000_000
_CONFIGS = ("config", "config.worktree")
_REPOSITORY = {"HEAD", "objects", "refs"}
_ARMING = (
    """alias credential diff difftool filter gpg include includeif merge mergetool pager sequence trailer uploadpack"""
)
_SECTIONS = frozenset(_ARMING.split())
_NAMING = """alternaterefscommand askpass attributesfile clean cmd command driver editor external fsmonitor gitproxy
    helper hookspath pager process program proxy receivepack smudge sshcommand textconv update uploadpack vcs
    worktree"""
_KEYS = frozenset(_NAMING.split())
_HEADER = re.compile(rb"\s*\[\s*([\w.-]+)[^\]]*\]")
_CONTINUED = re.compile(rb"\\\r?\n")


def refuse_git_files(path: str) -> None:
    if any(name.lower() == GIT for name in parts_of(path)):
        raise UsageError(f"{path} belongs to git.", next_step="Use git commands with bash.")


class GitHooks:
    """What is armed in the repositories of a workspace now, to compare with later."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._before = dict(self._armed())

    def put_back(self) -> list[str]:
        """Undo what was armed since; a sentence for each file."""
        told = []
        for path, content in dict(self._armed()).items():
            before = self._before.get(path)
            if content == before:
                continue
            if path.rpartition("/")[2] in _CONFIGS:
                tame = disarmed(content, before or b"")
                if tame == content:
                    continue
                self._workspace.write(path, tame)
            elif before is None:
                self._workspace.remove(path)
            else:
                self._workspace.write(path, before)
            told.append(f"Undone: {path} would run a program later, outside the sandbox.")
        return told

    def _armed(self) -> Iterator[tuple[str, bytes]]:
        """Every hook that git would run and every config, with its content. A link counts by where it leads."""
        for top in self._repositories():
            for path in (_inside(top, name) for name in _CONFIGS):
                try:
                    yield path, self._workspace.read(path, _MOST_BYTES)
                except NudgeError:
                    continue
            try:
                hooks = self._workspace.entries(_inside(top, "hooks"))
            except NudgeError:
                continue
            for entry in hooks:
                if entry.is_folder or entry.path.endswith(".sample"):
                    continue
                try:
                    yield entry.path, self._workspace.read(entry.path, _MOST_BYTES)
                except NudgeError:
                    yield entry.path, b""

    def _repositories(self) -> Iterator[str]:
        """Every folder that git would take for a repository, whatever its name: a bare one needs no `.git`."""
        waiting = [""]
        while waiting:
            path = waiting.pop()
            try:
                with self._workspace.folder(path) as folder, os.scandir(folder) as scan:
                    found = [(one.name, one.is_dir(follow_symlinks=False)) for one in scan]
            except NudgeError:
                continue
            if {name for name, _ in found} >= _REPOSITORY:
                yield path
            waiting.extend(_inside(path, name) for name, is_folder in found if is_folder)


def _inside(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def disarmed(config: bytes, before: bytes) -> bytes:
    """A config of git without the settings that name a program, but for those that were in it before.

    >>> disarmed(b"[core]\\n\\tbare = false\\n\\tpager = evil\\n[alias]\\n\\tst = !evil\\n", b"")
    b'[core]\\n\\tbare = false\\n'
    """
    known = {line.strip() for _, line in _armed_lines(before)}
    armed = {number for number, line in _armed_lines(config) if line.strip() not in known}
    lines = _CONTINUED.sub(b" ", config).splitlines(keepends=True)
    return b"".join(line for number, line in enumerate(lines) if number not in armed) if armed else config


def _armed_lines(config: bytes) -> Iterator[tuple[int, bytes]]:
    section = ""
    for number, line in enumerate(_CONTINUED.sub(b" ", config).splitlines(keepends=True)):
        rest = line
        if header := _HEADER.match(line):
            section, rest = header[1].decode("ascii", "replace").lower().partition(".")[0], line[header.end() :]
        key = rest.partition(b"=")[0].strip().decode("ascii", "replace").lower()
        if section in _SECTIONS or key in _KEYS:
            yield number, line
