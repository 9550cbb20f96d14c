"""A walk through nudge stays short: no step of it may pass more modules than it does today."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "walks"

MOST = {
    "sentence → timer": 65,
    "due → message": 41,
    "message → reply": 48,  # intents, own words and what a ping led to are looked at on the way
    "hold → settle": 28,
}
"""Lower a figure when a walk got shorter; never raise one."""


def test_no_walk_passes_more_modules_than_it_did() -> None:
    run = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=True)
    counted = {name.strip(): int(count) for name, count in re.findall(r"^(.+ → .+?) +(\d+)$", run.stdout, re.M)}
    assert counted.keys() == MOST.keys()
    assert min(counted.values()) > 5, "the trace saw nothing"
    assert {name: count for name, count in counted.items() if count > MOST[name]} == {}
