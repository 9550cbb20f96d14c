"""Asking in words: what is sent to a model that cannot, what counts as its answer, and that the bound covers it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.model import (
    ModelReply,
    OneTool,
    StopReason,
    Text,
    Tool,
    ToolChoice,
    ToolResult,
    ToolUse,
    assistant,
    cached,
    text_reply,
    user,
)
from nudge.models.failures import Capability
from nudge.models.fallbacks import in_words, read_in_words
from nudge.spending.governor import input_bound
from nudge.tokens import most_tokens
from tests.models.providers import READ, SCHEMA, WRITE, question

NOTHING: frozenset[Capability] = frozenset()
EVERYTHING = frozenset(Capability)


def test_a_model_that_can_is_asked_as_it_is() -> None:
    for request in (question(), question(tools=(READ,)), question(schema=SCHEMA)):
        assert in_words(request, NOTHING) is request


def test_the_form_comes_after_the_cached_prefix() -> None:
    asked = in_words(question(system=(cached("You are a coach."),), schema=SCHEMA), EVERYTHING)
    assert asked.schema is None
    assert asked.system[0] == cached("You are a coach.")
    assert json.dumps(SCHEMA) in asked.system[1].text


def test_tools_and_what_was_said_with_them_become_words() -> None:
    turns = (
        user("Look."),
        assistant("Yes.", ToolUse("t1", "read_file", {"path": "a"})),
        user(ToolResult("t1", "print(1)"), ToolResult("t2", "gone", is_error=True), "Go on."),
    )
    asked = in_words(question(turns=turns, tools=(READ, WRITE)), EVERYTHING)
    assert (asked.tools, asked.tool_choice) == ((), ToolChoice.AUTO)
    assert asked.turns[1].text == 'Yes.\n{"tool_calls": [{"name": "read_file", "input": {"path": "a"}}]}'
    assert asked.turns[2].text == "Result of read_file:\nprint(1)\n\nError of a tool:\ngone\n\nGo on."
    assert '"write_file"' in asked.system_text


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        pytest.param(ToolChoice.AUTO, "answer in plain words", id="as it likes"),
        pytest.param(ToolChoice.ANY, "Use at least one tool now.", id="any"),
        pytest.param(OneTool("read_file"), "Use the tool read_file now.", id="one"),
    ],
)
def test_the_choice_is_said(choice: Any, words: str) -> None:
    assert words in in_words(question(tools=(READ,), tool_choice=choice), EVERYTHING).system_text


def test_tools_that_may_not_be_used_are_not_offered() -> None:
    request = question(tools=(READ,), tool_choice=ToolChoice.NONE)
    assert in_words(request, EVERYTHING).system == request.system


ONE = '{"tool_calls": [{"name": "read_file", "input": {"path": "a"}}]}'
CALLS: dict[str, tuple[str, int]] = {
    "one call": (ONE, 1),
    "in a fence": (f"```json\n{ONE}\n```", 1),
    "in a fence without a language": (f" ```\n{ONE}\n```\n", 1),
    "two calls": ('{"tool_calls": [{"name": "a", "input": {}}, {"name": "b", "input": {}}]}', 2),
    "words before it": (f"Sure! {ONE}", 0),
    "words after it": (f"{ONE} ok?", 0),
    "another key beside it": ('{"tool_calls": [], "more": 1}', 0),
    "no calls": ('{"tool_calls": []}', 0),
    "a call without a name": ('{"tool_calls": [{"input": {}}]}', 0),
    "one of two is broken": ('{"tool_calls": [{"name": "a", "input": {}}, {"name": "b", "input": 1}]}', 0),
    "a list": (f"[{ONE}]", 0),
    "prose": ("I would read a.", 0),
}


@pytest.mark.parametrize("text, count", CALLS.values(), ids=CALLS.keys())
def test_only_what_is_exactly_a_call_is_one(text: str, count: int) -> None:
    reply = read_in_words(text_reply(text, "m"), question(tools=(READ,)), EVERYTHING)
    assert len(reply.tool_uses) == count
    assert reply.stop_reason is (StopReason.TOOL_USE if count else StopReason.END_TURN)
    assert reply.text == ("" if count else text)


def test_calls_of_later_turns_have_other_ids() -> None:
    first = read_in_words(text_reply(ONE, "m"), question(tools=(READ,)), EVERYTHING)
    turns = (*question().turns, first.turn, user(ToolResult(first.tool_uses[0].id, "x")))
    second = read_in_words(text_reply(ONE, "m"), question(tools=(READ,), turns=turns), EVERYTHING)
    assert first.tool_uses[0].id != second.tool_uses[0].id


@pytest.mark.parametrize("request_", [question(tools=(READ,)), question(schema=SCHEMA)], ids=["tools", "form"])
def test_half_an_answer_is_none(request_: Any) -> None:
    cut = replace(text_reply(ONE, "m"), stop_reason=StopReason.MAX_TOKENS)
    reply: ModelReply = read_in_words(cut, request_, EVERYTHING)
    assert (reply.tool_uses, reply.data) == ((), None)


WORDS = st.text(st.characters(codec="utf-8"), max_size=40)


@given(st.lists(WORDS, max_size=4), WORDS, st.booleans())
def test_the_bound_of_a_request_covers_the_words_that_stand_in_for_its_tools(
    texts: list[str], description: str, form: bool
) -> None:
    turns = (user("Look."), assistant(ToolUse("t", "go", {"a": description})), user(ToolResult("t", description)))
    tools = tuple(Tool(f"tool_{n}", text, {"type": "object", "title": text}) for n, text in enumerate(texts))
    request = question(turns=turns, system=(Text(description),), **({"schema": SCHEMA} if form else {"tools": tools}))
    asked = in_words(request, EVERYTHING)
    assert input_bound(request) >= sum(most_tokens(text) for text in asked.texts())
    assert not [block for turn in asked.turns for block in turn.content if not isinstance(block, Text)]
