"""The coach as a real process on a fake Telegram: who is heard, what is answered, and death in between."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from nudge.home.prices import load_prices
from nudge.queue.channel import REPEAT_MARK
from nudge.testing.anthropic_server import FakeAnthropic
from nudge.testing.faults import Fault, FaultKind
from nudge.testing.model_server import Reply
from nudge.testing.telegram_protocol import SentMessage
from nudge.testing.telegram_server import PERSON, FakeTelegram
from tests.cli.cli import NOWHERE, NUDGE, Cli, until

pytestmark = pytest.mark.process

STRANGER = 666


@pytest.fixture
def telegram() -> Iterator[FakeTelegram]:
    with FakeTelegram() as service:
        yield service


@pytest.fixture
def anthropic() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as service:
        yield service


@pytest.fixture
def bot(home: Cli, telegram: FakeTelegram) -> Cli:
    """A home whose person is on Telegram."""
    allow(home, PERSON)
    home.environment |= {"TELEGRAM_BOT_TOKEN": telegram.token, "TELEGRAM_API_BASE": telegram.url}
    return home


def allow(home: Cli, *people: int) -> None:
    config = home.home / "nudge.toml"
    text = config.read_text()
    config.write_text(text.replace("[telegram]\n", f"[telegram]\nallow = {list(people)}\n"))


def online(bot: Cli, anthropic: FakeAnthropic) -> None:
    bot.environment |= {"ANTHROPIC_API_KEY": anthropic.api_key, "ANTHROPIC_BASE_URL": anthropic.url}


def rows(bot: Cli, sql: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(f"file:{bot.home / 'nudge.db'}?mode=ro", uri=True)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def sent(telegram: FakeTelegram, count: int, within: float = 30) -> list[SentMessage]:
    return telegram.wait_for_sent(count, timeout=within)


def caught_up(telegram: FakeTelegram) -> None:
    """Until everything the person did has been taken and confirmed."""
    until(lambda: not telegram.pending, "every update is confirmed")


def test_a_conversation_and_everybody_who_is_not_part_of_it(bot: Cli, telegram: FakeTelegram) -> None:
    with bot.start():
        telegram.wait_for_poll()
        assert dict(telegram.commands)["ping_budget"]
        assert {"status", "remind", "redact", "undo", "why"} <= dict(telegram.commands).keys()

        telegram.say("what's next?", user=STRANGER)
        telegram.edit("what's next?", user=STRANGER)
        telegram.press("done:r-aaaaaa", user=STRANGER)
        telegram.say_in_group("what's next?")
        telegram.post_in_channel("what's next?")
        telegram.say("/ping")
        telegram.say("what's next?")
        [reply] = sent(telegram, 1)
        assert reply.chat_id == PERSON
        caught_up(telegram)
        assert rows(bot, "SELECT role, content FROM conversations ORDER BY id") == [
            ("user", "what's next?"),
            ("assistant", reply.text),
        ]
        assert rows(bot, "SELECT COUNT(*) FROM activity") == [(1,)]

        telegram.edit("goals")
        telegram.forward("/quiet 7d")
        telegram.say("/ping_budget")
        replies = sent(telegram, 4)
        assert {message.chat_id for message in replies} == {PERSON}
        assert any("5/5 available" in message.text for message in replies)
        assert rows(bot, "SELECT quiet_until FROM attention WHERE agent = 'coach'") == [(None,)]
        assert not telegram.answers


def test_a_reminder_has_buttons_that_work_once(bot: Cli, telegram: FakeTelegram) -> None:
    with bot.start():
        telegram.wait_for_poll()
        telegram.say("/remind stretch in 1 second")
        _, reminder = sent(telegram, 2)
        ((done, snooze, skip),) = reminder.buttons
        assert [done[0], snooze[0], skip[0]] == ["Done", "Snooze 30 min", "Skip"]
        until(lambda: rows(bot, "SELECT DISTINCT state FROM outbox") == [("sent",)], "its sending is confirmed")
        telegram.press(done[1], message_id=reminder.message_id)
        telegram.press("done:r-zzzzzz", message_id=reminder.message_id)
        telegram.press(done[1], message_id=99_999)
        until(lambda: len(telegram.answers) == 3, "all three are answered")
        texts = sorted(text for _, text in telegram.answers)
        assert texts[0] == "Done ✓ stretch"
        assert all("too old" in text for text in texts[1:])
        assert rows(bot, "SELECT status FROM reminders") == [("completed",)]


def test_doctor_asks_telegram_and_the_model_whether_they_take_token_and_key(
    bot: Cli, telegram: FakeTelegram, anthropic: FakeAnthropic
) -> None:
    online(bot, anthropic)
    said = bot("doctor").stdout
    assert f"@nudge_fake_bot works and writes to {PERSON}" in said
    assert f"{anthropic.url} answers" in said
    bot.environment |= {"TELEGRAM_BOT_TOKEN": "1:revoked", "ANTHROPIC_API_KEY": "sk-ant-revoked"}
    said = bot("doctor", code=1).stdout
    assert "Telegram does not know this bot (Unauthorized)" in said
    assert "does not accept the key" in said
    assert "revoked" not in said
    bot.environment |= {"TELEGRAM_API_BASE": NOWHERE, "ANTHROPIC_BASE_URL": NOWHERE}
    said = bot("doctor").stdout
    assert "Telegram cannot be reached" in said
    assert "Not checked: " in said


def test_a_pause_that_telegram_asks_for_delays_and_doubles_nothing(bot: Cli, telegram: FakeTelegram) -> None:
    with bot.start():
        telegram.wait_for_poll()
        telegram.fail(Fault.status_of(429, retry_after=1, on="sendMessage"))
        telegram.fail(Fault.status_of(502, on="getUpdates"))
        telegram.say("/budget")
        telegram.say("/help")
        first, second = sent(telegram, 2)
        assert "nothing to spend" in first.text
        assert "/redact" in second.text


def test_kill_nine_while_the_model_thinks_gives_exactly_one_reply(
    bot: Cli, telegram: FakeTelegram, anthropic: FakeAnthropic
) -> None:
    online(bot, anthropic)
    anthropic.fail(Fault(FaultKind.HANG))
    with bot.start() as first:
        telegram.say("remember that I like tea")
        anthropic.wait_for_requests(1)
        caught_up(telegram)
        first.signal(signal.SIGKILL)
        first.wait()
    assert telegram.sent == []
    note = {"section": "Preferences", "add": "Likes tea"}
    anthropic.reply(Reply(tools=[("update_memory", note), ("set_recent_context", {"summary": "They like tea."})]))
    anthropic.reply("Tea it is.")
    with bot.start():
        [reply] = sent(telegram, 1)
        assert reply.text == "Tea it is.\n\nGot it, I've noted that in my memory."
        telegram.say("/goals")
        assert len(sent(telegram, 2)) == 2
    assert (bot.home / "agents" / "coach" / "MEMORY.md").read_text().count("- Likes tea") == 1
    assert rows(bot, "SELECT COUNT(*) FROM conversations") == [(2,)]
    asked = anthropic.requests[-1]
    assert "claude-sonnet" in asked["model"]
    assert telegram.token not in str(anthropic.requests)
    _no_secret(bot, telegram.token, anthropic.api_key)


def test_kill_nine_before_the_reply_went_out_sends_it_once_and_forgets_no_offset(
    bot: Cli, telegram: FakeTelegram
) -> None:
    with bot.start() as first:
        telegram.wait_for_poll()
        telegram.fail(Fault.status_of(500, on="sendMessage"), times=50)
        telegram.say("/budget")
        caught_up(telegram)
        until(lambda: any(method == "sendMessage" for method, _ in telegram.calls), "it tried")
        first.signal(signal.SIGKILL)
        first.wait()
    telegram.reset()
    telegram.restart_ids(5)
    with bot.start() as second:
        assert len(sent(telegram, 1)) == 1
        telegram.say("/help")
        assert "/redact" in sent(telegram, 2)[1].text
        caught_up(telegram)
        second.signal(signal.SIGTERM)
        assert second.wait()[0] == 0
    with bot.start():
        telegram.wait_for_poll()
        telegram.say("/goals")
        assert sent(telegram, 3)[2].text.startswith("Goals — Last updated")
    assert len(telegram.sent) == 3


@pytest.mark.parametrize("arrived", [False, True], ids=["before it arrives", "after it has arrived"])
def test_kill_nine_in_the_second_part_of_a_long_answer_repeats_only_that_part(
    bot: Cli, telegram: FakeTelegram, anthropic: FakeAnthropic, arrived: bool
) -> None:
    online(bot, anthropic)
    lines = [f"line {number:03} " + "words " * 8 + "end" for number in range(180)]
    anthropic.reply("\n".join(lines))
    with bot.start() as first:
        telegram.wait_for_poll()
        telegram.fail(Fault(FaultKind.HANG, on="sendMessage", after=1, done=arrived))
        telegram.say("tell me everything")
        until(lambda: [method for method, _ in telegram.calls].count("sendMessage") == 2, "the second part hangs")
        sent(telegram, 2 if arrived else 1)
        first.signal(signal.SIGKILL)
        first.wait()
    telegram.heal()
    with bot.start():
        until(lambda: rows(bot, "SELECT state FROM outbox") == [("sent",)], "all of it was sent")
    texts = [message.text.rstrip() for message in telegram.sent]
    texts.remove(REPEAT_MARK.strip())
    assert len(texts) == (4 if arrived else 3)
    assert "\n".join(dict.fromkeys(texts)) == "\n".join(line.rstrip() for line in lines)
    assert telegram.sent[0].text.startswith(lines[0])
    assert [message.text for message in telegram.sent].index(REPEAT_MARK.strip()) == (2 if arrived else 1)


def test_somebody_else_on_the_same_bot_ends_the_daemon_with_seven(bot: Cli, telegram: FakeTelegram) -> None:
    telegram.set_webhook()
    done = bot("run", code=7)
    assert "webhook" in done.stderr
    assert "deleteWebhook" in done.stderr
    bot("status", code=5)


def test_a_token_without_anybody_who_may_talk_is_refused(home: Cli, telegram: FakeTelegram) -> None:
    home.environment |= {"TELEGRAM_BOT_TOKEN": telegram.token, "TELEGRAM_API_BASE": telegram.url}
    done = home("run", code=4)
    assert "telegram.allow" in done.stderr
    assert "next:" in done.stderr
    assert telegram.polls == 0


def _no_secret(bot: Cli, *secrets: str) -> None:
    """Neither in the home (but for .env) nor in the process's command line."""
    for path in Path(bot.home).rglob("*"):
        if path.is_file() and path.name != ".env":
            content = path.read_bytes()
            assert not any(secret.encode() in content for secret in secrets), path


