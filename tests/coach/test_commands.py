"""Commands and buttons: what each answers, what it changes, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest

from nudge.coach.commands import read_command
from nudge.coach.housekeeping import SIGNAL_ASKED
from nudge.coach.person_reminders import OLD
from nudge.errors import NudgeError
from nudge.instants import DAY, HOUR, MINUTE, Instant
from nudge.queue.channel import Inbound
from nudge.queue.outbox import Sending
from nudge.queue.outcomes import Outcome, Result
from nudge.reminders.reminder import Status
from tests.coach.rig import Rig, Scripted
from tests.times import NOON


@pytest.mark.parametrize(
    ("text", "read"),
    [
        pytest.param("/status", ("status", ""), id="alone"),
        pytest.param("/remind call Mum by Friday", ("remind", "call Mum by Friday"), id="with words"),
        pytest.param("/ping_budget 5", ("ping-budget", "5"), id="Telegram knows no hyphen"),
        pytest.param("/ping-budget 5", ("ping-budget", "5"), id="a terminal does"),
        pytest.param("/STATUS@my_bot", ("status", ""), id="addressed, in capitals"),
        pytest.param("/quiet\n2h", ("quiet", "2h"), id="on two lines"),
        pytest.param("/etc/passwd", None, id="a path is none"),
        pytest.param("/ hello", None, id="a slash is none"),
        pytest.param("and/or", None, id="nor is a slash inside"),
    ],
)
def test_reading_a_command(text: str, read: tuple[str, str] | None) -> None:
    assert read_command(text) == read


def test_ping_is_silent_and_not_part_of_the_conversation(coach_everywhere: Any) -> None:
    async def scenario(rig: Rig) -> None:
        await rig.store.records.set("coach", SIGNAL_ASKED, Instant(1))
        assert await rig.say("/ping") == ""
        assert await rig.store.activity.since("coach", Instant(0)) == [NOON]
        assert await rig.store.conversations.recent("coach") == []
        row = await rig.store.attention.get("coach")
        assert row is not None
        assert (row.last_activity, row.last_conversation) == (NOON, None)
        assert await rig.store.records.get("coach", SIGNAL_ASKED) is None
        timer = await rig.store.timers.get("coach", "activity-check")
        assert timer is not None
        assert timer.due_at == NOON + DAY

    coach_everywhere(scenario)


def test_status_shows_five_decisions_the_state_and_the_reminders(coach_everywhere: Any) -> None:
    async def scenario(rig: Rig) -> None:
        for number in range(7):
            at = Instant(NOON - (7 - number) * 45 * MINUTE)
            reason = f"reason {number}"
            await rig.store.outcomes.record(Outcome("coach", "heartbeat", "heartbeat", at, at, Result.SKIPPED, reason))
        await rig.say("/remind call Mum by friday 5pm")
        await rig.say("/quiet 2h")
        said = await rig.say("/status")
        assert [f"reason {number}" in said for number in range(7)] == [False, False, True, True, True, True, True]
        assert "• 11:15 skipped: reason 6" in said
        assert "quiet until 14:00" in said
        assert "• call Mum (Fri 17:00) [r-" in said

    coach_everywhere(scenario)


def test_status_of_a_new_coach_says_so(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        said = await rig.say("/status")
        assert "none yet" in said
        assert "last phone activity: never" in said
        assert said.endswith("Reminders:\n• none")

    coach(scenario)


def test_why_explains_the_last_decisions_or_those_of_one_reminder(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        assert await rig.say("/why") == "Nothing has been due yet."
        rows = (("heartbeat", Result.SUPPRESSED, "It was quiet."), ("reminder:r-aaaaaa", Result.FIRED, ""))
        for key, result, reason in rows:
            await rig.store.outcomes.record(Outcome("coach", key, "x", NOON, NOON, result, reason))
        assert (await rig.say("/why")).splitlines() == [
            "• 12:00 reminder:r-aaaaaa, fired: It fired on time.",
            "• 12:00 heartbeat, suppressed: It was quiet.",
        ]
        assert (await rig.say("/why 1")).count("•") == 1
        assert "heartbeat" not in await rig.say("/why r-aaaaaa")
        assert "r-zzzzzz" in await rig.say("/why r-zzzzzz")

    coach(scenario)


def test_goals_shows_the_document_without_its_comments(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        said = await rig.say("/goals")
        assert said.startswith("# Goals")
        assert "## Schedule Targets" in said
        assert "<!--" not in said

    coach(scenario)


def test_a_reminder_is_taken_away_by_its_words_or_its_id(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        assert await rig.say("/cancel pills") == "I couldn't find a reminder like “pills”."
        for what in ("take the pills every day at 8am", "call Mum tomorrow at 5pm", "call the bank tomorrow at 6pm"):
            await rig.say(f"/remind {what}")
        assert await rig.say("/cancel pills") == "Cancelled: take the pills. “undo” takes it back."
        which = await rig.say("/cancel call")
        assert [line[: line.index(" (")] for line in which.splitlines()[1:]] == ["• call Mum", "• call the bank"]
        assert (await rig.say("/cancel")).startswith("Which one?")
        assert "couldn't find" in await rig.say("/cancel the gym")
        mum, bank = (one.id for one in await rig.coach.reminders.active("coach", 5))
        assert await rig.say(f"/cancel {bank}") == "Cancelled: call the bank. “undo” takes it back."
        assert mum in await rig.say("/status")
        assert bank not in await rig.say("/status")
        assert "couldn't find" in await rig.say("/done r-zzzzzz")

    coach(scenario)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("/remind call Mum by Friday 5pm", "I'll remind you: call Mum. Friday 2026-02-20 5:00 PM", id="by"),
        pytest.param("/remind stretch in 20 minutes", "(in 20 min)", id="in"),
        pytest.param("/remind water the plants every monday at 9", "every Monday at 9:00 AM", id="every"),
        pytest.param("/remind", "For example: /remind call Mum by Friday 5pm", id="nothing"),
        pytest.param("/remind call Mum", "When?", id="no time"),
        pytest.param("/remind tell {who} in 2h", "I'll remind you: tell {who}.", id="words in braces are words"),
    ],
)
def test_remind(coach: Any, text: str, says: str) -> None:
    async def scenario(rig: Rig) -> None:
        said = await rig.say(text)
        assert says in said
        assert len(await rig.reminders.list("coach")) == said.startswith("I'll remind you")
        assert await rig.coach.listener.cursor("coach", rig.channel.name) == "1"

    coach(scenario)


@pytest.mark.parametrize(
    ("words", "until", "says"),
    [
        pytest.param("3h", 3 * HOUR, "Quiet until 15:00", id="a duration"),
        pytest.param("until 5pm", 5 * HOUR, "Quiet until 17:00", id="until a time"),
        pytest.param("", 2 * HOUR, "Quiet until 14:00", id="two hours unless said"),
        pytest.param("off", None, "Quiet is over", id="off"),
        pytest.param("2 years", None, "a week at most", id="too long"),
        pytest.param("banana", None, "I couldn't set that", id="no duration"),
    ],
)
def test_quiet(coach: Any, words: str, until: int | None, says: str) -> None:
    async def scenario(rig: Rig) -> None:
        assert says in await rig.say(f"/quiet {words}")
        row = await rig.store.attention.get("coach")
        assert row is not None
        assert row.requests.quiet_until == (None if until is None else NOON + until)

    coach(scenario)


def test_quiet_off_lifts_every_pause(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        await rig.say("busy")
        await rig.say("leave me alone")
        await rig.say("/quiet off")
        row = await rig.store.attention.get("coach")
        assert row is not None
        assert (row.requests.quiet_until, row.requests.busy_until, row.requests.left_alone) == (None, None, False)

    coach(scenario)


@pytest.mark.parametrize("spelling", ["/ping-budget", "/ping_budget"])
def test_the_ping_budget_is_shown_and_set(coach: Any, spelling: str) -> None:
    async def scenario(rig: Rig) -> None:
        assert "5/5 available (refills 1 every 90 min)" in await rig.say(spelling)
        assert "3/3 available (refills 1 every 60 min)" in await rig.say(f"{spelling} 3 60")
        for wrong in ("0", "x", "1 2 3", "-1", "99999999999"):
            assert "Use /ping-budget" in await rig.say(f"{spelling} {wrong}")
        assert "3/3" in await rig.say(spelling)

    coach(scenario)


def test_budget_without_a_model_has_nothing_to_spend(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        assert "nothing to spend" in await rig.say("/budget")

    coach(scenario)


@pytest.mark.parametrize("text", ["/help", "/nonsense", "/HELP"])
def test_help_lists_every_command_and_an_unknown_one_leads_there(coach: Any, text: str) -> None:
    async def scenario(rig: Rig) -> None:
        said = await rig.say(text)
        for name, _ in rig.coach.menu:
            assert f"/{name}" in said
        assert ("I don't know /nonsense" in said) == (text == "/nonsense")

    coach(scenario)


class History:
    """A git that says what it was asked."""

    def __init__(self, error: NudgeError | None = None) -> None:
        self.error = error
        self.commits = 0

    async def commit(self, agent: str) -> str | None:
        self.commits += 1
        return None

    async def pull(self, agent: str) -> str:
        if self.error:
            raise self.error
        return f"Pulled for {agent}."

    async def pull_if_clean(self, agent: str) -> str | None:
        return None

    async def push(self, agent: str) -> str:
        return f"Pushed for {agent}."


def test_sync_pulls_and_pushes_and_says_what_went_wrong(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        assert await rig.say("/sync") == "Pulled for coach."
        assert await rig.say("/sync push") == "Pushed for coach."
        assert "Use /sync" in await rig.say("/sync sideways")

    coach(scenario, history=History())

    async def failing(rig: Rig) -> None:
        assert await rig.say("/sync") == "A conflict in GOALS.md. Mend it there."

    coach(failing, history=History(NudgeError("A conflict in GOALS.md.", next_step="Mend it there.")))

    async def without(rig: Rig) -> None:
        assert "git init" in await rig.say("/sync")

    coach(without)


def test_commands_cost_no_model_call(coach: Any) -> None:
    model = Scripted()

    async def scenario(rig: Rig) -> None:
        for name, _ in rig.coach.menu:
            await rig.say(f"/{name}")

    coach(scenario, model)
    assert model.requests == []


# Buttons


async def reminded(rig: Rig, text: str = "/remind stretch in 20 minutes") -> tuple[str, str]:
    """A reminder that was delivered: its id, and the channel's id of its message."""
    await rig.say(text)
    await rig.settle(25 * 60)
    message = rig.channel.sent[-1]
    assert [button.label for button in message.buttons] == ["Done", "Snooze 30 min", "Skip"]
    return message.buttons[0].data.removeprefix("done:"), f"m{message.id}"


