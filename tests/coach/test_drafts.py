"""An answer while it is written: who sees it, what of it, and how soon."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from nudge.coach.drafts import Drafts
from nudge.model import ModelReply, ModelRequest, StreamEvent, Text, TextDelta, ToolUse
from nudge.testing import Life, live

START = datetime(2026, 2, 18, 12, tzinfo=UTC)


def written(*pieces: str, secrets: tuple[str, ...] = ()) -> list[str]:
    drafts, seen = Drafts(secrets), list[str]()
    drafts.watch(lambda agent, text: seen.append(text))
    writer = drafts.writer("coach")
    assert writer is not None
    writer.begin()
    for piece in pieces:
        writer.add(piece)
    return seen


@pytest.mark.parametrize(
    ("pieces", "seen"),
    [
        pytest.param(["He", "llo ", "the", "re. ", "x"], ["Hello ", "Hello there. "], id="whole words as they come"),
        pytest.param(['{"reply": ', '"a b c"}'], [], id="an answer in a form is not shown"),
        pytest.param(["The key is hunter2", "hunter2 ok ", "fine "], ["The key is […] ok "], id="secrets stay out"),
    ],
)
def test_what_is_shown(pieces: list[str], seen: list[str]) -> None:
    shown = written(*pieces, secrets=("hunter2hunter2",))
    assert not any("hunter2" in text for text in shown)
    if "key" not in pieces[0]:
        assert shown == seen


class Streaming:
    """A model that looks something up, then answers word by word. `seen` is what a watcher saw before each event."""

    name = "streaming"

    def __init__(self, *replies: list[StreamEvent]) -> None:
        self.replies = list(replies)

    async def complete(self, request: ModelRequest) -> ModelReply:
        async for event in self.stream(request):
            if isinstance(event, ModelReply):
                return event
        raise AssertionError

    async def stream(self, request: ModelRequest) -> Any:
        for event in self.replies.pop(0):
            await asyncio.sleep(0.1)
            yield event

    async def close(self) -> None:
        return None


def test_an_answer_after_a_tool_is_shown_word_by_word_and_then_sent_once() -> None:
    use = ToolUse("t1", "list_reminders", {})
    said = "Nothing is set. What matters today?"
    model = Streaming(
        [use, ModelReply((use,), "m")],
        [
            TextDelta("Nothing is "),
            TextDelta("set. "),
            TextDelta("What matters today?"),
            ModelReply((Text(said),), "m"),
        ],
    )
    seen: list[str] = []

    async def scenario(life: Life) -> list[str]:
        life.daemon.coach.drafts.watch(lambda agent, text: seen.append(text))
        answer = await life.say("what do I have?")
        assert life.daemon.coach.drafts.of("coach") == ""
        return answer

    assert live(scenario, START, model=model) == [said]
    assert seen == ["Nothing is ", "Nothing is set. ", "Nothing is set. What matters "]


def test_nobody_streams_what_nobody_watches() -> None:
    drafts = Drafts()
    drafts.watch(lambda agent, text: None, only_if=lambda: False)
    assert drafts.writer("coach") is None
