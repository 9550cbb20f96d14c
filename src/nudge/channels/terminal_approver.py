"""Asks the person at this terminal, Y or N, with a deadline. If nobody sits there, the answer is no."""

from __future__ import annotations

import asyncio
import os
import sys
import unicodedata
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import IO, Any

from nudge.instants import SECOND, Moment, as_instant
from nudge.progress.extensions import Approval, ExtensionRequest

_LONGEST_REASON = 300
_ANSWERS = {"y": Approval.GRANTED, "yes": Approval.GRANTED, "n": Approval.DENIED, "no": Approval.DENIED}

Timeout = Callable[[float], AbstractAsyncContextManager[Any]]
"""Makes a context that raises TimeoutError when that many seconds are over, as `asyncio.timeout` does."""


class TerminalApprover:
    """The Approver of a terminal. The prompt goes to stderr, so that stdout stays data.

    A bare Enter and the end of input mean no; any other answer than yes or no repeats the question until the deadline.
    What was typed before the question is thrown away, because a stray "y" must not spend money.
    """

    def __init__(
        self,
        now: Callable[[], Moment],
        *,
        timeout: Timeout = asyncio.timeout,
        keyboard: IO[Any] | None = None,
        screen: IO[str] | None = None,
        read_line: Callable[[], Awaitable[str]] | None = None,
    ) -> None:
        """`now` is the clock of the request's deadline. `read_line` replaces the keyboard; it returns a line with its
        line break, or an empty text at the end of input."""
        self._now = now
        self._timeout = timeout
        self._keyboard = keyboard if keyboard is not None else sys.stdin
        self._screen = screen if screen is not None else sys.stderr
        self._read_line = read_line or self._line_from_keyboard

    async def ask(self, request: ExtensionRequest) -> Approval:
        if not request.can_request:
            return Approval.DENIED
        if not self._attended():
            return Approval.UNATTENDED
        seconds = self._seconds_left(request)
        if seconds <= 0:
            return Approval.TIMED_OUT
        self._forget_type_ahead()
        self._say(f"{question(request)}\nGrant it? [y/N] (no answer within {seconds:.0f} s means no) ")
        try:
            async with self._timeout(seconds):
                return await self._answer()
        except TimeoutError:
            self._say("\nNo answer: denied.\n")
            return Approval.TIMED_OUT

    async def _answer(self) -> Approval:
        while True:
            line = await self._read_line()
            word = line.strip().lower()
            if not word:
                return Approval.DENIED
            if word in _ANSWERS:
                return _ANSWERS[word]
            self._say("Please answer y or n: ")

    def _attended(self) -> bool:
        try:
            return self._keyboard.isatty() and self._screen.isatty()
        except ValueError:  # a closed stream
            return False

    def _seconds_left(self, request: ExtensionRequest) -> float:
        if request.deadline is None:
            return 0.0
        return (as_instant(request.deadline) - as_instant(self._now())) / SECOND

    def _say(self, text: str) -> None:
        self._screen.write(text)
        self._screen.flush()

    def _forget_type_ahead(self) -> None:
        import termios

        with suppress(termios.error, OSError, ValueError):
            termios.tcflush(self._keyboard.fileno(), termios.TCIFLUSH)

    async def _line_from_keyboard(self) -> str:
        """One line, read only when the terminal has one: a thread blocked in a read could not be cancelled."""
        loop = asyncio.get_running_loop()
        descriptor = self._keyboard.fileno()
        arrived: asyncio.Future[None] = loop.create_future()

        def tell() -> None:
            if not arrived.done():
                arrived.set_result(None)

        loop.add_reader(descriptor, tell)
        try:
            await arrived
        finally:
            loop.remove_reader(descriptor)
        try:
            return os.read(descriptor, 4096).decode(errors="replace")
        except OSError:  # the terminal went away
            return ""


def question(request: ExtensionRequest) -> str:
    """The request in words. A model wrote the reason: its control characters never reach the terminal, and a long one
    is cut."""
    number = request.extensions_granted + 1
    return (
        f"The run asks for {request.additional_tokens:,} more tokens "
        f"(extension {number} of at most {request.max_extensions}).\n"
        f"Its reason: {printable(request.reason)}"
    )


def printable(text: str) -> str:
    """One line without anything that moves a cursor, changes a colour or turns the direction of the text."""
    kept = "".join(" " if character.isspace() else character for character in text)
    kept = "".join(character for character in kept if not unicodedata.category(character).startswith("C"))
    kept = " ".join(kept.split())
    return kept if len(kept) <= _LONGEST_REASON else kept[: _LONGEST_REASON - 1] + "…"
