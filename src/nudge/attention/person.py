"""Who an agent serves, as far as rules need to know: where the clock stands for them and when they sleep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from nudge.attention.quiet import QuietHours


@dataclass(frozen=True, slots=True)
class Person:
    """`wake` and `bedtime` are minutes after local midnight."""

    zone: ZoneInfo
    quiet_hours: QuietHours | None = None
    wake: int = 10 * 60
    bedtime: int = 60


PersonOf = Callable[[str], Person]
"""By the agent's name. It may change while the daemon runs: ask every time."""
