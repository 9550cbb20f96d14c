"""The outbox: what is committed is sent, once where that can be known."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from nudge.attention.quiet import Person, QuietHours
from nudge.errors import ChannelUnavailableError, NotConfiguredError, NudgeError
from nudge.instants import HOUR, SECOND, Instant, to_datetime
from nudge.queue.agents import Agent
from nudge.queue.channel import Outbound, Receipt
from nudge.queue.delivery import HELD, REPEAT_MARK, Delivery
from nudge.queue.dispatch import Dispatcher
from nudge.queue.outbox import Message, Sending
from nudge.queue.outcomes import Outcome, Result
from nudge.reminders.handover import SecondLook
from nudge.reminders.reminder import Source
from nudge.reminders.service import Reminders
from nudge.simulation.virtual_time import VirtualClock
from nudge.stores.store import SqlStore
from nudge.testing import RecordingChannel as Channel
from tests.reminders.reminder_values import asked
from tests.times import NOON, TORONTO, toronto

InStore = Callable[..., Any]


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
        assert channel.texts == ["0", "1", "2", "3", "4"]
        assert await states(store) == [Sending.SENT] * 5
        assert await store.timers.count() == 0

    in_store(scenario)


def test_a_channel_that_is_away_is_tried_again_in_its_own_time_and_order_is_kept(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        faults = [ChannelUnavailableError("busy", retry_after=40), NotConfiguredError("The token was revoked.")]
        channel = Channel(None, *faults)
        await run(clock, store, channel, 200, *(message(f"{n}") for n in range(3)))
        assert channel.texts == ["0", "1", "2"]
        (row,) = await store.outcomes.recent(key="deliver")
        assert (row.result, row.final) == (Result.FIRED_LATE, True)

    in_store(scenario)


def test_after_an_outage_it_takes_no_more_than_a_minute(in_store: InStore) -> None:
    """Growing delays would let the person wait for an hour on a channel that works."""

    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        away_until = NOON + 3 * HOUR

        class Away(Channel):
            async def send(self, message: Outbound) -> Receipt:
                if clock.now() < away_until:
                    raise ChannelUnavailableError("no route")
                return await super().send(message)

        channel = Away()
        await run(clock, store, channel, 3 * 3600 + 61, message("x", asked=True))
        assert channel.texts == ["x"]

    in_store(scenario)


def test_a_new_start_is_a_new_chance_for_what_was_refused(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        revoked = [NotConfiguredError("The token was revoked.") for _ in range(20)]
        await run(clock, store, Channel(*revoked), 2 * 3600, message("x", asked=True))
        fixed = Channel()
        await Delivery(store, lambda agent: fixed).resume("coach", clock.now())
        await run(clock, store, fixed, 1)
        assert fixed.texts == ["x"]

    in_store(scenario)


def test_what_cannot_be_sent_at_all_fails_alone(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        channel = Channel(NudgeError("The person has blocked the bot."))
        await run(clock, store, channel, 5, message("bad"), message("good"))
        assert channel.texts == ["good"]
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
        assert channel.texts == sent
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
        assert channel.texts == ["a", "b"]
        dispatcher.stop()
        await running

    in_store(scenario)


NIGHT = toronto(2026, 2, 18, 1, 59)
QUIET = Person(TORONTO, QuietHours(2 * 60, 10 * 60, TORONTO))


def written(text: str, kind: str, *, asked: bool = False, key: str = "", reminder_id: str = "") -> Message:
    return Message("coach", text, kind, NIGHT, asked=asked, key=key or text, slot_at=NIGHT, reminder_id=reminder_id)


def test_what_went_out_too_late_for_the_night_waits_or_is_dropped_and_replies_never_wait(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await store.agents.add(Agent("coach", "coach", NIGHT))
        reminders = Reminders(store, lambda agent: QUIET, new_id=iter(["r-aaaaaa", "r-bbbbbb"]).__next__)
        await reminders.add("coach", asked("mine", at="2026-03-01T12:00", to_person=True), NIGHT)
        await reminders.add("coach", asked("the role's", every="3h", to_person=True), NIGHT, Source.ROLE)
        channel = Timed(clock, ChannelUnavailableError("away", retry_after=180))
        delivery = Delivery(store, lambda agent: channel, SecondLook(store, lambda agent: QUIET))
        for one in (
            written("answer", "reply", asked=True),
            written("mine", "reminder", asked=True, reminder_id="r-aaaaaa"),
            written("the role's", "reminder", asked=True, reminder_id="r-bbbbbb"),
            written("idea", "heartbeat"),
            written("go to bed", "briefing", key="briefing:bedtime"),
            written("good morning", "briefing", key="briefing:morning"),
        ):
            await store.outcomes.record(Outcome("coach", one.key, one.kind, NIGHT, NIGHT, Result.FIRED))
            await delivery.post(one)
        dispatcher = Dispatcher(store, clock, {"deliver": delivery.deliver}, owner="d", longest_wait=3600)
        running = asyncio.create_task(dispatcher.run())
        await clock.sleep(6 * 3600)
        await delivery.post(replace(written("later answer", "reply"), created_at=clock.now()))
        dispatcher.poke()
        await clock.sleep(4 * 3600)
        dispatcher.stop()
        await running
        assert channel.seen == [
            ("answer", "02:02"),
            ("mine", "02:02"),
            ("later answer", "07:59"),
            ("the role's", "10:00"),
            ("good morning", "10:00"),
        ]
        for key in ("idea", "briefing:bedtime"):
            outcome = await store.outcomes.get("coach", key, NIGHT)
            assert outcome is not None
            assert outcome.result is Result.SUPPRESSED
            assert outcome.reason == "It could not be sent in time. It fell in your quiet hours."
        assert not await store.outbox.pending("coach")
        assert await store.timers.get("coach", HELD) is None

    in_store(scenario, start=NIGHT)


def test_within_a_minute_the_gates_word_holds(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await store.agents.add(Agent("coach", "coach", NIGHT))
        channel = Timed(clock)
        delivery = Delivery(store, lambda agent: channel, SecondLook(store, lambda agent: QUIET))
        await clock.sleep(70)
        await delivery.post(replace(written("idea", "heartbeat"), created_at=Instant(clock.now() - 59 * SECOND)))
        await delivery.post(replace(written("old idea", "heartbeat"), created_at=Instant(clock.now() - 60 * SECOND)))
        dispatcher = Dispatcher(store, clock, {"deliver": delivery.deliver}, owner="d")
        running = asyncio.create_task(dispatcher.run())
        await clock.sleep(60)
        dispatcher.stop()
        await running
        assert channel.seen == [("idea", "02:00")]

    in_store(scenario, start=NIGHT)


class Timed(Channel):
    """The same, and it notes the person's time."""

    def __init__(self, clock: VirtualClock, *faults: Exception | None) -> None:
        super().__init__(*faults)
        self.clock = clock
        self.seen: list[tuple[str, str]] = []

    async def send(self, message: Outbound) -> Receipt:
        receipt = await super().send(message)
        self.seen.append((message.text, f"{to_datetime(self.clock.now(), TORONTO):%H:%M}"))
        return receipt
