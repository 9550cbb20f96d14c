"""Waiting, asking again and pressing keys: patience is not a loop, hammering is."""

from __future__ import annotations

from tests.progress.loop_steps import Call, Scenario, Step, bash, edit, rounds

TIMED_OUT = "connection timed out"


def sleep(seconds: float) -> Call:
    return Call("sleep", {"seconds": seconds}, "")


def ask(times: int, waits: list[float], *, answer: str = "queued") -> list[Step]:
    """The state of a build, so often, with a wait after each time."""
    return [step for n in range(times) for step in (Call("build_status", {}, answer), sleep(waits[n % len(waits)]))]


WAITING = [
    Scenario(
        "A download that times out is tried again after ever longer waits and works at last",
        [
            *rounds(4, lambda r: [Call("fetch", {"url": "u"}, error=TIMED_OUT), sleep(2**r)]),
            Call("fetch", {"url": "u"}, "the page"),
        ],
    ),
    Scenario(
        "The same with a shell that sleeps",
        [
            *rounds(4, lambda r: [bash("curl -s u", error=TIMED_OUT), bash(f"sleep {5 * r}", "")]),
            bash("curl -s u", "the page"),
        ],
    ),
    Scenario(
        "Each try fails for another reason, and the fifth works",
        [
            *[
                Call("fetch", {"url": "u"}, error=reason)
                for reason in (TIMED_OUT, "connection reset", "no such host", "bad gateway")
            ],
            Call("fetch", {"url": "u"}, "the page"),
        ],
    ),
    Scenario(
        "A download is tried again after the same short wait each time",
        rounds(3, lambda r: [Call("fetch", {"url": "u"}, error=TIMED_OUT), sleep(1)]),
        (5, 5),
    ),
    Scenario(
        "A download fails after ever longer waits, and it does not end",
        rounds(9, lambda r: [Call("fetch", {"url": "u"}, error=TIMED_OUT), sleep(2**r)]),
        (9, 9),
    ),
    Scenario(
        "A build is asked for after ever longer waits until it is done",
        [*ask(4, [10, 20, 30, 40]), Call("build_status", {}, "done")],
    ),
    Scenario("A build is asked for after waits that go up and down", ask(5, [5, 3]), (5, 7)),
    Scenario("A build that never moves is asked for after ever longer waits", ask(9, [*range(10, 100, 10)]), (9, 9)),
    Scenario(
        "One service after the other is started and checked after the same wait",
        rounds(8, lambda r: [bash(f"systemctl start s{r}", ""), sleep(2), Call("check", {"service": r}, "up")]),
    ),
    Scenario(
        "A shell sleeps for the same time before each of many new looks",
        rounds(8, lambda r: [bash("sleep 5", ""), bash(f"curl -s localhost/{r}", "ok")]),
    ),
    Scenario("The agent waits and does nothing else", [bash("sleep 30", "")] * 3, (3, 3)),
    Scenario(
        "A shell sleeps for the same time before each look, and the look shows the same",
        rounds(3, lambda r: [bash("sleep 30", ""), bash("gh run view 7", "in progress")]),
        (5, 6),
    ),
    Scenario(
        "A line is typed and Enter is pressed, many times",
        rounds(8, lambda r: [Call("type_text", {"text": f"line {r}"}, ""), Call("press_key", {"key": "Enter"}, "")]),
    ),
    Scenario(
        "A key is pressed until the picture shows the right entry",
        rounds(9, lambda r: [Call("press_key", {"key": "Down"}, "ok"), Call("screenshot", {}, f"entry {r}")]),
    ),
    Scenario("Enter is pressed again and again", [Call("press_key", {"key": "Enter"}, "")] * 3, (3, 3)),
    Scenario(
        "A key is pressed and the picture stays the same",
        rounds(3, lambda r: [Call("press_key", {"key": "Down"}, "ok"), Call("screenshot", {}, "entry 4")]),
        (5, 6),
    ),
    Scenario(
        "The next page is clicked for, and another row is read from each",
        rounds(8, lambda r: [Call("click", {"selector": ".next"}, "ok"), Call("extract", {"row": r}, f"row {r}")]),
    ),
    Scenario(
        "A page is scrolled, and another word is looked for each time",
        rounds(8, lambda r: [Call("browser_scroll", {"amount": 3}, "ok"), Call("find", {"text": f"{r}"}, "no match")]),
    ),
    Scenario("A button is clicked again and again", [Call("click", {"x": 9, "y": 4}, "ok")] * 3, (3, 3)),
    Scenario(
        "A button is clicked and the page stays the same",
        rounds(3, lambda r: [Call("browser_click", {"ref": "e5"}, "ok"), Call("browser_snapshot", {}, "page 1")]),
        (5, 6),
    ),
    Scenario(
        "A page is asked for again after a click further to the right each time",
        rounds(4, lambda r: [Call("fetch", {"url": "u"}, "empty"), Call("click", {"x": 10 * r, "y": 1}, "ok")]),
        (5, 5),
    ),
    Scenario(
        "A call fails at once in other words each time",
        [
            Call("fetch", {"url": "u"}, error=f"upstream said: {word}")
            for word in ("teapot", "kettle", "spoon", "fork", "knife")
        ],
        (5, 5),
    ),
    Scenario(
        "A call fails in other words each time, and something else is looked at in between",
        rounds(
            6,
            lambda r: [
                bash("make", error=("no rule", "bad cast", "unused", "shadowed", "goto", "loop")[r - 1]),
                Call("ask_colleague", {"question": r}, f"answer {r}"),
            ],
        ),
    ),
    Scenario(
        "A change is looked for by halves, and the test says yes and no in turn",
        rounds(
            8,
            lambda r: [
                bash("./test.sh", ("PASS", "FAIL")[r % 2]),
                bash(("git bisect good", "git bisect bad")[r % 2], f"Bisecting: {256 >> r} revisions left"),
            ],
        ),
    ),
    Scenario(
        "Tests are run again and again after each edit, with the same wait before",
        rounds(6, lambda r: [edit("a.py", f"{r}", f"{r + 1}"), sleep(3), bash("pytest", f"{9 - r} failed")]),
    ),
]
