"""Plan windows: what a subscription's service says about its five hours and its week.

There are no dollars in them. The service says how much is used, and when a window resets; nudge keeps what it
last said. A window that is used up puts the agent to sleep until then.

What is *spare* is what would expire unused if whoever else uses the plan went on evenly: the share of the window that
is left, less the share of its time that is left. Of a week that is 40 % used after half its days, 10 % are spare.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Any

from nudge.instants import DAY, HOUR, SECOND, Instant, rfc3339
from nudge.queue.records import Record, fields, items, text, whole
from nudge.queue.store import QueueStore

PREFIX = "anthropic-ratelimit-unified-"
_REJECTED = "rejected"
_ACCOUNT = b"anthropic-organization-id"
_LENGTHS = {"5h": 5 * HOUR, "7d": 7 * DAY}
_LATEST = 2**40
"""Seconds; a reset beyond that is no time."""


@dataclass(frozen=True, slots=True)
class PlanWindow:
    """One window as the service last told it. `percent` is what is used."""

    name: str
    percent: int
    resets_at: Instant
    used_up: bool = False

    @property
    def title(self) -> str:
        """
        >>> PlanWindow("5h", 40, Instant(0)).title, PlanWindow("7d_opus", 40, Instant(0)).title
        ('5 hours', 'week (opus)')
        """
        span, _, rest = self.name.partition("_")
        known = {"5h": "5 hours", "7d": "week"}.get(span, span)
        return f"{known} ({rest})" if rest else known

    def public(self, zone: tzinfo, now: Instant) -> dict[str, Any]:
        """As JSON."""
        return {
            "name": self.name,
            "percent": self.percent,
            "resets_at": rfc3339(self.resets_at, zone),
            "used_up": self.used_up,
            "spare_percent": self.spare(now),
        }

    @property
    def begins(self) -> Instant | None:
        """When this window began; None if nobody knows how long it is."""
        length = _LENGTHS.get(self.name.partition("_")[0])
        return None if length is None else Instant(self.resets_at - length)

    @property
    def for_all_models(self) -> bool:
        """Whether nothing goes on when it is used up; one for a single model leaves the others."""
        return "_" not in self.name

    def spare(self, now: Instant) -> int | None:
        """How many percent of it are spare, below 0 if it is used faster than its time passes. None if nobody knows.

        >>> from nudge.instants import HOUR
        >>> PlanWindow("5h", 40, Instant(5 * HOUR)).spare(Instant(3 * HOUR))
        20
        """
        if self.begins is None:
            return None
        left = max(0, min(self.resets_at - now, self.resets_at - self.begins))
        return 100 - self.percent - -(-100 * left // (self.resets_at - self.begins))

    def spare_at(self) -> Instant | None:
        """When some of it is spare again if nobody uses it until then."""
        if self.used_up or self.begins is None:
            return self.resets_at if self.used_up else None
        passed = (self.resets_at - self.begins) * min(self.percent + 1, 100) // 100
        return Instant(self.begins + passed)


@dataclass(frozen=True, slots=True)
class PlanTold:
    """What a service last said about a plan, and when. Agents with the same `account` share it."""

    windows: tuple[PlanWindow, ...] = ()
    account: str = ""
    at: int = 0

    def with_room(self) -> PlanTold:
        return replace(self, windows=tuple(replace(one, used_up=False) for one in self.windows))


PLAN: Record[PlanTold] = Record(
    "plan.windows",
    lambda data: PlanTold(
        tuple(
            PlanWindow(text(one["name"]), whole(one["percent"]), Instant(whole(one["resets_at"])), bool(one["used_up"]))
            for one in map(fields, items(data["windows"]))
        ),
        text(data["account"]),
        Instant(whole(data["at"])),
    ),
    lambda told: {
        "windows": [
            {"name": one.name, "percent": one.percent, "resets_at": int(one.resets_at), "used_up": one.used_up}
            for one in told.windows
        ],
        "account": told.account,
        "at": int(told.at),
    },
)


async def plan_of(store: QueueStore, agent: str) -> PlanTold:
    """What is known about an agent's plan: the newest that anybody was told who has the same account."""
    own = await store.records.get(agent, PLAN) or PlanTold()
    if not own.account:
        return own
    known = [own]
    for other in await store.agents.all():
        told = await store.records.get(other.name, PLAN)
        if told is not None and told.account == own.account:
            known.append(told)
    return max(known, key=lambda told: told.at)


def read_plan(headers: Iterable[tuple[bytes, bytes]], now: Instant) -> PlanTold:
    """What an answer tells about a plan."""
    headers = list(headers)
    account = next((value.decode("latin-1") for name, value in headers if name.lower() == _ACCOUNT), "")
    return PlanTold(read_windows(headers), account[:80], now)


def read_windows(headers: Iterable[tuple[bytes, bytes]]) -> tuple[PlanWindow, ...]:
    """The windows that an answer tells of; none if it tells of none, or not so that it can be read.

    >>> [one.percent for one in read_windows([
    ...     (b"anthropic-ratelimit-unified-5h-status", b"allowed"),
    ...     (b"anthropic-ratelimit-unified-5h-reset", b"1790000000"),
    ...     (b"anthropic-ratelimit-unified-5h-utilization", b"0.42"),
    ... ])]
    [42]
    """
    told: dict[str, dict[str, str]] = {}
    for raw_name, raw_value in headers:
        name = raw_name.decode("latin-1").lower()
        if name.startswith(PREFIX):
            window, _, field = name.removeprefix(PREFIX).rpartition("-")
            told.setdefault(window, {})[field] = raw_value.decode("latin-1").strip()
    whole_plan = told.pop("", {})
    claimed = {"five_hour": "5h", "seven_day": "7d"}.get(told.pop("representative", {}).get("claim", ""), "plan")
    if whole_plan.get("status") == _REJECTED and not any(one.get("status") == _REJECTED for one in told.values()):
        told[claimed] = {**told.get(claimed, {}), **whole_plan}
    found = [_window(name, one) for name, one in sorted(told.items())]
    return tuple(one for one in found if one is not None)


def _window(name: str, told: dict[str, str]) -> PlanWindow | None:
    reset, used = told.get("reset", ""), told.get("utilization", "")
    if not reset.isdecimal() or not 0 < int(reset) < _LATEST:
        return None
    used_up = told.get("status") == _REJECTED
    try:
        percent = min(1_000, max(0, int(float(used) * 100 + 1e-9)))
    except (ValueError, OverflowError):
        percent = 100 if used_up else 0
    return PlanWindow(name, percent, Instant(int(reset) * SECOND), used_up)


def current(windows: tuple[PlanWindow, ...], now: Instant) -> tuple[PlanWindow, ...]:
    """Those that have not begun again since."""
    return tuple(one for one in windows if one.resets_at > now)


def asleep_until(windows: tuple[PlanWindow, ...], now: Instant) -> Instant | None:
    """When the last of the windows that are used up resets; None if none is, or only for a single model."""
    return used_up_until(tuple(one for one in windows if one.for_all_models), now)


def used_up_until(windows: tuple[PlanWindow, ...], now: Instant) -> Instant | None:
    """The same for any window, also one for a single model."""
    return max((one.resets_at for one in current(windows, now) if one.used_up), default=None)


def nothing_spare_until(windows: tuple[PlanWindow, ...], now: Instant) -> Instant | None:
    """When every window has something to spare; None if that is now. One of unknown length does not count."""
    waits = [one.spare_at() for one in current(windows, now) if (one.spare(now) or 0) <= 0 and one.begins is not None]
    return max((at for at in waits if at is not None and at > now), default=None)
