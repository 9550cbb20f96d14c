"""Repeated calls whose results are not known or do not matter, cycles, parallel calls, and thresholds set by hand."""

from __future__ import annotations

from tests.progress.loop_steps import Call, Person, Says, Scenario, bash, edit, read, rounds, together


class Opaque:
    """Something JSON cannot say, whose repr carries an address."""


PLAIN = [
    Scenario("The same file is read three times and nothing is known of the results", [read("a.py")] * 3, (3, 3)),
    Scenario("The same file is read twice", [read("a.py")] * 2),
    Scenario(
        "The same arguments arrive in another order of keys",
        [
            Call("grep", {"pattern": "x", "path": "src"}),
            Call("grep", {"path": "src", "pattern": "x"}),
            Call("grep", {"pattern": "x", "path": "src"}),
        ],
        (3, 3),
    ),
    Scenario(
        "Nested arguments arrive in another order of keys",
        [Call("query", {"where": where}) for where in ({"a": 1, "b": [2]}, {"b": [2], "a": 1}, {"a": 1, "b": [2]})],
        (3, 3),
    ),
    Scenario(
        "The arguments are raw JSON text with other spaces each time",
        [Call("grep", text) for text in ('{"a":1,"b":2}', '{"b": 2, "a": 1}', '{ "a" : 1 , "b" : 2 }')],
        (3, 3),
    ),
    Scenario("One tool is called with other arguments each time", [read(f"{n}.py") for n in range(12)]),
    Scenario("Three tools are called with the same arguments", [Call(t, {"path": "a"}) for t in ("stat", "cat", "rm")]),
    Scenario("A call without arguments is made three times", [Call("list_tasks")] * 3, (3, 3)),
    Scenario(
        "Three identical calls lie among others, all inside the window",
        [
            read("a.py"),
            *[read(f"x{n}") for n in range(8)],
            read("a.py"),
            *[read(f"y{n}") for n in range(8)],
            read("a.py"),
        ],
        (19, 19),
    ),
    Scenario(
        "The third identical call comes when the first two have left the window",
        [read("a.py"), read("a.py"), *[read(f"x{n}") for n in range(19)], read("a.py")],
    ),
    Scenario(
        "The arguments hold an object that JSON cannot say",
        [Call("render", {"scene": Opaque(), "size": n}) for n in (1, 1, 1)],
        (3, 3),
    ),
    Scenario(
        "A reference file is opened now and then over a long piece of work",
        rounds(
            4,
            lambda r: [read("docs/api.md", "the api"), *[read(f"src/{r}-{n}.py", f"code {r} {n}") for n in range(19)]],
        ),
    ),
]

