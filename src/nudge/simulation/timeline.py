"""The timeline of a simulation: everything that happened, in order, as values.

A timeline holds no name, number or time that two runs with the same seed would not share.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

from nudge.attention.quiet import QuietHours
from nudge.instants import HOUR, Instant, local_date, rfc3339, start_of_day, to_datetime, zone_of
from nudge.queue.outcomes import Result
from nudge.spending.money import Micros


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that reached the person.

    `exact` marks what the person set for this very time, `reply` what answers them: neither is a ping, and quiet hours
    hold up neither. `level` is the bucket afterwards, in micro-pings; None where there is no bucket. `taken` is how the
    person took a ping: welcome, ignored or cursed.
    """

    at: Instant
    kind: str
    subject: str
    text: str
    key: str = ""
    slot_at: Instant | None = None
    exact: bool = False
    reply: bool = False
    repeated: bool = False
    level: int | None = None
    taken: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """How an occurrence ended, or why it was put off. `reserved` marks a routine that has a claim on the bucket."""

    at: Instant
    kind: str
    subject: str
    key: str
    slot_at: Instant
    result: Result
    reason: str = ""
    rule: str = ""
    until: Instant | None = None
    final: bool = True
    reserved: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """The person wrote."""

    at: Instant
    text: str


@dataclass(frozen=True, slots=True)
class Signal:
    """The person's phone gave a sign of life."""

    at: Instant


@dataclass(frozen=True, slots=True)
class Asked:
    """A model was asked. `free` calls are answered by rules: their size and price say what a model would have cost."""

    at: Instant
    purpose: str
    model: str
    input: int
    output: int
    cost: Micros
    free: bool = False


@dataclass(frozen=True, slots=True)
class Noted:
    """A line of the activity feed, or a remark about the clock."""

    at: Instant
    kind: str
    text: str


Event: TypeAlias = Sent | Ended | Said | Signal | Asked | Noted


@dataclass(frozen=True, slots=True)
class Sample:
    """How things stood at one moment: the bucket in micro-pings, the day's money, and whether the agent slept on it."""

    at: Instant
    level: int | None = None
    capacity: int = 0
    spent: Micros = 0
    limit: Micros = 0
    asleep: bool = False

    @property
    def percent(self) -> int:
        """Of the day's allowance, as people see it; nothing where there is none."""
        return self.spent * 100 // self.limit if self.limit else 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What was simulated: from the first instant of `first` on, so many days, in the person's zone."""

    first: date
    days: int
    timezone: str
    agent: str = "coach"
    person: str = ""
    seed: int = 0
    model: str = "offline"
    quiet: tuple[int, int] | None = None
    changes: Mapping[str, str] = field(default_factory=dict)
    works: bool = False
    """The agent is a worker: the person hands it tasks and does not talk to it."""

    @property
    def zone(self) -> ZoneInfo:
        return zone_of(self.timezone)

    @property
    def start(self) -> Instant:
        return start_of_day(self.first, self.zone)

    @property
    def end(self) -> Instant:
        return start_of_day(self.first + timedelta(days=self.days), self.zone)

    def quiet_end(self, at: Instant) -> Instant | None:
        """When the quiet hours around an instant end, or None outside them."""
        return None if self.quiet is None else QuietHours(*self.quiet, self.zone).end_if_inside(at)


