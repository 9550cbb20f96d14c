"""Somebody tries to get a secret into a log line."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from logging.handlers import RotatingFileHandler
from pathlib import Path
from urllib.parse import quote

import pytest

from nudge.home.logs import NOISY, configure_logs
from nudge.redaction import HIDDEN, hide, keep_secret, redact, screen, screen_all

KEY = "sk-ant-api03-" + "Zx9" * 12
TOKEN = "123456789:" + "AAH-x_Y" * 5
PASSWORD = "hunter22hunter"
SECRETS = (KEY, TOKEN, PASSWORD)

ATTACKS = [
    pytest.param(f"the key is {KEY}", id="in a sentence"),
    pytest.param(f"x{KEY}y", id="inside a longer word"),
    pytest.param(f"https://api.telegram.org/bot{TOKEN}/getUpdates?offset=1", id="in a URL's path"),
    pytest.param(f"postgresql://nudge:{PASSWORD}@db.example/nudge", id="a password in a URL"),
    pytest.param(f"smtp://someone%40example.org:{PASSWORD}@mail:587", id="a password beside an escaped user"),
    pytest.param(f"Authorization: Bearer {KEY}", id="in a header"),
    pytest.param(f"{{'x-api-key': '{KEY}', 'n': 1}}", id="in a dict"),
    pytest.param(f'{{"api_key": "{PASSWORD}"}}', id="in JSON"),
    pytest.param(f"ANTHROPIC_API_KEY={KEY}\nTELEGRAM_BOT_TOKEN={TOKEN}", id="an environment dumped"),
    pytest.param(f"password={PASSWORD}&user=me", id="in a query"),
    pytest.param(json.dumps(f'{{"api_key": "{PASSWORD}"}}'), id="in JSON inside JSON"),
    pytest.param(json.dumps(json.dumps(f'{{"token": "{PASSWORD}"}}')), id="two levels deep"),
    pytest.param(f"[(b'x-api-key', b'{PASSWORD}'), (b'n', b'1')]", id="in raw headers"),
    pytest.param(f'password = "two words {PASSWORD}"', id="in quotes, with spaces"),
    pytest.param(f"AWS_SECRET_ACCESS_KEY={PASSWORD}", id="a key of another service"),
    pytest.param(f"authorization: token {PASSWORD}", id="a header with another word"),
    pytest.param(f"postgresql://nudge:p@{PASSWORD}@db.example/nudge", id="a password with an @"),
    pytest.param(f"https://{PASSWORD}{PASSWORD}@git.example/x", id="a token in the user's place"),
    pytest.param(f"bot{TOKEN}", id="a bot token after a letter"),
    pytest.param(f"https://api.telegram.org/bot{TOKEN.replace(':', '%3A')}/getMe", id="an escaped bot token"),
    pytest.param(f"SK-ANT-{PASSWORD}", id="in capitals"),
]


def innocent(text: str) -> bool:
    return not any(secret in text for secret in (*SECRETS, TOKEN.split(":")[1]))


@pytest.mark.parametrize("text", ATTACKS)
def test_shapes_alone_are_enough(text: str) -> None:
    once = redact(text)
    assert innocent(once)
    assert HIDDEN in once
    assert redact(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "at 12:30 the reminder r-a1b2c3 fired",
        "https://example.org/path?q=1",
        "the token budget is 5000 tokens: 47% used",
        "a task-list and a desk-lamp",
        "write to someone@example.org, or see https://example.org/@someone",
        "the risk-assessment, some task-management and a desk-organiser-2000",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("form", [json.dumps, quote, repr], ids=["as JSON", "in a URL", "as a literal"])
def test_a_known_secret_is_hidden_however_it_is_written(form: Callable[[str], str]) -> None:
    secret = 'pass"word\\with/odd signs ü'
    written_as = form(secret)
    assert redact(f"it is {written_as} here", [secret]).count(HIDDEN) == 1
    assert "odd" not in redact(f"it is {written_as} here", [secret])


def test_a_long_text_without_a_secret_takes_no_time() -> None:
    """No shape may look at the rest of the text again and again: this would take minutes."""
    for piece in ("x://a:", "sk-", "token=", "'token', b", "1234567:", "bearer ", "://"):
        text = piece * (100_000 // len(piece))
        redact(text)


@dataclass
class Written:
    file: Path
    console: io.StringIO

    def all(self) -> str:
        return self.file.read_text() + self.console.getvalue()


@pytest.fixture
def written(tmp_path: Path) -> Iterator[Written]:
    root, level, raises = logging.getLogger(), logging.getLogger().level, logging.raiseExceptions
    levels = {name: logging.getLogger(name).level for name in NOISY}
    console = io.StringIO()
    handlers = configure_logs("debug", SECRETS, tmp_path, stream=console)
    yield Written(tmp_path / "nudge.log", console)
    for handler in handlers:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)
    for name, before in levels.items():
        logging.getLogger(name).setLevel(before)
    logging.raiseExceptions = raises


@pytest.mark.parametrize("text", ATTACKS)
def test_no_log_line_shows_a_secret(text: str, written: Written) -> None:
    logger = logging.getLogger("nudge.test")
    logger.info(text)
    logger.info("as an argument: %s and %r", text, {"inside": text})
    try:
        raise ValueError(text)
    except ValueError:
        logger.exception("as an exception")
    try:
        try:
            raise KeyError(text)
        except KeyError as cause:
            raise RuntimeError(text) from cause
    except RuntimeError:
        logger.exception("as a chain of them")
    assert written.all().count("as an exception") == 2
    assert innocent(written.all())
    for line in written.file.read_text().splitlines():
        assert json.loads(line)["logger"] == "nudge.test"


def test_a_line_with_half_a_character_is_written_too(written: Written) -> None:
    record = logging.makeLogRecord({"name": "nudge.test", "levelname": "WARNING", "msg": "a reply cut short: \ud83d"})
    (to_file,) = [one for one in logging.getLogger().handlers if isinstance(one, RotatingFileHandler)]
    to_file.handle(record)  # past pytest, which cannot report such a line
    assert json.loads(written.file.read_text())["event"] == "a reply cut short: \ud83d"


def test_a_known_secret_is_hidden_whatever_its_shape(written: Written) -> None:
    logging.getLogger("nudge.test").warning("once %s upon a time", PASSWORD)
    assert innocent(written.all())


def test_a_line_on_the_console_steers_no_terminal(written: Written) -> None:
    nasty = "a\x1b]0;owned\x07b\x1b[2Jc\x9b31m"
    logger = logging.getLogger("nudge.test")
    logger.warning("it said %s", nasty)
    try:
        raise ValueError(nasty)
    except ValueError:
        logger.exception("as an exception")
    told = written.console.getvalue()
    assert told.count("owned") == 2
    assert not set(told) & set("\x1b\x07\x9b")


def test_what_the_pool_says_of_a_server_that_is_away_is_written_once(written: Written) -> None:
    for _ in range(20):
        logging.getLogger("psycopg.pool").warning("error connecting in %r: %s", "pool-1", "Connection refused")
        logging.getLogger("nudge.dispatch").error("the store refuses")
    assert written.console.getvalue().count("error connecting") == 1
    assert written.file.read_text().count("error connecting") == 1
    assert written.console.getvalue().count("the store refuses") == 20


JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
PRIVATE = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\nAAAABG5vbmU\n-----END OPENSSH PRIVATE KEY-----"

PASTED = {
    "an AWS key id": ("use AKIA" + "IOSFODNN7EXAMPLE" + " for the backup", "IOSFODNN7EXAMPLE"),
    "an AWS secret": ("it is wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEK3Y ok", "wJalrXUtnFEMI"),
    "an AWS secret behind its name": ("aws_secret_access_key = wJalrXUtnFEMI7K7MDENGbPxRfiCYzEXAMPLEKEY", "wJalr"),
    "a GitHub token": ("ghp_" + "a1B2c3D4e5" * 4, "a1B2c3"),
    "a fine-grained GitHub token": ("github_pat_" + "11AAAAAAA0" * 4, "11AAAA"),
    "an OpenAI key": ("sk-proj-" + "Ab1" * 10 + " is mine", "Ab1Ab1"),
    "an Anthropic key": (f"here: {KEY}", "Zx9Zx9"),
    "an OpenAI key that the service shortened": ("Incorrect API key: sk-proj-abcd********wxyz.", "wxyz"),
    "a Slack token": ("xoxb-" + "123456789012-abcdefABCDEF", "abcdefABCDEF"),
    "a Slack hook": ("https://hooks.slack.com/services/T0000/B0000/XXXXXXXXYYYYYYYY", "XXXXYYYY"),
    "a Google key": ("AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q", "SyA1b2"),
    "a private key": (f"note this\n{PRIVATE}\nplease", "b3BlbnNzaC1"),
    "a private key that was cut": (PRIVATE[:60], "b3BlbnNz"),
    "a JWT": (f"Bearer {JWT}", "dozjgNry"),
    "a password": ("my password is hunter22", "hunter22"),
    "a password in a sentence": ("The password for the Wi-Fi is Sunshine99, tell Mum at 5pm", "Sunshine99"),
    "a password behind a colon": ("password: swordfish", "swordfish"),
    "a password with a sign": ("remind me tomorrow: pwd: Hu!nter", "Hu!nter"),
    "a German password": ("Mein Passwort lautet geheim123!", "geheim123"),
    "a German password behind a colon": ("Passwort: Sommerregen", "Sommerregen"),
    "a password of digits": ("password 12345678", "12345678"),
    "a password in quotes": ("the password is 'correct horse'", "correct"),
    "a password in a URL": ("postgres://me:s3cr3t@db/x", "s3cr3t"),
    "a token behind its name": ("my api key is a1b2c3d4e5f6g7h8", "a1b2c3d4"),
}


@pytest.mark.parametrize("what", PASTED)
def test_what_is_pasted_is_hidden_as_it_comes_in(what: str) -> None:
    text, part = PASTED[what]
    assert part in text
    assert part not in screen(text)
    assert HIDDEN in screen(text)
    assert screen(screen(text)) == screen(text)


ORDINARY = """\
Remind me to change my password tomorrow at 9
I forgot my password again
My password is too short, they say
The password is wrong
Reset the password for the gym
my password expires on 2026-11-20
Buy a password manager
Passwort vergessen
Mein Passwort ist abgelaufen
Das Passwort ist falsch
Passwort ändern um 18:30
Ask Tom for the Wi-Fi password
The password policy changed in 2024
Use 1Password or KeePass2
Update password and email
Password: please change it tomorrow
password reset at 10:30
Write down the secret of good bread
Secret: always add salt
The secret is to start early
Tell nobody our secret plan
A token of my love
I have 3 tokens left for the laundry
The token budget is 5000 tokens: 47% used
token ring networks are old
Learn basic mathematics and basic programming
I am the bearer of good news
Study sk-learn on Monday
My key is under the mat
The API key concept is unclear to me
Renew the api key next week
Call +49 170 1234567 at 5pm
Order 1234567890 arrives Tuesday
My IBAN is on the fridge
Flight LH1234 at 07:45, seat 12A
Commit 3f2504e04f8911d39a0c0305e82c3301aabbccdd broke it
See https://example.org/a/b?c=1#d and tell Anna
Write to someone@example.org about the trip
The meeting id is 987 654 3210
Read chapters 3-5 of ISBN 978-3-16-148410-0
run 5 km in 25:30, then stretch
wake me at 6:45 and not later
Pay 12.50 EUR to Max by Friday
Grocery list: eggs, milk, 2kg flour
AWS exam on Thursday at 10
GitHub issue 4711 needs an answer
Slack channel #general is noisy
Google the opening hours
The private key to happiness is sleep
JWT talk at the conference, room A3
My PIN is with the bank
it costs 100,000 € (really!)
r-a1b2c3 fired at 12:30
What does pwd do in a shell?
pass word by word through the text
The passphrase song is stuck in my head
Passwords are annoying, aren't they?
Notiere: Kennwort beim Amt abholen
""".splitlines()


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_sentence_stays_as_it_is(text: str) -> None:
    assert screen(text, [KEY, TOKEN, PASSWORD]) == text


@pytest.mark.parametrize("length", range(12, 40))
def test_no_part_of_a_known_secret_is_left_wherever_it_was_cut(length: int) -> None:
    own = ["sk-ant-api03-q7Wn2VbX9sKd4LmT8rYp", "123456789:QwErTyUiOpAsDfGhJkLzXcVbNm", "plain/but&long-and_unlike any"]
    for secret in own:
        for part in (secret[:length], secret[-length:]):
            assert hide(f"it said {part}", own) == "it said [hidden]"


def test_what_this_process_keeps_secret_is_hidden_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nudge.redaction._own", set())
    assert redact("it said blue monkey") == "it said blue monkey"
    keep_secret(["blue monkey"])
    assert redact("it said blue monkey") == "it said [hidden]"
    assert screen_all({"a": ["my blue monkey", 1]}) == {"a": ["my [hidden]", 1]}
