from __future__ import annotations

import json
from typing import Any

import pytest

from nudge.errors import UsageError
from nudge.progress.injection import Urgency
from nudge.progress.phases import Phase, PhaseTracker, has_plan
from nudge.progress.tools import ToolKind, ToolKinds

EXPLORATION, PLANNING, ACTING, VERIFYING, WRAPUP = Phase
SATURATED = "You've read {} files without making edits. Consider transitioning to the action phase."
UNPLANNED = "You're making edits without a clear plan."
STUCK = "You appear to be repeating the same actions."
PLAN = "Here is my plan:\n1. Change the parser\n2. Run the tests"


def after(*steps: str) -> PhaseTracker:
    tracker = PhaseTracker()
    for step in steps:
        tracker.record_message(step[8:]) if step.startswith("message:") else tracker.record_tool(step)
    return tracker


@pytest.mark.parametrize(
    ("steps", "phase"),
    [
        pytest.param([], EXPLORATION, id="a run starts by exploring"),
        pytest.param(["read_file"], EXPLORATION, id="reading explores"),
        pytest.param(["glob"], EXPLORATION, id="globbing explores"),
        pytest.param(["grep"], EXPLORATION, id="searching explores"),
        pytest.param(["list_files"], EXPLORATION, id="listing explores"),
        pytest.param(["todo_write"], PLANNING, id="a todo list is a plan"),
        pytest.param(["plan"], PLANNING, id="a plan tool plans"),
        pytest.param(["update_plan"], PLANNING, id="another plan tool plans"),
        pytest.param([f"message:{PLAN}"], PLANNING, id="a message with a plan plans"),
        pytest.param(["message:I will look at the code."], EXPLORATION, id="a message without a plan does not"),
        pytest.param(["plan", "read_file"], EXPLORATION, id="reading before any edit explores again"),
        pytest.param(["plan", "bash"], PLANNING, id="a command before edits leaves planning alone"),
        pytest.param(["bash"], EXPLORATION, id="a command before edits leaves exploring alone"),
        pytest.param(["read_file", "write_file"], ACTING, id="writing acts"),
        pytest.param(["read_file", "edit_file"], ACTING, id="editing acts"),
        pytest.param(["read_file", "edit_file", "read_file"], ACTING, id="reading after an edit stays in acting"),
        pytest.param(["read_file", "edit_file", "grep"], ACTING, id="searching after an edit stays in acting"),
        pytest.param(["read_file", "edit_file", "todo_write"], ACTING, id="ticking off a plan stays in acting"),
        pytest.param(["read_file", "edit_file", f"message:{PLAN}"], ACTING, id="a plan after an edit stays in acting"),
        pytest.param(["edit_file", "bash"], VERIFYING, id="a command after an edit verifies"),
        pytest.param(["edit_file", "bash", "read_file"], VERIFYING, id="reading a failure stays in verifying"),
        pytest.param(["edit_file", "bash", "edit_file"], ACTING, id="fixing goes back to acting"),
        pytest.param(["edit_file", "bash", "edit_file", "bash"], VERIFYING, id="and to verifying again"),
        pytest.param(["edit_file", "ask_the_weather"], ACTING, id="an unknown tool changes nothing"),
        pytest.param(["Read", "Edit", "Bash"], VERIFYING, id="other harnesses spell them otherwise"),
    ],
)
def test_phases(steps: list[str], phase: Phase) -> None:
    assert after(*steps).phase is phase


def test_a_report_says_whether_the_phase_is_new() -> None:
    tracker = PhaseTracker()
    assert [tracker.record_tool(tool).changed for tool in ("grep", "plan", "plan", "edit_file", "edit_file")] == [
        False,
        True,
        False,
        True,
        False,
    ]
    assert not tracker.record_message("Done with that.").changed
    assert tracker.wrap_up().phase is WRAPUP
    assert tracker.record_tool("edit_file").phase is WRAPUP
    tracker.begin_task()
    assert tracker.phase is EXPLORATION


def nudges(tracker: PhaseTracker, *tools: str, **options: Any) -> list[str]:
    return [nudge.text for tool in tools for nudge in tracker.record_tool(tool, **options).nudges]


def test_reading_ten_files_without_an_edit_nudges_once_per_spell() -> None:
    tracker = PhaseTracker()
    assert nudges(tracker, *["read_file"] * 9) == []
    assert nudges(tracker, "read_file") == [SATURATED.format(10)]
    assert nudges(tracker, *["read_file"] * 30) == []
    assert nudges(tracker, "edit_file", *["read_file"] * 9) == []
    assert nudges(tracker, "read_file") == [SATURATED.format(10)]


def test_searching_is_not_reading_files() -> None:
    assert nudges(PhaseTracker(saturation=2), "grep", "glob", "list_files", "read_file", "bash", "plan") == []


def test_the_same_file_again_is_no_second_file() -> None:
    tracker = PhaseTracker(saturation=2)
    assert nudges(tracker, *["read_file"] * 5, target="big.log") == []
    assert nudges(tracker, "read_file", target="other.log") == [SATURATED.format(2)]


