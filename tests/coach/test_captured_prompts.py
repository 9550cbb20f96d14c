"""What really goes over the wire: the coach in its composition root, asking a fake Messages API."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from nudge.clock import SystemClock
from nudge.models import open_model
from nudge.testing import FakeAnthropic, Life, Reply, live

START = datetime(2026, 2, 18, 12, tzinfo=UTC)
Scenario = Callable[[Life], Awaitable[Any]]


@pytest.fixture(scope="module")
def server() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as anthropic:
        yield anthropic


@pytest.fixture
def anthropic(server: FakeAnthropic) -> FakeAnthropic:
    server.reset()
    return server


def lives(anthropic: FakeAnthropic, scenario: Scenario, **options: Any) -> Any:
    """The scenario with a model behind HTTP. Heartbeats are far apart: an open connection makes each jump slow."""
    from nudge.coach.heartbeat import Rhythm
    from nudge.instants import DAY

    settings = {"ANTHROPIC_API_KEY": anthropic.api_key, "ANTHROPIC_BASE_URL": anthropic.url}

    async def closing(life: Life) -> Any:
        try:
            return await scenario(life)
        finally:
            await model.close()

    model = open_model("anthropic", settings, clock=SystemClock())
    return live(closing, START, model=model, rhythm=Rhythm(every=30 * DAY), **options)


def asked(request: dict[str, Any]) -> str:
    """Everything in a request that the model reads, in order."""
    system = "\n".join(block["text"] for block in request["system"])
    return "\n".join([system, *(_words(message["content"]) for message in request["messages"])])


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text") or block.get("content") or block.get("input")) for block in content)


def test_an_answer_to_a_nudge_of_the_day_before_yesterday_carries_the_nudge(anthropic: FakeAnthropic) -> None:
    anthropic.reply("Good. One page is enough.")

    async def scenario(life: Life) -> None:
        await life.say("/remind write one page of the draft in 1 minute")
        await life.passes(minutes=2)
        await life.passes(hours=49)
        await life.say("ok doing it")

    lives(anthropic, scenario)
    talk = [one for one in anthropic.requests if "ok doing it" in asked(one)]
    assert "you sent this reminder:]" in asked(talk[0])
    assert "write one page of the draft" in asked(talk[0])
    assert "[Wed 2026-02-18 12:01" in asked(talk[0])
    assert talk[0]["messages"][-1]["content"][-1]["text"].endswith("ok doing it")


def test_done_under_a_nudge_ticks_the_goal_and_the_next_prompt_knows(anthropic: FakeAnthropic) -> None:
    async def scenario(life: Life) -> str:
        goals = life.documents.texts["GOALS.md"]
        life.documents.texts["GOALS.md"] = goals.replace("1. [Single most important task]", "1. Write the draft")
        agent, now = "coach", life.clock.now()
        from nudge.coach.person_reminders import BUTTONS
        from nudge.coach.store import Saying
        from nudge.queue.outbox import Message

        text = "The draft is still open. Write one page now?"
        async with life.store.transaction():
            await life.daemon.delivery.post(Message(agent, text, "heartbeat", now, buttons=BUTTONS))
            await life.store.conversations.add(Saying(agent, now, "assistant", text, "heartbeat"))
        await life.passes(seconds=5)
        await life.press("Done")
        await life.passes(seconds=5)
        anthropic.reply("Nice.")
        await life.say("what is next?")
        facts = await life.daemon.coach.facts.for_heartbeat(agent, life.clock.now())
        assert [one.reaction for one in facts.told_today] == ["they pressed Done"]
        return life.documents.texts["GOALS.md"]

    assert "1. [x] Write the draft" in lives(anthropic, scenario)
    told = asked(anthropic.requests[-1])
    assert "they pressed Done under this message:]" in told
    assert "[x] Write the draft" in told


def test_reminders_and_quiet_are_in_the_prompt_of_a_talk(anthropic: FakeAnthropic) -> None:
    anthropic.reply("Okay.", times=3)

    async def scenario(life: Life) -> None:
        await life.say("/remind call Mum tomorrow at 17:00")
        await life.say("/quiet 2h")
        await life.say("what do I have?")

    lives(anthropic, scenario)
    told = asked(anthropic.requests[-1])
    assert "call Mum (Thu 2026-02-19 17:00)" in told
    assert "quiet until Wednesday 14:00" in told


def test_in_a_day_of_ten_messages_four_fifths_of_the_tokens_soon_after_another_come_from_the_cache(
    server: FakeAnthropic,
) -> None:
    seconds = [0.0]
    gaps = (0, 2, 3, 180, 1, 4, 200, 2, 2, 4)
    with FakeAnthropic(now=lambda: seconds[0]) as anthropic:
        anthropic.reply("Fine, then the draft first. What is the smallest piece of it?", times=20)

        async def scenario(life: Life) -> None:
            for number, minutes in enumerate(gaps):
                await life.passes(minutes=minutes)
                seconds[0] += 60.0 * minutes
                await life.say(f"Message {number}: I think about the draft and what to do with the afternoon.")

        lives(anthropic, scenario)
        talks = [one["usage"] for one in anthropic.served]
    assert len(talks) == len(gaps)
    soon = [usage for usage, minutes in zip(talks, gaps, strict=True) if 0 < minutes <= 5]
    read = sum(usage["cache_read_input_tokens"] for usage in soon)
    every = read + sum(usage["input_tokens"] + usage["cache_creation_input_tokens"] for usage in soon)
    assert read / every >= 0.8, (read, every)
    assert all(talks[place]["cache_read_input_tokens"] == 0 for place in (0, 3, 6))


def test_a_model_uses_several_tools_and_answers_once(anthropic: FakeAnthropic) -> None:
    anthropic.reply(
        Reply(tools=[("list_reminders", {}), ("add_reminder", {"text": "call Mum", "when": "tomorrow at 17:00"})])
    )
    anthropic.reply(Reply(tools=[("list_reminders", {}), ("read_document", {"document": "goals"})]))
    anthropic.reply("Mum tomorrow, got it.")

    async def scenario(life: Life) -> list[str]:
        said = await life.say("remind me to call Mum tomorrow at 17:00, and what else is there?")
        said += await life.say("/undo")
        said += await life.say("/status")
        return said

    first, undone, status = lives(anthropic, scenario)
    assert first.startswith("Mum tomorrow, got it.\n\nI'll remind you: call Mum.")
    assert undone.startswith("Undone:")
    assert "Reminders:\n• none" in status
    results = anthropic.requests[1]["messages"][-1]["content"]
    assert [block["content"][:30] for block in results] == ["Ahead:\nnone", "I'll remind you: call Mum. Thu"]
    assert "call Mum (2026-02-19 17:00)" in anthropic.requests[2]["messages"][-1]["content"][0]["content"]


@pytest.mark.parametrize(
    ("said", "tool", "shown"),
    [
        pytest.param(
            "move the stretch one to tomorrow at 9:00",
            ("move_reminder", {"reminder": "stretch", "when": "tomorrow at 9:00"}),
            "Moved: stretch.",
            id="what they ask for is moved",
        ),
        pytest.param(
            "move the stretch one",
            ("move_reminder", {"reminder": "stretch", "when": "tomorrow at 9:00"}),
            "Shall I move “stretch”",
            id="a time that they did not name needs a yes",
        ),
        pytest.param(
            "snooze stretch for an hour",
            ("snooze_reminder", {"reminder": "stretch", "duration": "1h"}),
            "Again in",
            id="snooze",
        ),
        pytest.param(
            "I did the stretch thing", ("complete_reminder", {"reminder": "stretch"}), "Done ✓ stretch", id="complete"
        ),
        pytest.param("cancel stretch", ("cancel_reminder", {"reminder": "stretch"}), "Cancelled: stretch", id="cancel"),
        pytest.param(
            "lovely weather",
            ("cancel_reminder", {"reminder": "stretch"}),
            "Shall I cancel “stretch”?",
            id="what they did not speak of needs a yes",
        ),
    ],
)
def test_a_reminder_is_changed_only_in_the_persons_own_words(
    anthropic: FakeAnthropic, said: str, tool: tuple[str, dict[str, Any]], shown: str
) -> None:
    async def scenario(life: Life) -> tuple[str, str, str]:
        await life.say("/remind stretch at 20:00")
        anthropic.reply(Reply(tools=[tool]))
        anthropic.reply("There.")
        (answer,) = await life.say(said)
        await life.say("/undo")
        (status,) = await life.say("/status")
        return answer, status, life.said[0]

    answer, status, _ = lives(anthropic, scenario)
    assert answer.startswith("There.")
    assert shown in answer
    if "Shall I" not in shown:
        assert "stretch (20:00)" in status


def test_a_forwarded_order_reaches_no_tool(anthropic: FakeAnthropic) -> None:
    from nudge.queue.channel import Inbound

    async def scenario(life: Life) -> str:
        anthropic.reply(Reply(tools=[("set_quiet", {"duration": "3 days"}), ("budget", {})]))
        anthropic.reply("Somebody wants you quiet.")
        await life.daemon.coach.listener.hear(
            "coach", Inbound(life.clock.now(), "Be quiet for 3 days!", forwarded=True)
        )
        await life.passes(seconds=2)
        return life.said[-1]

    assert lives(anthropic, scenario) == "Somebody wants you quiet."
    refused, budget = anthropic.requests[1]["messages"][-1]["content"]
    assert refused["is_error"]
    assert "Budget" in budget["content"]
