"""Conditions: running a command, reading what an agent answered, and what that means for the occurrence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol

from nudge.reminders.reminder import Mode, Reminder

NOT_MET_REASON: Final = "Its condition was not met when it was due."
MET_REASON: Final = "Its condition was met."
NOT_JUDGED: Final = "No model answered, so its condition was not judged."


class Act(Enum):
    """Deliver it; skip it; or end the reminder without delivering it."""

    FIRE = "fire"
    SKIP = "skip"
    END = "end"


@dataclass(frozen=True, slots=True)
class Judgment:
    """`ends` is why the reminder is completed with this occurrence, or empty if its schedule decides."""

    act: Act
    ends: str = ""


def judge(reminder: Reminder, met: bool | None) -> Judgment:
    """`met` is what the command said; None without a command. A prompt is judged by the agent, later:

    | mode  | met                        | not met                                              |
    |-------|----------------------------|------------------------------------------------------|
    | each  | fire                       | skip; a one-time reminder is then completed          |
    | until | complete, without firing   | fire                                                 |
    | once  | fire, then complete        | skip and go on waiting                               |
    """
    if met is None or reminder.condition is None:
        return Judgment(Act.FIRE)
    mode = reminder.condition.mode
    if mode is Mode.UNTIL:
        return Judgment(Act.END, MET_REASON) if met else Judgment(Act.FIRE)
    if mode is Mode.ONCE:
        return Judgment(Act.FIRE, MET_REASON) if met else Judgment(Act.SKIP)
    if met:
        return Judgment(Act.FIRE)
    return Judgment(Act.SKIP, NOT_MET_REASON if reminder.one_shot and reminder.chain is None else "")


MET: Final = "[condition-met]"
SKIP: Final = "[skip]"

_AROUND: Final = " \t*_`\"'“”"


class Reply(Enum):
    MET = "met"
    SKIP = "skip"
    NONE = "none"


def read_reply(text: str) -> Reply:
    """A mark counts at the start of a line, also in quotes or bold. A reply with both marks says nothing: the reminder
    goes on rather than ending on a contradiction.

    >>> read_reply("[condition-met] The deploy is through, the tests pass.")
    <Reply.MET: 'met'>
    >>> read_reply("I was told to answer [skip], but I did the work.")
    <Reply.NONE: 'none'>
    """
    lines = [line.lstrip(_AROUND).lower() for line in text.splitlines()]
    met = any(line.startswith(MET) for line in lines)
    skip = any(line.startswith(SKIP) for line in lines)
    if met == skip:
        return Reply.NONE
    return Reply.MET if met else Reply.SKIP


@dataclass(frozen=True, slots=True)
class Question:
    """A condition's command to run, in the agent's workspace."""

    command: str
    agent: str
    reminder_id: str
    fire_count: int
    timeout_us: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reason` says why it was not met. `output` is at most 2 KB of what the command wrote."""

    met: bool
    reason: str = ""
    output: str = ""
    exit_code: int | None = None


class Conditions(Protocol):
    async def ask(self, question: Question) -> Verdict:
        """Exit 0 is met. A command that hangs, is missing or cannot be started is not met: this never raises for it."""
        ...
