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

from nudge.attention.quiet import Person
from nudge.cli.table import COMMANDS, Group
from nudge.home.folder import Home
from nudge.home.seeds import HomeSeeds
from nudge.inline import run_inline
from nudge.queue.agents import Agents
from nudge.reminders.seeding import Seeding
from nudge.stores.open import open_sqlite
from tests.cli.cli import Cli, CliHere, until
from tests.times import NOON, TORONTO

pytestmark = pytest.mark.process


def added(home: Cli, *words: str) -> dict[str, Any]:
    return dict(json.loads(home("reminder", "add", *words, "--json").stdout))


def shown(home: Cli, reminder: str) -> dict[str, Any]:
    return dict(home.json("reminder", "show", reminder))


def test_a_reminder_from_adding_to_removing_with_the_daemon_down(here: CliHere) -> None:
    done = here("reminder", "add", "coach", "-m", "Check CI status", "--every", "30m", "--name", "ci")
    reminder = done.stdout.strip()
    assert re.fullmatch(r"r-[0-9a-z]{6}", reminder)
    assert "every 30m, first " in done.stderr
    assert "America/Toronto (in 29 min" in done.stderr or "America/Toronto (in 30 min)" in done.stderr
    assert "The daemon is not running" in done.stderr
    listed = here("reminder", "list", "coach").stdout.splitlines()
    assert listed[0].split() == ["ID", "NAME", "SCHEDULE", "NEXT", "LEFT", "LAST", "STATUS", "FIRES"]
    assert listed[1].split()[:4] == [reminder, "ci", "every", "30m"]
    assert listed[1].split()[-2:] == ["active", "0"]
    here("reminder", "edit", "ci", "--every", "1h", "--priority", "normal")
    assert (shown(here, reminder)["schedule"]["interval_us"], shown(here, "ci")["priority"]) == (
        3_600_000_000,
        "normal",
    )
    here("reminder", "pause", reminder)
    assert shown(here, reminder)["status"] == "paused"
    assert shown(here, reminder)["next_at"] is None
    here("reminder", "resume", "ci")
    assert shown(here, reminder)["next_at"] is not None
    here("reminder", "snooze", reminder, "2h")
    ahead = datetime.fromisoformat(shown(here, reminder)["next_at"]) - datetime.now().astimezone()  # noqa: TID251
    assert timedelta(minutes=119) < ahead <= timedelta(hours=2)
    here("reminder", "remove", reminder)
    assert here("reminder", "list").stdout == ""
    (row,) = here.json("reminder", "list", "--all")
    assert (row["id"], row["status"], row["ended_reason"]) == (reminder, "cancelled", "It was removed.")
    assert "Removed: ci." in here("log").stdout


def test_a_slip_in_a_sentence_is_said_back(here: CliHere) -> None:
    assert "I read “thrusday” as Thursday." in here("reminder", "thrusday 5pm call bob").stderr


def test_a_sentence_that_could_be_two_times_names_both(here: CliHere) -> None:
    done = here("reminder", "bring 2 bottles at 6", code=2)
    assert done.stderr == (
        'error: I can\'t read “bring 2 bottles at 6” as a reminder: 6 am or 6 pm?\n  next: Say "6 am" or "6 pm".\n'
    )


def test_an_interval_inside_hours_is_said_back_in_words(here: CliHere) -> None:
    done = here("reminder", "stretch every 50 minutes on weekdays from 9 to 5")
    assert "daily on weekdays every 50 min from 09:00 to 16:30" in done.stderr


