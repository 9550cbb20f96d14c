"""Calls that fail, and arguments that differ in nothing that matters."""

from __future__ import annotations

from tests.progress.loop_steps import Call, Scenario, bash, edit, read, rounds, together

ERRORS = [
    Scenario(
        "The same call fails with another request id each time",
        [Call("fetch", {"url": "u"}, error=f"500 internal error (request id req_8f{n}a21b{n})") for n in range(3)],
        (3, 3),
    ),
    Scenario(
        "The same call fails with another time, process id and address each time",
        [
            Call(
                "run",
                {"job": "x"},
                error=f"[10:0{n}:59] worker {4100 + n} crashed at 0x7f3a{n}c00: no connection to 10.0.0.{n}:54{n}2",
            )
            for n in range(3)
        ],
        (3, 3),
    ),
    Scenario(
        "The same call fails with another temporary path and line each time",
        [bash("make", error=f"/tmp/build-{n}8231/main.c:{10 + n}: undefined reference to `init'") for n in range(3)],
        (3, 3),
    ),
    Scenario(
        "The same call raises the same exception",
        [Call("load", {"name": "x"}, error=KeyError("x")) for _ in range(3)],
        (3, 3),
    ),
    Scenario(
        "The same build fails with another error after each edit",
        rounds(
            6,
            lambda r: [
                edit("a.c", f"old {r}", f"new {r}"),
                bash(
                    "make",
                    error=("missing semicolon", "unknown type", "no such member", "bad cast", "unused x", "shadowed y")[
                        r - 1
                    ],
                ),
            ],
        ),
    ),
    Scenario(
        "Fewer tests fail after each edit, and the text comes as an error",
        rounds(
            10,
            lambda r: [
                edit("a.py", f"bug {r}", f"fix {r}"),
                bash("pytest -q", error=f"{11 - r} failed, {r} passed in 1.{r}s"),
            ],
        ),
    ),
    Scenario(
        "Fewer tests fail after each edit, and the test command differs a little each time",
        rounds(
            10,
            lambda r: [
                edit("a.py", f"bug {r}", f"fix {r}"),
                bash(f"pytest -q --maxfail={20 + r}", error=f"{11 - r} failed, {r} passed in 1.{r}s"),
            ],
        ),
    ),
    Scenario(
        "The type checker finds fewer errors after each edit",
        rounds(
            9,
            lambda r: [
                edit("a.py", f"bug {r}", f"fix {r}"),
                bash("mypy .", error=f"Found {30 - 3 * r} errors in {10 - r} files (checked 80 source files)"),
            ],
        ),
    ),
    Scenario(
        "A test runner that counts failures and errors apart finds fewer after each edit",
        rounds(
            8,
            lambda r: [
                edit("A.java", f"bug {r}", f"fix {r}"),
                bash("mvn test", error=f"Tests run: 40, Failures: {9 - r}, Errors: {r % 2}, Skipped: 0"),
            ],
        ),
    ),
    Scenario(
        "Syntax errors are fixed one by one and the line moves on",
        rounds(
            9,
            lambda r: [
                edit("a.py", f"bug {r}", f"fix {r}"),
                bash("python -m compileall -q a.py", error=f"SyntaxError: invalid syntax (a.py, line {7 * r})"),
            ],
        ),
    ),
    Scenario(
        "A compiler stops at the first error, and each fix takes it further",
        rounds(
            9,
            lambda r: [
                edit("a.c", f"bug {r}", f"fix {r}"),
                bash("make", error=f"a.c:{11 * r}:5: error: expected ';' before '}}' token"),
            ],
        ),
    ),
    Scenario(
        "Fewer and fewer parts of a service are not ready, and nothing is edited",
        [bash("kubectl wait --for=condition=Ready pods", error=f"{9 - n} errors: pods not ready") for n in range(8)],
    ),
    Scenario(
        "As many tests fail after each edit, and the text comes as an error",
        rounds(
            7,
            lambda r: [
                edit("a.py", f"try {r}", f"try {r + 1}"),
                bash("pytest -q", error=f"3 failed, 9 passed in 0.{r}1s"),
            ],
        ),
        (10, 12),
    ),
    Scenario(
        "More tests fail after each edit, and the text comes as an error",
        rounds(
            7,
            lambda r: [
                edit("a.py", f"try {r}", f"try {r + 1}"),
                bash("pytest -q", error=f"{2 + r} failed, {20 - r} passed in 0.{r}1s"),
            ],
        ),
        (10, 12),
    ),
    Scenario(
        "The number of failing tests goes up and down with each edit and never below what it was",
        rounds(
            8,
            lambda r: [
                edit("a.py", f"try {r}", f"try {r + 1}"),
                bash("pytest -q", error=f"{(4, 3)[r % 2]} failed in 0.{r}1s"),
            ],
        ),
        (10, 14),
    ),
    Scenario(
        "The syntax error stays in its line whatever is edited",
        rounds(
            7,
            lambda r: [
                edit("a.py", f"try {r}", f"try {r + 1}"),
                bash("python a.py", error="SyntaxError: invalid syntax (a.py, line 12)"),
            ],
        ),
        (10, 12),
    ),
    Scenario(
        "A request with a smaller number each time fails after each edit",
        rounds(
            7,
            lambda r: [
                edit("a.py", f"try {r}", f"try {r + 1}"),
                bash("./deploy", error=f"request {90_000 - 7 * r} failed"),
            ],
        ),
        (10, 12),
    ),
    Scenario(
        "Edits with other search texts fail with the same words five times",
        [
            Call("edit_file", {"path": "a.py", "old": f"guess {n}"}, error="old text not found in a.py")
            for n in range(5)
        ],
        (5, 5),
    ),
    Scenario(
        "The failing edits are not hidden by reads that work",
        rounds(
            6,
            lambda r: [
                Call("edit_file", {"path": "a.py", "old": f"guess {r}"}, error="old text not found in a.py"),
                read(f"part{r}", f"text {r}"),
            ],
        ),
        (9, 11),
    ),
    Scenario(
        "Three names are guessed before the file is found",
        [
            *[
                Call("read_file", {"path": p}, error=f"no such file: {p}")
                for p in ("conf.toml", "config.toml", "settings.toml")
            ],
            read("app.toml", "port = 1"),
            *[Call("read_file", {"path": p}, error=f"no such file: {p}") for p in ("a", "b", "c")],
        ],
    ),
    Scenario(
        "Seven files that are missing are asked for in one breath",
        [together(*[Call("read_file", {"path": f"{n}"}, error="no such file") for n in range(7)])],
    ),
    Scenario(
        "A tool fails the same way once in a while",
        rounds(
            8,
            lambda r: [Call("fetch", {"url": r}, error="gone"), *[read(f"{r}-{n}", "text") for n in range(5)]],
        ),
    ),
    Scenario(
        "Different calls of one tool fail for different reasons",
        [
            bash(f"step {n}", error=f"step {word} is not possible")
            for n, word in enumerate(("one", "two", "three", "four", "five", "six"))
        ],
    ),
    Scenario(
        "Seven different searches by a shell find nothing, which it calls exit code 1",
        [bash(f"grep -rn {word} src", error="exit code 1") for word in ("a", "b", "c", "d", "e", "f", "g")],
    ),
    Scenario(
        "A shell fails with nothing but an exit code whatever it is given",
        [bash(f"./tool --try {n}", error=f"Exit code {n}") for n in range(1, 12)],
        (10, 10),
    ),
    Scenario(
        "A call fails twice because of a time-out and then works",
        [*[Call("fetch", {"url": "u"}, error="timed out after 30 s")] * 2, Call("fetch", {"url": "u"}, "the page")],
    ),
    Scenario(
        "An edit fails, the file is read again, and the edit is made right",
        rounds(
            4,
            lambda r: [
                Call("edit_file", {"path": f"{r}.py", "old": "x"}, error="old text not found"),
                read(f"{r}.py", f"real text {r}"),
                edit(f"{r}.py", "real", "new"),
            ],
        ),
    ),
    Scenario(
        "What the person declined is asked for again and again",
        [bash("rm -rf build", error="declined by the person")] * 3,
        (3, 3),
    ),
    Scenario(
        "A record that is not there is asked for under five ids",
        [Call("get_issue", {"id": 100 + n}, error=f"404: issue {100 + n} does not exist") for n in range(5)],
        (5, 5),
    ),
]

