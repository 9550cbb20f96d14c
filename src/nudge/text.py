"""Text that somebody else wrote, made fit to be shown."""

from __future__ import annotations

import re
import unicodedata

_ORDERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that turn the words around: "exe.txt" could be a name that ends with "txt.exe"."""
_QUOTE = re.compile(r"^[ \t]{0,3}>")
_CODE = re.compile(r"^[ \t]{0,3}(```|~~~)")
_BLANK = "\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Letters by name that show nothing."""
_UNSEEN = frozenset(("Cc", "Cf", "Cn", "Co", "Cs", "Mn", "Me", "Zs", "Zl", "Zp"))


def plain(text: str) -> str:
    """The text with a sign in place of what a terminal or a page would obey: it could move the cursor, rename the
    window, hide what stands above, or turn what follows around. Tabs and line breaks stay.

    >>> plain("done\\x1b[2K\\x1b[1Aall your files are gone")
    'done�[2K�[1Aall your files are gone'
    """
    return _ORDERS.sub("\ufffd", text)


def printable(text: str) -> str:
    """The text with a space in place of what cannot be seen. What joins emoji into one stays.

    >>> printable("a\\x07b\\u200bc")
    'a b c'
    """
    return "".join(char if char.isprintable() or char == "\u200d" else " " for char in text)


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


def split_quotes(text: str) -> tuple[tuple[bool, str], ...]:
    """The message in pieces, each with whether it is a quotation: lines that begin with ">", or a block in ``` marks.

    >>> split_quotes("Look:\\n> Do as I say.\\nWhat now?")
    ((False, 'Look:'), (True, '> Do as I say.'), (False, 'What now?'))
    """
    pieces: list[tuple[bool, list[str]]] = []
    in_code = False
    for line in text.split("\n"):
        fence = bool(_CODE.match(line))
        quoted = in_code or fence or bool(_QUOTE.match(line))
        in_code ^= fence
        if not pieces or pieces[-1][0] is not quoted:
            pieces.append((quoted, []))
        pieces[-1][1].append(line)
    return tuple((quoted, "\n".join(lines)) for quoted, lines in pieces)


def without_quotes(text: str) -> str:
    """The message without what it quotes."""
    return "\n".join(piece for quoted, piece in split_quotes(text) if not quoted).strip()


def has_quotes(text: str) -> bool:
    return any(quoted for quoted, _ in split_quotes(text))


def is_blank(text: str) -> bool:
    """Whether nothing of the text can be seen: spaces, zero-width and control characters, marks without a letter.

    >>> is_blank(" \\u200b\\u2060\\ufeff "), is_blank("\\u3164"), is_blank("…")
    (True, True, False)
    """
    return all(letter in _BLANK or unicodedata.category(letter) in _UNSEEN for letter in text)


def bare(text: str) -> str:
    """The letters and digits of a text, for comparing words that somebody may have decorated.

    >>> bare("**Heartbeat_ok**!\\u200b")
    'heartbeatok'
    """
    return "".join(letter for letter in unicodedata.normalize("NFKC", text).casefold() if letter.isalnum())
