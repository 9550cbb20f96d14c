"""What scripts use: an inbox with leases, idle and busy, notify, and money for calls that they make themselves."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from nudge.clock import SystemClock
from nudge.home.prices import load_prices
from nudge.inline import run_inline
from nudge.instants import HOUR, Instant, to_datetime, zone_of
from nudge.spending.governor import Spending
from nudge.spending.plan_windows import PlanTold, PlanWindow
from nudge.stores.open import open_sqlite
from nudge.stores.store import SqlStore
from tests.cli.cli import NUDGE, Cli, CliHere, until

ROLE = "name: monitor\nkind: worker\ndescription: Watches CI.\n"
MODEL = "claude-sonnet-5-5"


@pytest.fixture
def monitor(here: CliHere) -> CliHere:
    (here.home / "roles" / "monitor.yaml").write_text(ROLE)
    here("agent", "add", "monitor", "--role", "monitor")
    return here


def test_an_agent_needs_nothing_but_a_name(here: CliHere) -> None:
    assert "'nudge agent add scout' adds one" in here("exec", "--agent", "scout", "--", "true", code=3).stderr
    here("agent", "add", "scout")
    assert (here.home / "roles" / "scout.yaml").read_text() == 'name: "scout"\nkind: "worker"\n'
    here("exec", "--agent", "scout", "--", "true")
    here("agent", "remove", "scout")
    here("agent", "add", "scout")  # its role is there already


def take(cli: Cli, *more: str) -> Any:
    letters = json.loads(cli("inbox", "monitor", "--take", "--json", *more).stdout)
    return letters[0] if letters else None


def test_a_taken_letter_is_hidden_until_it_is_acked_once(monitor: CliHere) -> None:
    monitor("agent", "message", "monitor", "one")
    monitor("agent", "message", "monitor", "two")
    first, second = take(monitor), take(monitor)
    assert (first["body"], second["body"]) == ("one", "two")
    assert take(monitor) is None
    monitor("inbox", "monitor", "--take", "--fail-if-empty", code=3)
    monitor("inbox", "ack", first["receipt"])
    assert "no longer yours" in monitor("inbox", "ack", first["receipt"], code=3).stderr
    monitor("inbox", "nack", str(second["id"]))
    again = take(monitor)
    assert (again["body"], again["receipt"]) == ("two", f"{second['id']}-2")
    monitor("inbox", "ack", second["receipt"], code=3)  # the first taker comes too late
    monitor("inbox", "ack", "monitor")
    assert json.loads(monitor("inbox", "monitor", "--json").stdout) == []
    monitor("inbox", "ack", "monitor", code=3)


def test_an_unacknowledged_letter_comes_back(monitor: CliHere) -> None:
    monitor("agent", "message", "monitor", "one")
    first = take(monitor, "--lease", "1s")
    assert take(monitor) is None
    second = take(monitor, "--wait", "10s")
    assert (second["id"], second["body"]) == (first["id"], "one")
    monitor("inbox", "ack", first["receipt"], code=3)
    monitor("inbox", "ack", second["receipt"])


def test_a_late_ack_counts_if_nobody_else_took_it(monitor: CliHere) -> None:
    monitor("agent", "message", "monitor", "one")
    letter = take(monitor, "--lease", "1s")
    until(lambda: "taken" not in monitor("inbox", "monitor").stdout, "the lease is over")
    monitor("inbox", "ack", letter["receipt"])
    assert take(monitor) is None


def test_nack_can_put_a_letter_off_and_others_go_first(monitor: CliHere) -> None:
    monitor("agent", "message", "monitor", "one")
    monitor("agent", "message", "monitor", "two")
    monitor("inbox", "nack", take(monitor)["receipt"], "--in", "1h")
    assert take(monitor)["body"] == "two"
    assert take(monitor) is None


def test_for_good_needs_no_ack(monitor: CliHere) -> None:
    monitor("agent", "message", "monitor", "one")
    assert take(monitor, "--for-good")["body"] == "one"
    assert json.loads(monitor("inbox", "monitor", "--json").stdout) == []


@pytest.mark.process
def test_waiting_ends_with_the_letter(monitor: CliHere) -> None:
    command = [*NUDGE, "inbox", "monitor", "--take", "--wait", "60s"]
    with subprocess.Popen(command, env=monitor.environment, stdout=subprocess.PIPE, text=True) as waiting:
        monitor("agent", "message", "monitor", "at last")
        assert waiting.stdout is not None
        assert waiting.stdout.readline() == "at last\n"
        assert waiting.wait(20) == 0


@pytest.mark.process
def test_of_many_takers_each_letter_goes_to_one(monitor: CliHere) -> None:
    for number in range(6):
        monitor("agent", "message", "monitor", f"letter {number}")
    outside = Cli(monitor.home, monitor.environment)
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda _: take(outside), range(8)))
    bodies = [one["body"] for one in taken if one]
    assert sorted(bodies) == [f"letter {number}" for number in range(6)]


def test_an_agent_that_is_asleep_gets_no_letter(monitor: CliHere) -> None:
    monitor("agent", "message", "monitor", "one")
    monitor("budget", "set", "--window", "0", "--agent", "monitor")
    asleep = monitor("inbox", "monitor", "--take", "--wait", "1s", code=6)
    assert "asleep" in asleep.stderr
    assert "asleep" in monitor("budget", "--agent", "monitor", code=6).stdout
    monitor("budget", "top-up", "30", "--agent", "monitor")
    monitor("budget", "--agent", "monitor")
    assert take(monitor)["body"] == "one"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(["--wait", "1s"], 2, id="waiting without taking"),
        pytest.param(["--take", "--lease", "soon"], 2, id="no duration"),
        pytest.param(["--take", "--lease", "1m", "--for-good"], 2, id="two kinds of taking"),
    ],
)
def test_what_makes_no_sense_is_refused(monitor: CliHere, words: list[str], code: int) -> None:
    monitor("inbox", "monitor", *words, code=code)


def test_letters_that_a_program_works_on_are_not_taken(here: CliHere) -> None:
    here("agent", "add", "monitor", "--run", "true")
    assert "The daemon works on the letters" in here("inbox", "monitor", "--take", code=2).stderr


def notify(cli: Cli, *words: str, code: int = 0) -> Any:
    return json.loads(cli("notify", "monitor", *words, "--json", code=code).stdout)


def no_quiet_hours(cli: Cli) -> None:
    """Half a day from now."""
    goals = cli.home / "agents" / "coach" / "GOALS.md"
    far = (to_datetime(SystemClock().now(), zone_of(cli.environment["TZ"])).hour + 12) % 24
    goals.write_text(goals.read_text().replace('"02:00-10:00"', f'"{far:02}:00-{far:02}:30"'))


def test_notify_goes_through_the_gate_and_says_what_became_of_it(monitor: CliHere) -> None:
    no_quiet_hours(monitor)
    monitor("ping-budget", "2", "600")
    sent = notify(monitor, "The build is red", "--topic", "build")
    assert (sent["result"], sent["rule"]) == ("sent", None)
    repeated = notify(monitor, "The build is red", "--topic", "build", code=9)
    assert (repeated["result"], repeated["rule"]) == ("refused", "repeated")
    notify(monitor, "The disk is full", "--topic", "disk")
    later = notify(monitor, "Coffee is out", "--topic", "coffee", code=8)
    assert (later["result"], later["rule"]) == ("deferred", "bucket-empty")
    assert later["until"]
    urgent = notify(monitor, "The house is on fire", "--critical")
    assert urgent["result"] == "sent"
    waits = [one for one in json.loads(monitor("reminder", "list", "--json").stdout) if "Coffee" in one["message"]]
    assert [one["message"] for one in waits] == ["monitor: Coffee is out"]
    assert waits[0]["next_at"] == later["until"]
    lines = [json.loads(line) for line in monitor("log", "--agent", "monitor", "--json").stdout.splitlines()]
    told = [(line["kind"], line["text"].partition(" — ")[0]) for line in lines if line["kind"] != "added"]
    assert told == [
        ("sent", "“The build is red”"),
        ("refused", "“The build is red”"),
        ("sent", "“The disk is full”"),
        ("deferred", "“Coffee is out”"),
        ("sent", "“The house is on fire”"),
    ]


def test_notify_without_a_daemon_says_when_it_goes_out(monitor: CliHere) -> None:
    assert monitor("notify", "monitor", "hello").stderr == "No daemon runs: it goes out with the next 'nudge run'.\n"


def test_a_token_is_printed_alone_and_its_use_is_said_beside(monitor: CliHere) -> None:
    made = monitor("gateway", "token", "monitor")
    assert made.stdout.startswith("nudge.monitor.")
    assert "API key" in made.stderr


def test_notify_needs_an_agent_and_words(monitor: CliHere) -> None:
    monitor("notify", "nobody", "hello", code=3)
    monitor("notify", "monitor", " ", code=2)


def hold(cli: Cli, *more: str, code: int = 0) -> Any:
    words = ("--agent", "monitor", "--model", MODEL, "--input", "1000", "--max-tokens", "4096")
    done = cli("budget", "hold", *words, *more, "--json", code=code)
    return json.loads(done.stdout) if code == 0 else done.stderr


def spent(cli: Cli) -> tuple[int, int]:
    day = json.loads(cli("budget", "--agent", "monitor", "--detail", "--json").stdout)["detail"]["day"]
    return day["spent"], day["held"]


def test_a_program_holds_and_settles(monitor: CliHere) -> None:
    held = hold(monitor)
    assert (held["state"], held["max_tokens"]) == ("held", 4096)
    assert spent(monitor) == (0, held["held"])
    monitor("budget", "settle", held["id"], "--input", "1000", "--output", "180")
    assert spent(monitor) == (3_800, 0)
    monitor("budget", "settle", held["id"], "--input", "1000", "--output", "4000")
    assert spent(monitor) == (3_800, 0), "the first settlement counts"
    unused = hold(monitor, "--id", "mine")
    assert hold(monitor, "--id", "mine")["id"] == unused["id"] == "mine"
    monitor("budget", "settle", "mine", "--unused")
    assert spent(monitor) == (3_800, 0)
    monitor("budget", "settle", "nobody", "--unused", code=3)
    monitor("budget", "settle", held["id"], code=2)


def test_a_hold_that_does_not_fit_is_clamped_or_refused(monitor: CliHere) -> None:
    monitor("budget", "set", "--window", "0.60", "--agent", "monitor")  # two cents a day
    first = hold(monitor)
    assert first["max_tokens"] < 4096
    assert "next:" in hold(monitor, code=6)


def test_what_was_used_is_recorded_whether_or_not_there_was_money(monitor: CliHere) -> None:
    words = ("--agent", "monitor", "--model", MODEL, "--input", "1000", "--output", "180")
    monitor("budget", "record", *words, "--id", "call-1")
    monitor("budget", "record", *words, "--id", "call-1")
    assert spent(monitor) == (3_800, 0)
    monitor("budget", "record", "--agent", "monitor", "--model", MODEL, "--input", "2000000", "--output", "0")
    assert "stopped" in monitor("budget", "--agent", "monitor", code=6).stdout
    detail = json.loads(monitor("budget", "--agent", "monitor", "--detail", "--json", code=6).stdout)["detail"]
    assert detail["day"]["spent"] == 4_003_800
    assert detail["window"]["overrun"] == 0
    assert hold(monitor, code=6)


def test_busy_and_idle_say_when_the_idle_time_begins(monitor: CliHere) -> None:
    assert "busy until" in monitor("agent", "busy", "monitor", "--for", "2h").stderr
    assert "idle" in monitor("agent", "idle", "monitor").stderr
    monitor("agent", "idle", "nobody", code=3)


def test_a_plan_window_that_is_used_up_is_shown_and_lets_nobody_start(monitor: CliHere) -> None:
    async def fill(store: SqlStore) -> None:
        window = PlanWindow("5h", 100, Instant(SystemClock().now() + HOUR), used_up=True)
        spending = Spending(store, SystemClock(), prices=load_prices())
        await spending.note_plan("monitor", PlanTold((window,)))

    monitor("agent", "message", "monitor", "one")
    store = open_sqlite(str(monitor.home / "nudge.db"))
    run_inline(fill(store))
    run_inline(store.close())
    assert "Plan, 5 hours: 100% used, resets" in monitor("budget", "--agent", "monitor", code=6).stdout
    (shown,) = monitor.json("budget", "--agent", "monitor", code=6)["plan_windows"]
    assert (shown["name"], shown["percent"], shown["used_up"]) == ("5h", 100, True)
    assert monitor.json("budget", "--agent", "monitor", code=6)["by_plan"]
    monitor("inbox", "monitor", "--take", code=6)
    assert "awake" in monitor("budget", "wake", "--agent", "monitor").stdout
    assert monitor("inbox", "monitor", "--take").stdout == "one\n"


def test_a_script_gets_no_letter_while_its_plan_has_nothing_to_spare(monitor: CliHere) -> None:
    async def half_used_in_an_hour(store: SqlStore) -> None:
        window = PlanWindow("5h", 50, Instant(SystemClock().now() + 4 * HOUR))
        await Spending(store, SystemClock(), prices=load_prices()).note_plan("monitor", PlanTold((window,)))

    monitor("agent", "message", "monitor", "one")
    store = open_sqlite(str(monitor.home / "nudge.db"))
    run_inline(half_used_in_an_hour(store))
    run_inline(store.close())
    assert "resets" in monitor("budget", "--agent", "monitor").stdout
    (monitor.home / "nudge.toml").write_text("[windows]\nspare = true\n")
    assert "has nothing to spare before" in monitor("inbox", "monitor", "--take", code=6).stderr
    (monitor.home / "nudge.toml").write_text("[windows]\nspare = false\n")
    assert monitor("inbox", "monitor", "--take").stdout == "one\n"