VOLATILE = [
    Scenario(
        "Only the request id differs", [Call("search", {"q": "x", "request_id": f"r-{n}"}) for n in range(3)], (3, 3)
    ),
    Scenario(
        "Only the timestamp differs",
        [Call("search", {"q": "x", "timestamp": 1771581000 + n}) for n in range(3)],
        (3, 3),
    ),
    Scenario(
        "Only a nested id of the trace differs",
        [Call("search", {"q": "x", "meta": {"traceId": f"t{n}", "lang": "en"}}) for n in range(3)],
        (3, 3),
    ),
    Scenario(
        "Only a random unique id differs",
        [Call("save", {"text": "x", "marker": f"7c9e667{n}-7425-40de-944b-e07fc1f90ae7"}) for n in range(3)],
        (3, 3),
    ),
    Scenario(
        "Only the name of the temporary folder differs",
        [bash(f"cat /tmp/tmp{name}/out.txt") for name in ("k3j2h1_a", "zz81_qpw", "0a9s8d7f")],
        (3, 3),
    ),
    Scenario(
        "Only a number against caching in the address differs",
        [bash(f"curl -s 'http://localhost/health?ts=17715810{n}0'") for n in range(3)],
        (3, 3),
    ),
    Scenario(
        "Only the id of the call itself differs",
        [Call("ls", {"dir": ".", "tool_call_id": f"c{n}"}) for n in range(3)],
        (3, 3),
    ),
    Scenario(
        "Different records are fetched by their unique ids",
        [Call("get_order", {"shop": "a", "order_id": f"7c9e667{n}-7425-40de-944b-e07fc1f90ae7"}) for n in range(6)],
    ),
    Scenario(
        "The only argument is a unique id and it differs",
        [Call("get", {"uuid": f"7c9e667{n}-7425-40de-944b-e07fc1f90ae7"}) for n in range(6)],
    ),
    Scenario(
        "Different files in the temporary folder are read",
        [read(f"/tmp/{name}.txt") for name in ("plan", "notes", "todo", "out")],
    ),
    Scenario(
        "The window of a query moves on",
        [Call("logs", {"since": f"2026-02-20T1{n}:00:00Z", "until": f"2026-02-20T1{n + 1}:00:00Z"}) for n in range(6)],
    ),
    Scenario(
        "The same reminder is set for different times",
        [Call("add_reminder", {"text": "drink", "at": f"2026-02-20T1{n}:00:00Z"}) for n in range(6)],
    ),
    Scenario(
        "A page number that only looks like a time",
        [Call("list", {"page": n, "user_id": 1771581000 + n}) for n in range(6)],
    ),
]
