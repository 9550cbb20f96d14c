"""The daemon's status in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nudge.core.instants import parse_rfc3339
from nudge.surfaces.cli.render import distance, span


def status_text(status: Mapping[str, Any]) -> str:
    now = parse_rfc3339(status["now"])
    up = span(now - parse_rfc3339(status["started_at"]))
    next_due = status["next_due"]
    rows = [
        ("daemon", f"running, process {status['pid']}, up {up}, nudge {status['version']}"),
        ("home", status["home"]),
        ("agents", ", ".join(status["agents"]) or "none"),
        ("timers", f"{status['timers']:,}; next {distance(parse_rfc3339(next_due), now) if next_due else 'none'}"),
        ("fired", f"{status['fired']:,} since the start; {status['busy_lanes']} running now"),
    ]
    return "\n".join(f"{name:<8}{value}" for name, value in rows)
