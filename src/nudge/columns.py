"""What fits into the columns of a terminal: how wide a text is there, wrapped lines, tables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

from nudge.palette import Tone, painted

DEFAULT = 80
_LEAST = 20
_NARROW_CELL = 10
_COMFORTABLE = 18
_PAINT = re.compile(r"\033\[\d+m")
_SPACES = re.compile(r"( +)")
_JOINER, _EMOJI_LOOK = "\u200d", "\ufe0f"


def width_of(stream: TextIO) -> int | None:
    """How many columns a stream has: None for a pipe, which has no width."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told):
        return max(_LEAST, int(told))
    try:
        return max(_LEAST, os.get_terminal_size(stream.fileno()).columns or DEFAULT) if stream.isatty() else None
    except (OSError, ValueError):
        return None


def cells(text: str) -> int:
    """How many columns a text takes. Colours take none, most emoji and East Asian letters two.

    >>> cells("mum"), cells("買い物"), cells("👩‍👩‍👧 ok"), cells("❤️"), cells("é")
    (3, 6, 5, 2, 1)
    """
    text = _PAINT.sub("", text)
    if max(text, default="") < "\u0300":
        return len(text)
    return sum(_width(cluster) for cluster in clusters(text))


def clusters(text: str) -> Iterator[str]:
    """What people see as one sign each: a letter with its accents, a family of emoji, a flag."""

    held = ""
    for char in text:
        if held and (
            held[-1] == _JOINER
            or char in (_JOINER, _EMOJI_LOOK)
            or _is_mark(char)
            or "\U0001f3fb" <= char <= "\U0001f3ff"
            or (_is_flag(char) and len(held) == 1 and _is_flag(held))
        ):
            held += char
        else:
            if held:
                yield held
            held = char
    if held:
        yield held


def _is_mark(char: str) -> bool:
    """Whether it is drawn onto the letter before it: an accent, or the rest of a Korean syllable."""
    from unicodedata import category

    return category(char) in ("Mn", "Mc", "Me") or "\u1160" <= char <= "\u11ff"


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _width(cluster: str) -> int:
    from unicodedata import category, east_asian_width

    if _EMOJI_LOOK in cluster or (len(cluster) > 1 and _is_flag(cluster[0])):
        return 2
    if east_asian_width(cluster[0]) in ("W", "F"):
        return 2
    return 0 if _is_mark(cluster[0]) or category(cluster[0]) == "Cf" else 1


def padded(text: str, width: int) -> str:
    """The text with spaces up to `width` columns."""
    return text + " " * (width - cells(text))


def cut(text: str, width: int) -> str:
    """The text in at most `width` columns, with a sign where it was cut.

    >>> cut("Call mum about the trip", 10), cut("買い物に行く", 6)
    ('Call mum…', '買い…')
    """
    if cells(text) <= width:
        return text
    kept, used = "", 0
    for cluster in clusters(text):
        used += _width(cluster)
        if used > width - 1:
            break
        kept += cluster
    return kept.rstrip() + "…"


def wrap(text: str, width: int, *, hang: int = 0, split: bool = False) -> list[str]:
    """A line as lines of at most `width` columns, broken between words or wide letters. All but the first begin with
    `hang` spaces. A path or URL stays whole, so that it can be copied, unless `split` says otherwise.

    >>> wrap("why  the bucket is empty until noon", 20, hang=5)
    ['why  the bucket is', '     empty until', '     noon']
    """
    if cells(text) <= width:
        return [text]
    hang = min(hang, width // 3)
    lines, line, used, gap = list[str](), "", 0, ""
    for piece in _pieces(text, width - hang, split=split):
        if piece.isspace():
            gap += piece
            continue
        room = cells(piece)
        if line.strip() and used + len(gap) + room > width:
            lines.append(line)
            line, used, gap = " " * hang, hang, ""
        line += gap + piece
        used, gap = used + len(gap) + room, ""
    return [*lines, line]


def _pieces(text: str, longest: int, *, split: bool) -> Iterator[str]:
    """Spaces, words, and wide letters one by one."""
    for word in _SPACES.split(text):
        if not word or word.isspace() or max(word) < "\u0300":
            whole = [word] if word else []
        else:
            whole, held = [], ""
            for cluster in clusters(word):
                if _width(cluster) == 2:
                    whole += [held, cluster] if held else [cluster]
                    held = ""
                else:
                    held += cluster
            whole += [held] if held else []
        for piece in whole:
            if piece.isspace() or cells(piece) <= longest or ("/" in piece and not split):
                yield piece
            else:
                yield from (piece[at : at + longest] for at in range(0, len(piece), longest))


def table_lines(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int | None,
    *,
    tones: Mapping[int, Sequence[Tone]] | None = None,
    spare: Sequence[str] = (),
) -> list[str]:
    """A table no wider than `width` columns, where cells wrap. Without a width it has 80, and each row is one line.

    `tones` maps a column to one tone per row. `spare` names the columns to leave out first where the others would get
    too narrow.
    """
    rows = [[" ".join(str(cell).split()) for cell in row] for row in rows]
    most = width or DEFAULT
    columns = list(range(len(head)))
    for gone in [*spare, None]:
        wanted = [max(cells(row[n]) for row in [head, *rows]) for n in columns]
        widths = _shared(wanted, most)
        if all(size >= min(want, _COMFORTABLE) for want, size in zip(wanted, widths, strict=True)):
            break
        columns = [n for n in columns if head[n] != gone]
    lines = []
    for number, row in enumerate([head, *rows]):
        parts = [_cell(row[n], size, wrapped=width is not None) for n, size in zip(columns, widths, strict=True)]
        for level in range(max(len(part) for part in parts)):
            shown = []
            for n, part, size in zip(columns, parts, widths, strict=True):
                text = part[level] if level < len(part) else ""
                tone = tones[n][number - 1] if number and tones and n in tones else None
                shown.append(painted(padded(text, size), tone, bool(text)))
            lines.append("  ".join(shown).rstrip())
    return lines


def _cell(text: str, size: int, *, wrapped: bool) -> list[str]:
    return wrap(text, size, split=True) if wrapped else [cut(text, size)]


def _shared(wanted: list[int], most: int) -> list[int]:
    """The widths of columns: what they want, or as much less of the widest as it takes."""
    widths, over = list(wanted), sum(wanted) + 2 * (len(wanted) - 1) - most
    while over > 0 and max(widths) > _NARROW_CELL:
        widest = max(widths)
        widths[widths.index(widest)] -= 1
        over -= 1
    while over > 0 and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
        over -= 1
    return widths
