"""`nudge simulate` as a person runs it: on their own home, which it only reads."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from pathlib import Path
from xml.etree import ElementTree

import psycopg
import pytest

from nudge.testing import FakeAnthropic
from tests.cli.cli import Cli

pytestmark = pytest.mark.process

WEEK = ("--days", "2", "--from", "2026-02-16", "--person", "early-bird")


def fingerprint(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Every path below a folder with its time of change, its mode and its content."""
    found = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        status = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path.relative_to(folder.parent))] = (status.st_mtime_ns, status.st_mode, content)
    return found


def lived_in(home: Cli, elsewhere: Path) -> sqlite3.Connection:
    """A home with all that a simulation could disturb: a database with its journal, a key, a link, a routine. The
    journal is there while the connection that comes back is open."""
    home("reminder", "add", "-m", "Water the plants", "--cron", "0 15 * * *", "--to-person")
    home("reminder", "add", "-m", "Long gone", "--at", "2026-01-05T12:00", "--to-person")
    (home.home / ".env").write_text("ANTHROPIC_API_KEY=sk-ant-secret\n")
    (home.home / ".env").chmod(0o600)
    documents = home.home / "agents" / "coach"
    goals = (documents / "GOALS.md").read_text().replace("[Single most important task]", "Write the report")
    elsewhere.write_text(goals)
    (documents / "GOALS.md").unlink()
    (documents / "GOALS.md").symlink_to(elsewhere)
    (documents / "routines").mkdir(exist_ok=True)
    (documents / "routines" / "stretch.md").write_text(
        "---\nschedule:\n  cron: '0 16 * * *'\nto_person: true\nreserve: true\n"
        f"condition:\n  command: touch {home.home / 'ran'}\n---\nStretch for two minutes.\n"
    )
    # A journal that nobody has written back yet, as a running daemon leaves it.
    connection = sqlite3.connect(home.home / "nudge.db")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("INSERT INTO records (agent, name, value) VALUES ('coach', 'x', '1')")
    connection.commit()
    return connection


def test_it_uses_the_home_and_touches_not_a_byte_of_it(home: Cli, tmp_path: Path) -> None:
    elsewhere = tmp_path / "goals-elsewhere.md"
    writer = lived_in(home, elsewhere)
    before = fingerprint(home.home), fingerprint(elsewhere)
    out = home("simulate", *WEEK, "--model", "scripted").stdout
    assert (fingerprint(home.home), fingerprint(elsewhere)) == before
    assert "sk-ant-secret" not in out
    texts = " ".join(one.get("text", "") for one in home.json("simulate", *WEEK)["events"])
    for mine in ("Water the plants", "Write the report", "Stretch for two minutes."):
        assert mine in texts
    notes = " ".join(out[out.index("Summary") :].split())
    assert "1 reminder has no time left on the first day, and is left out." in notes
    assert "1 condition is a command; it was not run, and the simulation treats it as met." in notes
    assert "reserve kept 2 of 2" in notes
    assert "estimate" in notes
    writer.close()


def test_a_server_is_only_read_and_not_even_brought_up_to_date(home: Cli, postgres_url: str) -> None:
    home.environment["NUDGE_DATABASE_URL"] = postgres_url
    assert "older schema (0; this nudge knows" in home("simulate", *WEEK, code=1).stderr
    home("reminder", "add", "-m", "Water the plants", "--cron", "0 15 * * *", "--to-person")
    everything = "SELECT schemaname, relname, n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_user_tables ORDER BY 2"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("SELECT pg_stat_force_next_flush()")
        before = connection.execute(everything).fetchall()
        assert "Water the plants" in home("simulate", *WEEK).stdout
        connection.execute("SELECT pg_stat_clear_snapshot()")
        assert connection.execute(everything).fetchall() == before