@pytest.mark.parametrize(
    ("data", "ack", "status", "next_in"),
    [
        pytest.param("done:{id}", "Done ✓ stretch", Status.COMPLETED, None, id="done"),
        pytest.param("skip:{id}", "Skipped: stretch", Status.COMPLETED, None, id="skip"),
        pytest.param("snooze:{id}:30m", "Again in 30m: stretch", Status.ACTIVE, 30 * MINUTE, id="snooze"),
    ],
)
def test_a_pressed_button_does_what_it_says(
    coach_everywhere: Any, data: str, ack: str, status: Status, next_in: int | None
) -> None:
    async def scenario(rig: Rig) -> None:
        number, message = await reminded(rig)
        now = rig.clock.now()
        assert await rig.hear(button=data.format(id=number), message_id=message, callback_id="c") == ack
        assert (await rig.reminders.get(number)).status is status
        timer = await rig.store.timers.get("coach", f"reminder:{number}")
        assert (timer.due_at - now if timer else None) == next_in
        row = await rig.store.attention.get("coach")
        assert row is not None
        assert row.last_activity == now

    coach_everywhere(scenario)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param("done:{id}", "m999", id="an unknown message"),
        pytest.param("done:{id}", None, id="no message at all"),
        pytest.param("done:r-zzzzzz", "{message}", id="a reminder that was not offered there"),
        pytest.param("snooze:{id}:9999d", "{message}", id="a length that was not offered"),
        pytest.param("done:{id};rm -rf /", "{message}", id="words behind it"),
        pytest.param("run:{id}", "{message}", id="another verb"),
        pytest.param("", "{message}", id="nothing"),
    ],
)
def test_a_button_that_was_not_offered_does_nothing(coach: Any, data: str, message: str | None) -> None:
    async def scenario(rig: Rig) -> None:
        number, carrier = await reminded(rig)
        before = await rig.reminders.get(number)
        named = message.format(message=carrier) if message else None
        pressed = Inbound(
            rig.clock.now(), "", data.format(id=number), named, callback_id="c", id="press", cursor="behind it"
        )
        assert await rig.coach.listener.hear("coach", pressed, channel="here") == OLD
        assert await rig.coach.listener.cursor("coach", "here") == "behind it"
        assert await rig.reminders.get(number) == before

    coach(scenario)


