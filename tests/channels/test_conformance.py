"""What every channel must do, by its capabilities: the terminal, Telegram against the fake Bot API, and our own fake.

A new channel is one more line in `KINDS` and a class like those below it.
"""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from nudge.channels import CHANNELS
from nudge.channels.telegram import TelegramChannel
from nudge.channels.terminal import TerminalChannel
from nudge.errors import ChannelUnavailableError, NudgeError
from nudge.instants import Instant
from nudge.queue.channel import Button, Inbound, Outbound, Updates
from nudge.testing import Fault, RecordingChannel
from nudge.testing.telegram_server import PERSON, FakeTelegram
from tests.coach.outside import HastyClock
from tests.times import NOON, TORONTO


class Screen(io.StringIO):
    broken = False

    def write(self, text: str, /) -> int:
        if self.broken:
            self.broken = False
            raise BrokenPipeError("nobody reads")
        return super().write(text)


class Terminal:
    can = TerminalChannel.capabilities

    def __init__(self) -> None:
        self.screen = Screen()
        self.channel = TerminalChannel(self.screen, lambda: NOON, lambda: TORONTO)

    @property
    def arrived(self) -> list[str]:
        """One text for each message, as the person reads it."""
        texts = self.screen.getvalue().split("12:00  ")[1:]
        return [re.sub(r"^ {7}", "", text, flags=re.MULTILINE).removesuffix("\n") for text in texts]

    def break_once(self) -> None:
        self.screen.broken = True

    def stop(self) -> None:
        return None


class Telegram:
    can = TelegramChannel.capabilities

    def __init__(self) -> None:
        self.service = FakeTelegram().__enter__()
        self.channel = TelegramChannel(self.service.token, person=PERSON, clock=HastyClock(), api_base=self.service.url)

    @property
    def arrived(self) -> list[str]:
        return [message.text for message in self.service.sent]

    def break_once(self) -> None:
        self.service.fail(Fault.status_of(429))

    def say(self, text: str) -> None:
        self.service.say(text)

    def press(self, data: str, message_id: str) -> None:
        self.service.press(data, message_id=int(message_id))

    def replay(self) -> None:
        self.service.replay()

    def refuse(self) -> None:
        self.service.say("let me in", user=666)

    @property
    def noticed(self) -> list[str]:
        return [text for _, text in self.service.answers]

    @property
    def typing(self) -> int:
        return [method for method, _ in self.service.calls].count("sendChatAction")

    def stop(self) -> None:
        self.service.__exit__(None, None, None)


class Recording:
    can = RecordingChannel.capabilities

    def __init__(self) -> None:
        self.channel = RecordingChannel()

    @property
    def arrived(self) -> list[str]:
        return self.channel.texts

    def break_once(self) -> None:
        self.channel.faults = [ChannelUnavailableError("away")]

    def say(self, text: str) -> None:
        self.channel.say(text, NOON)

    def press(self, data: str, message_id: str) -> None:
        self.channel.press(data, message_id, NOON)

    def replay(self) -> None:
        return None  # it has nothing of its own to repeat

    def refuse(self) -> None:
        return None  # nobody else can write here

    @property
    def noticed(self) -> list[str]:
        return [text for _, text in self.channel.acknowledged]

    @property
    def typing(self) -> int:
        return self.channel.typing

    def stop(self) -> None:
        return None


KINDS: dict[str, Any] = {"terminal": Terminal, "telegram": Telegram, "recording": Recording}


