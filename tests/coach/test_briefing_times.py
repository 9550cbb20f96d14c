from __future__ import annotations

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nudge.attention.bedtime import BedtimeTone as Tone
from nudge.coach.briefings import (
    Briefing,
    bedtime_nudge,
    bedtime_of,
    folds_into_review,
    next_due,
    next_look_at,
    night_of,
    opens_with_morning,
    period_key,
)
from nudge.coach.facts import CoachState
from nudge.coach.targets import Targets
from nudge.instants import DAY, HOUR, MINUTE, Instant, as_instant, rfc3339, to_datetime

TORONTO = ZoneInfo("America/Toronto")
TARGETS = Targets()


def at(*parts: int) -> Instant:
    return as_instant(datetime(*parts, tzinfo=TORONTO))  # type: ignore[misc,arg-type]


@pytest.mark.parametrize(
    ("kind", "after", "due", "key"),
    [
        pytest.param(Briefing.MORNING, at(2026, 2, 18, 9), at(2026, 2, 18, 10), "2026-02-18", id="this morning"),
        pytest.param(Briefing.MORNING, at(2026, 2, 18, 10), at(2026, 2, 19, 10), "2026-02-19", id="strictly after"),
        pytest.param(
            Briefing.BEDTIME, at(2026, 2, 18, 20), at(2026, 2, 19, 0), "2026-02-18", id="tonight, at midnight"
        ),
        pytest.param(Briefing.BEDTIME, at(2026, 2, 19, 0), at(2026, 2, 20, 0), "2026-02-19", id="the next night"),
        pytest.param(Briefing.WEEKLY_REVIEW, at(2026, 2, 18, 9), at(2026, 2, 21, 10), "2026-W08", id="Saturday"),
        pytest.param(Briefing.WEEKLY_REVIEW, at(2026, 12, 30, 9), at(2027, 1, 2, 10), "2026-W53", id="an ISO week"),
        pytest.param(Briefing.MONTHLY, at(2026, 2, 18, 9), at(2026, 3, 1, 19), "2026-03", id="the first of the month"),
        pytest.param(Briefing.MONTHLY, at(2026, 12, 1, 19), at(2027, 1, 1, 19), "2027-01", id="across the year"),
    ],
)
def test_due_times_and_periods(kind: Briefing, after: Instant, due: Instant, key: str) -> None:
    assert next_due(kind, after, TARGETS) == due
    assert period_key(kind, due, TARGETS) == key


@pytest.mark.parametrize(
    ("targets", "kind", "after", "expected"),
    [
        pytest.param(
            Targets(wake_target=time(2, 30)),
            Briefing.MORNING,
            at(2026, 3, 8, 0),
            "2026-03-08T03:00:00-04:00",
            id="a wake time inside the gap is after it",
        ),
        pytest.param(
            Targets(wake_target=time(1, 30)),
            Briefing.MORNING,
            at(2026, 11, 1, 0),
            "2026-11-01T01:30:00-04:00",
            id="a wake time inside the fold is the first",
        ),
        pytest.param(
            Targets(bedtime_target=time(3, 0)),
            Briefing.BEDTIME,
            at(2026, 3, 7, 20),
            "2026-03-08T01:00:00-05:00",
            id="a real hour before a bedtime after the gap",
        ),
        pytest.param(
            TARGETS, Briefing.MORNING, at(2026, 3, 8, 0), "2026-03-08T10:00:00-04:00", id="the wall clock rules"
        ),
    ],
)
def test_dst(targets: Targets, kind: Briefing, after: Instant, expected: str) -> None:
    assert rfc3339(next_due(kind, after, targets), TORONTO) == expected


def test_the_second_half_hour_of_a_fold_does_not_repeat_the_morning() -> None:
    targets = Targets(wake_target=time(1, 30))
    first = next_due(Briefing.MORNING, at(2026, 11, 1, 0), targets)
    second = next_due(Briefing.MORNING, first, targets)
    assert period_key(Briefing.MORNING, second, targets) == "2026-11-02"


