"""The Telegram channel against the fake service, over real sockets."""

from __future__ import annotations

import asyncio
import io
import logging
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC

import pytest

from nudge.channels import Setup, open_channel
from nudge.channels.telegram import TelegramChannel
from nudge.channels.telegram.updates import Refused
from nudge.errors import ChannelUnavailableError, NotConfiguredError, NudgeError, UsageError
from nudge.home.config import TelegramSection
from nudge.instants import SECOND, Instant
from nudge.queue.channel import REPEAT_MARK, Button, ChannelRefusedError, Inbound, Outbound, Updates
from nudge.testing.faults import Fault, FaultKind
from nudge.testing.telegram_server import PERSON, FakeTelegram
from tests.coach.outside import HastyClock, everything_said

TOKEN = "123456:SECRET-of_this_test"
SENT_AT = 1_790_000_000
STRANGER = 666
BUTTONS = (Button("Done", "done:7"), Button("Snooze 30 min", "snooze:7:30"), Button("Skip", "skip:7"))


@pytest.fixture
def service() -> Iterator[FakeTelegram]:
    with FakeTelegram(TOKEN, clock=lambda: SENT_AT) as fake:
        yield fake


@pytest.fixture
def clock() -> HastyClock:
    return HastyClock()


@pytest.fixture
async def channel(service: FakeTelegram, clock: HastyClock) -> AsyncIterator[TelegramChannel]:
    telegram = TelegramChannel(TOKEN, person=PERSON, clock=clock, api_base=service.url)
    yield telegram
    await telegram.close()


# Sending


async def test_a_message_arrives_with_its_formatting_and_buttons(
    service: FakeTelegram, channel: TelegramChannel
) -> None:
    receipt = await channel.send(Outbound(1, "😴 **Bed** by 01:00?", BUTTONS))
    [message] = service.sent
    assert receipt.message_ids == (str(message.message_id),)
    assert (message.chat_id, message.text) == (PERSON, "😴 Bed by 01:00?")
    assert message.entities == ({"type": "bold", "offset": 3, "length": 3},)
    assert message.buttons == ((("Done", "done:7"), ("Snooze 30 min", "snooze:7:30"), ("Skip", "skip:7")),)


async def test_a_long_message_is_split_and_the_buttons_are_under_its_last_part(
    service: FakeTelegram, channel: TelegramChannel
) -> None:
    paragraphs = [f"Paragraph {n} " + "word " * 300 for n in range(8)]
    receipt = await channel.send(Outbound(1, "\n\n".join(paragraphs), BUTTONS))
    assert len(service.sent) == len(receipt.message_ids) == 4
    assert [bool(message.buttons) for message in service.sent] == [False, False, False, True]
    assert "".join(message.text for message in service.sent) == "\n\n".join(paragraphs)


async def test_a_split_code_block_is_code_in_every_part(service: FakeTelegram, channel: TelegramChannel) -> None:
    await channel.send(Outbound(1, "```py\n" + "x = 1\n" * 900 + "```"))
    assert [[entity["type"] for entity in message.entities] for message in service.sent] == [["pre"], ["pre"]]


async def test_what_failed_in_the_middle_goes_on_there(service: FakeTelegram, channel: TelegramChannel) -> None:
    noted: list[str] = []

    async def note(part: str) -> None:
        noted.append(part)

    message = Outbound(5, "a" * 4096 + "b" * 4096 + "c", BUTTONS, on_part=note)
    service.fail(Fault.status_of(429, retry_after=3, after=1))
    with pytest.raises(ChannelUnavailableError) as caught:
        await channel.send(message)
    assert (caught.value.retry_after, [sent.text[0] for sent in service.sent]) == (3, ["a"])
    assert noted == [str(service.sent[0].message_id)]
    receipt = await channel.send(replace(message, arrived=tuple(noted)))
    assert [sent.text[0] for sent in service.sent] == ["a", "b", "c"]
    assert receipt.message_ids == tuple(str(sent.message_id) for sent in service.sent)
    assert [bool(sent.buttons) for sent in service.sent] == [False, False, True]


