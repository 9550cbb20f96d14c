from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nudge.coach.review import (
    AGAIN,
    BACK,
    BLOCKS,
    FINISH_OR_SKIP,
    PAUSED_BY_ITSELF,
    Effects,
    Event,
    Offer,
    Reading,
    Review,
    Said,
    Status,
    Step,
    advance,
    ask,
    next_three,
    questions,
    reads_as,
    start,
    summary,
)
from nudge.instants import DAY, HOUR, MINUTE, Instant, as_instant

ZONE = ZoneInfo("America/Toronto")
SATURDAY = as_instant(datetime(2026, 2, 21, 10, tzinfo=ZONE))
GOALS = ("Finish the draft", "Call Mum", "Run twice")


def begin(answered: int = 0) -> Review:
    review = start("2026-W08", GOALS, SATURDAY).review
    for number in range(answered):
        review = go(review, Said(f"answer {number + 1}"), minutes=5).review
    return review


def go(review: Review, event: Said | Event, *, minutes: int) -> Step:
    return advance(review, event, Instant(review.touched_at + minutes * MINUTE), ZONE)


def test_nine_questions_in_four_blocks() -> None:
    asked = questions(GOALS)
    assert len(asked) == 9
    assert list(dict.fromkeys(question.block for question in asked)) == list(BLOCKS)
    assert [GOALS[n] in asked[2 + n].text for n in range(3)] == [True, True, True]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_fewer_goals_leave_nine_questions(count: int) -> None:
    asked = questions(GOALS[:count])
    assert len({question.text for question in asked}) == 9
    assert sum("Goal" in question.text for question in asked) == count


def test_a_review_from_end_to_end() -> None:
    step = start("2026-W08", GOALS, SATURDAY, opening="Good morning.")
    assert step.replies[0].startswith("Good morning.\n\nTime to look back")
    assert "Looking back (part 1 of 4) · 1 of 9\n" in step.replies[0]
    for number in range(8):
        step = go(step.review, Said(f"answer {number + 1}"), minutes=5)
        assert step.handled
        assert len(step.replies) == 1
        assert questions(GOALS)[number + 1].text in step.replies[0]
        assert step.effects == Effects()
    step = go(step.review, Said("Send the draft\nBook the train\nRun"), minutes=5)
    assert step.review.status is Status.DONE
    assert step.effects.this_week == ("Send the draft", "Book the train", "Run")
    assert step.effects.prune
    assert step.effects.summary.startswith("2026-W08: well: answer 1; not: answer 2; “Finish the draft”: answer 3;")
    assert "\n" not in step.effects.summary
    assert "1. Send the draft" in step.replies[0]
    assert step.review.times_out_at is None


def test_blocks_are_announced_once() -> None:
    places = [ask(replace(begin(), index=index)).splitlines()[0] for index in range(9)]
    assert [place for place in places if "part" in place] == [places[0], places[2], places[5], places[7]]
    assert places[3] == "4 of 9"


def test_a_pause_waits_and_continues_where_it_was() -> None:
    paused = go(begin(3), Said("Not now, sorry"), minutes=5)
    assert (paused.review.status, paused.review.index) == (Status.PAUSED, 3)
    paused = go(begin(3), Said("Pause."), minutes=5)
    assert (paused.review.status, paused.review.index) == (Status.PAUSED, 3)
    assert "3 of 9" in paused.replies[0]
    resumed = go(paused.review, Said("continue"), minutes=60)
    assert (resumed.review.status, resumed.review.index) == (Status.ASKING, 3)
    assert questions(GOALS)[3].text in resumed.replies[0]
    assert go(resumed.review, Said("fine"), minutes=1).review.answers[-1] == "fine"


@pytest.mark.parametrize(
    "event",
    [Said("what's the weather?"), Said("/goals"), Said("remind me to call at 5"), Said("It snows.", unrelated=True)],
    ids=["a question", "a command", "a reminder", "what a model calls unrelated"],
)
def test_other_talk_is_answered_and_then_the_question_comes_again(event: Said) -> None:
    step = go(begin(2), event, minutes=5)
    assert not step.handled
    assert step.replies[0].startswith(BACK)
    assert "3 of 9" in step.replies[0]
    assert questions(GOALS)[2].text in step.replies[0]
    answered = go(step.review, Said("Half done"), minutes=6)
    assert (answered.review.index, answered.review.answers[-1]) == (3, "Half done")


