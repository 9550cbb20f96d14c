"""The daemon's status in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nudge.durations import distance, span
from nudge.instants import Instant, parse_rfc3339
from nudge.palette import Tone, painted, state_words, tone_of


def _daemon(status: Mapping[str, Any], now: Instant) -> str:
    if status["pid"] is None:
        return "not running; this is what the database says"
    up = span(now - parse_rfc3339(status["started_at"]))
    return f"running, process {status['pid']}, up {up}, nudge {status['version']}"


def status_text(status: Mapping[str, Any], *, colour: bool = False) -> str:
    """The lines of `nudge status`. What is wrong comes first, in colour."""
    now = parse_rfc3339(status["now"])
    next_due = status["next_due"]
    rows = [
        ("daemon", _daemon(status, now)),
        ("home", status["home"]),
        ("agents", ", ".join(status["agents"]) or "none"),
        ("timers", f"{status['timers']:,}; next {distance(parse_rfc3339(next_due) - now) if next_due else 'none'}"),
    ]
    if status["pid"] is not None:
        rows.append(("fired", f"{status['fired']:,} since the start; {status['busy_lanes']} running now"))
    spending: Mapping[str, Any] = status.get("spending") or {}
    for agent, money in spending.items():
        meter = painted(f"{money['percent']}% used", tone_of(money["colour"]), colour)
        held = f", {money['held_percent']}% held" if money["held_percent"] else ""
        rows.append(("budget", f"{agent}: {meter}{held}, {state_words(money['state'])}"))
    urgent = [f"{agent}: {money['banner']}" for agent, money in spending.items() if money["banner"]]
    problems = []
    for problem in status.get("problems") or ():
        problems.append(painted(problem["text"], tone_of(problem["level"]), colour))
        if problem["next_step"]:
            problems.append(f"  next: {problem['next_step']}")
    return "\n".join(
        [
            *(painted(text, Tone.BAD, colour) for text in urgent),
            *problems,
            *(f"{name:<8}{value}" for name, value in rows),
        ]
    )
