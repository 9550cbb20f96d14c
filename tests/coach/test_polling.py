"""Listening to a channel: what it does about outages, poison, stores that refuse, and another poller."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from typing import Any

import pytest

from nudge.coach.inbound import FAILED
from nudge.coach.polling import LONGEST_PAUSE, PAUSES, Polling
from nudge.errors import AnotherPollerError, ChannelUnavailableError, NotConfiguredError, StoreError
from nudge.instants import SECOND
from nudge.queue.channel import Inbound
from tests.coach.rig import Rig
from tests.times import NOON


class Queue:
    """A channel whose polls bring what the script says: updates, a pair with another offset, or an error."""

    def __init__(self, rig: Rig, *script: Any) -> None:
        self.rig = rig
        self.script = list(script)
        self.asked: list[tuple[int, float]] = []
        self.answered: list[str] = []
        self.fail_answers = False

    async def updates_after(self, offset: int, wait_seconds: float) -> tuple[list[Inbound], int]:
        self.asked.append((offset, (self.rig.clock.now() - NOON) / SECOND))
        if not self.script:
            await asyncio.Event().wait()
        step = self.script.pop(0)
        if isinstance(step, BaseException):
            raise step
        if isinstance(step, tuple):
            return step
        updates: Sequence[Inbound] = step
        return list(updates), max((one.update_id + 1 for one in updates), default=offset)

    async def acknowledge(self, update: Inbound, text: str = "") -> None:
        if self.fail_answers:
            raise ChannelUnavailableError("too late")
        self.answered.append(text)


def said(number: int, text: str, **more: Any) -> Inbound:
    return Inbound(number, NOON, text, **more)


async def listen(rig: Rig, queue: Queue, seconds: float = 3600, **options: Any) -> None:
    task = asyncio.create_task(Polling(queue, rig.talking.listener, rig.clock, "coach", **options).run())
    await asyncio.wait([task], timeout=seconds)
    if task.done():
        task.result()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def test_an_outage_is_waited_out_with_growing_pauses_and_the_channels_own_word_first(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        errors = [ChannelUnavailableError("down") for _ in range(7)]
        queue = Queue(rig, *errors, ChannelUnavailableError("slow down", retry_after=40), ChannelUnavailableError("x"))
        await listen(rig, queue)
        times = [at for _, at in queue.asked]
        pauses = [later - earlier for earlier, later in itertools.pairwise(times)]
        assert pauses == [*PAUSES, PAUSES[-1], 40, PAUSES[-1]]

    coach(scenario)


@pytest.mark.parametrize("error", [NotConfiguredError("no such bot"), RuntimeError("bug"), OSError("no network")])
def test_no_other_error_ends_it(coach: Any, error: Exception) -> None:
    async def scenario(rig: Rig) -> None:
        queue = Queue(rig, error, [said(1, "/goals")])
        await listen(rig, queue)
        assert len(queue.asked) == 3
        assert len(await rig.store.outbox.recent("coach")) == 1

    coach(scenario)


def test_a_pause_of_a_year_is_not_waited(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        queue = Queue(rig, ChannelUnavailableError("later", retry_after=3e7), [])
        await listen(rig, queue)
        assert queue.asked[1][1] == LONGEST_PAUSE

    coach(scenario)


def test_another_poller_ends_it(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        with pytest.raises(AnotherPollerError):
            await listen(rig, Queue(rig, AnotherPollerError("another")))

    coach(scenario)


def test_the_offset_follows_the_channel_also_down_and_over_what_was_refused(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        queue = Queue(rig, [said(700, "/ping")], ([], 705), ([said(5, "/ping")], 6), [])
        await listen(rig, queue)
        assert [offset for offset, _ in queue.asked] == [0, 701, 705, 6, 6]
        assert await rig.talking.listener.offset("coach") == 6

    coach(scenario)


def test_a_poisonous_update_is_left_behind_and_admitted(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        hear = rig.talking.listener.hear

        async def poisoned(agent: str, update: Inbound, **more: Any) -> str:
            if update.text == "poison":
                raise ValueError("a bug")
            return await hear(agent, update, **more)

        rig.talking.listener.hear = poisoned  # type: ignore[method-assign]
        await listen(rig, Queue(rig, [said(1, "poison"), said(2, "/ping")]))
        assert [message.text for message in await rig.store.outbox.recent("coach")] == [FAILED]
        assert await rig.talking.listener.offset("coach") == 3
        assert len(await rig.store.activity.since("coach", NOON)) == 1

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
        await listen(rig, Queue(rig, [said(1, "/ping")]))
        assert len(await rig.store.activity.since("coach", NOON)) == 1

    coach(scenario)


@pytest.mark.parametrize("failing", [False, True])
def test_a_button_is_answered_beside_the_listening(coach: Any, failing: bool) -> None:
    async def scenario(rig: Rig) -> None:
        queue = Queue(rig, [said(1, "", button="done:r-aaaaaa", message_id="m1", callback_id="c")], [said(2, "/ping")])
        queue.fail_answers = failing
        await listen(rig, queue)
        assert len(queue.answered) == (not failing)
        assert len(await rig.store.activity.since("coach", NOON)) == 1

    coach(scenario)


def test_the_commands_are_announced_until_it_works_once(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        tries: list[int] = []

        async def announce() -> None:
            tries.append(1)
            if len(tries) < 3:
                raise ChannelUnavailableError("not yet")

        await listen(rig, Queue(rig, [], []), announce=announce)
        assert len(tries) == 3

    coach(scenario)


def test_two_that_poll_one_channel_accept_an_update_once(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        both_asked = asyncio.Barrier(2)

        class Shared(Queue):
            async def updates_after(self, offset: int, wait_seconds: float) -> tuple[list[Inbound], int]:
                found = await super().updates_after(offset, wait_seconds)
                await both_asked.wait()
                return found

        batch = [said(7, "one"), said(8, "two")]
        await asyncio.gather(listen(rig, Shared(rig, batch)), listen(rig, Shared(rig, batch)))
        heard = [one.content for one in await rig.store.conversations.recent("coach") if one.role == "user"]
        assert sorted(heard) == ["one", "two"]
        assert await rig.talking.listener.offset("coach") == 9

    coach(scenario)


def test_one_that_comes_late_does_not_set_the_offset_back(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        listener = rig.talking.listener
        await listener.hear("coach", said(7, "one"), offset=8, asked=7)
        await listener.confirm("coach", 12)
        assert await listener.hear("coach", said(7, "one"), offset=8, asked=7) == ""
        await listener.confirm_batch("coach", 8, 7)
        assert await listener.offset("coach") == 12
        await listener.hear("coach", said(3, "anew"), offset=4, asked=12)
        assert await listener.offset("coach") == 4

    coach(scenario)