@pytest.mark.parametrize(
    ("text", "status", "index"),
    [
        pytest.param("yes", Status.ASKING, 3, id="yes is an answer"),
        pytest.param("No", Status.ASKING, 3, id="so is no"),
        pytest.param("later!", Status.PAUSED, 2, id="later pauses"),
        pytest.param("skip it", Status.ASKING, 3, id="skip passes on the question"),
        pytest.param("stop", Status.SKIPPED, 2, id="stop ends it"),
        pytest.param("It snows here", Status.ASKING, 3, id="any text is an answer"),
    ],
)
def test_what_follows_after_other_talk(text: str, status: Status, index: int) -> None:
    aside = go(begin(2), Said("how are you?"), minutes=5).review
    step = go(aside, Said(text), minutes=6)
    assert (step.review.status, step.review.index) == (status, index)


def test_at_the_third_message_about_something_else_it_pauses_and_says_so() -> None:
    review = begin(2)
    said = []
    for minutes in (5, 6, 7, 8, 9):
        step = go(review, Said("how are you?"), minutes=minutes)
        assert not step.handled
        said += [step.replies[0] if step.replies else ""]
        review = step.review
    assert [one.partition("\n")[0] for one in said] == [BACK, BACK, PAUSED_BY_ITSELF, "", ""]
    assert "3 of 9" in go(review, Said("continue"), minutes=10).replies[0]


@pytest.mark.parametrize("status", [Status.SKIPPED, Status.INCOMPLETE])
def test_a_second_review_in_a_week_goes_on_where_the_first_ended(status: Status) -> None:
    ended = replace(begin(2), status=status)
    step = start(ended.week, GOALS, SATURDAY, before=ended)
    assert (step.review.index, step.review.answers, step.review.status) == (2, ended.answers, Status.ASKING)
    assert "3 of 9" in step.replies[0]


def test_a_second_review_after_the_first_is_done_is_kept_beside_it() -> None:
    done = replace(begin(9), status=Status.DONE)
    step = start(done.week, GOALS, SATURDAY, before=done)
    assert (step.review.index, step.review.round) == (0, 2)
    assert AGAIN in step.replies[0]
    assert summary(step.review).startswith(f"{done.week} (review 2):")


def test_a_review_of_another_week_begins_anew() -> None:
    assert start("2026-W09", GOALS, SATURDAY, before=begin(2)).review == Review("2026-W09", GOALS[:3], SATURDAY)


def test_the_next_day_it_is_offered_once() -> None:
    step = go(begin(2), Said("Good morning"), minutes=23 * 60)
    assert (step.replies, step.handled, step.review.offer) == ((FINISH_OR_SKIP,), False, Offer.FINISH_OR_SKIP)
    assert go(step.review, Said("It snows"), minutes=23 * 60 + 1).replies == ()
    finished = go(step.review, Said("finish"), minutes=23 * 60 + 1)
    assert questions(GOALS)[2].text in finished.replies[0]
    assert go(finished.review, Said("a real answer"), minutes=30).review.answers[-1] == "a real answer"


def test_no_to_finish_or_skip_skips() -> None:
    offered = go(begin(2), Said("Good morning"), minutes=23 * 60).review
    assert go(offered, Said("no"), minutes=23 * 60 + 1).review.status is Status.SKIPPED


def test_a_question_that_was_left_today_is_offered_again_tomorrow() -> None:
    review = go(begin(2), Said("how are you?"), minutes=5).review
    assert go(review, Said("It snows"), minutes=20 * 60).replies == (FINISH_OR_SKIP,)


def test_midnight_does_not_interrupt_a_talk() -> None:
    late = as_instant(datetime(2026, 2, 21, 23, 50, tzinfo=ZONE))
    review = replace(begin(2), touched_at=late)
    step = go(review, Said("an answer"), minutes=20)
    assert step.review.answers[-1] == "an answer"


def test_an_answer_that_a_model_recognises_counts_the_next_day() -> None:
    assert go(begin(2), Said("The draft", unrelated=False), minutes=23 * 60).review.index == 3


def test_a_single_question_can_be_passed() -> None:
    step = go(begin(2), Said("next question"), minutes=5)
    assert (step.review.index, step.review.answers[-1]) == (3, "")


def test_skipping_keeps_what_was_said() -> None:
    step = go(begin(2), Event.SKIP, minutes=5)
    assert step.review.status is Status.SKIPPED
    assert step.effects == Effects(summary="2026-W08: (skipped, 2 of 9) well: answer 1; not: answer 2")
    assert go(begin(0), Event.SKIP, minutes=5).effects == Effects()