@pytest.mark.parametrize("poor", [False, True], ids=["there is money left", "they fill the day"])
def test_three_kills_around_a_hanging_call_leave_nobody_waiting(
    bot: Cli, telegram: FakeTelegram, anthropic: FakeAnthropic, poor: bool
) -> None:
    online(bot, anthropic)
    anthropic.fail(Fault(FaultKind.HANG, on="messages"), times=3)
    anthropic.reply("Take a walk.", times=5)
    telegram.say("What do you think about Kant?")
    for death in range(3):
        with bot.start() as daemon:
            until(lambda: anthropic.faults.held == 1, f"call {death + 1} hangs")
            if poor and not death:
                ((amount,),) = rows(bot, "SELECT amount FROM holds WHERE state = 'held'")
                assert isinstance(amount, int)
                bot("budget", "set", "--window", f"{amount * 91 / 1_000_000:.6f}")  # three a day
            assert "held" in bot("budget").stdout
            daemon.signal(signal.SIGKILL)
            daemon.wait()
        until(lambda: anthropic.faults.held == 0, "the service has noticed")
    with bot.start():
        (message,) = sent(telegram, 1, within=15)
        assert rows(bot, "SELECT COUNT(*) FROM holds WHERE state = 'held'") == [(0,)]
    ((spent,),) = rows(bot, "SELECT SUM(committed) FROM accounts WHERE kind = 1")
    prices = load_prices()
    assert isinstance(spent, int)
    assert sum(prices.cost(one.model, one.usage) for one in anthropic.bill) <= spent
    assert ("budget" in message.text) == poor
    assert ("walk" in message.text) != poor


