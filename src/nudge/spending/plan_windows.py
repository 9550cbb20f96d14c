"""Plan windows: what a subscription's service says about its five hours and its week.

There are no dollars in them. The service says how much is used, and when a window begins again; nudge keeps what it
last said. A window that is used up puts the agent to sleep until then.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

from nudge.instants import SECOND, Instant, rfc3339
from nudge.queue.records import Record, fields, items, text, whole

PREFIX = "anthropic-ratelimit-unified-"
_REJECTED = "rejected"
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

    def public(self, zone: tzinfo) -> dict[str, Any]:
        """As JSON."""
        resets = rfc3339(self.resets_at, zone)
        return {"name": self.name, "percent": self.percent, "resets_at": resets, "used_up": self.used_up}


PLAN_WINDOWS: Record[tuple[PlanWindow, ...]] = Record(
    "plan.windows",
    lambda data: tuple(
        PlanWindow(text(one["name"]), whole(one["percent"]), Instant(whole(one["resets_at"])), bool(one["used_up"]))
        for one in map(fields, items(data))
    ),
    lambda windows: [
        {"name": one.name, "percent": one.percent, "resets_at": int(one.resets_at), "used_up": one.used_up}
        for one in windows
    ],
)


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
    """When the last of the windows that are used up begins again; None if none is."""
    return max((one.resets_at for one in current(windows, now) if one.used_up), default=None)
