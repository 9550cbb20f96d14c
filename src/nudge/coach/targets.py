"""Schedule Targets: when the person sleeps, wakes up, wants quiet and reviews the week.

The section is read strictly, and each field has a default. Mistakes are reported by line and field and never raise.
While a line is broken, the last targets that worked stay in force, and the person is told once per broken version.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import time
from hashlib import sha256
from zoneinfo import ZoneInfo

from nudge.attention.quiet import Person, QuietHours
from nudge.coach.documents import Document, Kind, Section, is_placeholder
from nudge.coach.edits import append_to_section, replace_item
from nudge.errors import UsageError
from nudge.instants import Instant, zone_of

SECTION = "Schedule Targets"
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_FIELD = re.compile(r"[`*]*([A-Za-z][A-Za-z_ -]*?)[`*]*\s*:[`*]*\s*(.*)")
_VALUE = re.compile(r"""(\s*(?:[*+-]|\d+[.)])\s[^:]*:\s*)("[^"]*"|'[^']*'|[^\s"'<][^"'<]*?)(\s*(?:<!--.*-->\s*)?)""")


@dataclass(frozen=True, slots=True)
class Targets:
    """The person's rhythm. Quiet hours include their start and exclude their end; they may cross midnight.

    >>> Targets().as_fields()["quiet_hours"]
    '02:00-10:00'
    """

    bedtime_target: time = time(1, 0)
    wake_target: time = time(10, 0)
    quiet_start: time = time(2, 0)
    quiet_end: time = time(10, 0)
    review_weekday: int = 5
    review_time: time = time(10, 0)
    timezone: str = "America/Toronto"

    @property
    def zone(self) -> ZoneInfo:
        return zone_of(self.timezone)

    @property
    def quiet_hours(self) -> QuietHours:
        return QuietHours(_minutes(self.quiet_start), _minutes(self.quiet_end), self.zone)

    def is_quiet(self, now: Instant) -> bool:
        return self.quiet_hours.end_if_inside(now) is not None

    def person(self) -> Person:
        """When the person lives, as the attention governor wants to know it."""
        return Person(self.zone, self.quiet_hours, _minutes(self.wake_target), _minutes(self.bedtime_target))

    def as_fields(self) -> dict[str, str]:
        """The fields as the document spells them. Also the JSON form."""
        return {
            "bedtime_target": f"{self.bedtime_target:%H:%M}",
            "wake_target": f"{self.wake_target:%H:%M}",
            "quiet_hours": f"{self.quiet_start:%H:%M}-{self.quiet_end:%H:%M}",
            "weekly_review": f"{WEEKDAYS[self.review_weekday]} {self.review_time:%H:%M}",
            "timezone": self.timezone,
        }

    @classmethod
    def from_fields(cls, fields: Mapping[str, str]) -> Targets:
        """The targets with these fields. Anything missing or unreadable has its default."""
        targets = cls()
        for name, value in fields.items():
            change = _changed(targets, name, str(value))
            targets = change if isinstance(change, Targets) else targets
        return targets


@dataclass(frozen=True, slots=True)
class Problem:
    """A line of the document (counted from 1) that could not be read, and how to fix it."""

    line: int
    field: str
    message: str

    def __str__(self) -> str:
        return f"line {self.line}, {self.field}: {self.message}"


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a document says. `version` identifies the section's text, so that each broken version is reported once."""

    targets: Targets
    problems: tuple[Problem, ...]
    version: str


@dataclass(frozen=True, slots=True)
class Choice:
    """The targets to use now, and the notice for the person if the document is broken."""

    targets: Targets
    notice: str | None
    version: str


