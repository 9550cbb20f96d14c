"""Listening to a channel: what it does about outages, poison, stores that refuse, and another poller."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from typing import Any

import pytest

from nudge.coach.heartbeat import KIND as HEARTBEAT
from nudge.coach.heartbeat import Rhythm
from nudge.coach.inbound import FAILED
from nudge.coach.polling import TOGETHER, Polling
from nudge.errors import AnotherPollerError, ChannelUnavailableError, NotConfiguredError, StoreError
from nudge.instants import HOUR, SECOND, Instant
from nudge.queue.channel import RECENT_IDS, Capabilities, Channel, Inbound, Position, Updates
from nudge.queue.timers import Timer
from tests.coach.rig import Rig, Scripted, says
from tests.times import NOON


class Scripting(Channel):
    """A channel whose polls bring what the script says: updates, all that a poll returns, or an error."""

    name = "scripting"
    capabilities = Capabilities(listens=True, buttons=True)

    def __init__(self, rig: Rig, *script: Any) -> None:
        self.rig = rig
        self.script = list(script)
        self.asked: list[tuple[str, float]] = []
        self.answered: list[str] = []
        self.offered: list[int] = []
        self.fail_answers = False
        self.fail_offers = 0

    async def updates(self, cursor: str, wait_seconds: float) -> Updates:
        self.asked.append((cursor, (self.rig.clock.now() - NOON) / SECOND))
        if not self.script:
            await asyncio.Event().wait()
        step = self.script.pop(0)
        if isinstance(step, BaseException):
            raise step
        if isinstance(step, Updates):
            return step
        return Updates(tuple(step), step[-1].cursor if step else cursor)

    async def acknowledge(self, update: Inbound, text: str = "") -> None:
        if self.fail_answers:
            raise ChannelUnavailableError("too late")
        self.answered.append(text)

    async def offer_commands(self, commands: Any) -> None:
        self.offered.append(len(list(commands)))
        if len(self.offered) <= self.fail_offers:
            raise ChannelUnavailableError("not yet")


def said(number: int, text: str, **more: Any) -> Inbound:
    """The cursor of this channel is a word that nobody can calculate with."""
    return Inbound(NOON, text, id=f"u{number}", cursor=f"behind {number}", **more)


async def listen(rig: Rig, channel: Channel, seconds: float = 3600) -> None:
    task = asyncio.create_task(Polling(channel, rig.coach, rig.clock, "coach").run())
    await asyncio.wait([task], timeout=seconds)
    if task.done():
        task.result()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def cursor(rig: Rig) -> str:
    return await rig.coach.listener.cursor("coach", "scripting")


async def heard(rig: Rig) -> list[str]:
    rows = await rig.store.conversations.recent("coach", 1000)
    return sorted(one.content for one in rows if one.role == "user")


def test_an_outage_is_waited_out_with_growing_pauses_and_the_channels_own_word_first(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        errors = [ChannelUnavailableError("down") for _ in range(7)]
        channel = Scripting(
            rig, *errors, ChannelUnavailableError("slow down", retry_after=40), ChannelUnavailableError("x")
        )
        await listen(rig, channel)
        times = [at for _, at in channel.asked]
        pauses = [later - earlier for earlier, later in itertools.pairwise(times)]
        assert pauses == [1, 2, 5, 15, 30, 60, 60, 40, 60]

    coach(scenario)


@pytest.mark.parametrize("sleeps", [True, False])
def test_a_sign_of_life_calls_a_heartbeat_back_that_sleeps_through(coach: Any, sleeps: bool) -> None:
    async def scenario(rig: Rig) -> None:
        far = Instant(NOON + 3 * HOUR)
        await rig.store.timers.set(Timer.at("coach", HEARTBEAT, HEARTBEAT, far))
        await listen(rig, Scripting(rig, [said(1, "/ping")]), 5)
        timer = await rig.store.timers.get("coach", HEARTBEAT)
        assert timer is not None
        assert (timer.due_at < far) == sleeps

    coach(scenario, rhythm=Rhythm(sleeps_through=sleeps))


@pytest.mark.parametrize("error", [NotConfiguredError("no such bot"), RuntimeError("bug"), OSError("no network")])
def test_no_other_error_ends_it(coach: Any, error: Exception) -> None:
    async def scenario(rig: Rig) -> None:
        channel = Scripting(rig, error, [said(1, "/goals")])
        await listen(rig, channel)
        assert len(channel.asked) == 3
        assert len(await rig.store.outbox.recent("coach")) == 1

    coach(scenario)


def test_a_pause_of_a_year_is_not_waited(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        channel = Scripting(rig, ChannelUnavailableError("later", retry_after=3e7), [])
        await listen(rig, channel)
        assert channel.asked[1][1] == 300

    coach(scenario)


def test_another_poller_ends_it(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        with pytest.raises(AnotherPollerError):
            await listen(rig, Scripting(rig, AnotherPollerError("another")))

    coach(scenario)


def test_the_cursor_follows_the_channel_also_over_what_it_refused(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        refused = Updates((), "behind the strangers")
        mixed = Updates((said(2, "/ping"),), "behind more strangers")
        channel = Scripting(rig, [said(1, "/ping")], refused, mixed, [])
        await listen(rig, channel)
        stops = ["", "behind 1", "behind the strangers", "behind more strangers", "behind more strangers"]
        assert [asked for asked, _ in channel.asked] == stops
        assert await cursor(rig) == stops[-1]

    coach(scenario)


def test_a_poisonous_update_is_left_behind_and_admitted(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        intake = rig.coach.listener._intake
        accept = intake.accept

        async def poisoned(agent: str, update: Inbound, now: Instant, **more: Any) -> str:
            if update.text == "poison":
                raise ValueError("a bug")
            return await accept(agent, update, now, **more)

        intake.accept = poisoned  # type: ignore[method-assign]
        await listen(rig, Scripting(rig, [said(1, "/help"), said(2, "poison"), said(3, "/ping")]))
        failed, helped = await rig.store.outbox.recent("coach")
        assert failed.text == FAILED
        assert "/redact" in helped.text
        assert await cursor(rig) == "behind 3"
        assert len(await rig.store.activity.since("coach", NOON)) == 1

    coach(scenario)


def test_many_that_wait_share_a_commit_and_none_is_lost_or_doubled(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        commits: list[str] = []
        many = [said(number, f"{number:03}") for number in range(100)]
        rig.store.database.probe = lambda block: commits.append(block) if block == "committed" else None  # type: ignore[attr-defined]
        await listen(rig, Scripting(rig, many, many[50:]), 0.5)
        assert len(commits) <= 100 // TOGETHER + 5
        assert await heard(rig) == [f"{number:03}" for number in range(100)]
        assert await cursor(rig) == "behind 99"

    coach(scenario)


def test_a_store_that_refuses_loses_no_update(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        refusals = 5

        def refuse(block: str) -> None:
            nonlocal refusals
            if refusals:
                refusals -= 1
                raise StoreError("full")

        rig.store.database.probe = refuse  # type: ignore[attr-defined]
        await listen(rig, Scripting(rig, [said(1, "/ping")]))
        assert len(await rig.store.activity.since("coach", NOON)) == 1

    coach(scenario)


@pytest.mark.parametrize("failing", [False, True])
def test_a_button_is_answered_beside_the_listening(coach: Any, failing: bool) -> None:
    async def scenario(rig: Rig) -> None:
        channel = Scripting(
            rig, [said(1, "", button="done:r-aaaaaa", message_id="m1", callback_id="c")], [said(2, "/ping")]
        )
        channel.fail_answers = failing
        await listen(rig, channel)
        assert len(channel.answered) == (not failing)
        assert len(await rig.store.activity.since("coach", NOON)) == 1

    coach(scenario)


def test_the_commands_are_offered_until_it_works_once(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        channel = Scripting(rig, [], [])
        channel.fail_offers = 2
        await listen(rig, channel)
        assert channel.offered == [len(rig.coach.menu)] * 3

    coach(scenario)


def test_two_that_poll_one_channel_accept_an_update_once(coach_everywhere: Any) -> None:
    async def scenario(rig: Rig) -> None:
        both_asked = asyncio.Barrier(2)

        class Shared(Scripting):
            async def updates(self, cursor: str, wait_seconds: float) -> Updates:
                found = await super().updates(cursor, wait_seconds)
                await both_asked.wait()
                return found

        batch = [said(7, "one"), said(8, "two")]
        await asyncio.gather(listen(rig, Shared(rig, batch)), listen(rig, Shared(rig, batch)))
        assert await heard(rig) == ["one", "two"]
        assert await cursor(rig) == "behind 8"

    coach_everywhere(scenario)


def test_a_repeated_batch_is_handled_once(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        batch = [said(7, "one"), said(8, "/ping"), said(9, "two")]
        await listen(rig, Scripting(rig, batch, batch[:2], batch, [said(10, "three")]))
        assert await heard(rig) == ["one", "three", "two"]
        assert len(await rig.store.activity.since("coach", NOON)) == 1
        assert await cursor(rig) == "behind 10"

    coach(scenario)


def test_one_that_comes_late_does_not_set_the_cursor_back(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        listener = rig.coach.listener
        for number in (7, 8, 9):
            await listener.hear("coach", said(number, "/ping"), channel="scripting")
        assert await listener.hear("coach", said(7, "/ping"), channel="scripting") == ""
        await listener.move_on("coach", "scripting", "behind 7", "behind the strangers after 7")
        assert await cursor(rig) == "behind 9"
        assert len(await rig.store.activity.since("coach", NOON)) == 3

    coach(scenario)


def test_each_channel_has_its_own_position(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        listener = rig.coach.listener
        await listener.hear("coach", said(7, "here"), channel="scripting")
        await listener.hear("coach", said(7, "there"), channel="another")
        await listener.hear("coach", replace(said(7, "typed"), id="", cursor=""))
        assert await heard(rig) == ["here", "there", "typed"]
        assert await cursor(rig) == "behind 7"

    coach(scenario)


def test_a_position_knows_the_last_updates_and_no_more() -> None:
    position = Position()
    for number in range(RECENT_IDS + 1):
        position = position.after(said(number, ""))
    assert len(position.recent) == RECENT_IDS
    assert not position.has(said(0, ""))
    assert all(position.has(said(number, "")) for number in range(1, RECENT_IDS + 1))


def test_a_slow_answer_is_announced_by_typing_and_a_quick_one_is_not(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        class Typing(Scripting):
            capabilities = Capabilities(listens=True, typing=True)

            async def show_typing(self) -> None:
                shown.append((rig.clock.now() - NOON) / SECOND)

        shown: list[float] = []

        channel = Typing(rig, [said(1, "/goals")], [said(2, "hello")])
        running = asyncio.create_task(rig.dispatcher.run())
        await listen(rig, channel, 60)
        rig.dispatcher.stop()
        await running
        assert shown == [1, 5, 9]

    async def slowly() -> Any:
        await asyncio.sleep(10)
        return says("Here I am.")

    coach(scenario, Scripted(slowly))
