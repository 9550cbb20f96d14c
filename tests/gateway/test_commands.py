"""`nudge exec` and `nudge gateway` as a person runs them, in processes of their own."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from nudge.testing import FakeAnthropic, Fault, FaultKind
from tests.cli.cli import NUDGE, Cli
from tests.gateway.kit import HEADERS, KEY, MODEL, PRICES, ask, cost_of

pytestmark = pytest.mark.process

CLIENT = """
import os, sys, httpx2
body = {"model": "MODEL", "max_tokens": 64000, "messages": [{"role": "user", "content": "Hi"}]}
key = os.environ.get("ANTHROPIC_API_KEY", "none")
for _ in range(int(sys.argv[1])):
    said = httpx2.post(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json=body, timeout=30,
        headers={"x-api-key": key, "anthropic-version": "2023-06-01"})
    print(said.status_code)
""".replace("MODEL", MODEL)


@pytest.fixture
def service() -> Iterator[FakeAnthropic]:
    with FakeAnthropic(default="word " * 400) as anthropic:
        yield anthropic


@pytest.fixture
def cli(tmp_path: Path, service: FakeAnthropic) -> Cli:
    cli = Cli(tmp_path / "home", {"ANTHROPIC_BASE_URL": service.url})
    cli("init")
    (cli.home / "roles" / "builder.yaml").write_text("name: builder\ndescription: Builds.\ninstructions: Build.\n")
    cli("agent", "add", "builder", "--role", "builder")
    return cli


def client(calls: int) -> list[str]:
    return [sys.executable, "-c", CLIENT, str(calls)]


def with_key(cli: Cli) -> Cli:
    return Cli(cli.home, {**cli.environment, "ANTHROPIC_API_KEY": KEY})


def test_exec_counts_and_ends_with_one_line(cli: Cli, service: FakeAnthropic) -> None:
    done = with_key(cli)("exec", "--agent", "builder", "--", *client(2))
    assert done.stdout == "200\n200\n"
    assert re.fullmatch(
        r"nudge: builder at \d+% of today's budget; [\d,]+ tokens in 2 calls, \d+ s, exit code 0\n", done.stderr
    )
    calls = cli.json("gateway", "calls", "--agent", "builder")
    assert [call["cost"] for call in calls] == [cost_of([answer]) for answer in reversed(service.served)]
    assert {call["run"] for call in calls} == {calls[0]["run"]}
    assert cli.json("budget", "--agent", "builder", "--detail")["detail"]["day"]["spent"] == cost_of(service.served)
    assert "done" in cli("gateway", "calls").stdout


def test_exec_keeps_to_a_budget_of_its_own(cli: Cli, service: FakeAnthropic) -> None:
    done = with_key(cli)("exec", "--agent", "builder", "--budget", "0.05", "--json", "--", *client(12))
    told = json.loads(done.stderr)
    assert told["cost"] == cost_of(service.served) <= 50_000
    assert told["calls"] == 12
    assert told["refused"] == done.stdout.count("402") > 0
    assert cli.json("budget", "--agent", "builder")["state"] == "awake"


def test_exec_keeps_to_a_number_of_tokens(cli: Cli, service: FakeAnthropic) -> None:
    done = with_key(cli)("exec", "--agent", "builder", "--max-tokens", "5000", "--", *client(12))
    assert "402" in done.stdout
    assert sum(answer["usage"]["output_tokens"] for answer in service.served) <= 5_000


def test_exec_with_our_key_gives_the_command_a_token_instead(cli: Cli, service: FakeAnthropic) -> None:
    (cli.home / ".env").write_text(f"ANTHROPIC_API_KEY={KEY}\n")
    (cli.home / ".env").chmod(0o600)
    assert cli("exec", "--agent", "builder", "--own-key", "--", *client(1)).stdout == "200\n"
    shown = cli("exec", "--agent", "builder", "--own-key", "--", "sh", "-c", "echo $ANTHROPIC_API_KEY")
    assert shown.stdout.startswith("nudge.builder.")
    assert KEY not in shown.stdout
    assert cli("exec", "--agent", "builder", "--", *client(1)).stdout == "401\n", "without it the command has no key"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        pytest.param(["sh", "-c", "exit 75"], 75, id="its exit code"),
        pytest.param(["sh", "-c", "kill -9 $$"], 137, id="a signal that killed it"),
        pytest.param(["no-such-program"], 3, id="no such program"),
        pytest.param([], 2, id="no command"),
    ],
)
def test_exec_ends_as_the_command_does(cli: Cli, command: list[str], code: int) -> None:
    cli("exec", "--agent", "builder", "--", *command, code=code)


def test_exec_needs_an_agent_that_there_is(cli: Cli) -> None:
    assert "no agent called 'nobody'" in cli("exec", "--agent", "nobody", "--", "true", code=3).stderr


def test_exec_hands_on_signals_and_the_input(cli: Cli) -> None:
    script = "trap 'echo got it; exit 5' TERM; echo ready; for i in $(seq 400); do sleep 0.05; done"
    with subprocess.Popen(
        [*NUDGE, "exec", "--agent", "builder", "--", "sh", "-c", script],
        env=cli.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "got it\n"
        assert process.wait(20) == 5
    assert cli("exec", "--agent", "builder", "--", "cat", stdin="as it is").stdout == "as it is"


def test_exec_of_a_sleeping_agent_fails_or_waits(cli: Cli, service: FakeAnthropic) -> None:
    cli("budget", "set", "--window", "0", "--agent", "builder")
    refused = with_key(cli)("exec", "--agent", "builder", "--", *client(1), code=6)
    assert "nudge budget top-up" in refused.stderr
    with subprocess.Popen(
        [*NUDGE, "exec", "--agent", "builder", "--wait", "--", *client(1)],
        env=with_key(cli).environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        assert process.stderr.readline().startswith("Waiting: builder is asleep")
        cli("budget", "top-up", "30", "--agent", "builder")
        assert process.stdout.readline() == "200\n"
        assert process.wait(30) == 0


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "inside the daemon"])
def test_the_gateway_answers_with_a_path_or_a_token(cli: Cli, service: FakeAnthropic, inside: bool) -> None:
    port = _free_port()
    config = cli.home / "nudge.toml"
    config.write_text(f"[gateway]\nenabled = {str(inside).lower()}\nport = {port}\n")
    (cli.home / ".env").write_text(f"ANTHROPIC_API_KEY={KEY}\n")
    (cli.home / ".env").chmod(0o600)
    token = cli("gateway", "token", "builder").stdout.strip()
    words = ["run"] if inside else ["gateway"]
    with subprocess.Popen([*NUDGE, *words], env=cli.environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            base = f"http://127.0.0.1:{port}"
            _until_it_answers(base)
            said = httpx2.post(f"{base}/agents/builder/v1/messages", json=ask(), headers=HEADERS)
            assert said.status_code == 200
            said = httpx2.post(f"{base}/v1/messages", json=ask(), headers={**HEADERS, "x-api-key": token})
            assert said.status_code == 200
            cli("gateway", "token", "builder", "--revoke")
            said = httpx2.post(f"{base}/v1/messages", json=ask(), headers={**HEADERS, "x-api-key": token})
            assert said.status_code == 401
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)
    assert len(cli.json("gateway", "calls")) == 2


def test_a_killed_gateway_leaves_no_hold_behind(cli: Cli, service: FakeAnthropic) -> None:
    streams, port = 100, _free_port()
    (cli.home / "nudge.toml").write_text(f"[gateway]\nport = {port}\n[spending]\nwindow = 900\n")
    service.fail(Fault(FaultKind.STALL, pieces=3), streams)
    url = f"http://127.0.0.1:{port}/agents/builder/v1/messages"

    def begin(pool: httpx2.Client) -> None:
        try:
            with pool.stream("POST", url, json=ask(max_tokens=2_048, stream=True), headers=HEADERS) as answer:
                answer.read()
        except httpx2.HTTPError:
            pass

    with (
        subprocess.Popen([*NUDGE, "gateway"], env=cli.environment) as process,
        httpx2.Client(timeout=60, limits=httpx2.Limits(max_connections=None)) as pool,
        ThreadPoolExecutor(streams) as threads,
    ):
        _until_it_answers(f"http://127.0.0.1:{port}")
        for _ in range(streams):
            threads.submit(begin, pool)
        service.wait_for_requests(streams)
        process.kill()
    assert cli.json("budget", "--agent", "builder", "--detail")["detail"]["day"]["held"] > 0
    with subprocess.Popen([*NUDGE, "gateway"], env=cli.environment) as process:
        try:
            _until_it_answers(f"http://127.0.0.1:{port}")
            day = cli.json("budget", "--agent", "builder", "--detail")["detail"]["day"]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)
    assert day["held"] == 0
    came = cost_of([{**one, "usage": {**one["usage"], "output_tokens": 6}} for one in service.served])
    worst = streams * PRICES.worst_case(MODEL, 100, 2_048)
    assert came <= day["spent"] <= worst


def test_beyond_loopback_a_path_alone_opens_nothing(cli: Cli, service: FakeAnthropic) -> None:
    port = _free_port()
    (cli.home / "nudge.toml").write_text(f'[gateway]\nhost = "0.0.0.0"\nport = {port}\n')
    token = cli("gateway", "token", "builder").stdout.strip()
    with subprocess.Popen([*NUDGE, "gateway"], env=cli.environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            base = f"http://127.0.0.1:{port}"
            _until_it_answers(base)
            url = f"{base}/agents/builder/v1/messages"
            assert httpx2.post(url, json=ask(), headers=HEADERS).status_code == 401
            assert httpx2.post(url, json=ask(), headers={**HEADERS, "x-nudge-token": token}).status_code == 200
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)


def test_a_gateway_does_not_call_itself(cli: Cli) -> None:
    port = _free_port()
    (cli.home / "nudge.toml").write_text(f"[gateway]\nport = {port}\n")
    looped = Cli(cli.home, {**cli.environment, "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}/agents/builder"})
    assert "would call itself" in looped("gateway", code=4).stderr


def _free_port() -> int:
    from nudge.daemon.listening import bound

    with bound("127.0.0.1", 0) as listener:
        return int(listener.getsockname()[1])


def _until_it_answers(base: str) -> None:
    from tests.cli.cli import until

    def up() -> bool:
        try:
            return httpx2.get(f"{base}/").status_code > 0
        except httpx2.HTTPError:
            return False

    until(up, "the gateway answers")
