from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

from nudge.cli.budget_text import budget_lines, detail_lines, history_line
from nudge.cli.status_text import status_text
from nudge.instants import HOUR, Instant, as_instant
from nudge.spending.allowance import Meter
from nudge.spending.budgets import SpendingPlan, SpendingStatus, every_day
from nudge.spending.holds import Account
from nudge.spending.lifecycle import SpendingState
from nudge.spending.store import DaySpent

NOON = as_instant(datetime(2026, 11, 15, 12, tzinfo=UTC))
STATUS = SpendingStatus(
    agent="coach",
    state=SpendingState.AWAKE,
    meter=Meter(470_000, 1_000_000),
    refresh_at=Instant(NOON + 12 * HOUR),
    held=20_000,
    used_up=False,
    window=Account(30_000_000, 4_100_000),
    window_starts=NOON,
    window_ends=as_instant(datetime(2026, 12, 1, tzinfo=UTC)),
    topped_up=0,
    overrun=0,
)
STOPPED = replace(STATUS, state=SpendingState.BUDGET_EXCEEDED, meter=Meter(1_170_000, 1_000_000))


def test_the_budget_in_words_has_no_dollars() -> None:
    assert budget_lines(STATUS, UTC, NOON, colour=False) == [
        "Budget: 47% used, 2% held  █████████░░░░░░░░░░░  awake",
        "Refreshes Mon 00:00, in 12 h.",
    ]


def test_a_stop_comes_first_and_in_red() -> None:
    first, second, *_ = budget_lines(STOPPED, UTC, NOON, colour=True)
    assert first == "\033[31mAgent stopped — daily budget exceeded\033[0m"
    assert "117%" in second
    assert second.count("█") == 20


def test_the_detail_has_the_dollars() -> None:
    assert detail_lines(replace(STATUS, topped_up=2_000_000, overrun=5), [], UTC, NOON)[1:] == [
        "today   $0.47 of $1.00, $0.02 held for running calls",
        "window  $4.10 of $30.00, $2.00 of it topped up, renews 2026-12-01 00:00",
        "overrun $0.000005 more than was held for the calls",
    ]


def test_days_that_nobody_touched_were_not_used() -> None:
    known = [DaySpent(date(2026, 11, 12), 100, 71, 0, 0), DaySpent(date(2026, 11, 14), 100, 100, 0, 0)]
    lines = [history_line(day, detail=False, colour=False) for day in every_day(known, date(2026, 11, 15))]
    assert lines == [
        "2026-11-12  ██████████████░░░░░░   71%",
        "2026-11-13  ░░░░░░░░░░░░░░░░░░░░    0%",
        "2026-11-14  ████████████████████  100%",
        "2026-11-15  ░░░░░░░░░░░░░░░░░░░░    0%",
    ]


def test_an_agent_without_any_day_yet_has_today() -> None:
    assert [day.day for day in every_day([], date(2026, 11, 15))] == [date(2026, 11, 15)]


def test_the_status_shows_each_agents_meter_and_the_banner_above_all() -> None:
    status: dict[str, Any] = {
        "now": "2026-11-15T12:00:00+00:00",
        "started_at": "2026-11-15T11:00:00+00:00",
        "next_due": None,
        "pid": 1,
        "version": "0",
        "home": "/h",
        "agents": ["coach", "worker"],
        "timers": 0,
        "fired": 0,
        "busy_lanes": 0,
        "spending": {"coach": STOPPED.public(), "worker": STATUS.public()},
    }
    lines = status_text(status).splitlines()
    assert lines[0] == "coach: Agent stopped — daily budget exceeded"
    assert lines[-2:] == [
        "budget  coach: 117% used, 2% held, budget exceeded",
        "budget  worker: 47% used, 2% held, awake",
    ]
    assert status_text(status, colour=True).startswith("\033[31mcoach: Agent stopped")


def test_a_plan_is_read_back_as_it_was_written() -> None:
    for plan in (SpendingPlan(), SpendingPlan(5, date(2026, 12, 1), "premium")):
        assert SpendingPlan.parse(plan.text()) == plan
    assert SpendingPlan.parse("") not in (SpendingPlan(), SpendingPlan(0))
