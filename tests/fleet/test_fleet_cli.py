"""The commands of the fleet, as an operator runs them, with real worker processes."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from nudge.fleet.dev_server import DevServer, free_port
from tests.cli.cli import NUDGE, Cli, CliHere, until

PATIENCE = 60.0


@pytest.fixture
def home(tmp_path: Path, postgres_url: str) -> Cli:
    cli = Cli(tmp_path / "home", {"NUDGE_DATABASE_URL": postgres_url})
    cli("init")
    return cli


def test_a_home_goes_to_the_fleet_and_comes_back(home: Cli, temporal: DevServer) -> None:
    server = ["--temporal", temporal.address]
    home("agent", "add", "ada", "--role", "coach")
    assert "does not run on a fleet yet" in home("fleet", "status", *server, code=4).stderr
    home("fleet", "adopt", *server, "--task-queue", "moving")
    assert "run on a fleet" in home("run", code=4).stderr
    metrics = f"127.0.0.1:{free_port()}"
    worker = subprocess.Popen(
        [*NUDGE, "fleet", "worker", *server, "--metrics", metrics],
        env=home.environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until(lambda: all(one["visited_at"] for one in home.json("fleet", "agents")), "all were visited", PATIENCE)
        status = home.json("fleet", "status", *server)
        assert (status["agents"], status["late"], len(status["workers"])) == (2, 0, 1)
        home("reminder", "stretch in 2 seconds", "--agent", "ada")
        until(lambda: "fired" in {one["result"] for one in _why(home, server)["outcomes"]}, "it fired", PATIENCE)
        assert "sleeps until" in _why(home, server)["why"]
        assert "nudge_visits" in _read(metrics)
    finally:
        worker.send_signal(signal.SIGTERM)
        _, said = worker.communicate(timeout=40)
    assert worker.returncode == 0, said
    assert "Draining" in said
    home("fleet", "release", *server)
    with home.start():
        assert home.json("status")["agents"] == ["ada", "coach"]


def test_without_a_server_the_next_step_is_named(home: Cli) -> None:
    refused = home("fleet", "adopt", "--temporal", f"127.0.0.1:{free_port()}", code=1).stderr
    assert "does not answer" in refused
    assert "TEMPORAL_ADDRESS" in refused


def test_a_home_with_sqlite_is_refused(tmp_path: Path) -> None:
    cli = CliHere(tmp_path / "home")
    cli("init")
    for command in ("adopt", "status", "agents", "worker"):
        assert "needs PostgreSQL" in cli("fleet", command, code=4).stderr


def _why(home: Cli, server: list[str]) -> Any:
    return home.json("fleet", "why", "ada", *server)


def _read(address: str) -> str:
    import urllib.request

    with urllib.request.urlopen(f"http://{address}/metrics", timeout=5) as answer:
        return str(answer.read().decode())
