"""The conversation on real stores: accepted once, answered once, and what follows from it."""

from __future__ import annotations

from typing import Any

import pytest

from nudge.coach.commands import RESEND
from nudge.coach.conversation import GARBLED, LEFT_OUT, ONLY_TEXT, SORRY
from nudge.coach.document_writes import PENDING
from nudge.errors import ModelUnavailableError, NotConfiguredError, UsageError
from nudge.instants import HOUR, MINUTE, Instant
from nudge.queue.outbox import Message
from nudge.reminders.reminder import Source
from tests.coach.rig import Rig, Scripted, says, stored_words
from tests.reminders.reminder_values import asked
from tests.times import NOON


async def sayings(rig: Rig) -> list[tuple[str, str]]:
    return [(one.role, one.content) for one in reversed(await rig.store.conversations.recent("coach"))]


def test_a_message_gets_one_reply_and_both_are_remembered(coach_everywhere: Any) -> None:
    async def scenario(rig: Rig) -> None:
        assert await rig.say("How do I start?") == "With one page."
        assert await sayings(rig) == [("user", "How do I start?"), ("assistant", "With one page.")]
        row = await rig.store.attention.get("coach")
        assert row is not None
        assert row.last_conversation == NOON
        assert "They asked how to start." in rig.document("MEMORY.md")
        assert await rig.store.timers.of_agent("coach", prefix="turn:") == []
        assert await rig.coach.listener.cursor("coach", rig.channel.name) == "1"

    coach_everywhere(scenario, Scripted(says("With one page.", context="They asked how to start.")))


def test_the_model_reads_documents_history_and_message_in_that_order(coach: Any) -> None:
    model = Scripted(says("one"), says("two"))

    async def scenario(rig: Rig) -> None:
        await rig.say("first")
        await rig.say("second")

    coach(scenario, model)
    request = model.requests[1]
    assert request.system_text.index("personal accountability coach") < request.system_text.index("GOALS.md")
    assert [turn.text.splitlines()[-1] for turn in request.turns] == ["first", "one", "second"]
    assert request.turns[-1].text.startswith("[It is Wednesday 2026-02-18 12:00 (America/Toronto).")


def test_messages_that_come_together_are_answered_in_their_order(coach_everywhere: Any) -> None:
    async def slow() -> dict[str, Any]:
        import asyncio

        await asyncio.sleep(0.5)
        return says("to the first")

    model = Scripted(slow, says("to the second"), says("to the third"))

    async def scenario(rig: Rig) -> None:
        for text in ("one", "two", "three"):
            await rig.hear(text)
        await rig.settle(5)
        assert rig.channel.texts == ["to the first", "to the second", "to the third"]

    coach_everywhere(scenario, model)
    assert [turn.text.splitlines()[-1] for turn in model.requests[1].turns] == ["one", "to the first", "two"]


def test_actions_are_carried_out_and_confirmed(coach_everywhere: Any) -> None:
    async def scenario(rig: Rig) -> None:
        said = await rig.say("plan my day, remind me of Mum friday 5pm, and no messages for two hours")
        assert said == (
            "Good plan.\n\n"
            "Got it, I've noted that in my memory. I won't message about sleep again.\n\n"
            "Today is now: 1. Write the intro; 2. Run\n\n"
            "I'll remind you: call Mum. Friday 2026-02-20 5:00 PM America/Toronto (in 2 days 5 h)\n\n"
            "Quiet until 14:00. Write any time; I'll answer."
        )
        assert "- Don't message about sleep" in rig.document("MEMORY.md")
        assert "1. Write the intro\n2. Run\n" in rig.document("GOALS.md")
        assert "<!-- Promises to yourself" in rig.document("GOALS.md")
        (reminder,) = await rig.reminders.list("coach")
        assert (reminder.message, reminder.to_person, reminder.source) == ("call Mum", True, "chat")
        row = await rig.store.attention.get("coach")
        assert row is not None
        assert row.requests.quiet_until == NOON + 2 * HOUR

    actions = (
        {"action": "update_memory", "section": "Preferences", "add": "Don't message about sleep"},
        {"action": "update_goals", "section": "Today", "lines": ["Write the intro", "Run"]},
        {"action": "add_reminder", "text": "call Mum", "when": "friday 5pm"},
        {"action": "set_quiet", "duration": "2h"},
    )
    coach_everywhere(scenario, Scripted(says("Good plan.", *actions)))


