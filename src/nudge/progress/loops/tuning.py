"""The numbers and names by which the loop detector judges."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

from nudge.errors import UsageError
from nudge.numbers import is_whole
from nudge.progress.tools import CHANGING_TOOLS, PASSING_TOOLS, READING_TOOLS, fits


class About(NamedTuple):
    """What is known about a tool: its threshold (0: never a loop), and whether it changes something or only waits."""

    threshold: int
    changes: bool
    passing: bool


@dataclass(frozen=True, slots=True)
class LoopTuning:
    """The numbers of the loop detector.

    `threshold` identical calls among the last `window` calls are a loop. Cycles of up to `max_cycle` calls may lie
    further apart: each call of the cycle may be followed by `noise` others. `max_cycle=1` switches that off.

    `tool_thresholds` gives tools a threshold of their own, by name or pattern, the first that fits: a tool that waits
    may answer the same for long. A threshold of 0 means that this tool is never a loop.

    `error_threshold` failures of one tool with the same error are a loop even if the arguments differ each time.

    A loop is first answered with a nudge, after `warn_after` more repetitions with a warning, and after `refuse_after`
    with a refusal, unless `refuse` is off. `recovery` steps in a row outside the loop are a change of course.

    `changing_tools` are names or patterns, in small letters, of the tools that change something. Looking again after a
    change is not a repetition; failing again in the same way counts half.

    `passing_tools` only let time pass, press a key or click. Their answers say nothing, so they count as repeated only
    while nothing new is done in between.

    `volatile_keys` are names of arguments that do not make a call a different one, besides the usual ones.

    >>> LoopTuning(threshold=5, tool_thresholds=(("wait_*", 20),)).threshold
    5
    """

    threshold: int = 3
    window: int = 20
    max_cycle: int = 8
    noise: int = 2
    tool_thresholds: tuple[tuple[str, int], ...] = ()
    error_threshold: int = 5
    message_threshold: int = 3
    output_threshold: int = 4
    output_letters: int = 120
    warn_after: int = 1
    refuse_after: int = 2
    refuse: bool = True
    recovery: int = 3
    changing_tools: tuple[str, ...] = CHANGING_TOOLS
    passing_tools: tuple[str, ...] = PASSING_TOOLS
    volatile_keys: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("threshold", "error_threshold", "message_threshold", "output_threshold"):
            value = getattr(self, name)
            if not is_whole(value) or value < 2:
                raise UsageError(f"{name} is {value!r}, but it takes 2 calls to repeat.", next_step="Use 2 or more.")
        if not is_whole(self.window) or self.window < self.threshold:
            raise UsageError(
                f"A window of {self.window!r} calls cannot hold {self.threshold} identical ones.",
                next_step="Make the window at least as large as the threshold.",
            )
        for name, least in (("max_cycle", 1), ("noise", 0), ("output_letters", 0), ("warn_after", 0), ("recovery", 1)):
            value = getattr(self, name)
            if not is_whole(value) or value < least:
                raise UsageError(f"{name} is {value!r}.", next_step=f"Use {least} or more.")
        if not is_whole(self.refuse_after) or self.refuse_after < self.warn_after:
            raise UsageError(
                f"Calls would be refused after {self.refuse_after} repetitions and warned of after {self.warn_after}.",
                next_step="Make refuse_after at least warn_after.",
            )

    @property
    def span(self) -> int:
        """How many calls are remembered: enough for the longest cycle with all its noise."""
        return max(self.window, self.threshold * self.max_cycle * (1 + self.noise))

    def about(self, tool: str) -> About:
        """What the name of a tool tells."""
        name = tool.lower()
        threshold = next(
            (number for pattern, number in self.tool_thresholds if fnmatchcase(name, pattern.lower())), self.threshold
        )
        patterns = self.changing_tools
        changes = name in patterns or (fits(name, patterns) and not fits(name, READING_TOOLS))
        return About(threshold, changes, fits(name, self.passing_tools))
