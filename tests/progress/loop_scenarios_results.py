"""Calls whose results are known: what a changed result excuses and what it does not."""

from __future__ import annotations

from tests.progress.loop_steps import Call, Later, Scenario, bash, edit, read, rounds

RESULTS = [
    Scenario("The same call brings the same result three times", [read("a.py", "print(1)")] * 3, (3, 3)),
    Scenario(
        "The progress of a job is asked for until it is done",
        [Call("job_status", {"id": 7}, f"{percent}% done") for percent in range(0, 101, 10)],
    ),
    Scenario(
        "A job is asked for twice while it runs and is then done",
        [Call("job_status", {"id": 7}, state) for state in ("running", "running", "done", "done")],
    ),
    Scenario(
        "A job answers the same word again and again",
        [Call("job_status", {"id": 7}, "running")] * 3,
        (3, 3),
    ),
    Scenario(
        "A job answers only how long it has been running",
        [Call("job_status", {"id": 7}, f"running, elapsed 0:0{n}:1{n}") for n in range(3)],
        (3, 3),
    ),
    Scenario(
        "A file is read again after each edit and has changed",
        rounds(8, lambda r: [read("a.py", f"version {r}"), edit("a.py", f"v{r}", f"v{r + 1}")]),
    ),
    Scenario(
        "The tests run again after each edit and fail less and less",
        rounds(
            8,
            lambda r: [
                edit("a.py", f"bug {r}", f"fix {r}"),
                bash("pytest -q", f"{9 - r} failed, {r} passed in 1.{r}s"),
            ],
        ),
    ),
    Scenario(
        "The tests fail in the same way whatever is edited",
        rounds(
            7, lambda r: [edit("a.py", f"try {r}", f"try {r + 1}"), bash("pytest -q", f"3 failed, 9 passed in 0.{r}1s")]
        ),
        (10, 12),
    ),
    Scenario(
        "Each new edit mends one test and breaks the other",
        rounds(
            10,
            lambda r: [
                edit("a.py", f"try {r}", f"try {r + 1}"),
                bash("pytest", ("test_a failed", "test_b failed")[r % 2]),
            ],
        ),
    ),
    Scenario(
        "The tests are run twice after each edit and still fail the same way",
        [
            bash("pytest", "test_a failed"),
            bash("pytest", "test_a failed"),
            edit("a.py", "1", "2"),
            bash("pytest", "test_a failed"),
            bash("pytest", "test_a failed"),
            edit("a.py", "2", "3"),
            bash("pytest", "test_a failed"),
        ],
    ),
    Scenario(
        "The linter is content after each of twelve edits",
        rounds(12, lambda r: [edit(f"m{r}.py", "a", "b"), bash("ruff check .", "All checks passed!")]),
    ),
    Scenario(
        "The tests pass after each of nine edits and only their time differs",
        rounds(9, lambda r: [edit(f"m{r}.py", "a", "b"), bash("pytest -q", f"41 passed, 0 failed in 2.0{r}s")]),
    ),
    Scenario(
        "The tests fail the same way three times and nothing is edited in between",
        [bash("pytest -q", f"3 failed, 9 passed in 0.{r}7s") for r in range(3)],
        (3, 3),
    ),
    Scenario(
        "The failing tests are run again after a look at another file each time",
        rounds(3, lambda r: [bash("cargo test", "test result: FAILED. 1 failed"), read(f"src/{r}.rs", f"mod {r}")]),
        (5, 5),
    ),
    Scenario(
        "A long file is read page by page",
        [Call("read_file", {"path": "big.log", "offset": n * 200}, f"lines from {n}") for n in range(30)],
    ),
    Scenario(
        "The next page is asked for with the same words and is another one each time",
        [Call("next_page", {}, f"page {n}") for n in range(2, 20)],
    ),
    Scenario(
        "The last page is asked for again and again",
        [*[Call("next_page", {}, f"page {n}") for n in range(2, 6)], *[Call("next_page", {}, "page 5")] * 3],
        (6, 6),
    ),
    Scenario(
        "The output of a process is read by its handle and grows",
        [Call("read_output", {"handle": "p1"}, f"ModLoad: lib{n}.so") for n in range(25)],
    ),
    Scenario(
        "The button for the next month is clicked until the right month shows",
        [Call("click", {"name": "Next month"}, f"calendar: month {n}") for n in range(9)],
    ),
    Scenario(
        "The page is scrolled although it no longer moves",
        [
            *[Call("scroll", {"by": "page"}, f"paragraph {n}") for n in range(4)],
            *[Call("scroll", {"by": "page"}, "the end of the page")] * 3,
        ],
        (7, 7),
    ),
    Scenario(
        "A wait and a status call take turns and the build gets on",
        rounds(
            15, lambda r: [Call("sleep", {"seconds": 30}, ""), Call("build_status", {}, f"{r} of 15 targets built")]
        ),
    ),
    Scenario(
        "A wait and a status call take turns and nothing moves",
        rounds(3, lambda r: [Call("sleep", {"seconds": 30}, ""), Call("build_status", {}, "queued")]),
        (5, 6),
    ),
    Scenario(
        "Three children are asked in turn and each has done a little more",
        rounds(12, lambda r: [Call("child_output", {"child": c}, f"{c}: {r} files read") for c in ("a", "b", "c")]),
    ),
    Scenario(
        "Only the time in the result differs",
        [bash("make", f"2026-02-20 10:0{n}:11 nothing to be done") for n in range(3)],
        (3, 3),
    ),
    Scenario(
        "Only the duration differs in a result that is JSON text",
        [Call("search", {"q": "x"}, f'{{"hits": [], "took_ms": {n}, "elapsed": {n}.5}}') for n in range(3)],
        (3, 3),
    ),
    Scenario(
        "The same inside a block of content",
        [
            Call("search", {"q": "x"}, [{"type": "text", "text": f'{{"hits": [], "duration_ms": {n}, "pid": {n}}}'}])
            for n in range(3)
        ],
        (3, 3),
    ),
    Scenario(
        "The hits differ in a result that is JSON text",
        [Call("search", {"q": "x"}, f'{{"hits": {n}, "took_ms": 4}}') for n in range(9)],
    ),
    Scenario(
        "Only the duration, the process id and the start time in a structured result differ",
        [
            Call(
                "exec",
                {"cmd": "make"},
                {"exit": 2, "text": "no rule", "durationMs": 80 + n, "pid": 400 + n, "started_at": n},
            )
            for n in range(3)
        ],
        (3, 3),
    ),
    Scenario(
        "A number in a structured result shows progress",
        [Call("job", {"id": 1}, {"state": "running", "done": n * 10, "duration_ms": 5}) for n in range(10)],
    ),
    Scenario(
        "A batch number in the result is new every time",
        [
            Call("spawn", {"task": "check"}, f"batch 3f2a9c{n}e-0000-4000-8000-00000000000{n} failed after {n}12ms")
            for n in range(3)
        ],
        (3, 3),
    ),
    Scenario(
        "A switch is turned on and off and on again",
        rounds(3, lambda r: [Call("toggle", {"lamp": 1}, "on"), Call("toggle", {"lamp": 1}, "off")]),
        (5, 6),
    ),
    Scenario(
        "A measured value goes up and down",
        [Call("load", {}, f"{value}%") for value in (3, 4, 3, 5, 4, 3, 3, 4, 5, 5, 3, 4, 4, 3)],
    ),
    Scenario(
        "A file is written with the same content again and again, and each time it works",
        [Call("write_file", {"path": "a", "content": "x"}, "written")] * 3,
        (3, 3),
    ),
    Scenario(
        "An edit that changes nothing is made again and again",
        [edit("a.py", "same", "same", "No changes made")] * 3,
        (3, 3),
    ),
    Scenario(
        "Twelve files are written and each answer is the same word",
        [Call("write_file", {"path": f"{n}.txt", "content": "x"}, "ok") for n in range(12)],
    ),
    Scenario(
        "One document is rewritten with other words each time",
        [Call("write_file", {"path": "draft.md", "content": f"draft {n}"}, "ok") for n in range(12)],
    ),
    Scenario(
        "Seven different searches find nothing",
        [Call("grep", {"pattern": word}, "no matches") for word in ("a", "b", "c", "d", "e", "f", "g")],
    ),
    Scenario(
        "The agent is done and cannot stop: a command that does nothing between different farewells",
        [
            bash("echo 'All set.'", "All set."),
            bash("true", ""),
            bash("echo 'Done again.'", "Done again."),
            bash("true", ""),
            bash("echo 'Really done'", "Really done"),
            bash("true", ""),
        ],
        (6, 6),
    ),
    Scenario(
        "The state of the repository is looked at again after the push, and again",
        [
            bash("git status -sb", "## main...origin/main"),
            bash("git push", "Everything up-to-date"),
            bash("git status -sb", "## main...origin/main"),
            bash("git status -sb", "## main...origin/main"),
        ],
        (4, 4),
    ),
    Scenario(
        "Work is committed piece by piece and staging says nothing each time",
        rounds(
            6,
            lambda r: [
                edit(f"m{r}.py", "a", "b"),
                bash("git add -A", ""),
                bash(f"git commit -m 'step {r}'", f"[main {r}] step {r}"),
            ],
        ),
    ),
    Scenario(
        "One file after the other is moved and its importers are updated",
        rounds(
            6,
            lambda r: [
                Call("grep", {"pattern": f"comp{r}"}, f"{r} references"),
                bash(f"git mv a/comp{r} b/comp{r}", ""),
                edit(f"use{r}.ts", f"a/comp{r}", f"b/comp{r}"),
                bash("npx tsc --noEmit", ""),
            ],
        ),
    ),
    Scenario(
        "The same line is replaced again and again in forward steps",
        [edit("a.py", f"x = {n}", f"x = {n + 1}") for n in range(10)],
    ),
    Scenario(
        "The result of each call comes later and changes",
        [Later(Call("job_status", {"id": 7}, f"{n} of 9")) for n in range(9)],
    ),
    Scenario(
        "The result of each call comes later and stays",
        [Later(Call("job_status", {"id": 7}, "running"))] * 3,
        (3, 3),
    ),
]