def parse_targets(document: Document) -> Parsed:
    """Read the section. A field with a problem has its default here; `choose` decides what to use."""
    found = document.named(SECTION)
    if not found:
        problem = Problem(max(1, len(document.lines)), SECTION, f"the section is missing; add a heading ## {SECTION}")
        return Parsed(Targets(), (problem,), "missing")
    section = found[0]
    problems = [
        Problem(other.start + 1, SECTION, f"the section appears twice; line {section.start + 1} counts")
        for other in found[1:]
    ]
    targets = Targets()
    seen: dict[str, int] = {}
    for item in document.items_of(section):
        line = item.start + 1
        match = _FIELD.fullmatch(item.text)
        if match is None:
            problems.append(Problem(line, SECTION, 'this is not a field; write it like - wake_target: "10:00"'))
            continue
        name = re.sub(r"[ -]", "_", match[1].casefold())
        if name in seen:
            problems.append(Problem(line, name, f"the field appears twice; line {seen[name]} counts"))
            continue
        seen[name] = line
        value = _unquoted(match[2])
        if is_placeholder(value):
            continue
        change = _changed(targets, name, value)
        if isinstance(change, str):
            problems.append(Problem(line, name, change))
        else:
            targets = change
    problems.extend(_outside_the_list(document, section))
    if not seen and not problems:
        problems.append(Problem(section.start + 1, SECTION, "the section has no fields"))
    version = sha256(document.slice(section.start, section.end).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Parsed(targets, tuple(problems), version)


def choose(good: Targets | None, parsed: Parsed) -> Choice:
    """A document without problems is used as it is. Otherwise all of the last targets that worked stay, so that half an
    edit never applies. If there are none yet, each unreadable field has its default."""
    if not parsed.problems:
        return Choice(parsed.targets, None, parsed.version)
    targets = good or parsed.targets
    kept = "the last ones that worked" if good else "the defaults for what I couldn't read"
    fields = ", ".join(f"{name} {value}" for name, value in targets.as_fields().items())
    reasons = "\n".join(f"• {problem}" for problem in parsed.problems)
    return Choice(
        targets,
        f"I can't read the {SECTION} in GOALS.md, so I'm using {kept}: {fields}.\n{reasons}\n"
        "Fix the file and I'll pick it up within a minute.",
        parsed.version,
    )


def check_field(name: str, value: str) -> str | None:
    """Why this value does not fit the field, or None if it does."""
    change = _changed(Targets(), name, _unquoted(value))
    return change if isinstance(change, str) else None


def set_target(text: str, name: str, value: str) -> str:
    """Return the document with one field set. If the line exists only its value changes; a comment beside it stays."""
    why_not = check_field(name, value)
    if why_not:
        raise UsageError(f"{name}: {why_not}.")
    value = _unquoted(value)
    document = Document.parse(text)
    for item in document.items(SECTION):
        match = _FIELD.fullmatch(item.text)
        if match is None or re.sub(r"[ -]", "_", match[1].casefold()) != name:
            continue
        line = document.lines[item.start]
        body = line.rstrip("\r\n")
        parts = _VALUE.fullmatch(body)
        if parts is None or item.end != item.start + 1:
            return replace_item(text, item, f'{name}: "{value}"')
        changed = f'{parts[1]}"{value}"{parts[3]}{line[len(body) :]}'
        return document.slice(0, item.start) + changed + document.slice(item.end, len(document.lines))
    return append_to_section(text, SECTION, f'{name}: "{value}"')


def _outside_the_list(document: Document, section: Section) -> list[Problem]:
    """Fields without a dash, which would be ignored silently."""
    problems = []
    for block in document.own_blocks(section):
        if block.kind is not Kind.PARAGRAPH:
            continue
        for number in range(block.start, block.end):
            match = _FIELD.match(document.lines[number].strip())
            name = re.sub(r"[ -]", "_", match[1].casefold()) if match else ""
            if name in _READERS:
                problems.append(Problem(number + 1, name, "start the line with a dash"))
    return problems


def _unquoted(value: str) -> str:
    value = value.strip().strip("`").strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1].strip()
    return value


def _changed(targets: Targets, name: str, value: str) -> Targets | str:
    """The targets with that field set, or why that is not possible."""
    reader = _READERS.get(name)
    if reader is None:
        return f"unknown field; the fields are {', '.join(_READERS)}"
    return reader(targets, value)


def _minutes(clock: time) -> int:
    return clock.hour * 60 + clock.minute


def _time(value: str) -> time | None:
    match = _TIME.fullmatch(value)
    return time(int(match[1]), int(match[2])) if match else None


def _bedtime(targets: Targets, value: str) -> Targets | str:
    clock = _time(value)
    return replace(targets, bedtime_target=clock) if clock else _no_time(value, "01:00")


def _wake(targets: Targets, value: str) -> Targets | str:
    clock = _time(value)
    return replace(targets, wake_target=clock) if clock else _no_time(value, "10:00")


def _no_time(value: str, example: str) -> str:
    return f'"{value}" is not a time of day; write it like "{example}"'


def _quiet(targets: Targets, value: str) -> Targets | str:
    parts = [_time(part) for part in re.split(r"\s*[-–]\s*", value)]
    if len(parts) != 2 or parts[0] is None or parts[1] is None:
        return f'"{value}" is not a span of hours; write it like "02:00-10:00"'
    if parts[0] == parts[1]:
        return "the quiet hours start and end at the same time"
    return replace(targets, quiet_start=parts[0], quiet_end=parts[1])


def _review(targets: Targets, value: str) -> Targets | str:
    day, _, clock = value.partition(" ")
    found = _time(clock.strip())
    weekday = next(
        (n for n, name in enumerate(WEEKDAYS) if day.casefold() in (name.casefold(), name[:3].lower())), None
    )
    if found is None or weekday is None:
        return f'"{value}" is not a weekday and a time; write it like "Saturday 10:00"'
    return replace(targets, review_weekday=weekday, review_time=found)


def _zone(targets: Targets, value: str) -> Targets | str:
    try:
        zone_of(value)
    except UsageError:
        return f'there is no time zone "{value}"; write an IANA name like "America/Toronto"'
    return replace(targets, timezone=value)


_READERS: dict[str, Callable[[Targets, str], Targets | str]] = {
    "bedtime_target": _bedtime,
    "wake_target": _wake,
    "quiet_hours": _quiet,
    "weekly_review": _review,
    "timezone": _zone,
}
FIELDS = tuple(_READERS)
