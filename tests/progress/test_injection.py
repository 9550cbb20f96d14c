from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.errors import UsageError
from nudge.progress.injection import Injection, Nudge, Urgency, inject

HINT, WARNING, CRITICAL = Urgency


def test_the_most_urgent_comes_first_and_equals_keep_their_order() -> None:
    nudges = [Nudge("a"), Nudge("b", WARNING), Nudge("c", CRITICAL), Nudge("d", WARNING), Nudge("e")]
    assert inject(nudges).text == "c\nb\nd\na\ne"


@pytest.mark.parametrize(
    ("max_tokens", "text"),
    [
        pytest.param(0, "", id="no budget is silence"),
        pytest.param(1, "now!", id="four characters are one token"),
        pytest.param(2, "now!", id="nine characters with the line end need a third token"),
        pytest.param(3, "now!\nsoon", id="both fit"),
        pytest.param(50, "now!\nsoon\n" + "later " * 20, id="all fit"),
    ],
)
def test_no_more_is_said_than_the_budget_allows(max_tokens: int, text: str) -> None:
    nudges = [Nudge("later " * 20), Nudge("soon", WARNING), Nudge("now!", CRITICAL)]
    assert inject(nudges, max_tokens=max_tokens).text == text


def test_what_is_too_long_is_held_back_whole_and_a_shorter_one_may_fit() -> None:
    injection = inject([Nudge("x" * 100, CRITICAL), Nudge("short")], max_tokens=10)
    assert injection.text == "short"
    assert [nudge.text for nudge in injection.held_back] == ["x" * 100]


def test_the_same_text_is_never_given_twice_in_a_row() -> None:
    stuck = Nudge("You appear to be repeating the same actions.", WARNING)
    first = inject([stuck])
    second = inject([stuck], after=first)
    third = inject([stuck], after=second)
    assert [bool(one.text) for one in (first, second, third)] == [True, False, True]
    assert second.held_back == (stuck,)


def test_two_governors_with_the_same_text_say_it_once() -> None:
    assert inject([Nudge("stop"), Nudge("stop", CRITICAL)]).nudges == (Nudge("stop", CRITICAL),)


def test_empty_texts_are_nothing() -> None:
    assert inject([Nudge(""), Nudge("  \n")]) == Injection()
    assert inject([]).text == ""


def test_a_negative_budget_is_refused() -> None:
    with pytest.raises(UsageError):
        inject([], max_tokens=-1)


nudge_lists = st.lists(st.builds(Nudge, st.text("ab ", max_size=30), st.sampled_from(Urgency)), max_size=12)


@given(st.lists(nudge_lists, max_size=6), st.integers(0, 20))
def test_every_call_keeps_to_the_rules(calls: list[list[Nudge]], max_tokens: int) -> None:
    last = Injection()
    for nudges in calls:
        injection = inject(nudges, max_tokens=max_tokens, after=last)
        texts = [nudge.text for nudge in injection.nudges]
        assert injection.tokens <= max_tokens
        assert len(set(texts)) == len(texts)
        assert not set(texts) & {nudge.text for nudge in last.nudges}
        assert [nudge.urgency for nudge in injection.nudges] == sorted(
            (nudge.urgency for nudge in injection.nudges), reverse=True
        )
        assert len(injection.nudges) + len(injection.held_back) == sum(bool(nudge.text.strip()) for nudge in nudges)
        last = injection
