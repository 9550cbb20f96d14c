"""How a channel is chosen, and that no other room knows which channels there are."""

from __future__ import annotations

import io
from datetime import UTC
from pathlib import Path

import pytest

import nudge
from nudge.channels import CHANNELS, Setup, chosen, open_channel
from nudge.channels.terminal import TerminalChannel
from nudge.home.config import SECRET_NAMES, SECTIONS, TerminalSection, kinds_of
from tests.coach.outside import HastyClock

CHOICES = {
    "nothing is set": ("auto", {}, "terminal"),
    "a token is set": ("auto", {"TELEGRAM_BOT_TOKEN": "1:x"}, "telegram"),
    "a token is empty": ("auto", {"TELEGRAM_BOT_TOKEN": " "}, "terminal"),
    "the terminal in spite of a token": ("terminal", {"TELEGRAM_BOT_TOKEN": "1:x"}, "terminal"),
    "Telegram without a token": ("telegram", {}, "telegram"),
}


@pytest.mark.parametrize("kind, environment, name", CHOICES.values(), ids=CHOICES.keys())
def test_the_configuration_chooses_or_the_key_does(kind: str, environment: dict[str, str], name: str) -> None:
    assert chosen(kind, environment) == name


def test_the_configuration_knows_every_channel() -> None:
    kind = kinds_of("channel")["kind"]
    assert [kind.read(name) for name in ("auto", *CHANNELS)] == ["auto", *CHANNELS]
    assert {name for name, entry in CHANNELS.items() if entry.key} <= set(SECTIONS)
    assert {entry.key for entry in CHANNELS.values() if entry.key} <= set(SECRET_NAMES)


def test_a_channel_is_made_from_its_section() -> None:
    setup = Setup(TerminalSection(), {}, HastyClock(), io.StringIO(), lambda: UTC)
    assert isinstance(open_channel("terminal", setup), TerminalChannel)


MAY_SAY_TELEGRAM = (
    "channels/__init__.py",
    "channels/telegram/",
    "cli/commands/pair.py",
    "cli/commands/run.py",
    "daemon/config_checks.py",
    "home/",
    "testing/",
)
"""The registry, the channel itself, its fake, the configuration, the command that sets it up, and what explains the
configuration to a person."""


def test_nobody_else_says_telegram() -> None:
    room = Path(nudge.__file__).parent
    files = {path.relative_to(room).as_posix(): path for path in room.rglob("*.py")}
    saying = [name for name, path in files.items() if "telegram" in path.read_text(encoding="utf-8").lower()]
    assert [name for name in saying if not name.startswith(MAY_SAY_TELEGRAM)] == []
