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
from nudge.redaction import HIDDEN, redact

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
