"""The line of calls that wait for money.

First come, first served: a call that does not fit keeps its place, and nobody behind it takes from an account that is
too short for it, so small calls never starve a large one. Calls that take from other accounts pass.

The ledger in memory and the one in the store wait in the same line. Other processes have lines of their own over the
same store, so with a clock whoever is in front also looks again from time to time; between processes it is whoever
looks first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Hashable
from dataclasses import dataclass
from typing import TypeVar

from nudge.backoff import Policy, delay
from nudge.clock import Clock
from nudge.errors import BudgetExhaustedError
from nudge.instants import SECOND

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NotYet:
    """The answer to a call that may fit later: the accounts that are too short for it now, and what its caller is told
    if that takes too long."""

    short: frozenset[Hashable]
    refusal: BudgetExhaustedError


class _Place:
    """A call in the line: what it takes from, and what of that was too short when it last asked."""

    __slots__ = ("bell", "looks", "short", "takes_from")

    def __init__(self, takes_from: Collection[Hashable]) -> None:
        self.takes_from = takes_from
        self.short: frozenset[Hashable] = frozenset()
        self.bell = asyncio.Event()
        self.looks = 0


class Line:
    """Who waits, oldest first. One thread and one event loop.

    With a clock it looks again from time to time, and a call that waited for `patience` seconds is refused. Without one
    it waits for `ring` alone, as long as that takes.
    """

    def __init__(self, clock: Clock | None = None, patience: float = 0.0) -> None:
        self._clock = clock
        self._patience = patience
        self._places: list[_Place] = []

    def __len__(self) -> int:
        return len(self._places)

    async def turn(
        self,
        takes_from: Collection[Hashable],
        ask: Callable[[], Awaitable[T | NotYet]],
        patience: float | None = None,
    ) -> T:
        """Join the line, and come back with what `ask` gave once it no longer says NotYet.

        `ask` is asked at once and then whenever there may be more room, but never while somebody earlier waits for an
        account that this call takes from. It raises where waiting does not help. `patience` is this call's own, in
        place of the line's.
        """
        began = self._clock.now() if self._clock else 0
        place = _Place(takes_from)
        self._places.append(place)
        refusal: BudgetExhaustedError | None = None
        try:
            while True:
                if not self._is_blocked(place):
                    answer = await ask()
                    if not isinstance(answer, NotYet):
                        return answer
                    refusal = answer.refusal
                    if place.short != answer.short:
                        place.short = answer.short
                        self.ring(but=place)
                await self._wait(place, began, refusal, self._patience if patience is None else patience)
        finally:
            self._places.remove(place)
            if place.short:
                self.ring()

    def blocks(self, takes_from: Collection[Hashable]) -> bool:
        """Whether somebody in the line waits for an account that a new call would take from."""
        return any(not place.short.isdisjoint(takes_from) for place in self._places)

    def ring(self, *, but: _Place | None = None) -> None:
        """Let those ask again who may: call this whenever an account may have more room."""
        blocked: set[Hashable] = set()
        for place in self._places:
            if place is not but and blocked.isdisjoint(place.takes_from):
                place.bell.set()
            blocked |= place.short

    def _is_blocked(self, place: _Place) -> bool:
        for other in self._places:
            if other is place:
                return False
            if not other.short.isdisjoint(place.takes_from):
                return True
        return False

    async def _wait(self, place: _Place, began: int, refusal: BudgetExhaustedError | None, patience: float) -> None:
        if self._clock is None:
            await place.bell.wait()
        else:
            left = patience - (self._clock.now() - began) / SECOND
            if left <= 0:
                raise refusal or BudgetExhaustedError(
                    "Other calls were ahead of this one in line, and its turn did not come in time.",
                    next_step="Try again later, or run 'nudge budget top-up AMOUNT'.",
                )
            seconds = min(delay(place.looks, Policy.MONEY), left)
            rung = await self._clock.wait(place.bell, seconds)
            place.looks = 0 if rung else place.looks + 1
        place.bell.clear()