def test_an_agent_that_is_no_coach_has_its_reminders_and_nothing_of_the_coachs(home: Cli) -> None:
    (home.home / "roles" / "monitor.yaml").write_text("name: monitor\n")
    home("agent", "add", "monitor", "--role", "monitor")
    home("reminder", "add", "monitor", "-m", "Check CI", "--cron", "30 8 * * *")
    home("reminder", "add", "monitor", "-m", "Standup", "--cron", "0 9 * * *", "--to-person")
    data = home.json("simulate", *WEEK, "--agent", "monitor")
    happened = [(one["at"][:16], one["what"], one["subject"]) for one in data["events"] if one["what"] != "noted"]
    assert happened == [
        ("2026-02-16T08:30", "fired", "Check CI"),
        ("2026-02-16T09:00", "fired", "Standup"),
        ("2026-02-16T09:00", "sent", "reminder"),
        ("2026-02-17T08:30", "fired", "Check CI"),
        ("2026-02-17T09:00", "fired", "Standup"),
        ("2026-02-17T09:00", "sent", "reminder"),
    ]
    assert "monitor is not a coach" in " ".join(data["notes"])
    assert "  fired           Check CI\n" in home("simulate", *WEEK, "--agent", "monitor").stdout


def test_without_a_home_it_shows_the_coach_of_init_and_makes_none(cli: Cli) -> None:
    done = cli("simulate", *WEEK)
    assert "Summary of 2 days" in done.stdout
    assert "No home at" in done.stderr
    assert not cli.home.exists()


def test_the_same_seed_is_the_same_life_byte_for_byte_and_another_is_not(home: Cli) -> None:
    writer = lived_in(home, home.home.parent / "goals.md")
    runs = []
    for hash_seed in ("1", "2"):
        home.environment["PYTHONHASHSEED"] = hash_seed
        page = home.home.parent / f"{hash_seed}.html"
        text = home("simulate", *WEEK, "--seed", "5", "--html", str(page)).stdout
        runs.append((text, home("simulate", *WEEK, "--seed", "5", "--json").stdout, page.read_bytes()))
    assert runs[0] == runs[1]
    assert home("simulate", *WEEK, "--seed", "6").stdout != runs[0][0]
    writer.close()


def test_a_longer_run_begins_with_the_same_days(cli: Cli) -> None:
    short = cli("simulate", *WEEK).stdout
    long = cli("simulate", *WEEK, "--days", "3").stdout
    first_days = short[short.index("──") : short.index("\n\nSummary")]
    assert first_days in long


def test_a_week_with_a_clock_change_is_shown(cli: Cli) -> None:
    spring = cli("simulate", "--days", "2", "--from", "2026-03-08").stdout
    assert "03:00       clock           The clock goes forward 1 h, to 03:00. This day has 23 hours." in spring
    autumn = cli.json("simulate", "--days", "2", "--from", "2026-11-01")
    assert autumn["until"] == "2026-11-03T00:00:00-05:00"
    assert autumn["from"] == "2026-11-01T00:00:00-04:00"
    assert autumn["summary"]["quiet_hour_violations"] == 0
    morning = [one["at"] for one in autumn["events"] if one.get("subject") == "briefing:morning"]
    assert "2026-11-02T10:00:00-05:00" in morning


def test_json_has_the_events_the_samples_and_the_summary(cli: Cli) -> None:
    data = cli.json("simulate", *WEEK, "--person", "early-bird")
    assert data["person"] == "early-bird"
    assert len(data["samples"]) == 48
    assert data["summary"]["days"] == 2
    sent = [one for one in data["events"] if one["what"] == "sent" and not one.get("reply")]
    assert len(sent) == data["summary"]["messages"]
    assert data["costs_are_estimates"] is True
    assert data["summary"]["cost_micros"] == 0
    assert data["summary"]["estimated_cost_micros"] > 0


def test_a_page_is_written_and_well_formed(cli: Cli, tmp_path: Path) -> None:
    page = tmp_path / "week.html"
    assert "Written" in cli("simulate", *WEEK, "--html", str(page)).stderr
    text = page.read_text(encoding="utf-8")
    assert ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>")).tag == "html"
    assert "://" not in text
    done = cli("simulate", *WEEK, "--html", str(tmp_path / "no" / "where.html"), code=1)
    assert "cannot be written" in done.stderr


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        ("ping_budget=off", "lowest bucket level"),
        ("heartbeat=30m/45m/90m", "heartbeat calls"),
        ("change_gate=off", "model calls"),
    ],
)
def test_configurations_are_compared_on_the_same_life(cli: Cli, change: str, differs: str) -> None:
    lines = cli("simulate", *WEEK, "--compare", change).stdout.splitlines()
    assert any(line.startswith(differs) for line in lines)
    data = json.loads(cli("simulate", *WEEK, "--json", "--compare", change).stdout)
    assert differs in data["differences"]
    assert len(data["columns"]) == max(2, change.count("/") + 1)


