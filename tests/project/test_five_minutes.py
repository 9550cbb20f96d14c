"""The pages for people who bring their own agent: every command in them is run, as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nudge.testing import FakeAnthropic
from tests.cli.cli import Cli, Daemon, until
from tests.gateway.kit import KEY
from tests.gateway.test_clients import program

pytestmark = [pytest.mark.process, pytest.mark.slow]

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str) -> list[str]:
    """What the page tells people to type."""
    found = re.findall(r"^```(?:sh|bash)\n(.*?)^```", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)
    assert found
    return found


class Shell:
    """A terminal in a home, with `nudge` on its path."""

    def __init__(self, cli: Cli, **environment: str) -> None:
        programs = cli.home.parent / "bin"
        programs.mkdir(exist_ok=True)
        nudge = programs / "nudge"
        nudge.write_text(f'#!/bin/sh\nexec {sys.executable} -m nudge.cli.main "$@"\n')
        nudge.chmod(0o700)
        path = f"{programs}:{environment.pop('PATH', '')}:{os.environ['PATH']}"
        root = str(Path(__file__).parents[2])
        self.environment = {**cli.environment, **environment, "PATH": path, "HOME": str(cli.home.parent)}
        self.environment["PYTHONPATH"] = root

    def __call__(self, block: str) -> str:
        done = subprocess.run(
            ["bash", "-e", "-u", "-o", "pipefail", "-c", block] if "while" not in block else ["bash", "-c", block],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr


@pytest.fixture
def service() -> Iterator[FakeAnthropic]:
    with FakeAnthropic(default="Hello from the model.") as anthropic:
        yield anthropic


@pytest.fixture
def home(tmp_path: Path, service: FakeAnthropic) -> Cli:
    cli = Cli(tmp_path / "home", {"ANTHROPIC_BASE_URL": service.url})
    cli("init")
    (cli.home / "nudge.toml").write_text('model = "offline"\n[channel]\nkind = "terminal"\n')
    (cli.home / ".env").write_text(f"ANTHROPIC_API_KEY={KEY}\n")
    (cli.home / ".env").chmod(0o600)
    return cli


def start(cli: Cli, shell: Shell) -> Daemon:
    return Cli(cli.home, shell.environment).start()


def test_claude_code_in_five_minutes(home: Cli, service: FakeAnthropic) -> None:
    claude = Path(program("claude"))
    shell = Shell(home, PATH=str(claude.parent), ANTHROPIC_API_KEY=KEY)
    first, work, look = blocks("claude-code.md")
    said = shell(first)
    assert "Hello from the model." in said
    assert "exit code 0" in said
    role = home.home / "roles" / "builder.yaml"
    role.write_text(role.read_text() + "own_key: true\n")  # here is no login
    with start(home, shell):
        shell(work)
        until(lambda: "Finished: count the files here" in home("log", "--agent", "builder").stdout, "it is done", 60)
        said = shell(look)
    assert "count the files here" in said
    assert "exit code 0" in said
    assert len(service.served) >= 2


def test_the_role_on_the_page_is_one(tmp_path: Path) -> None:
    from nudge.home.roles import parse_role

    (role,) = re.findall(r"^```yaml\n(.*?)^```", (DOCS / "claude-code.md").read_text(), re.MULTILINE | re.DOTALL)
    command = parse_role(role, "builder.yaml").command
    assert command is not None
    assert (command.budget, command.own_key) == (2_000_000, True)


def test_a_bash_loop_in_five_minutes(home: Cli) -> None:
    shell = Shell(home, ONCE="1")
    add, loop, tell, money, idle = blocks("bash-loop.md")
    with start(home, shell):
        shell(add)
        assert "look at the disk:" in shell(loop)
        assert home.json("inbox", "monitor") == []
        shell(tell)
        assert "awake" in shell(money)
        assert home.json("budget", "--agent", "monitor", "--detail")["detail"]["day"]["held"] == 0
        assert "idle" in shell(idle)
