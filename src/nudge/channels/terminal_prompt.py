"""A line of input at the bottom of a terminal, with the messages above it.

A terminal gets line editing, a history and Tab; from a pipe, lines are read until there are no more. A message that
comes while somebody types goes above their line, which is then shown again as it was. What is pasted is one message,
however many lines it has.
"""

from __future__ import annotations

import contextlib
import re
import select
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, TextIO

from nudge.columns import cells
from nudge.palette import Tone, painted
from nudge.text import plain

_PAINT = re.compile("\033\\[\\d+m")
"""A colour takes no room: readline wants it between two marks."""
_HISTORY_LINES = 500
_CLEAR = "\r\033[J"
_PASTED_SECONDS = 0.03
"""Nobody types the next line that soon after Enter: it is part of what was pasted."""
_LONGEST_PASTE = 200

Completer = Callable[[str], Sequence[str]]
"""What the line so far may become."""


def completions(line: str, commands: Iterable[str], names: Iterable[str]) -> list[str]:
    """The lines that Tab offers: a command at the beginning, or the name that the last words begin.

    >>> completions("/re", ["/remind", "/review", "/undo"], [])
    ['/remind ', '/review ']
    >>> completions("cancel call m", [], ["call Mum", "Call Max", "stretch"])
    ['cancel call Mum', 'cancel Call Max']
    """
    if line.startswith("/") and " " not in line:
        return [f"{one} " for one in commands if one.startswith(line.casefold())]
    starts = [0, *(place + 1 for place, letter in enumerate(line) if letter == " ")]
    for start in starts:
        begun = line[start:].casefold()
        found = [name for name in names if begun and name.casefold().startswith(begun)]
        if found:
            return [line[:start] + name for name in found]
    return []


class Prompt:
    """`write` and `flush` make it a stream for whoever prints. `read` blocks, so call it in a thread."""

    def __init__(
        self, stdin: TextIO, stdout: TextIO, *, colour: bool = False, history: Path | None = None, sign: str = "> "
    ) -> None:
        self.interactive = stdin.isatty() and stdout.isatty()
        self._stdin = stdin
        self._stdout = stdout
        self._plain_sign = sign
        self._shown = painted(sign, Tone.GOOD, colour and self.interactive)
        self._sign = _PAINT.sub("\001\\g<0>\002", self._shown)
        self._history = history
        self._readline: Any = None
        self._screen: Any = None
        self._terminal: Any = None
        self._reading = False
        self._completer: Completer | None = None
        self._offered: Sequence[str] = ()
        if self.interactive and stdin is sys.stdin:
            self._prepare()

    @property
    def width(self) -> int | None:
        """The columns of the terminal, now; None for a pipe, whose lines are not wrapped."""
        return get_terminal_size().columns if self.interactive else None

    def complete_with(self, completer: Completer) -> None:
        """What Tab offers."""
        self._completer = completer

    def read(self) -> str | None:
        """The next line, or all lines that were pasted at once; None at the end of the input. The caller handles
        Ctrl-C."""
        if not self.interactive:
            line = self._stdin.readline()
            return line.rstrip("\r\n") if line else None
        lines = [self._line(self._sign)]
        while lines[-1] is not None and len(lines) < _LONGEST_PASTE and self._more_is_there():
            lines.append(self._line(""))
        said = [line for line in lines if line is not None]
        if not said:
            return None
        text = "\n".join(said)
        self._remember(text)
        return text

    def _line(self, sign: str) -> str | None:
        self._reading = True
        try:
            return input(sign)
        except EOFError:
            self._stdout.write("\n")
            return None
        finally:
            self._reading = False

    def _more_is_there(self) -> bool:
        """Whether the terminal has the next line already, as after a paste that it does not mark as one."""
        try:
            return bool(select.select([self._stdin], [], [], _PASTED_SECONDS)[0])
        except (OSError, ValueError):
            return False

    def write(self, text: str) -> int:
        if not self._reading:
            self._stdout.write(text)
            return len(text)
        typed = self._readline.get_line_buffer() if self._readline else ""
        self._stdout.write(f"{self._up_to_sign(typed)}{_CLEAR}{text}")
        if self._screen is not None:  # with the cursor where it was
            self._stdout.flush()
            self._screen.rl_on_new_line()
            self._screen.rl_redisplay()
        else:
            self._stdout.write(f"{self._shown}{typed}")
        return len(text)

    def _up_to_sign(self, typed: str) -> str:
        """From the row of the cursor to the row where the line of input begins."""
        before = typed
        if self._screen is not None:
            import ctypes

            point = ctypes.c_int.in_dll(self._screen, "rl_point").value
            before = typed.encode()[:point].decode(errors="ignore")
        width = max(1, get_terminal_size().columns)
        first, *others = f"{self._plain_sign}{before}".split("\n")
        rows = cells(first) // width + sum(1 + cells(line) // width for line in others)
        return f"\033[{rows}A" if rows else ""

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
        self._bind(readline)
        if self._history is not None and self._history.exists():
            with contextlib.suppress(OSError):
                readline.read_history_file(self._history)

    def _bind(self, readline: Any) -> None:
        """Tab, and pasting. GNU readline can also draw its line again; libedit, in its place, is told by printing."""
        readline.set_completer_delims("")
        readline.set_completer(self._complete)
        if "libedit" in (readline.__doc__ or ""):
            readline.parse_and_bind("bind ^I rl_complete")
            return
        readline.parse_and_bind("tab: complete")
        readline.parse_and_bind("set enable-bracketed-paste on")
        with contextlib.suppress(OSError, AttributeError, ImportError, ValueError):
            import ctypes

            screen = ctypes.CDLL(readline.__file__)
            for needed in ("rl_on_new_line", "rl_redisplay"):
                getattr(screen, needed)
            ctypes.c_int.in_dll(screen, "rl_point")
            self._screen = screen

    def _complete(self, line: str, number: int) -> str | None:
        if number == 0:
            self._offered = self._completer(line) if self._completer is not None else ()
        return self._offered[number] if number < len(self._offered) else None

    def _remember(self, line: str) -> None:
        """Line by line, so that what is later removed from the file is not written back at the end."""
        if self._readline is None or not line.strip():
            return
        line = " ".join(line.split("\n"))
        self._readline.add_history(line)
        if self._history is not None:
            with contextlib.suppress(OSError, AttributeError):  # not every readline can append
                if not self._history.exists():
                    self._history.touch(mode=0o600)
                self._readline.append_history_file(1, self._history)
