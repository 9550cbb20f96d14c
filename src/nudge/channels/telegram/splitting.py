"""Cutting a long text into messages of at most 4,096 UTF-16 code units, as Telegram counts them.

The best place is between paragraphs, then between lines, then between words, outside of any formatting. Next comes a
line inside a code block, which continues as code in the next message; then a word inside a bold, italic or linked
stretch that is itself too long. Only a single endless word is cut anywhere, and never inside what a person sees as one
character.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right

from nudge.channels.telegram.richtext import RichText, Style, utf16_before

LIMIT = 4096

_PARAGRAPH, _LINE, _WORD, _CODE_LINE, _STYLED_WORD, _CODE_WORD, _ANY, _NEVER = range(8)


def split(rich: RichText, limit: int = LIMIT) -> list[RichText]:
    """The parts in order. Put together they are the whole text; each is at most `limit` code units long.

    >>> [part.text for part in split(RichText("one two three"), limit=8)]
    ['one two ', 'three']
    """
    units = utf16_before(rich.text)
    styled = _styled_inside(rich)
    halves = _flag_halves(rich.text)
    parts: list[RichText] = []
    start, length = 0, len(rich.text)
    while units[length] - units[start] > limit:
        end = max(start + 1, bisect_right(units, units[start] + limit) - 1)
        endless = any(
            entity.start < end < entity.end and units[entity.end] - units[entity.start] > limit
            for entity in rich.entities
        )
        cut = _best_cut(rich.text, styled, halves, start, end, endless=endless)
        parts.append(rich.part(start, cut))
        start = cut
    parts.append(rich.part(start, length))
    return parts


def _best_cut(text: str, styled: bytearray, halves: frozenset[int], start: int, end: int, *, endless: bool) -> int:
    """The last of the best places. A good place in the first quarter is worth less than a fair one further on, but
    more than one inside a stretch of formatting that would fit into its own message (`endless`: it would not)."""
    early = start + (end - start) // 4
    searches = [(early, _WORD), (early, _CODE_WORD), (start, _ANY)]
    if not endless:
        searches.insert(1, (start, _WORD))
    for floor, worst in searches:
        best, best_rank = end, _NEVER
        for at in range(end, floor, -1):
            rank = _NEVER if at in halves else _rank(text, styled, at)
            if rank < best_rank:
                best, best_rank = at, rank
                if rank == _PARAGRAPH:
                    break
        if best_rank <= worst:
            return best
    return end  # one character longer than a message: it has to be cut


def _rank(text: str, styled: bytearray, at: int) -> int:
    """How good it is to cut before `text[at]`."""
    before = text[at - 1]
    inside = styled[at]
    if before == "\n":
        if inside:
            return _CODE_LINE if inside == 2 else _STYLED_WORD
        return _PARAGRAPH if text[at - 2 : at] == "\n\n" else _LINE
    if not _can_part(text[at - 1], text[at]):
        return _NEVER
    if before.isspace():
        return (_WORD, _STYLED_WORD, _CODE_WORD)[inside]
    return _ANY


def _styled_inside(rich: RichText) -> bytearray:
    """For each place in the text: 0 outside of formatting, 1 inside a style or link, 2 inside a code block."""
    inside = bytearray(len(rich.text) + 1)
    for entity in rich.entities:
        mark = 2 if entity.style is Style.PRE else 1
        for at in range(entity.start + 1, entity.end):
            inside[at] = max(inside[at], mark)
    return inside


_JOINER = "\u200d"


def is_character_border(text: str, at: int) -> bool:
    """Whether a person would see two characters on either side of `at`.

    A cautious reading of the rules for grapheme clusters: marks, joiners, skin tones, tags, flags, Hangul jamo, and a
    carriage return with its line feed.

    >>> is_character_border("👍🏽", 1), is_character_border("ab", 1)
    (False, True)
    """
    return _can_part(text[at - 1], text[at]) and at not in _flag_halves(text)


def _can_part(before: str, after: str) -> bool:
    """All of it except flags, which need more than two characters to decide."""
    if before == "\r" and after == "\n":
        return False
    if _JOINER in (before, after) or _extends(after):
        return False
    return not (_is_jamo(after) and (_is_jamo(before) or "\uac00" <= before <= "\ud7a3"))


def _flag_halves(text: str) -> frozenset[int]:
    """The places between the two letters of a flag: letters pair up from the first of their row."""
    found = []
    row = 0
    for at, character in enumerate(text):
        row = row + 1 if _is_regional(character) else 0
        if row and row % 2 == 0:
            found.append(at)
    return frozenset(found)


def _extends(character: str) -> bool:
    if "\U0001f3fb" <= character <= "\U0001f3ff" or "\U000e0020" <= character <= "\U000e007f":
        return True
    return unicodedata.category(character) in ("Mn", "Me", "Mc")


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _is_jamo(character: str) -> bool:
    return "\u1100" <= character <= "\u11ff" or "\ua960" <= character <= "\ua97f" or "\ud7b0" <= character <= "\ud7ff"
