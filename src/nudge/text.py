"""Text that somebody else wrote, made fit to be shown."""

from __future__ import annotations

import re

_ORDERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain(text: str) -> str:
    """The text with a sign in place of what a terminal would obey: it could move the cursor, rename the window, or hide
    what stands above. Tabs and line breaks stay.

    >>> plain("done\\x1b[2K\\x1b[1Aall your files are gone")
    'done�[2K�[1Aall your files are gone'
    """
    return _ORDERS.sub("\ufffd", text)


def short(text: str, most: int = 80) -> str:
    """The text on one line of at most `most` characters, with a sign where it was cut.

    >>> short("Call\\n  Mum"), short("Call Mum about the trip", 10)
    ('Call Mum', 'Call Mum…')
    """
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def one_slip(typed: str, meant: str) -> bool:
    """Whether one letter is missing, one too many, one wrong, or two neighbours changed places.

    >>> one_slip("thrusday", "thursday"), one_slip("minuts", "minutes"), one_slip("sunny", "sunday")
    (True, True, False)
    """
    if abs(len(typed) - len(meant)) > 1 or typed == meant:
        return False
    start = next((i for i, (a, b) in enumerate(zip(typed, meant, strict=False)) if a != b), min(len(typed), len(meant)))
    a, b = typed[start:], meant[start:]
    swapped = len(a) > 1 and len(b) > 1 and a[0] == b[1] and a[1] == b[0] and a[2:] == b[2:]
    return a[1:] == b or a == b[1:] or a[1:] == b[1:] or swapped
