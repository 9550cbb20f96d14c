from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.cli import Cli


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """A nudge with a home of its own that does not exist yet."""
    return Cli(tmp_path / "home")


@pytest.fixture
def home(cli: Cli) -> Cli:
    """The same with a home."""
    cli("init")
    return cli
