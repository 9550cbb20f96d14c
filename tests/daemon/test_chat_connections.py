"""Talking to the daemon from another terminal: where answers go, and what a client is told."""

from __future__ import annotations

import io
from typing import Any, cast

import pytest

from nudge.channels.terminal_prompt import Prompt
from nudge.daemon.assemble import Daemon
from nudge.daemon.chat_connections import LONGEST_LINE, ChatAwareChannel, ChatEndpoints
from nudge.queue.channel import Outbound, Receipt
from nudge.queue.outbox import Message
from tests.coach.rig import Rig
from tests.times import NOON


def endpoints_of(rig: Rig) -> ChatEndpoints:
    return ChatEndpoints(cast(Daemon, rig), "coach", ChatAwareChannel(rig.channel, rig.store, rig.clock))


def test_a_line_is_heard_and_its_answer_comes_back(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        endpoints = endpoints_of(rig)
        start = await endpoints.heard({})
        assert (start["last"], start["messages"]) == (0, [])
        assert await endpoints.chat({"text": "what's next?"}) == {"ok": True}
        assert (await endpoints.heard({"after": 0}))["busy"]
        await rig.settle()
        heard = await endpoints.heard({"after": 0, "wait": 5})
        assert not heard["busy"]
        (message,) = heard["messages"]
        assert message["at"].startswith("2026-02-18T12:00:00")
        assert "Nothing is on the lists" in message["text"]
        assert (await endpoints.heard({"after": heard["last"]}))["messages"] == []

    coach(scenario)


@pytest.mark.parametrize("text", [None, "", "  \n", 7, "x" * (LONGEST_LINE + 1)])
def test_what_is_no_line_is_refused(coach: Any, text: Any) -> None:
    async def scenario(rig: Rig) -> None:
        assert "error" in await endpoints_of(rig).chat({"text": text})
        assert await rig.store.conversations.recent("coach") == []

    coach(scenario)


def test_waiting_ends_when_something_is_said_or_the_time_is_over(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        endpoints = endpoints_of(rig)
        before = rig.clock.now()
        assert (await endpoints.heard({"after": 0, "wait": 3}))["messages"] == []
        assert 3_000_000 <= rig.clock.now() - before < 4_000_000

    coach(scenario)


@pytest.mark.parametrize(
    ("typed", "listening", "on_channel"),
    [
        pytest.param(True, True, False, id="typed here, somebody listens: here alone"),
        pytest.param(True, False, True, id="typed here, the terminal is gone: on the channel"),
        pytest.param(False, True, True, id="written on the channel: on the channel"),
    ],
)
def test_an_answer_goes_where_the_question_came_from(
    coach: Any, typed: bool, listening: bool, on_channel: bool
) -> None:
    async def scenario(rig: Rig) -> None:
        channel = ChatAwareChannel(rig.channel, rig.store, rig.clock)
        channel.listened()
        if not listening:
            await rig.clock.sleep(11)
        number = await rig.store.outbox.put(Message("coach", "hi", "reply", NOON, typed=typed))
        assert isinstance(await channel.send(Outbound(number, "hi")), Receipt)
        assert rig.channel.texts == (["hi"] if on_channel else [])
        shown = (await ChatEndpoints(cast(Daemon, rig), "coach", channel).heard({"after": 0}))["messages"]
        assert len(shown) == typed

    coach(scenario)


def test_a_reminder_is_shown_in_the_terminal_and_sent_on_the_channel(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        channel = ChatAwareChannel(rig.channel, rig.store, rig.clock)
        channel.listened()
        buttons = (("Done", "done:r-aaaaaa"),)
        number = await rig.store.outbox.put(Message("coach", "stretch", "reminder", NOON, buttons=buttons))
        await channel.send(Outbound(number, "stretch"))
        assert rig.channel.texts == ["stretch"]
        (shown,) = (await ChatEndpoints(cast(Daemon, rig), "coach", channel).heard({"after": 0}))["messages"]
        assert shown["buttons"] == [["Done", "done:r-aaaaaa"]]

    coach(scenario)


def test_a_prompt_that_is_no_terminal_reads_lines_and_shows_no_sign() -> None:
    out = io.StringIO()
    prompt = Prompt(io.StringIO("one\r\ntwo"), out, colour=True)
    assert [prompt.read(), prompt.read(), prompt.read()] == ["one", "two", None]
    prompt.write("said\n")
    prompt.close()
    assert out.getvalue() == "said\n"
