"""What a condition's answer means for an occurrence, by its mode."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from nudge.reminders.reminder import Mode, Reminder

NOT_MET: Final = "Its condition was not met when it was due."
MET: Final = "Its condition was met."


class Act(Enum):
    """Deliver; leave this one out; or deliver nothing any more."""

    FIRE = "fire"
    SKIP = "skip"
    END = "end"


@dataclass(frozen=True, slots=True)
class Judgment:
    """`ends` is why the reminder is completed with this occurrence, or empty where its schedule decides."""

    act: Act
    ends: str = ""


def judge(reminder: Reminder, met: bool | None) -> Judgment:
    """`met` is what the command said; None where there is no command. A prompt is judged by the agent, later:

    | mode  | met                        | not met                                              |
    |-------|----------------------------|------------------------------------------------------|
    | each  | fire                       | skip; a reminder that was due once has had its time  |
    | until | complete, without firing   | fire                                                 |
    | once  | fire, then complete        | skip and go on waiting                               |
    """
    if met is None or reminder.condition is None:
        return Judgment(Act.FIRE)
    mode = reminder.condition.mode
    if mode is Mode.UNTIL:
        return Judgment(Act.END, MET) if met else Judgment(Act.FIRE)
    if mode is Mode.ONCE:
        return Judgment(Act.FIRE, MET) if met else Judgment(Act.SKIP)
    if met:
        return Judgment(Act.FIRE)
    return Judgment(Act.SKIP, NOT_MET if reminder.one_shot and reminder.chain is None else "")
