"""From what a run left behind to its timeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from nudge.attention.requests import ASK_AGAIN
from nudge.instants import Instant, parse_rfc3339
from nudge.queue.outcomes import FeedLine, Outcome
from nudge.reminders.reminder import Reminder, Source
from nudge.simulation.channel import REPLY, Arrived
from nudge.simulation.journal import Entry
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
        events.append(replace(sent, exact=sent.exact or (sent.key, sent.slot_at) in snoozed))
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
