"""What an argument may be, where argparse's own types take too much."""

from __future__ import annotations

import argparse
from collections.abc import Callable

_MOST = 1_000_000


def number_from(least: int) -> Callable[[str], int]:
    """A whole number of at least `least`, and of a size that a database takes."""

    def number(text: str) -> int:
        if not text.isdecimal() or len(text) > len(str(_MOST)) or not least <= int(text) <= _MOST:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {least} to {_MOST:,}")
        return int(text)

    return number
