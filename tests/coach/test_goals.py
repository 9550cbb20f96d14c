from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nudge.coach.goals import TODAY, Goal, Goals, Person, mark_done, parse_goals, set_goals

GOALS = """# Goals — Last updated: 2026-02-18

## North Star (revisit quarterly)
- Do work that matters, with people I like

## This Quarter (revisit monthly)
1. Write every weekday
2. [Process-oriented goal]

## This Week (revisit at weekly review)
1. Finish the draft
2. ~~Book the train~~

## Today (revisit at morning briefing)
1. Outline section 3
2. [x] Reply to Mary
3. Run (done)

## Standing Commitments
- Sleep: In bed by 1am

## Schedule Targets
- bedtime_target: "00:30"

## People to Stay in Touch With
- Mary — MATS mentor, check in monthly
- Tom: climbing
- Ana
- [Name] — [context]
"""


def test_the_whole_document_is_read() -> None:
    goals = parse_goals(GOALS)
    assert goals.north_star == "Do work that matters, with people I like"
    assert goals.quarter == (Goal("Write every weekday"),)
    assert goals.week == (Goal("Finish the draft"), Goal("Book the train", True))
    assert goals.today == (Goal("Outline section 3"), Goal("Reply to Mary", True), Goal("Run", True))
    assert goals.open_today == (Goal("Outline section 3"),)
    assert goals.commitments == ("Sleep: In bed by 1am",)
    assert goals.people == (Person("Mary", "MATS mentor, check in monthly"), Person("Tom", "climbing"), Person("Ana"))
    assert goals.targets.as_fields()["bedtime_target"] == "00:30"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("[ ] Call Mum", Goal("Call Mum"), id="an empty box"),
        pytest.param("[X] Call Mum", Goal("Call Mum", True), id="a ticked box"),
        pytest.param("✅ Call Mum", Goal("Call Mum", True), id="a tick before it"),
        pytest.param("Call Mum ✓", Goal("Call Mum", True), id="a tick after it"),
        pytest.param("Get it done", Goal("Get it done"), id="the word alone is not a mark"),
    ],
)
def test_what_is_done(line: str, expected: Goal) -> None:
    assert Goal.read(line) == expected


def test_a_north_star_may_be_a_paragraph() -> None:
    assert parse_goals("## North Star\nBe kind.\n").north_star == "Be kind."


def test_goals_are_set_as_a_numbered_list() -> None:
    text = set_goals(GOALS, TODAY, (Goal("Rest"), Goal("Read", True)))
    assert parse_goals(text).today == (Goal("Rest"), Goal("Read", True))
    assert text.replace("1. Rest\n2. [x] Read\n", "") == GOALS.replace(
        "1. Outline section 3\n2. [x] Reply to Mary\n3. Run (done)\n", ""
    )


def test_a_goal_is_ticked() -> None:
    assert parse_goals(mark_done(GOALS, "outline section 3")).open_today == ()
    assert mark_done(GOALS, "something else") == GOALS


@settings(deadline=None)
@given(st.text())
def test_no_text_makes_the_reader_raise(text: str) -> None:
    assert isinstance(parse_goals(text), Goals)
