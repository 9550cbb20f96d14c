"""Small durable facts: one JSON value per agent and name, each declared once in the room that owns it.

LAST_BEDTIME: Record[Instant] = instant("bedtime.last")

await store.records.set(agent, LAST_BEDTIME, now)
last = await store.records.get(agent, LAST_BEDTIME)  # Instant | None
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from nudge.database import Database
from nudge.instants import Instant

log = logging.getLogger("nudge.records")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Record(Generic[T]):
    """The name of a fact, and its JSON form. `read` raises LookupError, TypeError or ValueError for any
    other form.

    >>> asked = instant("signal.asked")
    >>> asked.encode(Instant(5)), asked.decode("5"), asked.decode('"soon"')
    ('5', 5, None)
    """

    name: str
    read: Callable[[Any], T]
    write: Callable[[T], Any]

    def of(self, part: str) -> Record[T]:
        """The record of one part, where there is one for each: `PROBLEMS.of("role")`."""
        return replace(self, name=f"{self.name}.{part}")

    def encode(self, value: T) -> str:
        return json.dumps(self.write(value), ensure_ascii=False)

    def decode(self, text: str) -> T | None:
        """The value, or None where the text is not in its form: a damaged fact counts as unknown."""
        try:
            return self.read(json.loads(text))
        except (LookupError, TypeError, ValueError):
            return None


class RecordTable:
    """The records in the database; the agent "" stands for the whole home."""

    def __init__(self, database: Database) -> None:
        self._db = database

    async def get(self, agent: str, record: Record[T]) -> T | None:
        return await self._read("records_get", agent, record)

    async def lock(self, agent: str, record: Record[T]) -> T | None:
        """The same. If the record exists, nobody else can change it until the caller's transaction ends."""
        return await self._read("records_lock", agent, record)

    async def lock_or_add(self, agent: str, record: Record[T], first: T) -> T:
        """The same for a record that must be locked from its first use on: it is added with `first` if there is none,
        or if what is there cannot be read."""
        await self._db.run("records_add", {"agent": agent, "name": record.name, "value": record.encode(first)})
        found = await self.lock(agent, record)
        return first if found is None else found

    async def set(self, agent: str, record: Record[T], value: T) -> None:
        await self._db.run("records_set", {"agent": agent, "name": record.name, "value": record.encode(value)})

    async def delete(self, agent: str, record: Record[Any]) -> None:
        await self._db.run("records_delete", {"agent": agent, "name": record.name})

    async def _read(self, block: str, agent: str, record: Record[T]) -> T | None:
        row = await self._db.one(block, {"agent": agent, "name": record.name})
        if row is None:
            return None
        value = record.decode(row["value"])
        if value is None:
            log.warning("the record %s of %s cannot be read and is ignored", record.name, agent or "the home")
        return value


def whole(value: Any) -> int:
    """The value, if it is a whole number."""
    if type(value) is not int:
        raise TypeError(f"{value!r} is not a whole number")
    return value


def text(value: Any) -> str:
    """The value, if it is a text."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


def texts(value: Any) -> tuple[str, ...]:
    """The value, if it is a list of texts."""
    return tuple(text(one) for one in items(value))


def items(value: Any) -> list[Any]:
    """The value, if it is a list."""
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is not a list")
    return value


def fields(value: Any) -> dict[str, Any]:
    """The value, if it is an object."""
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} is not an object")
    return value


def moment(value: Any) -> Instant:
    """The value, if it is an instant."""
    return Instant(whole(value))


def moment_or_none(value: Any) -> Instant | None:
    return None if value is None else moment(value)


def instant(name: str) -> Record[Instant]:
    """A record of one instant."""
    return Record(name, moment, int)
