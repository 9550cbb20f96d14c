"""What is said back. It is Wednesday 2026-02-18, 2:00 PM in Toronto."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from nudge.durations import distance
from nudge.instants import DAY, HOUR, MINUTE, SECOND, Instant, from_local
from nudge.phrases import Understood, understand
from nudge.phrases.reader import shown

TORONTO = ZoneInfo("America/Toronto")
NOW = from_local(datetime(2026, 2, 18, 14, 0), TORONTO)


@pytest.mark.parametrize(
    ("phrase", "echo"),
    [
        ("friday 5pm", "Friday 2026-02-20 5:00 PM America/Toronto (in 2 days 3 h)"),
        ("tomorrow", "Thursday 2026-02-19 9:00 AM America/Toronto (in 19 h)"),
        ("midnight", "Thursday 2026-02-19 12:00 AM America/Toronto (in 10 h)"),
        ("noon", "Thursday 2026-02-19 12:00 PM America/Toronto (in 22 h)"),
        ("in 90 minutes", "Wednesday 2026-02-18 3:30 PM America/Toronto (in 1 h 30 min)"),
        ("14:30:15", "Wednesday 2026-02-18 2:30:15 PM America/Toronto (in 30 min 15 s)"),
        ("in 1 second", "Wednesday 2026-02-18 2:00:01 PM America/Toronto (in 1 s)"),
        ("every 30 minutes", "every 30 minutes (America/Toronto), next Wednesday 2026-02-18 2:30 PM (in 30 min)"),
        (
            "every weekday at 9",
            "every weekday at 9:00 AM (America/Toronto), next Thursday 2026-02-19 9:00 AM (in 19 h)",
        ),
    ],
)
def test_the_echo_is_absolute_with_zone_and_distance(phrase: str, echo: str) -> None:
    assert understand(phrase, NOW, TORONTO).echo(NOW, TORONTO) == echo


@pytest.mark.parametrize(
    ("phrase", "words"),
    [
        ("in 2h", "once"),
        ("hourly", "every hour"),
        ("every 90 minutes", "every 90 minutes"),
        ("every 36 hours", "every 36 hours"),
        ("every 0.5 seconds", "every 500000 microseconds"),
        ("daily", "every day at 9:00 AM"),
        ("every day at 8 and 20", "every day at 8:00 AM and 8:00 PM"),
        ("every day at 6, 12 and 18", "every day at 6:00 AM, 12:00 PM and 6:00 PM"),
        ("every 3 days", "every 3 days at 9:00 AM"),
        ("weekends", "every Saturday and Sunday at 9:00 AM"),
        ("every other tuesday", "every other Tuesday at 9:00 AM"),
        ("every other monday and friday", "every 2 weeks on Monday and Friday at 9:00 AM"),
        ("every 2 weeks on weekdays", "every 2 weeks on weekdays at 9:00 AM"),
        ("every 2nd tuesday 10am", "on the 2nd Tuesday of every month at 10:00 AM"),
        ("every last friday of the month", "on the last Friday of every month at 9:00 AM"),
        ("on the last day of each month", "on the last day of every month at 9:00 AM"),
        ("on the 1st and 15th of each month", "on the 1st and 15th of every month at 9:00 AM"),
        ("every 31st", "on the 31st of every month that has it at 9:00 AM"),
        ("every 3 months on the 11th", "on the 11th of every 3 months at 9:00 AM"),
        ("every year on march 1", "every year on March 1 at 9:00 AM"),
        ("every 2 years on march 1", "every 2 years on March 1 at 9:00 AM"),
    ],
)
def test_a_schedule_is_described_in_words(phrase: str, words: str) -> None:
    assert understand(phrase, NOW, TORONTO).describe() == words


def test_in_the_repeated_hour_the_zone_s_short_name_says_which_one_it_is() -> None:
    now = from_local(datetime(2026, 10, 31, 14, 0), TORONTO)
    first = understand("tomorrow 1:30am", now, TORONTO)
    second = Understood(first=Instant(first.first + HOUR), once=Instant(first.first + HOUR))
    assert first.echo(now, TORONTO).startswith("Sunday 2026-11-01 1:30 AM EDT America/Toronto")
    assert second.echo(now, TORONTO).startswith("Sunday 2026-11-01 1:30 AM EST America/Toronto")


def test_a_caller_may_show_another_first_time() -> None:
    later = from_local(datetime(2026, 2, 20, 9, 0), TORONTO)
    assert "next Friday 2026-02-20 9:00 AM" in understand("daily", NOW, TORONTO).echo(NOW, TORONTO, first=later)


@pytest.mark.parametrize(
    ("ahead", "said"),
    [
        (1, "in 1 s"),
        (59 * SECOND, "in 59 s"),
        (MINUTE, "in 1 min"),
        (2 * HOUR + 59 * MINUTE + 59 * SECOND, "in 2 h 59 min"),
        (HOUR + SECOND, "in 1 h"),
        (DAY, "in 1 day"),
        (DAY + 59 * MINUTE, "in 1 day"),
        (400 * DAY + HOUR, "in 400 days 1 h"),
    ],
)
def test_a_distance_has_its_two_largest_units(ahead: int, said: str) -> None:
    assert distance(ahead) == said


@pytest.mark.parametrize("kinds", [{}, {"once": NOW, "every": HOUR}])
def test_exactly_one_kind_is_set(kinds: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="exactly one"):
        Understood(first=NOW, **kinds)  # type: ignore[arg-type]


def test_a_phrase_is_shown_on_one_printable_line() -> None:
    assert shown(" a\n\x1b[31mb ") == "“a  [31mb”"
    assert len(shown("x" * 500)) == 62