def test_a_button_works_before_the_sending_of_its_message_was_confirmed(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        number, _ = await reminded(rig)
        (reminder,) = [one for one in await rig.store.outbox.recent("coach") if one.kind == "reminder"]
        await rig.store.outbox.mark(reminder.id, Sending.SENDING)
        ack = await rig.hear(button=f"done:{number}", message_id="not-known-yet", callback_id="c")
        assert ack == "Done ✓ stretch"

    coach(scenario)


def test_a_button_of_a_removed_reminder_gets_a_friendly_answer(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        number, message = await reminded(rig)
        await rig.reminders.remove(number, rig.clock.now())
        ack = await rig.hear(button=f"snooze:{number}:30m", message_id=message, callback_id="c")
        assert "over" in ack
        assert len(rig.channel.sent) == 2

    coach(scenario)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("/done", "Done ✓ stretch", id="the last one"),
        pytest.param("/done {id}", "Done ✓ stretch", id="by its id"),
        pytest.param("/snooze 2h", "Again at 2:25 PM: stretch", id="with a duration"),
        pytest.param("/snooze {id} 45m", "Again at 1:10 PM: stretch", id="with both"),
        pytest.param("/snooze 9w", "too long", id="too long"),
        pytest.param("/skip r-zzzzzz", "couldn't find a reminder", id="no such id"),
    ],
)
def test_the_buttons_can_be_typed(coach: Any, text: str, says: str) -> None:
    async def scenario(rig: Rig) -> None:
        number, _ = await reminded(rig)
        assert says in await rig.say(text.format(id=number))

    coach(scenario)


def test_there_may_be_nothing_to_be_done_with(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        assert "Which one?" in await rig.say("/done")

    coach(scenario)
