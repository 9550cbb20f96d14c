"""The weekly review led by a model, inside the state machine."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from nudge.coach.review import Resolved
from nudge.coach.review_guide import closing, heard
from nudge.errors import ModelUnavailableError
from nudge.model import ModelReply, ModelRequest, Purpose, text_reply
from nudge.testing import Life, live

START = datetime(2026, 2, 18, 12, tzinfo=UTC)
MEMORY = """# Memory

## Preferences
- Call me early
- Never call me before ten

## Active Commitments
- Reply to Mary (due: Friday)

## Observed Patterns
- Works best at night

## Recent Context

Nothing.

## Conference Mode
- none
"""


class Guide:
    """A model that answers the review's questions as told, by what the message says."""

    name = "guide"

    def __init__(self, *, down: bool = False) -> None:
        self.down = down
        self.asked: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.asked.append(request)
        if request.purpose is not Purpose.REVIEW:
            return text_reply("Oh no. Call the plumber first.", request.model)
        if self.down:
            raise ModelUnavailableError("It is away.", unbilled=True)
        said = request.turns[-1].text
        if "summary" in str(request.schema):
            pairs = [{"keep": "Never call me before ten", "remove": "Call me early"}]
            return text_reply("", request.model, data={"summary": "A calm week.", "contradictions": pairs})
        vague = "stuff happened" in said
        data = {"is_answer": "flooded" not in said, "ask_back": "Which part of it mattered?" if vague else ""}
        return text_reply("", request.model, data=data)

    async def close(self) -> None:
        return None


def reviewed(*messages: str, down: bool = False) -> tuple[list[list[str]], dict[str, str]]:
    async def scenario(life: Life) -> tuple[list[list[str]], dict[str, str]]:
        life.documents.texts["MEMORY.md"] = MEMORY
        await life.say("/review")
        said = [await life.say(message) for message in messages]
        await life.passes(seconds=5)
        return said, dict(life.documents.texts)

    return live(scenario, START, model=Guide(down=down))  # type: ignore[arg-type]


def test_what_happens_to_them_now_is_no_answer_and_is_answered() -> None:
    (flooded, answered), _ = reviewed("the kitchen is flooded", "I wrote every day")
    assert flooded[0].startswith("Oh no. Call the plumber first.")
    assert "1 of 9" in flooded[0]
    assert "2 of 9" in answered[0]


def test_a_vague_answer_is_asked_back_about_once_and_both_parts_are_kept() -> None:
    (back, on, _), _ = reviewed("stuff happened", "stuff happened at work", "nothing much")
    assert back == ["Which part of it mattered?"]
    assert "2 of 9" in on[0]


def test_at_the_end_the_model_sums_up_and_a_contradiction_is_resolved_in_sight() -> None:
    said, texts = reviewed(*(f"answer number {number}" for number in range(8)), "1. Write 2. Run")
    assert "I kept “Never call me before ten” and removed “Call me early”." in said[-1][0]
    assert "- Call me early" not in texts["MEMORY.md"]
    assert "2026-W08: A calm week." in texts["MEMORY.md"]


def test_the_rules_go_on_alone_where_the_model_is_away() -> None:
    (said,), _ = reviewed("stuff happened", down=True)
    assert "2 of 9" in said[0]


@pytest.mark.parametrize(
    ("data", "resolved"),
    [
        pytest.param({"keep": "Never call me before ten", "remove": "call me early."}, 1, id="both lines are there"),
        pytest.param({"keep": "Never call me before ten", "remove": "Works best at night"}, 0, id="two sections"),
        pytest.param({"keep": "made up", "remove": "Call me early"}, 0, id="a line that is not there"),
        pytest.param({"keep": "Call me early", "remove": "Call me early"}, 0, id="the same line"),
        pytest.param({"keep": "x", "remove": "Reply to Mary (due: Friday)"}, 0, id="a commitment stays"),
        pytest.param("nonsense", 0, id="no pair"),
    ],
)
def test_only_what_is_there_is_resolved(data: Any, resolved: int) -> None:
    found = closing({"summary": "S.", "contradictions": [data]}, MEMORY)
    assert len(found.resolved) == resolved
    if resolved:
        assert found.resolved[0] == Resolved("Preferences", "Never call me before ten", "Call me early")


def test_a_question_back_is_a_question() -> None:
    told = heard({"is_answer": True, "ask_back": "You should write more."})
    assert told is not None
    assert told.ask_back == ""
