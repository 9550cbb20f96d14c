"""The line of calls that wait for money on a shared tree of accounts, first come first served.

A call that does not fit keeps its place: nobody behind it may take from an account that is too short for it, so a large
call is not starved by small ones. Calls that touch none of those accounts pass it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

from nudge.errors import BudgetExhaustedError, NudgeError
from nudge.spending.holds import Account, Answer, Call, Change, Decision, decide
from nudge.spending.money import Micros, format_money

T = TypeVar("T")


class Pot:
    """An account with a name, and how much its calls cost beyond what was held for them."""

    __slots__ = ("account", "name", "overrun")

    def __init__(self, name: str, limit: Micros) -> None:
        self.name = name
        self.account = Account(limit)
        self.overrun: Micros = 0

    def apply(self, change: Change, overrun: Micros) -> None:
        self.account = self.account.changed(change)
        self.overrun += overrun


class Request(Generic[T]):
    """A call that asks for room in a chain of pots, the root first. `grant` makes the hold, and `release`
    undoes it as if it had never been and lets the line advance, or says False: the hold was not this request's own."""

    __slots__ = ("call", "chain", "future", "grant", "release")

    def __init__(
        self, chain: tuple[Pot, ...], call: Call, grant: Callable[[Decision], T], release: Callable[[T], bool]
    ) -> None:
        self.chain = chain
        self.call = call
        self.grant = grant
        self.release = release
        self.future: asyncio.Future[T] | None = None

    def decide(self) -> Decision:
        return decide([pot.account for pot in self.chain], self.call)

    def may_start(self) -> bool:
        """Whether a granted call still finds its chain within the limits; a free one always does."""
        free = self.call.worst_case(self.call.max_tokens) == 0
        return free or not any(pot.account.is_over for pot in self.chain)

    def refusal(self, decision: Decision) -> BudgetExhaustedError:
        least = format_money(self.call.worst_case(self.call.least_tokens))
        pot = self.chain[decision.short[-1]] if decision.short else self.chain[0]
        account = pot.account
        message = (
            f"The call needs {least} at least, and {pot.name} has {format_money(account.available)} left "
            f"of {format_money(account.limit)}"
        )
        if decision.answer is Answer.REFUSED:
            return BudgetExhaustedError(f"{message}.", next_step="Top up, shorten the input, or ask a cheaper model.")
        return BudgetExhaustedError(
            f"{message}, with {format_money(account.held)} held for calls under way or others in line before it.",
            next_step="Try again when those are through, or use `async with`, which waits for that.",
        )


class HoldQueue(Generic[T]):
    """Who waits, oldest first. One thread and one event loop."""

    def __init__(self) -> None:
        self._waiting: list[Request[T]] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def take(self, request: Request[T]) -> T:
        """A hold now, without passing anybody, or a refusal that says whether waiting would help."""
        decision = request.decide()
        if decision.answer is Answer.GRANTED and not self._blocked().isdisjoint(request.chain):
            decision = Decision(Answer.WAIT)
        if decision.answer is not Answer.GRANTED:
            raise request.refusal(decision)
        return request.grant(decision)

    async def wait(self, request: Request[T]) -> T:
        """A hold as soon as there is room and everybody before has theirs; a refusal once there never will be.

        Between a grant and the moment its task runs again, another call may have cost more than its hold. The call has
        not started then, so it gives its hold back and stands first in line once more.
        """
        future = self._join(request, len(self._waiting))
        self.advance()
        while True:
            try:
                held = await future
            except asyncio.CancelledError:
                if request in self._waiting:
                    self._waiting.remove(request)
                    self.advance()
                elif not future.cancelled() and future.exception() is None:
                    request.release(future.result())
                raise
            if request.may_start():
                return held
            future = self._join(request, 0)
            if not request.release(held):
                self._waiting.remove(request)
                return held

    def advance(self) -> None:
        """Tell everybody who can be told now. To be called whenever an account has got more room."""
        blocked: set[Pot] = set()
        for request in list(self._waiting):
            if request.chain[0] in blocked:
                return
            if not blocked.isdisjoint(request.chain):
                continue
            decision = request.decide()
            if decision.answer is Answer.WAIT:
                blocked.update(request.chain[index] for index in decision.short)
                continue
            self._waiting.remove(request)
            assert request.future is not None
            if request.future.cancelled():
                continue
            try:
                if decision.answer is Answer.REFUSED:
                    raise request.refusal(decision)
                request.future.set_result(request.grant(decision))
            except NudgeError as error:  # it is the waiting caller's, not that of whoever made room
                request.future.set_exception(error)

    def _join(self, request: Request[T], place: int) -> asyncio.Future[T]:
        request.future = asyncio.get_running_loop().create_future()
        self._waiting.insert(place, request)
        return request.future

    def _blocked(self) -> set[Pot]:
        return {request.chain[index] for request in self._waiting for index in request.decide().short}
