"""A store that remembers how everything came about, and the timeline that comes of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

from nudge.attention.requests import ASK_AGAIN
from nudge.coach.briefing_run import KIND as BRIEFING
from nudge.database import Database
from nudge.instants import Instant, parse_rfc3339
from nudge.queue.outcomes import FeedLine, Outcome, Result
from nudge.queue.tables import FeedTable, OutcomeTable
from nudge.reminders.reminder import Reminder, Source
from nudge.simulation.channel import REPLY, Arrived
from nudge.simulation.person import PING, Act
from nudge.simulation.timeline import (
    Asked,
    Ended,
    Event,
    Noted,
    Plan,
    Said,
    Sample,
    Sent,
    Signal,
    Timeline,
    clock_changes,
    in_order,
)
from nudge.stores.store import SqlStore

Entry: TypeAlias = Outcome | FeedLine


class Journal:
    """What was written, in the order in which it was committed."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._draft: ContextVar[list[Entry] | None] = ContextVar("draft", default=None)

    def note(self, entry: Entry) -> None:
        draft = self._draft.get()
        (self.entries if draft is None else draft).append(entry)

    @asynccontextmanager
    async def transaction(self, database: Database) -> AsyncIterator[None]:
        """What is noted inside counts when the outermost transaction has been committed, and not at all if it fails."""
        if self._draft.get() is not None:
            async with database.transaction():
                yield
            return
        draft: list[Entry] = []
        reset = self._draft.set(draft)
        try:
            async with database.transaction():
                yield
        finally:
            self._draft.reset(reset)
        self.entries += draft

    @asynccontextmanager
    async def savepoint(self, database: Database) -> AsyncIterator[None]:
        """What is noted inside does not count if it fails."""
        draft = self._draft.get()
        noted = 0 if draft is None else len(draft)
        try:
            async with database.savepoint():
                yield
        except BaseException:
            if draft is not None:
                del draft[noted:]
            raise


class JournalStore(SqlStore):
    """The real store over a journal."""

    outcomes: cached_property[OutcomeTable] = cached_property(lambda store: _Outcomes(store.database, store.journal))
    feed: cached_property[FeedTable] = cached_property(lambda store: _Feed(store.database, store.journal))

    def __init__(self, database: Database, journal: Journal) -> None:
        super().__init__(database)
        self.journal = journal

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        async with self.journal.transaction(self.database):
            yield

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        async with self.journal.savepoint(self.database):
            yield


class _Outcomes(OutcomeTable):
    def __init__(self, database: Database, journal: Journal) -> None:
        super().__init__(database)
        self._journal = journal

    async def record(self, outcome: Outcome, *, surely: bool = False) -> bool:
        recorded = await super().record(outcome, surely=surely)
        if recorded:
            self._journal.note(outcome)
        return recorded

    async def amend(
        self,
        agent: str,
        key: str,
        slot_at: Instant,
        result: Result,
        reason: str,
        detail: Mapping[str, Any] | None = None,
    ) -> bool:
        amended = await super().amend(agent, key, slot_at, result, reason, detail)
        row = await self.get(agent, key, slot_at) if amended else None
        if row is not None:
            self._journal.note(row)
        return amended


class _Feed(FeedTable):
    def __init__(self, database: Database, journal: Journal) -> None:
        super().__init__(database)
        self._journal = journal

    async def add(self, line: FeedLine) -> None:
        await super().add(line)
        self._journal.note(line)


_SET_BY_PERSON = (Source.CLI, Source.CHAT, Source.IMPORT)
_TITLE = 40


@dataclass(frozen=True, slots=True)
class Record:
    """All that was seen. `bucket` is False where the ping budget is off."""

    entries: Sequence[Entry]
    arrived: Sequence[Arrived]
    did: Sequence[Act]
    asked: Sequence[Asked]
    samples: Sequence[Sample]
    reminders: Sequence[Reminder]
    bucket: bool = True
    notes: Sequence[str] = field(default_factory=tuple)


def timeline_of(plan: Plan, record: Record) -> Timeline:
    """What happened inside the plan's days. What happens at one instant is told in this order: the person, the model,
    how it ended, what was sent."""
    by_key = {reminder.key: reminder for reminder in record.reminders}
    outcomes = [entry for entry in record.entries if isinstance(entry, Outcome)]
    snoozed = {(one.key, one.slot_at) for one in outcomes if one.detail.get("snoozed")}
    events: list[Event] = [*clock_changes(plan)]
    events += [Signal(act.at) if act.text == PING else Said(act.at, act.text) for act in record.did]
    events += record.asked
    for entry in record.entries:
        if entry.agent == plan.agent:
            events.append(_noted(entry) if isinstance(entry, FeedLine) else _ended(entry, by_key))
    for one in record.arrived:
        sent = _sent(one, by_key, record.bucket)
        exact = sent.exact or (sent.key, sent.slot_at) in snoozed
        unasked = not (exact or sent.reply) and (not one.row.asked or one.row.kind == BRIEFING)
        events.append(replace(sent, exact=exact, taken=one.taken if unasked else ""))
    inside = [event for event in events if plan.start <= event.at < plan.end]
    samples = tuple(sample for sample in record.samples if plan.start <= sample.at < plan.end)
    return Timeline(plan, in_order(inside), samples, tuple(record.notes))


def _noted(line: FeedLine) -> Noted:
    return Noted(line.at, line.kind, line.text)


def _ended(outcome: Outcome, by_key: Mapping[str, Reminder]) -> Ended:
    reminder = by_key.get(outcome.key)
    until = outcome.detail.get("until")
    return Ended(
        outcome.at,
        outcome.kind,
        _subject(outcome.key, reminder),
        outcome.key,
        outcome.slot_at,
        outcome.result,
        outcome.reason,
        str(outcome.detail.get("rule") or ""),
        parse_rfc3339(until) if isinstance(until, str) else None,
        outcome.final,
        reminder is not None and reminder.reserve,
    )


def _sent(arrived: Arrived, by_key: Mapping[str, Reminder], bucket: bool) -> Sent:
    row = arrived.row
    reminder = by_key.get(row.key)
    again = row.key == ASK_AGAIN
    exact = again or (reminder is not None and reminder.source in _SET_BY_PERSON)
    return Sent(
        arrived.at,
        ASK_AGAIN if again else row.kind,
        row.kind if reminder is not None and not reminder.name else _subject(row.key or row.kind, reminder),
        arrived.text,
        row.key,
        None if row.slot_at is None else Instant(row.slot_at),
        exact,
        row.kind == REPLY,
        row.possibly_repeated,
        arrived.level if bucket else None,
    )


def _subject(key: str, reminder: Reminder | None) -> str:
    """A reminder by its name or its first words, everything else by its key."""
    if reminder is None:
        return key
    title = reminder.name or " ".join(reminder.message.split())
    return title if len(title) <= _TITLE else f"{title[: _TITLE - 1].rstrip()}…"