@pytest.fixture(params=KINDS)
async def there(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    """A channel and its other end."""
    end = KINDS[request.param]()
    yield end
    await end.channel.close()
    await end.channel.close()
    end.stop()


def those_with(capability: str, *, having: bool = True) -> pytest.MarkDecorator:
    names = [name for name, kind in KINDS.items() if bool(getattr(kind.can, capability)) is having]
    return pytest.mark.parametrize("there", names, indirect=True)


def test_every_channel_is_here() -> None:
    assert set(CHANNELS) <= set(KINDS)


async def test_it_has_the_name_it_is_chosen_by(there: Any) -> None:
    assert KINDS[there.channel.name] is type(there)


# Sending


async def test_messages_arrive_in_order_and_each_has_a_receipt(there: Any) -> None:
    receipts = [await there.channel.send(Outbound(number, f"message {number}")) for number in (1, 2, 3)]
    assert there.arrived == ["message 1", "message 2", "message 3"]
    ids = [one for receipt in receipts for one in receipt.message_ids]
    assert len(set(ids)) == 3


@pytest.mark.parametrize("text", ["two\nlines", "ünïcödé 😴 中文", "<b>&amp; 3 * 4 [x]("], ids=repr)
async def test_plain_text_arrives_as_it_was_written(there: Any, text: str) -> None:
    await there.channel.send(Outbound(1, text))
    assert there.arrived == [text]


async def test_formatting_is_shown_or_left_as_it_was_written(there: Any) -> None:
    await there.channel.send(Outbound(1, "**Bed** by 01:00"))
    assert there.arrived == ["Bed by 01:00" if there.can.formatting else "**Bed** by 01:00"]


async def test_the_longest_message_arrives_in_one_piece_and_a_longer_one_arrives_whole(there: Any) -> None:
    longest = there.can.longest_message or 10_000
    await there.channel.send(Outbound(1, "x" * longest))
    assert there.arrived == ["x" * longest]
    words = "word " * longest
    await there.channel.send(Outbound(2, words))
    assert "".join(there.arrived[1:]).strip() == words.strip()


async def test_a_failure_says_that_it_may_work_later_and_then_it_does(there: Any) -> None:
    there.break_once()
    with pytest.raises(ChannelUnavailableError) as caught:
        await there.channel.send(Outbound(1, "hello"))
    assert not caught.value.maybe_sent
    await there.channel.send(Outbound(1, "hello"))
    assert there.arrived == ["hello"]


async def test_nothing_that_it_offers_beside_sending_fails(there: Any) -> None:
    await there.channel.offer_commands([("/status", "How things stand"), ("ping-budget", "How many pings are left")])
    await there.channel.show_typing()
    await there.channel.acknowledge(Inbound(Instant(0), "a message needs no answer"))
    assert isinstance(await there.channel.check(), str)
    assert there.arrived == []


# Listening


@those_with("listens", having=False)
async def test_a_channel_that_only_sends_says_so(there: Any) -> None:
    with pytest.raises(NudgeError, match="only sends"):
        await there.channel.updates("", 0)


@those_with("listens")
async def test_what_the_person_says_comes_in_order_once_it_is_asked_for(there: Any) -> None:
    there.say("one")
    there.refuse()
    there.say("two")
    updates = await there.channel.updates("", 0)
    assert [update.text for update in updates.inbound] == ["one", "two"]
    assert len({update.id for update in updates.inbound}) == 2
    assert all(update.cursor for update in updates.inbound)


@those_with("listens")
async def test_the_cursor_decides_what_comes_and_the_channel_keeps_nothing(there: Any) -> None:
    for text in ("one", "two", "three"):
        there.say(text)
    first = await there.channel.updates("", 0)
    again = await there.channel.updates("", 0)
    assert [one.id for one in first.inbound] == [one.id for one in again.inbound]
    rest = await there.channel.updates(first.inbound[0].cursor, 0)
    assert [one.text for one in rest.inbound] == ["two", "three"]
    assert [one.id for one in rest.inbound] == [one.id for one in first.inbound[1:]]
    assert await there.channel.updates(rest.cursor, 0) == Updates((), rest.cursor)


@those_with("listens")
async def test_the_cursor_also_passes_what_was_refused(there: Any) -> None:
    there.say("one")
    there.refuse()
    updates = await there.channel.updates("", 0)
    assert await there.channel.updates(updates.cursor, 0) == Updates((), updates.cursor)


@those_with("listens")
async def test_nothing_from_before_the_cursor_comes_twice(there: Any) -> None:
    there.say("one")
    updates = await there.channel.updates("", 0)
    await there.channel.updates(updates.cursor, 0)
    there.say("two")
    there.replay()
    after = await there.channel.updates(updates.cursor, 0)
    assert [one.text for one in after.inbound] == ["two"]


@those_with("listens")
async def test_a_poll_waits_for_the_next_update(there: Any) -> None:
    poll = asyncio.create_task(there.channel.updates("", 30))
    await asyncio.sleep(0.01)
    assert not poll.done()
    there.say("now")
    assert [one.text for one in (await poll).inbound] == ["now"]


# Buttons and typing


@those_with("buttons")
async def test_a_pressed_button_comes_back_with_its_message_and_can_be_acknowledged(there: Any) -> None:
    receipt = await there.channel.send(Outbound(1, "Drink", (Button("Done", "done:7"), Button("Skip", "skip:7"))))
    there.press("done:7", receipt.message_ids[-1])
    [press] = (await there.channel.updates("", 0)).inbound
    assert (press.button, press.message_id, press.text) == ("done:7", receipt.message_ids[-1], "")
    await there.channel.acknowledge(press, "Noted.")
    assert there.noticed == ["Noted."]


@those_with("typing")
async def test_typing_is_shown(there: Any) -> None:
    await there.channel.show_typing()
    assert there.typing == 1
    assert there.arrived == []
