"""What the store keeps about money: accounts, holds, the use of every call, and each agent's spending state.

The rules are in `spending.holds`; these only read, lock and write. Whoever moves money of an agent locks its spending
row first and then accounts in `lock_order`, so that no two transactions wait for each other in a ring.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from nudge.instants import Instant
from nudge.spending.holds import Account, AccountKey, Change, Hold
from nudge.spending.lifecycle import SpendingState
from nudge.spending.money import Micros
from nudge.tokens import TokenUse


@dataclass(frozen=True, slots=True)
class SpendingRow:
    """An agent's window, the day it is on, and its spending state.

    `badge` is the percentage that the feed last showed today. `configured` is what the configuration said when it was
    last taken over: a change there counts, and what was set by command since then stays.
    """

    agent: str
    budget: Micros
    window_start: Instant
    day: date
    topped_up: Micros = 0
    renews: Instant | None = None
    state: SpendingState = SpendingState.AWAKE
    refresh_at: Instant | None = None
    state_limit: Micros = 0
    badge: int = 0
    configured: str = ""


@dataclass(frozen=True, slots=True)
class AccountRow:
    """An account with its place in the tree. `overrun` is by how much calls cost more than was held for them.

    `used_up_at` is what had been charged when a call was refused because the rest was too small for it.
    """

    key: AccountKey
    account: Account
    agent: str = ""
    day: date | None = None
    overrun: Micros = 0
    used_up_at: Micros | None = None

    @property
    def used_up(self) -> bool:
        """Whether what is left is known not to pay for a call. A charge that was corrected downwards ends it."""
        return self.used_up_at is not None and self.account.committed >= self.used_up_at

    def changed(self, before: Hold, change: Change) -> AccountRow:
        """As it is after something happened to a hold that touches it."""
        overrun = self.overrun + change.hold.overrun - before.overrun
        return AccountRow(self.key, self.account.changed(change), self.agent, self.day, overrun, self.used_up_at)


@dataclass(frozen=True, slots=True)
class HoldRow:
    """A hold, what it is for, and the accounts that it touches."""

    hold: Hold
    agent: str
    chain: tuple[AccountKey, ...]
    made_at: Instant
    model: str = ""
    purpose: str = ""
    run: str = ""


@dataclass(frozen=True, slots=True)
class UsageRow:
    """One call in the usage log. `ended` is the hold's last state; a cancelled call has a cost and no tokens."""

    attempt_id: str
    agent: str
    at: Instant
    purpose: str
    model: str
    use: TokenUse
    cost: Micros
    run: str = ""
    overrun: Micros = 0
    known_price: bool = True
    ended: str = "settled"


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """What the calls of one purpose to one model came to."""

    purpose: str
    model: str
    calls: int
    use: TokenUse
    cost: Micros
    overrun: Micros
    known_price: bool


@dataclass(frozen=True, slots=True)
class DaySpent:
    day: date
    limit: Micros
    spent: Micros
    held: Micros
    overrun: Micros


class SpendingRows(Protocol):
    async def get(self, agent: str) -> SpendingRow | None: ...

    async def lock(self, agent: str) -> SpendingRow | None:
        """The row, which nobody else changes until the transaction around this ends."""
        ...

    async def all(self) -> Sequence[SpendingRow]: ...

    async def create(self, row: SpendingRow) -> bool:
        """False, and nothing written, if the agent has one already or is not there."""
        ...

    async def put(self, row: SpendingRow) -> None: ...

    async def pull_deferred(self, agent: str, refresh_at: Instant, now: Instant) -> int:
        """Let the agent's timers that were deferred to exactly `refresh_at` be due now; how many."""
        ...


class LedgerStore(Protocol):
    """`reserve` and `change` write several rows: they belong into the transaction that locked the accounts."""

    async def open(self, key: AccountKey, limit: Micros, *, agent: str = "", day: date | None = None) -> None:
        """An account with nothing charged. One that is there stays as it is."""
        ...

    async def get(self, keys: Iterable[AccountKey]) -> Mapping[AccountKey, AccountRow]:
        """Those that exist."""
        ...

    async def lock(self, keys: Iterable[AccountKey]) -> Mapping[AccountKey, AccountRow]:
        """Those that exist, locked in `lock_order`."""
        ...

    async def set_limit(self, key: AccountKey, limit: Micros) -> None: ...

    async def use_up(self, key: AccountKey) -> None:
        """Note that what is left now does not pay for a call."""
        ...

    async def hold(self, attempt_id: str) -> HoldRow | None: ...

    async def lock_hold(self, attempt_id: str) -> HoldRow | None: ...

    async def reserve(self, row: HoldRow) -> bool:
        """Write a new hold and hold its amount on its chain; False, and nothing written, if the attempt is known."""
        ...

    async def change(self, row: HoldRow, change: Change) -> None:
        """Write what happened to a hold, and add it to every account of its chain."""
        ...

    async def expired(self, agent: str, now: Instant, limit: int = 100) -> Sequence[HoldRow]: ...

    async def next_expiry(self, agent: str) -> Instant | None:
        """When the first of the agent's open holds expires."""
        ...

    async def forget(self, agent: str, before: Instant) -> int:
        """Remove ended holds that were made earlier. The usage log keeps the calls."""
        ...

    async def days(self, agent: str, since: date) -> Sequence[DaySpent]: ...


class UsageLog(Protocol):
    async def put(self, row: UsageRow) -> None:
        """Write what a call used. The same attempt again replaces what was assumed about it, but not its time."""
        ...

    async def recent(
        self, agent: str | None = None, *, since: Instant | None = None, limit: int = 50
    ) -> Sequence[UsageRow]:
        """Newest first."""
        ...

    async def totals(self, agent: str, since: Instant, until: Instant) -> Sequence[UsageTotal]:
        """By purpose and model, the dearest first."""
        ...
