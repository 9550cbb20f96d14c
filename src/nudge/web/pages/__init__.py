"""The pages, one module each: it asks the daemon for what it shows, and renders it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

Ask = Callable[[str, dict[str, Any]], Awaitable[Any]]
"""One question to the daemon: a route and its fields."""
Query = Mapping[str, str]
Page = Callable[..., Awaitable[str]]
"""Takes the view, the way to ask, the query, and what the path names."""


def routes() -> dict[str, Page]:
    """Every page by its path."""
    from nudge.web.pages.agents import agents_page
    from nudge.web.pages.attention import attention_page
    from nudge.web.pages.coach import coach_page
    from nudge.web.pages.money import money_page
    from nudge.web.pages.now import now_page
    from nudge.web.pages.sessions import session_page, sessions_page
    from nudge.web.pages.time import reminder_page, time_page
    from nudge.web.pages.why import story_page, why_page

    return {
        "/": now_page,
        "/agents": agents_page,
        "/time": time_page,
        "/time/{key}": reminder_page,
        "/attention": attention_page,
        "/money": money_page,
        "/sessions": sessions_page,
        "/sessions/{key}": session_page,
        "/why": why_page,
        "/why/{key}": story_page,
        "/coach": coach_page,
    }
