"""The Model port's own rules: blocks as JSON, what is counted, what a request may ask for."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.errors import UsageError
from nudge.model import (
    ModelReply,
    ModelRequest,
    OneTool,
    Opaque,
    Purpose,
    Role,
    Text,
    TextDelta,
    Tool,
    ToolChoice,
    ToolResult,
    ToolUse,
    Turn,
    assistant,
    block_to_json,
    blocks_from_json,
    cached,
    replay,
    text_reply,
    turn_from_json,
    turn_to_json,
    user,
)
from nudge.testing import OfflineModel
from nudge.tokens import TokenUse

TOOL = Tool("go", "Goes.", {"type": "object"})
REQUEST = ModelRequest(Purpose.WORK, "", (cached("You work."),), (user("Go on."),), 100)

WORDS = st.text(max_size=8)
DATA = st.dictionaries(WORDS, st.one_of(st.integers(), WORDS, st.lists(WORDS, max_size=2)), max_size=3)
BLOCKS = st.one_of(
    st.builds(Text, WORDS, st.booleans()),
    st.builds(ToolUse, WORDS, WORDS, DATA, st.just(""), st.booleans()),
    st.builds(ToolResult, WORDS, WORDS, st.booleans(), st.booleans()),
    st.builds(
        lambda data, provider, cache: Opaque({**data, "type": "thinking"}, provider, cache),
        DATA,
        st.sampled_from(["anthropic", "openai"]),
        st.booleans(),
    ),
)


@given(st.sampled_from(Role), st.lists(BLOCKS, max_size=4))
def test_a_turn_comes_back_from_its_json(role: Role, content: list[Any]) -> None:
    turn = Turn(role, tuple(content))
    assert turn_from_json(json.loads(json.dumps(turn_to_json(turn)))) == turn


def test_plain_content_is_read_as_words() -> None:
    assert turn_from_json({"role": "user", "content": "Go on."}) == user("Go on.")


ODD: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "no list": ("text", ()),
    "no block": ([1, None, "x"], ()),
    "a text without words": ([{"type": "text"}], ()),
    "a call without an id": ([{"type": "tool_use", "name": "go", "input": {}}], ()),
    "a call whose input is no object": (
        [{"type": "tool_use", "id": "t", "name": "go", "input": [1]}],
        (ToolUse("t", "go", {}, "[1]"),),
    ),
    "a result in blocks": (
        [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "a"}, {"type": "image"}]}],
        (ToolResult("t", "a"),),
    ),
    "a block that nobody knows": ([{"type": "hologram", "n": 1}], (Opaque({"type": "hologram", "n": 1}),)),
}


@pytest.mark.parametrize("content, blocks", ODD.values(), ids=ODD.keys())
def test_odd_content_is_read_or_left_out(content: Any, blocks: tuple[Any, ...]) -> None:
    assert blocks_from_json(content) == blocks


def test_a_mark_is_the_caches_own_key() -> None:
    assert block_to_json(cached("a")) == {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}


def test_a_request_asks_for_a_form_or_offers_tools() -> None:
    with pytest.raises(UsageError, match="either a schema or tools"):
        replace(REQUEST, tools=(TOOL,), schema={})
    with pytest.raises(UsageError, match="'stop'"):
        replace(REQUEST, tools=(TOOL,), tool_choice=OneTool("stop"))
    assert replace(REQUEST, tools=(TOOL,), tool_choice=OneTool("go")).tool_choice != ToolChoice.AUTO


def test_everything_that_is_read_is_counted_but_images() -> None:
    turns = (
        user("a", Opaque({"type": "image", "source": "…"}), Opaque({"type": "document", "text": "b"})),
        assistant(ToolUse("t", "go", {"c": 1}), ToolUse("t", "go", {}, "d")),
        user(ToolResult("t", "e")),
    )
    texts = replace(REQUEST, turns=turns, tools=(TOOL,)).texts()
    assert texts == [
        "You work.",
        "a",
        "",
        '{"type": "document", "text": "b"}',
        'go {"c": 1}',
        "go d",
        "e",
        '["go", "Goes.", {"type": "object"}]',
    ]
    assert replace(REQUEST, schema={"type": "object"}).texts()[-1] == '{"type": "object"}'


async def test_a_reply_is_replayed_as_a_stream() -> None:
    use = ToolUse("t", "go", {})
    reply = ModelReply((Text("Let me see."), use), "m", TokenUse(1, 2))
    assert [event async for event in replay(reply)] == [TextDelta("Let me see."), use, TokenUse(1, 2), reply]
    form = text_reply('{"a": 1}', "m", data={"a": 1})
    assert [event async for event in replay(form)] == [TokenUse(), form]


async def test_the_offline_model_plays_its_script_and_remembers() -> None:
    use = ToolUse("t", "go", {})
    whole = ModelReply((Text("x"),), "other", TokenUse(1, 1))
    model = OfflineModel(
        "Words.", {"a": 1}, use, whole, ValueError("no"), lambda asked: asked.turns[0].text, default="…"
    )
    assert (await model.complete(REQUEST)).text == "Words."
    assert (await model.complete(REQUEST)).data == {"a": 1}
    assert (await model.complete(REQUEST)).tool_uses == (use,)
    assert await model.complete(REQUEST) == whole
    with pytest.raises(ValueError, match="no"):
        await model.complete(REQUEST)
    assert (await model.complete(REQUEST)).text == "Go on."
    events = [event async for event in model.stream(REQUEST)]
    assert (events[0], events[-2]) == (TextDelta("…"), TokenUse())
    assert (len(model.requests), model.name) == (7, "offline")
    model.answers = ["One two\nthree."]
    words = [event.text async for event in model.stream(REQUEST) if isinstance(event, TextDelta)]
    assert words == ["One ", "two\n", "three."]
    await model.close()
