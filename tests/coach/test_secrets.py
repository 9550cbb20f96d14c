"""Keys that come back by a way round: printed by a command, quoted in parts, left in a file."""

import logging
import os
import stat
from pathlib import Path

import pytest

from nudge.home.command_conditions import CommandConditions
from nudge.home.folder import Home
from nudge.home.logs import configure_logs
from nudge.home.read_config import read_config
from nudge.instants import SECOND
from nudge.redaction import redact
from nudge.reminders.conditions import Question

ENV = {
    "TELEGRAM_BOT_TOKEN": "123456:second-half-of-the-token",
    "NUDGE_HEALTHCHECK_URL": "https://hc.example/ping/0c5c3b1e-health",
    "NUDGE_SMTP_URL": "smtps://bob:p%40ssw0rd@mail.example",
}


@pytest.fixture
def secrets(tmp_path: Path) -> tuple[str, ...]:
    return read_config(Home(tmp_path), ENV).secrets


@pytest.mark.parametrize("part", ["second-half-of-the-token", "0c5c3b1e-health", "p@ssw0rd", "p%40ssw0rd"])
def test_a_part_that_is_as_good_as_the_whole_is_hidden(secrets: tuple[str, ...], part: str) -> None:
    assert redact(f"it said {part} aloud", secrets) == "it said [hidden] aloud"


def test_a_word_of_an_address_is_no_secret(secrets: tuple[str, ...]) -> None:
    assert redact("a ping from hc.example", secrets) == "a ping from hc.example"


@pytest.mark.parametrize("ends", ["exit 0", "exit 1", "kill $$"])
async def test_a_command_that_prints_the_keys_tells_nobody(secrets: tuple[str, ...], tmp_path: Path, ends: str) -> None:
    (tmp_path / "keys").write_text("\n".join(ENV.values()))
    conditions = CommandConditions(lambda agent: tmp_path, secrets=secrets)
    verdict = await conditions.ask(Question(f"cat keys; {ends}", "coach", "r-aaaaaa", 0, 20 * SECOND))
    assert "[hidden]" in verdict.output
    for secret in secrets:
        assert secret not in verdict.output


def test_the_log_is_its_owners_whatever_the_umask(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir(mode=0o755)
    before = os.umask(0)
    level, root = logging.getLogger().level, logging.getLogger()
    handlers = configure_logs("INFO", (), folder)
    try:
        logging.getLogger("nudge.test").warning("hello")
        assert stat.S_IMODE((folder / "nudge.log").stat().st_mode) == 0o600
    finally:
        os.umask(before)
        root.setLevel(level)
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()
