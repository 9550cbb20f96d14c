"""What an accepted action does to the documents, and the sentence that tells the person."""

from __future__ import annotations

import re
from datetime import date

from nudge.coach import memory as memory_document
from nudge.coach.actions import Action, AddReminder, RefusedAction, SetQuiet, SetState, UpdateGoals, UpdateMemory
from nudge.coach.documents import Document
from nudge.coach.edits import remove_line, replace_section_lines
from nudge.coach.goals import NUMBERED
from nudge.coach.memory import Commitment, add_commitment, add_line, same
from nudge.coach.targets import SECTION as TARGETS_SECTION
from nudge.coach.targets import Targets, set_target
from nudge.instants import Instant, to_datetime

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
        case SetState(updates=updates):
            until = updates.get("quiet_mode_until")
            return "Noted." if until is None else f"Quiet until {_when(until, now, targets)}."
    raise AssertionError(action)


def explain(refused: RefusedAction) -> str:
    """The sentence that says what did not happen, and why."""
    what = {
        "update_memory": "change my memory",
        "update_goals": "change your goals",
        "add_reminder": "set that reminder",
        "set_quiet": "set that quiet time",
        "set_state": "set that",
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
