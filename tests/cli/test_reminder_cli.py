"""`nudge reminder` as a person uses it: other processes, a home of its own, with the daemon down and up."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from nudge.cli.main import main
from tests.cli.cli import Cli, until

pytestmark = pytest.mark.process


def added(home: Cli, *words: str) -> dict[str, Any]:
    return dict(json.loads(home("reminder", "add", *words, "--json").stdout))


def shown(home: Cli, reminder: str) -> dict[str, Any]:
    return dict(home.json("reminder", "show", reminder))


def test_a_reminder_from_adding_to_removing_with_the_daemon_down(home: Cli) -> None:
    done = home("reminder", "add", "coach", "-m", "Check CI status", "--every", "30m", "--name", "ci")
    reminder = done.stdout.strip()
    assert re.fullmatch(r"r-[0-9a-z]{6}", reminder)
    assert "every 30m, first " in done.stderr
    assert "America/Toronto (in 29 min" in done.stderr or "America/Toronto (in 30 min)" in done.stderr
    assert "The daemon is not running" in done.stderr
    listed = home("reminder", "list", "coach").stdout.splitlines()
    assert listed[0].split() == ["ID", "NAME", "SCHEDULE", "NEXT", "LEFT", "LAST", "STATUS", "FIRES"]
    assert listed[1].split()[:4] == [reminder, "ci", "every", "30m"]
    assert listed[1].split()[-2:] == ["active", "0"]
    home("reminder", "edit", "ci", "--every", "1h", "--priority", "normal")
    assert (shown(home, reminder)["schedule"]["interval_us"], shown(home, "ci")["priority"]) == (
        3_600_000_000,
        "normal",
    )
    home("reminder", "pause", reminder)
    assert shown(home, reminder)["status"] == "paused"
    assert shown(home, reminder)["next_at"] is None
    home("reminder", "resume", "ci")
    assert shown(home, reminder)["next_at"] is not None
    home("reminder", "snooze", reminder, "2h")
    ahead = datetime.fromisoformat(shown(home, reminder)["next_at"]) - datetime.now().astimezone()  # noqa: TID251
    assert timedelta(minutes=119) < ahead <= timedelta(hours=2)
    home("reminder", "remove", reminder)
    assert home("reminder", "list").stdout == ""
    (row,) = home.json("reminder", "list", "--all")
    assert (row["id"], row["status"], row["ended_reason"]) == (reminder, "cancelled", "It was removed.")
    assert "Removed: ci." in home("log").stdout


def test_a_sentence_is_a_reminder_for_the_person(home: Cli) -> None:
    done = home("reminder", "call mum friday 5pm")
    made = shown(home, done.stdout.strip())
    assert (made["message"], made["to_person"], made["agent"]) == ("call mum", True, "coach")
    assert datetime.fromisoformat(made["next_at"]).strftime("%a %H:%M") == "Fri 17:00"
    assert re.search(r"Friday \d{4}-\d\d-\d\d 5:00 PM America/Toronto \(in ", done.stderr)
    home("reminder", "take", "the", "pizza", "out", "in", "20", "minutes")
    home("reminder", "fix {braces} in {every} template", "every", "weekday", "at", "9")
    messages = [row["message"] for row in home.json("reminder", "list")]
    assert "take the pizza out" in messages
    assert len(messages) == 3
    assert "Try " in home("reminder", "call mum some day", code=2).stderr
    assert "Did you mean 'list'?" in home("reminder", "lisst", code=2).stderr
    assert "add a reminder, with all options" in home("reminder", code=2).stdout


@pytest.mark.parametrize(
    "words",
    [
        pytest.param([], id="no schedule"),
        pytest.param(["--in", "1h", "--every", "30m"], id="two schedules"),
        pytest.param(["--at", "3pm", "--cron", "* * * * *"], id="two others"),
        pytest.param(["--in", "soon"], id="no duration"),
        pytest.param(["--at", "yesterday 5pm"], id="a time in the past, in words"),
        pytest.param(["--rrule", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"], id="never"),
        pytest.param(["--every", "1h", "--mode", "sometimes"], id="a mode that is none"),
        pytest.param(["--every", "1h", "--condition", "true", "--condition-prompt", "x"], id="two conditions"),
        pytest.param(["--every", "1h", "-m", "{nope}"], id="an unknown variable"),
        pytest.param(["--every", "1h", "--template", "x", "-m", "y"], id="two texts"),
        pytest.param(["--every", "1h", "--frequency", "2"], id="an unknown flag"),
    ],
)
def test_a_usage_error_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    monkeypatch.setenv("NUDGE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TZ", "America/Toronto")
    monkeypatch.delenv("NUDGE_DATABASE_URL", raising=False)
    assert main(["init"]) == 0
    capsys.readouterr()
    assert main(["reminder", "add", "coach", "-m", "x", *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "error:" in said.err
    assert "next:" in said.err
    assert main(["reminder", "list", "--all", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_what_is_not_there_is_exit_3(home: Cli) -> None:
    home("reminder", "add", "nobody", "-m", "x", "--in", "1h", code=3)
    for command in ("show", "edit", "remove", "pause", "resume", "complete", "snooze", "test", "run"):
        words = ["--name", "y"] if command == "edit" else []
        assert "no reminder 'r-zzzzzz'" in home("reminder", command, "r-zzzzzz", *words, code=3).stderr
    home("reminder", "add", "-m", "x", "--in", "1h")
    home("reminder", "add", "--template", "none.md", "--in", "1h", code=3)
    home("reminder", "import", "none.json", code=3)


def test_all_flags_arrive(home: Cli, tmp_path: Path) -> None:
    text = tmp_path / "standup.md"
    text.write_text("Standup {fire_count}\n")
    made = added(
        home, "coach", "--template", str(text), "--cron", "0 9 * * 1-5", "--tz", "Europe/London", "--count", "20",
        "--until", "2099-12-31", "--late", "30m", "--priority", "interrupt", "--condition", "true", "--mode", "until",
        "--timeout", "5s", "--name", "standup", "--description", "d", "--reserve", "--critical", "--no-allow-ping",
    )  # fmt: skip
    assert made["message"] == "Standup {fire_count}"
    assert made["schedule"]["cron"] == "0 9 * * 1-5"
    assert (made["schedule"]["count"], made["tz"], made["late"]) == (20, "Europe/London", "30m")
    assert made["condition"] == {"command": "true", "mode": "until", "timeout": "5s"}
    assert (made["priority"], made["reserve"], made["critical"], made["allow_ping"]) == ("interrupt", True, True, False)
    chain = added(home, "coach", "-m", "Started?", "--chain", "4", "--every", "30m", "--to-person")
    assert (chain["chain"], chain["rhythm"], chain["to_person"]) == (4, "30m", True)
    idle = added(
        home, "coach", "-m", "Anything?", "--idle", "5m", "--condition-prompt", "Is it quiet?", "--mode", "once"
    )
    assert idle["schedule"] == {"kind": "idle", "timeout_us": 300_000_000}
    words = home("reminder", "show", made["id"]).stdout
    for part in ("standup", "command: true (mode until, at most 5s)", "reserve, critical, silent", "30m"):
        assert part in words
    (home.home / "templates").mkdir()
    (home.home / "templates" / "water.md").write_text("Drink.")
    assert added(home, "--template", "water", "--every", "1h")["message"] == "Drink."


def test_testing_changes_nothing(home: Cli) -> None:
    made = added(home, "coach", "-m", "Fix it: {condition_output}", "--every", "1h", "--condition", "echo red; false",
                 "--mode", "until")  # fmt: skip
    before = shown(home, made["id"])
    words = home("reminder", "test", made["id"]).stdout
    assert "not met: exit 1; mode until" in words
    assert "It would fire." in words
    assert "Fix it: red" in words
    answer = home.json("reminder", "test", made["id"])
    assert (answer["would"], answer["condition"], answer["text"]) == (
        "fire",
        {"met": False, "exit_code": 1},
        "Fix it: red",
    )
    home("reminder", "edit", made["id"], "--condition", "true")
    assert "the reminder would be completed" in home("reminder", "test", made["id"]).stdout
    home("reminder", "edit", made["id"], "--condition", "", "--condition-prompt", "")
    assert "It would fire." in home("reminder", "test", made["id"]).stdout
    after = shown(home, made["id"])
    for name in ("fire_count", "status", "next_at", "outcomes"):
        assert after[name] == before[name]
    assert home.json("agent", "show", "coach")["inbox"] == []


def test_export_and_import_move_a_home(home: Cli, tmp_path: Path) -> None:
    first = added(home, "coach", "-m", "one", "--every", "1h", "--condition", "true")
    added(home, "coach", "-m", "two", "--at", "2099-01-01T09:00", "--to-person")
    home("reminder", "remove", first["id"])
    file = tmp_path / "reminders.json"
    file.write_text(home("reminder", "export", "--all").stdout)
    assert len(json.loads(home("reminder", "export", "--json").stdout)["reminders"]) == 1
    assert "no agent called" in home("reminder", "export", "nobody", code=3).stderr
    other = Cli(tmp_path / "other")
    other("init")
    done = other("reminder", "import", str(file))
    assert first["id"] in done.stdout
    assert f"These run a command from the file on this machine: {first['id']}." in done.stderr
    assert "already here: 2" in other("reminder", "import", "-", stdin=file.read_text()).stderr
    rows = {row["message"]: row["status"] for row in other.json("reminder", "list", "--all")}
    assert rows == {"one": "cancelled", "two": "active"}
    assert "not JSON" in other("reminder", "import", "-", stdin="{", code=2).stderr


def test_a_name_does_for_an_id_also_when_its_reminder_has_ended(home: Cli) -> None:
    made = added(home, "coach", "-m", "one", "--every", "1h", "--name", "ci")
    home("reminder", "run", "ci")
    home("reminder", "complete", "ci")
    assert made["id"] in home("reminder", "show", "ci").stdout
    assert "Fired by hand, in addition to its schedule." in home("why", "ci").stdout


def test_a_list_of_many_says_that_there_are_more(home: Cli) -> None:
    for number in range(3):
        home("reminder", "add", "coach", "-m", f"m{number}\033[31m", "--in", f"{number + 1}h")
    done = home("reminder", "list", "--limit", "2")
    assert len(done.stdout.splitlines()) == 3
    assert "\033" not in done.stdout
    assert "There are more." in done.stderr
    assert len(home.json("reminder", "list", "--limit", "0")) == 3


def test_listing_loads_neither_asyncio_nor_the_rules(home: Cli) -> None:
    home("reminder", "add", "coach", "-m", "x", "--every", "1h")
    code = (
        "import sys; sys.argv = ['nudge', 'reminder', 'list']\n"
        "from nudge.cli.main import main; main()\n"
        "print([name for name in ('asyncio', 'pydantic', 'dateutil', 'cronsim', 'nudge.schedules', 'ruamel') "
        "if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=home.environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_with_the_daemon_up_it_fires_at_once(home: Cli) -> None:
    with home.start() as daemon:
        reminder = home("reminder", "add", "-m", "Look up {fire_count}", "--in", "1s", "--to-person").stdout.strip()
        until(lambda: shown(home, reminder)["status"] == "completed", "it has fired")
        home("reminder", "run", reminder)
        until(lambda: shown(home, reminder)["fire_count"] == 2, "it was run once more")
        hanging = added(home, "-m", "never", "--in", "1s", "--condition", "sleep 60", "--timeout", "1s")
        quick = added(home, "-m", "quick", "--in", "1s", "--condition", 'test "$NUDGE_AGENT" = coach && pwd')
        until(lambda: shown(home, quick["id"])["status"] == "completed", "the quick one has fired")
        until(lambda: shown(home, hanging["id"])["status"] == "completed", "the hanging one was given up")
        assert shown(home, quick["id"])["outcomes"][0]["detail"]["output"].strip().endswith("/agents/coach/workspace")
        assert "did not end within 1s" in shown(home, hanging["id"])["outcomes"][0]["reason"]
        home("stop")
        out = daemon.wait()[1]
    assert "Look up 1" in out
    assert "Look up 2" in out
    assert "fired" in home("why", reminder).stdout


def test_what_was_added_while_it_was_down_fires_after_the_start_and_says_how_late(home: Cli) -> None:
    stamp = (datetime.now(UTC) - timedelta(minutes=5)).isoformat()  # noqa: TID251
    done = home("reminder", "add", "-m", "Pill.", "--at", stamp, "--to-person")
    assert "already passed, so it fires now" in done.stderr
    reminder = done.stdout.strip()
    with home.start() as daemon:
        until(lambda: shown(home, reminder)["status"] == "completed", "it has fired")
        home("stop")
        out = daemon.wait()[1]
    assert re.search(r"\[late: was due [^\]]+ [AP]M\] Pill\.", out)
    assert shown(home, reminder)["outcomes"][0]["result"] == "fired-late"


def test_a_role_and_a_routine_are_seeded_and_a_clash_is_a_finding_and_no_end(home: Cli) -> None:
    mine = home("reminder", "add", "-m", "mine", "--name", "check-ci", "--every", "1h").stdout.strip()
    role = home.home / "roles" / "coach.yaml"
    text = role.read_text().replace("reminders: []", "")
    reminders = "reminders:\n" + "".join(
        f"  - name: {name}\n    message: Look.\n    schedule:\n      every: 30m\n" for name in ("check-ci", "review")
    )
    role.write_text(text + reminders)
    routines = home.home / "agents" / "coach" / "routines"
    routines.mkdir(parents=True, exist_ok=True)
    (routines / "chores.md").write_text("---\nschedule:\n  cron: '0 18 * * *'\n---\nLook at the list.\n")
    with home.start():
        rows = {row["name"]: row["source"] for row in home.json("reminder", "list")}
        assert rows == {"check-ci": "cli", "review": "role", "chores": "file"}
        report = home("doctor", code=1).stdout
        assert mine in report
        assert "'check-ci' of the role coach" in report
        home("reminder", "remove", mine)
        home("stop")
    with home.start():
        rows = {row["name"]: row["source"] for row in home.json("reminder", "list")}
        assert rows == {"check-ci": "role", "review": "role", "chores": "file"}
        assert "roles and routines are in force" in home("doctor").stdout


def test_the_shell_completes_ids(home: Cli) -> None:
    reminder = home("reminder", "stand up in 10 minutes").stdout.strip()
    assert home("__complete", "reminder", "show", "r-").stdout == f"{reminder}\tstand up\n"
    assert "snooze\t" in home("__complete", "reminder", "sn").stdout


def test_the_first_reminder_needs_no_daemon_ever_started(home: Cli) -> None:
    home("reminder", "stand up in 10 minutes")
    with sqlite3.connect(home.home / "nudge.db") as connection:
        assert connection.execute("SELECT agent, kind, lane FROM timers").fetchall() == [
            ("coach", "reminder", "coach/reminders")
        ]
    connection.close()


def test_every_command_of_the_page_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the order of the page, in one home."""
    monkeypatch.setenv("NUDGE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TZ", "America/Toronto")
    monkeypatch.delenv("NUDGE_DATABASE_URL", raising=False)
    assert main(["init"]) == 0
    page = (Path(__file__).parents[2] / "docs" / "reminders.md").read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    commands = [shlex.split(line, comments=True) for line in "".join(blocks).replace("\\\n", " ").splitlines()]
    commands = [words for words in commands if words]
    assert len(commands) >= 20
    for words in commands:
        assert words[0] == "nudge"
        assert main(words[1:]) == 0, (words, capsys.readouterr().err)
    statuses = {"active", "completed", "cancelled"}
    capsys.readouterr()
    assert main(["reminder", "list", "--all", "--json"]) == 0
    assert {row["status"] for row in json.loads(capsys.readouterr().out)} == statuses
