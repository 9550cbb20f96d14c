"""Agents by command as a person has them: a daemon, programs in processes of their own, and a service on loopback."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nudge.clock import SystemClock
from nudge.instants import SECOND
from nudge.testing import FakeAnthropic, Loopback, Reply
from tests.cli.cli import Cli, until
from tests.gateway.kit import KEY, MODEL, cost_of
from tests.gateway.test_clients import program
from tests.gateway.test_commands import CLIENT

pytestmark = pytest.mark.process

SECRET = "123456:AAbbccddeeffgghhiijjkkllmmnnooppqqr"


@pytest.fixture
def service() -> Iterator[FakeAnthropic]:
    with FakeAnthropic(default="word " * 40) as anthropic:
        yield anthropic


@pytest.fixture
def home(tmp_path: Path, service: FakeAnthropic) -> Cli:
    return home_with(tmp_path, service.url)


def home_with(tmp_path: Path, service: str) -> Cli:
    cli = Cli(tmp_path / "home", {"ANTHROPIC_BASE_URL": service})
    cli("init")
    (cli.home / ".env").write_text(f"ANTHROPIC_API_KEY={KEY}\nTELEGRAM_BOT_TOKEN={SECRET}\n")
    (cli.home / ".env").chmod(0o600)
    (cli.home / "nudge.toml").write_text('model = "offline"\n[channel]\nkind = "terminal"\n')
    return cli


def script(cli: Cli, body: str) -> str:
    """A program that the agent runs; its notes are in the folder `cli.home`'s parent."""
    path = cli.home.parent / "agent.sh"
    path.write_text(f"#!/bin/sh\ncd {cli.home.parent}\n{body}\n")
    path.chmod(0o700)
    return str(path)


def noted(cli: Cli, name: str) -> str:
    path = cli.home.parent / name
    return path.read_text() if path.exists() else ""


def log(cli: Cli) -> list[dict[str, Any]]:
    lines = cli("log", "--agent", "builder", "--json").stdout.splitlines()
    return [row for row in map(json.loads, lines) if str(row.get("key", "")).startswith("letter:")]


def ended(cli: Cli, *, count: int = 1) -> list[dict[str, Any]]:
    until(lambda: len([row for row in log(cli) if row["final"]]) >= count, "the letters have ended", 30)
    return log(cli)


def test_a_letter_runs_the_program_under_the_budget_without_secrets(home: Cli, service: FakeAnthropic) -> None:
    client = home.home.parent / "client.py"
    client.write_text(CLIENT)
    line = script(home, f"env > env.txt; cat > stdin.txt; {sys.executable} {client} 2")
    home("agent", "add", "builder", "--run", line, "--own-key", "--budget", "2.00")
    outside = Cli(home.home, {**home.environment, "MY_COPY": KEY})
    with outside.start():
        home("agent", "message", "builder", "Fix the login; rm -rf / $(touch bad)")
        (row,) = ended(home)
        assert row["result"] == "fired"
    assert noted(home, "stdin.txt") == "Fix the login; rm -rf / $(touch bad)"
    variables = dict(one.partition("=")[::2] for one in noted(home, "env.txt").splitlines())
    assert variables["NUDGE_LETTER"] == "Fix the login; rm -rf / $(touch bad)"
    assert variables["NUDGE_AGENT"] == "builder"
    assert variables["NUDGE_LETTER_ID"]
    assert variables["ANTHROPIC_API_KEY"].startswith("nudge.builder."), "a token, not the key"
    assert "runs/" in variables["ANTHROPIC_BASE_URL"]
    for secret in (KEY, SECRET):
        assert secret not in noted(home, "env.txt")
    assert (
        home.json("budget", "--agent", "builder", "--detail")["detail"]["day"]["spent"] == cost_of(service.served) > 0
    )
    shown = home("why", f"letter {variables['NUDGE_LETTER_ID']}").stdout
    assert "200" in shown
    assert "exit code 0" in shown


def test_output_and_time_are_limited_and_nothing_stays_behind(home: Cli) -> None:
    line = script(home, "echo $$ > pid; (setsid sleep 600 & echo $! > child); seq 1 400000; echo the end; sleep 600")
    home("agent", "add", "builder", "--run", line, "--time-limit", "3s")
    with home.start():
        home("agent", "message", "builder", "go")
        (row,) = ended(home)
        assert row["result"] == "failed"
        assert "ran for more than 3s" in row["reason"]
        assert row["detail"]["output"].endswith("the end")
        assert len(row["detail"]["output"]) <= 1_500
        until(lambda: not alive(home), "the program and its child are gone")
    session = home.json("session", "list", "--agent", "builder")["sessions"][0]["id"]
    assert len(home("session", "show", session, "--json").stdout) < 400_000


def alive(cli: Cli) -> list[int]:
    pids = [int(word) for name in ("pid", "child") for word in noted(cli, name).split()]
    return [pid for pid in pids if Path(f"/proc/{pid}/stat").exists() and not _is_zombie(pid)]


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_kill_9_ends_the_program_and_the_letter_is_done_after_the_restart(home: Cli) -> None:
    line = script(
        home,
        "echo $$ >> pid; (setsid sleep 600 & echo $! >> child); echo $NUDGE_ATTEMPT >> attempts\n"
        "[ $NUDGE_ATTEMPT -gt 1 ] || sleep 600; echo done >> done",
    )
    home("agent", "add", "builder", "--run", line)
    home("agent", "message", "builder", "go")
    with home.start() as daemon:
        until(lambda: bool(noted(home, "attempts")), "the program runs")
        assert alive(home)
        os.kill(daemon.process.pid, signal.SIGKILL)
        daemon.wait()
        until(lambda: not alive(home), "everything that it started is gone")
        assert len(home.json("inbox", "builder")) == 1, "the letter is not lost"
    with home.start():
        (row,) = ended(home)
        assert row["result"] == "fired"
    assert noted(home, "attempts") == "1\n2\n"
    assert noted(home, "done") == "done\n"
    assert home.json("inbox", "builder") == []


