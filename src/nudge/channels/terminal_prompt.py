"""A line of input at the bottom of a terminal, with the messages above it.

A terminal gets line editing and a history; from a pipe, lines are read until there are no more. A message that comes
while somebody types goes above their line, which is then shown again as it was.
"""

from __future__ import annotations

import contextlib
import re
import sys
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, TextIO

from nudge.palette import Tone, painted
from nudge.text import plain

_HISTORY_LINES = 500
_CLEAR = "\r\033[K"
_PAINT = re.compile("\033\\[\\d+m")
"""A colour takes no room: readline wants it between two marks."""


class Prompt:
    """`write` and `flush` make it a stream for whoever prints. `read` blocks, so call it in a thread."""

    def __init__(
        self, stdin: TextIO, stdout: TextIO, *, colour: bool = False, history: Path | None = None, sign: str = "> "
    ) -> None:
        self.interactive = stdin.isatty() and stdout.isatty()
        self._stdin = stdin
        self._stdout = stdout
        self._shown = painted(sign, Tone.GOOD, colour and self.interactive)
        self._sign = _PAINT.sub("\001\\g<0>\002", self._shown)
        self._history = history
        self._readline: Any = None
        self._terminal: Any = None
        self._reading = False
        if self.interactive and stdin is sys.stdin:
            self._prepare()

    def read(self) -> str | None:
        """The next line, or None at the end of the input. The caller handles Ctrl-C."""
        if not self.interactive:
            line = self._stdin.readline()
            return line.rstrip("\r\n") if line else None
        self._reading = True
        try:
            line = input(self._sign)
        except EOFError:
            self._stdout.write("\n")
            return None
        finally:
            self._reading = False
        self._remember(line)
        return line

    def write(self, text: str) -> int:
        if self._reading:
            typed = self._readline.get_line_buffer() if self._readline else ""
            text = f"{_CLEAR}{text}{self._shown}{typed}"
        self._stdout.write(text)
        return len(text)

    def preview(self, text: str) -> None:
        """Show the end of an answer that is being written on the line of input, until the answer itself is printed.
        Somebody who is typing is left alone, and a pipe gets answers only."""
        if not self._reading or (self._readline and self._readline.get_line_buffer()):
            return
        width = max(10, get_terminal_size().columns - 1)
        line = plain(" ".join(text.split()))
        self._stdout.write(f"{_CLEAR}{line if len(line) <= width else '…' + line[1 - width :]}")
        self._stdout.flush()

    def flush(self) -> None:
        self._stdout.flush()

    def close(self) -> None:
        """Restore the terminal, even if the input was left in the middle of a line."""
        if self._terminal is not None:
            import termios

            with contextlib.suppress(termios.error, ValueError):
                termios.tcsetattr(self._stdin, termios.TCSADRAIN, self._terminal)
            if self._reading:
                self._stdout.write(_CLEAR)
                self._stdout.flush()

    def _prepare(self) -> None:
        try:
            import readline
            import termios
        except ImportError:
            return
        self._readline = readline
        with contextlib.suppress(termios.error, ValueError):
            self._terminal = termios.tcgetattr(self._stdin)
        readline.set_auto_history(False)
        readline.set_history_length(_HISTORY_LINES)
        if self._history is not None and self._history.exists():
            with contextlib.suppress(OSError):
                readline.read_history_file(self._history)

    def _remember(self, line: str) -> None:
        """Line by line, so that what is later removed from the file is not written back at the end."""
        if self._readline is None or not line.strip():
            return
        self._readline.add_history(line)
        if self._history is not None:
            with contextlib.suppress(OSError, AttributeError):  # not every readline can append
                if not self._history.exists():
                    self._history.touch(mode=0o600)
                self._readline.append_history_file(1, self._history)
