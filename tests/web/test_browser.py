"""The page in a real browser: live, by keyboard, on a phone, for a screen reader, and with nothing from elsewhere."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from nudge.clock import SystemClock
from nudge.home.folder import Home
from nudge.instants import Instant
from nudge.queue.outbox import Message
from nudge.queue.outcomes import FeedLine, Outcome, Result
from nudge.stores.store import SqlStore
from nudge.testing import FakeAnthropic, Fault, FaultKind
from nudge.tui.app import NudgeTui, QuestionDialog
from nudge.tui.client import SocketSurface
from tests.web.conftest import live
from tests.web.site import Site, ask_for_more, demo, started

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

pytestmark = [pytest.mark.process, pytest.mark.slow]

PAGES = ("/", "/time", "/attention", "/money", "/sessions", "/sessions/s-demo", "/why", "/why/1", "/simulate", "/coach")


@pytest.fixture(scope="module", autouse=True)
def filled(site: Site) -> None:
    site.write(demo)


def test_what_happens_is_on_the_page_within_a_second(site: Site, page: Page) -> None:
    live(page, site.address)

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
    live(first, site.address)
    live(second, f"{site.address}/money")
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
    live(page, f"{site.address}/time")
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
    live(page, site.address)
    page.locator("#words").fill("half a sent")
    page.locator("#quiet-coach").focus()

    async def add(store: SqlStore, now: Instant) -> None:
        await store.feed.add(FeedLine(now, "coach", "note", "something else"))

    site.write(add)
    page.get_by_text("something else").wait_for()
    assert page.evaluate("document.activeElement.id") == "quiet-coach"
    assert page.locator("#words").input_value() == "half a sent"


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_fit_for_a_phone_a_screen_reader_and_hostile_words(
    site: Site, context: BrowserContext, path: str
) -> None:
    """At 390 pixels nothing is scrolled sideways, axe finds nothing in either theme, and what others wrote is shown and
    never run."""
    from axe_playwright_python.sync_playwright import Axe

    page = context.new_page()
    page.goto(site.address + path)
    assert page.evaluate("window.hurt") is None
    assert "\x1b" not in page.content()
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
        found = Axe().run(page)
        assert found.violations_count == 0, (theme, found.generate_report())
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    if path.startswith("/sessions/"):
        assert "<script>" in page.locator("#transcript").inner_text()


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


def test_an_answer_appears_while_the_model_writes_it(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The model stops in the middle of its answer. What it has written is on the page of whoever asked, without
    JavaScript, and on a page with JavaScript that was open before."""
    with FakeAnthropic() as anthropic:
        anthropic.reply("Start with the smallest piece of the draft, then rest.")
        environment = {"ANTHROPIC_API_KEY": anthropic.api_key, "ANTHROPIC_BASE_URL": anthropic.url}
        with (
            started(tmp_path_factory.mktemp("writing"), environment) as site,
            browser.new_context(java_script_enabled=False) as plain,
            browser.new_context() as scripted,
        ):
            asks, looks = plain.new_page(), scripted.new_page()
            for page in (asks, looks):
                page.set_default_timeout(10_000)
                page.goto(site.link())
            live(looks, f"{site.address}/coach")
            looks.locator("#talk").get_by_text("What should I call you?").wait_for()
            asks.goto(f"{site.address}/coach")
            anthropic.fail(Fault(FaultKind.STALL, pieces=4, on="messages"))
            asks.get_by_label("Message to coach").fill("where do I begin with the draft?")
            asks.get_by_role("button", name="Send").click()
            for page in (asks, looks):
                page.locator("#draft").get_by_text("Start").wait_for()
                page.locator("#busy").get_by_text("Writing").wait_for()


def test_an_edit_in_words_is_saved_and_undone(site: Site, page: Page) -> None:
    page.goto(f"{site.address}/time")
    page.get_by_label("Remind me").fill("feed the fish every day at 8am")
    page.get_by_role("button", name="Add").click()
    page.locator("#reminders").get_by_role("link", name="feed the fish").click()
    page.get_by_label("When, in words").press_sequentially("every friday at 9am")
    page.locator("#when-reading").get_by_text("9:00 AM").wait_for()
    page.get_by_role("button", name="Save").click()
    page.locator("#flash").get_by_text("Changed: feed the fish").wait_for()
    page.locator("#reminder").get_by_text("weekly on Fri at 09:00").wait_for()
    page.locator("#undo").click()
    page.locator("#reminder").get_by_text("daily at 08:00").wait_for()