def test_a_sentence_is_a_reminder_for_the_person(here: CliHere) -> None:
    done = here("reminder", "call mum friday 5pm")
    made = shown(here, done.stdout.strip())
    assert (made["message"], made["to_person"], made["agent"]) == ("call mum", True, "coach")
    assert datetime.fromisoformat(made["next_at"]).strftime("%a %H:%M") == "Fri 17:00"
    assert re.search(r"Friday \d{4}-\d\d-\d\d 5:00 PM America/Toronto \(in ", done.stderr)
    here("reminder", "take", "the", "pizza", "out", "in", "20", "minutes")
    here("reminder", "fix {braces} in {every} template", "every", "weekday", "at", "9")
    messages = [row["message"] for row in here.json("reminder", "list")]
    assert "take the pizza out" in messages
    assert len(messages) == 3
    assert "Try " in here("reminder", "call mum some day", code=2).stderr
    assert "Did you mean 'list'?" in here("reminder", "lisst", code=2).stderr
    assert "add a reminder, with all options" in here("reminder", code=2).stdout


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
def test_a_usage_error_writes_nothing(here: CliHere, words: list[str]) -> None:
    said = here("reminder", "add", "coach", "-m", "x", *words, code=2)
    assert said.stdout == ""
    assert "error:" in said.stderr
    assert "next:" in said.stderr
    assert here.json("reminder", "list", "--all") == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--in", "1h"], "error: `--message` is empty.\n  next: Add -m 'TEXT', or --template FILE."),
        (["--in", "1h", "-m", " "], "error: `--message` is empty."),
        (["--in", "1h", "-m", "x", "--template", "y"], "error: Use either --message or --template, not both."),
        (["-m", "x", "--every", "1h", "--chain", "0"], "error: `--chain` must be a whole number from 1 to 100."),
        (["-m", "x", "--every", "1h", "--count", "0"], "error: `--count` must be a whole number, 1 or more."),
        (["-m", "x", "--every", "1h", "--condition", " "], "error: `--condition` is empty."),
        (["-m", "x", "--every", "1h", "--name", "a\nb"], "error: `--name` must be one line."),
        (["-m", "x", "--every", "1h", "--mode", "until"], "error: A condition needs a command or a prompt."),
        (["-m", "x", "--every", "1h", "--tz", "Mars"], "error: There is no time zone called 'Mars'."),
        (["-m", "x"], "error: No schedule given.\n  next: Use exactly one of at, in, every, rrule, cron or idle."),
        (["-m", "x", "--in", "1h", "--every", "2h"], "error: Only one schedule is allowed; got in and every."),
        (["-m", "x", "--at", "2020-01-01T09:00", "--late", "never"], "error: That time has already passed."),
        (["-m", "x", "--at", "at 5"], "error: I can't read “at 5” as a time: 5 am or 5 pm?"),
    ],
)
def test_a_mistake_names_its_flag_and_the_way_out(here: CliHere, words: list[str], said: str) -> None:
    assert here("reminder", "add", *words, code=2).stderr.startswith(said)


def test_an_edit_of_what_a_role_asks_for_says_what_becomes_of_it(here: CliHere) -> None:
    (here.home / "roles" / "coach.yaml").write_text(
        "name: coach\nkind: coach\nreminders:\n  - name: ci\n    message: Look.\n    schedule:\n      every: 30m\n"
    )
    seeds = HomeSeeds(Home(here.home))
    store = open_sqlite(str(here.home / "nudge.db"))
    run_inline(Agents(store).ensure_default(NOON))
    run_inline(Seeding(store, lambda agent: Person(TORONTO), seeds).seed_all(NOON))
    run_inline(store.close())
    said = here("reminder", "edit", "ci", "--every", "2h").stderr
    assert "ci comes from its role. When it changes there, that version replaces all your edits." in said
    assert "gets its name from its" in here("reminder", "edit", "ci", "--name", "mine", code=2).stderr


def test_a_condition_that_nobody_can_judge_is_a_warning(here: CliHere) -> None:
    prompt = ["--every", "1h", "--condition-prompt", "Is it done?"]
    warning = "warning: no model is configured, so this condition cannot be judged and never fires."
    assert warning in here("reminder", "add", "-m", "x", "--name", "one", *prompt).stderr
    assert warning in here("reminder", "edit", "one", "--condition-prompt", "Is it over?").stderr
    assert warning not in here("reminder", "edit", "one", "--condition", "true").stderr
    (here.home / "roles" / "monitor.yaml").write_text("name: monitor\nkind: worker\n")
    here("agent", "add", "monitor", "--role", "monitor")
    assert warning not in here("reminder", "add", "monitor", "-m", "y", *prompt).stderr  # whoever runs it judges
    here.environment["ANTHROPIC_API_KEY"] = "sk-ant-test-key-of-no-account"
    assert warning not in here("reminder", "add", "-m", "z", *prompt).stderr


def test_a_file_with_one_id_twice_is_refused(here: CliHere) -> None:
    here("reminder", "add", "-m", "x", "--every", "1h")
    document = json.loads(here("reminder", "export").stdout)
    document["reminders"] *= 2
    said = here("reminder", "import", "-", stdin=json.dumps(document), code=2).stderr
    assert "Reminders 1 and 2 of the file have the same id" in said
    assert "Nothing was imported." in said


