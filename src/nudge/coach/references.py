"""Link reference definitions at the head of a paragraph.

They matter here for one reason: a paragraph that is nothing but definitions cannot become a setext heading, so
`[mary]: https://example.org` above a line of `=` signs is not a section.
"""

from __future__ import annotations

import re

_LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.)*)\]:", re.DOTALL)
_GAP = re.compile(r"[ \t]*(?:\n[ \t]*)?")
_ANGLED = re.compile(r"<(?:[^<>\n\\]|\\.)*>")
_TITLES = (
    re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL),
    re.compile(r"'(?:[^'\\]|\\.)*'", re.DOTALL),
    re.compile(r"\((?:[^()\\]|\\.)*\)", re.DOTALL),
)
_REST_OF_LINE = re.compile(r"[ \t]*(?:\n|$)")
_MAX_LABEL = 999
_MAX_PARENTHESES = 32


def lines_of_definitions(paragraph: str) -> int:
    """How many of the paragraph's first lines are definitions. `paragraph` has `\\n` ends and no leading spaces."""
    position = 0
    while position < len(paragraph):
        end = _definition(paragraph, position)
        if end is None:
            break
        position = end
    consumed = paragraph[:position]
    return consumed.count("\n") + (1 if position >= len(paragraph) and not consumed.endswith("\n") else 0)


def _definition(text: str, start: int) -> int | None:
    """The position after the definition at `start`, its line end included, or None."""
    label = _LABEL.match(text, start)
    if label is None or not label[1].strip() or len(label[1]) > _MAX_LABEL:
        return None
    position = _end(_GAP, text, label.end())
    destination = _destination(text, position)
    if destination is None:
        return None
    without_title = _REST_OF_LINE.match(text, destination)
    gap = _end(_GAP, text, destination)
    if gap > destination:
        for title in _TITLES:
            found = title.match(text, gap)
            if found and "\n\n" not in found[0]:
                after = _REST_OF_LINE.match(text, found.end())
                if after:
                    return after.end()
    return without_title.end() if without_title else None


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position


def _destination(text: str, start: int) -> int | None:
    angled = _ANGLED.match(text, start)
    if angled:
        return angled.end()
    if text.startswith("<", start):
        return None
    depth = 0
    position = start
    while position < len(text):
        letter = text[position]
        if letter == "\\" and position + 1 < len(text) and text[position + 1] not in " \n":
            position += 2
            continue
        if letter <= " " or letter == "\x7f":
            break
        if letter == "(":
            depth += 1
            if depth > _MAX_PARENTHESES:
                return None
        elif letter == ")":
            if depth == 0:
                break
            depth -= 1
        position += 1
    return position if position > start and depth == 0 else None
