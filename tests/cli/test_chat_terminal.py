"""The coach in a terminal: nudge run --terminal and nudge chat, driven by lines."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios

import pytest

from nudge.testing import FakeTelegram
from nudge.testing.telegram_server import PERSON
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


class Screen:
    """A program on a pseudo-terminal, as a person sees it."""

    def __init__(self, cli: Cli, *words: str, width: int = 80) -> None:
        self.leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        environment = {**cli.environment, "TERM": "xterm"}
        environment.pop("COLUMNS", None)
        self.process = subprocess.Popen(
            [*NUDGE, *words], env=environment, stdin=follower, stdout=follower, stderr=follower, start_new_session=True
        )
        os.close(follower)
        self.seen = ""

    def __enter__(self) -> Screen:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.leader)

    def until(self, wanted: str) -> str:
        """Read until it is there; everything up to its end, which is not looked at again."""
        while wanted not in self.seen:
            ready, _, _ = select.select([self.leader], [], [], 30)
            assert ready, self.seen
            self.seen += os.read(self.leader, 65_536).decode(errors="replace")
        found, _, self.seen = self.seen.partition(wanted)
        return found + wanted

    def type(self, text: str) -> None:
        os.write(self.leader, text.encode())


@pytest.fixture
def known(cli: Cli) -> Cli:
    """A home that somebody has written into, so that nobody is asked how to begin."""
    cli("init")
    goals = cli.home / "agents" / "coach" / "GOALS.md"
    goals.write_text(goals.read_text().replace("1. [Single most important task]", "1. Write the draft"))
    return cli


def test_typing_on_a_terminal_has_a_prompt_and_what_is_said_comes_above_it(known: Cli) -> None:
    with Screen(known, "chat") as screen:
        screen.until("coach")
        screen.until("> ")
        screen.type("what's next?\r")
        screen.until("Write the draft")
        screen.type("\x04")
        screen.until("\n")
        assert screen.process.wait(timeout=20) == 0
    history = known.home / "run" / "chat_history"
    assert history.read_text().splitlines()[-1] == "what's next?"
    assert history.stat().st_mode & 0o077 == 0


def test_a_new_home_is_asked_how_to_begin_on_a_terminal(cli: Cli) -> None:
    with Screen(cli, "chat") as screen:
        screen.until("What should I call you?")
        screen.type("Sam\r")
        screen.until("Nice to meet you, Sam.")


def test_a_paste_is_one_message_and_tab_completes(known: Cli) -> None:
    with Screen(known, "chat") as screen:
        screen.until("> ")
        screen.type("\x1b[200~add buy milk\rand bread\x1b[201~ to today\r")
        said = screen.until("Today is now")
        assert "milk" in said + screen.until("\n")
        screen.until("> ")
        screen.type("/und\t")
        screen.until("/undo ")
        screen.type("\x15cancel Wr\t")
        screen.until("cancel Write the draft")


def test_a_line_that_is_being_typed_stays_when_a_message_comes(known: Cli) -> None:
    with Screen(known, "chat", width=60) as screen:
        screen.until("> ")
        screen.type("/remind stretch in 2 seconds\r")
        screen.until("I'll remind you: stretch")
        screen.until("> ")
        typed = "add a rather long line that goes over the edge of this small window to today"
        screen.type(typed + "\x1b[D" * 5)  # the cursor is before "today"
        came = screen.until("stretch\r\n")
        assert "\x1b[" in came
        screen.until("> add a rather long line")
        screen.type("\x0bweek\r")  # the rest of the line is cut, at the cursor
        screen.until("This Week is now")


def test_messages_are_wrapped_between_words(known: Cli) -> None:
    with Screen(known, "chat", width=40) as screen:
        screen.until("> ")
        screen.type("/help\r")
        screen.until("/help")
        shown = screen.until("/start").replace("\x1b[J", "").split("\r\n")
        assert max(len(line) for line in shown if "\x1b" not in line) <= 40


def test_leaving_says_what_waits_and_goes_on_in_the_background(known: Cli) -> None:
    config = known.home / "nudge.toml"
    with FakeTelegram() as telegram:
        config.write_text(config.read_text().replace("[telegram]\n", f"[telegram]\nallow = [{PERSON}]\n"))
        known.environment |= {"TELEGRAM_BOT_TOKEN": telegram.token, "TELEGRAM_API_BASE": telegram.url}
        with Screen(known, "run", "--terminal") as screen:
            screen.until("> ")
            screen.type("/remind stretch in 20 seconds\r")
            screen.until("I'll remind you: stretch")
            screen.type("/quit\r")
            screen.until("1 reminder waits; the next is “stretch”")
            screen.until("[y/N]")
            screen.type("y\r")
            screen.until("Running in the background")
            assert screen.process.wait(timeout=20) == 0
        try:
            [message] = telegram.wait_for_sent(1, timeout=60)
            assert "stretch" in message.text
        finally:
            known("stop")
