"""Pruning MEMORY.md: doubles go, of two lines that contradict each other the newer stays, and the file keeps below 200
lines. What is taken out is named, and its text is still in git.

The rule for contradictions is narrow on purpose: a "don't …" and a "you can …" about the very same thing. A line that
was wrongly kept can be deleted by the person; one that was wrongly dropped is missed in silence.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate, combinations

from nudge.core.coach.documents import Document, Item
from nudge.core.coach.edits import remove_items
from nudge.core.coach.memory import COMMITMENTS, CONFERENCE, PATTERNS, PREFERENCES, REVIEWS, SECTIONS, Commitment, key
from nudge.core.coach.placeholders import is_placeholder

LIMIT = 200
LONG_OVERDUE = timedelta(days=30)

_DATED = re.compile(r"\(?(?:set |since |on )?(\d{4}-\d{2}-\d{2})\)?")
_NEVER = re.compile(r"(?:please )?(?:don'?t|do not|never|stop|no more|no longer|avoid|quit)\s+(?:ever )?(.+)")
_MAY = re.compile(
    r"(?:please )?(?:you (?:can|may|should|could)|(?:it'?s |is )?(?:ok|okay|fine|all right)(?: now)?(?: for you)? to"
    r"|feel free to|do|start|go ahead and)\s+(?:now |again )?(.+)"
)
_CONDITION = re.compile(
    r"\b(?:after|before|until|till|from|between|during|when|while|unless|except|if|on|in|at|only|once|but|more)\b.*"
)
_FILLERS = frozenset(("a", "an", "the", "me", "my", "to", "about", "of", "with", "for", "any", "all", "it", "s"))
_FILLERS |= {"again", "anymor", "now", "pleas"}  # as stems


@dataclass(frozen=True, slots=True)
class Pruned:
    """The new text, the lines that went (with the reason), and how many lines there are now."""

    text: str
    removed: tuple[str, ...]
    lines: int


def prune(text: str, today: date, limit: int = LIMIT) -> Pruned:
    """The document without doubles, contradictions and what is done; then, only as far as needed to stay below the
    limit, without what is oldest. Sections that the person added are left alone, so a file may stay too long."""
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


def contradict(one: str, other: str) -> bool:
    """Whether one line forbids outright what the other allows, under a condition or not. Two conditions ("not before
    noon", "after six is fine") may both be true, so a prohibition with a condition contradicts nothing.

    >>> contradict("Don't message about sleep", "You can message about sleep after midnight")
    True
    """
    first, second = _stance(one), _stance(other)
    if first is None or second is None or first.allows == second.allows or first.topic != second.topic:
        return False
    return not (second if first.allows else first).conditional


def _doubles(document: Document, today: date) -> list[tuple[Item, str]]:
    del today
    return _older(document, SECTIONS, key, lambda one, other: True, "said again later")


def _contradictions(document: Document, today: date) -> list[tuple[Item, str]]:
    del today
    return _older(document, (PREFERENCES,), _topic, contradict, "changed since")


def _older(
    document: Document,
    sections: tuple[str, ...],
    about: Callable[[str], object],
    clash: Callable[[str, str], bool],
    why: str,
) -> list[tuple[Item, str]]:
    """The older one of every two lines of a section that are about the same and clash: what carries the earlier date,
    else what stands further up, for lines are added at the end."""
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
    """Runs of blank lines outside code become one, where the file is too long."""
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


def _topic(line: str) -> object:
    stance = _stance(line)
    return stance.topic if stance else None


@dataclass(frozen=True, slots=True)
class _Stance:
    allows: bool
    topic: frozenset[str]
    conditional: bool


def _stance(line: str) -> _Stance | None:
    """What a line allows or forbids, or None where it does neither."""
    words = " ".join(re.sub(r"[\"“”]", "", _DATED.sub("", line.replace("’", "'"))).casefold().split()).rstrip(" .!")
    for allows, pattern in ((False, _NEVER), (True, _MAY)):
        match = pattern.fullmatch(words)
        if match:
            about = _CONDITION.sub("", match[1])
            topic = frozenset(_stem(word) for word in re.findall(r"\w+", about)) - _FILLERS
            return _Stance(allows, topic, about != match[1]) if topic else None
    return None


def _stem(word: str) -> str:
    """Makes one word of "message", "messages" and "messaging"."""
    for ending in ("ing", "es", "s", "e"):
        if len(word) - len(ending) >= 3 and word.endswith(ending):
            return word[: -len(ending)]
    return word


def _date(line: str) -> str:
    match = _DATED.search(line)
    return match[1] if match else ""
