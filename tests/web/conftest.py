from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.web.site import Site, started

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A daemon and its web page, each a real process."""
    with started(tmp_path_factory.mktemp("home")) as one:
        yield one


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's chromium. Where there is none the tests say so; with NUDGE_BROWSER=needed they fail. Its loop runs in
    this thread as long as it is open, so it is closed before other modules want one."""
    if CHROMIUM is None:
        if os.environ.get("NUDGE_BROWSER") == "needed":
            pytest.fail("no chromium here: install it with 'apt-get install chromium'")
        pytest.skip("no chromium here: install it with 'apt-get install chromium'")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def inside(browser: Browser, site: Site) -> Any:
    """The cookie of somebody who came in with a link, for every context of the module."""
    with browser.new_context() as opened:
        opened.new_page().goto(site.link())
        return opened.storage_state()


@pytest.fixture
def context(browser: Browser, site: Site, inside: Any) -> Iterator[BrowserContext]:
    """Somebody who is in. Nothing may go wrong in their console, and nobody else may be asked."""
    opened = browser.new_context(locale="en-US", storage_state=inside)
    wrong: list[str] = []

    def watch(page: Page) -> None:
        page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda one: None if one.url.startswith((site.address, "data:")) else wrong.append(one.url))

    opened.on("page", watch)
    opened.set_default_timeout(10_000)
    yield opened
    opened.close()
    assert wrong == []


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


def live(page: Page, address: str) -> None:
    """Open a page, and wait until it hears what happens."""
    page.goto(address)
    page.locator("body[data-live=on]").wait_for()
