"""Holds: the arithmetic of hold and settle on a chain of accounts.

Before a call its worst case is held on every account it touches; afterwards the hold is replaced by what it really
cost. These are the rules of every ledger, in memory or in a database. A ledger adds only where the numbers live and how
a whole chain changes at once.

The state of a hold, by attempt id. A second report of the same end changes nothing; a true cost that comes late
corrects what was charged without knowing it:

    HELD ── settle ──▶ SETTLED      charged what it cost
      ├──── cancel ──▶ CANCELLED ── settle ──▶ SETTLED      charged the input, and what came, until the truth is known
      └──── expire ──▶ EXPIRED ──── settle ──▶ SETTLED      charged the worst case until the truth is known

Whatever may have been billed is charged: the ledger is never below the provider's bill.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import partial
from typing import NamedTuple, TypeAlias

from nudge.errors import ModelUnavailableError, NotConfiguredError, QuestionRefusedError, UsageError
from nudge.instants import Instant
from nudge.numbers import is_whole
from nudge.spending.money import Micros
from nudge.spending.prices import Caching, Price

MIN_TOKENS = 64
"""An answer shorter than this is not worth the price of its question: a call is not clamped below it."""


class AccountKind(IntEnum):
    """Where an account stands in the tree, the root first. Ledgers lock accounts in this order, then by name, so that
    two calls never wait for each other."""

    WINDOW = 0
    DAY = 1
    RUN = 2
    POOL = 3


class AccountKey(NamedTuple):
    kind: AccountKind
    name: str


def lock_order(keys: Iterable[AccountKey]) -> list[AccountKey]:
    """Every account once, in the one order in which ledgers lock them."""
    return sorted(set(keys))


@dataclass(frozen=True, slots=True)
class Account:
    """Money with a limit: what was charged to it and what is held for calls that have not come back."""

    limit: Micros
    committed: Micros = 0
    held: Micros = 0

    @property
    def available(self) -> Micros:
        """What another hold may take; nothing where calls in flight went over the limit."""
        return max(0, self.limit - self.committed - self.held)

    @property
    def settled_room(self) -> Micros:
        """What would be available if every hold turned out to cost nothing."""
        return max(0, self.limit - self.committed)

    @property
    def is_over(self) -> bool:
        """Whether more is charged and held than there is, because a call cost more than was held for it."""
        return self.committed + self.held > self.limit

    def changed(self, change: Change) -> Account:
        """This account after a change of one of its holds."""
        return Account(self.limit, self.committed + change.committed, self.held + change.held)


class HoldState(StrEnum):
    HELD = "held"
    SETTLED = "settled"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Hold:
    """Money reserved for one call. `input_cost` is the part that is due even if the call is cancelled."""

    attempt_id: str
    amount: Micros
    input_cost: Micros
    max_tokens: int
    expires_at: Instant | None = None
    state: HoldState = HoldState.HELD
    charged: Micros = 0

    @property
    def overrun(self) -> Micros:
        """By how much the call cost more than was held for it: the estimate was too low by that."""
        return max(0, self.charged - self.amount)


@dataclass(frozen=True, slots=True)
class Change:
    """A hold after something happened to it, and what that adds to every account of its chain."""

    hold: Hold
    committed: Micros = 0
    held: Micros = 0


End: TypeAlias = Callable[[Hold], Change]
"""A way for a hold to end."""


class Answer(StrEnum):
    GRANTED = "granted"
    WAIT = "wait"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a call may start: now with `max_tokens` (fewer than asked for where it was clamped), perhaps later when
    holds have settled, or not with this money. `short` are the positions in the chain that lack the money."""

    answer: Answer
    max_tokens: int = 0
    amount: Micros = 0
    short: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A call that wants to start, with the price of its model. The service may do up to `searches` web searches."""

    price: Price
    input_tokens: int
    max_tokens: int
    min_tokens: int = MIN_TOKENS
    caching: Caching = Caching.SHORT
    searches: int = 0

    def __post_init__(self) -> None:
        least = ((self.input_tokens, 0), (self.max_tokens, 1), (self.min_tokens, 1), (self.searches, 0))
        if any(not is_whole(tokens) or tokens < limit for tokens, limit in least):
            raise UsageError(
                f"A call cannot have {self.input_tokens} input tokens and {self.min_tokens} to {self.max_tokens} "
                "output tokens.",
                next_step="Use whole numbers: 0 or more for the input, 1 or more for the output.",
            )

    @property
    def input_cost(self) -> Micros:
        return self.worst_case(0)

    def worst_case(self, max_tokens: int) -> Micros:
        tokens = self.price.worst_case(self.input_tokens, max_tokens, self.caching)
        return tokens + self.price.search_cost(self.searches)

    def most_tokens(self, room: Micros) -> int:
        """The most output tokens, up to what was asked for, whose worst case that much money covers."""
        left = room - self.price.search_cost(self.searches)
        return self.price.fit_max_tokens(self.input_tokens, left, self.max_tokens, self.caching)

    @property
    def least_tokens(self) -> int:
        return min(self.min_tokens, self.max_tokens)

    @property
    def least_cost(self) -> Micros:
        """What has to be there for the call to start at all."""
        return self.worst_case(self.least_tokens)


def available(accounts: Sequence[Account]) -> Micros:
    """What a chain has room for: as much as the account with the least."""
    return min(account.available for account in accounts)


def fits(accounts: Sequence[Account], amount: Micros) -> bool:
    """Whether every account of the chain has that much; exactly as much is enough."""
    return available(accounts) >= amount


def decide(accounts: Sequence[Account], call: Call) -> Decision:
    """Grant the call, clamp it, let it wait or refuse it.

    It waits only where settling holds could make room: where the answer is WAIT something is held, so whoever waits is
    asked again. What not even that could fit is refused.
    """
    room = available(accounts)
    most = call.most_tokens(room)
    if most >= call.least_tokens and (amount := call.worst_case(most)) <= room:
        return Decision(Answer.GRANTED, most, amount)
    least = call.least_cost
    hopeless = any(account.settled_room < least for account in accounts)
    short = tuple(index for index, account in enumerate(accounts) if account.available < least)
    return Decision(Answer.REFUSED if hopeless else Answer.WAIT, short=short)


def reserve(attempt_id: str, decision: Decision, call: Call, expires_at: Instant | None = None) -> Change:
    """A granted call's hold."""
    assert decision.answer is Answer.GRANTED
    hold = Hold(attempt_id, decision.amount, call.input_cost, decision.max_tokens, expires_at)
    return Change(hold, held=hold.amount)


