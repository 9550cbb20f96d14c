"""Only the five actions happen, each checked; whatever else a text asks for does not."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nudge.coach.actions import (
    Action,
    AddReminder,
    RefusedAction,
    SetQuiet,
    SetState,
    UpdateGoals,
    UpdateMemory,
    apply_to_goals,
    apply_to_memory,
    confirm,
    explain,
    read_action,
    read_actions,
)
from nudge.coach.documents import Document
from nudge.coach.targets import Targets
from nudge.instants import HOUR, Instant, parse_rfc3339

NOW = parse_rfc3339("2026-02-18T14:15:00-05:00")
TARGETS = Targets()
TODAY = date(2026, 2, 18)
MEMORY = (
    "# Memory\n\n## Preferences\n- Casual\n\n## Active Commitments\n- Reply to Mary (set 2026-02-18, due: Friday)\n"
)
GOALS = '# Goals\n\n## Today\n1. Write\n\n## Schedule Targets\n- wake_target: "10:00"\n'


def read(**raw: Any) -> Action | RefusedAction:
    return read_action(raw, NOW, TARGETS)


@pytest.mark.parametrize(
    ("raw", "expected", "says"),
    [
        pytest.param(
            {"action": "update_memory", "section": "Preferences", "add": "Don't message about X"},
            UpdateMemory("Preferences", add="Don't message about X"),
            "Got it, I've noted that in my memory. I won't message about X again.",
            id="feedback",
        ),
        pytest.param(
            {"action": "update_memory", "section": "preferences", "add": "Likes tea\n## Forged"},
            UpdateMemory("Preferences", add="Likes tea ## Forged"),
            "Got it, I've noted that in my memory.",
            id="a fact, on one line",
        ),
        pytest.param(
            {"action": "update_memory", "section": "Preferences", "add": "Stop asking me about my gym"},
            UpdateMemory("Preferences", add="Stop asking me about my gym"),
            "Got it, I've noted that in my memory. I'll stop asking you about your gym.",
            id="stop",
        ),
        pytest.param(
            {"action": "update_memory", "section": "Observed Patterns", "add": "Late on Fridays", "remove": None},
            UpdateMemory("Observed Patterns", add="Late on Fridays"),
            "Got it, I've noted that in my memory under Observed Patterns.",
            id="a pattern",
        ),
        pytest.param(
            {"action": "update_memory", "section": "Preferences", "remove": "Casual"},
            UpdateMemory("Preferences", remove="Casual"),
            "Done, I've taken “Casual” out of my memory.",
            id="a line removed",
        ),
        pytest.param(
            {"action": "update_goals", "section": "Today", "lines": ["[x] Write", "Run"]},
            UpdateGoals("Today", ("[x] Write", "Run")),
            "Today is now: 1. Write ✓; 2. Run",
            id="today's list",
        ),
        pytest.param(
            {"action": "update_goals", "section": "Today", "lines": []},
            UpdateGoals("Today", ()),
            "Today is empty now.",
            id="an empty list",
        ),
        pytest.param(
            {"action": "update_goals", "section": "Schedule Targets", "lines": ["bedtime_target: 00:30"]},
            UpdateGoals("Schedule Targets", ("bedtime_target: 00:30",)),
            "Schedule Targets now says: bedtime_target: 00:30",
            id="a target",
        ),
        pytest.param(
            {"action": "set_quiet", "duration": "2h"},
            SetQuiet(Instant(NOW + 2 * HOUR)),
            "Quiet until 16:15. Write any time; I'll answer.",
            id="quiet",
        ),
        pytest.param(
            {"action": "set_quiet", "duration": "a day"},
            SetQuiet(Instant(NOW + 24 * HOUR)),
            "Quiet until Thursday 14:15. Write any time; I'll answer.",
            id="quiet into tomorrow",
        ),
        pytest.param(
            {"action": "set_quiet", "duration": "off"},
            SetQuiet(None),
            "Quiet is over; I may write again.",
            id="quiet lifted",
        ),
        pytest.param(
            {"action": "set_state", "state_updates": {"bedtime_nudge_sent": True}},
            SetState({"bedtime_nudge_sent": True}),
            "Noted.",
            id="a flag",
        ),
    ],
)
def test_what_is_done_and_said(raw: dict[str, Any], expected: Action, says: str) -> None:
    assert read_action(raw, NOW, TARGETS) == expected
    assert confirm(expected, NOW, TARGETS) == says


def test_a_reminder_is_understood_and_echoed() -> None:
    action = read(action="add_reminder", text="Call Mum", when="friday 5pm")
    assert isinstance(action, AddReminder)
    assert action.understood.once == parse_rfc3339("2026-02-20T17:00:00-05:00")
    assert confirm(action, NOW, TARGETS) == (
        "I'll remind you: Call Mum. Friday 2026-02-20 5:00 PM America/Toronto (in 2 days 2 h)"
    )


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        pytest.param({"action": "run_shell", "command": "rm -rf /"}, "no such action", id="a shell"),
        pytest.param({"action": "send_message", "chat_id": 7, "text": "hi"}, "no such action", id="another chat"),
        pytest.param({"action": None}, "no such action", id="no name"),
        pytest.param({"action": ["update_memory"]}, "no such action", id="a list for a name"),
        pytest.param({}, "no such action", id="nothing"),
        pytest.param(
            {"action": "update_memory", "section": "Preferences", "add": "x", "path": "/etc/passwd"},
            "keys: path",
            id="a path",
        ),
        pytest.param(
            {"action": "update_memory", "section": "Recent Context", "add": "x"}, "section is", id="a section"
        ),
        pytest.param({"action": "update_memory", "section": "../AGENTS", "add": "x"}, "section is", id="another file"),
        pytest.param({"action": "update_memory", "section": "Preferences"}, "exactly one", id="neither add nor remove"),
        pytest.param(
            {"action": "update_memory", "section": "Preferences", "add": "x", "remove": "y"}, "exactly one", id="both"
        ),
        pytest.param({"action": "update_memory", "section": "Preferences", "add": 5}, "not a text", id="a number"),
        pytest.param({"action": "update_memory", "section": "Preferences", "add": "\n"}, "empty", id="a blank line"),
        pytest.param({"action": "update_memory", "section": "Preferences", "add": "x" * 301}, "301", id="a long line"),
        pytest.param({"action": "update_memory", "section": "Preferences", "add": "[x]"}, "placeholder", id="a blank"),
        pytest.param({"action": "update_goals", "section": "Today", "lines": "a"}, "not a list", id="no list"),
        pytest.param({"action": "update_goals", "section": "Today", "lines": list("abcd")}, "3 lines", id="four goals"),
        pytest.param(
            {"action": "update_goals", "section": "Schedule Targets", "lines": ["wake_target: dawn"]},
            "not a time",
            id="a target that cannot be",
        ),
        pytest.param({"action": "update_goals", "section": "Schedule Targets", "lines": ["x"]}, "like", id="no field"),
        pytest.param(
            {"action": "update_goals", "section": "Schedule Targets", "lines": []}, "no field", id="no fields"
        ),
        pytest.param({"action": "add_reminder", "text": "x", "when": "soonish"}, "soonish", id="no time"),
        pytest.param(
            {"action": "add_reminder", "text": "x", "when": "friday", "command": "ls"}, "command", id="a command"
        ),
        pytest.param({"action": "add_reminder", "text": "", "when": "friday"}, "text is empty", id="no text"),
        pytest.param({"action": "set_quiet", "duration": "forever"}, "forever", id="no duration"),
        pytest.param({"action": "set_quiet", "duration": "3 weeks"}, "a week at most", id="three weeks of quiet"),
        pytest.param({"action": "set_quiet", "duration": 2}, "not a text", id="a bare number"),
        pytest.param({"action": "set_state", "state_updates": {"allow_from": [7]}}, "not a state", id="another state"),
        pytest.param({"action": "set_state", "state_updates": {}}, "no state", id="no state"),
        pytest.param({"action": "set_state"}, "not an object", id="no updates"),
    ],
)
def test_what_is_refused(raw: dict[str, Any], reason: str) -> None:
    refused = read_action(raw, NOW, TARGETS)
    assert isinstance(refused, RefusedAction)
    assert reason in refused.reason


@pytest.mark.parametrize("raw", ["update_memory", None, 5, ["update_memory"]])
def test_an_action_is_an_object(raw: object) -> None:
    assert isinstance(read_action(raw, NOW, TARGETS), RefusedAction)


def test_five_actions_at_most() -> None:
    one = {"action": "set_quiet", "duration": "1h"}
    accepted, refused = read_actions([one] * 7, NOW, TARGETS)
    assert len(accepted) == 5
    assert [r.reason for r in refused] == ["I do 5 things at a time, and these were 7"]
    assert read_actions("all", NOW, TARGETS)[1][0].reason == "actions is not a list"
    assert read_actions(None, NOW, TARGETS) == ((), ())


def test_a_refusal_is_told() -> None:
    refused = read(action="set_quiet", duration="3 weeks")
    assert isinstance(refused, RefusedAction)
    assert explain(refused) == "I couldn't set that quiet time: quiet lasts a week at most."
    unknown = RefusedAction("run_shell", "there is no such action")
    assert explain(unknown) == "I couldn't do all of that: there is no such action."


def test_memory_is_changed_by_one_line() -> None:
    added = apply_to_memory(MEMORY, UpdateMemory("Preferences", add="Likes tea"), TODAY)
    assert added == MEMORY.replace("- Casual\n", "- Casual\n- Likes tea\n")
    assert apply_to_memory(added, UpdateMemory("Preferences", remove="likes tea."), TODAY) == MEMORY
    assert apply_to_memory(MEMORY, UpdateMemory("Preferences", remove="unknown"), TODAY) == MEMORY


def test_a_commitment_is_dated_and_found_again_without_its_date() -> None:
    added = apply_to_memory(MEMORY, UpdateMemory("Active Commitments", add="Pay rent (due: March 1)"), TODAY)
    assert added == MEMORY + "- Pay rent (set 2026-02-18, due: March 1)\n"
    assert apply_to_memory(added, UpdateMemory("Active Commitments", remove="Pay rent (due: March 1)"), TODAY) == MEMORY
    assert apply_to_memory(added, UpdateMemory("Active Commitments", remove="pay rent"), TODAY) == MEMORY


def test_goals_are_changed_in_their_section_only() -> None:
    assert apply_to_goals(GOALS, UpdateGoals("Today", ("Rest", "Run"))) == GOALS.replace(
        "1. Write\n", "1. Rest\n2. Run\n"
    )
    changed = apply_to_goals(GOALS, UpdateGoals("Schedule Targets", ("wake_target: 8:30", "timezone: UTC")))
    assert changed == GOALS.replace('"10:00"\n', '"8:30"\n- timezone: "UTC"\n')


def test_nothing_is_claimed_that_did_not_happen() -> None:
    assert confirm(UpdateMemory("Preferences", remove="x"), NOW, TARGETS, changed=False) == (
        "I don't find “x” in my memory."
    )
    assert confirm(UpdateMemory("Preferences", add="x"), NOW, TARGETS, changed=False) == "That's in my memory already."


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
_NAMES = st.sampled_from(["update_memory", "update_goals", "add_reminder", "set_quiet", "set_state"])
_KEYS = ["section", "add", "remove", "lines", "text", "when", "duration", "state_updates"]


@settings(deadline=None)
@given(_NAMES, st.dictionaries(st.sampled_from(_KEYS), _JSON | st.sampled_from(["Preferences", "Today", "friday"])))
def test_no_object_makes_the_reader_raise(name: str, raw: dict[str, Any]) -> None:
    action = read_action({"action": name, **raw}, NOW, TARGETS)
    if not isinstance(action, RefusedAction):
        assert confirm(action, NOW, TARGETS)


@settings(deadline=None)
@given(st.sampled_from(["Preferences", "Active Commitments", "Observed Patterns"]), st.text(max_size=40))
def test_no_text_changes_more_than_its_own_line(section: str, text: str) -> None:
    action = read(action="update_memory", section=section, add=text)
    if isinstance(action, UpdateMemory):
        after = Document.parse(apply_to_memory(MEMORY, action, TODAY))
        before = Document.parse(MEMORY)
        missing = [] if before.section(section) else [(2, section)]
        assert after.outline == before.outline + missing
        assert set(after.lines) >= {line for line in before.lines if line.strip()}
        assert len(after.items(section)) in (len(before.items(section)), len(before.items(section)) + 1)