CYCLES = [
    Scenario("Two calls take turns", rounds(3, lambda r: [read("a", "A"), read("b", "B")]), (5, 6)),
    Scenario("Two calls take turns and no results are known", rounds(3, lambda r: [read("a"), read("b")]), (5, 6)),
    Scenario("Three calls take turns", rounds(3, lambda r: [read("a", "A"), read("b", "B"), read("c", "C")]), (7, 9)),
    Scenario(
        "Read, an edit that does not match, tests that fail, and again",
        rounds(
            3,
            lambda r: [
                read("a.py", "code"),
                Call("edit_file", {"path": "a.py", "old": "cod", "new": "x"}, error="old text not found"),
                bash("pytest", "1 failed", error="exit 1"),
            ],
        ),
        (7, 9),
    ),
    Scenario(
        "Four files are read in a circle",
        rounds(3, lambda r: [read(name, f"text of {name}") for name in ("c.txt", "k.txt", "s.txt", "v.txt")]),
        (9, 12),
    ),
    Scenario("Eight calls in a circle", rounds(3, lambda r: [read(f"{n}", f"text {n}") for n in range(8)]), (17, 24)),
    Scenario(
        "Two calls take turns with a new look at something between",
        rounds(3, lambda r: [read("a", "A"), Call("grep", {"q": r}, f"hits {r}"), read("b", "B")]),
        (7, 9),
    ),
    Scenario(
        "Five calls in a circle, each followed by two others that are new",
        rounds(
            3,
            lambda r: [
                step
                for n in range(5)
                for step in (
                    read(f"{n}", f"text {n}"),
                    Call("grep", {"q": [r, n]}, "x"),
                    Call("ls", {"d": [r, n]}, "y"),
                )
            ],
        ),
        (31, 45),
    ),
    Scenario(
        "Eight calls in a circle, each followed by one that is new",
        rounds(
            3, lambda r: [s for n in range(8) for s in (read(f"{n}", f"text {n}"), Call("grep", {"q": [r, n]}, "x"))]
        ),
        (33, 48),
    ),
    Scenario(
        "A change is made, tested, taken back, tested, and made again",
        rounds(
            3,
            lambda r: [
                edit("a.py", "x = 1", "x = 2"),
                bash("pytest", "test_low failed"),
                edit("a.py", "x = 2", "x = 1"),
                bash("pytest", "test_high failed"),
            ],
        ),
        (9, 12),
    ),
    Scenario(
        "The agent talks between the calls of a circle",
        rounds(3, lambda r: [Says(f"Let me look again, round {r}."), read("a", "A"), read("b", "B")]),
        (8, 9),
    ),
    Scenario(
        "Two calls in one breath, the same pair in each step, in changing order",
        [
            together(read("a", "A"), read("b", "B")),
            together(read("b", "B"), read("a", "A")),
            together(read("a", "A"), read("b", "B")),
        ],
        (3, 3),
    ),
    Scenario(
        "A circle in which one call brings something new each round",
        rounds(8, lambda r: [read("todo.md", "the list"), Call("take_next", {}, f"item {r}"), Call("beep", {}, "")]),
    ),
    Scenario(
        "Two files are looked at now and then in a long search",
        rounds(4, lambda r: [read("a", "A"), read("b", "B"), *[Call("grep", {"q": [r, n]}, "x") for n in range(16)]]),
    ),
    Scenario(
        "Each file is read twice, and then the first one again",
        [read("a", "A"), read("a", "A"), read("b", "B"), read("b", "B"), read("a", "A")],
        (5, 5),
    ),
    Scenario(
        "A file is read, edited for real and read again in every round of a circle",
        rounds(
            6,
            lambda r: [
                read("a.py", f"version {r}"),
                edit("a.py", f"{r}", f"{r + 1}"),
                bash("make", "ok"),
                bash("git diff --stat", "a.py | 2 +-"),
            ],
        ),
    ),
]

STEPS = [
    Scenario("One call is asked for five times in one breath", [together(*[read("a", "A")] * 5)]),
    Scenario("One call is asked for twice in each of two breaths", [together(*[read("a", "A")] * 2)] * 2),
    Scenario("One call is asked for twice in each of three breaths", [together(*[read("a", "A")] * 2)] * 3, (3, 3)),
    Scenario("Nine different files are read in one breath", [together(*[read(f"{n}", "text") for n in range(9)])] * 2),
    Scenario(
        "The person asks for the same thing again and again",
        rounds(6, lambda r: [Person("once more please"), bash("make demo", "demo ran")]),
    ),
    Scenario(
        "The person steps in before the third time",
        [read("a", "A"), read("a", "A"), Person("look again"), read("a", "A"), read("a", "A")],
    ),
    Scenario(
        "After the person stepped in the circle begins anew",
        [read("a", "A"), read("a", "A"), Person("look again"), read("a", "A"), read("a", "A"), read("a", "A")],
        (6, 6),
    ),
]

TUNED = [
    Scenario("With a threshold of five the fifth call is a loop", [read("a", "A")] * 5, (5, 5), {"threshold": 5}),
    Scenario(
        "A tool for waiting has a threshold of its own",
        [Call("wait_for_child", {"id": 1}, "still running")] * 9,
        None,
        {"tool_thresholds": (("wait_*", 10),)},
    ),
    Scenario(
        "A tool for waiting reaches its own threshold",
        [Call("wait_for_child", {"id": 1}, "still running")] * 10,
        (10, 10),
        {"tool_thresholds": (("wait_*", 10),)},
    ),
    Scenario(
        "A smaller window forgets sooner",
        [read("a"), read("a"), *[read(f"x{n}") for n in range(5)], read("a")],
        None,
        {"window": 6},
    ),
    Scenario(
        "An argument that only explains the call is ignored on request",
        [Call("bash", {"command": "ls", "description": f"look around {n}"}) for n in range(3)],
        (3, 3),
        {"volatile_keys": ("description",)},
    ),
    Scenario(
        "Cycles are not looked for on request",
        rounds(3, lambda r: [s for n in range(8) for s in (read(f"{n}", "t"), Call("grep", {"q": [r, n]}, "x"))]),
        None,
        {"max_cycle": 1},
    ),
]
