"""What a phrase was understood as, and how it is said back.

The echo is the one place where a misunderstanding can still be seen, so it is absolute.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, time
from zoneinfo import ZoneInfo

from nudge.durations import distance
from nudge.instants import HOUR, MINUTE, SECOND, Instant, Moment, Zone, as_instant, rfc3339, to_datetime, zone_of
from nudge.phrases.pieces import Freq, Rule
from nudge.phrases.tokens import MONTH_NAMES, WEEKDAY_NAMES


@dataclass(frozen=True, slots=True)
class Understood:
    """One instant, a rule, or an interval: exactly one of `once`, `rrule` and `every` is set.

    `rrule` is evaluated in the zone the phrase was read in. `first` is the first time after now: the instant itself,
    the rule's first time, or now plus the interval. `first_wall` is what the clock on the wall shows at a rule's first
    time; inside a DST gap that is not the local time of `first`. `corrections` are the slips of the keyboard that were
    put right, each as typed and as taken. `exact` is one that no wall clock has a part in: "in 2 hours", or a time with
    its offset.

    >>> from datetime import datetime
    >>> from zoneinfo import ZoneInfo
    >>> from nudge.phrases import understand
    >>> zone = ZoneInfo("America/Toronto")
    >>> now = datetime(2026, 2, 18, 14, 0, tzinfo=zone)
    >>> understand("friday 5pm", now, zone).echo(now, zone)
    'Friday 2026-02-20 5:00 PM America/Toronto (in 2 days 3 h)'
    >>> understand("friday 5pm", now, zone).first_at(zone).isoformat()
    '2026-02-20T17:00:00-05:00'
    >>> understand("every weekday at 9", now, zone).rrule
    'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0'
    """

    first: Instant
    once: Instant | None = None
    rrule: str | None = None
    every: int | None = None
    words: str = "once"
    first_wall: datetime | None = None
    corrections: tuple[tuple[str, str], ...] = ()
    exact: bool = False

    def __post_init__(self) -> None:
        if sum(kind is not None for kind in (self.once, self.rrule, self.every)) != 1:
            raise ValueError("exactly one of once, rrule and every is set")

    @property
    def by_wall_clock(self) -> bool:
        """Whether it names a time on the clock on the wall: for somebody who moves to another zone, it is that time
        there."""
        return not self.exact and self.every is None

    def said_again(self, zone: ZoneInfo) -> str:
        """Words that are understood as the same, whenever they are read in this zone."""
        if self.once is None:
            return self.words
        local = to_datetime(self.once, zone)
        if self.exact or _repeated(local):
            return rfc3339(self.once, zone)
        return f"{local.replace(tzinfo=None).isoformat()}"

    @property
    def dated_rrule(self) -> str | None:
        """The rule to store: with a DTSTART where it has an INTERVAL.

        Counted from the moment it is added instead, "every other tuesday" said on a Wednesday would wait two weeks.
        """
        if self.rrule is None or self.first_wall is None or "INTERVAL=" not in self.rrule:
            return self.rrule
        return f"DTSTART:{self.first_wall:%Y%m%dT%H%M%S}\nRRULE:{self.rrule}"

    def first_at(self, zone: Zone) -> datetime:
        """The first time as a datetime."""
        return to_datetime(self.first, zone_of(zone))

    def describe(self) -> str:
        """The schedule in words, such as "every weekday at 9:00 AM"; "once" for a single instant."""
        return self.words

    def echo(self, now: Moment, zone: Zone, first: Instant | None = None) -> str:
        """What to say back: the absolute time with its zone and distance, and for a rule what repeats.

        `first` replaces the time that is shown, for a caller who has computed another one.
        """
        where = zone_of(zone)
        due = self.first if first is None else first
        ahead = f"({distance(due - as_instant(now))})"
        if self.once is not None:
            said = f"{absolute(due, where)} {where.key} {ahead}"
        else:
            said = f"{self.words} ({where.key}), next {absolute(due, where)} {ahead}"
        return f"{said}. {self.taken}" if self.corrections else said

    @property
    def taken(self) -> str:
        """What was taken for a slip of the keyboard, as a sentence; "" if nothing was."""
        read = " and ".join(f"“{typed}” as {meant}" for typed, meant in self.corrections)
        return f"I read {read}." if read else ""


def absolute(instant: Instant, zone: ZoneInfo) -> str:
    """Weekday, date and time on the wall, such as "Friday 2026-02-20 5:00 PM".

    In the hour that a DST change repeats, the zone's short name says which of the two it is.
    """
    local = to_datetime(instant, zone)
    said = f"{WEEKDAY_NAMES[local.weekday()]} {local.date().isoformat()} {clock_text(local.time())}"
    return f"{said} {local.tzname()}" if _repeated(local) else said


def clock_text(at: time) -> str:
    seconds = f":{at.second:02}" if at.second or at.microsecond else ""
    fraction = f".{at.microsecond:06}".rstrip("0") if at.microsecond else ""
    return f"{(at.hour - 1) % 12 + 1}:{at.minute:02}{seconds}{fraction} {'AM' if at.hour < 12 else 'PM'}"


def interval_text(microseconds: int) -> str:
    """ "every 30 minutes", in the largest unit that leaves nothing over; never in days, which an interval is not."""
    for unit, name in ((HOUR, "hour"), (MINUTE, "minute"), (SECOND, "second"), (1, "microsecond")):
        count, over = divmod(microseconds, unit)
        if not over:
            return _every(count, name)
    raise AssertionError("a microsecond leaves nothing over")


def rule_text(rule: Rule, times: tuple[time, ...]) -> str:
    """ "every weekday at 9:00 AM", "on the 2nd Tuesday of every month at 10:00 AM"."""
    return f"{_days_text(rule)} at {_listed(clock_text(at) for at in times)}"


def window_text(every: int, start: time, end: time, rule: Rule) -> str:
    """ "every 50 minutes from 9:00 AM to 5:00 PM on weekdays"."""
    days = ""
    if rule.weekdays:
        days = " on weekdays" if rule.weekdays == (0, 1, 2, 3, 4) else f" on {_listed(_plural(rule.weekdays))}"
    return f"{interval_text(every)} from {clock_text(start)} to {clock_text(end)}{days}"


def _plural(weekdays: tuple[int, ...]) -> list[str]:
    return [f"{WEEKDAY_NAMES[weekday]}s" for weekday in weekdays]


def _days_text(rule: Rule) -> str:
    names = _listed(WEEKDAY_NAMES[weekday] for weekday in rule.weekdays) if rule.weekdays else ""
    if rule.freq is Freq.DAILY:
        return _every(rule.interval, "day")
    if rule.freq is Freq.WEEKLY:
        if rule.weekdays == (0, 1, 2, 3, 4):
            names = "weekday"
        if rule.interval == 1:
            return f"every {names}"
        if rule.interval == 2 and len(rule.weekdays) == 1:
            return f"every other {names}"
        return f"{_every(rule.interval, 'week')} on {'weekdays' if names == 'weekday' else names}"
    if rule.freq is Freq.YEARLY:
        assert rule.month is not None
        return f"{_every(rule.interval, 'year')} on {MONTH_NAMES[rule.month - 1]} {rule.monthdays[0]}"
    if rule.nth is not None:
        which = f"{'last' if rule.nth < 0 else nth(rule.nth)} {names}"
    else:
        which = _listed("last day" if day < 0 else nth(day) for day in rule.monthdays)
    skipped = "" if max(rule.monthdays, default=0) < 29 else " that has it"
    return f"on the {which} of {_every(rule.interval, 'month')}{skipped}"


def nth(number: int) -> str:
    """1st, 2nd, 3rd, 11th."""
    return f"{number}{'th' if 10 <= number % 100 <= 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _every(interval: int, unit: str) -> str:
    return f"every {unit}" if interval == 1 else f"every {interval} {unit}s"


def _listed(items: Iterable[str]) -> str:
    names = list(items)
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _repeated(local: datetime) -> bool:
    return as_instant(local.replace(fold=0)) != as_instant(local.replace(fold=1))
