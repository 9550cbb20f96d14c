"""What is in force where nobody said otherwise: one place for the configuration, the rules and the public classes."""

from __future__ import annotations

from typing import Final

from nudge.instants import HOUR, MINUTE

PING_CAPACITY: Final = 5
PING_REFILL_MINUTES: Final = 90
MOST_PING_CAPACITY: Final = 1_000_000
MOST_PING_REFILL_MINUTES: Final = 525_600
"""Bounds far beyond sense that keep every product inside the 64 bits of a database."""

HEARTBEAT: Final = 45 * MINUTE
"""How often the coach considers whether to speak."""

LONGEST_SILENCE: Final = 3 * HOUR
"""How long the coach asks no model, in waking hours, while nothing changes."""

SPENDING_WINDOW: Final = 10_000_000
"""Micro-dollars: ten dollars for thirty days."""

SPENDING_TIER: Final = "standard"
DAY_STARTS: Final = "00:00 UTC"

RUN_TOKENS: Final = 1_000_000
RUN_COST: Final = 10_000_000
"""Micro-dollars."""
RUN_SECONDS: Final = 7_200
