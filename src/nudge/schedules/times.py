"""Sets of seconds counted from the start of a day (or of an hour, or of a minute), in order.

Two shapes with the same questions: a list for the few times that nearly every rule has, and the product of hours,
minutes and seconds, which answers without being written out: a rule may name all 86 400 seconds of the day.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Protocol

_LISTED = 512


class Times(Protocol):
    """An ordered set of seconds."""

    @property
    def size(self) -> int: ...

    def first(self, second: int) -> int | None:
        """The first one at or after `second`, or None."""

    def index(self, second: int) -> int:
        """How many lie before `second`."""

    def nth(self, index: int) -> int:
        """The one with `index` others before it."""


class Listed:
    """Times written out."""

    __slots__ = ("_seconds", "size")

    def __init__(self, seconds: Sequence[int]) -> None:
        self._seconds = tuple(seconds)
        self.size = len(self._seconds)

    def first(self, second: int) -> int | None:
        index = bisect_left(self._seconds, second)
        return self._seconds[index] if index < self.size else None

    def index(self, second: int) -> int:
        return bisect_left(self._seconds, second)

    def nth(self, index: int) -> int:
        return self._seconds[index]


class Product:
    """Every one of the hours with every one of the minutes and seconds."""

    __slots__ = ("_hours", "_minutes", "_seconds", "size")

    def __init__(self, hours: Sequence[int], minutes: Sequence[int], seconds: Sequence[int]) -> None:
        self._hours, self._minutes, self._seconds = tuple(hours), tuple(minutes), tuple(seconds)
        self.size = len(self._hours) * len(self._minutes) * len(self._seconds)

    def first(self, second: int) -> int | None:
        index = self.index(second)
        return self.nth(index) if index < self.size else None

    def index(self, second: int) -> int:
        hour, rest = divmod(second, 3600)
        minute, rest = divmod(rest, 60)
        hours, minutes, seconds = self._hours, self._minutes, self._seconds
        at = bisect_left(hours, hour)
        before = at * len(minutes) * len(seconds)
        if at == len(hours) or hours[at] != hour:
            return before
        at = bisect_left(minutes, minute)
        before += at * len(seconds)
        if at == len(minutes) or minutes[at] != minute:
            return before
        return before + bisect_left(seconds, rest)

    def nth(self, index: int) -> int:
        index, second = divmod(index, len(self._seconds))
        hour, minute = divmod(index, len(self._minutes))
        return self._hours[hour] * 3600 + self._minutes[minute] * 60 + self._seconds[second]


def times_of(hours: Sequence[int], minutes: Sequence[int], seconds: Sequence[int]) -> Times:
    """The times that these hours, minutes and seconds (each in order) make together."""
    if len(hours) * len(minutes) * len(seconds) > _LISTED:
        return Product(hours, minutes, seconds)
    return Listed([hour * 3600 + minute * 60 + second for hour in hours for minute in minutes for second in seconds])