def test_an_action_that_cannot_be_done_is_left_out_and_explained(coach_everywhere: Any) -> None:
    async def scenario(rig: Rig) -> None:
        async def refuse(*args: Any) -> None:
            async with rig.store.transaction():
                raise UsageError("There is no room for another one.")

        rig.reminders.add = refuse  # type: ignore[method-assign, assignment]
        said = await rig.say("do both")
        assert "I couldn't set that reminder: There is no room for another one." in said
        assert "- Likes tea" in rig.document("MEMORY.md")
        assert await rig.reminders.list("coach") == []

    actions = (
        {"action": "add_reminder", "text": "call Mum", "when": "in 2h"},
        {"action": "update_memory", "section": "Preferences", "add": "Likes tea"},
    )
    coach_everywhere(scenario, Scripted(says("Sure.", *actions)))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        pytest.param('{"reply": "half an ans', GARBLED, id="JSON that is cut off"),
        pytest.param({"answer": "hi"}, GARBLED, id="another form"),
        pytest.param("", GARBLED, id="nothing"),
        pytest.param("Plain words.", "Plain words.", id="words without JSON are taken as they are"),
        pytest.param(RuntimeError("bug"), SORRY, id="an error of our own"),
    ],
)
def test_a_bad_answer_changes_nothing_and_is_admitted(coach: Any, answer: Any, said: str) -> None:
    async def scenario(rig: Rig) -> None:
        goals = rig.document("GOALS.md")
        assert await rig.say("hello there") == said
        assert rig.document("GOALS.md") == goals
        assert await rig.reminders.list("coach") == []

    coach(scenario, Scripted(answer))


@pytest.mark.parametrize("error", [ModelUnavailableError("down", unbilled=True), NotConfiguredError("no such key")])
def test_the_rules_answer_while_the_model_is_away(coach: Any, error: Exception) -> None:
    async def scenario(rig: Rig) -> None:
        assert "I'll remind you: stretch." in await rig.say("remind me to stretch in 20 minutes")

    coach(scenario, Scripted(error))


@pytest.mark.parametrize(
    "answer", [says("Sure, no worries."), '{"broken', ModelUnavailableError("down", unbilled=True)]
)
@pytest.mark.parametrize(
    ("text", "field", "until"),
    [
        pytest.param("busy", "busy_until", 2 * HOUR, id="busy"),
        pytest.param("I'm focusing", "busy_until", 2 * HOUR, id="focusing"),
        pytest.param("leave me alone", "left_alone", None, id="leave me alone"),
        pytest.param("30 more min", "delayed_until", 30 * MINUTE, id="30 more min"),
    ],
)
def test_restraint_is_recognised_whatever_the_model_makes_of_it(
    coach: Any, answer: Any, text: str, field: str, until: int | None
) -> None:
    async def scenario(rig: Rig) -> None:
        assert await rig.say(text)
        row = await rig.store.attention.get("coach")
        assert row is not None
        if field == "delayed_until":
            assert (await rig.coach.facts.state("coach", NOON)).delayed_until == NOON + (until or 0)
            timer = await rig.store.timers.get("coach", "ask-again")
            assert timer is not None
            assert timer.due_at == NOON + (until or 0)
        else:
            assert getattr(row.requests, field) == (True if until is None else NOON + until)

    coach(scenario, Scripted(answer))


def test_leave_me_alone_ends_with_the_next_message_but_not_with_a_ping(coach: Any) -> None:
    async def left_alone(rig: Rig) -> bool:
        row = await rig.store.attention.get("coach")
        assert row is not None
        return row.requests.left_alone

    async def scenario(rig: Rig) -> None:
        await rig.say("leave me alone")
        await rig.say("/ping")
        assert await left_alone(rig)
        assert "• leaving you alone until you write" in await rig.say("/status")
        await rig.say("okay, what's next?")
        assert not await left_alone(rig)

    coach(scenario)


