"""The daily allowance: what is left of a window's money, divided by the days that are left; and its meter.

Unspent money is no bonus for tomorrow: it is still in what is left. The division rounds down and the last day gets
everything, so the days add up to the window to the micro-dollar. People see percentages; dollars are for operators.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from functools import lru_cache

from nudge.errors import UsageError
from nudge.instants import (
    DAY,
    Instant,
    Moment,
    as_instant,
    from_local,
    from_timedelta,
    local_date,
    to_datetime,
    zone_of,
)
from nudge.spending.money import Amount, Micros, Money, as_micros

YELLOW_FROM = 60
RED_FROM = 90


class Colour(StrEnum):
    GREEN = "green"
    YELLOW = "yellow"
    RED = "red"


@dataclass(frozen=True, slots=True)
class Meter:
    """How much of an allowance is used. Where the allowance is nothing, all of it is used.

    >>> Meter(spent=470_000, limit=1_000_000).text
    'Budget: 47% used'
    """

    spent: Micros
    limit: Micros

    def reached(self, percent: int) -> bool:
        """Whether at least that share is used; exactly that share counts."""
        return self.spent * 100 >= self.limit * percent

    def passed(self, percent: int) -> bool:
        """Whether more than that share is used; exactly that share does not count."""
        return self.limit > 0 and self.spent * 100 > self.limit * percent

    @property
    def percent(self) -> int:
        """Whole percent, rounded down: 100 shows only when nothing is left. It goes on above 100."""
        return 100 if self.limit == 0 else self.spent * 100 // self.limit

    @property
    def colour(self) -> Colour:
        """Green below 60 %, yellow from exactly 60 %, red from exactly 90 %."""
        if self.reached(RED_FROM):
            return Colour.RED
        return Colour.YELLOW if self.reached(YELLOW_FROM) else Colour.GREEN

    @property
    def text(self) -> str:
        return f"Budget: {self.percent}% used"

    def with_held(self, held: Micros) -> str:
        """The text with what is held for running calls, which other calls cannot have.

        >>> Meter(20, 100).with_held(34), Meter(20, 100).with_held(0)
        ('Budget: 20% used, 34% held', 'Budget: 20% used')
        """
        return f"{self.text}, {self.held_percent(held)}% held" if held else self.text

    def held_percent(self, held: Micros) -> int:
        """The part of the limit that is held, at least 1 % of it if anything is."""
        return max(1, Meter(held, self.limit).percent) if held else 0

    def filled(self, width: int) -> int:
        """How many of `width` cells of a bar are filled; full only when everything is used, never more than full."""
        return min(width, width * self.percent // 100)


@dataclass(frozen=True, slots=True)
class SpendingDay:
    """A spending day as it was read: what it may spend, what it spent, and the instant at which it is over.

    `used_up` says that a call was refused because what is left does not cover it. Worst cases rarely add up to the
    last micro-dollar of a day, so without it a day would hardly ever be over before midnight. Until `plan_resets_at` a
    window of the agent's plan is used up, and money is no help.
    """

    limit: Micros
    spent: Micros
    refresh_at: Instant
    used_up: bool = False
    plan_resets_at: Instant | None = None

    @property
    def meter(self) -> Meter:
        return Meter(self.spent, self.limit)


_WRITTEN = re.compile(r"(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?:\s+(?P<zone>\S+))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class DayTurn:
    """When a spending day begins: at the same time on the clock of `zone` every day, `offset` (under 24 hours) after
    midnight. A time that a clock change skips or repeats counts once: right after the gap, and the first time.

    The instant of the turn belongs to the new day. Days are counted on the calendar, so a day of 23 or 25 hours is one
    day like the others.
    """

    zone: str = "UTC"
    offset: timedelta = timedelta(0)

    def __post_init__(self) -> None:
        zone_of(self.zone)
        if not 0 <= from_timedelta(self.offset) < DAY:
            raise UsageError("A spending day starts less than 24 hours after midnight.", next_step="Use 0 to 23:59.")

    @classmethod
    def parse(cls, text: str) -> DayTurn:
        """A time of day and a zone, UTC where none is named.

        >>> DayTurn.parse("04:00 America/Toronto")
        DayTurn(zone='America/Toronto', offset=datetime.timedelta(seconds=14400))
        """
        match = _WRITTEN.fullmatch(text.strip())
        if match is None:
            raise UsageError(
                f"{text!r} is not a time when a day can start.", next_step="Write it like 04:00 America/Toronto."
            )
        return cls(match["zone"] or "UTC", timedelta(hours=int(match["hour"]), minutes=int(match["minute"])))

    def day_of(self, instant: Instant) -> date:
        day = local_date(instant, zone_of(self.zone))
        return day if instant >= self.start_of(day) else day - timedelta(days=1)

    def start_of(self, day: date) -> Instant:
        return _start_of(self, day)

    def after(self, instant: Instant) -> Instant:
        """The next turn: later than `instant` also where a zone left a day out of its calendar."""
        day = self.day_of(instant) + timedelta(days=1)
        while (turn := self.start_of(day)) <= instant:
            day += timedelta(days=1)
        return turn


@lru_cache(maxsize=512)
def _start_of(turn: DayTurn, day: date) -> Instant:
    """Kept, because every call for money asks it about the same few days."""
    return from_local(datetime.combine(day, time()) + turn.offset, zone_of(turn.zone))


MIDNIGHT_UTC = DayTurn()


WINDOW_DAYS = 30
"""How long a window is without a renewal date."""


def day_share(remaining: Micros, days: int) -> Money:
    """One day's part of what remains, rounded down; a day is always left, and a debt is no allowance."""
    return Money(max(0, remaining)) // max(1, days)