def test_scripted_money_runs_out_and_the_agent_sleeps_and_wakes(home: Cli, tmp_path: Path) -> None:
    chatty = tmp_path / "chatty.yaml"
    chatty.write_text('wakes: "09:00"\nsleeps: "23:00"\ntalks:\n  - {say: "tell me something", per_day: 150}\n')
    (home.home / "nudge.toml").write_text('[spending]\nwindow = "12.00"\n')
    life = ("--days", "1", "--from", "2026-02-16", "--model", "scripted", "--person", str(chatty))
    out = home("simulate", *life).stdout
    assert "asleep          Agent paused until budget refresh" in out
    assert "19:00       awake           Resuming — budget refreshed." in out
    summary = home.json("simulate", *life)["summary"]
    assert summary["sleeps"] >= 1
    assert 90 <= summary["highest_budget_percent"] <= 100
    assert summary["cost_micros"] == summary["estimated_cost_micros"] <= 2 * 400_000


def test_a_long_run_says_how_far_it_is(cli: Cli) -> None:
    done = cli("simulate", "--days", "31", "--person", "silent", "--from", "2026-02-01")
    assert "day 30 of 31" in done.stderr
    assert "day 30" not in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--days", "0"), 2, "'0' is not a number of days from 1 to 3660"),
        (("--from", "soon"), 2, "'soon' is not a date like 2026-11-16"),
        (("--person", "nobody"), 3, "There is no person called 'nobody'"),
        (("--person", "missing.yaml"), 3, "There is no file missing.yaml"),
        (("--agent", "other"), 3, "There is no agent called 'other'"),
        (("--model", "real"), 4, "--model real needs a key"),
        (("--compare", "ping_budget"), 2, "'ping_budget' is not a setting to compare"),
        (("--compare", "ping_buget=off"), 2, "Did you mean 'ping_budget'?"),
        (("--compare", "heartbeat=soon"), 2, "--compare coach.heartbeat: expected a duration"),
        (("--compare", "ping_budget=off", "--html", "x.html"), 2, "--html shows one run"),
    ],
)
def test_what_cannot_be_done_is_said_with_the_next_step(cli: Cli, words: tuple[str, ...], code: int, says: str) -> None:
    done = cli("simulate", *words, code=code)
    assert says in done.stderr
    assert "next:" in done.stderr
    assert "nudge-simulate-" not in done.stderr  # the copy is nobody's business
    assert done.stdout == ""


def test_the_readme_shows_what_it_prints(cli: Cli) -> None:
    """The excerpt leaves lines out; those that it has must come, in this order."""
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    (words,) = re.findall(r"`nudge (simulate [^`]+)`;", readme)
    shown = readme.partition("```\n── ")[2].partition("```")[0].splitlines()
    printed = iter(cli(*words.split()).stdout.splitlines())
    assert len(shown) > 20
    assert [line for line in [f"── {shown[0]}", *shown[1:]] if line and line not in printed] == []


def test_a_person_of_ones_own(cli: Cli, tmp_path: Path) -> None:
    me = tmp_path / "me.yaml"
    me.write_text('wakes: "09:00"\nsleeps: "23:00"\ntalks:\n  - {say: "hello there", per_day: 9}\n')
    out = cli("simulate", *WEEK, "--person", str(me)).stdout
    assert "coach with me (seed 1)" in out
    assert "“hello there”" in out
    me.write_text("wakes: soon\n")
    assert "'soon' is not a time of day" in cli("simulate", *WEEK, "--person", str(me), code=4).stderr


def test_a_real_model_is_asked_while_the_clock_stands_still(home: Cli) -> None:
    with FakeAnthropic(answer=lambda body: {"action": "heartbeat_ok"} if "tools" in body else "A fine day.") as service:
        home.environment |= {"ANTHROPIC_API_KEY": service.api_key, "ANTHROPIC_BASE_URL": service.url}
        data = home.json("simulate", "--days", "1", "--from", "2026-02-16", "--model", "real", "--person", "silent")
        asked = len(service.requests)
    calls = [one for one in data["events"] if one["what"] == "asked"]
    assert len(calls) == asked
    assert calls
    assert all(one["cost_micros"] > 0 and "free" not in one for one in calls)
    assert data["costs_are_estimates"] is False
    assert any(one.get("text") == "A fine day." for one in data["events"])
    assert {one["at"][:10] for one in data["events"]} == {"2026-02-16"}
