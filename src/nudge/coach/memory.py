"""MEMORY.md: what the coach has learned, what the person promised, and what happened lately."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from nudge.coach.documents import Document, is_placeholder, one_line
from nudge.coach.edits import append_to_section, replace_prose, replace_section_lines
from nudge.coach.goals import Goal, lines_of
from nudge.text import short

PREFERENCES = "Preferences"
GOES_BY = "Goes by"
"""How Preferences say what to call the person."""
COMMITMENTS = "Active Commitments"
PATTERNS = "Observed Patterns"
CONTEXT = "Recent Context"
CONFERENCE = "Conference Mode"
REVIEWS = "Weekly Reviews"
SECTIONS = (PREFERENCES, COMMITMENTS, PATTERNS, CONTEXT, CONFERENCE, REVIEWS)
MOST_SENTENCES = 5
MOST_CONTEXT = 800
"""Characters of Recent Context: about five plain sentences."""
MOST_REVIEWS = 4
"""How many weekly summaries are kept. Older ones are in git."""

_DETAILS = re.compile(r"\s*\(([^()]*)\)\s*$")
_DUE = re.compile(r"(?:^|[,;\s])due:?\s+(?:on\s+|by\s+)?(.+)$", re.IGNORECASE)
_SET = re.compile(r"\bset:?\s+(\d{4}-\d{2}-\d{2})", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?…])[\"')\]]*\s+")


@dataclass(frozen=True, slots=True)
class Commitment:
    """Something the person promised. `due` is None if they named no day, or none that can be understood."""

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
    """What MEMORY.md says, without the template's placeholders.

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
    """Read the document as of that day in the person's zone. What is missing is empty.

    Raises UsageError if the text is too long."""
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
    """Return the document with that preference at the end of the list; unchanged if the list has it already."""
    return add_line(text, PREFERENCES, preference)


def add_line(text: str, section: str, line: str) -> str:
    """Return the document with that line at the end of the section; unchanged if the section says it already. The
    first real line replaces the template's placeholders."""
    document = Document.parse(text)
    if any(same(item.text, line) for item in document.items(section)):
        return text
    items = document.items(section)
    if items and all(is_placeholder(item.text) for item in items):
        return replace_section_lines(text, section, [line])
    return append_to_section(text, section, line)


def add_commitment(text: str, what: str, due: str, today: date) -> str:
    """Return the document with that commitment and the day it was made, so that "Friday" keeps its meaning."""
    details = f"set {today.isoformat()}" + (f", due: {one_line(due)}" if due.strip() else "")
    return add_line(text, COMMITMENTS, f"{one_line(what)} ({details})")


def set_recent_context(text: str, summary: str) -> str:
    """Return the document with Recent Context rewritten: one paragraph, at most five sentences. An empty summary
    changes nothing, so that a failed rewrite forgets nothing."""
    short = shorten(summary)
    return replace_prose(text, CONTEXT, short) if short else text


def add_review(text: str, summary: str) -> str:
    """Return the document with the week's summary at the end of Weekly Reviews. The same review of
    the same week, continued, replaces what was kept of it."""
    week = summary.partition(":")[0]
    kept = [line for line in lines_of(Document.parse(text), REVIEWS) if line.partition(":")[0] != week]
    return replace_section_lines(text, REVIEWS, [*kept, summary][-MOST_REVIEWS:])


def shorten(summary: str) -> str:
    """The summary on one line, cut to five sentences and 800 characters."""
    sentences = _SENTENCE.split(one_line(summary))[:MOST_SENTENCES]
    while len(sentences) > 1 and len(" ".join(sentences)) > MOST_CONTEXT:
        sentences.pop()
    return " ".join(sentences)[:MOST_CONTEXT].strip()


def same(one: str, other: str) -> bool:
    """Whether two lines say the same: case, spaces, quotation marks and the full stop do not count."""
    return key(one) == key(other)


def key(line: str) -> str:
    """A key that is equal for two lines that say the same."""
    return re.sub(r"[\W_]+", " ", line.replace("’", "'").replace("'", "").casefold()).strip()


# Due dates as people write them beside a commitment: "Friday", "March 1", "2026-03-01".

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH_NAMES = re.compile(
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
_WEEKDAY_NAMES = re.compile(
    r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
)
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})\b.*")
_MONTH_DAY = re.compile(r"([a-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(\d{4}))?")
_DAY_MONTH = re.compile(r"(\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?([a-z]{3,9})\.?(?:,?\s+(\d{4}))?")


def parse_due(words: str, *, today: date, said_on: date | None = None) -> date | None:
    """The day that the words mean, or None if that is not clear.

    A weekday is the first one after the day it was said: a commitment made on a Friday and due "Friday" is due in a
    week. If nobody noted when it was said, it is the coming one, including today, so that no guess makes it overdue. A
    month and day without a year is the first one on or after the day it was said, or the one nearest to today.
    """
    text = " ".join(words.casefold().split()).removeprefix("on ").removeprefix("by ").strip(" .")
    iso = _ISO.fullmatch(text)
    if iso:
        return _date(int(iso[1]), int(iso[2]), int(iso[3]))
    if _WEEKDAY_NAMES.fullmatch(text):
        weekday = _WEEKDAYS.index(text[:3])
        first = said_on + timedelta(days=1) if said_on else today
        return first + timedelta(days=(weekday - first.weekday()) % 7)
    if text in ("today", "tonight", "tomorrow"):
        return said_on and said_on + timedelta(days=text == "tomorrow")
    for pattern, month_group, day_group in ((_MONTH_DAY, 1, 2), (_DAY_MONTH, 2, 1)):
        match = pattern.fullmatch(text)
        if match and _MONTH_NAMES.fullmatch(match[month_group]):
            month = _MONTHS.index(match[month_group][:3]) + 1
            return _in_year(month, int(match[day_group]), match[3], today, said_on)
    return None


def _in_year(month: int, day: int, year: str | None, today: date, said_on: date | None) -> date | None:
    if year:
        return _date(int(year), month, day)
    around = said_on or today
    candidates = [found for offset in (-1, 0, 1) if (found := _date(around.year + offset, month, day))]
    if said_on:
        candidates = [found for found in candidates if found >= said_on]
    return min(candidates, key=lambda found: abs(found - around), default=None)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def recap(before: str, said: str, today: date) -> str:
    """Recent Context by rule: the last sentences of the one before, and what the person said now."""
    if not said.strip():
        return before
    plain = short(said, 120).replace(".", ",").replace("!", ",").replace("?", ",").rstrip(" ,")
    earlier = [part.rstrip(".") + "." for part in before.split(". ") if part][-4:]
    return shorten(" ".join([*earlier, f"On {today.isoformat()} they said “{plain}”."]))
