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

SHORTEST_TO_PERSON: Final = MINUTE
"""How often a reminder may reach the person who set it."""

SHORTEST_BY_MODEL: Final = 15 * MINUTE
MOST_BY_MODEL: Final = 20
MOST_A_DAY_BY_MODEL: Final = 10
CRITICAL_A_DAY: Final = 3
"""What a model may do by itself: how often a reminder that it sets comes, how many of them can be active, how many it
sets in one of the person's days, and how many pings of a day it may call critical."""

SPENDING_WINDOW: Final = 10_000_000
"""Micro-dollars: ten dollars for thirty days."""

SPENDING_TIER: Final = "standard"
DAY_STARTS: Final = "00:00 UTC"

RUN_TOKENS: Final = 1_000_000
RUN_COST: Final = 10_000_000
"""Micro-dollars."""
RUN_SECONDS: Final = 7_200
GATEWAY_HOST: Final = "127.0.0.1"
GATEWAY_PORT: Final = 8717
