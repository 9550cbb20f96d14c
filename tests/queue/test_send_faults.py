"""Every way in which a send can fail on the wire, against the whole daemon: what the person sees in the end.

The daemon lives in virtual time; Telegram is the fake one, over true HTTP. A reminder, a long answer and a short one
are on their way while the service fails. Each line must arrive, and what arrives twice must say so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace

import pytest

from nudge.channels.telegram import TelegramChannel
from nudge.daemon.assemble import Daemon, Options, Ports
from nudge.home.prices import load_prices
from nudge.queue.channel import REPEAT_MARK, Inbound, Outbound, Receipt
from nudge.queue.outbox import Sending
from nudge.queue.outcomes import Outcome, Result
from nudge.simulation.virtual_time import VirtualClock, run_virtual
from nudge.stores.open import open_store
from nudge.testing.faults import Fault, FaultKind
from nudge.testing.life import COACH, Texts, templates
from nudge.testing.telegram_server import PERSON, FakeTelegram
from tests.times import NOON

SEND = "sendMessage"
LONG = [f"line {number:03} " + "words " * 8 + "end" for number in range(180)]
SHORT = "a short answer"
REMINDER = "stretch"

FAULTS: dict[str, Fault] = {
    "500": Fault.status_of(500, on=SEND),
    "502": Fault.status_of(502, on=SEND),
    "503": Fault.status_of(503, on=SEND),
    "504": Fault.status_of(504, on=SEND),
    "520": Fault.status_of(520, on=SEND),
    "409": Fault.status_of(409, on=SEND),
    "a page with 200": Fault.page_of(200, on=SEND),
    "nothing with 200": Fault.page_of(200, "", on=SEND),
    "a page with 302": Fault.page_of(302, on=SEND),
    "a page with 403": Fault.page_of(403, on=SEND),
    "a page with 502": Fault.page_of(502, on=SEND),
    "not ok with 200": Fault.page_of(200, '{"ok": false}', on=SEND),
    "broken JSON": Fault(FaultKind.BROKEN_JSON, on=SEND),
    "a cut body": Fault(FaultKind.TRUNCATE, on=SEND),
    "a reset": Fault(FaultKind.DROP, on=SEND),
    "silence": Fault(FaultKind.HANG, on=SEND),
}
MANY = 1000


class OneAtATime(TelegramChannel):
    """Keeps no connection open: virtual time waits for open ones."""

    async def send(self, message: Outbound) -> Receipt:
        try:
            return await super().send(message)
        finally:
            await self.close()


class Home:
    """The daemon and the person's view."""

    def __init__(self, daemon: Daemon, clock: VirtualClock, service: FakeTelegram) -> None:
        self.daemon = daemon
        self.clock = clock
        self.service = service

    async def answer(self, text: str) -> None:
        await self.daemon.coach.replies.post(COACH, text, self.clock.now())
        self.daemon.poke()

    async def say(self, text: str) -> None:
        await self.daemon.coach.listener.hear(COACH, Inbound(self.clock.now(), text))

    @property
    def view(self) -> list[str]:
        """The messages as they stand in the chat, a mark that went ahead alone joined to what follows it."""
        seen: list[str] = []
        mark = ""
        for message in self.service.sent:
            if message.text == REPEAT_MARK.strip():
                mark = REPEAT_MARK
            else:
                seen.append(mark + message.text)
                mark = ""
        return seen

    async def reminder(self) -> Outcome:
        [row] = await self.daemon.store.outcomes.recent(kind="reminder")
        return row

    async def states(self) -> set[Sending]:
        return {row.state for row in await self.daemon.store.outbox.recent()}


@pytest.fixture
def service() -> Iterator[FakeTelegram]:
    with FakeTelegram() as telegram:
        yield telegram


def at_home(service: FakeTelegram, scenario: Callable[[Home], Awaitable[None]]) -> None:
    async def main(clock: VirtualClock) -> None:
        store = await open_store("sqlite://:memory:")
        channel = OneAtATime(service.token, person=PERSON, clock=clock, api_base=service.url)
        ports = Ports(store, clock, channel, Texts(templates("UTC")), load_prices())
        daemon = Daemon(ports, Options(owner="test", timezone="UTC", longest_wait=3600))
        await daemon.start()
        running = asyncio.create_task(daemon.run())
        try:
            await scenario(Home(daemon, clock, service))
        finally:
            daemon.stop()
            await running
            await store.close()

    run_virtual(main, NOON)


