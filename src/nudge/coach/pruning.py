"""Pruning MEMORY.md: duplicates go, the newer of two contradicting lines stays, and the file stays below 200 lines.
Every removed line is reported, and its text is still in git.

The rule for contradictions is narrow on purpose: a "don't …" and a "you can …" about exactly the same thing. The person
can delete a line that was kept by mistake; nobody notices one that was dropped by mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate, combinations

from nudge.attention.preferences import DATED, contradict, topic_of
from nudge.coach.documents import Document, Item, is_placeholder
from nudge.coach.edits import remove_items
from nudge.coach.memory import (
    COMMITMENTS,
    CONFERENCE,
    PATTERNS,
    PREFERENCES,
    REVIEWS,
    SECTIONS,
    Commitment,
    key,
)

LIMIT = 200
LONG_OVERDUE = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Pruned:
    """The new text, the removed lines with their reasons, and how many lines there are now."""

    text: str
    removed: tuple[str, ...]
    lines: int


def prune(text: str, today: date, limit: int = LIMIT) -> Pruned:
    """Return the document without duplicates, contradictions and what is done; then, only as far as needed to stay
    below the limit, without what is oldest. Sections that the person added stay, so a file may remain too long."""
    removed: list[str] = []
    for rule in (_doubles, _contradictions, _done):
        text = _without(text, rule(Document.parse(text), today), removed)
    for section, why in (
        (COMMITMENTS, "long overdue"),
        (PATTERNS, "oldest pattern"),
        (REVIEWS, "oldest review"),
        (CONFERENCE, "oldest note"),
        (PREFERENCES, "oldest preference"),
    ):
        document = Document.parse(text)
        victims = _oldest(document, section, today)
        excess = len(document.lines) - limit + 1
        freed = list(accumulate((item.end - item.start for item in victims), initial=0))
        enough = next((count for count, lines in enumerate(freed) if lines >= excess), len(victims))
        text = _without(text, [(item, why) for item in victims[:enough]], removed)
        text = _fewer_blanks(text, limit)
    return Pruned(text, tuple(removed), len(Document.parse(text).lines))


def _doubles(document: Document, today: date) -> list[tuple[Item, str]]:
    del today
    return _older(document, SECTIONS, key, lambda one, other: True, "said again later")


def _contradictions(document: Document, today: date) -> list[tuple[Item, str]]:
    del today
    return _older(document, (PREFERENCES,), topic_of, contradict, "changed since")


def _older(
    document: Document,
    sections: tuple[str, ...],
    about: Callable[[str], object],
    clash: Callable[[str, str], bool],
    why: str,
) -> list[tuple[Item, str]]:
    """The older of every two lines of a section that are about the same thing and clash: the one with the earlier date,
    or the one further up, because lines are added at the end."""
    victims: dict[int, tuple[Item, str]] = {}
    for section in sections:
        groups: dict[object, list[Item]] = {}
        for item in document.items(section):
            if not is_placeholder(item.text) and (subject := about(item.text)):
                groups.setdefault(subject, []).append(item)
        for group in groups.values():
            dated = all(_date(item.text) for item in group)
            by_age = sorted(group, key=lambda item: (_date(item.text), item.start)) if dated else group
            for older, newer in combinations(by_age, 2):
                if older.start not in victims and clash(older.text, newer.text):
                    victims[older.start] = (older, why)
    return list(victims.values())


def _done(document: Document, today: date) -> list[tuple[Item, str]]:
    return [(item, "done") for item in document.items(COMMITMENTS) if Commitment.read(item.text, today).done]


def _oldest(document: Document, section: str, today: date) -> list[Item]:
    items = [item for item in document.items(section) if not is_placeholder(item.text)]
    if section != COMMITMENTS:
        return items
    read = [(item, Commitment.read(item.text, today)) for item in items]
    return [item for item, one in read if one.due is not None and one.due < today - LONG_OVERDUE]


def _without(text: str, victims: list[tuple[Item, str]], removed: list[str]) -> str:
    removed.extend(f"{item.text} ({why})" for item, why in victims)
    return remove_items(text, [item for item, _ in victims])


def _fewer_blanks(text: str, limit: int) -> str:
    """Several blank lines outside code become one if the file is too long."""
    document = Document.parse(text)
    if len(document.lines) < limit:
        return text
    inside = {number for block in document.blocks for number in range(block.start, block.end)}
    kept = [
        line
        for number, line in enumerate(document.lines)
        if line.strip() or number in inside or not number or document.lines[number - 1].strip()
    ]
    return "".join(kept)


def _date(line: str) -> str:
    match = DATED.search(line)
    return match[1] if match else ""
