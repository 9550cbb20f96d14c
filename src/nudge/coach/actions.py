"""What a model may do in a conversation, besides talking: five actions, each checked before anything happens.

An action is what the person asked for in other words. Whatever is not exactly of its form is refused with a reason; the
texts that it carries become one plain line and can change nothing but the line they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nudge.coach import goals as goal_document
from nudge.coach import memory as memory_document
from nudge.coach import targets as target_fields
from nudge.coach.decisions import check_state_updates
from nudge.coach.documents import one_line, readable, section_key
from nudge.coach.goals import MOST_GOALS, NUMBERED
from nudge.coach.placeholders import is_placeholder
from nudge.coach.targets import Targets
from nudge.errors import InvalidPhraseError
from nudge.instants import DAY, Instant
from nudge.phrases import Understood, understand, understand_duration

LONGEST_LINE = 300
MOST_LINES = 12
MOST_ACTIONS = 5
LONGEST_QUIET = 7 * DAY
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

    section: str
    add: str = ""
    remove: str = ""


@dataclass(frozen=True, slots=True)
class UpdateGoals:
    """A list of GOALS.md is rewritten; of the Schedule Targets only the fields that are named."""

    section: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AddReminder:
    """A reminder for the person. `when` is as it was said, `understood` what it means."""

    text: str
    when: str
    understood: Understood


@dataclass(frozen=True, slots=True)
class SetQuiet:
    """No messages until then; None lifts it."""

    until: Instant | None


@dataclass(frozen=True, slots=True)
class SetState:
    """State that a model may set (see `check_state_updates`)."""

    updates: Mapping[str, Any]


Action = UpdateMemory | UpdateGoals | AddReminder | SetQuiet | SetState


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
    if not line:
        raise _RefusedError(f"{what} is empty")
    if len(line) > LONGEST_LINE:
        raise _RefusedError(f"{what} has {len(line)} characters, more than {LONGEST_LINE}")
    if is_placeholder(line):
        raise _RefusedError(f"{what} is a placeholder")
    return line


_Reader = Callable[[Mapping[str, Any], Instant, Targets], Action]
_READERS: dict[str, tuple[frozenset[str], _Reader]] = {
    "update_memory": (frozenset({"section", "add", "remove"}), _memory),
    "update_goals": (frozenset({"section", "lines"}), _goals),
    "add_reminder": (frozenset({"text", "when"}), _reminder),
    "set_quiet": (frozenset({"duration"}), _quiet),
    "set_state": (frozenset({"state_updates"}), _state),
}
