"""Look at a whole workspace: every file with its digests, quickly.

Files that were seen before and have not been touched since are not read again. A file counts as touched if its size,
inode or one of its times differs, or if it changed so shortly before the last look that another change could have got
the same time. `verify` and `restore` read everything.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, TypeVar

from nudge.errors import NudgeError
from nudge.instants import Instant
from nudge.worker.manifest import CHUNK_BYTES, Item, Kind, digest_of
from nudge.worker.workspace import Workspace

T = TypeVar("T")
R = TypeVar("R")

_OURS = re.compile(r"\.nudge-[0-9a-f]{16}$")
_MODE = 0o777
_BATCH = 128
_TRIES = 3
_SAME_TIME_NS = 100_000_000
THREADS = min(8, (os.cpu_count() or 1) * 2)


class Seen(NamedTuple):
    """A file at the last look."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    chunks: tuple[str, ...]


class Scan(NamedTuple):
    """`left_out` are sockets, pipes and devices."""

    items: dict[str, Item]
    seen: dict[str, Seen]
    left_out: tuple[str, ...]


class _Batch(NamedTuple):
    folder: str
    names: list[str]


def scan(workspace: Workspace, known: Mapping[str, Seen] | None = None) -> Scan:
    """Everything in the workspace. `known` are files from the last look that need not be read again."""
    known = known or {}
    items: dict[str, Item] = {}
    seen: dict[str, Seen] = {}
    left_out: list[str] = []
    batches: list[_Batch] = []
    waiting = [""]
    while waiting:
        above = waiting.pop()
        batch = _Batch(above, [])
        with workspace.folder(above) as folder, os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if _OURS.match(entry.name):
                    continue
                path = f"{above}/{entry.name}" if above else entry.name
                status = entry.stat(follow_symlinks=False)
                mode = status.st_mode & _MODE
                if stat.S_ISREG(status.st_mode):
                    before = known.get(path)
                    if before and before[:4] == (
                        status.st_size,
                        status.st_mtime_ns,
                        status.st_ctime_ns,
                        status.st_ino,
                    ):
                        items[path] = Item(Kind.FILE, mode, before.size, before.mtime_ns, before.chunks)
                        seen[path] = before
                    else:
                        batch.names.append(entry.name)
                elif stat.S_ISDIR(status.st_mode):
                    items[path] = Item(Kind.FOLDER, mode)
                    waiting.append(path)
                elif stat.S_ISLNK(status.st_mode):
                    items[path] = Item(Kind.LINK, 0, target=os.readlink(entry.name, dir_fd=folder))
                else:
                    left_out.append(path)
        batches.extend(
            _Batch(above, batch.names[start : start + _BATCH]) for start in range(0, len(batch.names), _BATCH)
        )
    for found in in_threads(lambda one: _read_batch(workspace, one), batches):
        for path, item, one in found:
            items[path] = item
            seen[path] = one
    return Scan(dict(sorted(items.items())), seen, tuple(sorted(left_out)))


def in_threads(work: Callable[[T], R], things: list[T]) -> Iterator[R]:
    """Hashing and reading let other threads run, so a few of them are faster than one."""
    if len(things) < 2:
        yield from map(work, things)
        return
    with ThreadPoolExecutor(THREADS) as pool:
        yield from pool.map(work, things)


def _read_batch(workspace: Workspace, batch: _Batch) -> list[tuple[str, Item, Seen]]:
    found = []
    with workspace.folder(batch.folder) as folder:
        for name in batch.names:
            path = f"{batch.folder}/{name}" if batch.folder else name
            with contextlib.suppress(FileNotFoundError):
                found.append((path, *_read(folder, name, path)))
    return found


def _read(folder: int, name: str, path: str) -> tuple[Item, Seen]:
    """The digests of a file that nobody changed while it was read."""
    for _ in range(_TRIES):
        try:
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        except PermissionError:
            raise NudgeError(f"{path} cannot be read.", next_step="Make it readable for nudge, or remove it.") from None
        try:
            before = os.fstat(descriptor)
            chunks = tuple(map(digest_of, chunks_from(descriptor, before.st_size)))
            after = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        if (before.st_size, before.st_mtime_ns, before.st_ctime_ns) == (
            after.st_size,
            after.st_mtime_ns,
            after.st_ctime_ns,
        ):
            return (
                Item(Kind.FILE, after.st_mode & _MODE, after.st_size, after.st_mtime_ns, chunks),
                Seen(after.st_size, after.st_mtime_ns, after.st_ctime_ns, after.st_ino, chunks),
            )
    raise NudgeError(f"{path} changes all the time.", next_step="Stop what writes it.")


def chunks_from(descriptor: int, size: int) -> Iterator[bytes]:
    """The content in pieces. Small files take one read; an empty one has no piece."""
    left = size
    while left > 0:
        piece = os.read(descriptor, min(left, CHUNK_BYTES))
        while len(piece) < min(left, CHUNK_BYTES):
            more = os.read(descriptor, min(left, CHUNK_BYTES) - len(piece))
            if not more:
                break
            piece += more
        if not piece:
            return
        yield piece
        left -= len(piece)


class Cache:
    """What the last look saw, in a file on this machine. Without it, or with a damaged one, everything is read."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def load(self) -> dict[str, Seen]:
        try:
            rows = json.loads(self._path.read_bytes()) if self._path else {}
            return {path: Seen(*row[:4], tuple(row[4])) for path, row in rows.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def save(self, seen: Mapping[str, Seen], looked_at: Instant) -> None:
        """Files that changed just before the look are left out: they are read again next time."""
        if self._path is None:
            return
        latest = looked_at * 1_000 - _SAME_TIME_NS
        rows = {path: one for path, one in seen.items() if max(one.mtime_ns, one.ctime_ns) < latest}
        beside = self._path.with_name(f"{self._path.name}.new")
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside.write_text(json.dumps(rows, separators=(",", ":"), check_circular=False))
        beside.replace(self._path)
