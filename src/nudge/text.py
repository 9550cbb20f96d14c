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
