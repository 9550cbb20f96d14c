"""What is learned from how pings are taken, and what follows from it: quieter or better timed, never louder."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.attention.bucket import PingBudget
from nudge.attention.quiet import QuietHours
from nudge.attention.rules import Allow, Attention, Candidate, Defer, Kind, Refuse, Rule, decide
from nudge.attention.welcome import (
    GOOD,
    HALF_LIFE,
    PING,
    TOO_LOW,
    TRY_AGAIN,
    Cell,
    Learned,
    Place,
    Reception,
    Waiting,
)
from nudge.instants import DAY, HOUR, Instant
from tests.times import NOON, TORONTO, toronto

NIGHT = QuietHours(2 * 60, 10 * 60, TORONTO)
TEN = toronto(2026, 2, 18, 10)


def cell(hour: int, welcome: float = 0, unwelcome: float = 0, topic: str = "morning", at: Instant = TEN) -> Cell:
    return Cell(topic, Place(hour), int(welcome * PING), int(unwelcome * PING), at)


@pytest.mark.parametrize(
    ("cells", "place", "share"),
    [
        pytest.param((), Place(10), 0.60, id="nothing is known: a little optimism"),
        pytest.param((cell(10, 1),), Place(10), 0.73, id="welcome once"),
        pytest.param((cell(10, 0, 1),), Place(10), 0.40, id="ignored once"),
        pytest.param((cell(10, 0, 3),), Place(10), 0.24, id="ignored three times"),
        pytest.param((cell(10, 0, 3),), Place(11), 0.34, id="the hour after it counts by half"),
        pytest.param((cell(10, 0, 3),), Place(12), 0.46, id="two hours later by a fifth"),
        pytest.param((cell(10, 0, 3),), Place(17), 0.574, id="far away the topic still counts a little"),
        pytest.param((cell(23, 0, 3),), Place(0), 0.34, id="midnight is next to eleven"),
        pytest.param((cell(10, 0, 3),), Place(10, weekend=True), 0.38, id="weekends are not weekdays"),
        pytest.param((cell(10, 0, 3, "bedtime"),), Place(10), 0.46, id="another topic at that hour counts by a fifth"),
        pytest.param((cell(10, 0, 3, "bedtime"),), Place(17), 0.60, id="another topic at another hour counts nothing"),
    ],
)
def test_an_estimate_is_made_of_what_was_counted_there_and_nearby(
    cells: tuple[Cell, ...], place: Place, share: float
) -> None:
    assert Learned(cells).estimate("morning", place, TEN).share == pytest.approx(share, abs=0.006)


@pytest.mark.parametrize(
    ("cells", "latest", "later", "never"),
    [
        pytest.param((), 6, None, False, id="nothing known: it speaks"),
        pytest.param((cell(10, 0, 2),), 6, None, False, id="two pings are too few to learn from"),
        pytest.param((cell(10, 5, 1),), 6, None, False, id="mostly welcome: it speaks"),
        pytest.param((cell(10, 0, 5),), 6, 13, False, id="ignored: it waits for an hour that is clearly better"),
        pytest.param((cell(10, 0, 5), cell(15, 4)), 6, 15, False, id="it waits for the hour that was welcome"),
        pytest.param((cell(10, 0, 5), cell(15, 4)), 3, 13, False, id="but no longer than it is of use"),
        pytest.param((cell(10, 0, 5),), None, None, True, id="what cannot wait is not said"),
        pytest.param(
            tuple(cell(hour, 0, 5) for hour in range(10, 17)), 6, None, True, id="unwelcome all day: it is not said"
        ),
        pytest.param((cell(10, 1, 2),), None, None, False, id="not good, and not too low: what cannot wait is said"),
    ],
)
def test_when_to_speak_at_ten(cells: tuple[Cell, ...], latest: int | None, later: int | None, never: bool) -> None:
    until = None if latest is None else Instant(TEN + latest * HOUR)
    timing = Learned(cells).timing("morning", TEN, TORONTO, latest=until, quiet_hours=NIGHT)
    assert timing.later == (None if later is None else toronto(2026, 2, 18, later))
    assert timing.never is never


def test_it_does_not_wait_for_an_hour_in_quiet_hours_or_for_tomorrow() -> None:
    late = toronto(2026, 2, 18, 22)
    bad = tuple(cell(hour, 0, 9, at=late) for hour in (21, 22, 23))
    good = (cell(1, 9, at=late), cell(0, 9, at=late))
    timing = Learned(bad + good).timing("morning", late, TORONTO, latest=Instant(late + DAY))
    assert timing.later is None
    assert timing.never
    quiet = QuietHours(12 * 60, 20 * 60, TORONTO)
    timing = Learned((cell(10, 0, 9),)).timing(
        "morning", TEN, TORONTO, latest=Instant(TEN + 12 * HOUR), quiet_hours=quiet
    )
    assert timing.later == toronto(2026, 2, 18, 20)


def test_a_silent_topic_is_tried_again_after_two_weeks() -> None:
    learned = Learned((cell(10, 0, 50),))
    assert learned.timing("morning", Instant(TEN + TRY_AGAIN - 1), TORONTO).never
    assert not learned.timing("morning", Instant(TEN + TRY_AGAIN), TORONTO).never


def test_half_is_forgotten_in_a_half_life_and_a_clock_that_goes_back_changes_nothing() -> None:
    counted = cell(10, 4, 2)
    later = counted.faded(Instant(TEN + HALF_LIFE))
    assert (later.welcome, later.unwelcome) == (2 * PING, PING)
    assert counted.faded(Instant(TEN - DAY)) == counted
    assert counted.after(Reception.DONE, Instant(TEN - DAY)).at == TEN


def test_silence_counts_after_four_hours_although_nobody_wrote_it_down() -> None:
    ping = Waiting("morning", Place(10), TEN)
    for waited, arrived, share in ((3 * HOUR, True, 0.6), (4 * HOUR, True, 0.4), (4 * HOUR, False, 0.6)):
        learned = Learned((), (replace(ping, arrived=arrived),))
        assert learned.estimate("morning", Place(10), Instant(TEN + waited)).share == pytest.approx(share)


CELLS = st.builds(
    cell,
    st.integers(0, 23),
    st.integers(0, 20),
    st.integers(0, 20),
    st.sampled_from(("morning", "bedtime", "bedtime again", "heartbeat")),
)
LEARNED = st.builds(lambda cells: Learned(tuple(cells)), st.lists(CELLS, max_size=12))
CANDIDATES = st.builds(
    Candidate,
    st.sampled_from(list(Kind)),
    asked_by_person=st.booleans(),
    set_for_time=st.booleans(),
    critical=st.booleans(),
    topic=st.sampled_from((None, "morning", "bedtime", "heartbeat")),
    latest=st.sampled_from((None, Instant(NOON + 6 * HOUR))),
)
STATES = st.builds(
    Attention,
    quiet_hours=st.sampled_from((None, NIGHT)),
    busy_until=st.sampled_from((None, Instant(NOON + HOUR))),
    budget=st.sampled_from((None, PingBudget.at(NOON), PingBudget.at(NOON, available=0))),
    bedtime_sent=st.integers(0, 3),
    tz=st.just(TORONTO),
)


@given(learned=LEARNED, candidate=CANDIDATES, state=STATES, hours=st.integers(0, 23))
def test_what_was_learned_never_makes_it_louder(
    learned: Learned, candidate: Candidate, state: Attention, hours: int
) -> None:
    now = Instant(NOON + hours * HOUR)
    before, after = decide(state, candidate, now), decide(replace(state, learned=learned), candidate, now)
    if isinstance(after, Allow):
        assert isinstance(before, Allow)
        assert (after.takes, after.at_least) == (before.takes, before.at_least)
    elif after.rule is not Rule.UNWELCOME:
        assert after == before
    if not candidate.learned_as:
        assert after == before
    if isinstance(after, Defer) and after.rule is Rule.UNWELCOME:
        assert candidate.latest is not None
        assert now < after.until <= candidate.latest


@given(learned=LEARNED, place=st.builds(Place, st.integers(0, 23), st.booleans()), reception=st.sampled_from(Reception))
def test_one_more_reception_moves_the_estimate_its_way(learned: Learned, place: Place, reception: Reception) -> None:
    before = learned.estimate("morning", place, TEN).share
    more = Learned((*learned.cells, Cell("morning", place, at=TEN).after(reception, TEN)))
    after = more.estimate("morning", place, TEN).share
    if not reception.unwelcome:
        assert after > before
    elif not reception.welcome:
        assert after < before


@given(learned=LEARNED, place=st.builds(Place, st.integers(0, 23), st.booleans()))
def test_everything_is_forgotten_in_the_end(learned: Learned, place: Place) -> None:
    share = learned.estimate("morning", place, Instant(TEN + 20 * HALF_LIFE)).share
    assert share == pytest.approx(0.6, abs=0.01)


def test_what_the_person_set_is_never_unwelcome() -> None:
    awful = Learned(tuple(cell(hour, 0, 99, topic) for hour in range(24) for topic in ("morning", "reminder:r-1")))
    state = Attention(learned=awful, tz=TORONTO)
    for candidate in (
        Candidate(Kind.REMINDER, asked_by_person=True, topic="reminder:r-1"),
        Candidate(Kind.ROUTINE, asked_by_person=True, topic="reminder:r-1"),
        Candidate(Kind.BRIEFING, set_for_time=True, topic="morning"),
        Candidate(Kind.BRIEFING, critical=True, topic="morning"),
        Candidate(Kind.REPLY, topic="morning"),
    ):
        assert isinstance(decide(state, candidate, NOON), Allow)
    idea = decide(state, Candidate(Kind.BRIEFING, topic="morning"), NOON)
    assert isinstance(idea, Refuse)
    assert idea.learned == "morning, 12:00 on weekdays: 0% welcome (0.0 of 340.9 pings)"
    assert TOO_LOW < GOOD
