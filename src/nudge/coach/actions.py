"""What can be done for the person in a conversation, besides talking. Each action is checked before anything happens.

An action is what the person asked for in other words. Whatever is not exactly of its form is refused with a reason; the
texts that it carries become one plain line and can change nothing but the line they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

from nudge.coach import goals as goal_document
from nudge.coach import memory as memory_document
from nudge.coach import targets as target_fields
from nudge.coach.documents import Document, is_placeholder, one_line, readable, section_key
from nudge.coach.edits import remove_line, replace_section_lines
from nudge.coach.goals import MOST_GOALS, NUMBERED
from nudge.coach.judgment import check_state_updates
from nudge.coach.memory import Commitment, add_commitment, add_line, same
from nudge.coach.targets import SECTION as TARGETS_SECTION
from nudge.coach.targets import Targets, set_target
from nudge.durations import format_duration
from nudge.errors import InvalidPhraseError
from nudge.instants import DAY, Instant, to_datetime
from nudge.phrases import Understood, understand, understand_duration
from nudge.reminders.reminder import ID, Source
from nudge.text import is_blank

LONGEST_LINE = 300
MOST_LINES = 12
MOST_ACTIONS = 5
LONGEST_QUIET = 7 * DAY
LONGEST_SNOOZE = 7 * DAY
MEMORY_SECTIONS = (
    memory_document.PREFERENCES,
    memory_document.COMMITMENTS,
    memory_document.PATTERNS,
    memory_document.CONFERENCE,
)
GOAL_SECTIONS = (*goal_document.SECTIONS, target_fields.SECTION)


@dataclass(frozen=True, slots=True)
class UpdateMemory:
    """A line of MEMORY.md is added or removed; exactly one of the two is set."""

    name: ClassVar[str] = "update_memory"
    section: str
    add: str = ""
    remove: str = ""


@dataclass(frozen=True, slots=True)
class UpdateGoals:
    """A list of GOALS.md is rewritten; of the Schedule Targets only the fields that are named."""

    name: ClassVar[str] = "update_goals"
    section: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AddReminder:
    """A reminder for the person. `when` is as it was said, `understood` what it means."""

    name: ClassVar[str] = "add_reminder"
    text: str
    when: str
    understood: Understood
    source: Source = Source.CHAT
    """The person's, or the model's where the person named no such time."""


@dataclass(frozen=True, slots=True)
class SetQuiet:
    """No messages until then; None lifts it."""

    name: ClassVar[str] = "set_quiet"
    until: Instant | None


@dataclass(frozen=True, slots=True)
class SetState:
    """State that a model may set (see `check_state_updates`)."""

    name: ClassVar[str] = "set_state"
    updates: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MoveReminder:
    """A reminder comes at another time from now on. `title` says in words which one `reminder` (its id) is."""

    name: ClassVar[str] = "move_reminder"
    reminder: str
    title: str
    when: str
    understood: Understood


@dataclass(frozen=True, slots=True)
class SnoozeReminder:
    """A reminder comes again after a while."""

    name: ClassVar[str] = "snooze_reminder"
    reminder: str
    title: str
    length: int


@dataclass(frozen=True, slots=True)
class CancelReminder:
    name: ClassVar[str] = "cancel_reminder"
    reminder: str
    title: str


@dataclass(frozen=True, slots=True)
class CompleteReminder:
    """The person did what a reminder is about."""

    name: ClassVar[str] = "complete_reminder"
    reminder: str
    title: str


ReminderChange = MoveReminder | SnoozeReminder | CancelReminder | CompleteReminder
Action = UpdateMemory | UpdateGoals | AddReminder | SetQuiet | SetState | ReminderChange


@dataclass(frozen=True, slots=True)
class RefusedAction:
    """An action that did not happen, and why."""

    name: str
    reason: str


class _RefusedError(Exception):
    pass


def read_action(raw: object, now: Instant, targets: Targets) -> Action | RefusedAction:
    """The action that a model asked for, or why it is refused. It never raises.

    >>> read_action({"action": "run", "command": "ls"}, Instant(0), Targets())
    RefusedAction(name='run', reason='there is no such action')
    """
    if not isinstance(raw, Mapping):
        return RefusedAction("?", "an action is an object")
    name = raw.get("action")
    known = _READERS.get(name) if isinstance(name, str) else None
    label = one_line(str(name))[:40]
    if known is None:
        return RefusedAction(label, "there is no such action")
    keys, reader = known
    unknown = sorted(one_line(str(key))[:40] for key in raw if key not in keys and key != "action")
    if unknown:
        return RefusedAction(label, f"unknown keys: {', '.join(unknown)}")
    try:
        return reader(raw, now, targets)
    except _RefusedError as error:
        return RefusedAction(label, str(error))


def read_actions(raw: object, now: Instant, targets: Targets) -> tuple[tuple[Action, ...], tuple[RefusedAction, ...]]:
    """All actions of a reply, in order; what comes after the fifth is refused."""
    if raw is None:
        return (), ()
    if not isinstance(raw, list | tuple):
        return (), (RefusedAction("?", "actions is not a list"),)
    read = [read_action(one, now, targets) for one in raw[:MOST_ACTIONS]]
    refused = [one for one in read if isinstance(one, RefusedAction)]
    if len(raw) > MOST_ACTIONS:
        refused.append(RefusedAction("?", f"I do {MOST_ACTIONS} things at a time, and these were {len(raw)}"))
    return tuple(one for one in read if not isinstance(one, RefusedAction)), tuple(refused)


def _memory(raw: Mapping[str, Any], now: Instant, targets: Targets) -> UpdateMemory:
    del now, targets
    section = _section(raw, MEMORY_SECTIONS)
    given = [key for key in ("add", "remove") if raw.get(key) not in (None, "")]
    if len(given) != 1:
        raise _RefusedError("exactly one of add and remove is needed")
    line = _line(raw.get(given[0]), given[0])
    return UpdateMemory(section, add=line) if given[0] == "add" else UpdateMemory(section, remove=line)


def _goals(raw: Mapping[str, Any], now: Instant, targets: Targets) -> UpdateGoals:
    del now, targets
    section = _section(raw, GOAL_SECTIONS)
    given = raw.get("lines")
    if not isinstance(given, list | tuple):
        raise _RefusedError("lines is not a list")
    most = MOST_GOALS if section in NUMBERED else MOST_LINES
    if len(given) > most:
        raise _RefusedError(f"{section} holds {most} lines at most")
    lines = tuple(_line(line, "a line") for line in given)
    if section == target_fields.SECTION:
        for line in lines:
            name, colon, value = line.partition(":")
            why_not = target_fields.check_field(name.strip(), value) if colon else "write it like wake_target: 10:00"
            if why_not:
                raise _RefusedError(f"{name.strip()[:40]}: {why_not}")
        if not lines:
            raise _RefusedError("no field is named")
    return UpdateGoals(section, lines)


def _reminder(raw: Mapping[str, Any], now: Instant, targets: Targets) -> AddReminder:
    text = _line(raw.get("text"), "text")
    when = _line(raw.get("when"), "when")
    try:
        return AddReminder(text, when, understand(when, now, targets.zone))
    except InvalidPhraseError as error:
        raise _RefusedError(str(error)) from None


def _which(raw: Mapping[str, Any]) -> tuple[str, str]:
    """The id and the words of a reminder. Whoever has only words looks the id up first."""
    reminder = raw.get("reminder")
    if not isinstance(reminder, str) or not ID.fullmatch(reminder):
        raise _RefusedError("there is no such reminder")
    return reminder, _line(raw.get("title"), "title")


def _move(raw: Mapping[str, Any], now: Instant, targets: Targets) -> MoveReminder:
    when = _line(raw.get("when"), "when")
    try:
        return MoveReminder(*_which(raw), when, understand(when, now, targets.zone))
    except InvalidPhraseError as error:
        raise _RefusedError(str(error)) from None


def _snooze(raw: Mapping[str, Any], now: Instant, targets: Targets) -> SnoozeReminder:
    words = _line(raw.get("duration"), "duration")
    try:
        length = understand_duration(words, now, targets.zone)
    except InvalidPhraseError as error:
        raise _RefusedError(str(error)) from None
    if not 0 < length <= LONGEST_SNOOZE:
        raise _RefusedError("a reminder can be snoozed for a week at most")
    return SnoozeReminder(*_which(raw), length)


def _cancel(raw: Mapping[str, Any], now: Instant, targets: Targets) -> CancelReminder:
    del now, targets
    return CancelReminder(*_which(raw))


def _complete(raw: Mapping[str, Any], now: Instant, targets: Targets) -> CompleteReminder:
    del now, targets
    return CompleteReminder(*_which(raw))


def _quiet(raw: Mapping[str, Any], now: Instant, targets: Targets) -> SetQuiet:
    words = _line(raw.get("duration"), "duration")
    if words.casefold() in ("off", "none", "0", "end", "over"):
        return SetQuiet(None)
    try:
        length = understand_duration(words, now, targets.zone)
    except InvalidPhraseError as error:
        raise _RefusedError(str(error)) from None
    if length > LONGEST_QUIET:
        raise _RefusedError("quiet lasts a week at most")
    return SetQuiet(Instant(now + length))


def _state(raw: Mapping[str, Any], now: Instant, targets: Targets) -> SetState:
    del targets
    taken, refused = check_state_updates(raw.get("state_updates"), now)
    if "morning_brief_sent" in taken:
        raise _RefusedError("morning_brief_sent: a briefing comes at its own time, whatever was said in between")
    if refused or not taken:
        raise _RefusedError("; ".join(refused) or "no state is named")
    return SetState(taken)


def _section(raw: Mapping[str, Any], allowed: tuple[str, ...]) -> str:
    given = raw.get("section")
    wanted = section_key(given) if isinstance(given, str) else ""
    for name in allowed:
        if section_key(name) == wanted:
            return name
    raise _RefusedError(f"section is none of {', '.join(allowed)}")


def _line(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise _RefusedError(f"{what} is not a text")
    line = one_line(readable(value))
    if is_blank(line):
        raise _RefusedError(f"{what} is empty")
    if len(line) > LONGEST_LINE:
        raise _RefusedError(f"{what} has {len(line)} characters, more than {LONGEST_LINE}")
    if is_placeholder(line):
        raise _RefusedError(f"{what} is a placeholder")
    return line


_Reader = Callable[[Mapping[str, Any], Instant, Targets], Action]
_READERS: dict[str, tuple[frozenset[str], _Reader]] = {
    UpdateMemory.name: (frozenset({"section", "add", "remove"}), _memory),
    UpdateGoals.name: (frozenset({"section", "lines"}), _goals),
    AddReminder.name: (frozenset({"text", "when"}), _reminder),
    SetQuiet.name: (frozenset({"duration"}), _quiet),
    SetState.name: (frozenset({"state_updates"}), _state),
    MoveReminder.name: (frozenset({"reminder", "title", "when"}), _move),
    SnoozeReminder.name: (frozenset({"reminder", "title", "duration"}), _snooze),
    CancelReminder.name: (frozenset({"reminder", "title"}), _cancel),
    CompleteReminder.name: (frozenset({"reminder", "title"}), _complete),
}


NOTED = "Got it, I've noted that in my memory."

_NEVER = re.compile(
    r"(?:please )?(?:don'?t|do not|never)\s+(?:ever )?(.+?)(?:\s+(?:again|anymore))?[.!]*", re.IGNORECASE
)
_STOP = re.compile(r"(?:please )?stop\s+(.+?)[.!]*", re.I)
_YOURS = {"me": "you", "my": "your", "mine": "yours", "i": "you", "i'm": "you're", "myself": "yourself"}


def apply_to_memory(text: str, action: UpdateMemory, today: date) -> str:
    """MEMORY.md after the action; unchanged where the line to remove is not there. A commitment gets the day it was
    made, so that "Friday" keeps its meaning, and is found again without it."""
    if action.remove:
        lines = [item.text for item in Document.parse(text).items(action.section)]
        found = [line for line in lines if same(line, action.remove)]
        if action.section == memory_document.COMMITMENTS:
            wanted = Commitment.read(action.remove, today).text
            found += [line for line in lines if same(Commitment.read(line, today).text, wanted)]
        return remove_line(text, action.section, found[0]) if found else text
    if action.section == memory_document.COMMITMENTS:
        commitment = Commitment.read(action.add, today)
        if commitment.said_on is None:
            return add_commitment(text, commitment.text, commitment.due_words, today)
    return add_line(text, action.section, action.add)


def apply_to_goals(text: str, action: UpdateGoals) -> str:
    """GOALS.md after the action."""
    if action.section == TARGETS_SECTION:
        for line in action.lines:
            name, _, value = line.partition(":")
            text = set_target(text, name.strip(), value.strip())
        return text
    return replace_section_lines(text, action.section, action.lines, numbered=action.section in NUMBERED)


def confirm(action: Action, now: Instant, targets: Targets, *, changed: bool = True) -> str:
    """The sentence that says what happened. `changed` is false where the action left its document as it was.

    >>> confirm(UpdateMemory("Preferences", add="Don't message me about sleep"), Instant(0), Targets())
    "Got it, I've noted that in my memory. I won't message you about sleep again."
    """
    match action:
        case UpdateMemory(remove=line) if line and not changed:
            return f"I don't find “{line}” in my memory."
        case UpdateMemory() if not changed:
            return "That's in my memory already."
        case UpdateMemory(remove=line) if line:
            return f"Done, I've taken “{line}” out of my memory."
        case UpdateMemory(section=memory_document.PREFERENCES, add=line):
            line = line.replace("’", "'")
            never, stop = _NEVER.fullmatch(line), _STOP.fullmatch(line)
            promise = (
                f" I won't {_to_you(never[1])} again." if never else f" I'll stop {_to_you(stop[1])}." if stop else ""
            )
            return NOTED + promise
        case UpdateMemory(section=section):
            return f"{NOTED[:-1]} under {section}."
        case UpdateGoals(section=section, lines=()):
            return f"{section} is empty now."
        case UpdateGoals(section=section, lines=lines) if section in NUMBERED:
            return f"{section} is now: " + "; ".join(f"{n}. {_shown(line)}" for n, line in enumerate(lines, start=1))
        case UpdateGoals(section=section, lines=lines):
            return f"{section} now says: {'; '.join(lines)}"
        case AddReminder(text=text, understood=understood):
            return f"I'll remind you: {text}. {understood.echo(now, targets.zone)}"
        case SetQuiet(until=None):
            return "Quiet is over; I may write again."
        case SetQuiet(until=until) if until is not None:
            return f"Quiet until {_when(until, now, targets)}. Write any time; I'll answer."
        case MoveReminder(title=title, understood=understood):
            return f"Moved: {title}. {understood.echo(now, targets.zone)}"
        case SnoozeReminder(title=title, length=length):
            return f"Again in {format_duration(length)}: {title}"
        case CancelReminder(title=title):
            return f"Cancelled: {title}"
        case CompleteReminder(title=title):
            return f"Done ✓ {title}"
        case SetState(updates=updates):
            until = updates.get("quiet_mode_until")
            return (
                "Noted." if until is None else f"I'll keep my own ideas to myself until {_when(until, now, targets)}."
            )
    raise AssertionError(action)


def explain(refused: RefusedAction) -> str:
    """The sentence that says what did not happen, and why."""
    what = {
        UpdateMemory.name: "change my memory",
        UpdateGoals.name: "change your goals",
        AddReminder.name: "set that reminder",
        SetQuiet.name: "set that quiet time",
        SetState.name: "set that",
        MoveReminder.name: "move that reminder",
        SnoozeReminder.name: "snooze that reminder",
        CancelReminder.name: "cancel that reminder",
        CompleteReminder.name: "mark that reminder as done",
    }.get(refused.name, "do all of that")
    return f"I couldn't {what}: {refused.reason.rstrip('.')}."


def _to_you(words: str) -> str:
    return " ".join(_YOURS.get(word.casefold(), word) for word in words.split())


def _shown(line: str) -> str:
    return f"{line.removeprefix('[x] ')} ✓" if line.startswith("[x] ") else line


def _when(at: Instant, now: Instant, targets: Targets) -> str:
    local = to_datetime(at, targets.zone)
    same_day = local.date() == to_datetime(now, targets.zone).date()
    return f"{local:%H:%M}" if same_day else f"{local:%A %H:%M}"