def test_the_help_of_each_command_says_what_it_does(here: CliHere) -> None:
    group = COMMANDS["reminder"]
    assert isinstance(group, Group)
    lines = here("reminder", "--help").stdout.splitlines()
    assert "  snooze    snooze a reminder; occurrences in the meantime are skipped" in lines
    assert max(len(line) for line in lines) <= 80
    for name, command in group.commands.items():
        assert f"  {name:<10}{command.summary}" in lines
        assert here("reminder", name, "--help").stdout.startswith(f"usage: nudge reminder {name}")


def test_what_is_not_there_is_exit_3(here: CliHere) -> None:
    here("reminder", "add", "nobody", "-m", "x", "--in", "1h", code=3)
    for command in ("show", "edit", "remove", "pause", "resume", "complete", "snooze", "test", "run"):
        words = ["--name", "y"] if command == "edit" else []
        assert "no reminder 'r-zzzzzz'" in here("reminder", command, "r-zzzzzz", *words, code=3).stderr
    here("reminder", "add", "-m", "x", "--in", "1h")
    here("reminder", "add", "--template", "none.md", "--in", "1h", code=3)
    here("reminder", "import", "none.json", code=3)


def test_all_flags_arrive(here: CliHere, tmp_path: Path) -> None:
    text = tmp_path / "standup.md"
    text.write_text("Standup {fire_count}\n")
    made = added(
        here, "coach", "--template", str(text), "--cron", "0 9 * * 1-5", "--tz", "Europe/London", "--count", "20",
        "--until", "2099-12-31", "--late", "30m", "--priority", "interrupt", "--condition", "true", "--mode", "until",
        "--timeout", "5s", "--name", "standup", "--description", "d", "--reserve", "--critical", "--no-allow-ping",
    )  # fmt: skip
    assert made["message"] == "Standup {fire_count}"
    assert made["schedule"]["cron"] == "0 9 * * 1-5"
    assert (made["schedule"]["count"], made["tz"], made["late"]) == (20, "Europe/London", "30m")
    assert made["condition"] == {"command": "true", "mode": "until", "timeout": "5s"}
    assert (made["priority"], made["reserve"], made["critical"], made["allow_ping"]) == ("interrupt", True, True, False)
    chain = added(here, "coach", "-m", "Started?", "--chain", "4", "--every", "30m", "--to-person")
    assert (chain["chain"], chain["rhythm"], chain["to_person"]) == (4, "30m", True)
    idle = added(
        here, "coach", "-m", "Anything?", "--idle", "5m", "--condition-prompt", "Is it quiet?", "--mode", "once"
    )
    assert idle["schedule"] == {"kind": "idle", "timeout_us": 300_000_000}
    words = here("reminder", "show", made["id"]).stdout
    for part in ("standup", "command: true (mode until, at most 5s)", "reserve, critical, silent", "30m"):
        assert part in words
    (here.home / "templates").mkdir()
    (here.home / "templates" / "water.md").write_text("Drink.")
    assert added(here, "--template", "water", "--every", "1h")["message"] == "Drink."


def test_testing_changes_nothing(here: CliHere) -> None:
    made = added(here, "coach", "-m", "Fix it: {condition_output}", "--every", "1h", "--condition", "echo red; false",
                 "--mode", "until")  # fmt: skip
    before = shown(here, made["id"])
    words = here("reminder", "test", made["id"]).stdout
    assert "not met: exit 1; mode until" in words
    assert "It would fire." in words
    assert "Fix it: red" in words
    answer = here.json("reminder", "test", made["id"])
    assert (answer["would"], answer["condition"], answer["text"]) == (
        "fire",
        {"met": False, "exit_code": 1},
        "Fix it: red",
    )
    here("reminder", "edit", made["id"], "--condition", "true")
    assert "the reminder would be completed" in here("reminder", "test", made["id"]).stdout
    here("reminder", "edit", made["id"], "--condition", "", "--condition-prompt", "")
    assert "It would fire." in here("reminder", "test", made["id"]).stdout
    after = shown(here, made["id"])
    for name in ("fire_count", "status", "next_at", "outcomes"):
        assert after[name] == before[name]
    assert here.json("agent", "show", "coach")["inbox"] == []


