"""What a user of the library passes in and sees: zones by name, datetimes, and reprs that can be read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from nudge import (
    Attention,
    Candidate,
    Defer,
    Kind,
    PingBudget,
    QuietHours,
    Refuse,
    Rule,
    Schedule,
    UpcomingTask,
    background_preamble,
    decide,
    upcoming,
)
from nudge.errors import UsageError

SIX = datetime(2026, 2, 20, 18, tzinfo=UTC)
TORONTO = "America/Toronto"
ASKED = Candidate(Kind.REMINDER, asked_by_person=True)


@pytest.mark.parametrize("tz", [TORONTO, ZoneInfo(TORONTO)], ids=["by name", "as a zone"])
def test_a_zone_is_a_name_or_a_zone_everywhere(tz: str | ZoneInfo) -> None:
    assert PingBudget(tz=tz) == PingBudget(tz=ZoneInfo(TORONTO))
    assert PingBudget.at(SIX, tz=tz).critical_reset_date == SIX.date()
    assert PingBudget.from_json(PingBudget.at(SIX).to_json(), tz=tz).zone == ZoneInfo(TORONTO)
    night = QuietHours(13 * 60, 14 * 60, tz)
    assert night == QuietHours(13 * 60, 14 * 60, ZoneInfo(TORONTO))
    assert decide(Attention(quiet_hours=night, tz=tz), Candidate(Kind.HEARTBEAT), SIX) == Refuse(Rule.QUIET_HOURS)
    schedule = upcoming([UpcomingTask("Walk", "walk.md", [SIX])], SIX)
    assert "- 1:00 PM: Walk" in schedule.render(tz)
    assert "- 1:00 PM: Walk" in background_preamble(None, schedule, SIX, tz)
    decision = decide(Attention(busy_until=SIX + timedelta(hours=2)), ASKED, SIX)
    assert isinstance(decision, Defer)
    assert decision.local(tz).isoformat() == "2026-02-20T15:00:00-05:00"


@pytest.mark.parametrize("tz", ["Mars/Olympus", 5, None])
def test_what_is_no_zone_is_refused(tz: object) -> None:
    with pytest.raises(UsageError, match="time zone"):
        PingBudget(tz=tz)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="time zone"):
        QuietHours(0, 60, tz)  # type: ignore[arg-type]


def test_the_coming_times_of_a_schedule_are_found_by_its_own_method() -> None:
    schedule = Schedule.parse(cron="30 13 * * *", tz=TORONTO)
    task = UpcomingTask("Walk", "walk.md", schedule.next_after)
    assert [line.render(TORONTO) for line in upcoming([task], SIX).lines] == ["- 1:30 PM: Walk (walk.md)"]


@pytest.mark.parametrize(
    ("state", "until"),
    [
        pytest.param(Attention(quiet_until=SIX + timedelta(hours=1)), "19:00", id="quiet"),
        pytest.param(Attention(busy_until=SIX + timedelta(hours=2)), "20:00", id="busy"),
        pytest.param(Attention(last_conversation=SIX - timedelta(minutes=1)), "18:04", id="in a conversation"),
        pytest.param(
            Attention(budget=PingBudget.at(SIX, available=1), claims=[SIX + timedelta(minutes=30)]),
            "19:30",
            id="kept for a claim",
        ),
    ],
)
def test_moments_may_be_datetimes(state: Attention, until: str) -> None:
    decision = decide(state, ASKED, SIX)
    assert isinstance(decision, Defer)
    assert f"{decision.local():%H:%M}" == until


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (PingBudget(), "PingBudget(5 of 5, one more every 90 min)"),
        (
            PingBudget.at(SIX, available=3.5, tz=TORONTO),
            "PingBudget(3.5 of 5, one more every 90 min, as of 2026-02-20T13:00:00-05:00)",
        ),
        (QuietHours(120, 600, TORONTO), "QuietHours(02:00-10:00 America/Toronto)"),
        (Candidate(Kind.HEARTBEAT), "Candidate(kind=<Kind.HEARTBEAT: 'heartbeat'>)"),
        (
            Candidate(Kind.BRIEFING, asked_by_person=True, due_at=SIX),
            "Candidate(kind=<Kind.BRIEFING: 'briefing'>, asked_by_person=True, due_at=2026-02-20T18:00:00+00:00)",
        ),
        (Attention(), "Attention()"),
        (
            Attention(busy_until=SIX, left_alone=True),
            "Attention(left_alone=True, busy_until=2026-02-20T18:00:00+00:00)",
        ),
        (
            decide(Attention(left_alone=True), Candidate(Kind.HEARTBEAT), SIX),
            "Refuse(rule=<Rule.LEFT_ALONE: 'left-alone'>)",
        ),
    ],
)
def test_a_value_shows_what_it_is(value: object, shown: str) -> None:
    assert repr(value) == shown