@pytest.mark.parametrize(
    ("bedtime", "now", "night"),
    [
        pytest.param(time(1), at(2026, 2, 18, 23, 50), date(2026, 2, 18), id="before midnight"),
        pytest.param(time(1), at(2026, 2, 19, 0, 10), date(2026, 2, 18), id="after midnight"),
        pytest.param(time(1), at(2026, 2, 19, 1, 45), date(2026, 2, 18), id="past bedtime"),
        pytest.param(time(0), at(2026, 2, 18, 23), date(2026, 2, 18), id="a bedtime of midnight, before"),
        pytest.param(time(0), at(2026, 2, 19, 0, 30), date(2026, 2, 18), id="a bedtime of midnight, after"),
        pytest.param(time(22, 30), at(2026, 2, 18, 22), date(2026, 2, 18), id="an early bedtime, before"),
        pytest.param(time(22, 30), at(2026, 2, 19, 0, 30), date(2026, 2, 18), id="an early bedtime, after"),
    ],
)
def test_a_night_is_one_although_midnight_lies_in_it(bedtime: time, now: Instant, night: date) -> None:
    assert night_of(now, Targets(bedtime_target=bedtime)) == night


@settings(deadline=None)
@given(
    st.times(timezones=st.none()).map(lambda t: t.replace(second=0, microsecond=0)),
    st.integers(0, 900),
    st.sampled_from(["America/Toronto", "Europe/London", "Australia/Lord_Howe", "UTC", "Asia/Kolkata"]),
)
def test_every_night_has_one_first_nudge_and_its_own_key(bedtime: time, days: int, zone: str) -> None:
    targets = Targets(bedtime_target=bedtime, timezone=zone)
    after = Instant(as_instant(datetime(2026, 1, 1, tzinfo=ZoneInfo("UTC"))) + days * DAY)
    due = next_due(Briefing.BEDTIME, after, targets)
    following = next_due(Briefing.BEDTIME, due, targets)
    key, next_key = (period_key(Briefing.BEDTIME, one, targets) for one in (due, following))
    assert date.fromisoformat(next_key) - date.fromisoformat(key) == timedelta(days=1)
    assert bedtime_of(night_of(Instant(due + HOUR), targets), targets) == due + HOUR
    assert abs(following - due - DAY) <= HOUR


def test_a_day_of_any_restarts_sends_each_briefing_once() -> None:
    start = at(2026, 2, 20, 12)
    claimed: dict[str, int] = {}
    for minute in range(1, 2881):  # two days, restarted every minute
        before, now = Instant(start + (minute - 1) * MINUTE), Instant(start + minute * MINUTE)
        for kind in Briefing:
            due = next_due(kind, before, TARGETS)
            if due <= now:
                key = f"{kind} {period_key(kind, due, TARGETS)}"
                claimed[key] = claimed.get(key, 0) + 1
    assert claimed == {
        "bedtime 2026-02-20": 1,
        "morning 2026-02-21": 1,
        "weekly_review 2026-W08": 1,
        "bedtime 2026-02-21": 1,
        "morning 2026-02-22": 1,
    }


@pytest.mark.parametrize(
    ("review", "folds"),
    [
        pytest.param(time(10), True, id="at the same time"),
        pytest.param(time(10, 30), True, id="half an hour later"),
        pytest.param(time(10, 31), False, id="a minute more"),
        pytest.param(time(9), False, id="before waking"),
        pytest.param(time(18), False, id="in the evening"),
    ],
)
def test_on_review_day_the_person_gets_one_message(review: time, folds: bool) -> None:
    targets = Targets(review_time=review)
    saturday = at(2026, 2, 21, 10)
    assert folds_into_review(saturday, targets) is folds
    assert opens_with_morning(next_due(Briefing.WEEKLY_REVIEW, at(2026, 2, 20, 12), targets), targets) is folds
    assert not folds_into_review(at(2026, 2, 20, 10), targets)


BEDTIME = at(2026, 2, 19, 1)


