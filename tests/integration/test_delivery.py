"""The outbox: what is committed is sent, once where that can be known."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from nudge.adapters.sql.store import SqlStore
from nudge.adapters.virtual_time import VirtualClock
from nudge.app.delivery import REPEAT_MARK, Delivery
from nudge.app.dispatch import Dispatcher
from nudge.app.ports.messenger import Outbound, Receipt
from nudge.app.ports.records import Agent, Message, Sending
from nudge.core.outcome import Outcome, Result
from nudge.errors import ChannelUnavailableError, NotConfiguredError, NudgeError
from tests.times import NOON

InStore = Callable[..., Any]


class Channel:
    """A channel that fails as it is told to, one entry a call."""

    def __init__(self, *faults: Exception | None) -> None:
        self.faults = list(faults)
        self.sent: list[str] = []

    async def send(self, message: Outbound) -> Receipt:
        fault = self.faults.pop(0) if self.faults else None
        if fault:
            raise fault
        self.sent.append(message.text)
        return Receipt((f"m{message.id}",))

    async def close(self) -> None:
        return None


def message(text: str, *, asked: bool = False) -> Message:
    return Message("coach", text, "reminder" if asked else "heartbeat", NOON, asked=asked, key=text, slot_at=NOON)


async def run(clock: VirtualClock, store: SqlStore, channel: Channel, seconds: float, *texts: Message) -> None:
    await store.agents.add(Agent("coach", "coach", NOON))
    delivery = Delivery(store, lambda agent: channel)
    for one in texts:
        await store.outcomes.record(Outcome("coach", one.key, one.kind, NOON, NOON, Result.FIRED))
        await delivery.post(one)
    dispatcher = Dispatcher(store, clock, {"deliver": delivery.deliver}, owner="d")
    running = asyncio.create_task(dispatcher.run())
    await clock.sleep(seconds)
    dispatcher.stop()
    await running


async def states(store: SqlStore) -> list[Sending]:
    return [row.state for row in reversed(await store.outbox.recent("coach"))]


def test_messages_go_out_in_order(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        channel = Channel()
        await run(clock, store, channel, 5, *(message(f"{n}") for n in range(5)))
        assert channel.sent == ["0", "1", "2", "3", "4"]
        assert await states(store) == [Sending.SENT] * 5
        assert await store.timers.count() == 0

    in_store(scenario)


def test_a_channel_that_is_away_is_tried_again_in_its_own_time_and_order_is_kept(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        faults = [ChannelUnavailableError("busy", retry_after=40), NotConfiguredError("The token was revoked.")]
        channel = Channel(None, *faults)
        await run(clock, store, channel, 200, *(message(f"{n}") for n in range(3)))
        assert channel.sent == ["0", "1", "2"]
        (row,) = await store.outcomes.recent(key="deliver")
        assert (row.result, row.final) == (Result.FIRED_LATE, True)

    in_store(scenario)


def test_what_cannot_be_sent_at_all_fails_alone(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        channel = Channel(NudgeError("The person has blocked the bot."))
        await run(clock, store, channel, 5, message("bad"), message("good"))
        assert channel.sent == ["good"]
        assert await states(store) == [Sending.FAILED, Sending.SENT]
        row = await store.outcomes.get("coach", "bad", NOON)
        assert row
        assert row.result is Result.FAILED
        assert "blocked" in row.reason

    in_store(scenario)


@pytest.mark.parametrize(
    ("asked", "sent", "state", "result"),
    [
        pytest.param(True, [REPEAT_MARK + "x"], Sending.SENT, Result.FIRED, id="asked for: once more, marked"),
        pytest.param(False, [], Sending.UNKNOWN, Result.UNKNOWN, id="chatter: not again"),
    ],
)
@pytest.mark.parametrize("how", ["died while sending", "no answer came back"])
def test_nobody_knows_whether_it_arrived(
    in_store: InStore, asked: bool, sent: list[str], state: Sending, result: Result, how: str
) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        if how == "died while sending":
            channel = Channel()
            await store.agents.add(Agent("coach", "coach", NOON))
            await store.outcomes.record(Outcome("coach", "x", "test", NOON, NOON, Result.FIRED))
            number = await Delivery(store, lambda agent: channel).post(message("x", asked=asked))
            await store.outbox.mark(number, Sending.SENDING)
            await run(clock, store, channel, 60)
        else:
            channel = Channel(ChannelUnavailableError("time-out", maybe_sent=True))
            await run(clock, store, channel, 60, message("x", asked=asked))
        assert channel.sent == sent
        assert await states(store) == [state]
        row = await store.outcomes.get("coach", "x", NOON)
        assert row
        assert row.result is result

    in_store(scenario)


def test_a_message_that_stays_uncertain_is_not_repeated_for_ever(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        channel = Channel(*[ChannelUnavailableError("time-out", maybe_sent=True) for _ in range(9)])
        await run(clock, store, channel, 4000, message("x", asked=True))
        assert len(channel.faults) == 7
        assert await states(store) == [Sending.UNKNOWN]

    in_store(scenario)


def test_what_is_posted_while_sending_is_sent_too(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        class Slow(Channel):
            async def send(self, message: Outbound) -> Receipt:
                await clock.sleep(20)
                return await super().send(message)

        channel = Slow()
        await store.agents.add(Agent("coach", "coach", NOON))
        delivery = Delivery(store, lambda agent: channel)
        dispatcher = Dispatcher(store, clock, {"deliver": delivery.deliver}, owner="d", longest_wait=600)
        await delivery.post(message("a"))
        running = asyncio.create_task(dispatcher.run())
        await clock.sleep(10)
        await delivery.post(message("b"))
        await clock.sleep(60)
        assert channel.sent == ["a", "b"]
        dispatcher.stop()
        await running

    in_store(scenario)
