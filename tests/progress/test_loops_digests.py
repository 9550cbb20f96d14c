"""Which differences make a call, a result or an error a different one, and which do not."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import pytest

from nudge.progress.loops.outcomes import Standing, error_digest, result_digest, shows_trouble, standing
from nudge.progress.loops.signature import signature

ID_1, ID_2 = "7c9e6679-7425-40de-944b-e07fc1f90ae7", "0b1c2d3e-7425-40de-944b-aaaaaaaaaaaa"


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError("no repr today")


def circular() -> dict[str, Any]:
    value: dict[str, Any] = {"name": "x"}
    value["self"] = value
    return value


def deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(5_000):
        value = [value]
    return value


SAME_CALL = {
    "keys in another order": ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    "raw JSON and a mapping": ('{"b": 2, "a": 1}', {"a": 1, "b": 2}),
    "no arguments and empty ones": (None, {}),
    "a tuple and a list": ({"a": (1, 2)}, {"a": [1, 2]}),
    "a set in another order": ({"a": {"x", "y", "z"}}, {"a": {"z", "y", "x"}}),
    "a fresh object of the same kind": ({"a": object()}, {"a": object()}),
    "an object whose repr fails": ({"a": Broken()}, {"a": Broken()}),
    "a value that contains itself": (circular(), circular()),
    "a value far too deep": ({"a": deep()}, {"a": deep()}),
    "keys that are no texts": ({1: "a", "b": 2, (3,): 4}, {"b": 2, (3,): 4, 1: "a"}),
    "half a pair of surrogates": ({"a": "\ud800"}, {"a": "\ud800"}),
    "another request id": ({"q": "x", "requestId": "1"}, {"q": "x", "requestId": "2"}),
    "another request id with a dash": ({"q": "x", "X-Request-ID": "1"}, {"q": "x", "X-Request-ID": "2"}),
    "another timestamp": ({"q": "x", "ts": 1}, {"q": "x", "ts": 2}),
    "another time of day from the clock": ({"q": "x", "time": 1771581000.5}, {"q": "x", "time": 1771581009.1}),
    "another clock reading in words": (
        {"q": "x", "time": "2026-02-20T10:00:00Z"},
        {"q": "x", "time": "2026-02-20T10:00:09Z"},
    ),
    "another random id without dashes": ({"q": "x", "uuid": "a" * 32}, {"q": "x", "uuid": "b" * 32}),
    "another random id beside the question": ({"q": "x", "tag": ID_1}, {"q": "x", "tag": ID_2}),
    "another temporary folder": ({"path": "/tmp/tmpab12cd34/a"}, {"path": "/tmp/tmpzz98yy76/a"}),
    "another temporary folder of the other system": (
        {"path": r"C:\Users\me\AppData\Local\Temp\tmp1a2b3c4d\a"},
        {"path": r"C:\Users\me\AppData\Local\Temp\tmp9z8y7x6w\a"},
    ),
    "another numbered log in the temporary folder": (
        {"command": "make > /tmp/make-17715810.log"},
        {"command": "make > /tmp/make-17715899.log"},
    ),
    "another request id inside a command": (
        {"command": "curl -H 'X-Request-Id: abc1' http://h/"},
        {"command": "curl -H 'X-Request-Id: abc2' http://h/"},
    ),
}

OTHER_CALL = {
    "another value": ({"a": 1}, {"a": 2}),
    "a text and a number": ({"a": "1"}, {"a": 1}),
    "another order in a list": ({"a": [1, 2]}, {"a": [2, 1]}),
    "other bytes": ({"a": b"x"}, {"a": b"y"}),
    "another path object": ({"a": PurePosixPath("x")}, {"a": PurePosixPath("y")}),
    "another named id": ({"shop": "a", "order_id": ID_1}, {"shop": "a", "order_id": ID_2}),
    "another id that is all there is": ({"uuid": ID_1}, {"uuid": ID_2}),
    "another time that was asked for": ({"at": "2026-02-20T10:00:00Z"}, {"at": "2026-02-20T11:00:00Z"}),
    "another time of an alarm": ({"text": "x", "time": "10:00"}, {"text": "x", "time": "11:00"}),
    "another file in the temporary folder": ({"path": "/tmp/plan.md"}, {"path": "/tmp/notes.md"}),
    "another number outside of temporary folders": ({"path": "/data/run-17715810"}, {"path": "/data/run-17715899"}),
    "another request id in a long content": (
        {"content": "x" * 2_000 + "request id: a"},
        {"content": "x" * 2_000 + "request id: b"},
    ),
    "another named id in the other spelling": ({"q": 1, "orderId": ID_1}, {"q": 1, "orderId": ID_2}),
    "another text that is no JSON": ("{broken", "{broken too"),
}

SAME_RESULT = {
    "the time it took": ("3 failed in 0.53s", "3 failed in 1.71s"),
    "the time it took in milliseconds": ("ok 12ms", "ok 9 ms"),
    "whole seconds after a word": ("built, took 5 s", "built, took 12 s"),
    "the time of day": ("10:00:01 idle", "10:15:59 idle"),
    "date and time": ("idle since 2026-02-20T10:00:01.25Z", "idle since 2026-02-21T11:30:00Z"),
    "seconds since 1970": ("now 1771581000", "now 1771589999"),
    "an address": ("<Job at 0x7f00aa10>", "<Job at 0x7f00bb20>"),
    "a random id": (f"batch {ID_1} failed", f"batch {ID_2} failed"),
    "a request id": ("queued, request id: abc", "queued, request id: xyz"),
    "a process id": ("pid 411 is waiting", "pid 99 is waiting"),
    "a temporary path": ("wrote /tmp/tmpab12cd34/out", "wrote /tmp/tmpzz98yy76/out"),
    "the time at the end of a long text": ("line\n" * 900 + "in 0.5s", "line\n" * 900 + "in 0.7s"),
    "fields that tell the time": (
        {"state": "x", "duration_ms": 1, "pid": 2, "updatedAt": "a"},
        {"state": "x", "duration_ms": 3, "pid": 4, "updatedAt": "b"},
    ),
    "the same bytes": (b"x", b"x"),
    "nothing": (None, None),
}

OTHER_RESULT = {
    "a count": ("3 failed", "2 failed"),
    "a share": ("10%", "20%"),
    "the line and column of a complaint": ("a.py:17:23: E501", "a.py:18:44: E501"),
    "seconds that are left": ("eta 30 s", "eta 20 s"),
    "a date": ("release 2026-02-20", "release 2026-02-21"),
    "the address of a device": ("found 00:11:22:33:44:55", "found 00:11:22:33:44:66"),
    "a version": ("v1.2.3", "v1.2.4"),
    "the middle of a long text": ("a" * 600 + "x" + "b" * 600, "a" * 600 + "y" + "b" * 600),
    "a field that counts": ({"done": 1}, {"done": 2}),
    "nothing and an empty text": (None, ""),
    "capitals": ("Done", "done"),
}

SAME_ERROR = {
    "a number": ("exit code 1", "exit code 137"),
    "an id": ("request req_8fa21b failed", "request req_99zz1c failed"),
    "a random id": (f"no {ID_1}", f"no {ID_2}"),
    "an id in letters only": ("no answer to request id: abc", "no answer to request id: xyz"),
    "a time": ("at 10:00:01 no route", "at 23:59:59 no route"),
    "a path": ("no such file: /a/b.txt", "no such file: /c/d/e.py"),
    "a path of the other system": (r"no such file: C:\a\b.txt", r"no such file: C:\x\y.txt"),
    "an address and a port": ("refused by 10.0.0.1:5432", "refused by 192.168.1.22:80"),
    "an address in memory": ("crash at 0x7f3a1c00", "crash at 0x55d01200"),
    "spaces and capitals": ("No  such\nfile", "no such file"),
    "an exception and the same one": (ValueError("bad value 3"), ValueError("bad value 4")),
}

OTHER_ERROR = {
    "another reason": ("permission denied", "no such file"),
    "another name": ("KeyError: 'alpha'", "KeyError: 'beta'"),
    "another kind of exception": (ValueError("bad"), TypeError("bad")),
}


def both(table: dict[str, tuple[Any, Any]]) -> Any:
    return pytest.mark.parametrize("one, other", table.values(), ids=table)


@both(SAME_CALL)
def test_same_call(one: Any, other: Any) -> None:
    assert signature("tool", one) == signature("tool", other)


@both(OTHER_CALL)
def test_other_call(one: Any, other: Any) -> None:
    assert signature("tool", one) != signature("tool", other)


def test_the_name_of_the_tool_and_its_arguments_do_not_run_together() -> None:
    assert signature("a", "bc") != signature("ab", "c")


def test_the_signature_is_the_same_in_every_process() -> None:
    assert signature("read_file", {"path": "src/app.py"}) == "8cc9c2eea5a17835"


@both(SAME_RESULT)
def test_same_result(one: Any, other: Any) -> None:
    assert result_digest(one) == result_digest(other)


@both(OTHER_RESULT)
def test_other_result(one: Any, other: Any) -> None:
    assert result_digest(one) != result_digest(other)


@both(SAME_ERROR)
def test_same_error(one: Any, other: Any) -> None:
    assert error_digest(one) == error_digest(other)


@both(OTHER_ERROR)
def test_other_error(one: Any, other: Any) -> None:
    assert error_digest(one) != error_digest(other)


@pytest.mark.parametrize(
    "text, trouble",
    [
        ("3 failed, 9 passed", True),
        ("9 passed, 0 failed", False),
        ("no errors", False),
        ("Error: cannot open a", True),
        ("All checks passed!", False),
        ("Traceback (most recent call last):", True),
        ({"stderr": "undefined symbol"}, True),
        ("failsafe mode is on", False),
    ],
)
def test_what_speaks_of_trouble(text: Any, trouble: bool) -> None:
    assert shows_trouble(text) is trouble


@pytest.mark.parametrize(
    "error, wrong",
    [
        ("10 failed, 2 passed in 1.2s", 10),
        ("= 1 failed, 3 errors in 0.40s =", 4),
        ("FAILED (failures=3, errors=1)", 4),
        ("Tests run: 40, Failures: 3, Errors: 0, Skipped: 1", 3),
        ("Tests:       3 failed, 9 passed, 12 total", 3),
        ("3 of 10 tests failed", 3),
        ("3/10 checks failed", 3),
        ("Found 12 errors in 3 files (checked 80 source files)", 12),
        ("error: aborting due to 3 previous errors", 3),
        ("10 examples, 1 failure", 1),
        ("9 passed, 0 failed", 0),
        (RuntimeError("2 failed"), 2),
        ({"stderr": "2 problems (2 errors)"}, 4),
        ("x" * 5_000 + "\n7 failed", 7),
        ("500 internal error", None),
        ("HTTP 500 error", None),
        ("HTTP 500 errors", None),
        ("request 4411 failed", None),
        ("test 7 failed", None),
        ("exit code 1", None),
        ("process exited with 1 error", 1),
        ("pod v1.2.3 failed", None),
        ("0x7f1234 failed", None),
        ("no such file", None),
    ],
    ids=str,
)
def test_how_much_an_error_says_is_wrong(error: Any, wrong: int | None) -> None:
    assert standing(error).wrong == wrong


@pytest.mark.parametrize(
    "error, line",
    [
        ("SyntaxError: invalid syntax (a.py, line 12)", 12),
        ('  File "app.py", line 3, in <module>\n  File "b.py", line 12\nSyntaxError: invalid syntax', 12),
        ("a.c:12:5: error: expected ';'\na.c:99:1: error: expected '}'", 12),
        ("src/a.ts(12,5): error TS2304: Cannot find name 'x'.", 12),
        ("SyntaxError: Unexpected token (12:5)", 12),
        ("error[E0425]: cannot find value\n --> src/main.rs:12:5", 12),
        ("refused by 10.0.0.1:5432", None),
        ("at 10:00:59 no route", None),
        ("built in 12:30:01", None),
        ("no such file", None),
    ],
    ids=str,
)
def test_how_far_an_error_says_it_came(error: Any, line: int | None) -> None:
    assert standing(error).line == line


@pytest.mark.parametrize(
    "now, before, after_change, better",
    [
        pytest.param((9, None), (10, None), False, True, id="fewer failures, also without a change"),
        pytest.param((10, None), (10, None), True, False, id="as many failures"),
        pytest.param((11, None), (10, None), True, False, id="more failures"),
        pytest.param((11, 90), (10, 12), True, False, id="more failures further down"),
        pytest.param((10, 90), (10, 12), True, True, id="as many failures further down"),
        pytest.param((None, 90), (None, 12), True, True, id="further down after a change"),
        pytest.param((None, 90), (None, 12), False, False, id="further down without a change"),
        pytest.param((None, 12), (None, 90), True, False, id="further up"),
        pytest.param((None, None), (10, 12), True, False, id="nothing said now"),
        pytest.param((1, 12), (None, None), True, False, id="nothing said before"),
    ],
)
def test_which_failure_is_better(now: Any, before: Any, after_change: bool, better: bool) -> None:
    assert Standing(*now).beats(Standing(*before), after_change=after_change) is better
