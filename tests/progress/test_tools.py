from __future__ import annotations

from typing import Any

import pytest

from nudge.progress.loops import LoopTuning
from nudge.progress.tools import command_changes, command_of, wait_of_command, wait_of_tool


@pytest.mark.parametrize(
    "command",
    [
        "sed -i 's/a/b/' x.py",
        "sed -E -i.bak s/a/b/ x",
        "cd src && sed -ri s/a/b/ x",
        "perl -pi -e 's/a/b/' x",
        "echo x > a.txt",
        "echo x >> a.txt",
        "cat > m.py <<'EOF'\nx = 1\nEOF",
        "make 2>build.log",
        "printf x | tee a.txt",
        "sudo mv a b",
        "mkdir -p x; ls",
        "(cp a b)",
        "git commit -qm 'x'",
        "git -C repo checkout main",
        "git apply fix.patch",
        "patch -p1 < fix.diff",
        "npm ci",
        "uv pip install httpx",
        "pip3 install -U pip",
        "go get ./...",
    ],
)
def test_commands_that_change_something(command: str) -> None:
    assert command_changes(command_of({"command": command}))
    assert command_changes(command_of({"cmd": ["bash", "-lc", command]}))


@pytest.mark.parametrize(
    "command",
    [
        "ls -la",
        "pytest -q 2>&1 | tail",
        "grep -rn x . 2>/dev/null",
        "grep '>' a.txt",
        "awk '$1 > 5' a.txt",
        "git status",
        "git push",
        "git log --oneline",
        "git diff > /dev/null",
        "sed -n 1,5p a.txt",
        "perl -ne 'print' a",
        "npm test",
        "npm run build",
        "cargo test --release",
        "go test ./...",
        "echo 'rm -rf /'",
        "echo a => b",
        "cat a->b",
        "",
        "x" * 3_000 + " > a",
    ],
)
def test_commands_that_do_not_or_are_not_known_to(command: str) -> None:
    assert not command_changes(command_of({"command": command}))


@pytest.mark.parametrize(
    "args", [None, {}, [], "sed -i x", {"command": 7}, {"command": []}, {"cmd": None}, {"path": ">"}]
)
def test_arguments_without_a_command(args: Any) -> None:
    assert command_of(args) == ""


@pytest.mark.parametrize(
    ("command", "seconds"),
    [
        ("sleep 30", 30),
        (" sleep 2m ;", 120),
        ("sleep 0.5", 0.5),
        ("sleep 5 && curl u", -1),
        ("echo sleep 5", -1),
        ("", -1),
    ],
)
def test_how_long_a_command_only_sleeps(command: str, seconds: float) -> None:
    assert wait_of_command(command) == seconds


@pytest.mark.parametrize(
    ("args", "seconds"),
    [
        ({"seconds": 7}, 7),
        ({"duration_ms": 1_500}, 1.5),
        ({"until": "done", "timeout": 9}, 9),
        ({"forever": True}, 0),
        ({"key": "Enter"}, 0),
        (None, 0),
        ("2 seconds", 0),
    ],
)
def test_how_long_a_tool_only_waits(args: Any, seconds: float) -> None:
    assert wait_of_tool(args) == seconds


@pytest.mark.parametrize(
    ("tool", "changes", "passing"),
    [
        ("edit_file", True, False),
        ("MultiEdit", True, False),
        ("mcp__fs__write_file", True, False),
        ("apply_patch", True, False),
        ("str_replace_based_edit_tool", True, False),
        ("dispatch_agent", False, False),
        ("credit_check", False, False),
        ("list_edits", False, False),
        ("get_edit_history", False, False),
        ("read_file", False, False),
        ("compress", False, False),
        ("sleep", False, True),
        ("wait_for_child", False, True),
        ("browser_wait_for", False, True),
        ("browser_press_key", False, True),
        ("press", False, True),
        ("keyword_search", False, False),
    ],
)
def test_what_the_name_of_a_tool_tells(tool: str, changes: bool, passing: bool) -> None:
    about = LoopTuning().about(tool)
    assert (about.changes, about.passing) == (changes, passing)


def test_a_tool_that_is_named_as_changing_is_changing_whatever_its_name() -> None:
    assert LoopTuning(changing_tools=("list_append",)).about("List_Append").changes
