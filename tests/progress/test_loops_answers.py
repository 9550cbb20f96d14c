"""What the loop detector says, how it becomes stricter, and what makes it start over."""

from __future__ import annotations

from typing import Any

import pytest

from nudge.errors import UsageError
from nudge.progress.loops import LoopAction, LoopDetector, LoopKind, LoopResult, LoopTuning

NONE, NUDGE, WARN, REFUSE = LoopAction.NONE, LoopAction.NUDGE, LoopAction.WARN, LoopAction.REFUSE


def again(detector: LoopDetector, times: int, name: str = "a", **more: Any) -> LoopResult:
    for _ in range(times):
        result = detector.record("read_file", {"path": name}, **more)
    return result


def elsewhere(detector: LoopDetector, times: int, first: int = 0) -> None:
    for number in range(first, first + times):
        detector.record("grep", {"q": number}, result="no match")


class TestMessages:
    def test_the_third_identical_call_is_named_with_its_count(self) -> None:
        result = again(LoopDetector(threshold=3), 3)
        assert (result.is_loop, result.count, result.tool) == (True, 3, "read_file")
        assert result.message == "Doom loop detected: 'read_file' called 3 times with identical arguments"

    def test_the_count_goes_on(self) -> None:
        result = again(LoopDetector(), 4)
        assert result.message == "Doom loop detected: 'read_file' called 4 times with identical arguments"

    def test_a_call_that_is_no_loop_says_nothing(self) -> None:
        result = again(LoopDetector(), 2)
        assert result == LoopResult(is_loop=False, message="", count=2, action=NONE)
        assert result.text == ""

    def test_the_window_counts_only_its_own_calls(self) -> None:
        detector = LoopDetector(window=4)
        again(detector, 2)
        elsewhere(detector, 2)
        assert again(detector, 1).count == 2

    @pytest.mark.parametrize(
        "kind, make, message",
        [
            (
                LoopKind.ERROR,
                lambda d: [d.record("open", {"n": n}, error="no such file") for n in range(5)][-1],
                "Doom loop detected: 'open' failed 5 times with the same error",
            ),
            (
                LoopKind.MESSAGE,
                lambda d: [d.record_message("I will do it.") for _ in range(3)][-1],
                "Doom loop detected: the same message 3 times without an action",
            ),
            (
                LoopKind.OUTPUT,
                lambda d: d.record_output("I will write the schema to the file now. " * 4),
                "Doom loop detected: the same text 4 times in one answer",
            ),
            (
                LoopKind.CYCLE,
                lambda d: [d.record("read", {"n": n % 2}) for n in range(5)][-1],
                "Doom loop detected: 'read' called 3 times with identical arguments",
            ),
        ],
    )
    def test_each_kind_of_loop_is_named(self, kind: LoopKind, make: Any, message: str) -> None:
        result = make(LoopDetector())
        assert (result.kind, result.message) == (kind, message)
        assert result.text.startswith(message + ". ")

    def test_a_cycle_says_how_long_it_is(self) -> None:
        detector = LoopDetector()
        results = [detector.record("read", {"n": n % 4}) for n in range(12)]
        first = next(result for result in results if result.is_loop)
        assert (first.period, first.kind) == (4, LoopKind.CYCLE)
        assert "circle of 4 calls" in first.advice

    def test_the_text_for_the_model_never_shows_the_arguments(self) -> None:
        detector = LoopDetector()
        for _ in range(6):
            result = detector.record("bash", {"command": "rm -rf build"}, result="gone already")
            assert "rm -rf" not in result.text
            assert "gone already" not in result.text


