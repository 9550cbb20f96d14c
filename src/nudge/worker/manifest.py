"""What a workspace holds, as a value: one line per file, folder and link, and what differs between two of them.

A file's content is a list of SHA-256 digests, one for every 8 MiB. Sockets, pipes and devices are not kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple

from nudge.errors import NudgeError
from nudge.instants import Instant

CHUNK_BYTES = 8 * 1024 * 1024
_FORMAT = 1


class DamagedSnapshotError(NudgeError):
    """This snapshot is damaged."""


class Kind(StrEnum):
    FILE = "f"
    FOLDER = "d"
    LINK = "l"


class Item(NamedTuple):
    """`chunks` are the digests of a file, `target` is where a link leads."""

    kind: str
    mode: int
    size: int = 0
    mtime_ns: int = 0
    chunks: tuple[str, ...] = ()
    target: str = ""

    def same_as(self, other: Item) -> bool:
        """The time of the last change does not count: it says nothing about the content."""
        return (self.kind, self.mode, self.chunks, self.target) == (other.kind, other.mode, other.chunks, other.target)


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs, by path: what one side has more, has less, and has otherwise."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def __len__(self) -> int:
        return len(self.added) + len(self.removed) + len(self.changed)


def changes_between(before: Mapping[str, Item], after: Mapping[str, Item]) -> Changes:
    """What happened on the way from one to the other.

    >>> file = Item(Kind.FILE, 0o600, 1, 0, ("aa",))
    >>> changes_between({"a": file, "b": file}, {"b": file._replace(mode=0o700), "c": file})
    Changes(added=('c',), removed=('a',), changed=('b',))
    """
    return Changes(
        tuple(sorted(after.keys() - before.keys())),
        tuple(sorted(before.keys() - after.keys())),
        tuple(sorted(path for path, item in after.items() if path in before and not item.same_as(before[path]))),
    )


@dataclass(frozen=True, slots=True)
class Manifest:
    number: int
    created_at: Instant
    reason: str
    items: Mapping[str, Item]

    @property
    def chunks(self) -> set[str]:
        return chunks_of(self.items.values())

    @property
    def files(self) -> int:
        return sum(item.kind == Kind.FILE for item in self.items.values())

    @property
    def size(self) -> int:
        return sum(item.size for item in self.items.values())

    def encode(self) -> bytes:
        """The first line is the digest of the rest, so that half of it, or a changed one, is not taken for it."""
        items = [[path, *item] for path, item in self.items.items()]
        document = [_FORMAT, self.number, self.created_at, self.reason, items]
        body = json.dumps(document, separators=(",", ":"), check_circular=False).encode()
        return sha256(body).hexdigest().encode() + b"\n" + body

    @classmethod
    def decode(cls, content: bytes) -> Manifest:
        signature_of(content)
        body = content.partition(b"\n")[2]
        form, number, created_at, reason, rows = json.loads(body)
        if form != _FORMAT:
            raise NudgeError("This snapshot was written by a newer nudge.", next_step="Update nudge.")
        items = {
            path: Item(kind, mode, size, mtime, tuple(chunks), target)
            for path, kind, mode, size, mtime, chunks, target in rows
        }
        return cls(number, Instant(created_at), reason, items)


def chunks_of(items: Iterable[Item]) -> set[str]:
    return {digest for item in items for digest in item.chunks}


def signature_of(content: bytes) -> str:
    """The digest of a manifest as it was written. Raises if it is not what was written."""
    digest, _, body = content.partition(b"\n")
    if sha256(body).hexdigest().encode() != digest:
        raise DamagedSnapshotError("Its list of files is damaged.")
    return digest.decode()


def digest_of(chunk: bytes) -> str:
    return sha256(chunk).hexdigest()