@pytest.mark.parametrize(
    ("text", "arrived", "seen"),
    [
        pytest.param("short", 0, [f"{REPEAT_MARK}short"], id="a short message"),
        pytest.param("a" * 4096 + "b" * 9, 1, [REPEAT_MARK + "b" * 9], id="the last part"),
        pytest.param("a" * 4096 + "b" * 9, 0, [REPEAT_MARK.strip(), "a" * 4096, "b" * 9], id="a part without room"),
    ],
)
async def test_the_words_before_a_repeat_come_before_the_part_that_may_be_one(
    service: FakeTelegram, channel: TelegramChannel, text: str, arrived: int, seen: list[str]
) -> None:
    parts = tuple(str(number) for number in range(arrived))
    await channel.send(Outbound(5, REPEAT_MARK + text, (), possibly_repeated=True, arrived=parts))
    assert [sent.text for sent in service.sent] == seen


async def test_a_refusal_that_is_not_about_formatting_is_not_tried_again(
    service: FakeTelegram, channel: TelegramChannel
) -> None:
    service.fail(Fault.status_of(400, message="Bad Request: odd"))
    with pytest.raises(NudgeError, match="odd"):
        await channel.send(Outbound(1, "**x**"))
    assert len(service.calls) == 1


async def test_previews_are_off(service: FakeTelegram, channel: TelegramChannel) -> None:
    await channel.send(Outbound(1, "https://example.org/?q=secret"))
    assert service.calls[-1][1]["link_preview_options"] == {"is_disabled": True}


async def test_entities_that_are_refused_are_left_out(service: FakeTelegram, channel: TelegramChannel) -> None:
    service.fail(Fault.status_of(400, message="Bad Request: can't parse entities: unsupported", on="sendMessage"))
    await channel.send(Outbound(1, "**bold**", BUTTONS))
    [message] = service.sent
    assert (message.text, message.entities, bool(message.buttons)) == ("bold", (), True)


async def test_text_that_is_nothing_but_markers_is_sent_as_it_is(
    service: FakeTelegram, channel: TelegramChannel
) -> None:
    await channel.send(Outbound(1, "```\n```"))
    assert service.sent[0].text == "```\n```"


async def test_half_a_surrogate_pair_does_not_stop_a_message(service: FakeTelegram, channel: TelegramChannel) -> None:
    await channel.send(Outbound(1, "a\ud83d"))
    assert service.sent[0].text == "a?"


@pytest.mark.parametrize("text", ["", " \n"], ids=["empty", "blank"])
async def test_an_empty_message_is_refused_here(service: FakeTelegram, channel: TelegramChannel, text: str) -> None:
    with pytest.raises(UsageError):
        await channel.send(Outbound(1, text))
    assert service.calls == []


@pytest.mark.parametrize(
    "button",
    [Button("x", "d" * 65), Button("x", "ü" * 33), Button("x", ""), Button("", "d")],
    ids=["65 bytes", "66 bytes in 33 characters", "no data", "no label"],
)
async def test_a_button_that_telegram_would_refuse_is_refused_here(channel: TelegramChannel, button: Button) -> None:
    with pytest.raises(UsageError, match="64 bytes"):
        await channel.send(Outbound(1, "x", (button,)))


async def test_more_than_three_buttons_take_another_row(service: FakeTelegram, channel: TelegramChannel) -> None:
    await channel.send(Outbound(1, "x", tuple(Button(str(n), str(n)) for n in range(4))))
    assert [len(row) for row in service.sent[0].buttons] == [3, 1]


FAILURES: dict[str, tuple[Fault, type[NudgeError], float | None, bool]] = {
    "429 says when": (Fault.status_of(429, retry_after=17), ChannelUnavailableError, 17, False),
    "500 may have arrived": (Fault.status_of(500), ChannelUnavailableError, None, True),
    "409 may have arrived": (Fault.status_of(409), ChannelUnavailableError, None, True),
    "a page instead of an answer may have arrived": (Fault.page_of(200), ChannelUnavailableError, None, True),
    "a page that refuses may have arrived": (Fault.page_of(403), ChannelUnavailableError, None, True),
    "502 may have arrived": (Fault.status_of(502), ChannelUnavailableError, None, True),
    "broken JSON may have arrived": (Fault(FaultKind.BROKEN_JSON), ChannelUnavailableError, None, True),
    "a dropped connection may have arrived": (Fault(FaultKind.DROP), ChannelUnavailableError, None, True),
    "a cut answer may have arrived": (Fault(FaultKind.TRUNCATE), ChannelUnavailableError, None, True),
    "401": (Fault.status_of(401), NotConfiguredError, None, False),
    "404": (Fault.status_of(404), NotConfiguredError, None, False),
}


