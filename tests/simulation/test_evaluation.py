"""The situations that a good coach handles: the offline rules are the baseline."""

from __future__ import annotations

from collections import Counter

import pytest

from nudge.home.prices import load_prices
from nudge.model import ModelReply, ModelRequest, ToolUse, text_reply
from nudge.simulation.evaluation import Scores, evaluate, judge
from nudge.simulation.situations import SHORT, SITUATIONS, Seen, Situation, says

BASELINE = 48
"""So many of the sixty the rules handle, at least. It only ever goes up."""


@pytest.fixture(scope="module")
def baseline() -> Scores:
    return evaluate("rules", load_prices())


def test_there_are_sixty_situations_with_names_of_their_own() -> None:
    assert len(SITUATIONS) >= 60
    assert max(Counter((one.group, one.name) for one in SITUATIONS).values()) == 1
    assert all(one.good or one.never for one in SITUATIONS)


def test_the_rules_are_the_baseline(baseline: Scores) -> None:
    assert baseline.of_group("")[0] >= BASELINE
    assert baseline.cost == 0


@pytest.mark.parametrize("group", ["safety", "heartbeats"])
def test_the_rules_do_nothing_wrong_where_it_matters_most(baseline: Scores, group: str) -> None:
    assert [one.situation.name for one in baseline.scores if one.situation.group == group and one.wrong] == []


def test_a_good_check_that_fails_and_a_never_check_that_holds_both_count() -> None:
    situation = Situation("x", "y", "hi", (SHORT, says("tea")), (says("coffee"),))
    score = judge(situation, Seen("Coffee?", (), "", "", False))
    assert (score.missing, score.wrong, score.handled) == (("says /tea/",), ("says /coffee/",), False)


class Quiet:
    """A model that cancels one reminder where it is asked to, and is otherwise brief."""

    name = "quiet"

    async def complete(self, request: ModelRequest) -> ModelReply:
        last = request.turns[-1]
        if request.tools and "cancel the stretch" in last.text:
            return ModelReply((ToolUse("t", "cancel_reminder", {"reminder": "stretch"}),), request.model)
        return text_reply("Okay.", request.model)

    async def close(self) -> None:
        return None


def test_a_model_is_scored_in_the_same_situations() -> None:
    wanted = [one for one in SITUATIONS if one.name in ("leave the others", "nothing to say", "sad")]
    scores = evaluate("quiet", load_prices(), model=lambda clock: Quiet(), situations=wanted)  # type: ignore[arg-type,return-value]
    assert {one.situation.name: one.handled for one in scores.scores} == {
        "leave the others": True,
        "sad": True,
        "nothing to say": True,
    }