def check(view: list[str]) -> None:
    """Each line at least once and in order; what is there twice is marked from the second time on."""
    lines = [*LONG, SHORT, REMINDER]
    seen: dict[str, int] = {}
    for number, message in enumerate(view):
        marked = message.startswith(REPEAT_MARK)
        for line in message.removeprefix(REPEAT_MARK).splitlines():
            if line.rstrip() not in {one.rstrip() for one in lines}:
                continue
            if line in seen:
                assert marked, f"{line!r} is in messages {seen[line]} and {number}, and the second does not say so"
            seen.setdefault(line, number)
    missing = [line for line in lines if line.rstrip() not in {one.rstrip() for one in seen}]
    assert not missing, f"{len(missing)} lines never arrived, {missing[0]!r} first"


@pytest.mark.parametrize("when", ["before it is delivered", "after it is delivered"])
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_ninety_seconds_of_it_lose_nothing(service: FakeTelegram, fault: Fault, when: str) -> None:
    async def scenario(home: Home) -> None:
        await home.say(f"remind me to {REMINDER} in 30 seconds")
        await home.clock.sleep(10)
        service.fail(replace(fault, done=when.startswith("after")), MANY)
        await home.answer("\n".join(LONG))
        await home.clock.sleep(10)
        await home.answer(SHORT)
        await home.clock.sleep(80)
        tried = [row.attempts for row in await home.daemon.store.outbox.recent() if row.attempts]
        assert len(tried) == 2, "the confirmation, and one message that was tried while the others waited"
        service.heal()
        await home.clock.sleep(400)
        check(home.view)
        assert await home.states() == {Sending.SENT}
        outcome = await home.reminder()
        assert outcome.result is Result.FIRED_LATE
        assert "died" not in f"{outcome.reason} {outcome.detail}"

    at_home(service, scenario)


@pytest.mark.parametrize("when", ["before it is delivered", "after it is delivered"])
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_two_of_them_in_the_second_part_repeat_only_that(service: FakeTelegram, fault: Fault, when: str) -> None:
    async def scenario(home: Home) -> None:
        done = when.startswith("after")
        service.fail(replace(fault, done=done, after=1))
        service.fail(replace(fault, done=done))
        await home.answer("\n".join(LONG))
        await home.clock.sleep(200)
        check([*home.view, SHORT, REMINDER])
        first, *middle, last = home.view
        assert not first.startswith(REPEAT_MARK)
        assert not last.startswith(REPEAT_MARK)
        assert len({text.removeprefix(REPEAT_MARK) for text in middle}) == 1
        assert [text.startswith(REPEAT_MARK) for text in middle].count(False) == int(done)
        assert await home.states() == {Sending.SENT}

    at_home(service, scenario)


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        pytest.param(Fault.status_of(502, on=SEND), "Telegram answered 502 (Bad Gateway).", id="502"),
        pytest.param(Fault.page_of(503, on=SEND), "Telegram answered 503.", id="a page"),
        pytest.param(
            Fault(FaultKind.DROP, on=SEND), "The connection to Telegram broke off (RemoteProtocolError).", id="a reset"
        ),
        pytest.param(Fault(FaultKind.HANG, on=SEND), "Telegram did not answer sendMessage within 30 s.", id="silence"),
    ],
)
def test_the_reason_says_what_happened(service: FakeTelegram, fault: Fault, says: str) -> None:
    async def scenario(home: Home) -> None:
        await home.say(f"remind me to {REMINDER} in 1 minute")
        await home.clock.sleep(2)
        service.fail(fault)
        await home.clock.sleep(150)
        outcome = await home.reminder()
        assert outcome.detail["delivery"] == f"{says} Sent on attempt 2, marked as a possible repeat."

    at_home(service, scenario)


def test_what_certainly_did_not_arrive_is_sent_again_without_a_mark(service: FakeTelegram) -> None:
    async def scenario(home: Home) -> None:
        service.fail(Fault.status_of(429, retry_after=20, on=SEND, after=1), 2)
        await home.answer("\n".join(LONG))
        await home.clock.sleep(200)
        check([*home.view, SHORT, REMINDER])
        assert not any(text.startswith(REPEAT_MARK) for text in home.view)

    at_home(service, scenario)
