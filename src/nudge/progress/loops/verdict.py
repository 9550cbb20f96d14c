"""What the loop detector answers: first a nudge, then a warning, then a refusal."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from nudge.progress.injection import Nudge, Urgency
from nudge.progress.loops.history import Step
from nudge.progress.loops.tuning import LoopTuning

_MOST_CALLS = 64


class LoopAction(StrEnum):
    """NONE: continue. NUDGE: tell the model. WARN: tell it in stronger words. REFUSE: do not make this call."""

    NONE = "none"
    NUDGE = "nudge"
    WARN = "warn"
    REFUSE = "refuse"


_URGENCY = {LoopAction.NUDGE: Urgency.HINT, LoopAction.WARN: Urgency.WARNING, LoopAction.REFUSE: Urgency.CRITICAL}


class LoopKind(StrEnum):
    """CALL: one call again and again. CYCLE: several calls in turn. ERROR: one tool, other arguments, the same error.
    MESSAGE: the agent says the same and does nothing. ANNOUNCEMENT: it keeps saying, in other words, what it will do.
    OUTPUT: the model's own words repeat themselves."""

    CALL = "call"
    CYCLE = "cycle"
    ERROR = "error"
    MESSAGE = "message"
    ANNOUNCEMENT = "announcement"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class LoopResult:
    """The answer to one record or peek.

    `count` is how often the same has happened, this time included; `period` is the length of the cycle, 1 if one thing
    is repeated. `message` says what was seen, `advice` what to do instead; both are empty if all is well.
    """

    is_loop: bool = False
    message: str = ""
    count: int = 1
    action: LoopAction = LoopAction.NONE
    kind: LoopKind | None = None
    tool: str = ""
    period: int = 1
    advice: str = ""

    @property
    def text(self) -> str:
        """The message and the advice as one text for the model. It never quotes the arguments: seeing a repeated call
        again is one more reason to repeat it."""
        return f"{self.message}. {self.advice}" if self.is_loop else ""

    @property
    def nudges(self) -> tuple[Nudge, ...]:
        """The text as a nudge, the more urgent the stricter; none if all is well."""
        return (Nudge(self.text, _URGENCY[self.action]),) if self.is_loop else ()


class Finding(NamedTuple):
    """A loop that was found, before it is answered. `times` counts calls, `repeats` whole rounds."""

    kind: LoopKind
    key: str
    times: int
    repeats: int
    period: int = 1


_QUIET = tuple(LoopResult(count=count) for count in range(65))


def quiet(count: int) -> LoopResult:
    return _QUIET[count] if count < len(_QUIET) else LoopResult(count=count)


@lru_cache(maxsize=256)
def answer(finding: Finding, action: LoopAction, tool: str = "") -> LoopResult:
    return LoopResult(
        is_loop=True,
        message=_message(finding, tool),
        count=finding.times,
        action=action,
        kind=finding.kind,
        tool=tool,
        period=finding.period,
        advice=_advice(finding.kind, action, finding.times, finding.period),
    )


def _message(finding: Finding, tool: str) -> str:
    match finding.kind:
        case LoopKind.ERROR:
            return f"Doom loop detected: '{tool}' failed {finding.times} times with the same error"
        case LoopKind.MESSAGE:
            return f"Doom loop detected: the same message {finding.times} times without an action"
        case LoopKind.ANNOUNCEMENT:
            return f"Doom loop detected: {finding.times} announcements without an action"
        case LoopKind.OUTPUT:
            return f"Doom loop detected: the same text {finding.times} times in one answer"
        case _:
            return f"Doom loop detected: '{tool}' called {finding.times} times with identical arguments"


_STEPS = {
    LoopKind.CALL: (
        "Its result will be the same again. Use what it told you, look somewhere else, or change something first; if "
        "you are waiting for something, wait once and long enough instead of asking again."
    ),
    LoopKind.CYCLE: (
        "You are going round in a circle of {period} calls that bring nothing new. Say what you learned from them, "
        "then do something else."
    ),
    LoopKind.ERROR: (
        "Other arguments do not help. Find out why it fails before you try again: check what you assume, or use "
        "another tool."
    ),
    LoopKind.MESSAGE: "Do what you announce, ask the person, or finish.",
    LoopKind.ANNOUNCEMENT: "Do what you announce, ask the person, or finish.",
    LoopKind.OUTPUT: "End the answer, or go on with something that has not been said.",
}


def _advice(kind: LoopKind, action: LoopAction, count: int, period: int) -> str:
    steps = _STEPS[kind].format(period=period)
    match action:
        case LoopAction.WARN:
            return f"You were warned, and it is still happening. Stop and think again. {steps}"
        case LoopAction.REFUSE if kind in (LoopKind.CALL, LoopKind.CYCLE):
            return f"This call is refused because it brought nothing new in {count} tries. {steps}"
        case LoopAction.REFUSE:
            return f"Stopped, because {count} tries brought nothing new. {steps}"
        case _:
            return steps


@dataclass(slots=True)
class Escalation:
    """How strictly a loop was answered so far. A loop is known by its calls; each further round makes it stricter."""

    since: dict[str, int] = field(default_factory=dict)  # loop's call → the round in which it was first spoken of
    level: int = 0
    away: int = 0
    away_step: Step | None = None

    def calm(self) -> None:
        if self.since:
            self.since = {}
            self.level = 0
        self.away = 0

    def level_of(self, finding: Finding) -> int:
        return max(self.level, finding.repeats - self.since.get(finding.key, finding.repeats))

    def raise_for(self, finding: Finding) -> int:
        self.level = self.level_of(finding)
        self.since.setdefault(finding.key, finding.repeats)
        if len(self.since) > _MOST_CALLS:
            del self.since[next(iter(self.since))]
        self.away = 0
        return self.level

    def step_outside(self, step: Step | None, recovery: int) -> None:
        """Note that something else was done. Once or twice is a detour; `recovery` steps in a row are a change of
        course."""
        if not self.since:
            return
        if step is None or self.away == 0 or step != self.away_step:
            self.away += 1
            self.away_step = step
        if self.away >= recovery:
            self.calm()

    def to_json(self) -> dict[str, Any]:
        return {"since": self.since, "level": self.level, "away": self.away, "away_step": self.away_step}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Escalation:
        since = {str(key): int(repeats) for key, repeats in data["since"].items()}
        return cls(since, int(data["level"]), int(data["away"]), data["away_step"])


def action_at(level: int, kind: LoopKind, tuning: LoopTuning) -> LoopAction:
    """The answer to a loop that went on for `level` rounds after it was first mentioned.

    A tool that fails whatever it is given is warned about and never refused: the next arguments may be the right ones.
    """
    if level >= tuning.refuse_after and tuning.refuse and kind is not LoopKind.ERROR:
        return LoopAction.REFUSE
    return LoopAction.WARN if level >= tuning.warn_after else LoopAction.NUDGE