def night(
    minutes: int, sent: int = 0, last: int | None = None, seen: int | None = 5, delayed: int | None = None
) -> tuple[Instant, CoachState]:
    """A moment so many minutes from the bedtime; `last` and `delayed` are counted the same way, `seen` is ago."""
    now = Instant(BEDTIME + minutes * MINUTE)

    def moment(offset: int | None) -> Instant | None:
        return None if offset is None else Instant(BEDTIME + offset * MINUTE)

    return now, CoachState(
        last_activity=None if seen is None else Instant(now - seen * MINUTE),
        bedtime_nudges=sent,
        last_bedtime_nudge=moment(last),
        delayed_until=moment(delayed),
    )


@pytest.mark.parametrize(
    ("moment", "step", "reason"),
    [
        pytest.param(night(-61), None, "Too early", id="a minute too early"),
        pytest.param(night(-60), Tone.CASUAL, "", id="casual an hour before"),
        pytest.param(night(-60, seen=60), Tone.CASUAL, "", id="active exactly an hour ago"),
        pytest.param(night(-60, seen=61), None, "You hadn't been active", id="away for longer than an hour"),
        pytest.param(night(-60, seen=None), None, "You hadn't been active", id="never seen"),
        pytest.param(night(-1, 1, -60), None, "Too early for a direct", id="direct not before the bedtime"),
        pytest.param(night(0, 1, -60), Tone.DIRECT, "", id="direct at the bedtime"),
        pytest.param(night(10), Tone.CASUAL, "", id="a late first nudge is casual all the same"),
        pytest.param(night(10, 1, 0), None, "half an hour ago", id="half an hour apart"),
        pytest.param(night(29, 2, -1), None, "Too early for a serious", id="serious not before half past"),
        pytest.param(night(30, 2, 0), Tone.SERIOUS, "", id="serious half an hour after"),
        pytest.param(night(60, 2, 0), Tone.SERIOUS, "", id="serious an hour after at the latest"),
        pytest.param(night(61, 2, 0), None, "more than an hour", id="later than that nothing"),
        pytest.param(night(45, 3, 0), None, "three", id="never a fourth"),
        pytest.param(night(10, 1, -60, delayed=30), None, "asked for more time", id="30 more minutes are kept"),
        pytest.param(night(30, 1, -60, delayed=30), Tone.DIRECT, "", id="and then it asks"),
    ],
)
def test_the_escalation(moment: tuple[Instant, CoachState], step: Tone | None, reason: str) -> None:
    verdict = bedtime_nudge(moment[0], TARGETS, moment[1])
    assert verdict.tone == step
    assert reason in verdict.reason


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        pytest.param(night(-300), -60, id="the first one"),
        pytest.param(night(-60, 1, -60), 0, id="the second at the bedtime"),
        pytest.param(night(0, 2, 0), 30, id="the third half an hour later"),
        pytest.param(night(20, 2, 20), 50, id="half an hour after a late second"),
        pytest.param(night(40, 2, 40), None, id="no room for a third"),
        pytest.param(night(40, 3, 40), None, id="no fourth"),
        pytest.param(night(5, 1, -60, delayed=35), 35, id="after the delay"),
        pytest.param(night(15), 15, id="never in the past"),
    ],
)
def test_when_to_look_again(moment: tuple[Instant, CoachState], expected: int | None) -> None:
    due = next_look_at(moment[0], TARGETS, moment[1])
    assert due == (None if expected is None else BEDTIME + expected * MINUTE)


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=400))
def test_never_a_fourth_and_never_out_of_order(active: list[bool]) -> None:
    steps: list[Tone] = []
    last: Instant | None = None
    seen: Instant | None = None
    for minute, there in enumerate(active):
        now = Instant(BEDTIME - 120 * MINUTE + minute * MINUTE)
        seen = now if there else seen
        state = CoachState(last_activity=seen, bedtime_nudges=len(steps), last_bedtime_nudge=last)
        step = bedtime_nudge(now, TARGETS, state).tone
        if step:
            steps.append(step)
            last = now
    assert steps == list(Tone)[: len(steps)]


def test_the_default_first_nudge_is_at_midnight() -> None:
    due = next_due(Briefing.BEDTIME, at(2026, 2, 18, 12), TARGETS)
    assert to_datetime(due, TORONTO).time() == time(0, 0)