RECORDER = """
window.shown = []; window.asked = 0;
window.Notification = class {
  constructor(title, options) { window.shown.push(`${title}: ${options.body}`); }
  static permission = "default";
  static requestPermission() { window.asked += 1; this.permission = "granted"; return Promise.resolve("granted"); }
};
"""


def test_messages_are_shown_on_the_desktop_once_they_are_turned_on(site: Site, context: BrowserContext) -> None:
    """Permission is asked for by the switch alone. What the gate held back, and answers in a chat, are not shown."""
    page = context.new_page()
    page.add_init_script(RECORDER)
    live(page, site.address)

    def happens(kind: str, text: str) -> None:
        async def add(store: SqlStore, now: Instant) -> None:
            await store.outbox.put(Message("coach", text, kind, now, asked=False))
            held = Outcome("coach", f"held:{text}", "heartbeat", now, now, Result.SUPPRESSED, f"held back {text}")
            await store.outcomes.record(held)

        site.write(add)
        page.locator("#feed").get_by_text(f"held back {text}").wait_for()

    happens("heartbeat", "too early")
    assert page.evaluate("[window.asked, window.shown]") == [0, []]
    page.get_by_role("button", name="Turn on").click()
    page.locator("#notify-state").get_by_text("They are on.").wait_for()
    happens("heartbeat", "How is the draft?")
    happens("reply", "You are welcome.")
    assert page.evaluate("[window.asked, window.shown]") == [1, ["coach: How is the draft?"]]
    page.get_by_role("button", name="Turn off").click()
    happens("heartbeat", "too late")
    assert len(page.evaluate("window.shown")) == 1


class Terminal(threading.Thread):
    """The dashboard in a terminal, with textual's pilot, on the socket of the same daemon."""

    def __init__(self, site: Site) -> None:
        super().__init__(daemon=True)
        self._socket = Home(site.cli.home).socket
        self.sees, self.may_answer, self.closed = threading.Event(), threading.Event(), threading.Event()

    def run(self) -> None:
        asyncio.run(self._look())

    async def _look(self) -> None:
        surface = SocketSurface(self._socket)
        app = NudgeTui(surface, SystemClock())

        async def until(condition: Callable[[], bool]) -> None:
            async with asyncio.timeout(20):
                while not condition():
                    await pilot.pause(0.02)

        async with app.run_test(size=(100, 30)) as pilot:
            await until(lambda: isinstance(app.screen, QuestionDialog))
            self.sees.set()
            await until(lambda: self.may_answer.is_set() or not isinstance(app.screen, QuestionDialog))
            if self.may_answer.is_set():
                await pilot.press("n")
            await until(lambda: not isinstance(app.screen, QuestionDialog))
            self.closed.set()
        await surface.close()


@pytest.mark.parametrize("first", ["the page", "the terminal", "both at once"])
def test_a_dialog_is_open_on_page_and_terminal_and_the_first_answer_wins(site: Site, page: Page, first: str) -> None:
    number = f"more-{first.replace(' ', '-')}"
    live(page, site.address)
    terminal = Terminal(site)
    terminal.start()
    site.write(lambda store, now: ask_for_more(store, now, number))
    yes = page.get_by_role("button", name="Yes, grant it")
    yes.wait_for()
    assert terminal.sees.wait(20)
    if first != "the page":
        terminal.may_answer.set()
    if first != "the terminal":
        yes.click()
        page.locator("#flash div").wait_for()
    assert terminal.closed.wait(20)
    page.locator("#questions section").wait_for(state="detached")

    async def answer(store: SqlStore, now: Instant) -> str:
        found = await store.questions.get(number)
        assert found is not None
        return found.answer

    told = site.write(answer)
    assert told in {"the page": ["yes"], "the terminal": ["no"], "both at once": ["yes", "no"]}[first]
    if first == "both at once":
        assert page.locator("#flash .bad").count() == (told == "no")
