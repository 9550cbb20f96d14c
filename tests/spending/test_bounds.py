from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.model import ModelRequest, Opaque, Purpose, Text, Tool, ToolResult, ToolUse, assistant, user
from nudge.spending.governor import CALL_TOKENS, IMAGE_TOKENS, MESSAGE_TOKENS, TOOL_TOKENS, input_bound
from nudge.tokens import estimate_tokens, most_tokens

TEXT = st.text(max_size=200)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", 0, id="nothing"),
        pytest.param("word", 2, id="two letters a token"),
        pytest.param("words", 3, id="begun ones count"),
        pytest.param("1234", 4, id="every digit"),
        pytest.param("{[(<", 4, id="every sign"),
        pytest.param("é", 2, id="every byte outside of ascii"),
        pytest.param("😀", 4, id="four bytes of a smiley"),
        pytest.param("\ud800", 1, id="half a character"),
    ],
)
def test_more_tokens_than_a_text_has(text: str, expected: int) -> None:
    assert most_tokens(text) == expected


@given(TEXT)
def test_the_bound_is_above_the_estimate_and_below_a_token_a_byte(text: str) -> None:
    assert estimate_tokens(text) <= most_tokens(text) <= len(text.encode("utf-8", "replace"))


@given(TEXT, TEXT)
def test_a_text_never_has_fewer_than_its_parts_suggest(one: str, two: str) -> None:
    assert most_tokens(one + two) >= most_tokens(one) + most_tokens(two) - 1


def test_a_request_counts_everything_that_is_sent() -> None:
    plain = ModelRequest(Purpose.WORK, "m", (Text("system"),), (user("hello"), assistant("yes")), 100)
    assert input_bound(plain) == 3 + 3 + 2 + 4 * MESSAGE_TOKENS
    shaped = ModelRequest(Purpose.WORK, "m", (), (), 100, schema={"type": "object"})
    assert input_bound(shaped) == 2 * MESSAGE_TOKENS + TOOL_TOKENS + most_tokens('{"type": "object"}')


def test_tools_their_uses_and_images_count_too() -> None:
    turns = (
        user("Look.", Opaque({"type": "image", "source": {"data": "A" * 100_000}})),
        assistant(ToolUse("t", "read_file", {"path": "a"})),
        user(ToolResult("t", "print(1)")),
    )
    request = ModelRequest(Purpose.WORK, "m", (), turns, 100, tools=(Tool("read_file", "Reads.", {"type": "object"}),))
    words = ("Look.", "", 'read_file {"path": "a"}', "print(1)", '["read_file", "Reads.", {"type": "object"}]')
    around = 6 * MESSAGE_TOKENS + TOOL_TOKENS + 3 * CALL_TOKENS + IMAGE_TOKENS
    assert input_bound(request) == around + sum(most_tokens(text) for text in words)
