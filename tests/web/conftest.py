from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

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


@pytest.fixture
def context(browser: Browser, site: Site) -> Iterator[BrowserContext]:
    """Somebody who came in with a link. Nothing may go wrong in their console, and nobody else may be asked."""
    opened = browser.new_context(locale="en-US")
    wrong: list[str] = []

    def watch(page: Page) -> None:
        page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda one: None if one.url.startswith((site.address, "data:")) else wrong.append(one.url))

    opened.on("page", watch)
    entering = opened.new_page()
    entering.goto(site.link())
    entering.close()
    yield opened
    opened.close()
    assert wrong == []


@pytest.fixture
def page(context: BrowserContext) -> Page:
    opened = context.new_page()
    opened.set_default_timeout(10_000)
    return opened
