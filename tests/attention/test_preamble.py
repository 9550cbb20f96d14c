from __future__ import annotations

from datetime import UTC
from zoneinfo import ZoneInfo

import pytest

from nudge.attention.bucket import PingBudget
from nudge.attention.forward_schedule import UpcomingTask, upcoming
from nudge.attention.preamble import ONE_PING, PING_GUIDANCE, background_preamble, budget_line
from nudge.instants import MINUTE, Instant, parse_rfc3339

SIX = parse_rfc3339("2026-02-20T18:00:00-05:00")
TORONTO = ZoneInfo("America/Toronto")
WORKOUT = UpcomingTask(
    "Workout nudge",
    "routines/workout-nudge.md",
    [Instant(SIX + 90 * MINUTE)],
    description="Check workout status",
    allow_ping=False,
)


def test_the_whole_preamble() -> None:
    budget = PingBudget(level=3_000_000, last_refill=Instant(SIX - 43 * MINUTE), tz=TORONTO)
    assert background_preamble(budget, upcoming([WORKOUT], SIX), SIX).split("\n") == [
        "Ping budget: 3/5 available (refills 1 every 90 min, next in 47 min).",
        "Upcoming bg tasks (next 3h):",
        '- 7:30 PM: Workout nudge (silent) -- "Check workout status" (routines/workout-nudge.md)',
        "~1 refill before last task.",
        "Send at most 1 ping or embed per bg session.",
    ]


@pytest.mark.parametrize(
    ("budget", "line"),
    [
        pytest.param(
            PingBudget.at(SIX), "Ping budget: 5/5 available (refills 1 every 90 min).", id="full: no next refill"
        ),
        pytest.param(
            PingBudget.at(SIX, available="4.6"),
            "Ping budget: 4/5 available (refills 1 every 90 min, next in 36 min).",
            id="a part of a ping is none yet",
        ),
        pytest.param(
            PingBudget.at(SIX, available=0, capacity=3, refill_minutes=60),
            "Ping budget: 0/3 available (refills 1 every 60 min, next in 60 min).",
            id="an empty bucket is a matter of waiting",
        ),
        pytest.param(
            PingBudget.at(SIX, available="0.999999"),
            "Ping budget: 0/5 available (refills 1 every 90 min, next in 1 min).",
            id="a moment is rounded up to a minute",
        ),
        pytest.param(
            PingBudget.at(Instant(SIX - 90 * MINUTE), available=1),
            "Ping budget: 2/5 available (refills 1 every 90 min, next in 90 min).",
            id="what came back since the last look is shown",
        ),
    ],
)
def test_the_budget_line(budget: PingBudget, line: str) -> None:
    assert budget_line(budget, SIX) == line


def test_with_the_budget_off_nothing_is_said_about_pings_left() -> None:
    text = background_preamble(None, upcoming([WORKOUT], SIX), SIX, TORONTO)
    assert text.split("\n")[0] == "Upcoming bg tasks (next 3h):"
    assert "refill" not in text
    assert text.endswith(ONE_PING)
    assert "- 7:30 PM" in text
    assert "- 12:30 AM" in background_preamble(None, upcoming([WORKOUT], SIX), SIX, UTC)


@pytest.mark.parametrize(
    "idea", ["refills over time", "which background tasks come next", "two regrets", "marked critical", "(silent)"]
)
def test_the_stable_part_explains(idea: str) -> None:
    assert idea in PING_GUIDANCE


def test_no_number_of_the_bucket_stands_in_the_stable_part() -> None:
    assert [word for word in PING_GUIDANCE.split() if any(letter.isdigit() for letter in word)] == ["15"]
