"""What the coach does besides talking: promises, the phone's signal, retention, git, failures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nudge.attention.requests import ask_again_timer
from nudge.attention.restraint import Requests
from nudge.coach.housekeeping import NO_SIGNAL_QUESTION, SIGNAL_ASKED, activity_timer
from nudge.coach.notices import notice_timer
from nudge.coach.store import Saying
from nudge.errors import ChannelUnavailableError, NudgeError, RetryableError
from nudge.instants import DAY, HOUR, MINUTE, SECOND, Instant, to_datetime
from nudge.queue.agents import Agent
from nudge.queue.firing import Firing
from nudge.queue.outcomes import Result
from nudge.queue.timers import Timer
from tests.coach.proactive_world import ScriptedModel, World, in_world
from tests.coach.rig import AGENT
from tests.times import NOON, TORONTO, toronto

HOURS = 3600
NIGHT = {"bedtime_target": "01:00", "wake_target": "10:00", "quiet_hours": "02:00-10:00"}


async def delay(world: World, minutes: int, words: str = "30 more min") -> None:
    """What the conversation does when the person asks for more time."""
    until = Instant(world.clock.now() + minutes * MINUTE)
    async with world.store.transaction():
        await world.gate.row(AGENT, world.clock.now())
        await world.store.attention.set_requests(AGENT, Requests(delayed_until=until))
        await world.store.timers.set(ask_again_timer(AGENT, until, words))
    world.dispatcher.poke()


# "30 more min"


def test_more_time_is_given_and_then_asked_about(tmp_path: Path, store_url: str) -> None:
    async def scenario(world: World) -> None:
        async with world.running():
            await world.clock.sleep(60)
            await delay(world, 30)
            await world.clock.sleep(40 * 60)
        assert world.channel.sent == [
            (Instant(NOON + 31 * MINUTE), "You said “30 more min” — time's up. How does it look?")
        ]
        assert (await world.gate.row(AGENT, world.clock.now())).requests.delayed_until is None
        assert [row.result for row in await world.outcomes("ask-again")] == [Result.FIRED]

    in_world(tmp_path, scenario, NOON, url=store_url)


def test_what_they_asked_for_comes_even_in_quiet_hours_while_busy_and_without_a_ping_left(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.goals(quiet_hours="12:10-18:00")
        await world.store.attention.set_requests(AGENT, Requests(busy_until=Instant(NOON + 5 * HOUR)))
        await world.store.attention.take_ping(AGENT, NOON, to_datetime(NOON, TORONTO).date(), 0)
        async with world.running():
            await delay(world, 30)
            await world.clock.sleep(31 * 60)
        assert [at - NOON for at, _ in world.channel.sent] == [30 * MINUTE]

    in_world(tmp_path, scenario, NOON, options={"capacity": 1, "refill_minutes": 10_000})


def test_their_own_quiet_comes_first(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        async with world.running():
            await delay(world, 30)
            await world.store.attention.set_requests(AGENT, Requests(quiet_until=Instant(NOON + HOUR)))
            await world.clock.sleep(2 * HOURS)
        assert [at - NOON for at, _ in world.channel.sent] == [HOUR]

    in_world(tmp_path, scenario, NOON)


@pytest.mark.parametrize(
    ("asked_at", "minutes", "times"),
    [
        pytest.param((0, 50), 30, ["19 00:00", "19 01:20", "19 01:50"], id="across bedtime: the promise is the second"),
        pytest.param((0, 10), 30, ["19 00:00", "19 00:40", "19 01:00", "19 01:30"], id="before bedtime: a plain look"),
        pytest.param(
            (1, 5), 40, ["19 00:00", "19 01:00", "19 01:45"], id="after the direct one: the promise is the last"
        ),
    ],
)
def test_more_time_at_night_delays_the_escalation_and_never_says_two_things_at_once(
    tmp_path: Path, asked_at: tuple[int, int], minutes: int, times: list[str]
) -> None:
    async def scenario(world: World) -> None:
        world.goals(**NIGHT)
        asked = False
        async with world.running():
            while world.clock.now() < toronto(2026, 2, 19, 2, 30):
                await world.active()
                if not asked and world.clock.now() >= toronto(2026, 2, 19, *asked_at):
                    await delay(world, minutes)
                    asked = True
                await world.clock.sleep(300)
        assert world.channel.times() == times
        nudges = (await world.coach.facts.state(AGENT, world.clock.now())).bedtime_nudges
        assert nudges == 3
        assert [text for text in world.channel.texts if text.startswith("You said “30 more min” — time's up. ")] != []

    in_world(tmp_path, scenario, toronto(2026, 2, 18, 23, 50), model=ScriptedModel())


# The phone's signal


async def phone(world: World) -> None:
    """What an inbound /ping does."""
    now = world.clock.now()
    await world.store.activity.add(AGENT, now)
    await world.store.attention.activity(AGENT, now)
    await world.store.timers.set(activity_timer(AGENT, now))
    world.dispatcher.poke()


def questions(world: World) -> list[str]:
    return [
        when
        for when, text in zip(world.channel.times(), world.channel.texts, strict=True)
        if text == NO_SIGNAL_QUESTION
    ]


def test_a_signal_that_stopped_is_asked_about_once_until_it_comes_back(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        async with world.running():
            await phone(world)
            await world.clock.sleep(20 * HOURS)
            await phone(world)
            await world.clock.sleep(23 * HOURS)
            assert questions(world) == []
            await world.clock.sleep(50 * HOURS)
            assert questions(world) == ["20 10:00"]  # a day after 08:00 falls into the quiet hours
            await phone(world)
            await world.clock.sleep(40 * HOURS)
            assert questions(world) == ["20 10:00", "23 10:00"]
        assert await world.store.records.get(AGENT, SIGNAL_ASKED) is not None

    in_world(tmp_path, scenario, NOON, model=ScriptedModel())


def test_restarts_ask_no_second_time_and_forget_nobody(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        await phone(world)
        await world.store.timers.cancel(AGENT, "activity-check")  # as after a restored backup
        for _ in range(60):
            world.assemble()
            await world.run_for(HOURS)
        assert questions(world) == ["19 12:00"]

    in_world(tmp_path, scenario, NOON, model=ScriptedModel())


def test_a_phone_that_never_sent_a_signal_is_not_missed(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        await world.run_for(60 * HOURS)
        assert questions(world) == []

    in_world(tmp_path, scenario, NOON, model=ScriptedModel())


def test_a_signal_that_came_while_the_question_waited_makes_it_needless(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        async with world.running():
            await phone(world)
            await world.clock.sleep(25 * HOURS)  # due at 03:00, put off to 10:00
            await world.store.attention.activity(AGENT, world.clock.now())  # noted, without moving the timer
            await world.clock.sleep(20 * HOURS)
            assert questions(world) == []
            await world.clock.sleep(10 * HOURS + 60)
            assert questions(world) == ["20 10:00"]

    in_world(tmp_path, scenario, toronto(2026, 2, 18, 3), model=ScriptedModel())


# Retention


def test_talk_is_archived_after_30_days_and_signals_go_after_7(tmp_path: Path, store_url: str) -> None:
    async def scenario(world: World) -> None:
        four = toronto(2026, 2, 19, 4)
        for age in (31 * DAY, 30 * DAY + SECOND, 30 * DAY, DAY):
            await world.store.conversations.add(Saying(AGENT, Instant(four - age), "user", f"{age}"))
        for age in (8 * DAY, 7 * DAY + SECOND, 7 * DAY, HOUR):
            await world.store.activity.add(AGENT, Instant(four - age))
        await world.run_for(17 * HOURS)
        kept = [int(saying.content) for saying in await world.store.conversations.recent(AGENT)]
        assert [age for age in kept if age > 0] == [DAY, 30 * DAY]
        signals = await world.store.activity.since(AGENT, Instant(0))
        assert [four - at for at in signals] == [7 * DAY, HOUR]
        gone = await world.store.conversations.redact(AGENT, 10)
        assert len(gone) == 4  # the archive still has the others, and /redact reaches it
        timer = await world.store.timers.get(AGENT, "retention")
        assert timer is not None
        assert timer.due_at == four + DAY

    in_world(tmp_path, scenario, NOON, url=store_url, model=ScriptedModel())


# Git


class History:
    """A repository by script."""

    def __init__(self, *, pulled: Any = None, committed: Any = None) -> None:
        self.pulled, self.committed = pulled, committed
        self.calls: list[str] = []

    async def commit(self, agent: str) -> str | None:
        self.calls.append("commit")
        return self._answer(self.committed)

    async def pull_if_clean(self, agent: str) -> str | None:
        self.calls.append("pull")
        return self._answer(self.pulled)

    async def pull(self, agent: str) -> str:
        raise AssertionError

    async def push(self, agent: str) -> str:
        raise AssertionError

    def _answer(self, answer: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer() if callable(answer) else answer


async def feed(world: World, *kinds: str) -> list[str]:
    return [line.text for line in reversed(await world.store.feed.recent()) if line.kind in kinds]


def test_documents_are_pulled_at_the_start_and_committed_every_hour(tmp_path: Path) -> None:
    history = History(committed="Committed GOALS.md.")

    async def scenario(world: World) -> None:
        await world.run_for(3 * HOURS + 60)
        assert history.calls == ["pull", "commit", "commit", "commit"]
        assert await feed(world, "committed") == ["Committed GOALS.md."] * 3
        world.assemble()
        await world.run_for(60)
        assert history.calls[4:] == ["pull"]  # the hour goes on

    in_world(tmp_path, scenario, NOON, history=history, model=ScriptedModel())


def test_what_was_pulled_counts_at_once(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        def pull() -> str:
            world.goals(wake_target="13:00", quiet_hours="02:00-08:00")
            return "Pulled 1 commit."

        world.history = History(pulled=pull)
        world.assemble()
        await world.run_for(2 * HOURS)
        assert await feed(world, "pulled") == ["Pulled 1 commit."]
        assert world.channel.times() == ["18 13:00"]

    in_world(tmp_path, scenario, NOON, model=ScriptedModel())


@pytest.mark.parametrize(
    ("error", "told"),
    [
        pytest.param(RetryableError("The remote did not answer."), [], id="being offline is no news"),
        pytest.param(
            NudgeError("The pull was undone.", next_step="Resolve it."),
            ["I could not sync your documents: The pull was undone. Resolve it."],
            id="a conflict is",
        ),
    ],
)
def test_a_pull_that_fails(tmp_path: Path, error: Exception, told: list[str]) -> None:
    async def scenario(world: World) -> None:
        await world.run_for(60)
        assert world.channel.texts == told

    in_world(tmp_path, scenario, NOON, history=History(pulled=error))


def test_a_commit_that_fails_stands_in_nobodys_way(tmp_path: Path) -> None:
    history = History(committed=NudgeError("git commit: a hook said no"))

    async def scenario(world: World) -> None:
        await world.run_for(2 * HOURS + 60)
        assert history.calls == ["pull", "commit", "commit"]
        assert world.channel.texts == []

    in_world(tmp_path, scenario, NOON, history=history, model=ScriptedModel())


def test_a_repository_that_hangs_does_not_keep_a_change_from_being_noticed(tmp_path: Path) -> None:
    class Hanging(History):
        async def pull_if_clean(self, agent: str) -> str | None:
            await clock[0].sleep(600)
            return None

    clock: list[Any] = []

    async def scenario(world: World) -> None:
        clock.append(world.clock)
        async with world.running(watch=True):
            await world.clock.sleep(60)
            world.goals(wake_target="12:05", quiet_hours="02:00-08:00")
            await world.clock.sleep(60)
            timer = await world.store.timers.get(AGENT, "briefing:morning")
            assert timer is not None
            assert timer.due_at == NOON + 5 * MINUTE
            await world.clock.sleep(600)

    in_world(tmp_path, scenario, NOON, history=Hanging(), model=ScriptedModel())


# Failures


def failing(world: World, error: Exception, times: int) -> None:
    """A handler of the kind "chore" that fails so many times, then works."""
    left = [times]

    async def chore(firing: Firing) -> None:
        if left[0] > 0:
            left[0] -= 1
            raise error
        async with firing.settle() as settlement:
            settlement.outcome(Result.FIRED)

    world.dispatcher.handlers["chore"] = chore


async def chore_at(world: World, at: Instant, key: str = "chore") -> None:
    await world.store.timers.set(Timer.at(AGENT, key, "chore", at, lane=f"{AGENT}/x"))
    world.dispatcher.poke()


@pytest.mark.parametrize(
    ("error", "times", "told"),
    [
        pytest.param(ValueError("it broke"), 1, ["⚠️ chore failed: it broke. Check logs."], id="a bug is told at once"),
        pytest.param(ValueError("it broke."), 6, ["⚠️ chore failed: it broke. Check logs."], id="and once only"),
        pytest.param(RetryableError("away"), 3, [], id="a service that hiccups is no news"),
        pytest.param(RetryableError("away"), 5, ["⚠️ chore failed: away. Check logs."], id="one that stays away is"),
        pytest.param(
            NudgeError("cannot read it", next_step="Look."), 1, ["⚠️ chore failed: cannot read it Look. Check logs."],
            id="with the next step",
        ),
        pytest.param(
            ValueError("password=hunter22 and s3cr3t-of-mine"), 1,
            ["⚠️ chore failed: password=[hidden] and [hidden]. Check logs."], id="without secrets",
        ),
        pytest.param(KeyError(), 1, ["⚠️ chore failed: KeyError. Check logs."], id="an error without words"),
        pytest.param(
            ValueError("x" * 1000), 1, [f"⚠️ chore failed: {'x' * 299}…. Check logs."], id="an error with too many"
        ),
    ],
)  # fmt: skip
def test_one_message_per_incident(tmp_path: Path, error: Exception, times: int, told: list[str]) -> None:
    async def scenario(world: World) -> None:
        failing(world, error, times)
        await chore_at(world, NOON)
        await world.run_for(3 * HOURS)
        assert world.channel.texts == told

    in_world(tmp_path, scenario, NOON, model=ScriptedModel(), secrets=("s3cr3t-of-mine",))


def test_the_same_failure_the_next_day_is_a_new_incident(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        async with world.running():
            for hours in (0, 5, 25):
                failing(world, ValueError("it broke"), 1)
                await chore_at(world, Instant(NOON + hours * HOUR), f"chore{hours}")
                await world.clock.sleep((hours + 1) * HOURS - (world.clock.now() - NOON) / 1e6)
        times = [when for when, text in zip(world.channel.times(), world.channel.texts, strict=True) if "chore" in text]
        assert times == ["18 12:00", "19 13:00"]

    in_world(tmp_path, scenario, NOON, model=ScriptedModel())


def test_a_failure_at_night_is_told_in_the_morning(tmp_path: Path, store_url: str) -> None:
    async def scenario(world: World) -> None:
        failing(world, ValueError("it broke"), 1)
        await chore_at(world, toronto(2026, 2, 18, 3))
        await world.run_for(9 * HOURS)
        times = [when for when, text in zip(world.channel.times(), world.channel.texts, strict=True) if "chore" in text]
        assert times == ["18 10:00"]
        (row,) = await world.outcomes("notice")
        assert (row.key, row.result) == ("notice:failed/chore", Result.FIRED_LATE)

    in_world(tmp_path, scenario, toronto(2026, 2, 18, 3), url=store_url, model=ScriptedModel())


def test_what_waits_for_the_morning_comes_when_the_quiet_hours_are_made_shorter(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        await world.store.timers.set(notice_timer(AGENT, "sync", "It could not sync.", toronto(2026, 2, 18, 3)))
        async with world.running(watch=True):
            await world.clock.sleep(2 * HOURS)
            world.goals(quiet_hours="02:00-04:00")
            await world.clock.sleep(60)
        assert (world.channel.texts, world.channel.times()) == (["It could not sync."], ["18 05:00"])

    in_world(tmp_path, scenario, toronto(2026, 2, 18, 3), model=ScriptedModel())


def test_a_channel_that_is_away_brings_no_notice_about_itself(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.channel.fail = [ChannelUnavailableError("Telegram did not answer.")] * 6
        await world.store.timers.set(notice_timer(AGENT, "test", "Hello", NOON))
        await world.run_for(3 * HOURS)
        assert world.channel.texts == ["Hello"]
        assert len(await feed(world, "failed")) == 1

    in_world(tmp_path, scenario, NOON, model=ScriptedModel())


def test_timers_of_nobody_fail_without_a_notice(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        await world.coach.notices.failed(Timer.at("gone", "x", "chore", NOON), ValueError("it broke"), NOON)
        assert await world.store.timers.of_agent("gone") == []

    in_world(tmp_path, scenario, NOON)


def test_only_the_agents_that_were_started_as_coaches_are_looked_after(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        await world.store.agents.add(Agent("worker", "worker", NOON))
        await world.run_for(3 * HOURS, watch=True)
        assert await world.store.timers.of_agent("worker") == []

    in_world(tmp_path, scenario, NOON, model=ScriptedModel())
