"""The pictures of README and docs, from a simulated week and the demo's session: `make screens`."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

from nudge.instants import to_datetime
from nudge.tui.app import NudgeTui
from nudge.tui.client import SocketSurface
from tests.web.conftest import CHROMIUM, FLAGS
from tests.web.showcase import Past, StandingClock, past, shown

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
LARGEST = 150_000
"""Bytes of one picture; all of them together are a part of every clone."""
WIDE, TALL, PHONE = (1120, 760), (1120, 900), (390, 780)
PAGES: tuple[tuple[str, str, str, tuple[int, int]], ...] = (
    ("now-light", "/", "light", WIDE),
    ("now-dark", "/", "dark", WIDE),
    ("phone", "/", "light", PHONE),
    ("", "/", "light", WIDE),
    ("time", "/time", "light", WIDE),
    ("attention-light", "/attention", "light", TALL),
    ("attention-dark", "/attention", "dark", TALL),
    ("money", "/money?agent=builder", "dark", WIDE),
    ("session", "/sessions/s-cart", "light", TALL),
)
"""File, path, theme and size. Without a file the open question is answered: the pictures behind it are without it."""
TERMINAL = (110, 32)


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="nudge-screens-") as folder:
        lived = past(Path(folder))
        PICTURES.mkdir(exist_ok=True)
        with shown(lived) as link:
            _pages(lived, link)
            asyncio.run(_terminal(lived))
    sizes = {path.name: path.stat().st_size for path in sorted(PICTURES.iterdir())}
    for name, size in sizes.items():
        print(f"{size:>8,}  {name}{'  too large' if size > LARGEST else ''}")
    return 1 if any(size > LARGEST for size in sizes.values()) else 0


def _pages(lived: Past, link: str) -> None:
    from playwright.sync_api import sync_playwright

    if CHROMIUM is None:
        sys.exit("No chromium is here: run 'scripts/browser'.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        with browser.new_context() as first:
            first.new_page().goto(link)
            inside = first.storage_state()
        for name, path, theme, (width, height) in PAGES:
            more: Any = {"color_scheme": theme, "reduced_motion": "reduce", "storage_state": inside}
            with browser.new_context(viewport={"width": width, "height": height}, locale="en-US", **more) as context:
                page = context.new_page()
                page.clock.set_fixed_time(to_datetime(lived.now))  # it counts down from there
                page.goto(link.split("/enter")[0] + path)
                page.locator("body[data-live=on]").wait_for()
                if not name:
                    page.get_by_role("button", name="Yes, grant it").click()
                    page.locator("#questions section").wait_for(state="detached")
                    continue
                page.screenshot(path=PICTURES / f"{name}.png", animations="disabled")
        browser.close()


async def _terminal(lived: Past) -> None:
    surface = SocketSurface(lived.home.socket)
    app = NudgeTui(surface, StandingClock(lived.now))
    async with app.run_test(size=TERMINAL) as pilot:
        while not app.query("#feed") or not app.screen_stack[0].query_one("#upcoming").row_count:  # type: ignore[attr-defined]
            await pilot.pause(0.05)
        await pilot.pause()
        (PICTURES / "tui.svg").write_text(app.export_screenshot(title="nudge tui"), encoding="utf-8")
    await surface.close()


if __name__ == "__main__":
    sys.exit(main())