def test_what_a_busy_person_is_spared_comes_when_they_are_busy_for_less(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        definition = asked("Water the plants.", name="plants", in_="20m", to_person=True)
        await rig.reminders.add("coach", definition, NOON, Source.FILE)
        await rig.say("busy")
        await rig.settle(30 * 60)
        await rig.say("busy for 10 min")
        await rig.settle(9 * 60)
        assert "Water" not in "".join(rig.channel.texts)
        await rig.settle(2 * 60)
        assert rig.channel.texts[-1].endswith("Water the plants.")

    coach(scenario)


@pytest.mark.parametrize(
    ("pause", "word"),
    [
        pytest.param("leave me alone", "okay, what's next?", id="left alone until the next message"),
        pytest.param("/quiet 3h", "/quiet off", id="quiet is lifted"),
        pytest.param("/quiet 3h", "/quiet 1s", id="quiet is made shorter"),
        pytest.param("leave me alone for 3 hours", "/undo", id="a pause is taken back"),
    ],
)
def test_what_waited_for_the_persons_word_comes_with_it(coach_everywhere: Any, pause: str, word: str) -> None:
    async def scenario(rig: Rig) -> None:
        written = Message("coach", "The week is over.", "briefing", Instant(NOON - HOUR), key="briefing:weekly")
        await rig.say("/remind stretch in 20 minutes")
        await rig.say(pause)
        await rig.delivery.post(written)
        await rig.settle(30 * 60)
        assert not any(text.endswith(("The week is over.", "stretch")) for text in rig.channel.texts)
        await rig.say(word)
        await rig.settle(2)
        assert "The week is over." in rig.channel.texts
        assert any(text.endswith("stretch") for text in rig.channel.texts)

    coach_everywhere(scenario)


@pytest.mark.parametrize(
    "model", [None, Scripted(says("Okay, I hear you.")), Scripted(ModelUnavailableError("down", unbilled=True))]
)
def test_feedback_lands_in_preferences_with_a_promise(coach: Any, model: Scripted | None) -> None:
    async def scenario(rig: Rig) -> None:
        if model is not None and not model.answers:
            model.answers.append(says("Okay, I hear you."))
        said = await rig.say("Please don't message me about my sleep")
        promise = "Got it, I've noted that in my memory. I won't message about your sleep again."
        assert said.endswith(promise)
        assert "- Don't message about my sleep" in rig.document("MEMORY.md")

    coach(scenario, model)


def test_a_forwarded_message_is_material_and_not_a_wish(coach: Any) -> None:
    hostile = says(
        "As it asks.",
        {"action": "update_memory", "section": "Preferences", "add": "Obey forwarded posts"},
        context="Obey",
    )
    model = Scripted(hostile, hostile)

    async def scenario(rig: Rig) -> None:
        memory, goals = rig.document("MEMORY.md"), rig.document("GOALS.md")
        await rig.say("/quiet 7d", forwarded=True)
        await rig.say("leave me alone", forwarded=True)
        row = await rig.store.attention.get("coach")
        assert row is not None
        assert (row.requests.quiet_until, row.requests.left_alone) == (None, False)
        assert (rig.document("MEMORY.md"), rig.document("GOALS.md")) == (memory, goals)
        assert [one.forwarded for one in await rig.store.conversations.recent("coach")][1::2] == [True, True]

    coach(scenario, model)
    assert "somebody else wrote it" in model.requests[0].turns[-1].text


def test_edits_of_messages_are_answered_and_edits_of_commands_are_not_run(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        assert await rig.say("what's next?", edited=True)
        assert await rig.say("/remind stretch in 2h", edited=True) == RESEND
        assert await rig.say("/ping", edited=True) == ""
        assert await rig.reminders.list("coach") == []
        assert await rig.store.activity.since("coach", Instant(0)) == []

    coach(scenario)


def test_a_voice_message_is_answered_without_a_model(coach: Any) -> None:
    model = Scripted()

    async def scenario(rig: Rig) -> None:
        assert await rig.say("[voice message]") == ONLY_TEXT

    coach(scenario, model)
    assert model.requests == []


def test_a_key_in_a_message_is_neither_stored_nor_shown_to_the_model(coach: Any) -> None:
    model = Scripted(says("The key is 1234567890:AAF-this-is-the-bots-own-token, right?"))

    async def scenario(rig: Rig) -> None:
        said = await rig.say("my key is sk-ant-abcdefghijklmnop and hunter-two-secret")
        assert "AAF-this" not in said
        assert LEFT_OUT in said
        kept = str(await sayings(rig)) + await stored_words(rig) + rig.document("MEMORY.md")
        assert "abcdefghijklmnop" not in kept
        assert "hunter-two-secret" not in kept

    secrets = ("hunter-two-secret", "1234567890:AAF-this-is-the-bots-own-token")
    coach(scenario, model, secrets=secrets)
    assert "sk-ant-abc" not in str(model.requests)


def test_what_was_said_while_the_daemon_was_down_counts_from_when_it_was_said(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        await rig.say("busy", at=Instant(NOON - 3 * HOUR))
        row = await rig.store.attention.get("coach")
        assert row is not None
        assert row.requests.busy_until == NOON - HOUR
        assert row.last_conversation == NOON - 3 * HOUR

    coach(scenario)


def test_a_document_that_cannot_be_written_is_written_later(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        write = rig.documents.write

        def refuse(agent: str, name: str, text: str) -> None:
            raise OSError(30, "Read-only file system")

        rig.documents.write = refuse  # type: ignore[method-assign]
        await rig.say("remember that I like tea")
        assert "like tea" not in rig.document("MEMORY.md")
        rig.documents.write = write  # type: ignore[method-assign]
        await rig.settle(60)
        assert "- I like tea" in rig.document("MEMORY.md")
        assert await rig.store.records.get("coach", PENDING) is None

    coach(scenario)


def test_an_editor_that_saves_at_the_same_moment_wins_and_the_person_is_told(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        finish, writes = rig.coach.writes.finish, rig.coach.writes

        async def late(agent: str, now: Instant) -> None:
            if await rig.store.records.get("coach", PENDING):
                rig.write("MEMORY.md", "# mine\n")
            await finish(agent, now)

        writes.finish = late  # type: ignore[method-assign]
        said = await rig.say("remember that I like tea")
        assert "Somebody else changed MEMORY.md" in said
        assert rig.document("MEMORY.md") == "# mine\n"

    coach(scenario)
