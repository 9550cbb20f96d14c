"""Conditions, lateness, collapsing and the next time, as functions of values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.errors import UsageError
from nudge.instants import DAY, HOUR, MINUTE, SECOND, Instant
from nudge.queue.inbox import Priority
from nudge.reminders.conditions import Act, judge
from nudge.reminders.reminder import Late, Mode, Status
from nudge.reminders.slots import after_firing, after_passing, default_limit, due, first_slot
from nudge.reminders.text import late_label
from nudge.schedules import At, Every, occurrences
from tests.reminders.reminder_values import reminder
from tests.times import NOON, TORONTO, toronto


def later(offset: int) -> Instant:
    return Instant(NOON + offset)


@pytest.mark.parametrize(
    ("mode", "when", "met", "act", "ends"),
    [
        pytest.param("each", {"every": "1h"}, True, Act.FIRE, False, id="each fires while it is true"),
        pytest.param("each", {"every": "1h"}, False, Act.SKIP, False, id="each skips and keeps its schedule"),
        pytest.param("each", {"in_": "1h"}, True, Act.FIRE, False, id="a single each fires"),
        pytest.param("each", {"in_": "1h"}, False, Act.SKIP, True, id="a single each that is false has had its time"),
        pytest.param("until", {"every": "1h"}, False, Act.FIRE, False, id="until fires while it is false"),
        pytest.param("until", {"every": "1h"}, True, Act.END, True, id="until ends without firing"),
        pytest.param("once", {"every": "1h"}, True, Act.FIRE, True, id="once fires and ends"),
        pytest.param("once", {"every": "1h"}, False, Act.SKIP, False, id="once goes on waiting"),
        pytest.param("once", {"in_": "1h"}, False, Act.SKIP, False, id="a single once goes on waiting too"),
    ],
)
def test_the_mode_says_what_an_answer_means(mode: str, when: dict[str, str], met: bool, act: Act, ends: bool) -> None:
    judgment = judge(reminder(command="true", mode=mode, **when), met)
    assert (judgment.act, bool(judgment.ends)) == (act, ends)


@pytest.mark.parametrize("fields", [{}, {"prompt": "Is it raining?"}, {"prompt": "Is it raining?", "mode": "once"}])
def test_without_a_command_it_fires(fields: dict[str, Any]) -> None:
    assert judge(reminder(every="1h", **fields), None).act is Act.FIRE


@pytest.mark.parametrize(
    ("policy", "late_us", "too_late"),
    [
        pytest.param("always", 365 * DAY, False, id="always is never too late"),
        pytest.param("never", MINUTE - 1, False, id="less than a minute is on time"),
        pytest.param("never", MINUTE, True, id="exactly a minute is late"),
        pytest.param("2h", 2 * HOUR, False, id="exactly the limit is not too late"),
        pytest.param("2h", 2 * HOUR + 1, True, id="a microsecond more is"),
        pytest.param("30s", 31 * SECOND, True, id="a limit may be shorter than the tolerance"),
    ],
)
def test_a_policy_says_how_late_is_too_late(policy: str, late_us: int, too_late: bool) -> None:
    assert Late.parse(policy).too_late(late_us) is too_late


@pytest.mark.parametrize("text", ["always", "never", "45m", "1h 30m", "2h"])
def test_a_policy_reads_what_it_writes(text: str) -> None:
    assert str(Late.parse(text)) == text
    assert Late.parse(str(Late.parse(text))) == Late.parse(text)


@pytest.mark.parametrize("text", ["", "sometimes", "-5m", "5"])
def test_an_unclear_policy_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="how late is too late"):
        Late.parse(text)


def test_the_default_limit_is_half_a_period_and_two_hours_at_most() -> None:
    assert default_limit(30 * MINUTE) == Late(15 * MINUTE)
    assert default_limit(4 * HOUR) == Late(2 * HOUR)
    assert default_limit(DAY) == Late(2 * HOUR)


@pytest.mark.parametrize(
    ("due_at", "label"),
    [
        (toronto(2026, 2, 18, 15), "[late: was due 3:00 PM]"),
        (toronto(2026, 2, 18, 0, 5), "[late: was due 12:05 AM]"),
        (toronto(2026, 2, 17, 15), "[late: was due Tue 3:00 PM]"),
        (toronto(2026, 2, 12, 9, 30), "[late: was due Thu 9:30 AM]"),
        (toronto(2026, 2, 11, 9, 30), "[late: was due 2026-02-11 9:30 AM]"),
    ],
)
def test_the_label_says_when_it_was_due(due_at: Instant, label: str) -> None:
    assert late_label(due_at, toronto(2026, 2, 18, 17), TORONTO) == label


def test_the_latest_of_the_missed_slots_stands_for_all() -> None:
    half_hourly = reminder(every="30m")
    found = due(half_hourly, later(30 * MINUTE), later(3 * HOUR + 10 * MINUTE))
    assert (found.slot_at, found.collapsed, found.late_us) == (later(3 * HOUR), 5, 10 * MINUTE)
    assert not found.too_late


def test_in_the_second_half_of_a_period_the_next_one_is_nearer() -> None:
    half_hourly = reminder(every="30m")
    assert not due(half_hourly, later(30 * MINUTE), later(3 * HOUR + 15 * MINUTE)).too_late
    assert due(half_hourly, later(30 * MINUTE), later(3 * HOUR + 15 * MINUTE + 1)).too_late


def test_a_daily_one_may_be_two_hours_late() -> None:
    daily = reminder(cron="0 9 * * *")
    nine = toronto(2026, 2, 19, 9)
    assert not due(daily, nine, Instant(nine + 2 * HOUR)).too_late
    assert due(daily, nine, Instant(nine + 2 * HOUR + 1)).too_late
    after_days = due(daily, nine, toronto(2026, 2, 23, 9, 30))
    assert (after_days.slot_at, after_days.collapsed) == (toronto(2026, 2, 23, 9), 4)
    assert not after_days.too_late


def test_a_single_one_is_never_too_late_unless_it_says_so() -> None:
    assert not due(reminder(in_="1h"), later(HOUR), later(30 * DAY)).too_late
    assert due(reminder(in_="1h", late="never"), later(HOUR), later(HOUR + MINUTE)).too_late


def test_what_a_rule_has_moved_keeps_its_slot_and_is_late_only_after_that() -> None:
    half_hourly = reminder(every="30m")
    moved = due(half_hourly, later(30 * MINUTE), later(8 * HOUR), moved_to=later(8 * HOUR))
    assert (moved.slot_at, moved.late_us, moved.too_late) == (later(30 * MINUTE), 0, False)
    assert due(half_hourly, later(30 * MINUTE), later(9 * HOUR), moved_to=later(8 * HOUR)).too_late


def test_a_clock_that_went_back_makes_nothing_late() -> None:
    found = due(reminder(every="30m"), later(HOUR), later(-DAY))
    assert (found.slot_at, found.collapsed, found.late_us, found.too_late) == (later(HOUR), 0, 0, False)


def test_the_next_time_keeps_the_grid_of_the_anchor() -> None:
    half_hourly = reminder(every="30m")
    late = later(3 * HOUR + 10 * MINUTE)
    after, next_at = after_firing(half_hourly, later(3 * HOUR), late)
    assert next_at == later(3 * HOUR + 30 * MINUTE)
    assert (after.fire_count, after.last_fired_at, after.status) == (1, late, Status.ACTIVE)


def test_a_single_one_is_completed_when_it_has_fired() -> None:
    after, next_at = after_firing(reminder(in_="1h"), later(HOUR), later(HOUR))
    assert next_at is None
    assert (after.status, after.ended_reason) == (Status.COMPLETED, "It was a one-time reminder.")


def test_a_schedule_that_ends_completes_its_reminder() -> None:
    after, next_at = after_firing(reminder(every="1h", count=1), later(HOUR), later(HOUR))
    assert next_at is None
    assert (after.status, after.ended_reason) == (Status.COMPLETED, "Its schedule has ended.")


def test_what_passes_is_not_counted_as_fired() -> None:
    after, next_at = after_passing(reminder(every="1h"), later(HOUR), later(HOUR))
    assert (after.fire_count, after.last_fired_at, next_at) == (0, None, later(2 * HOUR))


def test_a_single_once_is_asked_again_every_minute_or_in_its_rhythm() -> None:
    _, next_at = after_passing(reminder(in_="1h", command="x", mode="once"), later(HOUR), later(HOUR + 3 * SECOND))
    assert next_at == later(HOUR + MINUTE)
    own = reminder(in_="1h", every="5m", command="x", mode="once")
    assert isinstance(own.schedule, At)
    _, next_at = after_passing(own, later(HOUR), later(HOUR + 7 * MINUTE))
    assert next_at == later(HOUR + 10 * MINUTE)


def test_an_agent_is_asked_every_ten_minutes_until_it_says_that_the_condition_is_met() -> None:
    once = reminder(in_="1h", prompt="Is the deploy through?", mode="once")
    after, next_at = after_firing(once, later(HOUR), later(HOUR))
    assert (after.status, next_at) == (Status.ACTIVE, later(HOUR + 10 * MINUTE))


def test_a_chain_asks_n_times_in_its_rhythm() -> None:
    current = reminder(every="30m", chain=3)
    assert current.schedule == At(later(30 * MINUTE), "America/Toronto")
    slot = later(30 * MINUTE)
    seen = []
    while True:
        seen.append(slot - NOON)
        current, following = after_firing(current, slot, slot)
        if following is None:
            break
        slot = following
    assert seen == [30 * MINUTE, 60 * MINUTE, 90 * MINUTE]
    assert (current.status, current.ended_reason, current.asked) == (Status.COMPLETED, "It asked 3 times.", 0)


def test_a_daily_chain_starts_anew_every_day() -> None:
    current = reminder(cron="0 18 * * *", chain=2, every="30m")
    slot = toronto(2026, 2, 18, 18)
    seen = []
    for _ in range(4):
        seen.append(slot)
        current, following = after_firing(current, slot, slot)
        assert following is not None
        slot = following
    assert seen == [toronto(2026, 2, day, 18, minute) for day in (18, 19) for minute in (0, 30)]


def test_missed_links_of_a_chain_collapse_and_the_chain_goes_on() -> None:
    chain = reminder(every="30m", chain=4, asked=1)
    now = later(2 * HOUR + 10 * MINUTE)
    found = due(chain, later(HOUR), now)
    assert (found.slot_at, found.collapsed, found.starts_chain) == (later(2 * HOUR), 2, False)
    after, next_at = after_firing(chain, found.slot_at, now)
    assert (after.asked, next_at) == (2, later(2 * HOUR + 30 * MINUTE))


def test_the_next_day_interrupts_a_chain_that_was_not_finished() -> None:
    chain = reminder(cron="0 18 * * *", chain=4, every="30m", asked=2)
    found = due(chain, toronto(2026, 2, 18, 19), toronto(2026, 2, 19, 18, 5))
    assert (found.slot_at, found.starts_chain) == (toronto(2026, 2, 19, 18), True)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({"in_": "1h"}, HOUR, id="a single one"),
        pytest.param({"at": "2026-02-18T11:00"}, -HOUR, id="a time in the past is due at once"),
        pytest.param({"every": "30m"}, 30 * MINUTE, id="an interval from now"),
        pytest.param({"idle": "5m"}, 5 * MINUTE, id="idleness from now"),
    ],
)
def test_the_first_time(fields: dict[str, str], expected: int) -> None:
    assert first_slot(reminder(**fields), NOON) == NOON + expected


def test_a_resumed_one_goes_on_in_the_future() -> None:
    assert first_slot(reminder(every="30m"), later(DAY + MINUTE)) == later(DAY + 30 * MINUTE)
    assert first_slot(reminder(every="30m", chain=4, asked=2), later(DAY)) == later(DAY + 30 * MINUTE)
    fired = reminder(in_="1h", last_fired_at=later(HOUR))
    assert first_slot(fired, later(DAY)) is None


def test_lanes_and_keys() -> None:
    assert reminder(every="1h").lane == "coach/reminders"
    assert reminder(every="1h", prompt="x?").lane == "coach/reminders"
    assert reminder(every="1h", command="true").lane == "coach/r/r-a1b2c3"
    assert reminder(every="1h").key == "reminder:r-a1b2c3"
    assert reminder(every="1h").priority is Priority.IDLE


RULES = st.sampled_from(
    [
        {"every": "7m"},
        {"every": "90m", "count": 20},
        {"cron": "*/15 9-17 * * 1-5"},
        {"cron": "30 2 * * *"},
        {"rrule": "FREQ=MONTHLY;BYDAY=2TU;BYHOUR=10;BYMINUTE=0;BYSECOND=0"},
        {"rrule": "FREQ=HOURLY;INTERVAL=5"},
    ]
)


@given(rule=RULES, ahead=st.integers(0, 40 * DAY))
def test_the_latest_slot_is_what_counting_finds(rule: dict[str, Any], ahead: int) -> None:
    made = reminder(late="always", **rule)
    first = first_slot(made, NOON)
    assert first is not None
    now = Instant(first + ahead)
    found = due(made, first, now)
    slots = [first, *occurrences(made.schedule, first, now, 100_000, TORONTO)]
    assert found.slot_at == slots[-1]
    assert found.collapsed == min(len(slots) - 1, 100)
    _, next_at = after_firing(made, found.slot_at, now)
    assert next_at is None or next_at > now
    assert next_at == made.schedule.next_after(now, TORONTO)


@given(chain=st.integers(1, 8), delays=st.lists(st.integers(0, 3 * HOUR), max_size=30))
def test_a_chain_never_asks_more_often_than_it_says(chain: int, delays: list[int]) -> None:
    current = reminder(every="30m", chain=chain)
    slot = first_slot(current, NOON)
    asked = 0
    for delay in [*delays, *[0] * chain]:
        if slot is None:
            break
        now = Instant(slot + delay)
        found = due(current, slot, now)
        assert found.slot_at <= now
        before = slot
        current, slot = after_firing(current, found.slot_at, now)
        asked += 1
        assert slot is None or (slot > now and (slot - before) % (30 * MINUTE) == 0)
    assert asked == chain
    assert current.status is Status.COMPLETED


def test_modes_are_the_three_of_the_documents() -> None:
    assert [mode.value for mode in Mode] == ["each", "until", "once"]
    assert isinstance(replace(reminder(every="1h")).schedule, Every)
