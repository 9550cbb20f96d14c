"""Ten things that people want, each at most three clicks or keys away. docs/web.md lists them with their paths."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nudge.instants import DAY, Instant
from nudge.queue.outcomes import Outcome, Result
from nudge.stores.store import SqlStore
from tests.web.conftest import live
from tests.web.site import Site, ask_for_more, demo

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.process, pytest.mark.slow]

DOCS = Path(__file__).parents[2] / "docs" / "web.md"
COUNT = """
const note = () => sessionStorage.setItem("taps", Number(sessionStorage.getItem("taps") || 0) + 1);
addEventListener("pointerdown", note, true);
addEventListener("change", (event) => { if (event.target.matches("select")) note(); }, true);
addEventListener("keydown", (event) => { if (event.key === "Enter") note(); }, true);
"""
"""Every tap, every choice in a list and every Enter is one. Typing what one wants to say is none."""
MOST = 3


@pytest.fixture(scope="module", autouse=True)
def filled(site: Site) -> None:
    async def more(store: SqlStore, now: Instant) -> None:
        await demo(store, now)
        at = Instant(now - 3 * DAY)
        held = "It fell in your quiet hours."
        await store.outcomes.record(Outcome("coach", "heartbeat", "heartbeat", at, at, Result.SUPPRESSED, held))
        await exceed(store, now)

    site.write(more)


async def exceed(store: SqlStore, now: Instant) -> None:
    """The builder has spent twice its day."""
    from nudge.spending.budgets import Budgets

    async with store.transaction():
        accounts = await Budgets(store).touch("builder", now)
        spent = {"committed": accounts.day.account.limit * 2, "held": 0, "overrun": 0}
        await store.database.run("accounts_change", {"kind": 1, "name": accounts.day.key.name, **spent})


def menu(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Pages").get_by_role("link", name=name, exact=True).click()


def why_not_on_that_day(page: Page, site: Site) -> None:
    menu(page, "Why")
    page.get_by_role("navigation", name="Days").get_by_role("link").nth(3).click()
    page.locator("#outcomes a").first.click()
    page.get_by_text("It fell in your quiet hours.").wait_for()


def what_the_builder_cost(page: Page, site: Site) -> None:
    menu(page, "Money")
    page.get_by_role("navigation", name="Agents").get_by_role("link", name="builder").click()
    page.get_by_role("heading", name="What it was spent on").wait_for()
    page.get_by_text(re.compile("this week")).wait_for()


def stop_for_today(page: Page, site: Site) -> None:
    page.get_by_role("button", name="Quiet today: coach").click()
    page.get_by_role("button", name="End quiet: coach").wait_for()


def remind_me(page: Page, site: Site) -> None:
    page.get_by_label("Remind me").click()
    page.keyboard.type("buy milk tomorrow 6pm")
    page.keyboard.press("Enter")
    page.get_by_text("I'll remind you: buy milk").wait_for()


def put_it_off(page: Page, site: Site) -> None:
    menu(page, "Time")
    page.get_by_role("button", name="Snooze 30 min: buy milk").first.click()
    page.locator("#flash").get_by_text("Snoozed: buy milk").wait_for()


def take_it_back(page: Page, site: Site) -> None:
    site.cli("reminder", "add", "coach", "-m", "call the bank", "--every", "1d")
    page.goto(f"{site.address}/time")
    page.get_by_role("button", name="Pause: call the bank").click()
    page.locator("#undo").click()
    page.locator("#flash").get_by_text("Resumed: call the bank").wait_for()


def let_it_go_on(page: Page, site: Site) -> None:
    site.write(ask_for_more)
    page.get_by_role("button", name="Yes, grant it").click()
    page.locator("#flash").get_by_text("Answered.").wait_for()


def what_it_does(page: Page, site: Site) -> None:
    menu(page, "Sessions")
    page.locator("#sessions a").first.click()
    page.get_by_role("heading", name="What was said and done").wait_for()


def wake_it(page: Page, site: Site) -> None:
    page.get_by_role("button", name="Top up $5: builder").click()
    page.get_by_text("Topped up.").wait_for()


def a_smaller_budget(page: Page, site: Site) -> None:
    menu(page, "Simulate")
    page.get_by_label("and change").select_option("capacity=3")
    page.get_by_role("button", name="Run a week").click(no_wait_after=True)
    page.get_by_role("heading", name="The difference").wait_for(timeout=60_000)


TASKS: dict[str, Callable[[Page, Site], None]] = {
    "Why did it not remind me on Tuesday?": why_not_on_that_day,
    "What did the builder cost this week, and on what?": what_the_builder_cost,
    "Stop everything for today": stop_for_today,
    "Remind me of something": remind_me,
    "Put a reminder off for half an hour": put_it_off,
    "Take back what I just did": take_it_back,
    "Give the builder more budget": let_it_go_on,
    "What is it doing right now, and how far is it?": what_it_does,
    "Wake an agent that sleeps on its budget": wake_it,
    "How would a smaller ping budget feel?": a_smaller_budget,
}


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS.keys())
def test_what_people_want_is_at_most_three_taps_away(
    site: Site, page: Page, task: Callable[[Page, Site], None]
) -> None:
    page.add_init_script(COUNT)
    live(page, site.address)
    task(page, site)
    taps = int(page.evaluate("sessionStorage.getItem('taps')"))
    assert 1 <= taps <= MOST


def test_the_manual_lists_these_tasks() -> None:
    table = DOCS.read_text(encoding="utf-8").split("## Ten tasks")[1].split("## ")[0]
    rows = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")]
    assert rows[1:] == list(TASKS)
