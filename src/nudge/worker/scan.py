"""Look at a whole workspace: every file with its digests, quickly.

Files that were seen before and have not been touched since are not read again. A file counts as touched if its size,
inode or one of its times differs, or if it changed so shortly before the last look that another change could have got
the same time. `verify` and `restore` read everything.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

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
_NO_INODE = -1
THREADS = min(8, (os.cpu_count() or 1) * 2)


Seen: TypeAlias = tuple[int, int, int, int, tuple[str, ...]]
"""A file at the last look: size, mtime_ns, ctime_ns, inode, digests."""


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
            for entry in entries:
                if entry.name.startswith(".nudge-") and _OURS.match(entry.name):
                    continue
                path = f"{above}/{entry.name}" if above else entry.name
                status = entry.stat(follow_symlinks=False)
                mode = status.st_mode & _MODE
                if stat.S_ISREG(status.st_mode):
                    before = known.get(path)
                    now = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
                    if before and before[:4] == now:
                        items[path] = Item(Kind.FILE, mode, now[0], now[1], before[4])
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
    few = sum(len(batch.names) for batch in batches) < _BATCH
    read = partial(_read_batch, workspace)
    for found in map(read, batches) if few else in_threads(read, batches):
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
                (after.st_size, after.st_mtime_ns, after.st_ctime_ns, after.st_ino, chunks),
            )
    raise NudgeError(f"{path} keeps changing.", next_step="Stop the program that writes it.")


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
    """What the last look saw, in a file on this machine. Without it, or with a damaged one, everything is read.

    It is in Python's own form, five times as quick as JSON, behind a digest: half a file is never taken for it.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def load(self) -> tuple[str, dict[str, Seen]]:
        """The digest of the manifest that was written then, and every file of it; nothing if it cannot be read."""
        try:
            digest, _, body = self._path.read_bytes().partition(b"\n") if self._path else (b"", b"", b"")
        except OSError:
            return "", {}
        if digest != _signed(body):
            return "", {}
        manifest, rows = marshal.loads(body)  # noqa: S302 - ours, private, and as we wrote it
        return manifest, rows

    def save(self, manifest: str, seen: Mapping[str, Seen], looked_at: Instant) -> None:
        """Files that changed just before the look are remembered without their inode: they are read again."""
        if self._path is None:
            return
        latest = looked_at * 1_000 - _SAME_TIME_NS
        rows = {
            path: one if one[1] < latest and one[2] < latest else (*one[:3], _NO_INODE, one[4])
            for path, one in seen.items()
        }
        body = marshal.dumps((manifest, rows))
        beside = self._path.with_name(f"{self._path.name}.new")
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside.write_bytes(_signed(body) + b"\n" + body)
        beside.replace(self._path)


def _signed(body: bytes) -> bytes:
    """Another Python may write another form, so its version is a part of it."""
    return digest_of(sys.version.encode() + body).encode()
