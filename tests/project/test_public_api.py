from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

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
    """A type checker reads the source and we read the compiled code: both see the same list."""
    tree = ast.parse(Path(nudge.__file__).read_text())
    [block] = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    typed = {}
    for line in block.body:
        assert isinstance(line, ast.ImportFrom)
        for alias in line.names:
            assert alias.name == alias.asname, "only `X as X` is an export to a type checker"
            typed[alias.name] = line.module
    assert typed == nudge._places()
    assert nudge.__all__ == ["__version__", *sorted(typed)]
    assert dir(nudge) == sorted(nudge.__all__)


def test_every_public_name_can_be_imported_with_a_star() -> None:
    names: dict[str, object] = {}
    exec("from nudge import *", names)
    assert set(nudge.__all__) <= set(names)


def test_a_type_checker_sees_the_types_and_finds_a_wrong_name(tmp_path: Path) -> None:
    from mypy import api

    program = tmp_path / "program.py"
    program.write_text(
        "import nudge\nnudge.Guard(max_tokens='many')\nnudge.nonsense\nreveal_type(nudge.load_prices())\n"
    )
    told, _, _ = api.run(["--strict", "--no-incremental", "--cache-dir", str(tmp_path), str(program)])
    errors = [line.partition(": ")[2].partition("  ")[0] for line in told.splitlines()]
    assert [line for line in errors if "max_tokens" in line]
    assert 'error: Module has no attribute "nonsense"' in errors
    assert 'note: Revealed type is "nudge.spending.prices.PriceTable"' in errors


def test_the_errors_a_caller_must_catch_are_public() -> None:
    from nudge import errors

    needed = {"NudgeError", "UsageError", "BudgetExhaustedError", "NotFoundError", "StoreError", "RetryableError"}
    assert needed <= set(nudge.__all__)
    assert all(issubclass(getattr(nudge, name), errors.NudgeError) for name in needed)
