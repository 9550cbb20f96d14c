"""Phases: where a run is between looking around and being done, told from the tools it uses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from nudge.errors import UsageError
from nudge.numbers import is_whole
from nudge.progress.injection import Nudge, Urgency
from nudge.progress.tools import ToolKind, ToolKinds, target_of

SATURATION = 10

_STUCK = Nudge("You appear to be repeating the same actions.", Urgency.WARNING)
_UNPLANNED = Nudge("You're making edits without a clear plan.", Urgency.HINT)
_LIST_ITEM = re.compile(r"\s*(?:\d{1,3}[.)]|[-*+])\s+\S")
_PLAN_LINE = re.compile(r"\bplan\b", re.IGNORECASE)
_PLAN_SENTENCE = re.compile(r"\b(?:my|the|our) plan is to\b", re.IGNORECASE)


class Phase(StrEnum):
    """The phases in the order in which a run passes them. Acting and verifying alternate."""

    EXPLORATION = "exploration"
    PLANNING = "planning"
    ACTING = "acting"
    VERIFYING = "verifying"
    WRAPUP = "wrapup"


@dataclass(frozen=True, slots=True)
class PhaseReport:
    """The phase after something happened, whether it is a new one, and what to tell the model."""

    phase: Phase
    changed: bool = False
    nudges: tuple[Nudge, ...] = ()


class PhaseTracker:
    """Follows a run through its phases and nudges it once if it reads too long, edits too soon or repeats itself.

    Reading leads to EXPLORATION until the first edit. Edits lead to ACTING. A command after an edit is VERIFYING, one
    before leaves the phase alone. A plan tool, or a message with a plan in it, leads to PLANNING until the first edit.
    Each nudge comes once per spell: an edit ends a spell of reading, a call outside the loop ends a spell of repeating,
    `begin_task` ends them all.

    >>> tracker = PhaseTracker(saturation=2)
    >>> tracker.record_tool("read_file", target="a.py").phase
    <Phase.EXPLORATION: 'exploration'>
    >>> tracker.record_tool("read_file", target="b.py").nudges[0].text
    "You've read 2 files without making edits. Consider transitioning to the action phase."
    >>> tracker.record_tool("edit_file").phase, tracker.record_tool("bash").phase
    (<Phase.ACTING: 'acting'>, <Phase.VERIFYING: 'verifying'>)
    """

    __slots__ = (
        "_edited",
        "_explored",
        "_phase",
        "_planned",
        "_reads",
        "_saturated",
        "_saturation",
        "_seen",
        "_stuck",
        "kinds",
    )
    _SAVED = ("edited", "explored", "planned", "saturated", "stuck")

    def __init__(self, tools: Mapping[str, ToolKind | str] | None = None, *, saturation: int = SATURATION) -> None:
        """`tools` adds names and patterns to the default table. The nudge to stop reading comes with exactly
        `saturation` files, before the first edit or between two."""
        if not is_whole(saturation) or saturation < 1:
            raise UsageError(
                f"A saturation of {saturation!r} files would nudge before anything is read.", next_step="Use 1 or more."
            )
        self.kinds = ToolKinds(tools)
        self._saturation = saturation
        self.begin_task()

    @property
    def phase(self) -> Phase:
        """Where the run is now."""
        return self._phase

    @property
    def edited(self) -> bool:
        """Whether this task has made an edit."""
        return self._edited

    def __repr__(self) -> str:
        return f"<PhaseTracker {self._phase}: {self._reads} files read{', edited' if self._edited else ''}>"

    def begin_task(self) -> None:
        """Start over for a new task: back to EXPLORATION, nothing read, planned or edited."""
        self._phase = Phase.EXPLORATION
        self._edited = self._explored = self._planned = self._saturated = self._stuck = False
        self._reads = 0
        self._seen: set[str] = set()

    def wrap_up(self) -> PhaseReport:
        """Enter WRAPUP: the run closes with its report. Only `begin_task` leads out of this phase."""
        return self._enter(Phase.WRAPUP)

    def record_message(self, text: str) -> PhaseReport:
        """Note something the model wrote, which may be a plan."""
        if not has_plan(text):
            return PhaseReport(self._phase)
        self._planned = True
        return self._enter(self._phase if self._edited else Phase.PLANNING)

    def record_tool(
        self,
        tool: str,
        args: object = None,
        *,
        target: str | None = None,
        looping: bool = False,
        failed: bool = False,
    ) -> PhaseReport:
        """Note a tool call and say where the run is now.

        `target` is the file it reads, if `args` do not name it: the same file again, or its next page, is not a second
        file. Without a target every read counts. `looping` is the loop detector's verdict on this call. An edit that
        `failed` does not count.
        """
        if target is None:
            target = target_of(args)
        nudges: list[Nudge] = []
        if looping and not self._stuck:
            nudges.append(_STUCK)
        self._stuck = looping
        phase = self._phase
        match self.kinds.of(tool, args):
            case ToolKind.READ | ToolKind.SEARCH as kind:
                self._explored = True
                phase = phase if self._edited else Phase.EXPLORATION
                if kind is ToolKind.READ and self._saturates(target):
                    nudges.append(_saturated(self._reads))
            case ToolKind.PLAN:
                self._planned = True
                phase = phase if self._edited else Phase.PLANNING
            case ToolKind.EDIT if not failed:
                if not (self._edited or self._explored or self._planned):
                    nudges.append(_UNPLANNED)
                self._edited, self._saturated, self._reads = True, False, 0
                self._seen.clear()
                phase = Phase.ACTING
            case ToolKind.RUN if self._edited:
                phase = Phase.VERIFYING
        return self._enter(phase, tuple(nudges))

    def to_json(self) -> dict[str, Any]:
        """What a checkpoint needs. The table and the threshold belong to the configuration. Changes nothing."""
        return {
            "phase": self._phase.value,
            "reads": self._reads,
            "seen": sorted(self._seen),
            **{name: getattr(self, f"_{name}") for name in self._SAVED},
        }

    def restore(self, data: Mapping[str, Any]) -> None:
        """Continue from what `to_json` wrote."""
        try:
            phase, reads, seen = Phase(data["phase"]), int(data["reads"]), {str(name) for name in data["seen"]}
            flags = {name: bool(data[name]) for name in self._SAVED}
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"This is not a phase tracker: {error}.", next_step="Start a new task.") from error
        self._phase, self._reads, self._seen = phase, reads, seen
        for name, flag in flags.items():
            setattr(self, f"_{name}", flag)

    def _saturates(self, target: str | None) -> bool:
        """Count a file. True exactly when the spell becomes too long; after that there is nothing to remember."""
        if self._saturated or (target is not None and target in self._seen):
            return False
        if target is not None:
            self._seen.add(target)
        self._reads += 1
        self._saturated = self._reads >= self._saturation
        return self._saturated

    def _enter(self, phase: Phase, nudges: tuple[Nudge, ...] = ()) -> PhaseReport:
        if self._phase is Phase.WRAPUP:
            phase = Phase.WRAPUP
        changed = phase is not self._phase
        self._phase = phase
        return PhaseReport(phase, changed, nudges)


def has_plan(text: str) -> bool:
    """Whether a message holds a plan: a heading or an announcement with the word "plan" and a list of at least two
    items below it, or the words "my plan is to". Text inside code fences does not count."""
    announced, items, fenced = False, 0, False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced:
            continue
        elif announced and _LIST_ITEM.match(line):
            items += 1
            if items == 2:
                return True
        elif _PLAN_SENTENCE.search(line):
            return True
        elif _PLAN_LINE.search(line) and (line.lstrip().startswith("#") or line.rstrip(" *_").endswith(":")):
            announced, items = True, 0
    return False


def _saturated(files: int) -> Nudge:
    return Nudge(
        f"You've read {files} files without making edits. Consider transitioning to the action phase.", Urgency.HINT
    )