NEWCOMER = 4711


def test_a_code_makes_a_chat_the_persons_and_nobody_elses(home: Cli, telegram: FakeTelegram) -> None:
    """Before the first start: the command listens itself. Then the coach begins with its first question."""
    home.environment |= {"TELEGRAM_BOT_TOKEN": telegram.token, "TELEGRAM_API_BASE": telegram.url}
    assert "nudge pair" in home("run", code=4).stderr
    piped = {name: value for name, value in home.environment.items() if name != "PYTHONUNBUFFERED"}
    pairing = subprocess.Popen([*NUDGE, "pair", "--json"], env=piped, stdout=subprocess.PIPE, text=True)
    try:
        assert pairing.stdout is not None
        told = json.loads(pairing.stdout.readline())
        assert (len(told["code"]), told["paired"]) == (9, None)
        telegram.wait_for_poll()
        telegram.say("let me in", user=STRANGER)
        telegram.say("ZZZZ-ZZZZ", user=STRANGER)
        telegram.say_in_group(told["code"])
        telegram.say(f"/start {told['code'].replace('-', '')}", user=NEWCOMER)
        assert json.loads(pairing.stdout.readline())["paired"] == NEWCOMER
        assert pairing.wait(20) == 0
    finally:
        pairing.kill()
        pairing.communicate()
    assert f"allow = [{NEWCOMER}]" in (home.home / "nudge.toml").read_text()
    assert not telegram.sent
    with home.start():
        [first] = sent(telegram, 1)
        assert (first.chat_id, first.text.endswith("What should I call you?")) == (NEWCOMER, True)
        telegram.say("Sam", user=NEWCOMER)
        assert sent(telegram, 2)[1].text.startswith("Nice to meet you, Sam.")


