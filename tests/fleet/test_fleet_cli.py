"""The commands of the fleet, as an operator runs them, with real worker processes."""

from __future__ import annotations

import signal
import subprocess
import urllib.request
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


def test_the_web_page_of_a_fleet_needs_no_daemon(home: Cli) -> None:
    home("agent", "add", "ada", "--role", "coach")
    command = [*NUDGE, "fleet", "web", "--port", "0"]
    with subprocess.Popen(command, env=home.environment, stdout=subprocess.PIPE, text=True) as web:
        try:
            assert web.stdout is not None
            link = web.stdout.readline().strip()
            visitor = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            visitor.open(link, timeout=20).read()
            page = visitor.open(f"{link.partition('/enter')[0]}/agents?search=ad", timeout=20).read().decode()
        finally:
            web.terminate()
    assert "1 agent<" in page
    assert ">ada<" in page


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
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=5) as answer:
        return str(answer.read().decode())
