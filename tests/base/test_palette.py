"""One place names colours, and every surface takes them from there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import nudge
from nudge.palette import ANSI, DARK, LIGHT, LINES, Tone, css, tone_of
from nudge.progress.store import SessionStatus
from nudge.queue.outcomes import Result
from nudge.reminders.reminder import Status
from nudge.spending.lifecycle import SpendingState

SOURCE = Path(nudge.__file__).parent
DRAWN = [
    path
    for path in sorted(SOURCE.rglob("*"))
    if path.suffix in (".py", ".css", ".js", ".html", ".md", ".tcss") and path.name != "palette.py"
]
NAMES = "red|green|yellow|blue|cyan|magenta|grey|gray|orange|bright_\\w+|ansi_\\w+"
LITERALS = {
    "a hexadecimal colour": r"#(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})\b(?![-\w])",
    "a colour function": r"\b(?:rgba?|hsla?|oklch)\(",
    "a terminal colour": r"(?:\\033|\\x1b|\\u001b)\[\d[\d;]*m",
    "a style by name": rf"(?:style|color|background)\s*[=:]\s*[\"']?(?:{NAMES}|black|white)\b",
    "a quoted colour": rf"[\"'](?:{NAMES})[\"']",
}
THE_METER = SOURCE / "spending" / "allowance.py"
"""Green, yellow and red are the words of the meter itself: part of its rule, of JSON and of the spec."""


@pytest.mark.parametrize("kind", LITERALS)
def test_no_other_module_names_a_colour(kind: str) -> None:
    literal = re.compile(LITERALS[kind], re.IGNORECASE)
    found = [
        f"{path.relative_to(SOURCE)}:{number}: {line.strip()[:90]}"
        for path in DRAWN
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if literal.search(line) and path != THE_METER and ">>>" not in line
    ]
    assert not found, "Take the colour from nudge/palette.py:\n" + "\n".join(found)


def test_both_themes_have_the_same_colours() -> None:
    assert list(LIGHT) == list(DARK)
    assert all(tone in LIGHT and tone in ANSI for tone in Tone)


def test_a_variable_that_a_style_sheet_uses_exists() -> None:
    from nudge.simulation.html import STYLE

    used = set(re.findall(r"var\(--([\w-]+)\)", STYLE + (SOURCE / "web/static/nudge.css").read_text(encoding="utf-8")))
    assert used <= set(LIGHT)
    assert all(f"--{name}:" in css() for name in LIGHT)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["ink", *Tone])
@pytest.mark.parametrize("ground", ["page", "card"])
def test_text_can_be_read_in_every_tone(theme: dict[str, str], name: str, ground: str) -> None:
    assert _contrast(theme[name], theme[ground]) >= 4.5
    assert _contrast(theme["on-bad"], theme[Tone.BAD]) >= 4.5


@pytest.mark.parametrize(
    ("states", "tones"),
    [
        pytest.param(SpendingState, ["good", "warn", "warn", "bad"], id="an agent"),
        pytest.param(SessionStatus, ["info", "good", "info", "good", "warn", "bad", "soft"], id="a session"),
        pytest.param(Status, ["good", "warn", "soft", "soft"], id="a reminder"),
    ],
)
def test_a_state_has_its_tone(states: type, tones: list[str]) -> None:
    assert [tone_of(state) for state in states] == tones  # type: ignore[attr-defined]


def test_only_outcomes_that_went_wrong_are_red() -> None:
    assert {result.value for result in Result if tone_of(result) is Tone.BAD} == {"missed", "failed", "unknown"}


def test_every_line_of_a_session_has_a_look() -> None:
    assert LINES["say"] is None
    assert set(LINES) == {"say", "call", "ok", "error", "nudge", "heard"}