def window_end(start: Instant, renews: Instant | None, turn: DayTurn) -> Instant:
    """When a window is over. Without a renewal it has 30 spending days, the one it begins on included."""
    return renews if renews is not None else turn.start_of(turn.day_of(start) + timedelta(days=WINDOW_DAYS))


def remaining_days(now: Instant, end: Instant, turn: DayTurn) -> int:
    """Spending days from the one of `now` to the last before `end`, both included, begun ones whole; at least 1."""
    return max(1, (turn.day_of(Instant(end - 1)) - turn.day_of(now)).days + 1)


@dataclass(frozen=True, slots=True)
class Allowance:
    """A window's money and today's share of it. A value: every method returns a new one and changes nothing.

    The share is computed at the first touch after the day turned and then stays for the day, whoever spends from it:
    all sessions of an agent share one allowance. When the window is over, the next touch begins a new one with the same
    budget and without the top-ups; its length is 30 days unless it is changed. A clock that goes back changes nothing.

    >>> from datetime import UTC
    >>> month = Allowance.open("$30", start=datetime(2026, 11, 1, tzinfo=UTC), renews=date(2026, 12, 1))
    >>> noon = datetime(2026, 11, 1, 12, tzinfo=UTC)
    >>> month = month.spend("$0.47", noon)
    >>> month.meter.text
    'Budget: 47% used'
    >>> month.next_refresh(noon).isoformat()
    '2026-11-02T00:00:00+00:00'
    >>> from nudge.spending.money import format_money
    >>> format_money(month.at(datetime(2026, 11, 2, tzinfo=UTC)).limit)
    '$1.018275'
    """

    budget: Micros
    start: Instant
    renews: Instant | None = None
    turn: DayTurn = MIDNIGHT_UTC
    topped_up: Micros = 0
    spent_before: Micros = 0
    day: date | None = None
    limit: Micros = 0
    spent_today: Micros = 0

    @classmethod
    def open(
        cls, budget: Amount, *, start: Moment, renews: date | Moment | None = None, turn: DayTurn = MIDNIGHT_UTC
    ) -> Allowance:
        """A new window from `start`, in dollars, with its first day's share. A renewal given as a date is the turn of
        that day."""
        begins = as_instant(start)
        ends = _renewal(renews, turn, after=begins)
        return cls(as_micros(budget), begins, ends, turn).at(begins)

    def at(self, now: Moment) -> Allowance:
        """The allowance as it is at `now`: the same all day, computed again after a turn or a renewal."""
        instant = Instant(max(as_instant(now), self.start))
        if instant >= self.end:
            return self._renewed(instant).at(instant)
        day = self.turn.day_of(instant)
        if self.day is not None and day <= self.day:
            return self
        share = day_share(self.remaining, remaining_days(instant, self.end, self.turn))
        return replace(self, day=day, limit=share, spent_before=self.spent, spent_today=0)

    def spend(self, amount: Amount, now: Moment) -> Allowance:
        """A new allowance with a cost added to the day of `now`, whatever the share was: what is spent is spent."""
        today = self.at(now)
        return replace(today, spent_today=today.spent_today + as_micros(amount))

    def top_up(self, amount: Amount, now: Moment) -> Allowance:
        """A new allowance with money added to this window, and today's share computed again."""
        today = self.at(now)
        return today._recomputed(now, replace(today, topped_up=today.topped_up + as_micros(amount)))

    def with_window(
        self, now: Moment, *, budget: Amount | None = None, renews: date | Moment | None = None
    ) -> Allowance:
        """A new allowance with another budget or renewal for this window, and today's share computed again. What is
        None stays.

        Top-ups stay too, and what was spent stays spent. Without any change, nothing is computed: saying the same twice
        grants nothing twice.
        """
        today = self.at(now)
        changed = replace(
            today,
            budget=today.budget if budget is None else as_micros(budget),
            renews=today.renews if renews is None else _renewal(renews, self.turn, after=as_instant(now)),
        )
        return today._recomputed(now, changed)

    def next_refresh(self, now: Moment) -> datetime:
        """When the next share is granted: the next turn of the day, or the renewal where that is earlier."""
        return to_datetime(self.today(now).refresh_at, zone_of(self.turn.zone))

    def today(self, now: Moment) -> SpendingDay:
        """The day of `now` as the lifecycle reads it."""
        here = self.at(now)
        assert here.day is not None
        reached = Instant(max(as_instant(now), here.start, here.turn.start_of(here.day)))
        return SpendingDay(here.limit, here.spent_today, min(here.turn.after(reached), here.end))

    @property
    def total(self) -> Money:
        """The budget of this window, top-ups included."""
        return Money(self.budget + self.topped_up)

    @property
    def spent(self) -> Money:
        """Of this window, today included."""
        return Money(self.spent_before + self.spent_today)

    @property
    def remaining(self) -> Money:
        """Of this window; never negative, even if calls in flight went over it."""
        return Money(max(0, self.total - self.spent))

    @property
    def meter(self) -> Meter:
        return Meter(self.spent_today, self.limit)

    @property
    def end(self) -> Instant:
        return window_end(self.start, self.renews, self.turn)

    def _renewed(self, now: Instant) -> Allowance:
        begins = self.end
        whole = (self.turn.day_of(now) - self.turn.day_of(begins)).days // WINDOW_DAYS
        if whole > 0:
            begins = self.turn.start_of(self.turn.day_of(begins) + timedelta(days=whole * WINDOW_DAYS))
        return Allowance(self.budget, begins, turn=self.turn)

    def _recomputed(self, now: Moment, changed: Allowance) -> Allowance:
        """Money that was added is shared out from now on, on top of what today already spent: it always buys something
        at once, which is what somebody wants who pays for a sleeping agent. Any other change gives today the share that
        it would have had with it from its start."""
        if changed == self:
            return self
        instant = Instant(max(as_instant(now), self.start))
        days = remaining_days(instant, changed.end, self.turn)
        most = max(0, changed.total - changed.spent_before)
        if changed.total > self.total:
            share = Money(min(most, changed.spent_today + day_share(changed.remaining, days)))
        else:
            share = day_share(most, days)
        return replace(changed, limit=share)


def _renewal(renews: date | Moment | None, turn: DayTurn, *, after: Instant) -> Instant | None:
    if renews is None:
        return None
    if isinstance(renews, date) and not isinstance(renews, datetime):
        ends = turn.start_of(renews)
    else:
        ends = as_instant(renews)
    if ends <= after:
        raise UsageError("A window must renew in the future.", next_step="Give a later date.")
    return ends
