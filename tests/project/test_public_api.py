from __future__ import annotations

import subprocess
import sys

import pytest

import nudge
import nudge.testing


@pytest.mark.parametrize("name", [name for name in nudge.__all__ if name != "__version__"])
def test_every_exported_name_is_there_and_documented(name: str) -> None:
    assert getattr(nudge, name).__doc__


@pytest.mark.parametrize("name", nudge.testing.__all__)
def test_every_fake_is_there_and_documented(name: str) -> None:
    assert getattr(nudge.testing, name).__doc__


@pytest.mark.parametrize("module", ["nudge.testing.anthropic_server", "nudge.testing.telegram_server"])
def test_a_fake_that_is_a_program_starts_without_a_warning(module: str) -> None:
    done = subprocess.run([sys.executable, "-m", module, "--help"], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = nudge.nonsense  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = nudge.testing.nonsense


def test_importing_nudge_loads_nothing_heavy() -> None:
    code = "import sys, nudge; print(*sorted(name.partition('.')[0] for name in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"asyncio", "sqlite3", "pydantic", "dateutil", "httpx2", "anthropic", "structlog", "zoneinfo", "psycopg"}
    assert "nudge" in loaded
    assert not heavy & set(loaded)


def test_the_typed_names_and_the_loaded_names_are_the_same() -> None:
    from pathlib import Path

    text = Path(nudge.__file__).read_text()
    typed = {line.split(" as ")[1].strip() for line in text.splitlines() if line.startswith("    from nudge.")}
    assert typed == set(nudge.__all__) - {"__version__"}
