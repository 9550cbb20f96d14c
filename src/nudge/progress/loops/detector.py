"""The loop detector: is this agent getting anywhere, or does it do the same thing again and again?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nudge.errors import UsageError
from nudge.progress.loops.history import Call, CallHistory, Step
from nudge.progress.loops.outcomes import (
    FAILED,
    UNKNOWN,
    error_digest,
    is_failure,
    result_digest,
    shows_trouble,
    standing,
)
from nudge.progress.loops.repetition import find_failures, find_repetition, is_progress
from nudge.progress.loops.signature import digest, parsed, signature
from nudge.progress.loops.spoken import MessageWatch, OutputWatch
from nudge.progress.loops.tuning import About, LoopTuning
from nudge.progress.loops.verdict import Escalation, Finding, LoopKind, LoopResult, action_at, answer, quiet
from nudge.progress.tools import LOOKING, command_changes, command_of, wait_of_command, wait_of_tool

_VERSION = 2
_MOST_TOOLS = 256
_LONGEST_NAME = 120
_OVERLAPPING = 4
_NEVER = 1 << 30


class LoopDetector:
    """Notices when an agent repeats itself, and says so more and more firmly.

    Without results, `threshold` identical calls among the last `window` are a loop. With results, a call counts only
    if it brought the same as before: polling a job that moves, reading a file again after an edit, paging, and tests
    that fail less and less are progress.

    >>> detector = LoopDetector(threshold=3)
    >>> for _ in range(3):
    ...     result = detector.record("read_file", {"path": "src/app.py"})
    >>> result.is_loop, result.action.value
    (True, 'nudge')
    >>> result.message
    "Doom loop detected: 'read_file' called 3 times with identical arguments"

    >>> detector = LoopDetector()
    >>> any(detector.record("job", {"id": 7}, result=f"{n} %").is_loop for n in range(0, 100, 10))
    False
    """

    __slots__ = ("_escalation", "_history", "_ignored", "_messages", "_output", "_tools", "_tuning")

    def __init__(
        self, threshold: int | None = None, window: int | None = None, *, tuning: LoopTuning | None = None
    ) -> None:
        tuning = tuning or LoopTuning()
        if threshold is not None or window is not None:
            tuning = replace(
                tuning,
                threshold=tuning.threshold if threshold is None else threshold,
                window=tuning.window if window is None else window,
            )
        self._tuning = tuning
        self._ignored = frozenset(tuning.volatile_keys)
        self._history = CallHistory(tuning.span)
        self._escalation = Escalation()
        self._messages = MessageWatch()
        self._output = OutputWatch()
        self._tools: dict[str, About] = {}

    def __repr__(self) -> str:
        return f"<LoopDetector with a threshold of {self._tuning.threshold}: {len(self._history)} calls remembered>"

    @property
    def tuning(self) -> LoopTuning:
        """The numbers it goes by."""
        return self._tuning

    def record(
        self,
        tool: str,
        args: object = None,
        *,
        result: object = UNKNOWN,
        error: object = None,
        step: Step | None = None,
        changed: bool | None = None,
    ) -> LoopResult:
        """Note a call and say whether it is part of a loop.

        `args` is a mapping or its raw JSON text. Give `result`, or `error` (a text or an exception) if it failed. A
        call that is noted before it runs gets its result from `record_result`. Calls with the same `step` belong to one
        turn of the model, and identical ones among them count once. `changed` says whether the call changed something,
        if neither its name nor its command tells; a repeated call never counts as a change.
        """
        self._messages.clear()
        self._output.clear()
        args = parsed(args)
        sig = signature(tool, args, self._ignored)
        outcome = _outcome(result, error)
        call = _in_the_same_turn(self._history.same(sig), step)
        if call is None:
            call = self._candidate(sig, tool, args, None, step)
            self._history.add(call)
        if call.outcome is None:
            _tell(call, outcome, error)
        return self._judge(call, tool, args, result, changed)

    def record_result(
        self,
        tool: str,
        args: object = None,
        *,
        result: object = UNKNOWN,
        error: object = None,
        changed: bool | None = None,
    ) -> LoopResult:
        """Note what the last call of this tool with these arguments brought. A call that was never noted is noted
        now."""
        args = parsed(args)
        sig = signature(tool, args, self._ignored)
        for call in reversed(self._history.same(sig)):
            if call.outcome is None:
                _tell(call, _outcome(result, error), error)
                return self._judge(call, tool, args, result, changed)
        return self.record(tool, args, result=result, error=error, changed=changed)

    def peek(self, tool: str, args: object = None, *, step: Step | None = None) -> LoopResult:
        """Say what `record` would say to this call if it brought the same as last time. Changes nothing.

        Ask before a call is made, and do not make it if the action is REFUSE.
        """
        args = parsed(args)
        sig = signature(tool, args, self._ignored)
        same = self._history.same(sig)
        call = _in_the_same_turn(same, step)
        if call is None:
            last = same[-1] if same else None
            call = self._candidate(sig, tool, args, last.outcome if last else None, step)
            call.trouble = last is not None and (last.trouble or last.failed)
        finding, count = self._find(call, tool)
        if finding is None:
            return quiet(count)
        return answer(finding, action_at(self._escalation.level_of(finding), finding.kind, self._tuning), tool)

    def record_message(self, text: str) -> LoopResult:
        """Note a message of the agent. The same one three times without an action in between is a loop, and so are four
        announcements, in whatever words, of what it does not do."""
        self._output.clear()
        said, announced = self._messages.add(text)
        threshold = self._tuning.message_threshold
        if said < threshold < announced:
            return self._say(LoopKind.ANNOUNCEMENT, announced, threshold + 1)
        return self._say(LoopKind.MESSAGE, said, threshold)

    def record_output(self, text: str) -> LoopResult:
        """Note a piece of the model's own output as it streams in. A call or a message ends the answer.

        Text that repeats itself is a loop, outside code fences, lists and tables.
        """
        tuning = self._tuning
        found = self._output.add(text, tuning.output_threshold, tuning.output_letters)
        if found is None:
            return quiet(1)
        count, period = found
        return self._say(LoopKind.OUTPUT, count, tuning.output_threshold, period)

    def record_person_message(self, text: str = "") -> None:
        """Start over, because the person has spoken: what the agent does next has a new reason."""
        del text  # what was said does not matter, only that something was
        self.reset()

    def reset(self) -> None:
        """Forget everything, for instance after the context was compacted and files must be read again."""
        self._history.clear()
        self._escalation.calm()
        self._messages.clear()
        self._output.clear()

    def to_json(self) -> dict[str, Any]:
        """The state as plain JSON values, without the tuning. Changes nothing."""
        return {
            "version": _VERSION,
            "history": self._history.to_json(),
            "escalation": self._escalation.to_json(),
            "messages": self._messages.to_json(),
            "output": self._output.to_json(),
        }

    @classmethod
    def from_json(
        cls,
        data: Mapping[str, Any],
        threshold: int | None = None,
        window: int | None = None,
        *,
        tuning: LoopTuning | None = None,
    ) -> LoopDetector:
        """A detector that continues from what `to_json` gave, perhaps with another tuning."""
        detector = cls(threshold, window, tuning=tuning)
        try:
            if data["version"] != _VERSION:
                raise ValueError(f"its version is {data['version']}")
            detector._history = CallHistory.from_json(data["history"], detector._tuning.span)
            detector._escalation = Escalation.from_json(data["escalation"])
            detector._messages = MessageWatch.from_json(data["messages"])
            detector._output = OutputWatch.from_json(data["output"])
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise UsageError(
                f"This is not the state of a loop detector: {error}.", next_step="Start with a new LoopDetector()."
            ) from error
        return detector

    def _judge(self, call: Call, tool: str, args: object, result: object, changed: bool | None) -> LoopResult:
        history = self._history
        siblings = history.same(call.sig)
        if siblings[0] is not call:
            call.trouble = call.failed or (siblings[0].epoch != call.epoch and shows_trouble(result))
            if is_progress(history, call):
                history.floor = call.serial
                self._escalation.calm()
        elif (
            call.outcome is not None and not call.failed and (self._changes(tool, args) if changed is None else changed)
        ):
            history.epoch += 1
            call.epoch = history.epoch
            self._escalation.calm()
        finding, count = self._find(call, tool)
        if finding is None:
            self._escalation.step_outside(call.step, self._tuning.recovery)
            return quiet(count)
        return answer(finding, action_at(self._escalation.raise_for(finding), finding.kind, self._tuning), tool)

    def _find(self, call: Call, tool: str) -> tuple[Finding | None, int]:
        threshold = self._about(tool).threshold
        finding, count = find_repetition(self._history, call, threshold or _NEVER, self._tuning)
        if finding is None and threshold:
            finding = find_failures(self._history, call, self._tuning)
        return finding, count

    def _say(self, kind: LoopKind, count: int, threshold: int, period: int = 1) -> LoopResult:
        if count < threshold:
            return quiet(count)
        return answer(Finding(kind, "", count, count, period), action_at(count - threshold, kind, self._tuning))

    def _changes(self, tool: str, args: object) -> bool:
        """Whether a call made for the first time changes something."""
        command = command_of(args)
        if self._about(tool).changes:
            return command not in LOOKING
        return bool(command) and command_changes(command)

    def _candidate(self, sig: str, tool: str, args: object, outcome: str | None, step: Step | None) -> Call:
        wait = wait_of_tool(args) if self._about(tool).passing else wait_of_command(command_of(args))
        return self._history.candidate(sig, tool[:_LONGEST_NAME], outcome, _short(step), wait)

    def _about(self, tool: str) -> About:
        """What is known about a tool, remembered for as many tools as anybody has."""
        known = self._tools.get(tool)
        if known is None:
            known = self._tuning.about(tool)
            if len(self._tools) >= _MOST_TOOLS:
                self._tools.clear()
            self._tools[tool] = known
        return known


def _outcome(result: object, error: object) -> str | None:
    if is_failure(error):
        return error_digest(error)
    return None if result is UNKNOWN else result_digest(result)


def _tell(call: Call, outcome: str | None, error: object) -> None:
    call.outcome = outcome
    if outcome is not None and outcome[0] == FAILED:
        call.standing = standing(error)


def _short(step: Step | None) -> Step | None:
    return digest(step) if isinstance(step, str) and len(step) > _LONGEST_NAME else step


def _in_the_same_turn(same: list[Call], step: Step | None) -> Call | None:
    """The newest call of this step. Steps may overlap, but not many of them."""
    if step is None or not same:
        return None
    step = _short(step)
    for call in same[: -_OVERLAPPING - 1 : -1]:
        if call.step == step:
            return call
    return None
