"""What a guard needs of a ledger, and how `nudge.Ledger` and the daemon's spending governor give it that."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from nudge.errors import UsageError
from nudge.progress.run_calls import OpenCall
from nudge.spending.money import Amount, Micros
from nudge.tokens import TokenUse

if TYPE_CHECKING:
    from nudge.spending.governor import Spending
    from nudge.spending.memory_ledger import Ledger, Reservation

T = TypeVar("T")

WORK = "work"
"""The purpose of a worker's calls, as `nudge.model.Purpose` names it; importing that would cost every hook."""


@dataclass(frozen=True, slots=True)
class CallWanted:
    """A call that needs money: its worst case is `input_bound` tokens of input and `max_tokens` of output. It may be
    clamped to `min_tokens`. One that starts a task is refused while the agent winds down."""

    id: str
    model: str
    input_bound: int
    max_tokens: int
    min_tokens: int
    starts_task: bool = False


class Holds(Protocol):
    """A ledger that answers at once, as a guard needs it."""

    def hold(self, call: CallWanted) -> int:
        """Hold the worst case of a call; the `max_tokens` it covers. Raises BudgetExhaustedError if it does not fit."""
        ...

    def settle(self, call_id: str, use: TokenUse, model: str) -> Micros:
        """Charge what a call used; the charge."""
        ...

    def release(self, call_id: str, error: BaseException | None) -> Micros:
        """End the hold of a call that brought no usage; the charge. Without an error the call was never sent, and that
        is free."""
        ...


class AsyncHolds(Protocol):
    """A ledger that may have to wait: in line for money, or for a database. The methods of `Holds`."""

    async def hold(self, call: CallWanted) -> int: ...

    async def settle(self, call_id: str, use: TokenUse, model: str) -> Micros: ...

    async def release(self, call_id: str, error: BaseException | None) -> Micros: ...


class Held(Protocol):
    """A call whose worst case is held, as `Ledger.hold` gives it."""

    @property
    def max_tokens(self) -> int: ...

    @property
    def charged(self) -> Micros: ...

    def settle(self, usage: object, *, model: str | None = None) -> Micros: ...


class LedgerHolds:
    """A `nudge.Ledger` for a guard. A call that does not fit now is refused: there is nobody to wait."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._open: dict[str, tuple[AbstractContextManager[Held], Held]] = {}

    def hold(self, call: CallWanted) -> int:
        block = _block(self._ledger, call)
        held: Held = block.__enter__()
        self._open[call.id] = block, held
        return held.max_tokens

    def settle(self, call_id: str, use: TokenUse, model: str) -> Micros:
        block, held = _known(self._open, call_id)
        charged = held.settle(use, model=model)
        block.__exit__(None, None, None)
        return charged

    def release(self, call_id: str, error: BaseException | None) -> Micros:
        if error is None:
            return self.settle(call_id, TokenUse(), "")
        block, held = _known(self._open, call_id)
        block.__exit__(type(error), error, error.__traceback__)
        return held.charged


class AsyncLedgerHolds:
    """Hold blocks for a guard that can wait: of a `nudge.Ledger`, or of the daemon's spending governor.

    A block is entered by `hold` and left by `settle` or `release`, so these belong in one task.
    """

    def __init__(self, block: Callable[[CallWanted], AbstractAsyncContextManager[Held]]) -> None:
        self._block = block
        self._open: dict[str, tuple[AbstractAsyncContextManager[Held], Held]] = {}

    @classmethod
    def of(cls, ledger: Ledger) -> AsyncLedgerHolds:
        """The holds of a ledger in memory."""
        return cls(lambda call: _block(ledger, call))

    @classmethod
    def of_agent(cls, spending: Spending, agent: str, *, run: str = "", purpose: str = WORK) -> AsyncLedgerHolds:
        """The holds of an agent in the store, on its day, its window and the accounts of `run`."""
        return cls(
            lambda call: spending.hold(
                agent,
                model=call.model,
                input_bound=call.input_bound,
                max_tokens=call.max_tokens,
                min_tokens=call.min_tokens,
                purpose=purpose,
                run=run,
                starts_task=call.starts_task,
                attempt_id=call.id,
            )
        )

    async def hold(self, call: CallWanted) -> int:
        block = self._block(call)
        held = await block.__aenter__()
        self._open[call.id] = block, held
        return held.max_tokens

    async def settle(self, call_id: str, use: TokenUse, model: str) -> Micros:
        block, held = _known(self._open, call_id)
        charged = held.settle(use, model=model)
        await block.__aexit__(None, None, None)
        return charged

    async def release(self, call_id: str, error: BaseException | None) -> Micros:
        if error is None:
            return await self.settle(call_id, TokenUse(), "")
        block, held = _known(self._open, call_id)
        await block.__aexit__(type(error), error, error.__traceback__)
        return held.charged


def no_cost(cost: Amount | None) -> None:
    """Refuse a cost where a ledger charges by the usage: its hold would never be settled."""
    if cost is not None:
        raise UsageError("This guard's ledger charges calls by their usage.", next_step="Leave out cost=.")


def wanted(call: OpenCall, min_tokens: int, starts_task: bool) -> CallWanted:
    """An open call as a ledger sees it."""
    least = min(min_tokens, call.max_tokens)
    return CallWanted(call.id, call.model, call.input_bound, call.max_tokens, least, starts_task)


def _block(ledger: Ledger, call: CallWanted) -> Reservation:
    return ledger.hold(
        model=call.model,
        input_tokens=call.input_bound,
        max_tokens=call.max_tokens,
        min_tokens=call.min_tokens,
        attempt_id=call.id,
    )


def _known(blocks: dict[str, T], call_id: str) -> T:
    try:
        return blocks.pop(call_id)
    except KeyError:
        raise UsageError(
            f"Nothing is held for the call {call_id}.", next_step="Settle each call once, in the process that held it."
        ) from None
