"""The line of calls in this process that wait for money.

First come, first served: a call that does not fit keeps its place, and nobody behind it takes from a pot that is too
short for it. Other processes have lines of their own over the same accounts, so whoever is in front also looks at the
store from time to time; between processes it is whoever looks first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import takewhile

from nudge.clock import Clock

FIRST_LOOK_SECONDS = 0.02
LONGEST_LOOK_SECONDS = 1.0


class Place:
    """A call in the line: the pots it takes from, and which of them were too short when it last asked."""

    __slots__ = ("_bell", "_looks", "pots", "short")

    def __init__(self, pots: Iterable[str]) -> None:
        self.pots = frozenset(pots)
        self.short: frozenset[str] = frozenset()
        self._bell = asyncio.Event()
        self._looks = 0

    def ring(self) -> None:
        self._bell.set()

    async def wait(self, clock: Clock, longest: float) -> None:
        """Until something changed in this process, or it is time to look at the store again."""
        patience = min(FIRST_LOOK_SECONDS * 2**self._looks, LONGEST_LOOK_SECONDS, max(longest, 0.0))
        self._looks = 0 if await clock.wait(self._bell, patience) else min(self._looks + 1, 10)
        self._bell.clear()


class Line:
    def __init__(self) -> None:
        self._places: list[Place] = []

    @contextmanager
    def place(self, pots: Iterable[str]) -> Iterator[Place]:
        place = Place(pots)
        self._places.append(place)
        try:
            yield place
        finally:
            self._places.remove(place)
            self.ring()

    def blocked(self, place: Place) -> bool:
        """Whether somebody who came earlier waits for a pot that this one takes from."""
        earlier = takewhile(lambda other: other is not place, self._places)
        return any(not other.short.isdisjoint(place.pots) for other in earlier)

    def ring(self) -> None:
        """Everybody looks again: there may be more room than before."""
        for place in self._places:
            place.ring()
