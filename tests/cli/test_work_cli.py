"""`nudge work` and `nudge session` as a person uses them: real processes, tools, sandbox and HTTP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from nudge.testing import FakeAnthropic, Reply
from tests.cli.cli import NUDGE, Cli, CliHere
from tests.cli.test_chat_terminal import Screen

KEY = "sk-ant-" + "test" * 8
FILES = [
    Reply("I will write it.", tools=[("write_file", {"path": "hello.txt", "content": "hello\n"})]),
    Reply(tools=[("bash", {"command": "cat hello.txt && wc -c hello.txt"})]),
    Reply("hello.txt is there, with 6 bytes."),
]


@pytest.fixture
def service() -> Iterator[FakeAnthropic]:
    with FakeAnthropic(api_key=KEY) as fake:
        yield fake


@pytest.fixture
def worker(home: Cli, service: FakeAnthropic) -> Cli:
    home.environment |= {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": service.url}
    return home


@pytest.mark.process
def test_a_task_is_done_in_the_foreground(worker: Cli, service: FakeAnthropic) -> None:
    for one in FILES:
        service.reply(one)
    done = worker("work", "write", "hello.txt")
    assert "→ write_file hello.txt" in done.stdout
    assert "→ bash cat hello.txt" in done.stdout
    assert "hello.txt is there, with 6 bytes." in done.stdout
    assert (worker.home / "agents/worker/workspace/hello.txt").read_text() == "hello\n"
    [session] = worker.json("session", "list")["sessions"]
    assert (session["status"], session["agent"], session["task"]) == ("done", "worker", "write hello.txt")
    shown = worker("session", "show", session["id"]).stdout
    assert "6 hello.txt" in shown
    assert worker.json("snapshot", "list", "--agent", "worker")
    assert "It is done: write hello.txt." in worker("why", session["id"]).stdout
    offered = {tool["name"] for tool in service.requests[0]["tools"]}
    assert {"read_file", "bash", "report", "ask_person", "remind_me", "spawn"} <= offered


@pytest.mark.process
def test_a_detached_task_is_done_by_the_daemon_and_reported(worker: Cli, service: FakeAnthropic) -> None:
    with worker.start():
        for one in FILES:
            service.reply(one)
        handed = json.loads(worker("work", "write hello.txt", "--detach", "--json").stdout)
        watched = worker("session", "watch", handed["session"])
        assert "hello.txt is there, with 6 bytes." in watched.stdout
        found = worker.json("session", "show", handed["session"])
    assert found["asked_by"] == "person"
    assert found["report"] == "hello.txt is there, with 6 bytes."


@pytest.mark.process
def test_ctrl_c_leaves_the_task_and_it_goes_on(worker: Cli, service: FakeAnthropic) -> None:
    service.reply(FILES[0])
    service.reply(Reply(tools=[("bash", {"command": "sleep 30"})]))
    process = subprocess.Popen(
        [*NUDGE, "work", "write hello.txt"],
        env=worker.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    service.wait_for_requests(2)
    assert process.stdout is not None
    while "sleep 30" not in (line := process.stdout.readline()):
        assert line, "the second call was never shown"
    os.kill(process.pid, signal.SIGINT)
    os.kill(process.pid, signal.SIGINT)
    process.communicate(timeout=30)
    [session] = worker.json("session", "list")["sessions"]
    assert session["status"] == "working"
    worker("session", "cancel", session["id"])
    assert worker.json("session", "list")["sessions"][0]["status"] == "cancelled"


@pytest.mark.process
def test_limits_of_a_task_are_kept(worker: Cli, service: FakeAnthropic) -> None:
    for number in range(12):
        service.reply(Reply(tools=[("write_file", {"path": f"f{number}", "content": "x"})]))
    done = worker("work", "write files", "--max-iterations", "3", code=6)
    assert "Stopped. Its run budget was used up." in done.stdout


@pytest.mark.process
@pytest.mark.parametrize(
    "key, left", [("y", "of 60,000 tokens · done"), ("n", "of 50,000 tokens · done")], ids=["Y grants", "N denies"]
)
def test_more_budget_is_asked_for_in_the_terminal(worker: Cli, service: FakeAnthropic, key: str, left: str) -> None:
    much = {"input_tokens": 47_000, "output_tokens": 100}
    service.reply(Reply("I begin.", tools=[("list_files", {})], usage=much))
    for _ in range(3):
        service.reply(Reply("All is listed.", usage={"input_tokens": 100, "output_tokens": 10}))
    with Screen(worker, "work", "list the files", "--max-tokens", "50000") as screen:
        screen.until("10,000 more tokens")
        screen.until("no answer within 60 s means no")
        screen.type(f"{key}\n")
        screen.until(left)


def test_mistakes_have_a_next_step(here: CliHere) -> None:
    assert "The task is empty." in here("work", code=2).stderr
    missing = here("work", "fix it", code=4)
    assert "nudge work --demo" in missing.stderr
    assert "There is no session 'nope'." in here("session", "show", "nope", code=3).stderr
    assert "No sessions yet." in here("session", "list").stderr


@pytest.mark.process
def test_the_demo_shows_all_of_it(cli: Cli) -> None:
    done = cli("work", "--demo")
    for words in (
        "Agent paused until budget refresh",
        "Resuming — budget refreshed. Continuing from The tests of this project fail.",
        "The workspace differed from its last snapshot in cart.py. Restored it.",
        "You appear to be repeating the same actions.",
        "Ran 2 tests",
        "Both bugs in cart.py are fixed",
    ):
        assert words in done.stdout


def test_a_task_that_nobody_has_begun_is_shown_explained_and_cancelled(here: CliHere) -> None:
    here.environment |= {"ANTHROPIC_API_KEY": KEY}
    session = json.loads(here("work", "write hello.txt", "--detach", "--json").stdout)["session"]
    [listed] = here.json("session", "list")["sessions"]
    assert (listed["id"], listed["status"], listed["doing"]) == (session, "queued", "waiting for its turn")
    assert here.json("session", "show", session)["task"] == "write hello.txt"
    assert "It waits in the inbox of worker for its turn." in here("why", session).stdout
    assert f"Cancelled {session}" in here("session", "cancel", session).stderr
    assert here.json("session", "list")["sessions"] == []
    assert here("session", "cancel", session, code=3).stderr.startswith("error: There is no session")
