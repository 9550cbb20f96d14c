"""How nudge looks: one set of colours and one set of words for states, for the command line, the dashboard, the web
page, the simulation's page and e-mails.

A surface asks for the tone of a state (`tone_of`) and draws it in its own way: `ANSI` on a terminal, `LIGHT` and `DARK`
where there are real colours. No other module names a colour.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Tone(StrEnum):
    """What a colour says. The value is the name of the colour in `LIGHT` and `DARK`, and a class of the web page."""

    GOOD = "good"
    WARN = "warn"
    BAD = "bad"
    INFO = "info"
    SOFT = "soft"


ANSI: Mapping[Tone, int] = {Tone.GOOD: 32, Tone.WARN: 33, Tone.BAD: 31, Tone.INFO: 36, Tone.SOFT: 90}
"""The sixteen colours that every terminal has, in the shade its owner chose."""

LIGHT: Mapping[str, str] = {
    "page": "#f7f7f4",
    "card": "#ffffff",
    "ink": "#16181d",
    "soft": "#5b616e",
    "faint": "#9298a5",
    "line": "#e4e4de",
    "grid": "#efefea",
    "quiet": "#ececf3",
    "bucket": "#c9d6ea",
    "bucket-line": "#7f9cc9",
    "briefing": "#2a6fdb",
    "heartbeat": "#e2692d",
    "reminder": "#12956a",
    "notice": "#7a55c7",
    "said": "#6b7280",
    "green": "#2e9e5b",
    "yellow": "#c98a06",
    "red": "#cf3d3d",
    "good": "#1c7a43",
    "warn": "#8a5d00",
    "bad": "#b22a2a",
    "on-bad": "#ffffff",
    "info": "#1f5cbd",
    "focus": "#2a6fdb",
    "shadow": "#0000000a",
}
"""Colours by use: surfaces and lines, the marks of a chart, the fill of a meter, and tones that can be read as text."""

DARK: Mapping[str, str] = {
    "page": "#131519",
    "card": "#1b1e24",
    "ink": "#eceef2",
    "soft": "#a4abb8",
    "faint": "#717988",
    "line": "#2c313a",
    "grid": "#242830",
    "quiet": "#232533",
    "bucket": "#2d3f5c",
    "bucket-line": "#6f94cf",
    "briefing": "#6aa5ff",
    "heartbeat": "#ff9a5c",
    "reminder": "#3fcf9b",
    "notice": "#b398f2",
    "said": "#a4abb8",
    "green": "#4bc27c",
    "yellow": "#e3b341",
    "red": "#f07070",
    "good": "#5fd28f",
    "warn": "#e8bd55",
    "bad": "#ff8f8f",
    "on-bad": "#1a0b0b",
    "info": "#8fbaff",
    "focus": "#6aa5ff",
    "shadow": "#0000000a",
}

_TONES: Mapping[str, Tone] = {
    # a meter
    "green": Tone.GOOD,
    "yellow": Tone.WARN,
    "red": Tone.BAD,
    # an agent
    "awake": Tone.GOOD,
    "winding_down": Tone.WARN,
    "asleep": Tone.WARN,
    "budget_exceeded": Tone.BAD,
    # an outcome
    "fired": Tone.GOOD,
    "fired-late": Tone.WARN,
    "deferred": Tone.INFO,
    "missed": Tone.BAD,
    "failed": Tone.BAD,
    "unknown": Tone.BAD,
    # a reminder
    "active": Tone.GOOD,
    "paused": Tone.WARN,
    # a session
    "queued": Tone.INFO,
    "working": Tone.GOOD,
    "waiting": Tone.INFO,
    "done": Tone.GOOD,
    "stopped": Tone.WARN,
    # a check
    "ok": Tone.GOOD,
    "warning": Tone.WARN,
    "error": Tone.BAD,
}


LINES: Mapping[str, Tone | None] = {
    "say": None,
    "call": Tone.INFO,
    "ok": Tone.SOFT,
    "error": Tone.BAD,
    "nudge": Tone.WARN,
    "heard": Tone.GOOD,
}
"""The lines of a session: what the model says has no colour, so that it stands out from what happens around it."""


def tone_of(state: str) -> Tone:
    """The tone of any state: an outcome's result, a meter's colour, a reminder's status. What needs no eye is soft.

    >>> tone_of("fired-late"), tone_of("suppressed")
    (<Tone.WARN: 'warn'>, <Tone.SOFT: 'soft'>)
    """
    return _TONES.get(state, Tone.SOFT)


def state_words(state: str, until: str | None = None) -> str:
    """An agent's spending state as people read it, with the time it ends if it only waits for that.

    >>> state_words("winding_down"), state_words("budget_exceeded", "00:00"), state_words("awake", "00:00")
    ('winding down', 'budget exceeded until 00:00', 'awake')
    """
    words = state.replace("_", " ")
    return f"{words} until {until}" if until and state in ("asleep", "budget_exceeded") else words


def painted(text: str, tone: Tone | None, enabled: bool) -> str:
    """The text in a terminal's colour, if colours are enabled.

    >>> painted("fired", Tone.GOOD, enabled=False)
    'fired'
    """
    return f"\033[{ANSI[tone]}m{text}\033[0m" if enabled and tone else text


def css() -> str:
    """The colours as custom properties of a style sheet, for both themes."""

    def block(colours: Mapping[str, str]) -> str:
        return " ".join(f"--{name}: {value};" for name, value in colours.items())

    return (
        f":root {{ color-scheme: light dark; {block(LIGHT)} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {block(DARK)} }} }}\n"
    )
