"""The loop detector against traces nobody wrote: honest work is never flagged, a circle always is, in time."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from nudge.progress.loops import UNKNOWN, LoopDetector, LoopTuning
from tests.progress.loop_steps import Call, Person, Says, Step, Streams, Together
from tests.progress.test_loops import take

CHECKS = ("make", "ruff check .", "pytest -q")


class Work:
    """Makes stretches of honest work. No two of them ask the same and are answered the same without a reason."""

    def __init__(self) -> None:
        self.numbers = itertools.count(1)

    def new(self) -> int:
        return next(self.numbers)

    def explore(self, size: int) -> Iterator[Step]:
        for _ in range(size):
            yield Call("read_file", {"path": f"{self.new()}.py"}, "import this")

    def look_twice(self, size: int) -> Iterator[Step]:
        call = Call("read_file", {"path": f"{self.new()}.md"}, "the same text")
        yield call
        yield from self.explore(size)
        yield call

    def poll(self, size: int) -> Iterator[Step]:
        job = self.new()
        for _ in range(size + 1):
            yield Call("sleep", {"seconds": 5}, "")
            yield Call("job_status", {"job": job}, f"{self.new()} rows done")

    def poll_in_turn(self, size: int) -> Iterator[Step]:
        jobs = [self.new(), self.new()]
        for _ in range(size + 1):
            for job in jobs:
                yield Call("job_status", {"job": job}, f"{self.new()} rows done")

    def page(self, size: int) -> Iterator[Step]:
        for _ in range(size):
            yield Call("next_page", {"list": "all"}, f"rows from {self.new()}")

    def edit_and_check(self, size: int) -> Iterator[Step]:
        for _ in range(size):
            yield Call("edit_file", {"path": "a.py", "old": self.new(), "new": self.new()}, "1 replacement")
            for command in CHECKS:
                yield Call("bash", {"command": command}, f"all checks passed in 0.{self.new()}s")

    def edit_and_read_again(self, size: int) -> Iterator[Step]:
        for _ in range(size):
            yield Call("edit_file", {"path": "b.py", "old": self.new()}, "1 replacement")
            yield Call("read_file", {"path": "b.py"}, f"x = {self.new()}")

    def fewer_failures(self, size: int) -> Iterator[Step]:
        for _ in range(size):
            yield Call("edit_file", {"path": "c.py", "old": self.new()}, "1 replacement")
            yield Call("bash", {"command": "tox"}, f"failed: test number {self.new()}")

    def guess(self, size: int) -> Iterator[Step]:
        for _ in range(min(size, 3)):
            yield Call("open", {"name": self.new()}, error=f"no such document: {self.new()}")
        yield Call("open", {"name": self.new()}, f"document {self.new()}")

    def write_many(self, size: int) -> Iterator[Step]:
        for _ in range(size):
            yield Call("write_file", {"path": f"{self.new()}.txt"}, "ok")

    def together(self, size: int) -> Iterator[Step]:
        twin = Call("read_file", {"path": f"{self.new()}.rs"}, "fn main")
        yield Together((twin, twin, *[Call("grep", {"q": self.new()}, "no match") for _ in range(size)], twin))

    def talk(self, size: int) -> Iterator[Step]:
        for _ in range(size):
            yield Says("Let me look at the next one.")
            yield Streams("Now for the next one on the list, as before. ")
            yield Call("grep", {"q": self.new()}, "no match")

    def edit_by_shell(self, size: int) -> Iterator[Step]:
        for _ in range(size):
            yield Call("bash", {"command": f"sed -i s/{self.new()}/x/ d.py"}, "")
            for command in CHECKS:
                yield Call("bash", {"command": command}, "all checks passed")

    def wait_and_look(self, size: int) -> Iterator[Step]:
        for _ in range(size):
            yield Call("bash", {"command": "sleep 5"}, "")
            yield Call("check", {"service": self.new()}, "up")

    def back_off(self, size: int) -> Iterator[Step]:
        page = self.new()
        for seconds in range(1, min(size, 3) + 1):
            yield Call("fetch", {"page": page}, error="timed out")
            yield Call("sleep", {"seconds": seconds * 3}, "")
        yield Call("fetch", {"page": page}, f"page {page}")

    def type(self, size: int) -> Iterator[Step]:
        for _ in range(size):
            yield Call("type_text", {"text": f"line {self.new()}"}, "")
            yield Call("press_key", {"key": "Enter"}, "")

    def asked_again(self, size: int) -> Iterator[Step]:
        for _ in range(size):
            yield Person("once more")
            yield Call("bash", {"command": "make demo"}, "demo ran")
        yield Person("thanks")


KINDS = [name for name in vars(Work) if not name.startswith("_") and name != "new"]


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.integers(1, 6)), max_size=25))
def test_honest_work_is_never_flagged(stretches: list[tuple[str, int]]) -> None:
    work, detector = Work(), LoopDetector()
    steps = [step for kind, size in stretches for step in getattr(work, kind)(size)]
    for number, step in enumerate(steps):
        if isinstance(step, Call):
            assert not detector.peek(step.tool, step.args).is_loop, (number, step)
        assert not take(detector, step, number), (number, step)


@st.composite
def circles(draw: st.DrawFn) -> tuple[list[Call], list[list[list[int]]]]:
    """Up to eight different calls, and for three rounds how many new calls follow each of them."""
    answers = st.sampled_from(["one", "two", "three"])
    outcome = st.one_of(
        st.tuples(answers, st.none()),
        st.tuples(st.just(UNKNOWN), st.sampled_from(["no route", "no such file"])),
        st.just((UNKNOWN, None)),
    )
    keys = st.tuples(st.sampled_from(["read_file", "edit_file", "bash", "job"]), st.integers(0, 4), outcome)
    calls = draw(st.lists(keys, min_size=1, max_size=8, unique=True))
    noise = draw(st.lists(st.lists(st.integers(0, 2), min_size=8, max_size=8), min_size=3, max_size=3))
    return [Call(tool, {"n": n}, *answer) for tool, n, answer in calls], noise


def note(detector: LoopDetector, call: Call) -> bool:
    return detector.record(call.tool, call.args, result=call.result, error=call.error).is_loop


@given(circles(), st.integers(0, 30))
def test_a_circle_with_noise_inside_is_found_in_three_rounds(
    circle: tuple[list[Call], list[list[int]]], before: int
) -> None:
    calls, noise = circle
    detector, numbers = LoopDetector(), itertools.count()
    for _ in range(before):
        detector.record("grep", {"q": next(numbers)}, result="no match")
    found = False
    for round_ in noise:
        for call, others in zip(calls, round_, strict=False):
            found |= note(detector, call)
            for _ in range(others):
                detector.record("grep", {"q": next(numbers)}, result="no match")
    assert found


@given(circles())
def test_no_circle_is_flagged_in_its_first_round(circle: tuple[list[Call], Any]) -> None:
    """A round of different calls is no repetition, unless one tool fails in the same way over and over."""
    detector = LoopDetector()
    calls = {json.dumps([call.tool, call.args]): call for call in circle[0]}.values()
    results = [detector.record(call.tool, call.args, result=call.result, error=call.error) for call in calls]
    assert all(result.kind == "error" for result in results if result.is_loop)


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.builds(object)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(st.one_of(st.text(max_size=5), st.integers(), st.tuples(st.integers())), inner, max_size=4),
        st.frozensets(st.integers(), max_size=4),
    ),
    max_leaves=12,
)


@given(VALUES, VALUES)
def test_any_arguments_and_any_result_are_taken_and_equal_ones_are_equal(args: Any, result: Any) -> None:
    detector = LoopDetector()
    for expected in (False, False, True):
        assert detector.record("tool", args, result=result).is_loop is expected


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("call"), st.integers(0, 3), st.sampled_from([UNKNOWN, "a", "b", "failed"])),
            st.tuples(st.just("fail"), st.integers(0, 9), st.just("broken")),
            st.tuples(st.just("edit"), st.integers(0, 99), st.just("ok")),
            st.tuples(st.just("say"), st.integers(0, 1), st.just("")),
            st.tuples(st.just("stream"), st.integers(0, 2), st.just("")),
        ),
        max_size=120,
    ),
    st.data(),
)
def test_a_detector_that_was_stored_goes_on_as_if_nothing_had_happened(
    events: list[tuple[str, int, Any]], data: st.DataObject
) -> None:
    def happen(detector: LoopDetector, event: tuple[str, int, Any], step: int) -> Any:
        kind, number, value = event
        match kind:
            case "call":
                return detector.record("job", {"n": number}, result=value, step=step // 2)
            case "fail":
                return detector.record("open", {"n": number}, error=value, step=f"turn {step // 2}")
            case "edit":
                return detector.record("edit_file", {"n": number}, result=value)
            case "say":
                return detector.record_message(f"message {'ab'[number]}")
            case _:
                return detector.record_output(("I will write the schema to the ", "file now.\n", "- so\n")[number])

    whole, stored = LoopDetector(), LoopDetector()
    stop = data.draw(st.integers(0, len(events)))
    for number, event in enumerate(events):
        if number == stop:
            stored = LoopDetector.from_json(json.loads(json.dumps(stored.to_json())))
        assert happen(stored, event, number) == happen(whole, event, number)
    assert stored.to_json() == whole.to_json()


@settings(max_examples=10)
@given(st.lists(st.tuples(st.integers(0, 30), st.text(max_size=30)), min_size=20, max_size=40))
def test_the_state_never_grows_beyond_its_bound(calls: list[tuple[int, str]]) -> None:
    detector = LoopDetector()
    for number, (tool, text) in enumerate(calls * 8):
        detector.record(f"tool {tool}", {"n": number % 97}, result=text * 50, error=text[:1], step=text * 9)
        detector.record_output(text * 20)
    assert len(json.dumps(detector.to_json())) < 40_000


def test_many_tools_loops_and_messages_leave_no_more_than_a_few_behind() -> None:
    detector = LoopDetector(tuning=LoopTuning(recovery=9_999))
    for number in range(1_000):
        for _ in range(3):
            result = detector.record(f"tool {number}", {}, result="text", error="x" * 5_000 if number % 2 else None)
        assert result.is_loop
    for number in range(1_000):
        detector.record_message(f"message {number}")
    assert len(json.dumps(detector.to_json())) < 15_000
    assert sum(detector.record_message("message 999").is_loop for _ in range(2)) == 1