@pytest.mark.parametrize("threshold", [1, 3, 25])
def test_the_saturation_threshold_is_configurable(threshold: int) -> None:
    tracker = PhaseTracker(saturation=threshold)
    assert nudges(tracker, *["read_file"] * (threshold - 1)) == []
    assert nudges(tracker, "read_file") == [SATURATED.format(threshold)]


def test_memory_stays_small_however_much_is_read() -> None:
    tracker = PhaseTracker(saturation=5)
    for number in range(1_000):
        tracker.record_tool("read_file", target=f"{number}.py")
    assert len(tracker.to_json()["seen"]) == 5


@pytest.mark.parametrize(
    ("before", "warned"),
    [
        pytest.param([], True, id="editing blindly"),
        pytest.param(["bash"], True, id="a command is no exploration"),
        pytest.param(["read_file"], False, id="after reading"),
        pytest.param(["grep"], False, id="after searching"),
        pytest.param(["todo_write"], False, id="after planning with a tool"),
        pytest.param([f"message:{PLAN}"], False, id="after planning in words"),
    ],
)
def test_edits_without_exploration_or_plan_are_nudged_once(before: list[str], warned: bool) -> None:
    tracker = after(*before)
    assert nudges(tracker, "edit_file") == ([UNPLANNED] if warned else [])
    assert nudges(tracker, "edit_file", "bash", "edit_file") == []
    tracker.begin_task()
    assert nudges(tracker, "edit_file") == [UNPLANNED]


def test_a_loop_is_nudged_once_per_spell() -> None:
    tracker = PhaseTracker()
    assert nudges(tracker, "grep", "grep", "grep", looping=True) == [STUCK]
    assert nudges(tracker, "grep") == []
    report = tracker.record_tool("grep", looping=True)
    assert [(nudge.text, nudge.urgency) for nudge in report.nudges] == [(STUCK, Urgency.WARNING)]


def test_two_nudges_may_come_together() -> None:
    assert nudges(PhaseTracker(saturation=1), "read_file", looping=True) == [STUCK, SATURATED.format(1)]


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        pytest.param(PLAN, True, id="announced, with numbers"),
        pytest.param("## Plan\n\n- read\n- write\n", True, id="a heading and bullets"),
        pytest.param("**Implementation plan:**\n\n1) read\n2) write", True, id="bold, with brackets"),
        pytest.param("My plan is to rewrite the parser.", True, id="one sentence"),
        pytest.param("Plan:\n1. only one step", False, id="one step is no plan"),
        pytest.param("1. read\n2. write", False, id="a list without the word"),
        pytest.param("I have no plan yet.\n1. a\n2. b", False, id="the word in passing"),
        pytest.param("# The planet\n- a\n- b", False, id="another word"),
        pytest.param("```\n# plan\n- a\n- b\n```", False, id="inside a code fence"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_plans_in_messages(text: str, plan: bool) -> None:
    assert has_plan(text) is plan


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        pytest.param("mcp__files__read_text", ToolKind.READ, id="a pattern"),
        pytest.param("mcp__files__read_secret", ToolKind.RUN, id="a name beats a pattern"),
        pytest.param("mcp__files__write", ToolKind.EDIT, id="patterns in their order"),
        pytest.param("MCP__Files__Write", ToolKind.EDIT, id="case does not matter"),
        pytest.param("bash", ToolKind.EDIT, id="what is given beats the defaults"),
        pytest.param("grep", ToolKind.SEARCH, id="defaults stay"),
        pytest.param("weather", None, id="unknown"),
    ],
)
def test_the_table_of_tools(tool: str, kind: ToolKind | None) -> None:
    kinds = ToolKinds(
        {
            "mcp__*__read_*": "read",
            "mcp__*": ToolKind.EDIT,
            "mcp__files__read_secret": "run",
            "Bash": "edit",
        }
    )
    assert kinds[tool] is kind


def test_a_tracker_uses_the_table_it_is_given() -> None:
    tracker = PhaseTracker({"sql_*": "run", "migrate": "edit"})
    tracker.record_tool("migrate")
    assert tracker.record_tool("sql_check").phase is VERIFYING


def test_a_tracker_survives_json() -> None:
    tracker = PhaseTracker(saturation=3)
    for target in ("a", "b"):
        tracker.record_tool("read_file", target=target)
    tracker.record_tool("grep", looping=True)
    copy = PhaseTracker(saturation=3)
    copy.restore(json.loads(json.dumps(tracker.to_json())))
    assert copy.to_json() == tracker.to_json()
    assert nudges(copy, "read_file", target="a", looping=True) == []
    assert nudges(copy, "read_file", target="c", looping=True) == [SATURATED.format(3)]


@pytest.mark.parametrize("data", [{}, {"phase": "dancing"}, {"phase": "acting", "reads": 1, "seen": None}], ids=str)
def test_a_damaged_checkpoint_is_refused(data: dict[str, Any]) -> None:
    tracker = after("read_file", "edit_file")
    with pytest.raises(UsageError, match="phase tracker"):
        tracker.restore(data)
    assert tracker.phase is ACTING


def test_nonsense_is_refused() -> None:
    with pytest.raises(UsageError, match="saturation"):
        PhaseTracker(saturation=0)
    with pytest.raises(UsageError, match="kind of tool"):
        PhaseTracker({"bash": "dance"})
