"""What the loop detector answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

from nudge.errors import UsageError
from nudge.numbers import is_whole


class LoopAction(StrEnum):
    """NONE: go on. NUDGE: tell the model. WARN: tell it in stronger words. REFUSE: do not make this call."""

    NONE = "none"
    NUDGE = "nudge"
    WARN = "warn"
    REFUSE = "refuse"


class LoopKind(StrEnum):
    """CALL: one call again and again. CYCLE: several calls in turn. ERROR: one tool, other arguments, the same error.
    MESSAGE: the agent says the same and does nothing. ANNOUNCEMENT: it says in ever other words what it will do.
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

    `count` is how often the same has happened, this time included; `period` is the length of the cycle, 1 where one
    thing is repeated. `message` says what was seen, `advice` what to do instead; both are empty where all is well.
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
        """The message and the advice as one text for the model. It never quotes the arguments: a repeated call that
        is shown to the model once more is one more reason to repeat it."""
        return f"{self.message}. {self.advice}" if self.is_loop else ""


class Finding(NamedTuple):
    """A loop before it is decided how strictly to answer it. `times` counts calls, `repeats` whole rounds."""

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
        "You are going round in a circle of {period} calls that bring nothing new. Say what you have learned from "
        "them, then take a step that is not among them."
    ),
    LoopKind.ERROR: (
        "Other arguments do not help. Find out why it fails before you try again: read what you assume, or use another "
        "tool."
    ),
    LoopKind.MESSAGE: "Do what you announce, ask the person, or finish.",
    LoopKind.ANNOUNCEMENT: "Do what you announce, ask the person, or finish.",
    LoopKind.OUTPUT: "End the answer, or go on with something that has not been said.",
}


def _advice(kind: LoopKind, action: LoopAction, count: int, period: int) -> str:
    steps = _STEPS[kind].format(period=period)
    match action:
        case LoopAction.WARN:
            return f"You have been told before, and it still goes on. Stop here and think again. {steps}"
        case LoopAction.REFUSE if kind in (LoopKind.CALL, LoopKind.CYCLE):
            return f"This call is refused because it has brought nothing new for {count} times. {steps}"
        case LoopAction.REFUSE:
            return f"This ends here, because nothing new has come for {count} times. {steps}"
        case _:
            return steps


class About(NamedTuple):
    """What is known of a tool: its threshold (0: never a loop), whether it changes something or only passes time."""

    threshold: int
    changes: bool
    passing: bool


CHANGING_TOOLS = (
    "write",
    "*write_file*",
    "*file_write*",
    "*edit*",
    "*replace*",
    "*patch*",
    "apply_diff",
    "create_file",
    "insert*",
    "append*",
    "delete_file",
    "move_file",
    "rename_file",
)

READING_TOOLS = ("get_*", "list_*", "read_*", "view_*", "find_*", "search_*", "show_*", "*credit*", "*dispatch*")
"""Not changing, whatever else is in their names, unless the very name is among the changing tools."""

PASSING_TOOLS = (
    "*wait*",
    "*sleep*",
    "delay",
    "key",
    "keypress",
    "hotkey",
    "press",
    "press_*",
    "*_press",
    "*_press_*",
    "send_keys",
    "*_send_keys",
    "click",
    "click_*",
    "*_click",
    "tap",
    "*_tap",
    "scroll",
    "scroll_*",
    "*_scroll",
)


@dataclass(frozen=True, slots=True)
class LoopTuning:
    """The thresholds of the loop detector; every one can be changed.

    `threshold` identical calls among the last `window` calls are a loop. What happens in cycles of up to `max_cycle`
    calls may lie further apart: each call of the cycle may be followed by `noise` others. `max_cycle=1` switches that
    off.

    `tool_thresholds` gives tools their own threshold by name or pattern, the first that fits: a tool for waiting may
    answer the same for long. A threshold of 0 means that this tool is never a loop.

    `error_threshold` failures of one tool with the same error are a loop even if the arguments differ each time.

    A loop is first answered with a nudge, after `warn_after` more repetitions with a warning, and after `refuse_after`
    with a refusal, unless `refuse` is off. `recovery` steps in a row outside the loop are a change of course.

    `changing_tools` are names or patterns, in small letters, of the tools that change something. Looking again after
    a change is not a repetition; failing again in the same way after one counts half.

    `passing_tools` are those that only let time pass, press a key or click: their answers say nothing, so they are
    repeated only while nothing new is done in between.

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
                raise UsageError(
                    f"{name} is {value!r}, but only the second time is a repetition.", next_step="Use 2 or more."
                )
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
                next_step="Let refuse_after be at least warn_after.",
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
        changes = name in patterns or (_fits(name, patterns) and not _fits(name, READING_TOOLS))
        return About(threshold, changes, _fits(name, self.passing_tools))


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
