"""The Blobs port: a place for named pieces of bytes. The adapters are in `nudge.blobs`; the fake is in `nudge.testing`.

Its calls block. They may be made from several threads at once, which is how many small pieces are stored quickly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from nudge.errors import RetryableError
from nudge.instants import Instant


class BlobsUnavailableError(RetryableError):
    """The place where snapshots are stored did not answer."""


class BlobInfo(NamedTuple):
    size: int
    written_at: Instant


class Blobs(Protocol):
    def get(self, key: str) -> bytes | None:
        """The content; None if there is none."""
        ...

    def put(self, key: str, content: bytes) -> None:
        """Store it, in place of what was there. Nobody ever sees half of it."""
        ...

    def put_new(self, key: str, content: bytes) -> bool:
        """Store it unless there is something of this name. Of several who try at once, exactly one hears True."""
        ...

    def list(self, prefix: str) -> Mapping[str, BlobInfo]:
        """Everything whose name begins with this folder."""
        ...

    def delete(self, keys: Iterable[str]) -> None:
        """Remove these. What is not there is no mistake."""
        ...