@pytest.mark.parametrize("fault, kind, retry_after, maybe_sent", FAILURES.values(), ids=FAILURES.keys())
async def test_a_failed_send_says_what_to_do_and_no_secret(
    service: FakeTelegram,
    channel: TelegramChannel,
    fault: Fault,
    kind: type[NudgeError],
    retry_after: float | None,
    maybe_sent: bool,
) -> None:
    service.fail(fault)
    with pytest.raises(NudgeError) as caught:
        await channel.send(Outbound(1, "x"))
    assert type(caught.value) is kind
    assert getattr(caught.value, "retry_after", None) == retry_after
    assert getattr(caught.value, "maybe_sent", False) is maybe_sent
    assert "SECRET" not in everything_said(caught.value)


async def test_a_person_who_blocked_the_bot_is_not_tried_again(service: FakeTelegram, channel: TelegramChannel) -> None:
    service.block(PERSON)
    with pytest.raises(ChannelRefusedError, match=r"blocked.*unblock"):
        await channel.send(Outbound(1, "x"))


async def test_a_person_who_never_pressed_start(service: FakeTelegram, channel: TelegramChannel) -> None:
    service.forget(PERSON)
    with pytest.raises(NotConfiguredError, match="press Start"):
        await channel.send(Outbound(1, "x"))


async def test_nobody_at_the_other_end_means_not_sent(clock: HastyClock) -> None:
    with FakeTelegram() as gone:
        url = gone.url
    channel = TelegramChannel(TOKEN, person=PERSON, clock=clock, api_base=url)
    with pytest.raises(ChannelUnavailableError) as caught:
        await channel.send(Outbound(1, "x"))
    assert not caught.value.maybe_sent
    assert "SECRET" not in everything_said(caught.value)
    await channel.close()


async def test_a_wrong_token_says_where_to_get_one(service: FakeTelegram, clock: HastyClock) -> None:
    channel = TelegramChannel("999:other", person=PERSON, clock=clock, api_base=service.url)
    with pytest.raises(NotConfiguredError, match="BotFather"):
        await channel.check()
    await channel.close()


