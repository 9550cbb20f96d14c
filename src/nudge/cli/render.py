"""How things look on a terminal: tables, times, colours. Data goes to stdout, the rest to stderr.

On a terminal, or where COLUMNS says how wide it is, text wraps on words. In a pipe a line stays a line, so that `grep`
finds it, and a table is cut to 80 columns.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo
from typing import Any

from nudge.columns import table_lines, width_of, wrap
from nudge.durations import short_time
from nudge.instants import Instant, to_datetime
from nudge.palette import ANSI, Tone
from nudge.text import plain

_MOST = 1_000_000
WATCH_SECONDS = 2


def number_from(least: int, most: int = _MOST) -> Callable[[str], int]:
    """A whole number of at least `least`, and of a size that a database takes."""

    def number(text: str) -> int:
        if not text.isdecimal() or len(text) > len(str(most)) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {least} to {most:,}")
        return int(text)

    return number


_PAINT = re.compile(rf"(\033\[(?:0|{'|'.join(str(code) for code in ANSI.values())})m)")
_HIGH_ORDERS = re.compile(r"[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def how_many(text: str) -> int:
    """The type of a --limit: a whole number, 0 or more."""
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def out(text: str = "", *, hang: int | None = None) -> None:
    """Print lines for people. On a terminal they wrap on words, and go on below `hang` spaces, or below the indentation
    of the line."""
    out_raw(_fitted(text, width_of(sys.stdout), hang))


def out_raw(text: str) -> None:
    """Print lines as they are: what a program reads, or what is laid out already."""
    sys.stdout.write(shown(text) + "\n")


def note(text: str, *, hang: int | None = None) -> None:
    sys.stderr.write(shown(_fitted(text, width_of(sys.stderr), hang)) + "\n")


def _fitted(text: str, width: int | None, hang: int | None) -> str:
    if width is None or (len(text) <= width and text.isascii() and "\n" not in text):
        return text
    return "\n".join(
        part
        for line in text.split("\n")
        for part in wrap(line, width, hang=len(line) - len(line.lstrip(" ")) if hang is None else hang)
    )


def shown(text: str) -> str:
    """What may go to a terminal: whoever wrote the words in it, they can take our colours and do nothing else.

    >>> from nudge.palette import painted
    >>> shown(painted("ok", Tone.GOOD, True) + "\\x1b[2J") == "\\x1b[32mok\\x1b[0m\ufffd[2J"
    True
    """
    return "".join(part if number % 2 else plain(part) for number, part in enumerate(_PAINT.split(text)))


def out_json(value: Any) -> None:
    out_raw(json_text(value, indent=2))


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON leaves some characters as they are that a terminal obeys; written as escapes they mean the same."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _HIGH_ORDERS.sub(lambda order: f"\\u{ord(order[0]):04x}", text)


def watched(draw: Callable[[], int], watch: bool) -> int:
    """Draw once, or with --watch again every two seconds until somebody presses Ctrl-C. What goes wrong for a while is
    shown in its place."""
    if not watch:
        return draw()
    import time

    from nudge.errors import NudgeError

    while True:
        sys.stdout.write("\033[H\033[2J" if sys.stdout.isatty() else "")
        try:
            draw()
        except NudgeError as error:
            out(str(error))
        sys.stdout.flush()
        time.sleep(WATCH_SECONDS)


def watch_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--watch", action="store_true", help=f"show it again every {WATCH_SECONDS} seconds")


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    tones: Mapping[int, Sequence[Tone]] | None = None,
    *,
    spare: Sequence[str] = (),
) -> None:
    """Print a table that fits the terminal; `table_lines` says how."""
    for line in table_lines(head, rows, width_of(sys.stdout), tones=tones, spare=spare):
        out_raw(line)


def clock_time(instant: Instant, zone: tzinfo, now: Instant) -> str:
    return short_time(to_datetime(instant, zone), to_datetime(now, zone))


def full_time(instant: Instant, zone: tzinfo) -> str:
    return to_datetime(instant, zone).strftime("%a %Y-%m-%d %H:%M:%S %Z")
