"""The heartbeat in virtual time: its grid, the gates before the model, what is done with an answer, and its traces."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from nudge.attention.restraint import Requests
from nudge.coach.answering import MODEL_OUTAGE
from nudge.coach.briefings import Briefing
from nudge.coach.heartbeat import JUDGMENT, Rhythm
from nudge.coach.prompts import heartbeat_prompt
from nudge.errors import BudgetExhaustedError, ModelUnavailableError, NotConfiguredError, RetryableError
from nudge.instants import DAY, HOUR, MINUTE, Instant, rfc3339, to_datetime
from nudge.phrases import understand
from nudge.queue.outcomes import Result
from tests.coach.proactive_world import MODEL, ScriptedModel, World, in_world
from tests.coach.rig import AGENT, templates
from tests.times import NOON, TORONTO, toronto

BEAT = 45 * 60
FIRST = Instant(NOON + 45 * MINUTE)


def message(text: str, **updates: Any) -> dict[str, Any]:
    return {"action": "message", "message": text, "state_updates": updates}


# The grid


def test_every_45_minutes_on_its_own_grid_with_one_outcome_each(tmp_path: Path, store_url: str) -> None:
    async def scenario(world: World) -> None:
        await world.run_for(4 * BEAT + 1)
        rows = await world.outcomes()
        assert [row.slot_at - NOON for row in rows] == [n * 45 * MINUTE for n in (1, 2, 3, 4)]
        assert [row.result for row in rows] == [Result.SILENT, Result.SKIPPED, Result.SKIPPED, Result.SKIPPED]
        assert all(row.final for row in rows)

    in_world(tmp_path, scenario, NOON, url=store_url, model=ScriptedModel())


def test_missed_heartbeats_collapse_into_one_and_the_grid_stays(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        await world.run_for(60)
        world.clock.jump(2 * HOUR + 20 * MINUTE)  # the machine slept until 14:21
        world.assemble()
        await world.run_for(45 * 60)
        rows = await world.outcomes()
        # 12:45 is told at 14:21 and stands for 13:30 and 14:15; the next one is 15:00
        assert [(row.slot_at - NOON) // MINUTE for row in rows] == [45, 180]
        assert [(row.at - NOON) // MINUTE for row in rows] == [141, 180]
        assert rows[0].result is Result.SILENT

    in_world(tmp_path, scenario, NOON, model=ScriptedModel())


def test_another_rhythm_starts_its_own_grid(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        await world.run_for(61 * 60)
        rows = await world.outcomes()
        assert [(row.slot_at - NOON) // MINUTE for row in rows] == [20, 40, 60]

    in_world(tmp_path, scenario, NOON, model=ScriptedModel(), rhythm=Rhythm(every=20 * MINUTE))


def test_heartbeats_that_would_find_nothing_changed_can_be_slept_through(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        await world.run_for(8 * 60 * 60)
        rows = await world.outcomes()
        assert [(row.slot_at - NOON) // MINUTE for row in rows] == [45, 225, 315]  # noon, three hours on, evening
        assert {row.result for row in rows} == {Result.SILENT}

    in_world(tmp_path, scenario, NOON, model=ScriptedModel(), rhythm=Rhythm(sleeps_through=True))


def test_a_rhythm_that_was_made_faster_counts_at_once(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        await world.run_for(60)
        world.rhythm = Rhythm(every=10 * MINUTE)
        world.assemble()
        await world.run_for(11 * 60)
        assert [(row.slot_at - NOON) // MINUTE for row in await world.outcomes()] == [11]

    in_world(tmp_path, scenario, NOON, model=ScriptedModel(), rhythm=Rhythm(every=4 * HOUR))


# The gates before the model


async def _asleep(world: World) -> None:
    await world.spend_everything()


async def _quiet(world: World) -> None:
    await world.store.attention.set_requests(AGENT, Requests(quiet_until=Instant(FIRST + MINUTE)))


async def _left_alone(world: World) -> None:
    await world.store.attention.set_requests(AGENT, Requests(left_alone=True))


async def _busy(world: World) -> None:
    await world.store.attention.set_requests(AGENT, Requests(busy_until=Instant(FIRST + MINUTE)))


async def _talking(world: World) -> None:
    await world.store.attention.conversation(AGENT, Instant(FIRST - 5 * MINUTE + 1))


async def _no_pings(world: World) -> None:
    await world.gate.resize(AGENT, 1, 10_000, NOON)
    assert await world.store.attention.take_ping(AGENT, NOON, to_datetime(NOON, TORONTO).date(), 0)


async def _quiet_hours(world: World) -> None:
    world.goals(quiet_hours="12:45-13:00")


@pytest.mark.parametrize(
    ("set_up", "rule"),
    [
        pytest.param(_asleep, "asleep", id="the agent has spent its day's money"),
        pytest.param(_quiet_hours, "quiet-hours", id="the quiet hours have just begun"),
        pytest.param(_quiet, "quiet-mode", id="quiet mode lasts a minute longer"),
        pytest.param(_left_alone, "left-alone", id="the person asked to be left alone"),
        pytest.param(_talking, "conversation", id="the last message is just under five minutes old"),
        pytest.param(_busy, "busy", id="the person is busy"),
        pytest.param(_no_pings, "bucket-empty", id="no ping is left"),
    ],
)
def test_what_forbids_speaking_forbids_asking(
    tmp_path: Path, set_up: Callable[[World], Awaitable[None]], rule: str
) -> None:
    spender = ScriptedModel(message("Hello"))

    async def scenario(world: World) -> None:
        await set_up(world)
        await world.run_for(BEAT + 1)
        (row,) = await world.outcomes()
        assert (row.result, row.detail["rule"]) == (Result.SUPPRESSED, rule)
        assert row.reason.endswith(".")
        assert (spender.calls, world.channel.sent) == ([], [])
        assert [(line["decision"], line["result"], line["rule"]) for line in world.log] == [
            ("not asked", "suppressed", rule)
        ]

    in_world(tmp_path, scenario, NOON, model=spender)


def test_what_is_over_at_this_very_moment_forbids_nothing(tmp_path: Path) -> None:
    spender = ScriptedModel()

    async def scenario(world: World) -> None:
        await world.store.attention.set_requests(AGENT, Requests(quiet_until=FIRST, busy_until=FIRST))
        await world.store.attention.conversation(AGENT, Instant(FIRST - 5 * MINUTE))
        world.goals(quiet_hours="12:00-12:45")
        await world.run_for(BEAT + 1)
        assert [row.result for row in await world.outcomes()] == [Result.SILENT]

    in_world(tmp_path, scenario, NOON, model=spender)
    assert spender.purposes() == ["heartbeat"]


# Whether anything has changed


async def _goals_changed(world: World) -> None:
    world.write("GOALS.md", templates()["GOALS.md"].replace("[Single most important task]", "Write the draft"))


async def _agents_changed(world: World) -> None:
    world.write("AGENTS.md", "You are a pirate.")


async def _reminder_due(world: World) -> None:
    now = world.clock.now()
    await world.coach.reminders.remind(AGENT, "Call Mum", understand("in 10 minutes", now, TORONTO), now)


async def _phone(world: World) -> None:
    await world.active()


async def _delayed(world: World) -> None:
    await world.gate.row(AGENT, NOON)
    await world.store.attention.set_requests(AGENT, Requests(delayed_until=Instant(NOON + 3 * HOUR)))


async def _nothing(world: World) -> None:
    return None


@pytest.mark.parametrize(
    ("change", "part"),
    [
        pytest.param(_goals_changed, "documents", id="GOALS.md was edited"),
        pytest.param(_agents_changed, "documents", id="AGENTS.md was edited"),
        pytest.param(_reminder_due, "reminders", id="a reminder came due"),
        pytest.param(_phone, "activity", id="the phone gave a sign of life"),
        pytest.param(_delayed, "state", id="the person asked for more time"),
        pytest.param(_nothing, None, id="nothing at all"),
    ],
)
def test_a_model_is_asked_again_when_something_changed(
    tmp_path: Path, change: Callable[[World], Awaitable[None]], part: str | None
) -> None:
    spender = ScriptedModel()

    async def scenario(world: World) -> None:
        async with world.running():
            await world.clock.sleep(BEAT + 60)
            await change(world)
            await world.clock.sleep(BEAT)
            first, second = await world.outcomes()
            assert first.detail["asked"] == "First judgment."
            if part is None:
                assert (second.result, len(spender.calls)) == (Result.SKIPPED, 1)
                assert second.reason == "Nothing has changed since the last judgment 45 min ago."
            else:
                assert (second.result, len(spender.calls)) == (Result.SILENT, 2)
                assert second.detail["asked"] == f"Changed since the last judgment: {part}."

    in_world(tmp_path, scenario, NOON, model=spender)


def test_a_new_part_of_the_day_is_a_change(tmp_path: Path) -> None:
    spender = ScriptedModel()

    async def scenario(world: World) -> None:
        await world.run_for(2 * BEAT + 60)
        rows = await world.outcomes()
        assert [to_datetime(row.at, TORONTO).strftime("%H:%M") for row in rows] == ["16:45", "17:30"]
        assert rows[1].detail["asked"] == "Changed since the last judgment: window."

    in_world(tmp_path, scenario, toronto(2026, 2, 18, 16), model=spender)


def test_in_waking_hours_a_model_is_asked_every_three_hours_at_least(tmp_path: Path) -> None:
    spender = ScriptedModel()

    async def scenario(world: World) -> None:
        await world.run_for(5 * BEAT + 1)
        rows = await world.outcomes()
        assert [row.result for row in rows] == [Result.SILENT, *[Result.SKIPPED] * 3, Result.SILENT]
        assert rows[4].detail["asked"] == "The last judgment was 3 h ago."

    in_world(tmp_path, scenario, NOON, model=spender)


@pytest.mark.parametrize(
    ("rhythm", "calls"),
    [
        pytest.param(Rhythm(change_gate=False), 4, id="without the look for changes every heartbeat asks"),
        pytest.param(Rhythm(longest_silence=90 * MINUTE), 2, id="a shorter silence asks more often"),
        pytest.param(Rhythm(), 1, id="the default waits for three hours"),
    ],
)
def test_the_rhythm_is_the_persons_to_set(tmp_path: Path, rhythm: Rhythm, calls: int) -> None:
    spender = ScriptedModel()

    async def scenario(world: World) -> None:
        await world.run_for(4 * BEAT + 1)

    in_world(tmp_path, scenario, NOON, model=spender, rhythm=rhythm)
    assert len(spender.calls) == calls


def test_the_question_on_the_shipped_templates_has_at_most_2100_tokens(tmp_path: Path) -> None:
    spender = ScriptedModel()

    async def scenario(world: World) -> None:
        await world.run_for(BEAT + 1)
        facts = await world.coach.facts.for_heartbeat(AGENT, world.clock.now())
        prompt = heartbeat_prompt(world.documents.texts(AGENT), facts)
        assert 1_000 < prompt.tokens <= 2_100
        (request,) = spender.calls
        assert request.system_text.startswith("# Coach")
        assert "--- HEARTBEAT.md (evaluation checklist) ---" in request.turns[0].text
        assert request.schema is not None

    in_world(tmp_path, scenario, NOON, model=spender)


# What is done with an answer


def test_a_message_is_sent_logged_and_remembered(tmp_path: Path, store_url: str) -> None:
    async def scenario(world: World) -> None:
        await world.run_for(BEAT + 1)
        assert world.channel.sent == [(FIRST, "What's in the way of the draft?")]
        (row,) = await world.outcomes()
        assert (row.result, row.reason) == (Result.FIRED, "It spoke. The model gave no reason.")
        assert row.detail["text"] == "What's in the way of the draft?"
        (said,) = await world.store.conversations.recent(AGENT)
        assert (said.role, said.kind, said.content) == ("assistant", "heartbeat", "What's in the way of the draft?")
        assert (await world.gate.row(AGENT, FIRST)).budget.daily_used == 1
        assert (await world.coach.facts.state(AGENT, FIRST)).proactive_today == 1
        (line,) = world.log
        assert line == {
            "at": rfc3339(FIRST),
            "agent": AGENT,
            "decision": "message",
            "result": "fired",
            "reason": "It spoke. The model gave no reason.",
            "model": MODEL,
            "message": "What's in the way of the draft?",
        }

    in_world(tmp_path, scenario, NOON, url=store_url, model=ScriptedModel(message("What's in the way of the draft?")))


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("HEARTBEAT_OK, all good!", id="the word with more after it"),
        pytest.param("I think you should go to bed now.", id="prose"),
        pytest.param('{"action": "message", "message": "', id="broken JSON"),
        pytest.param('Sure! {"action": "heartbeat_ok"}', id="JSON with words around it"),
        pytest.param({"action": "message", "message": "   "}, id="an empty message"),
        pytest.param({"action": "shout", "message": "Hey"}, id="an unknown action"),
        pytest.param({"action": "message", "message": "Hi", "send_to": 42}, id="an unknown key"),
        pytest.param({"action": "message", "message": "x" * 4097}, id="more than one message can hold"),
        pytest.param("", id="nothing"),
    ],
)
def test_whatever_is_no_decision_is_silence(tmp_path: Path, answer: Any) -> None:
    async def scenario(world: World) -> None:
        await world.run_for(BEAT + 1)
        (row,) = await world.outcomes()
        assert (row.result, row.detail["rule"]) == (Result.SUPPRESSED, "no-decision")
        assert row.reason.startswith("The model's answer was not a decision (")
        assert world.channel.sent == []
        assert [line["decision"] for line in world.log] == ["silence"]

    in_world(tmp_path, scenario, NOON, model=ScriptedModel(answer))


def test_somebody_who_begins_to_talk_while_the_model_thinks_is_not_interrupted(tmp_path: Path) -> None:
    spender = ScriptedModel(message("Hello", quiet_mode_until=rfc3339(Instant(NOON + 3 * HOUR))))

    async def scenario(world: World) -> None:
        async def they_write() -> None:
            await world.clock.sleep(20)
            await world.store.attention.conversation(AGENT, world.clock.now())

        spender.before_answer = they_write
        await world.run_for(BEAT + 60)
        (row,) = await world.outcomes()
        assert (row.result, row.detail["rule"]) == (Result.SUPPRESSED, "conversation")
        assert world.channel.sent == []
        assert (await world.gate.row(AGENT, FIRST)).requests.quiet_until is None
        assert [(line["decision"], line["rule"]) for line in world.log] == [("message", "conversation")]

    in_world(tmp_path, scenario, NOON, model=spender)


def test_the_same_thing_is_not_said_twice_in_a_day(tmp_path: Path) -> None:
    spender = ScriptedModel(message("2 tasks are open"), message("3 tasks are open!"))

    async def scenario(world: World) -> None:
        await world.run_for(2 * BEAT + 1)
        second = (await world.outcomes())[1]
        assert (second.result, second.detail["rule"]) == (Result.SUPPRESSED, "repeated")
        assert world.channel.texts == ["2 tasks are open"]

    in_world(tmp_path, scenario, NOON, model=spender, rhythm=Rhythm(change_gate=False))


def test_a_message_may_make_the_coach_quiet_afterwards(tmp_path: Path) -> None:
    until = Instant(NOON + 2 * HOUR)
    spender = ScriptedModel(message("I'll leave you to it until two.", quiet_mode_until=rfc3339(until)))

    async def scenario(world: World) -> None:
        await world.run_for(2 * BEAT + 1)
        assert world.channel.texts == ["I'll leave you to it until two."]
        assert (await world.gate.state(AGENT, NOON)).self_quiet_until == until
        assert [row.detail.get("rule") for row in await world.outcomes()] == [None, "self-quiet"]

    in_world(tmp_path, scenario, NOON, model=spender, rhythm=Rhythm(change_gate=False))


def test_a_model_never_shortens_the_persons_own_quiet(tmp_path: Path) -> None:
    shorter = rfc3339(Instant(NOON + HOUR))
    spender = ScriptedModel({"action": "state_update", "state_updates": {"quiet_mode_until": shorter}})

    async def scenario(world: World) -> None:
        async def they_ask_for_quiet() -> None:
            await world.store.attention.set_requests(AGENT, Requests(quiet_until=Instant(NOON + 5 * HOUR)))

        spender.before_answer = they_ask_for_quiet
        await world.run_for(BEAT + 1)
        assert (await world.gate.row(AGENT, NOON)).requests.quiet_until == NOON + 5 * HOUR

    in_world(tmp_path, scenario, NOON, model=spender)


@pytest.mark.parametrize(
    ("answer", "taken"),
    [
        pytest.param(message("Good morning.", morning_brief_sent=True), True, id="it said good morning itself"),
        pytest.param(
            {"action": "state_update", "state_updates": {"morning_brief_sent": True}},
            False,
            id="it claims to have said it",
        ),
        pytest.param(message("Hi", morning_brief_sent=False), False, id="it may not set it back"),
    ],
)
def test_only_what_was_said_counts_as_said(tmp_path: Path, answer: Any, taken: bool) -> None:
    async def scenario(world: World) -> None:
        await world.run_for(BEAT + 1)
        assert (await world.store.periods.taken(AGENT, Briefing.MORNING, "2026-02-18") is not None) is taken
        if answer["action"] == "state_update":
            (row,) = await world.outcomes()
            assert row.detail["refused"] == ["morning_brief_sent: nothing was sent"]

    in_world(tmp_path, scenario, NOON, model=ScriptedModel(answer))


def test_a_morning_brief_that_the_gate_refuses_is_not_lost(tmp_path: Path) -> None:
    spender = ScriptedModel(message("Good morning.", morning_brief_sent=True))

    async def scenario(world: World) -> None:
        async def they_write() -> None:
            await world.store.attention.conversation(AGENT, world.clock.now())

        spender.before_answer = they_write
        await world.run_for(BEAT + 1)
        assert await world.store.periods.taken(AGENT, Briefing.MORNING, "2026-02-18") is None

    in_world(tmp_path, scenario, NOON, model=spender)


def test_a_bedtime_message_counts_and_keeps_to_the_rules_of_the_night(tmp_path: Path) -> None:
    spender = ScriptedModel(
        message("Wind down?", bedtime_nudge_sent=True), message("Off to bed!", bedtime_nudge_sent=True)
    )

    async def scenario(world: World) -> None:
        world.goals(bedtime_target="01:00", wake_target="10:00", quiet_hours="02:00-10:00")
        async with world.running():
            await world.clock.sleep(1)
            await world.store.timers.cancel(AGENT, "briefing:bedtime")  # the heartbeat is alone tonight
            await world.active()
            await world.clock.sleep(2 * 20 * 60)
        first, second = await world.outcomes()
        assert (first.result, second.result) == (Result.FIRED, Result.SUPPRESSED)
        # 00:45 is too early for the direct one, which comes at 01:00
        assert second.detail["rule"] == "bedtime"
        assert world.channel.texts == ["Wind down?"]
        assert (await world.coach.facts.state(AGENT, world.clock.now())).bedtime_nudges == 1

    in_world(
        tmp_path,
        scenario,
        toronto(2026, 2, 19, 0, 5),
        model=spender,
        rhythm=Rhythm(every=20 * MINUTE, change_gate=False),
    )


# Where the service does not answer


def test_a_service_that_is_away_is_said_and_tried_again_and_after_a_heartbeat_the_rules_answer(
    tmp_path: Path, store_url: str
) -> None:
    spender = ScriptedModel(ModelUnavailableError("The model's service is out of order (503).", unbilled=True))

    async def scenario(world: World) -> None:
        world.write("MEMORY.md", "## Active Commitments\n- Reply to Mary (due: 2026-02-16)\n")
        async with world.running():
            await world.clock.sleep(BEAT + 1)
            (row,) = await world.outcomes()
            assert (row.result, row.final) == (Result.FAILED, True)
            assert "out of order (503)" in row.reason
            assert await world.store.records.get(AGENT, JUDGMENT) is None
            assert [line["decision"] for line in world.log] == ["no answer"]
            await world.clock.sleep(BEAT)
            assert len(spender.calls) == 2
            assert len(world.channel.sent) == 1
            assert "Reply to Mary" in world.channel.texts[0]
            assert world.log[-1]["model"] == "offline"
            spender.answers = ["HEARTBEAT_OK"]
            await world.clock.sleep(BEAT)
        rows = await world.outcomes()
        assert [row.result for row in rows] == [Result.FAILED, Result.FIRED, Result.SILENT]
        assert rows[2].detail["asked"] == "First judgment."  # the rules' own was none
        assert await world.store.records.get(AGENT, MODEL_OUTAGE) is None

    in_world(tmp_path, scenario, NOON, url=store_url, model=spender)


def test_a_service_that_wants_a_rest_gets_it(tmp_path: Path) -> None:
    spender = ScriptedModel(
        ModelUnavailableError("The model's service asks for a pause.", retry_after=2 * 3600, unbilled=True)
    )

    async def scenario(world: World) -> None:
        async with world.running():
            await world.clock.sleep(BEAT + 1)
            spender.answers = [message("Back again")]
            await world.clock.sleep(2 * BEAT)
            assert len(spender.calls) == 1  # not even asked at 13:30 and 14:15
            rows = await world.outcomes()
            assert [row.result for row in rows] == [Result.FAILED, Result.SILENT, Result.SILENT]
            assert [line.get("model") for line in world.log] == [None, "offline", "offline"]
            await world.clock.sleep(BEAT)
        assert world.channel.texts == ["Back again"]

    in_world(tmp_path, scenario, NOON, model=spender)


def test_a_call_that_does_not_fit_the_budget_is_no_failure(tmp_path: Path) -> None:
    spender = ScriptedModel(BudgetExhaustedError("Today's money does not cover this call."))

    async def scenario(world: World) -> None:
        await world.run_for(BEAT + 1)
        (row,) = await world.outcomes()
        assert (row.result, row.detail["rule"]) == (Result.SUPPRESSED, "budget")
        assert await world.store.records.get(AGENT, MODEL_OUTAGE) is None

    in_world(tmp_path, scenario, NOON, model=spender)


def test_a_key_that_is_refused_is_told_once_and_the_rules_go_on(tmp_path: Path) -> None:
    secret = "a-very-secret-key"
    spender = ScriptedModel(NotConfiguredError(f"The key {secret} is refused.", next_step="Put a valid one into .env."))

    async def scenario(world: World) -> None:
        await world.run_for(4 * BEAT + 1)
        rows = await world.outcomes()
        assert [row.result for row in rows] == [Result.FAILED, *[Result.SILENT] * 3]
        assert world.channel.texts == [
            "⚠️ heartbeat failed: The key [hidden] is refused. Put a valid one into .env. Check logs."
        ]

    in_world(tmp_path, scenario, NOON, model=spender, secrets=(secret,))


def test_a_bug_in_the_model_is_retried_and_told_and_the_grid_stays(tmp_path: Path) -> None:
    spender = ScriptedModel(ZeroDivisionError("division by zero"), "HEARTBEAT_OK")

    async def scenario(world: World) -> None:
        await world.run_for(2 * BEAT + 1)
        first, second = await world.outcomes()
        assert (first.slot_at, first.result) == (FIRST, Result.SILENT)
        assert second.slot_at == FIRST + 45 * MINUTE
        assert world.channel.texts == ["⚠️ heartbeat failed: division by zero. Check logs."]

    in_world(tmp_path, scenario, NOON, model=spender)


# The dead-man's switch


class Switch:
    def __init__(self, *answers: Exception | None) -> None:
        self.answers = list(answers)
        self.reports = 0

    async def report(self) -> None:
        self.reports += 1
        answer = self.answers.pop(0) if self.answers else None
        if answer is not None:
            raise answer


@pytest.mark.parametrize(
    ("asleep", "answer", "reports"),
    [
        pytest.param(False, "HEARTBEAT_OK", 2, id="a heartbeat that asked, and one that had no need to"),
        pytest.param(True, "HEARTBEAT_OK", 2, id="an agent that sleeps on its budget is alive"),
        pytest.param(False, "prose", 2, id="an answer that is no decision"),
        pytest.param(
            False,
            ModelUnavailableError("away", unbilled=True),
            1,
            id="no answer is no sign of life until the rules take over",
        ),
        pytest.param(False, KeyError("a bug"), 0, id="heartbeats that never work"),
    ],
)
def test_every_heartbeat_that_worked_is_a_sign_of_life(tmp_path: Path, asleep: bool, answer: Any, reports: int) -> None:
    switch = Switch()
    spender = ScriptedModel(answer)

    async def scenario(world: World) -> None:
        if asleep:
            await world.spend_everything()
        await world.run_for(2 * BEAT + 10)

    in_world(tmp_path, scenario, NOON, model=spender, sign_of_life=switch)
    assert switch.reports == reports


def test_a_network_that_hiccups_is_tried_again_and_nobody_is_bothered(tmp_path: Path) -> None:
    away = RetryableError("The health check did not answer (ConnectError).")
    switch = Switch(away, away, None, away, away, away)

    async def scenario(world: World) -> None:
        async with world.running():
            await world.clock.sleep(BEAT + 30)
            assert switch.reports == 3
            await world.clock.sleep(BEAT)
            assert switch.reports == 6
            await world.clock.sleep(BEAT)
            assert switch.reports == 7
        rows = await world.outcomes("alive")
        assert [(row.result, row.final) for row in rows] == [(Result.FIRED_LATE, True), (Result.FAILED, True)]
        assert world.channel.sent == []
        assert [line.kind for line in await world.store.feed.recent() if line.kind == "failed"] == []

    in_world(tmp_path, scenario, NOON, model=ScriptedModel(), sign_of_life=switch)


def test_a_clock_that_was_set_back_does_not_silence_the_coach_until_it_catches_up(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        await world.run_for(60)
        world.clock.jump(-2 * DAY)
        world.assemble()
        await world.run_for(BEAT + 60)
        (row,) = await world.outcomes()
        assert row.slot_at == NOON - 2 * DAY + 46 * MINUTE

    in_world(tmp_path, scenario, NOON, model=ScriptedModel())
