"""Notifications on the desktop, shown by a program that is only a fake: what reaches it is what a desktop would get."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from nudge.channels.desktop import Desktop, command_of
from nudge.channels.terminal import TerminalChannel
from nudge.errors import NotConfiguredError
from nudge.queue.channel import Outbound
from tests.cli.cli import Cli, until
from tests.times import NOON, TORONTO

EVIL = "-u critical $(touch /tmp/pwned) `id` <img src='x'>\x1b[2J & more\nsecond line"


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with a notify-send that writes its arguments down, one to a line with its end marked."""
    folder = tmp_path / "bin"
    folder.mkdir()
    _write(
        folder / "notify-send",
        f'for word in "$@"; do printf "%s|\\n" "$word" >> {folder}/shown; done\nenv > {folder}/env',
    )
    return folder


def _write(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def environment(programs: Path) -> dict[str, str]:
    return {"PATH": f"{programs}:{os.environ['PATH']}", "DISPLAY": ":0", "ANTHROPIC_API_KEY": "sk-ant-secret"}


async def test_the_text_is_shown_and_does_nothing_else(programs: Path) -> None:
    assert await Desktop(environment(programs), "linux").show(EVIL)
    shown = (programs / "shown").read_text()
    text = "-u critical $(touch /tmp/pwned) `id` &lt;img src='x'&gt;\ufffd[2J &amp; more second line"
    assert shown == f"--app-name=nudge|\n--|\nnudge|\n{text}|\n"
    assert "sk-ant-secret" not in (programs / "env").read_text()
    assert "DISPLAY=:0" in (programs / "env").read_text()


def test_on_macos_the_text_is_an_argument_of_the_script_and_no_part_of_it() -> None:
    command = command_of('" & (do shell script "id") & "', "darwin")
    assert command[-2:] == ["--", '" & (do shell script "id") & "']
    assert not any("do shell script" in word for word in command[:-1])


@pytest.mark.parametrize(
    "script", [pytest.param(None, id="nothing installed"), pytest.param("exit 3", id="a desktop that refuses")]
)
async def test_a_desktop_that_shows_nothing_holds_up_nothing(tmp_path: Path, script: str | None) -> None:
    if script is not None:
        _write(tmp_path / "notify-send", script)
    desktop = Desktop({"PATH": str(tmp_path)}, "linux")
    screen: list[str] = []
    channel = TerminalChannel(Screen(screen), lambda: NOON, lambda: TORONTO, desktop=desktop)
    assert (await channel.send(Outbound(7, "Stretch"))).message_ids == ("t7",)
    assert "Stretch" in "".join(screen)
    assert not await desktop.show("Stretch")


class Screen:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def write(self, text: str, /) -> int:
        self._lines.append(text)
        return len(text)

    def flush(self) -> None:
        return None


async def test_a_reply_stays_in_the_terminal(programs: Path) -> None:
    desktop = Desktop(environment(programs), "linux")
    channel = TerminalChannel(Screen([]), lambda: NOON, lambda: TORONTO, desktop=desktop)
    await channel.send(Outbound(1, "You said hello.", reply=True))
    assert not (programs / "shown").exists()


async def test_doctor_says_if_the_program_is_missing(tmp_path: Path) -> None:
    channel = TerminalChannel(Screen([]), lambda: NOON, lambda: TORONTO, desktop=Desktop({"PATH": str(tmp_path)}))
    with pytest.raises(NotConfiguredError, match="is not installed"):
        await channel.check()


@pytest.mark.process
@pytest.mark.skipif(os.uname().sysname == "Darwin", reason="macOS has no notify-send")
@pytest.mark.parametrize("on", [True, False], ids=["switched on", "by default"])
def test_a_daemon_shows_a_due_reminder_on_the_desktop(tmp_path: Path, programs: Path, on: bool) -> None:
    cli = Cli(tmp_path / "home", environment(programs) | {"ANTHROPIC_API_KEY": ""})
    cli("init")
    if on:
        (cli.home / "nudge.toml").write_text("[terminal]\ndesktop = true\n")
    cli("reminder", "add", "-m", "Drink <water> now", "--at", "2026-01-01T10:00", "--late", "always", "--to-person")
    with cli.start():
        until(lambda: any(one["result"].startswith("fired") for one in cli.json("why")), "the reminder fired")
        if on:
            until((programs / "shown").exists, "it is on the desktop")
    assert (programs / "shown").exists() is on
    if on:
        assert "Drink &lt;water&gt; now" in (programs / "shown").read_text()