class TestEscalation:
    def test_a_repeated_call_is_nudged_warned_of_and_refused(self) -> None:
        detector = LoopDetector()
        assert [again(detector, 1).action for _ in range(7)] == [NONE, NONE, NUDGE, WARN, REFUSE, REFUSE, REFUSE]

    def test_each_step_is_said_in_other_words(self) -> None:
        detector = LoopDetector()
        advice = [again(detector, 1).advice for _ in range(5)][2:]
        assert len(set(advice)) == 3
        assert "This call is refused because it brought nothing new in 5 tries." in advice[2]

    def test_each_round_of_a_cycle_is_one_step(self) -> None:
        detector = LoopDetector()
        actions = [detector.record("read", {"n": n % 2}, result="text").action for n in range(10)]
        assert actions == [NONE] * 4 + [NUDGE, NUDGE, WARN, WARN, REFUSE, REFUSE]

    def test_a_long_cycle_with_noise_is_refused_in_the_end(self) -> None:
        detector, actions = LoopDetector(), []
        for number in range(6 * 8):
            actions.append(detector.record("read", {"n": number % 8}, result="text").action)
            elsewhere(detector, 1, first=number)
        assert actions[16] is NUDGE
        assert actions[24] is WARN
        assert REFUSE in actions[32:]

    def test_refusing_can_be_switched_off(self) -> None:
        detector = LoopDetector(tuning=LoopTuning(refuse=False))
        assert again(detector, 15).action is WARN

    def test_the_steps_can_be_set_further_apart(self) -> None:
        detector = LoopDetector(tuning=LoopTuning(warn_after=2, refuse_after=5))
        actions = [again(detector, 1).action for _ in range(8)]
        assert actions == [NONE, NONE, NUDGE, NUDGE, WARN, WARN, WARN, REFUSE]

    def test_a_tool_that_fails_whatever_it_is_given_is_never_refused(self) -> None:
        detector = LoopDetector()
        actions = [detector.record("open", {"n": n}, error=f"no file {n}").action for n in range(30)]
        assert actions[3:6] == [NONE, NUDGE, WARN]
        assert set(actions[6:]) == {WARN}

    def test_calls_in_one_breath_are_one_step(self) -> None:
        detector = LoopDetector()
        actions = [[again(detector, 1, name, step=step).action for name in "ab"] for step in range(5)]
        assert actions == [[NONE] * 2, [NONE] * 2, [NUDGE] * 2, [WARN] * 2, [REFUSE] * 2]

    def test_messages_and_output_become_stricter_too(self) -> None:
        detector = LoopDetector()
        assert [detector.record_message("Soon.").action for _ in range(5)] == [NONE, NONE, NUDGE, WARN, REFUSE]
        chant = "I will write the schema to the file now. "
        assert [detector.record_output(chant).action for _ in range(6)] == [NONE] * 3 + [NUDGE, WARN, REFUSE]

    def test_each_round_of_answers_that_come_in_a_circle_is_one_step(self) -> None:
        detector = LoopDetector()
        results = [detector.record("toggle", {"lamp": 1}, result=("on", "off")[n % 2]) for n in range(10)]
        assert [result.action for result in results] == [NONE] * 5 + [NUDGE, NUDGE, WARN, WARN, REFUSE]
        assert (results[-1].count, results[-1].period) == (10, 2)

    def test_a_loop_that_widens_is_not_answered_more_mildly(self) -> None:
        detector = LoopDetector()
        assert again(detector, 4, result="text").action is WARN
        actions = [again(detector, 1, "b", result="text").action for _ in range(3)]
        assert actions == [NONE, NONE, WARN]

    def test_the_length_of_a_long_circle_is_told_as_it_is(self) -> None:
        detector = LoopDetector()
        assert [detector.record("read", {"n": n % 9}) for n in range(19)][-1].period == 9


