"""The rules: when calls are a loop.

They come down to one idea: **the same question with the same answer**. A repeated call counts only if it brought the
same as before. A call that brings something new is progress, and everything before it is forgotten. After a change (an
edit that worked) looking again is right, and only failing again in the same way counts, half.
"""

from __future__ import annotations

from nudge.progress.loops.history import Call, CallHistory
from nudge.progress.loops.outcomes import BARE_ERRORS
from nudge.progress.loops.tuning import LoopTuning
from nudge.progress.loops.verdict import Finding, LoopKind

_WHOLE, _HALF = 2, 1


def is_progress(history: CallHistory, call: Call) -> bool:
    """Whether a call that was made before has now brought something it never brought before, or has failed less badly
    than ever. Failing again right away in other words is no progress."""
    outcome = call.outcome
    if outcome is None:
        return False
    last, better = None, False
    for earlier in reversed(history.same(call.sig)):
        if earlier is not call and earlier.outcome is not None:
            if earlier.outcome == outcome:
                if not call.improves_on(earlier):
                    return False
                better = True
            last = last or earlier
    return better or (last is not None and not (call.failed and _fails_again(history, call, last, call)))


def find_repetition(history: CallHistory, call: Call, threshold: int, tuning: LoopTuning) -> tuple[Finding | None, int]:
    """The loop that this call completes, if any, and how often it was made inside the window.

    Walks back over the calls that asked and brought the same without a break. An unknown answer fits every other. A
    change ends the row, unless the answer still speaks of trouble: then all that was tried between two changes is one
    attempt, and an attempt counts half. So does a try after a longer wait than before, and one that failed again right
    away in other words. Waiting itself is a repetition only while nothing new is done in between.
    """
    floor, epoch, passing = history.floor, call.epoch, call.wait >= 0
    if call.serial == floor:
        return None, 1
    same = history.same(call.sig)
    earlier = same[:-1] if same and same[-1] is call else [one for one in same if one.serial < call.serial]
    answer, later, window_ends = call.outcome, call, call.serial - tuning.window
    needed, failing = threshold * _WHOLE, call.failed
    score, count, enough = _WHOLE - _backing_off(history, call, earlier, needed), 1, 0
    row: list[Call] = []
    broken = False
    for one in reversed(earlier):
        if one.serial < floor or (one.epoch != epoch and not call.trouble):
            broken = True
            break
        if passing and history.something_new(one.serial, later.serial):
            break
        weight = _WHOLE if one.epoch == epoch else _HALF if one.epoch != later.epoch else 0
        if answer is None:
            answer = one.outcome
        elif one.outcome is not None and one.outcome != answer:
            if not (failing and _fails_again(history, call, one, later)):
                broken = True
                break
            weight = _HALF
        row.append(one)
        score += weight
        if not enough and score >= needed:
            enough = len(row)
            if one.serial > window_ends:
                count = 1 + enough + _more(earlier[:-enough], call, answer, max(window_ends + 1, floor))
                break
        if one.serial > window_ends:
            count = len(row) + 1
        later = one
    if enough:
        evidence = row[:enough]
        first = evidence[-1].serial
        period = 1 + len(_repeated_between(history, call, evidence))
        if first > window_ends:
            return _finding(call, count, period), count
        if period > 1 and call.serial - first < (enough + 1) * period * (1 + tuning.noise):
            return _finding(call, len(row) + 1, period), len(row) + 1
    return (_find_alternation(history, earlier, call, threshold, tuning) if broken else None), count


