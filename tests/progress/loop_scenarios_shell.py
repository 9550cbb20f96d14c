"""Agents whose only tool is a shell, tools that both look and edit, and arguments that only explain a call."""

from __future__ import annotations

from tests.progress.loop_steps import Call, Scenario, bash, rounds

SHELL = [
    Scenario(
        "Files are edited in place by a shell and the tests pass each time",
        rounds(8, lambda r: [bash(f"sed -i 's/a{r}/b{r}/' m{r}.py", ""), bash("pytest -q", f"41 passed in 2.0{r}s")]),
    ),
    Scenario(
        "Files are written by a shell, staged and committed",
        rounds(
            8,
            lambda r: [
                bash(f"cat > m{r}.py <<'EOF'\nx = {r}\nEOF", ""),
                bash("git add -A", ""),
                bash(f"git commit -qm 'step {r}'", ""),
            ],
        ),
    ),
    Scenario(
        "Files are moved by a shell and the compiler is content each time",
        rounds(6, lambda r: [bash(f"git mv a{r} b{r}", ""), bash("npx tsc --noEmit", "")]),
    ),
    Scenario(
        "One package after the other is installed and the tests pass each time",
        rounds(5, lambda r: [bash(f"npm install p{r}", f"added {r} packages"), bash("npm test", "ok")]),
    ),
    Scenario(
        "The build fails with another error after each edit by a shell",
        rounds(
            6,
            lambda r: [
                bash(f"perl -pi -e 's/{r}/x/' a.c", ""),
                bash("make", error=("semicolon", "type", "member", "cast", "unused", "shadow")[r - 1]),
            ],
        ),
    ),
    Scenario(
        "The tests fail in the same way whatever a shell edits",
        rounds(7, lambda r: [bash(f"sed -i 's/{r}/x/' a.py", ""), bash("pytest -q", f"3 failed in 1.{r}s")]),
        (10, 12),
    ),
    Scenario(
        "A shell edits back and forth between two versions",
        rounds(
            3,
            lambda r: [
                bash("sed -i s/a/b/ x", ""),
                bash("make", error="bad a"),
                bash("sed -i s/b/a/ x", ""),
                bash("make", error="bad b"),
            ],
        ),
        (9, 12),
    ),
    Scenario(
        "New looks by a shell in between are no edits",
        rounds(3, lambda r: [bash("pytest -q", "1 failed"), bash(f"grep -n 'x{r} > 1' a.py 2>/dev/null", f"{r}: x")]),
        (5, 5),
    ),
    Scenario(
        "A tool that can edit only shows files in between",
        rounds(
            3,
            lambda r: [
                bash("ls", "a b"),
                Call("str_replace_based_edit_tool", {"command": "view", "path": f"{r}"}, f"text {r}"),
            ],
        ),
        (5, 5),
    ),
    Scenario(
        "A tool whose name only sounds like an edit is called in between",
        rounds(3, lambda r: [bash("ls", "a b"), Call("dispatch_agent", {"prompt": f"{r}"}, f"found {r}")]),
        (5, 5),
    ),
    Scenario(
        "The same command is described in other words each time",
        [
            Call("Bash", {"command": "npm test", "description": words}, "1 failing")
            for words in ("Run the tests", "Run the tests again", "Execute the test suite")
        ],
        (3, 3),
    ),
    Scenario(
        "The same search is explained in other words each time",
        [
            Call("codebase_search", {"query": "auth", "explanation": words}, "nothing")
            for words in ("To find the login", "Looking for the login", "Where is the login?")
        ],
        (3, 3),
    ),
    Scenario(
        "Different tickets are opened, and their descriptions are what they are about",
        [Call("create_ticket", {"queue": "ops", "description": f"disk {n} is full"}, "created") for n in range(6)],
    ),
    Scenario(
        "The same command with other spaces",
        [bash(command, "1 failed") for command in ("pytest -q", "pytest  -q ", "pytest -q\n")],
        (3, 3),
    ),
    Scenario(
        "Commands that differ in the spaces of a quoted text",
        [bash(f"grep '{' ' * n}x' a.py", "no match") for n in range(1, 7)],
    ),
    Scenario(
        "The arguments are raw JSON and the shell edits between the tests",
        rounds(
            5,
            lambda r: [
                Call("shell", f'{{"command": ["bash", "-lc", "sed -i s/{r}/x/ a.py"]}}', ""),
                Call("shell", '{"command": ["bash", "-lc", "pytest"]}', "41 passed"),
            ],
        ),
    ),
]
