"""Roles and routines that were written to do harm, or by somebody in a hurry: an error that names the file."""

from pathlib import Path

import pytest

from nudge.errors import ConfigError
from nudge.home.roles import load_role
from nudge.home.routines import read_routine

_PAIRS = zip("abcdefg", "bcdefgh", strict=True)
_NINE = "".join(f"{name}: &{name} [{', '.join([f'*{last}'] * 9)}]\n" for last, name in _PAIRS)

HOSTILE = [
    pytest.param("name: {a: " + "{a: " * 1_000, id="nested a thousand times"),
    pytest.param("name: " + "[" * 100_000, id="open brackets without end"),
    pytest.param("name: x\nschedule: {at: 2026-13-45}\n", id="a date that is none"),
    pytest.param(f"name: x\nschedule: {{count: {'9' * 5_000}}}\n", id="a number of five thousand digits"),
    pytest.param("a: &a [x, x, x]\n" + _NINE + "name: *h\n", id="anchors that multiply"),
    pytest.param("name: &n [*n]\n", id="an anchor that holds itself"),
    pytest.param("name: !!python/object/apply:os.system [id]\n", id="a tag that would run something"),
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_role_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match="hostile"):
        load_role(path)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_routine_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.md"
    path.write_text(f"---\n{text}\n---\nDo it.\n")
    with pytest.raises(ConfigError, match="hostile"):
        read_routine(path, "routines/hostile.md")