ASKS = """
import json, os, sys, urllib.error, urllib.request
body = {"model": "claude-sonnet-5-5", "max_tokens": 50, "messages": [{"role": "user", "content": "Hi"}]}
headers = {"content-type": "application/json", "x-api-key": "sk-of-a-plan", "x-claude-code-session-id": "5f-1"}
url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
try:
    urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)).read()
except urllib.error.HTTPError as error:
    sys.exit(f"Limit reached ({error.code}).")
"""


class Plan:
    """A service whose plan is used up for a few seconds after the first call."""

    def __init__(self) -> None:
        self.resets = 0
        self.calls = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.calls += 1
        now = SystemClock().now()
        self.resets = self.resets or now // SECOND + 4
        used_up = now < self.resets * SECOND
        told = {"status": "rejected" if used_up else "allowed", "reset": self.resets, "utilization": "1.0"}
        headers = [
            (f"anthropic-ratelimit-unified-5h-{name}".encode(), str(value).encode()) for name, value in told.items()
        ]
        usage = {"input_tokens": 9, "output_tokens": 3}
        body = b"{}" if used_up else json.dumps({"type": "message", "model": MODEL, "usage": usage}).encode()
        kept = [*(headers if used_up else ()), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 429 if used_up else 200, "headers": kept})
        await send({"type": "http.response.body", "body": body})


def test_a_session_that_hits_its_plan_is_resumed_once_at_the_reset_after_a_kill(tmp_path: Path) -> None:
    plan = Plan()
    with Loopback(plan) as server:
        home = home_with(tmp_path, server.url)
        (tmp_path / "asks.py").write_text(ASKS)
        line = script(home, f'printf "%s\\n" "$*" >> said; {sys.executable} asks.py')
        home("agent", "add", "builder", "--run", f"{line} --resume {{session}} {{message}}")
        home("agent", "message", "builder", "Fix it")
        with home.start() as daemon:
            until(lambda: any(row["result"] == "deferred" for row in log(home)), "the session sleeps", 30)
            assert home.json("budget", "--agent", "builder", code=6)["state"] == "asleep"
            os.kill(daemon.process.pid, signal.SIGKILL)
            daemon.wait()
        with home.start() as daemon:
            (row,) = ended(home)
            assert row["result"] == "fired"
            os.kill(daemon.process.pid, signal.SIGKILL)
            daemon.wait()
        with home.start():
            home("agent", "message", "builder", "More")
            ended(home, count=2)
    resumed = "--resume 5f-1 Resuming — budget refreshed. Continuing from Fix it."
    assert noted(home, "said").splitlines() == ["Fix it", resumed, "--resume 5f-1 More"]
    feed = [json.loads(line) for line in home("log", "--agent", "builder", "--json").stdout.splitlines()]
    kinds = [line["kind"] for line in feed if line["type"] == "feed"]
    assert (kinds.count("asleep"), kinds.count("awake")) == (1, 1)
    assert plan.calls == 3


def test_stopping_the_daemon_lets_the_letter_wait(home: Cli) -> None:
    line = script(home, "echo $$ >> pid; sleep 600")
    home("agent", "add", "builder", "--run", line)
    home("agent", "message", "builder", "go")
    with home.start() as daemon:
        until(lambda: bool(noted(home, "pid")), "the program runs")
        daemon.signal(signal.SIGINT)
        daemon.signal(signal.SIGINT)
        daemon.process.wait(20)
    assert not alive(home)
    assert len(home.json("inbox", "builder")) == 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param(["--run", "do 'it"], 4, "quot", id="a command that cannot be read"),
        pytest.param(["--run", "do", "--time-limit", "soon"], 4, "not a duration", id="no duration"),
        pytest.param(["--run", "do", "--role", "coach"], 2, "not both", id="a role and a command"),
    ],
)
def test_what_cannot_run_is_not_added(home: Cli, words: list[str], code: int, said: str) -> None:
    assert said in home("agent", "add", "builder", *words, code=code).stderr
    assert not (home.home / "roles" / "builder.yaml").exists()


@pytest.mark.slow
def test_claude_code_goes_on_in_its_session(tmp_path: Path) -> None:
    """The first letter begins a session, and the second one resumes it: the service sees both."""
    seen: list[str] = []

    def answer(body: dict[str, Any]) -> Reply | str:
        words = [str(turn["content"]) for turn in body["messages"] if turn["role"] == "user"]
        if body.get("tools"):
            seen.append("\n".join(words))
        return "Done."

    line = f"{program('claude')} -p --resume {{session}} {{message}}"
    with FakeAnthropic(answer=answer) as service:
        home = home_with(tmp_path, service.url)
        home("agent", "add", "builder", "--run", line, "--own-key")
        with Cli(home.home, {**home.environment, "HOME": str(tmp_path)}).start():
            home("agent", "message", "builder", "Count the files.")
            first = ended(home)
            assert first[0]["result"] == "fired", first
            home("agent", "message", "builder", "Count them again.")
            rows = ended(home, count=2)
            assert [row["result"] for row in rows] == ["fired", "fired"], rows
        spent = home.json("budget", "--agent", "builder", "--detail")["detail"]["day"]["spent"]
        assert spent == cost_of(service.served) > 0
    assert "Count the files." in seen[0]
    assert "Count the files." in seen[-1]
    assert "Count them again." in seen[-1]
