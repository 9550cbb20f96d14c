"""An agent's books: the accounts of its window and its day as they were read, and what they say about it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from nudge.defaults import SPENDING_TIER, SPENDING_WINDOW
from nudge.instants import Instant, rfc3339
from nudge.queue.timers import Timer
from nudge.spending.holds import Account, AccountKey, AccountKind, Change
from nudge.spending.lifecycle import Lifecycle, SpendingState, step
from nudge.spending.meter import Meter, SpendingDay
from nudge.spending.money import Micros
from nudge.spending.store import AccountRow, HoldRow, SpendingRow

WAKE = "wake"


def wake_timer(agent: str, at: Instant) -> Timer:
    """An agent's one wake. It has a lane of its own: a turn that runs must not keep the agent asleep."""
    return Timer.at(agent, WAKE, WAKE, at, lane=f"{agent}/wake")


@dataclass(frozen=True, slots=True)
class SpendingPlan:
    """What the configuration grants every agent: money for a window, and the tier that chooses its models."""

    window: Micros = SPENDING_WINDOW
    renews: date | None = None
    tier: str = SPENDING_TIER

    def text(self) -> str:
        renews = self.renews.isoformat() if self.renews else ""
        return json.dumps({"window": self.window, "renews": renews, "tier": self.tier})

    @classmethod
    def parse(cls, text: str) -> SpendingPlan:
        """What `text` wrote. Where nothing was written, a plan that no configuration has."""
        told = json.loads(text) if text else {}
        renews = told.get("renews")
        return cls(told.get("window", -1), date.fromisoformat(renews) if renews else None, told.get("tier", ""))


@dataclass(frozen=True, slots=True)
class Books:
    """An agent's accounts of today."""

    row: SpendingRow
    window: AccountRow
    day: AccountRow
    refresh_at: Instant

    @property
    def agent(self) -> str:
        return self.row.agent

    @property
    def chain(self) -> tuple[AccountKey, AccountKey]:
        return self.window.key, self.day.key

    @property
    def today(self) -> SpendingDay:
        account = self.day.account
        return SpendingDay(account.limit, account.committed, self.refresh_at, self.day.used_up)

    @property
    def lifecycle(self) -> Lifecycle:
        return Lifecycle(self.row.state, self.row.refresh_at, self.row.state_limit)

    def after(self, row: HoldRow, change: Change) -> Books:
        """The books after something happened to a hold; one of another day or window may touch only some of them."""
        window, day = (
            account.changed(row.hold, change) if account.key in row.chain else account
            for account in (self.window, self.day)
        )
        return replace(self, window=window, day=day)


@dataclass(frozen=True, slots=True)
class SpendingStatus:
    """An agent's spending as it is now: the state, the meter that people see, and the dollars behind it."""

    agent: str
    state: SpendingState
    meter: Meter
    refresh_at: Instant
    held: Micros
    used_up: bool
    window: Account
    window_starts: Instant
    window_ends: Instant
    topped_up: Micros
    overrun: Micros

    @property
    def banner(self) -> str | None:
        """What is shown in red until it is over."""
        return self.state.banner

    def public(self) -> dict[str, Any]:
        """For people and for JSON: percentages, no dollars."""
        return {
            "state": self.state.value,
            "percent": self.meter.percent,
            "colour": self.meter.colour.value,
            "text": self.meter.text,
            "refresh_at": rfc3339(self.refresh_at),
            "used_up": self.used_up,
            "banner": self.banner,
        }

    @classmethod
    def of(cls, books: Books, ends: Instant, now: Instant) -> SpendingStatus:
        """The state is the one that the money asks for now, also where nobody has acted on it yet."""
        return cls(
            agent=books.agent,
            state=step(books.lifecycle, books.today, now).lifecycle.state,
            meter=books.today.meter,
            refresh_at=books.refresh_at,
            held=books.day.account.held,
            used_up=books.day.used_up,
            window=books.window.account,
            window_starts=books.row.window_start,
            window_ends=ends,
            topped_up=books.row.topped_up,
            overrun=books.window.overrun,
        )


def window_key(row: SpendingRow) -> AccountKey:
    return AccountKey(AccountKind.WINDOW, f"{row.agent} from {rfc3339(row.window_start)}")


def day_key(row: SpendingRow) -> AccountKey:
    return AccountKey(AccountKind.DAY, f"{row.agent} on {row.day.isoformat()} from {rfc3339(row.window_start)}")