def settle(hold: Hold, actual: Micros) -> Change:
    """Charge what the call really cost, in place of the hold or of what was charged without knowing."""
    if hold.state is HoldState.SETTLED:
        return Change(hold)
    return _ended(hold, HoldState.SETTLED, actual)


def cancel(hold: Hold, produced: Micros = 0) -> Change:
    """Charge the input of a call that its caller ended, and what its stream had produced by then."""
    if hold.state is not HoldState.HELD:
        return Change(hold)
    return _ended(hold, HoldState.CANCELLED, min(hold.input_cost + produced, hold.amount))


def expire(hold: Hold, now: Instant) -> Change:
    """Give up a hold whose time is over. At exactly its expiry it is; without an expiry it never is."""
    return give_up(hold) if hold.expires_at is not None and hold.expires_at <= now else Change(hold)


def give_up(hold: Hold) -> Change:
    """Charge the worst case of a call whose use nobody knows."""
    if hold.state is not HoldState.HELD:
        return Change(hold)
    return _ended(hold, HoldState.EXPIRED, hold.amount)


def end_of_block(error: BaseException | None) -> End:
    """How a hold ends whose block ended with `error`, or without one, and did not settle it.

    | the block | is charged |
    |---|---|
    | raises what shows that the service did not do it | nothing |
    | returns, raises anything else, or is cancelled | the worst case: the call may have been answered and billed |
    """
    return partial(settle, actual=0) if error is not None and is_unbilled(error) else give_up


def is_unbilled(error: BaseException) -> bool:
    """Whether an error shows that the service certainly did not do a call: it refused the key or the question, said
    that it could not (an error answer is not billed), or was never reached. A time-out and a broken answer do not.

    The errors of the Anthropic and OpenAI clients and of httpx tell the status of the answer.
    """
    if isinstance(error, ModelUnavailableError):
        return error.unbilled
    if isinstance(error, NotConfiguredError | QuestionRefusedError | ConnectionRefusedError):
        return True
    status = getattr(error, "status_code", None) or getattr(getattr(error, "response", None), "status_code", None)
    return is_whole(status) and 400 <= status < 600 and status not in _NOT_KNOWN


_NOT_KNOWN = (408, 502, 504)
"""Somebody between us and the service gave up waiting for its answer."""


def _ended(hold: Hold, state: HoldState, charged: Micros) -> Change:
    released = hold.amount if hold.state is HoldState.HELD else 0
    ended = Hold(hold.attempt_id, hold.amount, hold.input_cost, hold.max_tokens, hold.expires_at, state, charged)
    return Change(ended, committed=charged - hold.charged, held=-released)
