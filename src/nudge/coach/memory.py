"""MEMORY.md: what the coach has learned, what was promised, and what happened lately."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from nudge.coach.dates import parse_due
from nudge.coach.documents import Document, one_line
from nudge.coach.edits import append_to_section, replace_prose, replace_section_lines
from nudge.coach.goals import Goal, lines_of
from nudge.coach.placeholders import is_placeholder

PREFERENCES = "Preferences"
COMMITMENTS = "Active Commitments"
PATTERNS = "Observed Patterns"
CONTEXT = "Recent Context"
CONFERENCE = "Conference Mode"
REVIEWS = "Weekly Reviews"
SECTIONS = (PREFERENCES, COMMITMENTS, PATTERNS, CONTEXT, CONFERENCE, REVIEWS)
MOST_SENTENCES = 5
MOST_CONTEXT = 800
"""Characters of Recent Context: five plain sentences."""
MOST_REVIEWS = 4
"""Summaries of weeks that are kept; older ones are in git."""

_DETAILS = re.compile(r"\s*\(([^()]*)\)\s*$")
_DUE = re.compile(r"(?:^|[,;\s])due:?\s+(?:on\s+|by\s+)?(.+)$", re.IGNORECASE)
_SET = re.compile(r"\bset:?\s+(\d{4}-\d{2}-\d{2})", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?…])[\"')\]]*\s+")


@dataclass(frozen=True, slots=True)
class Commitment:
    """Something the person promised. `due` is None where no day was named or it cannot be told."""

    text: str
    due: date | None = None
    due_words: str = ""
    said_on: date | None = None
    done: bool = False

    def overdue(self, today: date) -> bool:
        """What is due today is not overdue."""
        return not self.done and self.due is not None and self.due < today

    @classmethod
    def read(cls, line: str, today: date) -> Commitment:
        goal = Goal.read(line)
        text, details = goal.text, ""
        match = _DETAILS.search(text)
        if match and re.search(r"\b(?:due|set)\b", match[1], re.IGNORECASE):
            text, details = text[: match.start()], match[1]
        due = _DUE.search(details) if details else _DUE.search(text)
        if due and not details:
            text = text[: due.start()].rstrip(" ,;:-–—(")
        words = due[1].strip() if due else ""
        words = re.sub(r",\s*set\b.*$", "", words, flags=re.IGNORECASE).strip()
        said = _SET.search(details)
        said_on = parse_due(said[1], today=today) if said else None
        return cls(text, parse_due(words, today=today, said_on=said_on) if words else None, words, said_on, goal.done)


@dataclass(frozen=True, slots=True)
class Memory:
    """What MEMORY.md says. Placeholders of the template are left out.

    >>> parse_memory("## Active Commitments\\n- Apply (due: March 1)\\n", date(2026, 3, 4)).overdue
    (Commitment(text='Apply', due=datetime.date(2026, 3, 1), due_words='March 1', said_on=None, done=False),)
    """

    preferences: tuple[str, ...] = ()
    commitments: tuple[Commitment, ...] = ()
    patterns: tuple[str, ...] = ()
    recent_context: str = ""
    conference: tuple[str, ...] = ()
    overdue: tuple[Commitment, ...] = ()


def parse_memory(text: str, today: date) -> Memory:
    """Reads the document as of that day of the person's. It never raises: what is missing is empty."""
    document = Document.parse(text)
    commitments = tuple(Commitment.read(line, today) for line in lines_of(document, COMMITMENTS))
    context = document.prose(CONTEXT)
    return Memory(
        preferences=lines_of(document, PREFERENCES),
        commitments=commitments,
        patterns=lines_of(document, PATTERNS),
        recent_context="" if is_placeholder(context) else context,
        conference=lines_of(document, CONFERENCE),
        overdue=tuple(one for one in commitments if one.overdue(today)),
    )


def add_preference(text: str, preference: str) -> str:
    """The document with that preference at the end of the list; unchanged where the list has it already."""
    return add_line(text, PREFERENCES, preference)


def add_line(text: str, section: str, line: str) -> str:
    """The document with that line at the end of the section; unchanged where the section says it already. The
    template's placeholders make room for the first real line."""
    document = Document.parse(text)
    if any(same(item.text, line) for item in document.items(section)):
        return text
    items = document.items(section)
    if items and all(is_placeholder(item.text) for item in items):
        return replace_section_lines(text, section, [line])
    return append_to_section(text, section, line)


def add_commitment(text: str, what: str, due: str, today: date) -> str:
    """The document with that commitment, noting the day it was made so that "Friday" keeps its meaning."""
    details = f"set {today.isoformat()}" + (f", due: {one_line(due)}" if due.strip() else "")
    return add_line(text, COMMITMENTS, f"{one_line(what)} ({details})")


def set_recent_context(text: str, summary: str) -> str:
    """The document with Recent Context rewritten: one paragraph, at most five sentences. An empty summary changes
    nothing, so that a failed rewrite does not forget."""
    short = shorten(summary)
    return replace_prose(text, CONTEXT, short) if short else text


def add_review(text: str, summary: str) -> str:
    """The document with the week's summary at the end of Weekly Reviews; a second one of the same week replaces it."""
    week = summary.partition(":")[0]
    kept = [line for line in lines_of(Document.parse(text), REVIEWS) if line.partition(":")[0] != week]
    return replace_section_lines(text, REVIEWS, [*kept, summary][-MOST_REVIEWS:])


def shorten(summary: str) -> str:
    """At most five sentences and 800 characters of it, on one line."""
    sentences = _SENTENCE.split(one_line(summary))[:MOST_SENTENCES]
    while len(sentences) > 1 and len(" ".join(sentences)) > MOST_CONTEXT:
        sentences.pop()
    return " ".join(sentences)[:MOST_CONTEXT].strip()


def same(one: str, other: str) -> bool:
    """Whether two lines say the same: case, spaces, quotation marks and the full stop do not count."""
    return key(one) == key(other)


def key(line: str) -> str:
    """What two lines that say the same have in common."""
    return re.sub(r"[\W_]+", " ", line.replace("’", "'").replace("'", "").casefold()).strip()
