"""Money as a person sees it: the budget commands, the status, the mail, and a sleeper that wakes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from nudge.clock import SystemClock
from nudge.instants import to_datetime
from nudge.spending.governor import Spending
from nudge.stores.open import open_store
from nudge.testing import FakeAnthropic
from tests.channels.test_smtp import Mailbox, serving
from tests.cli.cli import CliHere, until
from tests.spending.kit import INPUT, PricedModel, costs, everything, question, spending_on

DAILY = 1_000_000
WINDOW = 30 * DAILY
TODAY = to_datetime(SystemClock().now()).date()


def spend(here: CliHere, usage: Any, max_tokens: int = 1_000, *, calls: int = 1) -> None:
    """Let the coach of this home make calls that cost so much, as its daemon would."""

    async def main() -> None:
        store = await open_store(f"sqlite:///{here.home / 'nudge.db'}")
        spending: Spending = spending_on(store, SystemClock(), WINDOW, PricedModel(usage))
        try:
            for _ in range(calls):
                await spending.call("coach", question(max_tokens))
        finally:
            await store.close()

    asyncio.run(main())


@pytest.fixture
def paid(here: CliHere) -> CliHere:
    """A home with thirty dollars for thirty days, whose coach has spent 47 % of today."""
    (here.home / "nudge.toml").write_text('[spending]\nwindow = "30.00"\n')
    here("budget")
    spend(here, costs(470_000))
    return here


def feed(here: CliHere) -> list[str]:
    async def main() -> list[str]:
        store = await open_store(f"sqlite:///{here.home / 'nudge.db'}")
        lines = [line.text for line in await store.feed.after_id(0)]
        await store.close()
        return lines

    return asyncio.run(main())


def fall_asleep(here: CliHere) -> None:
    spend(here, everything, 530_000 - INPUT)
    assert here.json("budget", code=6)["state"] == "asleep"


@pytest.mark.parametrize(
    ("day_starts", "refreshes"),
    [("00:00 UTC", "19:00:00-05:00"), ("04:00", "23:00:00-05:00"), ("04:30 America/Panama", "04:30:00-05:00")],
)
def test_the_day_starts_when_the_file_says(here: CliHere, day_starts: str, refreshes: str) -> None:
    (here.home / "nudge.toml").write_text(f'[spending]\nday_starts = "{day_starts}"\nrenews = "2030-01-01"\n')
    told = datetime.fromisoformat(here.json("budget")["refresh_at"])
    assert told.astimezone(timezone(timedelta(hours=-5))).isoformat()[11:] == refreshes
    here("budget", "history")
    here("config", "check")


def test_people_see_percentages_and_operators_dollars(paid: CliHere) -> None:
    shown = paid("budget").stdout
    assert shown.startswith("Budget: 47% used  █████████░░░░░░░░░░░  awake\nRefreshes ")
    assert "$" not in shown
    detail = paid("budget", "--detail").stdout
    assert "today   $0.47 of $1.00" in detail
    assert "window  $0.47 of $30.00" in detail
    assert re.search(r"^conversation +penny +1 +470,000 +0 +\$0\.47$", detail, re.MULTILINE)
    told = paid.json("budget")
    assert (told["state"], told["percent"], told["colour"], told["banner"]) == ("awake", 47, "green", None)
    assert "detail" not in told
    assert datetime.fromisoformat(told["refresh_at"]).utcoffset() == timedelta(hours=-5)
    assert paid.json("budget", "--detail")["detail"]["day"] == {"limit": DAILY, "spent": 470_000, "held": 0}
    assert "Budget: 47% used" in feed(paid)


def test_history_is_a_bar_for_each_day(paid: CliHere) -> None:
    assert paid("budget", "history").stdout == f"{TODAY}  █████████░░░░░░░░░░░   47%\n"
    assert "$0.47 of $1.00" in paid("budget", "history", "--detail").stdout
    assert paid.json("budget", "history") == [{"day": TODAY.isoformat(), "percent": 47, "colour": "green"}]
    assert "--days must be from 1" in paid("budget", "history", "--days", "0", code=2).stderr


@pytest.mark.process
@pytest.mark.parametrize(
    "add_money",
    [
        pytest.param(lambda here: here("budget", "top-up", "5.00"), id="top-up"),
        pytest.param(lambda here: here("budget", "set", "--window", "100"), id="another window"),
        pytest.param(
            lambda here: (here.home / "nudge.toml").write_text(
                '[spending]\nwindow = "30.00"\ntier = "premium"\n[spending.windows]\npremium = "90.00"\n'
            ),
            id="another tier in the configuration",
        ),
    ],
)
def test_money_wakes_a_sleeper_while_the_daemon_runs(paid: CliHere, add_money: Callable[[CliHere], object]) -> None:
    fall_asleep(paid)
    with paid.start():
        add_money(paid)
        until(lambda: "Resuming — budget refreshed." in feed(paid), "the agent is awake", patience=5)
        assert paid.json("status")["spending"]["coach"]["state"] == "awake"
    assert feed(paid).count("Agent paused until budget refresh") == 1


def test_without_a_daemon_the_money_counts_at_once_and_the_wake_is_told_at_the_next_start(paid: CliHere) -> None:
    fall_asleep(paid)
    assert "awake" in paid("budget", "top-up", "5.00").stdout
    assert "Resuming — budget refreshed." not in feed(paid)
    with paid.start():
        until(lambda: "Resuming — budget refreshed." in feed(paid), "the agent is awake")


@pytest.mark.process
def test_asleep_no_model_is_asked_and_a_person_who_writes_still_gets_an_answer(paid: CliHere) -> None:
    with FakeAnthropic() as service:
        service.reply("Hello from the model.", times=50)
        paid.environment |= {"ANTHROPIC_API_KEY": service.api_key, "ANTHROPIC_BASE_URL": service.url}
        with paid.start():
            assert "Hello from the model." in paid("chat", stdin="hello\n").stdout
            asked = len(service.requests)
            assert asked > 0
            assert paid.json("budget", "--detail")["detail"]["usage"][-1]["model"] == "claude-sonnet-5-5"
            left = DAILY - paid.json("budget", "--detail")["detail"]["day"]["spent"]
            spend(paid, everything, left - INPUT)
            assert paid.json("budget", code=6)["state"] == "asleep"
            asked = len(service.requests)
            assert paid("chat", stdin="hello again\n").stdout.strip()
            assert len(service.requests) == asked
            paid("budget", "top-up", "30.00")
            assert "Hello from the model." in paid("chat", stdin="and again\n").stdout
            assert len(service.requests) > asked


@pytest.mark.process
def test_an_exceeded_budget_is_a_red_banner_and_a_mail(paid: CliHere) -> None:
    mailbox = Mailbox()
    with serving(mailbox) as port:
        paid.environment["NUDGE_SMTP_URL"] = f"smtp://127.0.0.1:{port}?from=nudge@example.com&to=me@example.com"
        with paid.start():
            assert "budget  coach: 47% used, awake" in paid("status").stdout
            spend(paid, costs(700_000))
            paid("budget", "set")  # pokes, as the daemon's own spending would
            until(lambda: len(mailbox.letters) == 1, "the mail is out")
            assert paid("status").stdout.splitlines()[0] == "coach: Agent stopped — daily budget exceeded"
            told = paid.json("status")["spending"]["coach"]
            assert (told["state"], told["banner"]) == ("budget_exceeded", "Agent stopped — daily budget exceeded")
            assert paid("budget", code=6).stdout.startswith("Agent stopped — daily budget exceeded\nBudget: 117% used")
            paid("budget", "top-up", "30.00")
            until(lambda: paid.json("status")["spending"]["coach"]["banner"] is None, "the banner is gone")
    assert len(mailbox.letters) == 1
    assert mailbox.letters[0]["To"] == "me@example.com"


def test_set_without_flags_goes_back_to_what_the_file_says(paid: CliHere) -> None:
    paid("budget", "set", "--window", "100")
    assert "The window has $105.00 now, until " in paid("budget", "top-up", "5.00").stderr
    paid("budget", "set")
    assert "window  $0.47 of $35.00, $5.00 of it topped up" in paid("budget", "--detail").stdout


def test_a_rest_that_pays_for_nothing_is_said(paid: CliHere) -> None:
    spend(paid, costs(520_000))
    with pytest.raises(Exception, match="does not cover"):
        spend(paid, costs(1), 60_000)
    assert "Today's remaining budget does not cover another call." in paid("budget", code=6).stdout


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["budget", "top-up", "0"], 2, "above 0"),
        (["budget", "top-up", "much"], 2, "not an amount"),
        (["budget", "set", "--renews", "soon"], 2, "not a date"),
        (["budget", "set", "--renews", "2020-01-01"], 2, "in the future"),
        (["budget", "--agent", "nobody"], 3, "no agent called"),
    ],
)
def test_mistakes_are_named_and_change_nothing(here: CliHere, words: list[str], code: int, said: str) -> None:
    assert said in here(*words, code=code).stderr
    assert here.json("budget", "--detail")["detail"]["window"]["limit"] == 10_000_000


def test_doctor_warns_of_old_prices_and_of_mail_that_goes_to_nobody(here: CliHere) -> None:
    assert "prices" in here("doctor").stdout
    assert "may have changed" not in here("doctor").stdout
    old = TODAY - timedelta(days=91)
    (here.home / "prices.toml").write_text(f"read = {old}\n")
    checks = {check["check"]: check for check in here.json("doctor")["checks"]}
    assert (checks["prices"]["level"], "91 days ago" in checks["prices"]["text"]) == ("warning", True)
    here.environment["NUDGE_SMTP_URL"] = "smtp://user:hunter2-secret@mail.example.com"
    found = here("doctor", code=1).stdout
    assert "No recipient for alerts" in found
    assert "hunter2" not in found
