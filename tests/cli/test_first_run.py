from __future__ import annotations

import json
import os
import shlex
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from nudge.daemon.lock import HomeLock
from nudge.home.folder import Home
from nudge.instants import Instant
from tests.cli.cli import NUDGE, Cli, CliHere


def test_nudge_alone_says_what_to_do_next(cli: Cli) -> None:
    assert "nudge init" in cli().stdout
    cli("init")
    assert "nudge run" in cli().stdout
    with cli.start():
        assert "nudge status" in cli().stdout


def test_init_writes_a_home_once_and_never_over_what_is_there(fresh: CliHere) -> None:
    made = fresh("init").stdout
    assert "nudge.toml" in made
    assert stat.S_IMODE((fresh.home / ".env").stat().st_mode) == 0o600
    goals = fresh.home / "agents" / "coach" / "GOALS.md"
    goals.write_text("mine")
    assert fresh("init").stdout == ""
    assert goals.read_text() == "mine"


def test_init_guesses_the_time_zone_and_goals_md_decides_it(fresh: CliHere) -> None:
    fresh.environment["TZ"] = "Europe/Berlin"
    fresh("init")
    goals = fresh.home / "agents" / "coach" / "GOALS.md"
    assert 'timezone: "Europe/Berlin"' in goals.read_text()
    goals.write_text(goals.read_text().replace("Europe/Berlin", "Asia/Tokyo"))
    assert fresh.json("config", "show")["config"]["timezone"] == "Asia/Tokyo"
    goals.write_text(goals.read_text().replace("Asia/Tokyo", "Mars/Olympus"))
    assert fresh.json("config", "show")["config"]["timezone"] == "Europe/Berlin"


def test_init_takes_the_time_zone_of_a_configuration_that_was_there_first(fresh: CliHere) -> None:
    fresh.environment["TZ"] = "UTC"
    fresh.home.mkdir(exist_ok=True)
    (fresh.home / "nudge.toml").write_text('timezone = "America/Toronto"\n')
    fresh("init")
    assert fresh.json("config", "show")["config"]["timezone"] == "America/Toronto"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        pytest.param(["status"], 4, "nudge init", id="no home"),
        pytest.param(["frobnicate"], 2, "nudge --help", id="no such command"),
        pytest.param(["stats"], 2, "Did you mean 'status'?", id="a slip of the finger"),
        pytest.param(["agent", "fly"], 2, "nudge agent --help", id="no such subcommand"),
        pytest.param(["log", "--limit", "x"], 2, "nudge log --help", id="not a number"),
        pytest.param(["--home"], 2, "--home needs a path", id="no path"),
        pytest.param(["log", "--home", "x"], 2, "before the command", id="a home too late"),
    ],
)
def test_errors_name_the_next_step(fresh: CliHere, words: list[str], code: int, says: str) -> None:
    done = fresh(*words, code=code)
    assert done.stdout == ""
    assert says in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        pytest.param(["status"], 5, "nudge run", id="no daemon"),
        pytest.param(["stop"], 5, "nudge run", id="nothing to stop"),
        pytest.param(["agent", "show", "nobody"], 3, "no agent called 'nobody'", id="no such agent"),
        pytest.param(["agent", "add", "Bad Name", "--role", "coach"], 2, "lowercase letters", id="not a name"),
        pytest.param(["agent", "add", "x", "--role", "nope"], 3, "Roles there: coach", id="no such role"),
        pytest.param(["why", "nothing-like-that"], 3, "nudge log", id="nothing to explain"),
        pytest.param(["why", "9" * 30], 3, "nudge log", id="a number no outcome has"),
        pytest.param(["why", "²"], 3, "nudge log", id="a digit that is no number"),
        pytest.param(["why", "13pm"], 3, "give a time such as", id="no such hour"),
        pytest.param(["why", "--limit", "0"], 2, "nudge why --help", id="none of them"),
        pytest.param(["log", "--limit", "-1"], 2, "nudge log --help", id="less than none"),
        pytest.param(["log", "--limit", "9" * 30], 2, "nudge log --help", id="more than there can be"),
    ],
)
def test_errors_in_a_home_name_the_next_step(here: CliHere, words: list[str], code: int, says: str) -> None:
    assert says in here(*words, code=code).stderr


def test_a_home_that_cannot_be_found_is_an_error_with_a_next_step(fresh: CliHere) -> None:
    fresh.environment["NUDGE_HOME"] = "~nobody-of-that-name/nudge"
    assert "Set NUDGE_HOME" in fresh("status", code=4).stderr


@pytest.mark.parametrize("buffered", ["", "1"], ids=["at the end", "at once"])
def test_output_that_goes_nowhere_is_no_traceback(cli: Cli, buffered: str) -> None:
    cli.environment["PYTHONUNBUFFERED"] = buffered
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*NUDGE, "--help"], env=cli.environment, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("error: The system refused: No space left on device.\n  next: ")
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*NUDGE, "--help"], env=cli.environment, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("words", ["doctor", "run --terminal"])
def test_closed_streams_are_no_mistake_of_ours(home: Cli, words: str, closed: str) -> None:
    command = f"{shlex.join(NUDGE)} {words} {closed}"
    done = subprocess.run(["bash", "-c", command], env=home.environment, stdin=subprocess.DEVNULL, timeout=60)
    assert done.returncode == 0


def test_what_is_said_of_an_error_shows_no_secret(here: CliHere) -> None:
    said = here("agent", "show", "sk-ant-api03-pasted-by-mistake", code=3).stderr
    assert "no agent called '[hidden]'" in said


