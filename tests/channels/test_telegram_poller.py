"""Two pollers, dead sockets, and how the poller gets out of both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

from nudge.channels.telegram import TelegramChannel
from nudge.errors import AnotherPollerError, ChannelUnavailableError
from nudge.testing.faults import Fault, FaultKind
from nudge.testing.telegram_server import PERSON, FakeTelegram
from tests.coach.outside import HastyClock


@pytest.fixture
def service() -> Iterator[FakeTelegram]:
    with FakeTelegram() as fake:
        yield fake


class ActingClock(HastyClock):
    """Does something the n-th time it is slept on, or sets itself back every time."""

    def __init__(self, after: int = 0, act: Callable[[], None] = lambda: None, *, backwards: bool = False) -> None:
        super().__init__()
        self._after = after
        self._act = act
        self._backwards = backwards

    async def sleep(self, seconds: float) -> None:
        await super().sleep(-seconds if self._backwards else seconds)
        if len(self.slept) == self._after:
            self._act()


def channel_at(service: FakeTelegram, clock: HastyClock, **options: float) -> TelegramChannel:
    return TelegramChannel(service.token, person=PERSON, clock=clock, api_base=service.url, **options)


async def test_a_conflict_that_passes_is_sat_out(service: FakeTelegram) -> None:
    """A restart conflicts with the poll of the process before it, which ends by itself."""
    clock = ActingClock(4, lambda: service.let_rival_poll(False))
    channel = channel_at(service, clock)
    service.let_rival_poll()
    service.say("hello")
    updates = await channel.updates("", 0)
    assert [update.text for update in updates.inbound] == ["hello"]
    assert clock.slept == [3.0] * 4
    await channel.close()


async def test_a_conflict_that_lasts_a_long_poll_period_ends_it_with_exit_code_7(service: FakeTelegram) -> None:
    clock = HastyClock()
    channel = channel_at(service, clock, long_poll=30)
    service.let_rival_poll()
    with pytest.raises(AnotherPollerError, match=r"Another process is polling.*Stop the other one") as caught:
        await channel.updates("", 0)
    assert caught.value.exit_code == 7
    assert sum(clock.slept) == 30  # the poll at exactly one period after the first conflict is the last
    assert service.polls == 11
    await channel.close()


async def test_a_clock_that_is_set_back_does_not_keep_it_waiting_for_ever(service: FakeTelegram) -> None:
    clock = ActingClock(backwards=True)
    channel = channel_at(service, clock, long_poll=30)
    service.let_rival_poll()
    with pytest.raises(AnotherPollerError):
        await channel.updates("", 0)
    assert len(clock.slept) == 10
    await channel.close()


async def test_a_webhook_does_not_pass_and_is_said_at_once(service: FakeTelegram) -> None:
    clock = HastyClock()
    channel = channel_at(service, clock)
    service.set_webhook()
    with pytest.raises(AnotherPollerError, match=r"webhook.*deleteWebhook"):
        await channel.updates("", 0)
    assert clock.slept == []
    await channel.close()


async def test_of_two_channels_the_one_that_polled_first_gets_the_conflict(service: FakeTelegram) -> None:
    first_clock, second_clock = HastyClock(), HastyClock()
    first = channel_at(service, first_clock, long_poll=0)
    second = channel_at(service, second_clock)
    polling = asyncio.create_task(first.updates("", 50))
    await asyncio.to_thread(service.wait_for_poll)
    other = asyncio.create_task(second.updates("", 50))
    with pytest.raises(AnotherPollerError):
        await polling
    service.say("for the second")
    updates = await other
    assert [update.text for update in updates.inbound] == ["for the second"]
    assert second_clock.slept == []
    await first.close()
    await second.close()


async def test_a_poll_that_went_dead_is_restarted_with_a_new_client(
    service: FakeTelegram, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[httpx2.AsyncClient] = []

    class Counted(httpx2.AsyncClient):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            made.append(self)

    monkeypatch.setattr("nudge.channels.telegram.client.httpx2.AsyncClient", Counted)
    channel = channel_at(service, HastyClock(), stall_margin=0.5)
    service.fail(Fault(FaultKind.HANG))
    service.say("after the stall")
    updates = await channel.updates("", 0)
    assert [update.text for update in updates.inbound] == ["after the stall"]
    assert channel.stalls == 1
    assert [client.is_closed for client in made] == [True, False]
    await channel.close()


async def test_a_service_that_stays_dead_is_an_outage(service: FakeTelegram) -> None:
    channel = channel_at(service, HastyClock(), stall_margin=0.1)
    service.fail(Fault(FaultKind.HANG), times=2)
    with pytest.raises(ChannelUnavailableError, match="did not answer"):
        await channel.updates("", 0)
    assert (channel.stalls, service.polls) == (1, 0)
    await channel.close()


async def test_the_watchdog_waits_for_the_whole_long_poll(service: FakeTelegram) -> None:
    """The margin alone would cut this poll: the time that was asked for counts on top of it."""
    channel = channel_at(service, HastyClock(), stall_margin=0)
    polling = asyncio.create_task(channel.updates("", 50))
    await asyncio.to_thread(service.wait_for_poll)
    service.say("in time")
    updates = await polling
    assert ([update.text for update in updates.inbound], channel.stalls) == (["in time"], 0)
    await channel.close()


async def test_a_cancelled_poll_leaves_nothing_behind(service: FakeTelegram) -> None:
    channel = channel_at(service, HastyClock())
    polling = asyncio.create_task(channel.updates("", 50))
    await asyncio.to_thread(service.wait_for_poll)
    polling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await polling
    await channel.close()
    service.say("for the next")
    again = channel_at(service, HastyClock())
    updates = await again.updates("", 0)
    assert [update.text for update in updates.inbound] == ["for the next"]
    await again.close()
