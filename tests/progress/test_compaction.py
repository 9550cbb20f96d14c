from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.errors import UsageError
from nudge.progress.compaction import Compaction, Message, compact, extract, message_tokens


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}


def call(*ids: str, size: int = 4) -> Message:
    blocks = [{"type": "tool_use", "id": id_, "name": "bash", "input": {"command": "x" * size}} for id_ in ids]
    return {"role": "assistant", "content": [{"type": "text", "text": "Let me look."}, *blocks]}


def result(*ids: str, text: str = "done") -> Message:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id_, "content": text} for id_ in ids]}


def test_a_conversation_within_the_limit_is_sent_whole() -> None:
    talk = [user("a" * 40), assistant("b" * 40)]
    assert message_tokens(talk) == 20
    assert compact(talk, 20) == Compaction((), tuple(talk), 0)
    assert compact(talk, 20).messages() == tuple(talk)


def test_one_token_more_replaces_the_older_part_by_one_summary() -> None:
    talk = [user("Plan the trip to Lisbon. " + "a" * 400), assistant("b" * 400), user("c" * 400)]
    sent = compact(talk, message_tokens(talk) - 1).messages()
    assert len(sent) == 3
    assert sent[0]["role"] == "user"
    assert sent[0]["content"].startswith("[Summary of earlier messages: 1]\nuser: Plan the trip to Lisbon.")
    assert sent[1:] == tuple(talk[1:])


def test_a_summary_that_a_model_wrote_takes_the_place_of_ours() -> None:
    cut = compact([user("a" * 4_000), assistant("b" * 400)], 500)
    assert cut.older == (user("a" * 4_000),)
    assert cut.messages("They talked about a.")[0]["content"].endswith("\nThey talked about a.")


def test_a_summary_that_is_too_long_is_cut_to_its_room() -> None:
    cut = compact([user("a" * 4_000), assistant("b" * 400)], 500)
    sent = cut.messages("word " * 10_000)
    assert message_tokens(sent) <= 500
    assert sent[0]["content"].endswith("…")


def test_a_lower_aim_makes_room_for_the_next_messages() -> None:
    talk = [user("a" * 400) for _ in range(11)]
    assert len(compact(talk, 1_000).recent) == 7
    assert len(compact(talk, 1_000, down_to=500).recent) == 3
    assert len(compact(talk[:10], 1_000, down_to=500).recent) == 10, "within the limit nothing is cut"


@pytest.mark.parametrize(
    ("talk", "recent"),
    [
        pytest.param([user("a" * 800), call("1"), result("1")], 2, id="a call and its result stay together"),
        pytest.param([user("a"), call("1"), result("1", text="b" * 800), user("c")], 1, id="and go together"),
        pytest.param([user("a" * 800), call("1", "2"), result("1"), result("2")], 3, id="parallel calls, two results"),
        pytest.param([user("a" * 800), call("1"), result("1"), call("2"), result("2")], 4, id="two pairs"),
        pytest.param([user("a" * 800), call("1")], 1, id="a call whose result never came"),
        pytest.param([user("a" * 800), result("9"), user("b")], 2, id="a result whose call is gone stands alone"),
        pytest.param([user("a"), call("1"), result("1", text="b" * 8_000)], 2, id="the newest stays though too long"),
    ],
)
def test_tool_calls_are_never_cut_from_their_results(talk: list[Message], recent: int) -> None:
    assert compact(talk, 100).recent == tuple(talk[-recent:])


def test_an_earlier_summary_is_folded_into_the_next_one() -> None:
    talk = [user(f"Point {number}. " + "x" * 500) for number in range(6)]
    once = compact(talk, 600).messages()
    twice = compact([*once, user("And now this. " + "y" * 500)], 600).messages()
    text = twice[0]["content"]
    assert text.count("[Summary of earlier messages:") == 1
    replaced = 7 - len(twice) + 1
    assert text.startswith(f"[Summary of earlier messages: {replaced}]\nuser: Point 0.")


def test_an_extract_keeps_the_beginning_and_the_newest_and_marks_the_gap() -> None:
    talk = [user("Build the login page."), *[assistant(f"Step {number} is done.") for number in range(100)]]
    lines = extract(talk, 40).splitlines()
    assert lines[0] == "user: Build the login page."
    assert lines[1] == "…"
    assert lines[-1] == "assistant: Step 99 is done."


def test_an_extract_tells_of_tools_and_shortens_long_texts() -> None:
    text = extract([call("1"), result("1", text="line\n" * 200)], 200)
    assert text.splitlines()[1].startswith('tool call: bash {"command": "xxxx"}')
    assert text.splitlines()[2].startswith("tool result: line line")
    assert text.endswith("…")
    assert extract([], 10) == ""


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        pytest.param(user(""), 0, id="empty"),
        pytest.param(user("abcde"), 2, id="rounded up"),
        pytest.param(result("1", text="x" * 40), 10, id="a tool's result"),
        pytest.param(
            {"role": "user", "content": [{"type": "image", "source": {"data": "x" * 9_999}}]}, 1_600, id="an image"
        ),
        pytest.param(
            {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "x" * 8}]}]},
            2,
            id="a result in blocks",
        ),
        pytest.param(
            {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "image"}, {"type": "image"}]}]},
            3_200,
            id="screenshots as a result",
        ),
        pytest.param({"role": "user", "content": None}, 0, id="no content"),
        pytest.param({"role": "user", "content": [{"type": "document", "data": "x"}]}, 9, id="a block of another kind"),
    ],
)
def test_tokens_are_estimated_from_characters(message: dict[str, Any], tokens: int) -> None:
    assert message_tokens([message]) == tokens


@pytest.mark.parametrize(("limit", "down_to"), [(0, None), (100, 0)])
def test_a_limit_of_nothing_is_refused(limit: int, down_to: int | None) -> None:
    with pytest.raises(UsageError, match="cannot be cut"):
        compact([], limit, down_to=down_to)


turns = st.one_of(
    st.text(max_size=300).map(lambda text: [user(text)]),
    st.text(max_size=300).map(lambda text: [assistant(text)]),
    st.tuples(st.uuids().map(str), st.text(max_size=300)).map(lambda t: [call(t[0]), result(t[0], text=t[1])]),
)


@given(st.lists(turns, max_size=15), st.integers(1, 800), st.integers(1, 800))
def test_nothing_is_lost_split_or_longer_than_the_limit(groups: list[list[Message]], limit: int, aim: int) -> None:
    talk = [message for group in groups for message in group]
    cut = compact(talk, limit, down_to=aim)
    assert [*cut.older, *cut.recent] == talk
    assert bool(cut.recent) == bool(talk)
    assert {block.get("tool_use_id") for block in _of(cut.recent, "tool_result")} == {
        block.get("id") for block in _of(cut.recent, "tool_use")
    }
    sent = cut.messages()
    if message_tokens(talk) <= limit:
        assert sent == tuple(talk)
    elif cut.older and len(cut.recent) > len(groups[-1]):
        assert message_tokens(sent) <= max(min(limit, aim), message_tokens(cut.recent) + 9)


def _of(messages: tuple[Message, ...], kind: str) -> list[dict[str, Any]]:
    return [
        block
        for message in messages
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == kind
    ]


@pytest.mark.parametrize("content", [None, 7, {"type": "text"}, ["loose words"]])
def test_a_content_of_another_shape_breaks_nothing(content: Any) -> None:
    talk = [user("word " * 100), {"role": "assistant", "content": content}]
    assert compact(talk, limit=40).recent == (talk[1],)
