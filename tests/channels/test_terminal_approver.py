from __future__ import annotations

import asyncio
import io
import os
import pty
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from nudge.channels.terminal_approver import TerminalApprover, printable
from nudge.instants import SECOND, Instant
from nudge.progress.extensions import Approval, Approver, ExtensionRequest
from nudge.progress.run_budget import RunBudget

NOW = Instant(1_772_366_400 * SECOND)


class Screen(io.StringIO):
    def __init__(self, tty: bool = True) -> None:
        super().__init__()
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty


def request(reason: str = "Need to complete test suite") -> ExtensionRequest:
    return RunBudget().request_extension(additional_tokens=200_000, reason=reason, now=NOW)


def approver(
    *lines: str, tty: bool = True, seconds_later: float = 0, deadlines: list[float] | None = None
) -> tuple[TerminalApprover, Screen]:
    """An approver at a terminal where these lines are typed; after the last one the deadline passes."""
    typed = iter(lines)
    screen = Screen(tty)

    async def read_line() -> str:
        try:
            return next(typed)
        except StopIteration:
            raise TimeoutError from None

    @asynccontextmanager
    async def timeout(seconds: float) -> AsyncIterator[None]:
        if deadlines is not None:
            deadlines.append(seconds)
        yield

    def now() -> Instant:
        return Instant(NOW + round(seconds_later * SECOND))

    made = TerminalApprover(now, timeout=timeout, keyboard=Screen(tty), screen=screen, read_line=read_line)
    return made, screen


@pytest.mark.parametrize(
    ("lines", "decision"),
    [
        pytest.param(["y\n"], Approval.GRANTED, id="y"),
        pytest.param(["Y\n"], Approval.GRANTED, id="capital Y"),
        pytest.param([" yes \n"], Approval.GRANTED, id="yes"),
        pytest.param(["n\n"], Approval.DENIED, id="n"),
        pytest.param(["No\n"], Approval.DENIED, id="no"),
        pytest.param(["\n"], Approval.DENIED, id="a bare Enter is no"),
        pytest.param([""], Approval.DENIED, id="the end of input is no"),
        pytest.param(["perhaps\n", "y\n"], Approval.GRANTED, id="asked again until it is clear"),
        pytest.param(["perhaps\n"], Approval.TIMED_OUT, id="unclear until the deadline is no"),
        pytest.param([], Approval.TIMED_OUT, id="silence is no"),
    ],
)
async def test_answers(lines: list[str], decision: Approval) -> None:
    terminal, _ = approver(*lines)
    answer = await terminal.ask(request())
    assert answer is decision
    assert answer.is_yes is (decision is Approval.GRANTED)


async def test_the_question_says_what_is_asked_and_what_silence_means() -> None:
    terminal, screen = approver("n\n")
    await terminal.ask(request())
    assert screen.getvalue() == (
        "The run asks for 200,000 more tokens (extension 1 of at most 3).\n"
        "Its reason: Need to complete test suite\n"
        "Grant it? [y/N] (no answer within 60 s means no) "
    )


async def test_the_deadline_is_the_requests_and_not_a_new_minute() -> None:
    deadlines: list[float] = []
    terminal, _ = approver("y\n", seconds_later=45, deadlines=deadlines)
    assert await terminal.ask(request()) is Approval.GRANTED
    assert deadlines == [15.0]


async def test_nobody_is_asked_after_the_deadline() -> None:
    terminal, screen = approver("y\n", seconds_later=60)
    assert await terminal.ask(request()) is Approval.TIMED_OUT
    assert screen.getvalue() == ""


async def test_without_a_terminal_the_answer_is_no_and_nothing_is_printed() -> None:
    terminal, screen = approver("y\n", tty=False)
    assert await terminal.ask(request()) is Approval.UNATTENDED
    assert screen.getvalue() == ""


async def test_a_closed_keyboard_is_nobody() -> None:
    keyboard = io.StringIO()
    keyboard.close()
    terminal = TerminalApprover(lambda: NOW, keyboard=keyboard, screen=Screen())
    assert await terminal.ask(request()) is Approval.UNATTENDED


async def test_a_refused_request_is_not_shown() -> None:
    terminal, screen = approver("y\n")
    assert await terminal.ask(replace(request(), can_request=False)) is Approval.DENIED
    assert screen.getvalue() == ""


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        pytest.param("a\x1b[2Jb", "a[2Jb", id="no escape sequence"),
        pytest.param("two\nlines\tand a tab", "two lines and a tab", id="one line"),
        pytest.param("a\u202eb\u200bc", "abc", id="no turned or hidden text"),
        pytest.param("x" * 500, "x" * 299 + "…", id="a long one is cut"),
        pytest.param("Größe ✓ 日本", "Größe ✓ 日本", id="other languages stay"),
    ],
)
def test_what_a_model_wrote_cannot_play_with_the_terminal(reason: str, shown: str) -> None:
    assert printable(reason) == shown


@pytest.fixture
def terminal_pair() -> Iterator[tuple[int, int]]:
    master, slave = pty.openpty()
    yield master, slave
    os.close(master)
    os.close(slave)


async def test_a_real_terminal(terminal_pair: tuple[int, int]) -> None:
    master, slave = terminal_pair
    with open(slave, closefd=False) as keyboard:
        screen = Screen()
        terminal: Approver = TerminalApprover(lambda: NOW, keyboard=keyboard, screen=screen)
        os.write(master, b"y\n")
        await _settled(slave)
        asking = asyncio.create_task(terminal.ask(request()))
        while not screen.getvalue():
            await asyncio.sleep(0)
        assert not asking.done(), "what was typed before the question is no answer to it"
        os.write(master, b"n\n")
        assert await asking is Approval.DENIED


async def test_a_real_terminal_with_nobody_at_it(terminal_pair: tuple[int, int]) -> None:
    _, slave = terminal_pair
    with open(slave, closefd=False) as keyboard:
        clock = Instant(NOW + 60 * SECOND - 20_000)
        terminal = TerminalApprover(lambda: clock, keyboard=keyboard, screen=Screen())
        assert await terminal.ask(request()) is Approval.TIMED_OUT
        assert not asyncio.get_running_loop().remove_reader(slave), "nothing keeps listening to the keyboard"


async def _settled(descriptor: int) -> None:
    """Until the line has arrived on the terminal's side."""
    loop = asyncio.get_running_loop()
    arrived = loop.create_future()
    loop.add_reader(descriptor, lambda: arrived.done() or arrived.set_result(None))
    await arrived
    loop.remove_reader(descriptor)
