"""kill -9 at every write point of a firing leaves the whole of it or nothing, and the work is then finished once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nudge.instants import MINUTE
from tests.reminders.crash import DUE

pytestmark = pytest.mark.process

HALF_HOUR = 30 * MINUTE
UNTOUCHED: dict[str, Any] = {
    "state": [0, None, "active", 0],
    "letters": [],
    "messages": [],
    "outcomes": [],
    "timer": HALF_HOUR,
}
WHOLE: dict[str, dict[str, Any]] = {
    "agent": {"state": [1, DUE, "active", 0], "letters": [1], "messages": [], "timer": 2 * HALF_HOUR},
    "person": {"state": [1, DUE, "completed", 0], "letters": [], "messages": ["sent"], "timer": None},
    "chain": {"state": [1, DUE, "active", 1], "letters": [], "messages": ["sent"], "timer": 2 * HALF_HOUR},
}
FIRED = [[HALF_HOUR, "fired", True]]


@pytest.mark.parametrize("scene", list(WHOLE))
def test_kill_nine_at_every_write_point(durable_url: str, tmp_path: Path, scene: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.reminders.crash", durable_url, scene, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    points = reports[-1]["points"]
    assert len(reports) == len(points) + 1
    assert {"reminders_lock", "reminders_save_state", "outcomes_record", "commit", "committed"} <= set(points)
    assert ("letters_put" if scene == "agent" else "outbox_put") in points
    for report in reports:
        where = f"killed at {report['points'][-1]} ({len(report['points'])})"
        crashed, finished = dict(report["crashed"]), dict(report["finished"])
        if not crashed["outcomes"]:
            assert crashed == UNTOUCHED, where
        else:
            messages = crashed.pop("messages")
            assert crashed.pop("outcomes") == FIRED, where
            assert crashed == {name: value for name, value in WHOLE[scene].items() if name != "messages"}, where
            assert len(messages) == len(WHOLE[scene]["messages"]), where
        assert finished.pop("outcomes") == FIRED, where
        assert finished == WHOLE[scene], where
        if scene != "agent":
            repeated = [again for _, again in report["sent"]]
            assert repeated in ([False], [False, True], [True]), where  # a second time only where it says so
