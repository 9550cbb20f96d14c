"""A recorded session of a real coding task (302 tool calls with their true results) goes through the guard without one
false alarm: tests that fail first, failures that fall, syntax errors fixed one by one, files read again, batches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nudge import Guard

RECORDED = Path(__file__).parent / "recorded" / "textstats.jsonl"
CALLS: list[dict[str, Any]] = [json.loads(line) for line in RECORDED.read_text(encoding="utf-8").splitlines()]


def replay(calls: list[dict[str, Any]]) -> list[tuple[int, str]]:
    """What the guard says about the calls, by their numbers. The budget is never what it complains about."""
    guard = Guard(max_tokens=50_000_000, max_duration=None)
    said = []
    for number, one in enumerate(calls, 1):
        assert guard.before_call("claude-sonnet-5-5", 2_000 + 300 * number, 4_096)
        guard.after_call({"input_tokens": 1_000 + 300 * number, "output_tokens": 120})
        said += [(number, nudge.text) for nudge in guard.said(one["say"])] if one["say"] else []
        verdict = guard.before_tool(one["tool"], one["input"])
        if not verdict:
            said.append((number, verdict.reason))
        told = {"error": one["result"]} if one["is_error"] else {"result": one["result"]}
        said += [(number, nudge.text) for nudge in guard.after_tool(one["tool"], one["input"], **told)]
    return said


def test_three_hundred_calls_give_no_false_alarm() -> None:
    assert len(CALLS) >= 300
    assert sum(one["is_error"] for one in CALLS) >= 15
    assert replay(CALLS) == []


def test_the_same_session_stuck_in_the_middle_is_noticed() -> None:
    stuck = [*CALLS[:100], *[CALLS[100]] * 6]
    assert any("repeating" in text or "Doom loop" in text for _, text in replay(stuck))
