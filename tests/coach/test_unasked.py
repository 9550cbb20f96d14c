"""Saying something unasked where others take pings too, where there is nothing to say, and where somebody is faster."""

from __future__ import annotations

from pathlib import Path

import pytest

from nudge.attention.rules import Allow, Candidate, Kind
from nudge.coach.messages import Ping
from nudge.instants import MINUTE, Instant, rfc3339
from nudge.queue.firing import Settlement
from nudge.queue.outcomes import Result
from nudge.queue.timers import Timer
from tests.coach.proactive_world import ScriptedModel, World, in_world
from tests.coach.rig import AGENT
from tests.times import NOON, toronto

HOURS = 3600


@pytest.mark.parametrize(
    ("taken_by_others", "asked", "result"),
    [
        pytest.param(0, False, Result.FIRED, id="nobody else"),
        pytest.param(1, False, Result.FIRED, id="somebody took a ping between the look and the debit, one is left"),
        pytest.param(9, False, Result.SUPPRESSED, id="others are always faster: an idea is dropped"),
        pytest.param(9, True, Result.DEFERRED, id="others are always faster: what was asked for waits a minute"),
    ],
)
def test_a_ping_that_another_daemon_takes_first(
    tmp_path: Path, taken_by_others: int, asked: bool, result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(world: World) -> None:
        take, lost = world.gate.take, [taken_by_others]

        async def contested(agent: str, allow: Allow, candidate: Candidate, now: Instant) -> bool:
            if lost[0] > 0:
                lost[0] -= 1
                return False
            return await take(agent, allow, candidate, now)

        monkeypatch.setattr(world.gate, "take", contested)
        settlement = Settlement(Timer.at(AGENT, "idea", "idea", NOON), NOON)
        ping = Ping("Hello", "heartbeat", Candidate(Kind.HEARTBEAT, asked_by_person=asked), "It spoke.")
        async with world.store.transaction():
            said = await world.coach.pings.send(settlement, ping, NOON)
        assert settlement.recorded is not None
        assert (settlement.recorded.result, said) == (result, result is Result.FIRED)
        assert len(await world.store.outbox.pending(AGENT)) == said
        assert (await world.gate.row(AGENT, NOON)).budget.daily_used == said
        if result is not Result.FIRED:
            assert settlement.recorded.detail["rule"] == "bucket-empty"
        if result is Result.DEFERRED:
            assert settlement.recorded.detail["until"] == rfc3339(Instant(NOON + MINUTE))

    in_world(tmp_path, scenario, NOON)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        pytest.param("Hello\0 there \ud83d!", ["Hello there ?!"], id="characters that no store takes"),
        pytest.param("The key is s3cr3t-of-mine.", ["The key is [hidden]."], id="a secret of this home"),
        pytest.param("\0", [], id="nothing that can be said"),
    ],
)
def test_what_a_model_says_is_cleaned_before_it_is_kept(
    tmp_path: Path, answer: str, said: list[str], store_url: str
) -> None:
    async def scenario(world: World) -> None:
        await world.run_for(46 * 60)
        assert world.channel.texts == said
        (row,) = await world.outcomes()
        assert (row.result, row.final) == (Result.FIRED if said else Result.SUPPRESSED, True)
        assert [one.content for one in await world.store.conversations.recent(AGENT)] == said

    spender = ScriptedModel({"action": "message", "message": answer})
    in_world(tmp_path, scenario, NOON, url=store_url, model=spender, secrets=("s3cr3t-of-mine",))


def test_somebody_who_wants_to_hear_nothing_about_sleep_does_not(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.goals(bedtime_target="01:00", wake_target="10:00", quiet_hours="02:00-10:00")
        world.write("MEMORY.md", "## Preferences\n- Don't message about sleep\n")
        async with world.running():
            for _ in range(16):
                await world.active()
                await world.clock.sleep(600)
        assert world.channel.texts == []
        rows = await world.outcomes("briefing")
        assert {row.reason for row in rows if row.slot_at <= toronto(2026, 2, 19, 1)} == {
            "You asked not to hear about this."
        }

    in_world(tmp_path, scenario, toronto(2026, 2, 18, 23, 50))


@pytest.mark.parametrize("hour", [10, 0], ids=["the weekly review", "the bedtime message"])
def test_somebody_who_begins_to_talk_while_the_words_are_found_is_not_interrupted(tmp_path: Path, hour: int) -> None:
    spender = ScriptedModel("Some words.")

    async def scenario(world: World) -> None:
        world.goals(
            wake_target="10:00", bedtime_target="01:00", quiet_hours="02:00-08:00", weekly_review="Saturday 10:00"
        )

        async def they_write() -> None:
            if len(spender.calls) == 1:
                await world.store.attention.conversation(AGENT, world.clock.now())

        spender.before_answer = they_write
        async with world.running():
            await world.active()
            await world.clock.sleep(2 * 60)
            assert world.channel.sent == []
            (row,) = await world.outcomes("briefing") if hour == 0 else (await world.outcomes("briefing"))[-1:]
            assert row.detail["rule"] == "conversation"
            await world.clock.sleep(15 * 60)
        assert len(world.channel.sent) == 1
        assert world.channel.times() == (["21 10:05"] if hour == 10 else ["21 00:15"])

    start = toronto(2026, 2, 21, 9, 59) if hour else toronto(2026, 2, 20, 23, 59)
    in_world(tmp_path, scenario, start, model=spender)


def test_a_document_that_was_mended_before_anybody_looked_again_is_not_brought_up(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.goals(wake_target="nonsense")
        async with world.running():
            await world.clock.sleep(10)
            assert await world.store.timers.get(AGENT, "notice:targets") is not None
            world.goals(wake_target="10:00")
            await world.clock.sleep(60)
        assert world.channel.texts == []
        (row,) = await world.outcomes("notice")
        assert (row.result, row.reason) == (Result.SKIPPED, "Fixed in the meantime.")

    in_world(tmp_path, scenario, NOON)


def test_a_document_that_cannot_be_read_is_left_out_of_a_question_and_never_written_over(tmp_path: Path) -> None:
    spender = ScriptedModel()

    async def scenario(world: World) -> None:
        path = world.files.path(AGENT, "MEMORY.md")
        path.unlink()
        path.mkdir()
        await world.run_for(46 * 60)
        (call,) = spender.calls
        assert "--- MEMORY.md ---" in call.turns[0].text
        with pytest.raises(Exception, match=r"MEMORY\.md of coach cannot be read"):
            world.documents.text(AGENT, "MEMORY.md")

    in_world(tmp_path, scenario, NOON, model=spender)
