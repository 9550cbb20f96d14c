"""What each tool does, what it says when it cannot, and how results are cut."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nudge.model import ModelRequest, Purpose, user
from nudge.progress.tools import DEFAULT_TOOL_KINDS
from nudge.sandbox.choose import choose, unconfined
from nudge.tokens import most_tokens
from nudge.worker.sandbox import Limits
from nudge.worker.tool import ToolContext, ToolOutput, call, cut, definition
from nudge.worker.tools import ALL, TOOLS
from nudge.worker.workspace import Workspace


@pytest.fixture
def context(tmp_path: Path) -> Iterator[ToolContext]:
    with Workspace(tmp_path) as workspace:
        yield ToolContext(workspace, unconfined(), Limits(seconds=20))


def use(context: ToolContext, tool: str, **args: Any) -> ToolOutput:
    return asyncio.run(call(TOOLS[tool], args, context))


def test_a_model_can_be_told_of_every_tool() -> None:
    request = ModelRequest(Purpose.WORK, "", (), (user("go"),), 10, tools=tuple(map(definition, ALL)))
    assert len(request.tools) == len(TOOLS) == 8


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)
def test_a_tool_has_the_kind_that_the_governors_know_it_by(tool: Any) -> None:
    assert DEFAULT_TOOL_KINDS[tool.name] is tool.kind


@pytest.mark.parametrize(
    ("tool", "args", "said"),
    [
        pytest.param("read_file", {}, "path is missing.", id="a field is missing"),
        pytest.param("read_file", {"path": 3}, "path must be text.", id="a field of another type"),
        pytest.param("read_file", {"path": "a", "offset": 0}, "offset must be from 1", id="a number out of range"),
        pytest.param(
            "read_file", {"path": "a", "offset": True}, "offset must be a whole number", id="a flag is no number"
        ),
        pytest.param("read_file", {"path": "a", "x": 1}, "x is unknown; there is path, offset", id="an unknown field"),
        pytest.param(
            "plan", {"steps": [{"step": "a", "status": "maybe"}]}, "pending, active, done", id="an unknown word"
        ),
        pytest.param("read_file", {"path": "nope"}, "There is no nope. Use list_files", id="a file that is not there"),
        pytest.param("read_file", {"path": "a\0b"}, "NUL", id="a NUL in a path"),
        pytest.param("read_file", {"path": "."}, "the workspace itself", id="the workspace as a file"),
        pytest.param("edit_file", {"path": "f", "old": "", "new": "x"}, "'old' is empty", id="nothing to replace"),
    ],
)
def test_a_mistake_is_told_to_the_model(tool: str, args: dict[str, Any], said: str, context: ToolContext) -> None:
    output = use(context, tool, **args)
    assert output.is_error
    assert said in output.text


def test_a_file_is_read_in_parts_that_fit(context: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "long").write_text("".join(f"line {n}\n" for n in range(1, 2_001)))
    small = replace(context, most_tokens=500)
    seen, offset = [], 1
    while offset:
        output = use(small, "read_file", path="long", offset=offset)
        assert most_tokens(output.text) <= 500
        lines = output.text.splitlines()
        seen += [line.split("\t")[1] for line in lines if "\t" in line]
        offset = int(lines[-1].split("offset=")[1][:-2]) if "offset=" in lines[-1] else 0
    assert seen == [f"line {n}" for n in range(1, 2_001)]


def test_what_is_no_text_is_not_read(context: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "picture").write_bytes(b"\x89PNG\0\0")
    assert "is not text: 6 bytes" in use(context, "read_file", path="picture").text


def test_a_written_file_keeps_its_mode_and_other_names_their_content(context: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("old")
    (tmp_path / "run").chmod(0o755)
    (tmp_path / "other").hardlink_to(tmp_path / "run")
    assert use(context, "write_file", path="run", content="new\n").text == "Wrote run: 1 line, 4 bytes."
    assert ((tmp_path / "run").read_text(), (tmp_path / "run").stat().st_mode & 0o777) == ("new\n", 0o755)
    assert (tmp_path / "other").read_text() == "old"
    assert not use(context, "write_file", path="a/b/c", content="x").is_error


@pytest.mark.parametrize(
    ("old", "every", "said", "after"),
    [
        pytest.param("two", False, "Changed f in 1 place.", "one X\none\n", id="once"),
        pytest.param("one", False, "'old' is in f 2 times (lines 1, 2).", "one two\none\n", id="twice is a question"),
        pytest.param("one", True, "Changed f in 2 places.", "X two\nX\n", id="all of them"),
        pytest.param("one  two", False, "with other spaces", "one two\none\n", id="with other spaces"),
        pytest.param("three", False, "'old' is not in f. Read the file again", "one two\none\n", id="not there"),
    ],
)
def test_a_piece_is_replaced(
    old: str, every: bool, said: str, after: str, context: ToolContext, tmp_path: Path
) -> None:
    (tmp_path / "f").write_text("one two\none\n")
    assert said in use(context, "edit_file", path="f", old=old, new="X", all=every).text
    assert (tmp_path / "f").read_text() == after


def test_files_are_found_by_name(context: ToolContext, tmp_path: Path) -> None:
    for name in ("a.py", "src/b.py", "src/x/c.py", "src/x/c.txt", "node_modules/m.py", ".git/g.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("needle\n")
    assert use(context, "glob", pattern="*.py").text.split() == ["a.py", "src/b.py", "src/x/c.py"]
    assert use(context, "glob", pattern="src/*.py").text.split() == ["src/b.py"]
    assert use(context, "glob", pattern="src/**/*.py").text.split() == ["src/b.py", "src/x/c.py"]
    assert use(context, "glob", pattern="**/c.*", path="src").text.split() == ["src/x/c.py", "src/x/c.txt"]
    assert use(context, "glob", pattern="node_modules/*.py").text == "node_modules/m.py"
    assert use(context, "list_files", path="src").text.split("\n") == ["b.py  7", "x/"]


@pytest.mark.process
def test_contents_are_searched(context: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/b.py").write_text("one\nNeedle = 1\n")
    (tmp_path / "a.txt").write_text("needle\n" * 300)
    assert use(context, "grep", pattern="Needle").text == "src/b.py:2:Needle = 1"
    assert use(context, "grep", pattern="needle", include="*.py", ignore_case=True).text == "src/b.py:2:Needle = 1"
    assert use(context, "grep", pattern="needle").text.endswith("[100 more matches left out. Use a narrower pattern.]")
    assert use(context, "grep", pattern="nope").text == "No match for nope."
    assert use(context, "grep", pattern="(").is_error


@pytest.mark.process
def test_a_command_says_how_it_ended(context: ToolContext) -> None:
    assert use(context, "bash", command="true").text == "[exit 0, no output]"
    assert use(context, "bash", command="echo hi; exit 3") == ToolOutput("hi\n[exit 3]", is_error=True)
    assert use(context, "bash", command="kill -9 $$").text == "[ended by signal 9]"
    assert "Stopped after 1 s" in use(context, "bash", command="echo x; sleep 60", timeout=1).text


@pytest.mark.process
def test_a_secret_in_a_result_is_taken_out(context: ToolContext) -> None:
    output = use(replace(context, secrets=("sk-12345678",)), "bash", command="echo key=sk-12345678")
    assert "sk-12345678" not in output.text


@pytest.mark.process
@pytest.mark.parametrize(
    ("arm", "undone"),
    [
        pytest.param("echo evil > .git/hooks/post-commit", ".git/hooks/post-commit", id="a new hook"),
        pytest.param("echo evil > .git/hooks/pre-push", ".git/hooks/pre-push", id="a changed hook"),
        pytest.param("ln -s /bin/true .git/hooks/update", ".git/hooks/update", id="a hook that is a link"),
        pytest.param("git config core.hooksPath evil", ".git/config", id="hooks somewhere else"),
        pytest.param("git config core.fsmonitor ./evil", ".git/config", id="a monitor"),
        pytest.param("git config alias.st '!evil'", ".git/config", id="an alias"),
        pytest.param("git init -q --bare d/x; git -C d/x config core.pager evil", "d/x/config", id="a bare one"),
        pytest.param("git init -q --bare .; git config -f config core.pager evil", "config", id="the workspace itself"),
        pytest.param("git init -q s; echo evil > s/.git/hooks/pre-push", "s/.git/hooks/pre-push", id="nested"),
    ],
)  # fmt: skip
def test_what_would_run_later_is_undone(arm: str, undone: str, context: ToolContext, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".git/hooks/pre-push").write_text("theirs")
    output = use(context, "bash", command=arm)
    assert f"[Undone: {undone} would run a program later, outside the sandbox.]" in output.text
    left = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".sample")
    assert "evil" not in left
    assert (tmp_path / ".git/hooks/pre-push").read_text() == "theirs"
    assert subprocess.run(["git", "-C", str(tmp_path), "status"], capture_output=True, check=False).returncode == 0


@pytest.mark.process
def test_ordinary_use_of_git_is_left_alone(context: ToolContext, tmp_path: Path) -> None:
    output = use(
        context,
        "bash",
        command="git init -q . && git config user.name A && git config user.email a@b.c && git remote add o ../x"
        " && touch f && git add f && git commit -qm x && git log --oneline | wc -l",
    )
    assert output.text.strip() == "1"


def test_a_plan_is_shown_with_what_is_done(context: ToolContext) -> None:
    steps = [{"step": "read", "status": "done"}, {"step": "fix"}]
    assert use(context, "plan", steps=steps).text == "[x] read\n[ ] fix"


@pytest.mark.parametrize(
    "text",
    ["word " * 50_000, "1;2,3\n" * 20_000, "你好" * 20_000, "x" * 100_000],
    ids=["words", "signs", "Chinese", "x"],
)
@pytest.mark.parametrize("tokens", [100, 1_000, 10_000])
def test_a_result_never_has_more_tokens_than_it_may(text: str, tokens: int) -> None:
    short = cut(text, tokens)
    assert most_tokens(short) <= tokens
    assert "left out" in short


@pytest.mark.process
def test_commands_run_in_the_strongest_sandbox_there_is(context: ToolContext) -> None:
    inside = replace(context, sandbox=choose())
    assert inside.sandbox.confines
    assert use(inside, "bash", command="echo hi > made; cat made").text == "hi"
    assert use(inside, "grep", pattern="hi").text == "made:1:hi"
