"""Snapshots: a workspace as it was, stored so that nothing of it gets lost.

Pieces of files are stored under their digest, so what is there already is not stored again. The list of files, the
manifest, is written last and only if nobody else wrote one of that number: until then there is no snapshot, and two
daemons never overwrite each other's. Everything that is read back is compared with its digest; a snapshot that is
damaged is said to be, and the one before it is used.

All calls block; run them in a thread where an event loop must go on. No command may run in the workspace meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from nudge.errors import LostLeaseError, NotFoundError
from nudge.instants import HOUR, Instant
from nudge.worker.blobs import Blobs
from nudge.worker.manifest import (
    CHUNK_BYTES,
    Changes,
    DamagedSnapshotError,
    Item,
    Kind,
    Manifest,
    changes_between,
    chunks_of,
    digest_of,
    signature_of,
)
from nudge.worker.scan import Cache, Scan, Seen, chunks_from, in_threads, scan
from nudge.worker.workspace import SET_ID, Workspace

KEEP = 20
_TRIES = 5
_YOUNG = HOUR
"""Pieces that were stored this recently may belong to a snapshot that somebody is making now."""


@dataclass(frozen=True, slots=True)
class Made:
    """A new snapshot, what it stored, and what cannot be kept (sockets, pipes, devices)."""

    manifest: Manifest
    stored_pieces: int
    stored_bytes: int
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verified:
    """The snapshot that was compared with, how the workspace differs from it, and the newer ones that are damaged, each
    with what is wrong."""

    manifest: Manifest
    changes: Changes
    damaged: tuple[tuple[int, str], ...] = ()


class Snapshots:
    """Those of one agent. `cache` is a file that remembers what need not be read again."""

    def __init__(self, blobs: Blobs, agent: str, cache: Path | None = None) -> None:
        self._blobs = blobs
        self._agent = agent
        self._cache = Cache(cache)

    def numbers(self) -> list[int]:
        """All there are, the newest first."""
        names = (key.rpartition("/")[2] for key in self._blobs.list(f"{self._agent}/manifests"))
        return sorted((int(name) for name in names if name.isdecimal()), reverse=True)

    def manifest(self, number: int) -> Manifest:
        """Raises DamagedSnapshotError if it is not what was written."""
        content = self._blobs.get(self._manifest_key(number))
        if content is None:
            raise NotFoundError(f"There is no snapshot {number}.", next_step="Run 'nudge snapshot list'.")
        return Manifest.decode(content)

    def create(self, workspace: Workspace, now: Instant, reason: str = "by hand", *, thorough: bool = False) -> Made:
        """Store what has changed and write the manifest. `thorough` reads every file, and stores again what is missing
        in the store."""
        remembered, known = ("", {}) if thorough else self._cache.load()
        found = scan(workspace, known)
        pieces = size = 0
        stored: set[str] = set()
        for _ in range(_TRIES):
            latest = next(iter(self.numbers()), 0)
            there = self._stored() if thorough else self._pieces_of(latest, remembered, known)
            missing = chunks_of(found.items.values()) - there - stored
            if missing:
                count, written = self._store(workspace, found, missing)
                pieces, size, stored = pieces + count, size + written, stored | missing
            manifest = Manifest(latest + 1, now, reason, found.items)
            encoded = manifest.encode()
            if self._blobs.put_new(self._manifest_key(manifest.number), encoded):
                self._cache.save(signature_of(encoded), found.seen, now)
                return Made(manifest, pieces, size, found.left_out)
        raise LostLeaseError(
            f"Another process keeps making snapshots of {self._agent}.", next_step="Run one daemon per agent."
        )

    def verify(self, workspace: Workspace, number: int | None = None) -> Verified:
        """Compare every byte of the workspace with a snapshot, or with the newest that is intact. Changes nothing."""
        current = scan(workspace)

        def compare(manifest: Manifest) -> Verified:
            self._require(manifest)
            return Verified(manifest, changes_between(manifest.items, current.items))

        return self._first_sound(number, compare)

    def restore(self, workspace: Workspace, number: int | None = None) -> Verified:
        """Make the workspace equal to a snapshot, or to the newest that is intact. `changes` is what was put right.

        Everything is fetched and compared with its digest before the first file is touched.
        """
        current = scan(workspace)

        def put_right(manifest: Manifest) -> Verified:
            changes = changes_between(manifest.items, current.items)
            if changes:
                wanted = [path for path in (*changes.removed, *changes.changed) if _is_file(manifest.items, path)]
                with _staging(workspace) as staging:
                    staged = {path: f"{n:x}" for n, path in enumerate(wanted)}
                    self._fetch(manifest, staged, staging)
                    _apply(workspace, manifest, current, changes, staged, staging)
            return Verified(manifest, changes)

        return self._first_sound(number, put_right)

    def check(self, number: int) -> None:
        """Read a whole snapshot back. Raises DamagedSnapshotError with the first thing that is wrong."""
        manifest = self.manifest(number)
        for _ in in_threads(self._piece, sorted(manifest.chunks)):
            pass

    def prune(self, now: Instant, keep: int = KEEP) -> int:
        """Remove all but the newest snapshots, and the pieces that none of those needs. Says how many went."""
        numbers = self.numbers()
        kept, old = numbers[: max(1, keep)], numbers[max(1, keep) :]
        if not old:
            return 0
        needed: set[str] = set()
        for number in kept:
            with contextlib.suppress(DamagedSnapshotError, NotFoundError):
                needed |= self.manifest(number).chunks
        self._blobs.delete(self._manifest_key(number) for number in old)
        self._blobs.delete(
            key
            for key, info in self._blobs.list(f"{self._agent}/pieces").items()
            if key.rpartition("/")[2] not in needed and info.written_at < now - _YOUNG
        )
        return len(old)

    def _first_sound(self, number: int | None, use: Callable[[Manifest], Verified]) -> Verified:
        damaged: list[tuple[int, str]] = []
        for candidate in [number] if number is not None else self.numbers():
            try:
                found = use(self.manifest(candidate))
            except (DamagedSnapshotError, NotFoundError) as error:
                if number is not None:
                    raise
                damaged.append((candidate, error.message))
                continue
            return Verified(found.manifest, found.changes, tuple(damaged))
        if damaged:
            raise DamagedSnapshotError(
                f"No snapshot of {self._agent} is intact: {damaged[0][0]}: {damaged[0][1]}",
                next_step="Run 'nudge snapshot create --thorough' to make a new one from the files as they are.",
            )
        raise NotFoundError(f"{self._agent} has no snapshot.", next_step="Run 'nudge snapshot create'.")

    def _pieces_of(self, number: int, remembered: str, known: Mapping[str, Seen]) -> set[str]:
        """Those of the newest snapshot: pruning never takes them. One that we made ourselves is not decoded."""
        content = self._blobs.get(self._manifest_key(number)) if number else None
        if content is None:
            return set()
        try:
            if remembered and signature_of(content) == remembered:
                return {digest for row in known.values() for digest in row[4]}
            return Manifest.decode(content).chunks
        except DamagedSnapshotError:
            return set()

    def _stored(self) -> set[str]:
        return {key.rpartition("/")[2] for key in self._blobs.list(f"{self._agent}/pieces")}

    def _require(self, manifest: Manifest) -> None:
        lost = manifest.chunks - self._stored()
        if lost:
            path = next(path for path, item in manifest.items.items() if lost & set(item.chunks))
            raise DamagedSnapshotError(f"{len(lost)} pieces are missing, including one of {path}.")

    def _store(self, workspace: Workspace, found: Scan, missing: set[str]) -> tuple[int, int]:
        """Store these pieces, each once. Their content is read again and must still be what was seen."""
        sources: list[tuple[str, int]] = []
        claimed: set[str] = set()
        for path, item in found.items.items():
            for position, digest in enumerate(item.chunks):
                if digest in missing and digest not in claimed:
                    claimed.add(digest)
                    sources.append((path, position))

        def store(source: tuple[str, int]) -> int:
            path, position = source
            item = found.items[path]
            with workspace.open_file(path) as descriptor:
                start = position * CHUNK_BYTES
                os.lseek(descriptor, start, os.SEEK_SET)
                content = next(chunks_from(descriptor, min(CHUNK_BYTES, item.size - start)), b"")
            if digest_of(content) != item.chunks[position]:
                raise LostLeaseError(f"{path} changed while the snapshot was made.", next_step="Make it again.")
            self._blobs.put(self._piece_key(item.chunks[position]), content)
            return len(content)

        written = list(in_threads(store, sources))
        return len(written), sum(written)

    def _fetch(self, manifest: Manifest, staged: Mapping[str, str], staging: Path) -> None:
        def fetch(path: str) -> None:
            with (staging / staged[path]).open("xb") as file:
                for digest in manifest.items[path].chunks:
                    file.write(self._piece(digest))

        for _ in in_threads(fetch, list(staged)):
            pass

    def _piece(self, digest: str) -> bytes:
        content = self._blobs.get(self._piece_key(digest))
        if content is None:
            raise DamagedSnapshotError("A piece of it is missing.")
        if digest_of(content) != digest:
            raise DamagedSnapshotError("A piece of it is damaged.")
        return content

    def _manifest_key(self, number: int) -> str:
        return f"{self._agent}/manifests/{number:08d}"

    def _piece_key(self, digest: str) -> str:
        return f"{self._agent}/pieces/{digest[:2]}/{digest}"


def _is_file(items: Mapping[str, Item], path: str) -> bool:
    return items[path].kind == Kind.FILE


@contextlib.contextmanager
def _staging(workspace: Workspace) -> Iterator[Path]:
    """A folder in the workspace, so that renaming out of it stays on one disk. A scan does not see it."""
    folder = workspace.path / f".nudge-{token_hex(8)}"
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _apply(
    workspace: Workspace,
    manifest: Manifest,
    current: Scan,
    changes: Changes,
    staged: Mapping[str, str],
    staging: Path,
) -> None:
    """Remove what is too much, deepest first; then put folders, files and links in place; modes of folders last,
    because one of them may forbid writing."""
    items = manifest.items
    replaced = [path for path in changes.changed if items[path].kind != current.items[path].kind]
    touched = {path.rpartition("/")[0] for path in (*changes.added, *changes.removed, *changes.changed)} - {""}
    for path in sorted(touched & current.items.keys()):
        if current.items[path].kind == Kind.FOLDER:
            with workspace.parent(path) as (folder, name):
                _writable(folder, name)
    for path in sorted((*changes.added, *replaced), reverse=True):
        with workspace.parent(path) as (folder, name):
            if current.items[path].kind == Kind.FOLDER:
                os.rmdir(name, dir_fd=folder)
            else:
                os.unlink(name, dir_fd=folder)
    staged_in = os.open(staging, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for path in sorted((*changes.removed, *changes.changed)):
            _put(workspace, path, items[path], staged_in, staged)
    finally:
        os.close(staged_in)
    for path in sorted({*touched, *changes.removed, *changes.changed}, reverse=True):
        if path in items and items[path].kind == Kind.FOLDER:
            with workspace.folder(path) as folder:
                os.fchmod(folder, items[path].mode & ~SET_ID)


def _put(workspace: Workspace, path: str, item: Item, staged_in: int, staged: Mapping[str, str]) -> None:
    with workspace.parent(path) as (folder, name):
        if item.kind == Kind.FOLDER:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=folder)
            _writable(folder, name)
        elif item.kind == Kind.LINK:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            os.symlink(item.target, name, dir_fd=folder)
        else:
            descriptor = os.open(staged[path], os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=staged_in)
            try:
                os.fchmod(descriptor, item.mode & ~SET_ID)
                os.utime(descriptor, ns=(item.mtime_ns, item.mtime_ns))
            finally:
                os.close(descriptor)
            os.replace(staged[path], name, src_dir_fd=staged_in, dst_dir_fd=folder)


def _writable(above: int, name: str) -> None:
    """Let us write in a folder of ours until its mode is set again."""
    descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
    try:
        os.fchmod(descriptor, 0o700)
    finally:
        os.close(descriptor)