def test_a_terminal_that_cannot_show_a_sign_gets_another(home: Cli) -> None:
    home.environment["PYTHONIOENCODING"] = "latin-1"
    assert "? python" in home("doctor").stdout


def test_an_error_nobody_expected_shows_no_secret(home: Cli, tmp_path: Path) -> None:
    (home.home / ".env").write_text("NUDGE_SMTP_URL=a-secret-of-the-env-file\n")
    broken = "raise RuntimeError('sk-ant-a-secret-shape and a-secret-of-the-env-file')"
    (tmp_path / "sitecustomize.py").write_text(
        f"import nudge.cli.commands.version as module\ndef run(args):\n    {broken}\nmodule.run = run\n"
    )
    home.environment["PYTHONPATH"] = str(tmp_path)
    said = home("version", code=1).stderr
    assert "RuntimeError: [hidden] and [hidden]" in said
    assert "secret-" not in said


def test_a_home_that_did_not_fit_on_the_disk_is_made_when_there_is_room(cli: Cli) -> None:
    """Half a file would be taken for the person's own, and never be written."""
    limit = (
        "import os, resource as r, sys; r.setrlimit(r.RLIMIT_FSIZE, (999, 999)); os.execv(sys.argv[1], sys.argv[1:])"
    )
    words = [sys.executable, "-c", limit, *NUDGE, "init"]
    done = subprocess.run(words, env=cli.environment, capture_output=True, text=True)
    assert done.returncode == 4
    assert "free space" in done.stderr
    assert [path for path in cli.home.rglob("*") if path.is_file()] == []
    assert "nudge.toml" in cli("init").stdout


def test_a_home_that_cannot_be_written_is_an_error_with_a_next_step(fresh: CliHere) -> None:
    fresh.home.parent.mkdir(exist_ok=True)
    fresh.home.write_text("a file, not a folder")
    done = fresh("init", code=4)
    assert "set NUDGE_HOME" in done.stderr


def test_agents_come_and_go(here: CliHere) -> None:
    here("agent", "add", "monitor", "--role", "coach")
    assert [agent["name"] for agent in here.json("agent", "list")] == ["monitor"]
    assert here.json("agent", "show", "monitor")["timers"] == []
    assert "already" in here("agent", "add", "monitor", "--role", "coach", code=2).stderr
    here("agent", "remove", "monitor")
    assert here.json("agent", "list") == []
    lines = [json.loads(line) for line in here("log", "--json").stdout.splitlines()]
    assert [line["kind"] for line in lines] == ["added", "removed"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_ask_nudge(fresh: CliHere, shell: str) -> None:
    assert "nudge __complete" in fresh("completion", shell).stdout


def test_completion_knows_commands_options_and_agents(here: CliHere) -> None:
    here("agent", "add", "monitor", "--role", "coach")

    def words(*before: str) -> list[str]:
        return [line.split("\t")[0] for line in here("__complete", *before).stdout.splitlines()]

    assert "status" in words("st")
    assert words("agent", "sh") == ["show"]
    assert "monitor" in words("agent", "show", "")
    assert "--json" in words("agent", "show", "monitor", "--")
    assert words("agent", "add", "x", "--role", "") == ["coach"]
    elsewhere = CliHere(here.home.parent / "elsewhere")
    elsewhere("init")
    elsewhere("agent", "add", "other", "--role", "coach")
    assert words("--home", str(elsewhere.home), "agent", "show", "o") == ["other"]
    assert words("--home", "") == []
    assert words("help", "stat") == ["status"]


def test_every_home_has_the_coach_unless_it_was_removed(home: Cli) -> None:
    home("agent", "add", "monitor", "--role", "coach")
    with home.start():
        assert home.json("status")["agents"] == ["coach", "monitor"]
    home("agent", "remove", "coach")
    with home.start():
        assert home.json("status")["agents"] == ["monitor"]


@pytest.mark.parametrize(
    "words", [["log", "--agent", "nobody"], ["why", "--agent", "nobody"], ["reminder", "list", "nobody"]]
)
def test_an_agent_that_never_was_is_not_found(here: CliHere, words: list[str]) -> None:
    assert "'nobody'" in here(*words, code=3).stderr


@pytest.mark.parametrize("words", [["log"], ["why"], ["inbox", "coach"], ["reminder", "list"]])
def test_a_negative_limit_is_refused(here: CliHere, words: list[str]) -> None:
    assert "--limit" in here(*words, "--limit", "-3", code=2).stderr


def test_help_on_a_command_that_is_none_says_so(fresh: CliHere) -> None:
    assert "no command 'foo'" in fresh("help", "foo", code=2).stderr


@pytest.mark.parametrize(("group", "option"), [("reminder", "--tz ZONE"), ("budget", "--detail")])
def test_the_help_of_a_group_shows_the_options_of_the_word_alone(fresh: CliHere, group: str, option: str) -> None:
    assert option in fresh(group, "--help").stdout


def test_a_start_says_which_routine_it_cannot_use(home: Cli) -> None:
    (home.home / "agents" / "coach" / "routines" / "evening.md").write_text("no front matter\n")
    with home.start() as daemon:
        daemon.signal(signal.SIGTERM)
        _, said = daemon.process.communicate()
    assert "evening.md has no front matter" in said


def test_a_daemon_that_does_not_answer_is_named_with_the_way_to_end_it(home: Cli) -> None:
    lock = HomeLock.acquire(Home(home.home), "hung", Instant(0))
    said = home("stop", code=1).stderr
    lock.release()
    assert f"Process {os.getpid()} is still running" in said
    assert f"kill -9 {os.getpid()}" in said