def find_failures(history: CallHistory, call: Call, tuning: LoopTuning) -> Finding | None:
    """One tool that fails with the same error again and again, whatever it is given.

    Other tools in between do not matter; one success of this tool or another error of it ends the row, and so do the
    window and a failure that is less bad than the one before it. Failures of one turn count once: a batch of guesses is
    one guess. An error that says nothing (a bare exit code) may well be another one each time, so it takes twice as
    many.
    """
    if not call.failed:
        return None
    count, steps, tool, outcome, later = 1, {call.step}, call.tool, call.outcome, call
    for earlier in history.before(call, tuning.window):
        if earlier.outcome == outcome:
            if earlier.tool == tool and (earlier.step is None or earlier.step not in steps):
                if later.improves_on(earlier):
                    break
                count += 1
                steps.add(earlier.step)
                later = earlier
        elif earlier.tool == tool and earlier.outcome is not None:
            break
    if count < tuning.error_threshold * (2 if call.outcome in BARE_ERRORS else 1):
        return None
    return Finding(LoopKind.ERROR, f"{call.tool}{call.outcome}", count, count)


def _finding(call: Call, count: int, period: int) -> Finding:
    return Finding(LoopKind.CYCLE if period > 1 else LoopKind.CALL, call.sig, count, count, period)


def _fails_again(history: CallHistory, call: Call, one: Call, later: Call) -> bool:
    """Whether a call that failed had failed before, with nothing but waiting in between."""
    return one.epoch == call.epoch and history.only_waits(one.serial, later.serial) and one.failed


def _more(earlier: list[Call], call: Call, answer: str | None, since: int) -> int:
    """How many calls before a row that is long enough for a loop belong to it, back to a serial."""
    count, failing, epoch = 0, call.failed, None if call.trouble else call.epoch
    for one in reversed(earlier):
        outcome = one.outcome
        if one.serial < since or (epoch is not None and one.epoch != epoch):
            break
        if outcome != answer and outcome is not None and not (failing and one.failed):
            break
        count += 1
    return count


def _backing_off(history: CallHistory, call: Call, earlier: list[Call], needed: int) -> int:
    """How much less a row of tries counts because each came after a longer wait than the one before: half of each.

    An agent that backs off is not hammering. The newest wait decides: one that waits no longer than last time has
    stopped backing off. An agent that does other things in between does not wait.
    """
    if not history.longer or call.wait >= 0 or len(earlier) < 2:
        return 0
    less, newer, longer = 0, call, 0.0
    for one in reversed(earlier):
        if one.serial < history.floor or one.epoch != call.epoch or less + _WHOLE == needed:
            break
        wait = history.longest_wait(one.serial, newer.serial)
        if not wait or (less and wait >= longer) or not history.only_waits(one.serial, newer.serial):
            break
        less, newer, longer = less + _HALF, one, wait
    return less if less > 1 else 0


def _repeated_between(history: CallHistory, call: Call, evidence: list[Call]) -> set[str]:
    """What happened between each two of these calls, every time: the rest of the circle."""
    common: set[str] | None = None
    later = call
    for one in evidence:
        between = history.between(one.serial, later.serial)
        common = between if common is None else common & between
        if not common:
            return set()
        later = one
    return common or set()


def _find_alternation(
    history: CallHistory, earlier: list[Call], call: Call, threshold: int, tuning: LoopTuning
) -> Finding | None:
    """One call whose answers go round in a circle: on, off, on, off, on, off.

    A value that goes up and down is no circle. Only an exact one is, and only if nothing was changed and nothing else
    made progress after its first round. How far apart the answers lie does not matter while all are remembered.
    """
    if len(earlier) + 1 < 2 * threshold:
        return None
    calls = [*earlier[1 - threshold * tuning.max_cycle :], call]
    answers = [one.outcome for one in calls]
    for period in range(2, tuning.max_cycle + 1):
        length = threshold * period
        if length > len(calls):
            return None
        round_ = answers[-period:]
        if len(set(round_)) == 1 or answers[-length:] != round_ * threshold:
            continue
        second_round = calls[period - length]
        if second_round.epoch != call.epoch or second_round.serial < history.floor:
            continue
        while length < len(calls) and answers[-length - 1] == answers[period - length - 1]:
            length += 1
        return Finding(LoopKind.CYCLE, call.sig, length, length // period, period)
    return None