@pytest.mark.parametrize("event", [Event.TICK, Said("hello"), Event.RESUME], ids=["a tick", "a message", "resume"])
def test_24_hours_after_the_last_answer_it_ends_with_a_partial_summary(event: Said | Event) -> None:
    review = begin(4)
    assert review.times_out_at == review.touched_at + DAY
    assert advance(review, event, Instant(review.touched_at + DAY - 1), ZONE).review.in_progress
    step = advance(review, event, Instant(review.touched_at + DAY), ZONE)
    assert step.review.status is Status.INCOMPLETE
    assert not step.handled
    assert step.replies == ()
    assert step.effects.summary.startswith("2026-W08: (incomplete, 4 of 9) well: answer 1;")
    assert step.effects.this_week == ()


def test_an_unanswered_review_times_out_too() -> None:
    step = advance(begin(), Event.TICK, Instant(SATURDAY + DAY), ZONE)
    assert step.effects.summary == "2026-W08: (incomplete, 0 of 9) no answers"


@pytest.mark.parametrize("status", [Status.DONE, Status.SKIPPED, Status.INCOMPLETE])
def test_what_has_ended_stays_ended(status: Status) -> None:
    review = replace(begin(2), status=status)
    for event in (Said("yes"), Event.RESUME, Event.TICK, Event.SKIP):
        assert go(review, event, minutes=5) == Step(review, handled=False)


def test_a_tick_before_that_changes_nothing() -> None:
    review = begin(2)
    assert go(review, Event.TICK, minutes=60) == Step(review)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yes!", Reading.YES),
        ("nah", Reading.NO),
        ("let’s continue", Reading.RESUME),
        ("finish the review", Reading.RESUME),
        ("I'm busy right now", Reading.PAUSE),
        ("skip it this week", Reading.SKIP),
        ("Skip this one", Reading.NEXT),
        ("", Reading.ELSEWHERE),
        ("why?", Reading.ELSEWHERE),
        ("focusing", Reading.RESTRAINT),
        ("leave me alone", Reading.RESTRAINT),
        ("30 more min", Reading.RESTRAINT),
        ("I'm in a meeting until later, so nothing came of the draft", Reading.ANSWER),
        ("I skipped it on Monday", Reading.ANSWER),
        ("Later than I wanted, mostly", Reading.ANSWER),
        ("First this\nthen that?", Reading.ANSWER),
    ],
)
def test_how_words_read(text: str, expected: Reading) -> None:
    assert reads_as(text) is expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param("A\nB\nC\nD", ("A", "B", "C"), id="lines, three at most"),
        pytest.param("- A\n- B", ("A", "B"), id="bullets"),
        pytest.param("1) Write it 2) Send it", ("Write it", "Send it"), id="numbers on one line"),
        pytest.param("1. Write 1.5 pages", ("Write 1.5 pages",), id="a number inside is not a mark"),
        pytest.param("Write it; send it", ("Write it", "send it"), id="semicolons"),
        pytest.param("Write it, send it, and rest", ("Write it", "send it", "rest"), id="commas"),
        pytest.param("Write, edit, cut, send", ("Write, edit, cut, send",), id="more commas are one sentence"),
        pytest.param("same as this week", (), id="the same"),
        pytest.param("Nothing.", (), id="nothing"),
        pytest.param("", (), id="empty"),
    ],
)
def test_next_weeks_three(answer: str, expected: tuple[str, ...]) -> None:
    assert next_three(answer) == expected


_EVENTS = st.one_of(
    st.sampled_from(list(Event)),
    st.builds(
        Said,
        st.sampled_from(["yes", "no", "pause", "skip", "next", "continue", "an answer", "why?", "/goals"]),
        st.sampled_from([None, True, False]),
    ),
)


@settings(deadline=None)
@given(st.lists(st.tuples(_EVENTS, st.integers(0, 20 * 60)), max_size=30))
def test_any_course_ends_or_waits_and_survives_json(course: list[tuple[Said | Event, int]]) -> None:
    review = begin()
    now = SATURDAY
    for event, minutes in course:
        now = Instant(now + minutes * MINUTE)
        step = advance(review, event, now, ZONE)
        assert Review.from_json(json.loads(json.dumps(step.review.to_json()))) == step.review
        assert len(step.review.answers) == step.review.index <= 9
        assert (step.review.status is Status.DONE) == (step.review.index == 9)
        assert not step.effects.prune or step.review.status is Status.DONE
        review = step.review
    assert not review.in_progress or review.times_out_at == review.touched_at + 24 * HOUR
