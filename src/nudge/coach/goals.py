"""GOALS.md: the person's goals from the north star down to today, their people, and their targets."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from nudge.coach.documents import Document, is_placeholder
from nudge.coach.edits import replace_section_lines
from nudge.coach.targets import Parsed, Targets, parse_targets

NORTH_STAR = "North Star"
QUARTER = "This Quarter"
WEEK = "This Week"
TODAY = "Today"
COMMITMENTS = "Standing Commitments"
PEOPLE = "People to Stay in Touch With"
NUMBERED = (QUARTER, WEEK, TODAY)
SECTIONS = (NORTH_STAR, QUARTER, WEEK, TODAY, COMMITMENTS, PEOPLE)
MOST_GOALS = 3
"""For a quarter, a week or a day. More than three are not goals."""

_BOX = re.compile(r"\[([ xX])\]\s+(.*)")
_STRUCK = re.compile(r"~~(.+)~~")
_MARKED = re.compile(r"(?:[✓✔✅]\s*(.+)|(.+?)\s*(?:\((?:done|finished)\)|[✓✔✅]))", re.IGNORECASE)
_PERSON = re.compile(r"(.+?)\s*(?:—|–|\s-\s|:)\s*(.*)")


@dataclass(frozen=True, slots=True)
class Goal:
    """One goal. It is done if its line has a ticked box, is struck through, or ends in "(done)"."""

    text: str
    done: bool = False

    @classmethod
    def read(cls, text: str) -> Goal:
        box = _BOX.fullmatch(text)
        if box:
            return cls(box[2], box[1] != " ")
        for pattern in (_STRUCK, _MARKED):
            match = pattern.fullmatch(text)
            if match:
                return cls(next(group for group in match.groups() if group).strip(), True)
        return cls(text)

    def line(self) -> str:
        return f"[x] {self.text}" if self.done else self.text


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody to stay in touch with, and why or how often."""

    name: str
    context: str = ""


@dataclass(frozen=True, slots=True)
class Goals:
    """What GOALS.md says, without the template's placeholders.

    >>> parse_goals("## Today\\n1. Write\\n2. [x] Run\\n3. [Third task]\\n").today
    (Goal(text='Write', done=False), Goal(text='Run', done=True))
    """

    north_star: str = ""
    quarter: tuple[Goal, ...] = ()
    week: tuple[Goal, ...] = ()
    today: tuple[Goal, ...] = ()
    commitments: tuple[str, ...] = ()
    people: tuple[Person, ...] = ()
    parsed: Parsed = field(default_factory=lambda: Parsed(Targets(), (), "missing"))

    @property
    def targets(self) -> Targets:
        return self.parsed.targets

    @property
    def open_today(self) -> tuple[Goal, ...]:
        return tuple(goal for goal in self.today if not goal.done)


def parse_goals(text: str) -> Goals:
    """Read the document. What is missing is empty, and problems with the targets are reported in `parsed`.

    Raises UsageError if the text is too long."""
    document = Document.parse(text)
    star = [*lines_of(document, NORTH_STAR), *_filled((document.prose(NORTH_STAR),))]
    return Goals(
        north_star=star[0] if star else "",
        quarter=_goals(document, QUARTER),
        week=_goals(document, WEEK),
        today=_goals(document, TODAY),
        commitments=lines_of(document, COMMITMENTS),
        people=tuple(_person(line) for line in lines_of(document, PEOPLE)),
        parsed=parse_targets(document),
    )


def lines_of(document: Document, section: str) -> tuple[str, ...]:
    """The list items of a section that the person has filled in."""
    return _filled(tuple(item.text for item in document.items(section)))


def set_goals(text: str, section: str, goals: tuple[Goal, ...]) -> str:
    """Return the document with these goals in that section, as a numbered list if the template has one."""
    return replace_section_lines(text, section, [goal.line() for goal in goals], numbered=section in NUMBERED)


def mark_done(text: str, goal: str) -> str:
    """Return the document with that goal of today ticked; unchanged if today has no such goal."""
    goals = _goals(Document.parse(text), TODAY)
    wanted = goal.casefold()
    changed = tuple(Goal(one.text, one.done or one.text.casefold() == wanted) for one in goals)
    return text if changed == goals else set_goals(text, TODAY, changed)


def _goals(document: Document, section: str) -> tuple[Goal, ...]:
    return tuple(Goal.read(line) for line in lines_of(document, section))


def _person(line: str) -> Person:
    match = _PERSON.fullmatch(line)
    return Person(match[1], match[2]) if match else Person(line)


def _filled(lines: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(line for line in lines if line and not is_placeholder(line))