class TestChangeOfCourse:
    def test_one_detour_is_no_change_of_course(self) -> None:
        detector = LoopDetector()
        again(detector, 3, result="text")
        elsewhere(detector, 1)
        assert again(detector, 1, result="text").action is WARN

    def test_after_three_steps_elsewhere_it_begins_with_a_nudge(self) -> None:
        detector = LoopDetector()
        assert again(detector, 5, result="text").action is REFUSE
        elsewhere(detector, 3)
        assert detector.peek("read_file", {"path": "a"}).action is NUDGE
        assert again(detector, 1, result="text").action is NUDGE
        assert again(detector, 1, result="text").action is WARN

    def test_three_calls_in_one_breath_are_one_step_elsewhere(self) -> None:
        detector = LoopDetector()
        again(detector, 4, result="text")
        for number in range(3):
            detector.record("grep", {"q": number}, result="no match", step=99)
        assert again(detector, 1, result="text").action is REFUSE

    def test_a_new_result_ends_it(self) -> None:
        detector = LoopDetector()
        assert again(detector, 5, result="text").action is REFUSE
        assert again(detector, 1, result="another text") == LoopResult(count=1)
        assert [again(detector, 1, result="another text").action for _ in range(2)] == [NONE, NUDGE]

    def test_a_change_that_worked_ends_it(self) -> None:
        detector = LoopDetector()
        again(detector, 5, result="text")
        detector.record("edit_file", {"path": "b"}, result="1 replacement")
        assert again(detector, 1, result="text") == LoopResult(count=1)

    def test_after_a_change_another_loop_begins_with_a_nudge(self) -> None:
        detector = LoopDetector(tuning=LoopTuning(recovery=99))
        again(detector, 5, result="text")
        detector.record("edit_file", {"path": "b"}, result="1 replacement")
        assert again(detector, 3, "c", result="text").action is NUDGE

    def test_a_change_that_failed_does_not(self) -> None:
        detector = LoopDetector()
        again(detector, 4, result="text")
        detector.record("edit_file", {"path": "b"}, error="old text not found")
        assert again(detector, 1, result="text").action is REFUSE

    def test_a_shell_command_may_be_called_a_change(self) -> None:
        detector = LoopDetector()
        for number in range(6):
            detector.record("bash", {"command": f"sed -i {number}"}, result="", changed=True)
            assert not detector.record("bash", {"command": "make"}, result="ok").is_loop

    def test_a_change_noted_before_its_result_counts_when_it_is_back(self) -> None:
        detector = LoopDetector()
        again(detector, 2, result="text")
        detector.record("edit_file", {"path": "b"})
        assert detector.peek("read_file", {"path": "a"}).is_loop
        detector.record_result("edit_file", {"path": "b"}, result="1 replacement")
        assert not again(detector, 1, result="text").is_loop

    def test_a_person_ends_it(self) -> None:
        detector = LoopDetector()
        again(detector, 5)
        detector.record_person_message("please look again")
        assert [again(detector, 1).action for _ in range(3)] == [NONE, NONE, NUDGE]

    def test_an_action_ends_a_row_of_messages_and_the_output(self) -> None:
        detector = LoopDetector()
        for number in range(9):
            assert not detector.record_message("Soon.").is_loop
            assert not detector.record_output("I will write the schema to the file now. ").is_loop
            detector.record("read_file", {"path": number})


class TestPeek:
    def test_it_says_what_record_would_say_and_notes_nothing(self) -> None:
        detector = LoopDetector()
        for _ in range(6):
            seen = [detector.peek("read_file", {"path": "a"}) for _ in range(3)]
            assert seen == [again(detector, 1, result="text")] * 3

    def test_what_was_never_called_is_no_loop(self) -> None:
        assert LoopDetector().peek("read_file", {"path": "a"}) == LoopResult(count=1)

    def test_a_call_whose_result_keeps_changing_is_expected_to_change_again(self) -> None:
        detector = LoopDetector()
        for number in range(10):
            detector.record("job", {"id": 1}, result=f"{number} done")
            assert not detector.peek("job", {"id": 1}).is_loop

    def test_a_fifth_attempt_is_expected_to_fail_like_the_four_before(self) -> None:
        detector = LoopDetector()
        for number in range(5):
            assert detector.peek("bash", {"command": "make"}).is_loop is (number == 4)
            detector.record("bash", {"command": "make"}, result="undefined symbol")
            detector.record("edit_file", {"n": number}, result="1 replacement")

    def test_the_same_call_in_the_same_breath_is_the_same_call(self) -> None:
        detector = LoopDetector()
        for step in (1, 2):
            again(detector, 1, step=step)
        assert not detector.peek("read_file", {"path": "a"}, step=2).is_loop
        assert detector.peek("read_file", {"path": "a"}, step=3).is_loop


