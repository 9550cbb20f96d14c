"""What the repositories need of a database: named statements and transactions. SQLite and PostgreSQL are drivers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from nudge.errors import StoreError

Row = Mapping[str, Any]
Probe = Callable[[str], None]
"""Called with the name of a statement before it writes, and with "commit" before and "committed" after a commit.

Fault tests raise from it, or kill the process: the places at which a crash can happen are exactly its calls."""


def storable(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same with U+FFFD for what a text of a database cannot hold: a NUL, or half of a surrogate pair, as a model or
    a cut text may bring. A database that refused them would refuse the row that tells of them as well."""
    return {name: _storable_text(value) if isinstance(value, str) else value for name, value in params.items()}


def _storable_text(text: str) -> str:
    return text.replace("\x00", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class NothingChangedError(StoreError):
    """A write that must change a row changed none."""


class Database(Protocol):
    shared: bool
    probe: Probe | None
    on_commit: Callable[[], None] | None
    """Called after every commit of this process, for whoever follows what is written."""

    async def all(self, block: str, params: Mapping[str, Any]) -> Sequence[Row]: ...

    async def one(self, block: str, params: Mapping[str, Any]) -> Row | None: ...

    async def run(self, block: str, params: Mapping[str, Any]) -> int:
        """Execute a write; the number of rows it changed."""
        ...

    async def run_each(self, block: str, params: Sequence[Mapping[str, Any]]) -> list[int]:
        """Execute a write with each of `params` in one transaction; the number of rows each changed."""
        ...

    async def run_surely(self, block: str, params: Mapping[str, Any]) -> None:
        """Execute a write that must change a row, inside a transaction. Raises NothingChangedError if it does not: at
        once, or at the end of the transaction. So many of them cost one round trip to a server."""
        ...

    async def all_each(self, block: str, params: Sequence[Mapping[str, Any]]) -> list[Sequence[Row]]:
        """The rows that a query finds with each of `params`."""
        ...

    async def run_many(self, block: str, params: Sequence[Mapping[str, Any]]) -> None: ...

    async def returning(self, block: str, params: Mapping[str, Any]) -> Row:
        """Execute a write that returns one row."""
        ...

    def transaction(self) -> AbstractAsyncContextManager[None]: ...

    def savepoint(self) -> AbstractAsyncContextManager[None]:
        """A part of the open transaction that can fail alone: what it wrote is taken back, and the rest goes on."""
        ...

    def wakes(self) -> AsyncIterator[None]:
        """See the Store."""
        ...

    async def purge(self) -> None:
        """Clear what has been deleted from wherever the database still keeps it. Not inside a transaction."""
        ...

    async def close(self) -> None: ...
