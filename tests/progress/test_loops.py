"""The loop detector against the table of scenarios."""

from __future__ import annotations

import pytest

from nudge.progress.loops import LoopDetector, LoopTuning
from tests.progress.loop_scenarios import SCENARIOS
from tests.progress.loop_steps import NOT_YET, Call, Later, Person, Says, Scenario, Step, Streams, Together


def record(detector: LoopDetector, call: Call, step: int) -> bool:
    if call.result is NOT_YET:
        return detector.record(call.tool, call.args, error=call.error, step=step).is_loop
    return detector.record(call.tool, call.args, result=call.result, error=call.error, step=step).is_loop


def take(detector: LoopDetector, step: Step, number: int) -> bool:
    match step:
        case Call():
            return record(detector, step, number)
        case Together(calls):
            loops = [record(detector, call, number) for call in calls]
            return any(loops)
        case Later(call):
            noted = detector.record(call.tool, call.args, step=number).is_loop
            back = detector.record_result(call.tool, call.args, result=call.result, error=call.error).is_loop
            return noted or back
        case Says(text):
            return detector.record_message(text).is_loop
        case Streams(text):
            return detector.record_output(text).is_loop
        case Person(text):
            detector.record_person_message(text)
            return False


def fired(scenario: Scenario) -> list[int]:
    detector = LoopDetector(tuning=LoopTuning(**scenario.tuning))
    return [number for number, step in enumerate(scenario.steps, 1) if take(detector, step, number)]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_scenario(scenario: Scenario) -> None:
    steps = fired(scenario)
    if scenario.fires is None:
        assert steps == []
    else:
        earliest, latest = scenario.fires
        assert steps
        assert earliest <= steps[0] <= latest