class TestLateResults:
    def test_a_result_that_is_told_twice_is_a_call_of_its_own(self) -> None:
        detector = LoopDetector()
        assert detector.record_result("job", {"id": 1}, result="running").count == 1
        assert detector.record_result("job", {"id": 1}, result="running").count == 2

    def test_a_call_noted_twice_in_one_step_takes_the_result_it_lacked(self) -> None:
        detector = LoopDetector()
        for step in range(6):
            assert not detector.record("job", {"id": 1}, step=step).is_loop
            assert not detector.record("job", {"id": 1}, result=f"{step} done", step=step).is_loop

    def test_parallel_calls_get_their_own_results(self) -> None:
        detector = LoopDetector()
        for number in range(6):
            for job in (1, 2):
                assert not detector.record("job", {"id": job}, step=number).is_loop
            for job in (1, 2):
                assert not detector.record_result("job", {"id": job}, result=f"{job}: {number} done").is_loop

    @pytest.mark.parametrize("results", [["text", None, "text"], [None, None, "text"], ["text", "text", None]])
    def test_an_unknown_result_fits_every_other(self, results: list[str | None]) -> None:
        detector = LoopDetector()
        told = [{} if result is None else {"result": result} for result in results]
        assert [again(detector, 1, **one).is_loop for one in told] == [False, False, True]

    def test_an_unknown_result_does_not_join_two_different_ones(self) -> None:
        detector = LoopDetector()
        again(detector, 1, result="one")
        again(detector, 1, result="two")
        assert not again(detector, 1).is_loop

    def test_a_call_still_under_way_does_not_hide_a_row_of_failures(self) -> None:
        detector = LoopDetector()
        detector.record("open", {"n": 0}, error="no such file")
        detector.record("open", {"n": 1})
        results = [detector.record("open", {"n": n}, error="no such file") for n in range(2, 6)]
        assert results[-1].kind is LoopKind.ERROR


@pytest.mark.parametrize(
    "tuning, part",
    [
        ({"threshold": 1}, "threshold is 1"),
        ({"error_threshold": 0}, "error_threshold is 0"),
        ({"threshold": 5, "window": 4}, "A window of 4 calls cannot hold 5"),
        ({"max_cycle": 0}, "max_cycle is 0"),
        ({"noise": -1}, "noise is -1"),
        ({"warn_after": 3}, "refused after 2 repetitions and warned of after 3"),
    ],
)
def test_a_tuning_that_makes_no_sense_is_refused(tuning: dict[str, Any], part: str) -> None:
    with pytest.raises(UsageError, match=part):
        LoopTuning(**tuning)


def test_threshold_and_window_beat_the_tuning() -> None:
    detector = LoopDetector(4, 6, tuning=LoopTuning(threshold=9, noise=1))
    assert detector.tuning == LoopTuning(threshold=4, window=6, noise=1)


def test_a_tool_with_threshold_zero_is_never_a_loop() -> None:
    detector = LoopDetector(tuning=LoopTuning(tool_thresholds=(("Wait*", 0), ("*", 2))))
    assert not any(detector.record("wait_for", {}, error="not yet").is_loop for _ in range(30))
    assert [again(detector, 1).is_loop for _ in range(2)] == [False, True]


@pytest.mark.parametrize(
    "state", [{}, {"version": 99}, {"version": 1, "history": 3}, {"version": 1, "history": {"calls": [[1]]}}]
)
def test_a_state_that_is_none_is_refused(state: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="not the state of a loop detector"):
        LoopDetector.from_json(state)


def test_a_stored_state_goes_on_with_a_smaller_window() -> None:
    detector = LoopDetector()
    again(detector, 2)
    elsewhere(detector, 5)
    restored = LoopDetector.from_json(detector.to_json(), window=4)
    assert again(restored, 1).count == 1
    assert again(detector, 1).is_loop
