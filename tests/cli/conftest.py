from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.cli import Cli, CliHere


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """A nudge with a home of its own that does not exist yet."""
    return Cli(tmp_path / "home")


@pytest.fixture
def home(cli: Cli) -> Cli:
    """The same with a home."""
    cli("init")
    return cli


@pytest.fixture
def fresh(tmp_path: Path) -> CliHere:
    """A nudge without a home, whose commands run in this process."""
    return CliHere(tmp_path / "home")


@pytest.fixture
def here(fresh: CliHere) -> CliHere:
    """The same with a home."""
    fresh("init")
    return fresh
