"""The meter: how much of the day's money is gone, as people see it. They see percentages; dollars are for operators.

All comparisons are between integers, so 89.999 % never shows or counts as 90.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from nudge.instants import Instant
from nudge.spending.money import Micros

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
        """Whether more than that share is used; exactly that share does not count. Of nothing all is used, no more."""
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

    def filled(self, width: int) -> int:
        """How many of `width` cells of a bar are filled; full only when everything is used, never more than full."""
        return min(width, width * self.percent // 100)


@dataclass(frozen=True, slots=True)
class SpendingDay:
    """A spending day as it was read: what it may spend, what it spent, and the instant at which it is over.

    `used_up` says that a call was refused because what is left does not pay for it. Worst cases rarely add up to the
    last micro-dollar of a day, so without it a day would hardly ever be over before midnight.
    """

    limit: Micros
    spent: Micros
    refresh_at: Instant
    used_up: bool = False

    @property
    def meter(self) -> Meter:
        return Meter(self.spent, self.limit)