async def test_the_token_is_in_no_log_at_any_level(
    service: FakeTelegram, channel: TelegramChannel, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("", "httpx2", "httpcore2"):  # the daemon keeps them quiet; here they say all they can
        caplog.set_level(logging.DEBUG, logger=name)
    await channel.send(Outbound(1, "x"))
    service.fail(Fault(FaultKind.DROP))
    with pytest.raises(ChannelUnavailableError):
        await channel.send(Outbound(2, "x"))
    assert "/sendMessage" in caplog.text
    assert "SECRET" not in caplog.text
    assert "SECRET" not in repr(channel)


# Listening


async def test_what_the_person_does_comes_in_order(service: FakeTelegram, channel: TelegramChannel) -> None:
    first = service.say("hello")
    service.edit("hello!")
    service.forward("an advert")
    service.press("done:7", message_id=31)
    updates = await channel.updates("", 0)
    at = Instant(SENT_AT * SECOND)
    read = [replace(one, id="", cursor="") for one in updates.inbound]
    assert read == [
        Inbound(at, "hello", message_id="1"),
        Inbound(at, "hello!", message_id="2", edited=True),
        Inbound(at, "an advert", message_id="3", forwarded=True),
        Inbound(
            Instant(1_800_000_000 * SECOND),
            "",
            button="done:7",
            message_id="31",
            callback_id=f"callback-{first + 3}",
        ),
    ]
    assert len({one.id for one in updates.inbound}) == 4
    assert updates.inbound[-1].cursor == updates.cursor


async def test_asking_with_the_next_cursor_confirms_and_not_before(
    service: FakeTelegram, channel: TelegramChannel
) -> None:
    number = service.say("hello")
    for _ in range(2):
        updates = await channel.updates("", 0)
        assert [update.text for update in updates.inbound] == ["hello"]
    assert service.pending == [number]
    assert await channel.updates(updates.cursor, 0) == Updates((), updates.cursor)
    assert service.pending == []


async def test_nobody_else_is_heard_and_everybody_is_counted(service: FakeTelegram, channel: TelegramChannel) -> None:
    service.say("let me in", user=STRANGER)
    service.edit("let me in", user=STRANGER)
    service.forward("let me in", user=STRANGER)
    service.press("done:7", user=STRANGER)
    service.say_in_group("in a group", user=PERSON)
    service.press("done:7", chat={"id": -1, "type": "group"})
    service.post_in_channel("in a channel")
    service.push({"my_chat_member": {"from": {"id": PERSON}}}, unfiltered=True)
    service.push({"message": "nonsense"})
    service.push({"message": {"chat": 7}})
    updates = await channel.updates("", 0)
    assert updates.inbound == ()
    assert channel.refused == Counter(
        {Refused.NOT_ALLOWED: 4, Refused.NOT_PRIVATE: 2, Refused.KIND: 2, Refused.MALFORMED: 2}
    )
    await channel.updates(updates.cursor, 0)
    assert service.pending == []


async def test_another_account_of_the_person_can_be_allowed(service: FakeTelegram, clock: HastyClock) -> None:
    channel = TelegramChannel(TOKEN, person=PERSON, allowed=[77], clock=clock, api_base=service.url)
    service.say("from my tablet", user=77)
    updates = await channel.updates("", 0)
    assert [update.text for update in updates.inbound] == ["from my tablet"]
    await channel.close()


async def test_only_what_is_handled_is_subscribed_to(service: FakeTelegram, channel: TelegramChannel) -> None:
    await channel.updates("", 0)
    assert service.calls[-1][1]["allowed_updates"] == ["message", "edited_message", "callback_query"]
    service.push({"message_reaction": {}})
    assert service.pending == []


async def test_a_long_poll_returns_when_something_comes(service: FakeTelegram, channel: TelegramChannel) -> None:
    poll = asyncio.create_task(channel.updates("", 50))
    await asyncio.to_thread(service.wait_for_poll)
    service.say("now")
    updates = await poll
    assert [update.text for update in updates.inbound] == ["now"]


async def test_ids_that_begin_again_are_followed(clock: HastyClock) -> None:
    """After a quiet week, or on another server, ids may be lower than those that were handled."""
    now = [SENT_AT]
    with FakeTelegram(TOKEN, clock=lambda: now[0]) as service:
        channel = TelegramChannel(TOKEN, person=PERSON, clock=clock, api_base=service.url)
        service.say("before")
        before = await channel.updates("", 0)
        assert await channel.updates(before.cursor, 0) == Updates((), before.cursor)
        service.restart_ids(1000)
        now[0] += 8 * 86_400
        service.say("after a week")
        after = await channel.updates(before.cursor, 0)
        assert [update.text for update in after.inbound] == ["after a week"]
        assert await channel.updates(after.cursor, 0) == Updates((), after.cursor)
        assert service.pending == []
        await channel.close()


async def test_an_update_that_is_repeated_below_the_cursor_is_not_handed_on(
    service: FakeTelegram, channel: TelegramChannel
) -> None:
    service.say("hello")
    service.press("done:7")
    updates = await channel.updates("", 0)
    service.replay()
    with pytest.raises(ChannelUnavailableError, match="already handled"):
        await channel.updates(updates.cursor, 0)
    service.say("something new")
    service.replay()
    again = await channel.updates(updates.cursor, 0)
    assert [update.text for update in again.inbound] == ["something new"]
    assert channel.refused == Counter({Refused.REPEATED: 4})


async def test_updates_without_a_usable_id_are_an_outage_not_a_busy_loop(
    service: FakeTelegram, channel: TelegramChannel
) -> None:
    service.push({"update_id": "odd", "message": {}}, unfiltered=True)
    with pytest.raises(ChannelUnavailableError, match="unreadable"):
        await channel.updates("", 0)
    assert channel.refused == Counter({Refused.MALFORMED: 1})


@pytest.mark.parametrize(
    "fault",
    [Fault.status_of(429, retry_after=5), Fault.status_of(503), Fault(FaultKind.DROP), Fault(FaultKind.BROKEN_JSON)],
    ids=["429", "503", "dropped", "broken JSON"],
)
async def test_a_failed_poll_is_an_outage_and_the_next_one_works(
    service: FakeTelegram, channel: TelegramChannel, fault: Fault
) -> None:
    service.fail(fault)
    service.say("still here")
    with pytest.raises(ChannelUnavailableError) as caught:
        await channel.updates("", 0)
    assert caught.value.retry_after == (5 if fault.status == 429 else None)
    updates = await channel.updates("", 0)
    assert [update.text for update in updates.inbound] == ["still here"]


# Buttons, commands, identity


async def test_a_pressed_button_is_answered_once(service: FakeTelegram, channel: TelegramChannel) -> None:
    service.press("done:7")
    [press] = (await channel.updates("", 0)).inbound
    await channel.acknowledge(press, "Noted.")
    assert service.answers == [(press.callback_id, "Noted.")]


async def test_a_press_that_is_too_old_to_be_answered_is_let_be(
    service: FakeTelegram, channel: TelegramChannel
) -> None:
    await channel.acknowledge(Inbound(Instant(0), "", button="x", callback_id="long-gone"), "Noted.")
    assert service.answers == []


async def test_a_long_answer_to_a_press_is_cut_to_what_fits(service: FakeTelegram, channel: TelegramChannel) -> None:
    service.press("done:7")
    [press] = (await channel.updates("", 0)).inbound
    await channel.acknowledge(press, "😴" * 500)
    assert service.answers == [(press.callback_id, "😴" * 100)]


async def test_a_message_needs_no_answer(service: FakeTelegram, channel: TelegramChannel) -> None:
    await channel.acknowledge(Inbound(Instant(0), "hi"))
    assert service.calls == []


async def test_a_refused_answer_is_not_hidden(service: FakeTelegram, channel: TelegramChannel) -> None:
    service.fail(Fault.status_of(400, message="Bad Request: MESSAGE_TOO_LONG"))
    with pytest.raises(NudgeError, match="MESSAGE_TOO_LONG"):
        await channel.acknowledge(Inbound(Instant(0), "", button="x", callback_id="c"))


async def test_commands_are_offered_in_a_form_telegram_takes(service: FakeTelegram, channel: TelegramChannel) -> None:
    await channel.offer_commands([("/status", "How things stand"), ("ping-budget", "How many pings are left")])
    assert service.commands == (("status", "How things stand"), ("ping_budget", "How many pings are left"))


async def test_the_check_names_the_bot_and_the_person(channel: TelegramChannel) -> None:
    assert await channel.check() == f"@nudge_fake_bot works and writes to {PERSON}"


async def test_typing_is_shown_to_the_person(service: FakeTelegram, channel: TelegramChannel) -> None:
    await channel.show_typing()
    assert service.calls == [("sendChatAction", {"chat_id": PERSON, "action": "typing"})]


def setup(clock: HastyClock, environment: dict[str, str], *allow: int) -> Setup:
    return Setup(TelegramSection(allow=allow), environment, clock, io.StringIO(), lambda: UTC)


async def test_settings_choose_token_and_service(service: FakeTelegram, clock: HastyClock) -> None:
    settings = {"TELEGRAM_BOT_TOKEN": f" {TOKEN}\n", "TELEGRAM_API_BASE": service.url + "/"}
    channel = open_channel("telegram", setup(clock, settings, PERSON, 77))
    await channel.send(Outbound(1, "x"))
    service.say("from my tablet", user=77)
    assert [message.chat_id for message in service.sent] == [PERSON]
    assert len((await channel.updates("", 0)).inbound) == 1
    await channel.close()


@pytest.mark.parametrize(
    "environment, allow, words",
    [
        ({}, (PERSON,), "no TELEGRAM_BOT_TOKEN.*BotFather"),
        ({"TELEGRAM_BOT_TOKEN": TOKEN}, (), "telegram.allow in nudge.toml is empty.*nudge pair"),
        ({"TELEGRAM_BOT_TOKEN": "hello"}, (PERSON,), "does not look like one.*BotFather"),
    ],
    ids=["no token", "nobody allowed", "not a token"],
)
def test_what_is_missing_is_said(
    clock: HastyClock, environment: dict[str, str], allow: tuple[int, ...], words: str
) -> None:
    with pytest.raises(NotConfiguredError, match=words):
        open_channel("telegram", setup(clock, environment, *allow))