def test_export_and_import_move_a_home(here: CliHere, tmp_path: Path) -> None:
    first = added(here, "coach", "-m", "one", "--every", "1h", "--condition", "true")
    added(here, "coach", "-m", "two", "--at", "2099-01-01T09:00", "--to-person")
    here("reminder", "remove", first["id"])
    file = tmp_path / "reminders.json"
    file.write_text(here("reminder", "export", "--all").stdout)
    assert len(json.loads(here("reminder", "export", "--json").stdout)["reminders"]) == 1
    assert "no agent called" in here("reminder", "export", "nobody", code=3).stderr
    other = Cli(tmp_path / "other")
    other("init")
    done = other("reminder", "import", str(file))
    assert first["id"] in done.stdout
    assert f"These run a command from the file on this machine: {first['id']}." in done.stderr
    assert "already here: 2" in other("reminder", "import", "-", stdin=file.read_text()).stderr
    rows = {row["message"]: row["status"] for row in other.json("reminder", "list", "--all")}
    assert rows == {"one": "cancelled", "two": "active"}
    assert "not JSON" in other("reminder", "import", "-", stdin="{", code=2).stderr


def test_a_name_does_for_an_id_also_when_its_reminder_has_ended(here: CliHere) -> None:
    made = added(here, "coach", "-m", "one", "--every", "1h", "--name", "ci")
    here("reminder", "run", "ci")
    here("reminder", "complete", "ci")
    assert made["id"] in here("reminder", "show", "ci").stdout
    assert "Fired by hand, in addition to its schedule." in here("why", "ci").stdout


def test_a_list_of_many_says_that_there_are_more(here: CliHere) -> None:
    for number in range(3):
        here("reminder", "add", "coach", "-m", f"m{number}\033[31m", "--in", f"{number + 1}h")
    done = here("reminder", "list", "--limit", "2")
    assert len(done.stdout.splitlines()) == 3
    assert "\033" not in done.stdout
    assert "There are more." in done.stderr
    assert len(here.json("reminder", "list", "--limit", "0")) == 3


def test_listing_loads_neither_asyncio_nor_the_rules(home: Cli) -> None:
    home("reminder", "add", "coach", "-m", "x", "--every", "1h")
    code = (
        "import sys; sys.argv = ['nudge', 'reminder', 'list']\n"
        "from nudge.cli.main import main; main()\n"
        "heavy = ('asyncio', 'dataclasses', 'pydantic', 'dateutil', 'cronsim', 'ruamel', 'nudge.schedules')\n"
        "print([name for name in heavy if name in sys.modules])"
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
        assert "roles and routines are fine" in home("doctor").stdout


def test_the_shell_completes_ids(here: CliHere) -> None:
    reminder = here("reminder", "stand up in 10 minutes").stdout.strip()
    assert here("__complete", "reminder", "show", "r-").stdout == f"{reminder}\tstand up\n"
    assert "snooze\t" in here("__complete", "reminder", "sn").stdout


def test_the_first_reminder_needs_no_daemon_ever_started(here: CliHere) -> None:
    here("reminder", "stand up in 10 minutes")
    with sqlite3.connect(here.home / "nudge.db") as connection:
        assert connection.execute("SELECT agent, kind, lane FROM timers").fetchall() == [
            ("coach", "reminder", "coach/reminders")
        ]
    connection.close()


def test_every_command_of_the_page_works(here: CliHere) -> None:
    """In the order of the page, in one home."""
    page = (Path(__file__).parents[2] / "docs" / "reminders.md").read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    commands = [shlex.split(line, comments=True) for line in "".join(blocks).replace("\\\n", " ").splitlines()]
    commands = [words for words in commands if words]
    assert len(commands) >= 20
    for words in commands:
        assert words[0] == "nudge"
        here(*words[1:])
    statuses = {row["status"] for row in here.json("reminder", "list", "--all")}
    assert statuses == {"active", "completed", "cancelled"}


def test_why_knows_names_and_words_and_lists_what_may_be_meant(here: CliHere) -> None:
    for name, message in (("Stretch", "Stand up."), ("mum", "Call Mum."), ("dentist", "Call the dentist.")):
        here("reminder", "add", "--name", name, "--every", "1h", "--message", message)
    here("reminder", "run", "Stretch")
    assert "Fired by hand" in here("why", "stretch").stdout
    assert here.json("why", "STAND UP")[0]["result"] == "fired"
    assert "nothing has been due" in here("why", "mum").stdout
    assert here.json("why", "mum")[0]["type"] == "reminder"
    asked = here("why", "call", code=2).stderr
    assert "mum" in asked
    assert "dentist" in asked
    assert "Near it: stretch" in here("why", "strech", code=3).stderr
