"""Text that the templates put where the person's own words will stand: anything in square brackets."""

from __future__ import annotations

import re

_BRACKETS = re.compile(r"\[[^\[\]]*\](?![(\[:])")


def is_placeholder(text: str) -> bool:
    """Whether nothing but bracketed words and punctuation is there: "[Name] — [context]" is one, "[x] Call Mum" and
    "[draft](https://example.org)" are not.

    >>> is_placeholder("[Single most important task]"), is_placeholder("[ ] Call Mum")
    (True, False)
    """
    if "[" not in text:
        return False
    return not any(letter.isalnum() for letter in _BRACKETS.sub("", text))
