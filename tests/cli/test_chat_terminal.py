"""The coach in a terminal: nudge run --terminal and nudge chat, driven by lines."""

from __future__ import annotations

import os
import pty
import select
import subprocess

import pytest

from tests.cli.cli import NUDGE, Cli, until

pytestmark = pytest.mark.process


def test_run_in_a_terminal_makes_a_home_greets_answers_and_ends_with_its_input(cli: Cli) -> None:
    done = cli("run", "--terminal", stdin="what's next?\n\n/remind stretch in 2h\nadd write to today\n")
    lines = [line[7:] for line in done.stdout.splitlines()]
    assert "I'm your coach" in lines[0]
    assert "Nothing is on the lists" in lines[2]
    assert lines[3].startswith("I'll remind you: stretch.")
    assert lines[4] == "Today is now: 1. Write"
    assert "1. Write" in (cli.home / "agents" / "coach" / "GOALS.md").read_text()
    assert done.stderr == ""


def test_quit_ends_it(cli: Cli) -> None:
    done = cli("run", "--terminal", stdin="/quit\n/goals\n")
    assert "Schedule Targets" not in done.stdout


def test_chat_without_a_daemon_starts_the_coach_here(home: Cli) -> None:
    done = home("chat", stdin="/help\n")
    assert "I'm your coach" in done.stdout
    assert "/redact" in done.stdout


def test_chat_talks_to_the_daemon_that_runs(home: Cli) -> None:
    with home.start() as daemon:
        done = home("chat", stdin="what's next?\n/remind stretch in 1 second\n/goals\n")
        assert "I'm your coach" not in done.stdout
        assert "Nothing is on the lists" in done.stdout
        assert "I'll remind you: stretch." in done.stdout
        assert "## Schedule Targets" in done.stdout
        assert daemon.process.poll() is None
        # Answers to what is typed here come here; a reminder goes to the person's own channel, too.
        until(lambda: home.json("reminder", "list", "--all")[0]["status"] == "completed", "it was delivered")
        home("stop")
        said = daemon.wait()[1]
    assert "stretch" in said
    assert "Nothing is on the lists" not in said


def test_typing_on_a_terminal_has_a_prompt_and_what_is_said_comes_above_it(cli: Cli) -> None:
    """Over a pseudo-terminal, as a person sees it."""
    cli("init")
    leader, follower = pty.openpty()
    environment = {**cli.environment, "TERM": "xterm"}
    process = subprocess.Popen([*NUDGE, "chat"], env=environment, stdin=follower, stdout=follower, stderr=follower)
    os.close(follower)
    seen = b""

    def read_until(wanted: bytes) -> None:
        nonlocal seen
        while wanted not in seen:
            ready, _, _ = select.select([leader], [], [], 20)
            assert ready, seen
            seen += os.read(leader, 65_536)

    try:
        read_until(b"coach")
        read_until(b"> ")
        os.write(leader, b"what's next?\r")
        read_until(b"Nothing is on the lists")
        os.write(leader, b"\x04")
        read_until(b"\n")
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
        process.wait()
        os.close(leader)
    history = cli.home / "run" / "chat_history"
    assert history.read_text().splitlines()[-1] == "what's next?"
    assert history.stat().st_mode & 0o077 == 0