@dataclass(frozen=True, slots=True)
class Timeline:
    """`notes` say what was left out or taken as given, for whoever reads the result."""

    plan: Plan
    events: tuple[Event, ...]
    samples: tuple[Sample, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Day:
    """One calendar day of the person. `shift` is by how much their clock was changed on it, in microseconds."""

    date: date
    start: Instant
    end: Instant
    events: tuple[Event, ...]
    samples: tuple[Sample, ...]
    shift: int = 0

    def sent(self) -> list[Sent]:
        return [event for event in self.events if isinstance(event, Sent)]

    def asked(self) -> list[Asked]:
        return [event for event in self.events if isinstance(event, Asked)]

    @property
    def signals(self) -> int:
        return sum(isinstance(event, Signal) for event in self.events)

    @property
    def percent(self) -> int:
        """The most that any sample of the day shows as used: the spending day may turn within the person's day."""
        return max((sample.percent for sample in self.samples), default=0)


def days_of(timeline: Timeline) -> Iterator[Day]:
    """The days in order; also those on which nothing happened."""
    plan, zone = timeline.plan, timeline.plan.zone
    events, samples = _by_day(timeline.events, zone), _by_day(timeline.samples, zone)
    for number in range(plan.days):
        day = plan.first + timedelta(days=number)
        start, end = start_of_day(day, zone), start_of_day(day + timedelta(days=1), zone)
        shift = 24 * HOUR - (end - start)
        yield Day(day, start, end, tuple(events.get(day, ())), tuple(samples.get(day, ())), shift)


def clock_changes(plan: Plan) -> list[Noted]:
    """A remark at each change of the person's clock."""
    zone, found = plan.zone, []
    for number in range(plan.days):
        day = plan.first + timedelta(days=number)
        start, end = start_of_day(day, zone), start_of_day(day + timedelta(days=1), zone)
        before, after = to_datetime(start, zone).utcoffset(), to_datetime(Instant(end - 1), zone).utcoffset()
        if before is None or after is None or before == after:
            continue
        low, high = start, Instant(end - 1)
        while high - low > 1:
            middle = Instant((low + high) // 2)
            low, high = (middle, high) if to_datetime(middle, zone).utcoffset() == before else (low, middle)
        minutes = int((after - before).total_seconds()) // 60
        way = "forward" if minutes > 0 else "back"
        amount = f"{abs(minutes) // 60} h" if minutes % 60 == 0 else f"{abs(minutes)} min"
        text = f"The clock goes {way} {amount}, to {to_datetime(high, zone):%H:%M}."
        found.append(Noted(high, "clock", f"{text} This day has {(end - start) // HOUR} hours."))
    return found


def in_order(events: Iterable[Event]) -> tuple[Event, ...]:
    """By time; what happens at one instant stays in the order in which it was seen."""
    return tuple(sorted(events, key=lambda event: event.at))


def event_json(event: Event, zone: ZoneInfo) -> dict[str, Any]:
    """The event as JSON has it; fields that say nothing are left out."""
    at = rfc3339(event.at, zone)
    match event:
        case Sent():
            found = {
                "what": "sent",
                "kind": event.kind,
                "subject": event.subject,
                "text": event.text,
                "slot_at": _when(event.slot_at, zone),
                "exact": event.exact,
                "reply": event.reply,
                "possibly_repeated": event.repeated,
                "pings_left": None if event.level is None else event.level / 1_000_000,
                "taken": event.taken,
            }
        case Ended():
            found = {
                "what": event.result.value,
                "kind": event.kind,
                "subject": event.subject,
                "slot_at": _when(event.slot_at, zone),
                "reason": event.reason,
                "rule": event.rule,
                "until": _when(event.until, zone),
                "final": event.final,
            }
        case Said():
            found = {"what": "said", "text": event.text}
        case Signal():
            found = {"what": "signal"}
        case Asked():
            found = {
                "what": "asked",
                "purpose": event.purpose,
                "model": event.model,
                "input_tokens": event.input,
                "output_tokens": event.output,
                "cost_micros": event.cost,
                "free": event.free,
            }
        case Noted():
            found = {"what": "noted", "kind": event.kind, "text": event.text}
    return {"at": at, **{name: value for name, value in found.items() if value not in (None, "", False)}}


def wall_hour(instant: Instant, zone: ZoneInfo) -> float:
    """Hours after midnight on the wall clock, for a chart: 13.5 is half past one."""
    local = to_datetime(instant, zone)
    return local.hour + local.minute / 60 + local.second / 3600


def _by_day(things: Iterable[Any], zone: ZoneInfo) -> dict[date, list[Any]]:
    found: dict[date, list[Any]] = {}
    for thing in things:
        found.setdefault(local_date(thing.at, zone), []).append(thing)
    return found


def _when(instant: Instant | None, zone: ZoneInfo) -> str | None:
    return None if instant is None else rfc3339(instant, zone)