def test_another_chat_is_paired_while_the_coach_runs(bot: Cli, telegram: FakeTelegram) -> None:
    assert "nudge run" in bot("pair", code=4).stderr
    goals = bot.home / "agents" / "coach" / "GOALS.md"
    goals.write_text(goals.read_text().replace("1. [Specific, completable]", "1. Finish the draft"))
    with bot.start():
        telegram.wait_for_poll()
        pairing = subprocess.Popen([*NUDGE, "pair"], env=bot.environment, stdout=subprocess.PIPE, text=True)
        try:
            assert pairing.stdout is not None
            code = pairing.stdout.readline().strip()
            telegram.say("hello?", user=STRANGER)
            telegram.say(code, user=NEWCOMER)
            telegram.say(code, user=STRANGER)
            [welcome] = sent(telegram, 1)
            assert (welcome.chat_id, "connected" in welcome.text) == (NEWCOMER, True)
            assert pairing.wait(20) == 0
        finally:
            pairing.kill()
            pairing.communicate()
        telegram.say("what's next?", user=NEWCOMER)
        assert sent(telegram, 2)[1].chat_id == NEWCOMER
        caught_up(telegram)
    assert f"allow = [{NEWCOMER}, {PERSON}]" in (bot.home / "nudge.toml").read_text()
    assert rows(bot, "SELECT content FROM conversations WHERE role = 'user'") == [("what's next?",)]
