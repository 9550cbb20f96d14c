"""First a nudge, then a warning, then a refusal, and back to nothing after a change of course."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from nudge.progress.loops.history import Step
from nudge.progress.loops.verdict import Finding, LoopAction, LoopKind, LoopTuning

_MOST_CALLS = 64


@dataclass(slots=True)
class Escalation:
    """How far one loop has been answered. A loop is known by its calls; each further round of one makes it stricter."""

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
        """Something else was done. Once or twice is a detour; `recovery` steps in a row are a change of course."""
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
    """The answer to a loop that has gone on for `level` rounds after it was first spoken of.

    A tool that fails whatever it is given is warned of and never refused: the next arguments may be the right ones.
    """
    if level >= tuning.refuse_after and tuning.refuse and kind is not LoopKind.ERROR:
        return LoopAction.REFUSE
    return LoopAction.WARN if level >= tuning.warn_after else LoopAction.NUDGE
