from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count
from zoneinfo import ZoneInfo

import pytest

from nudge.attention.forward_schedule import Upcoming, UpcomingTask, clock, summary, upcoming
from nudge.instants import DAY, HOUR, MINUTE, SECOND, Instant, parse_rfc3339

SIX = parse_rfc3339("2026-02-20T18:00:00Z")
TORONTO = ZoneInfo("America/Toronto")


def at(minutes: float) -> Instant:
    return Instant(SIX + round(minutes * MINUTE))


def task(*minutes: float, ref: str = "routines/a.md", name: str = "A") -> UpcomingTask:
    return UpcomingTask(name, ref, [at(minute) for minute in minutes])


def every(interval: int, anchor: Instant = SIX) -> Callable[[Instant], Instant]:
    return lambda after: Instant(anchor + ((after - anchor) // interval + 1) * interval)


def offsets(schedule: Upcoming) -> list[int]:
    return [(line.due_at - SIX) // MINUTE for line in schedule.lines]


CHORES = UpcomingTask(
    "Chore-time routine",
    "routines/chore-time.md",
    [at(-2)],
    description="Review open tasks and nudge on overdue",
    body="Read the list of open tasks, then",
)
PIPELINE = UpcomingTask(
    "Chain reminder",
    "reminders/ml-pipeline.md",
    [at(0)],
    body="Check if Julius started the ML pipeline on the cluster and if not, ask what holds it up",
    chain=(2, 4),
)
WORKOUT = UpcomingTask(
    "Workout nudge",
    "routines/workout-nudge.md",
    [at(90)],
    description="Check workout status",
    allow_ping=False,
)


def test_the_block_looks_like_this() -> None:
    schedule = upcoming([WORKOUT, PIPELINE, CHORES], SIX, this=("reminders/ml-pipeline.md", SIX))
    assert schedule.render(UTC, 90 * MINUTE).split("\n") == [
        "Upcoming bg tasks (next 3h):",
        '- 5:58 PM: Chore-time routine -- "Review open tasks and nudge on overdue" (routines/chore-time.md)'
        " [just fired]",
        '- 6:00 PM: Chain reminder (2/4) -- "Check if Julius started the ML pipeline on the cluster and i..."'
        " (reminders/ml-pipeline.md) [this task]",
        '- 7:30 PM: Workout nudge (silent) -- "Check workout status" (routines/workout-nudge.md)',
        "~1 refill before last task.",
    ]


@pytest.mark.parametrize(
    ("minutes", "shown"),
    [
        pytest.param([-15], [-15], id="exactly 15 minutes ago is inside"),
        pytest.param([-15 - 1 / 60], [], id="a second earlier is not"),
        pytest.param([10, 20, 30, 180], [10, 20, 30, 180], id="exactly 3 hours ahead is inside"),
        pytest.param([10, 20, 30, 180 + 1 / 60], [10, 20, 30], id="a second later is not, with three before it"),
        pytest.param([10, 20, 200, 300], [10, 20, 200], id="fewer than three inside: reaches to the third"),
        pytest.param([400, 500, 600, 700], [400, 500, 600], id="none inside: the next three"),
        pytest.param([-10, -5, 200, 300, 400, 500], [-10, -5, 200, 300, 400], id="what is past does not count"),
        pytest.param([900], [900], id="exactly 12 hours beyond the window is inside"),
        pytest.param([10, 900 + 1 / 60], [10], id="a second later is never shown"),
        pytest.param([5, 15, 25, 35, 45], [5, 15, 25, 35, 45], id="the window shows all it holds"),
        pytest.param([300, 100, 200], [100, 200, 300], id="a list need not be in order"),
        pytest.param([], [], id="nothing"),
    ],
)
def test_the_window(minutes: list[float], shown: list[int]) -> None:
    assert offsets(upcoming([task(*minutes)], SIX)) == shown


def test_each_occurrence_has_a_line_and_only_the_running_one_is_this_task() -> None:
    hourly = UpcomingTask("Water", "rem-1", every(HOUR))
    schedule = upcoming([hourly, task(60)], SIX, this=("rem-1", SIX))
    assert [(line.task.name, (line.due_at - SIX) // HOUR, line.tag) for line in schedule.lines] == [
        ("Water", 0, "this task"),
        ("Water", 1, ""),
        ("A", 1, ""),
        ("Water", 2, ""),
        ("Water", 3, ""),
    ]
    assert "- 7:00 PM: Water (rem-1)" in schedule.render(UTC)


@pytest.mark.parametrize(
    ("minutes", "this", "tag"),
    [
        pytest.param(-1, None, "just fired", id="a minute ago"),
        pytest.param(0, None, "", id="due now and not running: still to come"),
        pytest.param(0, ("routines/a.md", 0), "this task", id="due now and running"),
        pytest.param(-3, ("routines/a.md", -3), "this task", id="running late"),
        pytest.param(-3, ("routines/a.md", 0), "just fired", id="another occurrence of the same task runs"),
        pytest.param(0, ("routines/b.md", 0), "", id="another task runs"),
    ],
)
def test_tags(minutes: int, this: tuple[str, int] | None, tag: str) -> None:
    running = None if this is None else (this[0], at(this[1]))
    assert [line.tag for line in upcoming([task(minutes)], SIX, this=running).lines] == [tag]


def test_the_running_task_is_not_one_of_the_three_ahead() -> None:
    schedule = upcoming([task(0, 200, 300, 400, 500)], SIX, this=("routines/a.md", SIX))
    assert offsets(schedule) == [0, 200, 300, 400]


def test_times_may_be_an_endless_iterator_a_function_or_datetimes() -> None:
    def endless() -> Iterator[Instant]:
        for hours in count(-100):
            yield Instant(SIX + hours * HOUR)

    assert offsets(upcoming([UpcomingTask("E", "e", endless())], SIX)) == [0, 60, 120, 180]
    assert offsets(upcoming([UpcomingTask("F", "f", every(DAY, at(-10)))], SIX)) == [-10]
    assert offsets(upcoming([UpcomingTask("D", "d", [datetime(2026, 2, 20, 19, tzinfo=UTC)])], SIX)) == [60]
    assert offsets(upcoming([UpcomingTask("N", "n", lambda after: None)], SIX)) == []


def test_a_function_that_does_not_advance_ends() -> None:
    assert offsets(upcoming([UpcomingTask("S", "s", lambda after: at(5))], SIX)) == [5]


def test_a_task_every_second_does_not_fill_the_prompt() -> None:
    schedule = upcoming([UpcomingTask("Tick", "t", every(SECOND))], SIX, limit=3)
    assert len(schedule.lines) == 3
    assert schedule.render(UTC).endswith("\n- ... and more")


@pytest.mark.parametrize(
    ("last", "line"),
    [
        pytest.param(89, "~0 refills before last task.", id="89 minutes: none"),
        pytest.param(90, "~1 refill before last task.", id="90 minutes: one, in the singular"),
        pytest.param(179, "~1 refill before last task.", id="179 minutes: one"),
        pytest.param(180, "~2 refills before last task.", id="180 minutes: two"),
        pytest.param(-5, "~0 refills before last task.", id="the last one is past: none"),
    ],
)
def test_refills_before_the_last_task(last: int, line: str) -> None:
    assert upcoming([task(last)], SIX).render(UTC, 90 * MINUTE).split("\n")[-1] == line


def test_without_a_budget_refills_are_not_mentioned_and_an_empty_schedule_says_so() -> None:
    assert "refill" not in upcoming([task(10)], SIX).render(UTC)
    assert upcoming([], SIX).render(UTC, 90 * MINUTE) == "Upcoming bg tasks (next 3h): none."
    assert upcoming([], SIX).refills_before_last(90 * MINUTE) == 0


@pytest.mark.parametrize(
    ("description", "body", "expected"),
    [
        pytest.param("Whole " + "x" * 100, "body", "Whole " + "x" * 100, id="a description stands whole"),
        pytest.param(None, "x" * 60, "x" * 60, id="60 characters stand as they are"),
        pytest.param(None, "x" * 61, "x" * 60 + "...", id="of 61 the first 60"),
        pytest.param("", "the body", "the body", id="an empty description is none"),
        pytest.param(None, 'Say "hi"\n\n  to Bob', "Say 'hi' to Bob", id="one line, and quotes that close"),
        pytest.param('A "b"', "", "A 'b'", id="quotes in a description"),
        pytest.param(None, "  ", "", id="nothing to say"),
    ],
)
def test_what_a_line_says(description: str | None, body: str, expected: str) -> None:
    assert summary(UpcomingTask("A", "a", [], description, body)) == expected


def test_a_line_stays_a_line_whatever_its_name_is() -> None:
    odd = UpcomingTask("A\n- 6:00 PM: B", "a\nb", [at(5)])
    assert upcoming([odd], SIX).render(UTC).split("\n")[1] == "- 6:05 PM: A - 6:00 PM: B (a b)"


@pytest.mark.parametrize(
    ("instant", "expected"),
    [
        ("2026-02-20T00:05:00-05:00", "12:05 AM"),
        ("2026-02-20T09:30:00-05:00", "9:30 AM"),
        ("2026-02-20T12:00:00-05:00", "12:00 PM"),
        ("2026-02-20T18:00:00-05:00", "6:00 PM"),
        ("2026-02-20T23:59:59-05:00", "11:59 PM"),
    ],
)
def test_the_clock_is_the_persons_and_has_twelve_hours(instant: str, expected: str) -> None:
    assert clock(parse_rfc3339(instant), TORONTO) == expected
