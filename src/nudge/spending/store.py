"""What the store keeps about money: accounts, holds, the use of every call, and each agent's spending state.

The rules are in `spending.holds`; these only read, lock and write. Whoever moves money of an agent locks its spending
row first and then accounts in `lock_order`, so that no two transactions wait for each other in a ring.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Protocol

from nudge.instants import Instant
from nudge.queue.store import QueueStore
from nudge.spending.holds import Account, AccountKey, Change, Hold
from nudge.spending.lifecycle import SpendingState
from nudge.spending.money import Micros
from nudge.tokens import TokenUse

if TYPE_CHECKING:
    from nudge.spending.call_log import CallTable
    from nudge.spending.tables import LedgerTable, SpendingTable, UsageTable


@dataclass(frozen=True, slots=True)
class SpendingRow:
    """An agent's window, the day it is on, and its spending state.

    `badge` is the percentage that the feed last showed today. `configured` is what the configuration said when it was
    last taken over: a change there counts, and what was set by command since then stays. `refused_calls`
    counts the calls that were refused in a row because the rest of the day is too small, and `refused_least` is the
    least that one of them asked for. Until `plan_resets_at` a window of the agent's plan is used up.
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
    refused_calls: int = 0
    refused_least: Micros = 0
    plan_resets_at: Instant | None = None


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
    """A hold, what it is for, and the accounts that it touches. `owner` is the home whose daemon made it, if any."""

    hold: Hold
    agent: str
    chain: tuple[AccountKey, ...]
    made_at: Instant
    model: str = ""
    purpose: str = ""
    run: str = ""
    owner: str = ""


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
    """What the calls of one purpose to one model came to. `assumed` of them were charged the most they can have cost,
    because nobody knows what they used."""

    purpose: str
    model: str
    calls: int
    use: TokenUse
    cost: Micros
    overrun: Micros
    known_price: bool
    assumed: int = 0


@dataclass(frozen=True, slots=True)
class DaySpent:
    day: date
    limit: Micros
    spent: Micros
    held: Micros
    overrun: Micros


class SpendingStore(QueueStore, Protocol):
    """What the spending governor needs of the store."""

    @property
    def spending(self) -> SpendingTable: ...
    @property
    def ledger(self) -> LedgerTable: ...
    @property
    def usage(self) -> UsageTable: ...
    @property
    def calls(self) -> CallTable: ...
