"""The page in a real browser: live, by keyboard, on a phone, for a screen reader, and with nothing from elsewhere."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from nudge.instants import Instant
from nudge.queue.outcomes import FeedLine
from nudge.stores.store import SqlStore
from nudge.testing import FakeAnthropic, Fault, FaultKind
from tests.web.site import Site, ask_for_more, demo, started

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

pytestmark = [pytest.mark.process, pytest.mark.slow]

PAGES = ("/", "/time", "/attention", "/money", "/sessions", "/sessions/s-demo", "/why", "/why/1", "/simulate", "/coach")


@pytest.fixture(scope="module", autouse=True)
def filled(site: Site) -> None:
    site.write(demo)


def test_what_happens_is_on_the_page_within_a_second(site: Site, page: Page) -> None:
    page.goto(site.address)
    page.wait_for_timeout(300)  # the stream is open

    async def add(store: SqlStore, now: Instant) -> None:
        await store.feed.add(FeedLine(now, "coach", "note", "the kettle boils"))

    before = time.perf_counter()  # noqa: TID251
    site.write(add)
    page.get_by_text("the kettle boils").wait_for(timeout=3000)
    assert time.perf_counter() - before < 1.0  # noqa: TID251


def test_a_reminder_in_words_shows_its_reading_while_it_is_typed(site: Site, page: Page) -> None:
    page.goto(f"{site.address}/time")
    page.get_by_label("Remind me").press_sequentially("water the plants tomorrow 7pm")
    page.locator("#reading").get_by_text("7:00 PM").wait_for()
    page.get_by_role("button", name="Add").click()
    page.locator("#flash").get_by_text("I'll remind you: water the plants").wait_for()
    page.locator("#reminders").get_by_role("link", name="water the plants").wait_for()
    page.get_by_role("button", name="Pause: water the plants").click()
    page.locator("#flash").get_by_text("Paused: water the plants").wait_for()
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Pause: water the plants").wait_for()
    page.get_by_role("button", name="Remove: water the plants").click()
    page.locator("#flash").get_by_text("Removed").wait_for()
    page.get_by_role("button", name="Undo").click()
    page.locator("#reminders").get_by_role("link", name="water the plants").wait_for()


def test_it_works_without_javascript(site: Site, browser: Any) -> None:
    with browser.new_context(java_script_enabled=False) as plain:
        page = plain.new_page()
        page.goto(site.link())
        page.goto(f"{site.address}/time")
        page.get_by_label("Remind me").fill("feed the cat tomorrow 8am")
        page.get_by_role("button", name="Check").click()
        page.locator("#reading").get_by_text("8:00 AM").wait_for()
        page.get_by_role("button", name="Add").click()
        page.get_by_text("I'll remind you: feed the cat").wait_for()


def test_the_first_answer_to_a_dialog_counts_wherever_it_is_given(site: Site, context: BrowserContext) -> None:
    first, second = context.new_page(), context.new_page()
    first.goto(site.address)
    second.goto(f"{site.address}/money")
    first.wait_for_timeout(300)
    site.write(ask_for_more)
    first.get_by_role("button", name="Yes, grant it").wait_for()
    assert re.search(r"\d+ s left", first.locator("#questions").inner_text())
    second.get_by_role("button", name="No, deny it").wait_for()
    first.get_by_role("button", name="Yes, grant it").click()
    first.locator("#flash").get_by_text("Answered.").wait_for()
    second.locator("#questions section").wait_for(state="detached")

    async def answer(store: SqlStore, now: Instant) -> str:
        found = await store.questions.get("more-1")
        assert found is not None
        return found.answer

    assert site.write(answer) == "yes"


def test_an_exceeded_budget_is_a_banner_on_every_page(site: Site, page: Page) -> None:
    page.goto(f"{site.address}/time")
    page.wait_for_timeout(300)
    assert page.locator("#alerts").inner_text() == ""

    async def exceed(store: SqlStore, now: Instant) -> None:
        from nudge.spending.budgets import Budgets

        async with store.transaction():
            accounts = await Budgets(store).touch("builder", now)
            await store.database.run(
                "accounts_change",
                {
                    "kind": 1,
                    "name": accounts.day.key.name,
                    "committed": accounts.day.account.limit * 2,
                    "held": 0,
                    "overrun": 0,
                },
            )

    site.write(exceed)
    page.locator("#alerts").get_by_text("builder:").wait_for(timeout=3000)
    assert page.locator("#alerts").get_attribute("role") == "alert"

    async def forgive(store: SqlStore, now: Instant) -> None:
        from nudge.spending.budgets import Budgets

        async with store.transaction():
            accounts = await Budgets(store).touch("builder", now)
            await store.database.run(
                "accounts_change",
                {
                    "kind": 1,
                    "name": accounts.day.key.name,
                    "committed": -accounts.day.account.committed,
                    "held": 0,
                    "overrun": 0,
                },
            )

    site.write(forgive)


def test_everything_is_reached_with_the_keyboard_alone(site: Site, page: Page) -> None:
    page.goto(site.address)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    for _ in range(3):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Time"
    page.keyboard.press("Enter")
    page.wait_for_url("**/time")
    page.locator("#words").focus()
    page.keyboard.type("stretch every weekday at 9am")
    page.keyboard.press("Enter")
    page.locator("#flash").get_by_text("I'll remind you: stretch").wait_for()


def test_focus_and_typed_words_stay_when_something_happens(site: Site, page: Page) -> None:
    page.goto(site.address)
    page.wait_for_timeout(300)
    page.locator("#words").fill("half a sent")
    page.locator("#quiet-coach").focus()

    async def add(store: SqlStore, now: Instant) -> None:
        await store.feed.add(FeedLine(now, "coach", "note", "something else"))

    site.write(add)
    page.get_by_text("something else").wait_for()
    assert page.evaluate("document.activeElement.id") == "quiet-coach"
    assert page.locator("#words").input_value() == "half a sent"


@pytest.mark.parametrize("path", PAGES)
def test_a_phone_shows_it_all_without_scrolling_sideways(site: Site, context: BrowserContext, path: str) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(site.address + path)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_nothing(site: Site, context: BrowserContext, path: str, theme: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = context.new_page()
    page.emulate_media(color_scheme=theme)
    page.goto(site.address + path)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_what_others_wrote_is_shown_and_never_run(site: Site, page: Page) -> None:
    for path in PAGES:
        page.goto(site.address + path)
        assert page.evaluate("window.hurt") is None, path
        assert "\x1b" not in page.content(), path
    page.goto(f"{site.address}/sessions/s-demo")
    assert "<script>" in page.locator("#transcript").inner_text()


def test_a_week_is_simulated_with_and_without_a_setting(site: Site, page: Page) -> None:
    page.goto(f"{site.address}/simulate")
    page.get_by_label("Change").select_option("ping_budget=off")
    page.get_by_role("button", name="Run a week").click(no_wait_after=True, timeout=60_000)
    page.get_by_role("heading", name="The difference").wait_for(timeout=60_000)


def test_the_coach_is_talked_to_and_its_documents_are_edited(site: Site, page: Page) -> None:
    page.goto(f"{site.address}/coach")
    page.get_by_label("Message to coach").fill("/goals")
    page.get_by_role("button", name="Send").click()
    page.locator("#talk").get_by_text("Schedule Targets").wait_for()
    text = page.locator("#doc-goals")
    text.fill(text.input_value() + "\n- read a book\n")
    page.get_by_role("button", name="Save Goals").click()
    page.locator("#flash").get_by_text("Saved.").wait_for()
    assert "read a book" in (site.cli.home / "agents" / "coach" / "GOALS.md").read_text()
    page.locator("#flash").get_by_role("button", name="Undo").click()
    page.locator("#flash").get_by_text("Undone").wait_for()
    assert "read a book" not in (site.cli.home / "agents" / "coach" / "GOALS.md").read_text()


@pytest.mark.parametrize("scripts", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_an_answer_appears_while_the_model_writes_it(
    browser: Any, tmp_path_factory: pytest.TempPathFactory, scripts: bool
) -> None:
    """The model stops in the middle of its answer, and what it has written is on the page."""
    with FakeAnthropic() as anthropic:
        anthropic.reply("Start with the smallest piece of the draft, then rest.")
        environment = {"ANTHROPIC_API_KEY": anthropic.api_key, "ANTHROPIC_BASE_URL": anthropic.url}
        home = tmp_path_factory.mktemp("writing")
        with started(home, environment) as site, browser.new_context(java_script_enabled=scripts) as visitor:
            page = visitor.new_page()
            page.set_default_timeout(10_000)
            page.goto(site.link())
            page.goto(f"{site.address}/coach")
            page.locator("#talk").get_by_text("What should I call you?").wait_for()
            anthropic.fail(Fault(FaultKind.STALL, pieces=4, on="messages"))
            page.get_by_label("Message to coach").fill("where do I begin with the draft?")
            page.get_by_role("button", name="Send").click()
            page.locator("#draft").get_by_text("Start").wait_for()
            page.locator("#busy").get_by_text("Writing").wait_for()


def _why_tuesday(page: Page) -> None:
    page.get_by_role("link", name="Why", exact=True).click()
    page.get_by_role("navigation", name="Days").get_by_role("link", name="Today").click()
    page.locator("#outcomes a").first.click()
    page.get_by_text("It was due.").wait_for()


def _cost_of_the_builder(page: Page) -> None:
    page.get_by_role("link", name="Money", exact=True).click()
    page.get_by_role("navigation", name="Agents").get_by_role("link", name="builder").click()
    page.get_by_role("heading", name="What it was spent on").wait_for()
    page.get_by_text(re.compile("this week")).wait_for()


def _quiet_today(page: Page) -> None:
    page.get_by_role("button", name="Quiet today: coach").click()
    page.get_by_role("button", name="End quiet: coach").click()
    page.get_by_role("button", name="Quiet today: coach").wait_for()


def _remind_me(page: Page) -> None:
    page.get_by_label("Remind me").fill("buy milk tomorrow 6pm")
    page.keyboard.press("Enter")
    page.get_by_text("I'll remind you: buy milk").wait_for()


def _snooze_and_undo(page: Page) -> None:
    _remind_me(page)
    page.get_by_role("link", name="Time", exact=True).click()
    page.get_by_role("button", name="Snooze 30 min: buy milk").first.click()
    page.locator("#flash").get_by_text("Snoozed: buy milk").wait_for()
    page.locator("#undo").click()
    page.locator("#flash").get_by_text("Restored: buy milk").wait_for()


def _what_it_does(page: Page) -> None:
    page.get_by_role("link", name="Sessions", exact=True).click()
    page.locator("#sessions a").first.click()
    page.get_by_role("heading", name="What was said and done").wait_for()


def _top_up(page: Page) -> None:
    page.get_by_role("link", name="Money", exact=True).click()
    page.get_by_label("Top up, in dollars").fill("5.00")
    page.get_by_role("button", name="Top up").click()
    page.get_by_text("Topped up.").wait_for()


TASKS = {
    "why did it not remind me on Tuesday?": _why_tuesday,
    "what did the builder cost this week, and on what?": _cost_of_the_builder,
    "stop everything for today": _quiet_today,
    "remind me of something": _remind_me,
    "put it off for half an hour, and take that back": _snooze_and_undo,
    "what is it doing right now?": _what_it_does,
    "wake an agent that sleeps on its budget": _top_up,
}
"""The dialog and the simulation have tests of their own."""


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS.keys())
def test_what_people_want_is_a_few_clicks_away(site: Site, page: Page, task: Callable[[Page], None]) -> None:
    page.goto(site.address)
    task(page)
