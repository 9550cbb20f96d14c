"""The outbox: what is committed is sent, once where that can be known."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from nudge.attention.quiet import Person, QuietHours
from nudge.errors import ChannelUnavailableError, NotConfiguredError, NudgeError, StoreError
from nudge.instants import HOUR, MINUTE, SECOND, Instant, to_datetime
from nudge.queue.agents import Agent
from nudge.queue.channel import REPEAT_MARK, Outbound, Receipt
from nudge.queue.delivery import HELD, Delivery
from nudge.queue.dispatch import Dispatcher
from nudge.queue.outbox import Message, Sending, Wait
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


ON_ONE_STORE = pytest.mark.parametrize("store_url", ["memory"], indirect=True)
"""Hours of tries, one a minute: what they write is written on every store by the other tests."""


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


@ON_ONE_STORE
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


@pytest.mark.parametrize(
    ("age", "sent"),
    [
        pytest.param(2 * MINUTE, ["0", "1"], id="what is old is decided about just before it is sent"),
        pytest.param(45 * SECOND, ["0", "1"], id="what was fresh when the turn began is not any more"),
        pytest.param(0, ["0", "1", "2", "3"], id="what is fresh was decided about when it was written"),
    ],
)
def test_a_message_behind_slow_sends_is_looked_at_again(in_store: InStore, age: int, sent: list[str]) -> None:
    """Quiet begins 20 s after the first is sent, and each send takes 12 s."""
    quiet = Instant(NOON + 20 * SECOND)

    class Slow(Channel):
        clock: VirtualClock

        async def send(self, message: Outbound) -> Receipt:
            await self.clock.sleep(12)
            return await super().send(message)

    async def second_look(message: Message, now: Instant) -> Wait | None:
        return Wait(Instant(NOON + HOUR)) if now >= quiet else None

    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        channel = Slow()
        channel.clock = clock
        delivery = Delivery(store, lambda agent: channel, second_look, clock)
        await store.agents.add(Agent("coach", "coach", NOON))
        for number in range(4):
            await delivery.post(replace(message(f"{number}"), created_at=Instant(NOON - age)))
        dispatcher = Dispatcher(store, clock, {"deliver": delivery.deliver}, owner="d")
        running = asyncio.create_task(dispatcher.run())
        await clock.sleep(300)
        dispatcher.stop()
        await running
        assert channel.texts == sent

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


def test_what_was_asked_for_is_tried_until_the_channel_says_yes(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        channel = Channel(*[unsure() for _ in range(9)])
        await run(clock, store, channel, 4000, message("x", asked=True))
        assert channel.texts == [REPEAT_MARK + "x"]
        row = await store.outcomes.get("coach", "x", NOON)
        assert row
        assert row.result is Result.FIRED_LATE
        assert row.detail["delivery"] == "The gateway gave up. Sent on attempt 10, marked as a possible repeat."

    in_store(scenario)


def unsure() -> ChannelUnavailableError:
    return ChannelUnavailableError("The gateway gave up.", maybe_sent=True)


def away() -> ChannelUnavailableError:
    return ChannelUnavailableError("no route")


def test_an_outage_pauses_the_lane_instead_of_using_up_one_message_after_the_other(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        channel = Channel(*[unsure() for _ in range(4)])
        await run(clock, store, channel, 60, *(message(f"{n}", asked=True) for n in range(3)))
        assert [row.attempts for row in reversed(await store.outbox.recent("coach"))] == [3, 0, 0]
        assert await states(store) == [Sending.UNSURE, Sending.PENDING, Sending.PENDING]
        await run(clock, store, channel, 200)
        assert channel.texts == [REPEAT_MARK + "0", "1", "2"]
        assert await states(store) == [Sending.SENT] * 3

    in_store(scenario)


def test_while_it_waits_the_outcome_says_what_happened_and_when_it_is_retried(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await run(clock, store, Channel(unsure()), 1, message("x", asked=True))
        row = await store.outcomes.get("coach", "x", NOON)
        assert row
        assert (row.result, row.detail["delivery"]) == (Result.FIRED, "The gateway gave up. Retrying in 5 s.")

    in_store(scenario)


def test_a_certain_failure_does_not_hide_that_the_one_before_was_not(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        channel = Channel(unsure(), away(), NotConfiguredError("The token was revoked."))
        await run(clock, store, channel, 200, message("x", asked=True))
        assert channel.texts == [REPEAT_MARK + "x"]

    in_store(scenario)


def test_after_something_went_through_the_next_failure_is_the_first_again(in_store: InStore) -> None:
    """Four failures, one message out, and one failure more: it is retried after 5 s, not after a minute."""

    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        channel = Timed(clock, *[away() for _ in range(4)], None, away())
        await run(clock, store, channel, 200, message("a", asked=True), message("b", asked=True))
        assert [text for text, _ in channel.seen] == ["a", "b"]
        assert channel.moments[1] - channel.moments[0] == 5 * SECOND

    in_store(scenario)


def test_a_message_that_the_channel_cannot_take_holds_up_no_other_for_long(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        class Picky(Channel):
            async def send(self, message: Outbound) -> Receipt:
                if "poison" in message.text and clock.now() < NOON + 2 * HOUR:
                    raise unsure()
                return await super().send(message)

        channel = Picky()
        await run(clock, store, channel, 600, message("poison", asked=True), message("good", asked=True))
        assert channel.texts == ["good"]
        await run(clock, store, channel, 2 * 3600)
        assert channel.texts == ["good", REPEAT_MARK + "poison"]

    in_store(scenario)


def test_chatter_waits_until_the_channel_is_back_and_is_not_used_up(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        class Away(Channel):
            async def check(self) -> str:
                if clock.now() < NOON + HOUR:
                    raise unsure()
                return ""

        channel = Away(unsure())
        await run(clock, store, channel, 3700, *(message(f"{n}") for n in range(4)))
        assert channel.texts == ["1", "2", "3"]
        assert await states(store) == [Sending.UNKNOWN, *[Sending.SENT] * 3]
        row = await store.outcomes.get("coach", "0", NOON)
        assert row
        assert row.reason == "The gateway gave up. It won't be sent again."

    in_store(scenario)


@pytest.mark.parametrize(
    ("hours", "state"),
    [
        pytest.param(23, Sending.SENT, id="an answer from today arrives"),
        pytest.param(25, Sending.MISSED, id="an answer from yesterday is missed"),
    ],
)
@pytest.mark.parametrize("fault", [away, unsure])
@ON_ONE_STORE
def test_an_answer_that_is_older_than_a_day_is_missed_and_says_why(
    in_store: InStore, fault: Callable[[], Exception], hours: int, state: Sending
) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        class Away(Channel):
            async def send(self, message: Outbound) -> Receipt:
                if clock.now() < NOON + hours * HOUR:
                    raise fault()
                return await super().send(message)

        one, behind = (message(text, asked=True) for text in ("answer", "behind it"))
        await run(clock, store, Away(), 26 * 3600, one, behind)
        assert await states(store) == [state, state]
        if state is Sending.MISSED:
            for key in ("answer", "behind it"):
                row = await store.outcomes.get("coach", key, NOON)
                assert row
                assert row.result is Result.MISSED
                assert row.reason.startswith("It could not be sent for 1d")
                assert row.reason.endswith(f", and by then it was too late. {fault()}")
                assert "delivery" not in row.detail
            assert [line.kind for line in await store.feed.recent() if "too late" in line.text] == ["missed", "missed"]

    in_store(scenario)


class Splitting(Channel):
    """Sends a text line by line, as a channel does with one that is too long. `faults` are raised one per line."""

    async def send(self, message: Outbound) -> Receipt:
        lines, arrived = message.body.split("/"), list(message.arrived)
        for number in range(len(arrived), len(lines)):
            marked = message.possibly_repeated and number == len(message.arrived)
            line = (REPEAT_MARK if marked else "") + lines[number]
            receipt = await super().send(replace(message, text=line))
            arrived.append(f"{receipt.message_ids[0]}.{number}")
            if number < len(lines) - 1:
                await message.on_part(arrived[-1])
        return Receipt(tuple(arrived))


@pytest.mark.parametrize(
    ("faults", "seen"),
    [
        pytest.param([None, unsure()], ["a", "(?) b", "c"], id="unsure in the second: only that one, marked"),
        pytest.param([None, unsure(), unsure()], ["a", "(?) b", "c"], id="twice"),
        pytest.param([None, away()], ["a", "b", "c"], id="not sent: the second without a mark"),
        pytest.param([None, None, unsure()], ["a", "b", "(?) c"], id="unsure in the last"),
        pytest.param([unsure(), None, unsure()], ["(?) a", "(?) b", "c"], id="unsure in two of them"),
        pytest.param([unsure(), away(), None, away()], ["(?) a", "b", "c"], id="a certain failure behind it"),
    ],
)
def test_each_part_remembers_whether_it_arrived_also_in_another_process(
    in_store: InStore, faults: list[Exception | None], seen: list[str]
) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        channel = Splitting(*faults)
        await run(clock, store, channel, 3, message("a/b/c", asked=True))
        await run(clock, store, channel, 200)  # a delivery that knows only what is stored
        assert [text.replace(REPEAT_MARK, "(?) ") for text in channel.texts] == seen
        (row,) = await store.outbox.recent("coach")
        assert row.receipt == tuple(f"m{row.id}.{number}" for number in range(3))
        assert row.state is Sending.SENT

    in_store(scenario)


def test_what_is_known_to_have_arrived_is_not_sent_again_if_the_store_was_away(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        channel = Splitting()
        refused = iter([True, False, True])
        arrived, mark = store.outbox.arrived, store.outbox.mark

        async def note(*args: Any) -> None:
            if next(refused, False):
                raise StoreError("The disk is full.")
            await arrived(*args)

        async def note_state(number: int, state: Sending, **more: Any) -> None:
            if state is Sending.SENT and next(refused, False):
                raise StoreError("The disk is full.")
            await mark(number, state, **more)

        store.outbox.arrived, store.outbox.mark = note, note_state  # type: ignore[method-assign]
        await run(clock, store, channel, 60, message("a/b/c", asked=True))
        assert channel.texts == ["a", "b", "c"]
        assert await states(store) == [Sending.SENT]

    in_store(scenario)


def test_more_messages_than_one_look_sees_may_wait_for_a_better_hour(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await store.agents.add(Agent("coach", "coach", NIGHT))
        channel = Timed(clock)
        delivery = Delivery(store, lambda agent: channel, SecondLook(store, lambda agent: QUIET))
        await clock.sleep(120)
        for number in range(150):
            await delivery.post(written(f"{number}", "briefing"))
        await delivery.post(written("answer", "reply", asked=True))
        dispatcher = Dispatcher(store, clock, {"deliver": delivery.deliver}, owner="d", longest_wait=3600)
        running = asyncio.create_task(dispatcher.run())
        await clock.sleep(60)
        assert channel.texts == ["answer"]
        await clock.sleep(9 * 3600)
        assert len(channel.texts) == 151
        dispatcher.stop()
        await running

    in_store(scenario, start=NIGHT)


@pytest.mark.parametrize(
    ("schedule", "hours", "missed"),
    [
        pytest.param({"every": "3h"}, 1, False, id="within half its period it is delivered"),
        pytest.param({"every": "3h"}, 2, True, id="later it is missed: the next one is nearer"),
        pytest.param({"every": "3h", "late": "always"}, 50, False, id="always"),
        pytest.param({"at": "2026-03-01T12:00"}, 50, False, id="a single time is always worth it"),
    ],
)
@ON_ONE_STORE
def test_a_reminder_is_tried_for_as_long_as_its_own_lateness_says(
    in_store: InStore, schedule: dict[str, str], hours: int, missed: bool
) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        awake = Person(TORONTO, None)
        await store.agents.add(Agent("coach", "coach", NIGHT))
        reminders = Reminders(store, lambda agent: awake, new_id=iter(["r-aaaaaa"]).__next__)
        await reminders.add("coach", asked("mine", to_person=True, **schedule), NIGHT)

        class Away(Channel):
            async def send(self, message: Outbound) -> Receipt:
                if clock.now() < NIGHT + hours * HOUR:
                    raise unsure()
                return await super().send(message)

        channel = Away()
        delivery = Delivery(store, lambda agent: channel, SecondLook(store, lambda agent: awake))
        one = written("mine", "reminder", asked=True, key="reminder:r-aaaaaa", reminder_id="r-aaaaaa")
        await store.outcomes.record(Outcome("coach", one.key, one.kind, NIGHT, NIGHT, Result.FIRED))
        await delivery.post(one)
        dispatcher = Dispatcher(store, clock, {"deliver": delivery.deliver}, owner="d", longest_wait=3600)
        running = asyncio.create_task(dispatcher.run())
        await clock.sleep((hours + 1) * 3600)
        dispatcher.stop()
        await running
        assert channel.texts == ([] if missed else [REPEAT_MARK + "mine"])
        row = await store.outcomes.get("coach", one.key, NIGHT)
        assert row
        assert row.result is (Result.MISSED if missed else Result.FIRED_LATE)

    in_store(scenario, start=NIGHT)


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


def test_a_turn_of_slow_sends_looks_again_when_the_quiet_hours_begin(in_store: InStore) -> None:
    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        await store.agents.add(Agent("coach", "coach", NIGHT))
        reminders = Reminders(store, lambda agent: QUIET, new_id=iter(["r-aaaaaa"]).__next__)
        await reminders.add("coach", asked("the role's", every="3h", to_person=True), NIGHT, Source.ROLE)
        channel = Slow(clock)
        delivery = Delivery(store, lambda agent: channel, SecondLook(store, lambda agent: QUIET), clock)
        for number in range(4):
            await delivery.post(written(f"routine {number}", "reminder", asked=True, reminder_id="r-aaaaaa"))
        dispatcher = Dispatcher(store, clock, {"deliver": delivery.deliver}, owner="d", longest_wait=3600)
        running = asyncio.create_task(dispatcher.run())
        await clock.sleep(9 * 3600)
        dispatcher.stop()
        await running
        assert [text for text, at in channel.seen if at < "03:00"] == ["routine 0", "routine 1"]
        assert [text for text, at in channel.seen if at >= "10:00"] == ["routine 2", "routine 3"]
        assert len(channel.seen) == 4

    in_store(scenario, start=NIGHT)


class Timed(Channel):
    """The same, and it notes the person's time."""

    def __init__(self, clock: VirtualClock, *faults: Exception | None) -> None:
        super().__init__(*faults)
        self.clock = clock
        self.seen: list[tuple[str, str]] = []
        self.moments: list[Instant] = []

    async def send(self, message: Outbound) -> Receipt:
        receipt = await super().send(message)
        self.moments.append(self.clock.now())
        self.seen.append((message.text, f"{to_datetime(self.clock.now(), TORONTO):%H:%M}"))
        return receipt


class Slow(Timed):
    """Every send takes most of a minute."""

    async def send(self, message: Outbound) -> Receipt:
        await self.clock.sleep(50)
        return await super().send(message)
