"""Why: a search through every outcome, and the story of each from the timer to the delivery."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from nudge.queue.outcomes import Result
from nudge.web.layout import View, button, card, document, empty, facts, select, state_badge, table
from nudge.web.markup import Html, el
from nudge.web.pages import Ask, Query

_FIELDS = ("words", "agent", "result", "day")
_PAGEFUL = 100
_STATES = {"sent": "It was delivered", "pending": "It is waiting to be sent", "sending": "It is being sent"}


async def why_page(view: View, ask: Ask, query: Query) -> str:
    body = {name: query.get(name, "") for name in _FIELDS}
    found = await ask("read/outcomes", {**body, "before": query.get("before", ""), "limit": _PAGEFUL})
    older = urlencode({**body, "before": found["more_before"]}) if found["more_before"] else ""
    rows = [
        [
            view.times.at(one["at"]),
            el("a", one["title"], href=f"/why/{one['id']}"),
            state_badge(one["result"]),
            one["reason"],
            one["agent"],
        ]
        for one in found["outcomes"]
    ]
    asked = any(body.values())
    nothing = empty(
        "Nothing matches so far." if older else "Nothing matches." if asked else "Nothing has come due yet.",
        "Search further back, or leave a field empty."
        if asked
        else "Every reminder that comes due leaves a line here.",
    )
    return document(
        view,
        "Why",
        card("", _search(view, body), live=False),
        _days(view, body),
        card(
            "",
            table(["When", "What", "Result", "Why", "Agent"], rows, caption="Outcomes") if rows else nothing,
            el("p", el("a", "Search further back", href=f"/why?{older}")) if older else None,
            id_="outcomes",
        ),
    )


def _search(view: View, body: Mapping[str, str]) -> Html:
    return el(
        "form",
        el("span", el("label", "Words", for_="words"), _words(body["words"]), class_="field grow"),
        select("agent", "Agent", [("", "any"), *((one["name"], one["name"]) for one in view.agents)], body["agent"]),
        select("result", "Result", [("", "any"), *((one.value, one.value) for one in Result)], body["result"]),
        el(
            "span",
            el("label", "Day", for_="day"),
            el("input", name="day", id="day", type="date", value=body["day"]),
            class_="field",
        ),
        button("Search", class_="primary"),
        method="get",
        action="/why",
        class_="search",
        role="search",
    )


def _words(words: str) -> Html:
    return el("input", name="words", id="words", value=words, type="search", placeholder="quiet hours")


def _days(view: View, body: Mapping[str, str]) -> Html:
    """The last seven days, each one click away, with the rest of the search kept."""
    links = []
    for back in range(7):
        day = view.times.now.date() - timedelta(days=back)
        name = "Today" if back == 0 else "Yesterday" if back == 1 else f"{day:%A}"
        kept = {**{name: value for name, value in body.items() if value}, "day": day.isoformat()}
        here = "true" if body["day"] == day.isoformat() else None
        links.append(el("a", name, href=f"/why?{urlencode(kept)}", aria_current=here))
    return el("nav", *links, class_="choose", aria_label="Days")


async def story_page(view: View, ask: Ask, query: Query, number: str) -> str:
    found = await ask("read/why", {"what": number})
    stories = [_story(view, one) for one in found["outcomes"]]
    things = [
        card(
            one["title"],
            el("p", one["text"]),
            el("p", el("a", "Its outcomes", href=f"/why/{one['id']}"), class_="soft"),
            live=False,
        )
        for one in found["things"]
    ]
    near = ", ".join(found["near"])
    nothing = empty(f"Nothing matches {number!r}.", f"Near it: {near}." if near else "Search for its words.")
    return document(
        view,
        _title(found["outcomes"]),
        el("p", el("a", "All outcomes", href="/why"), class_="soft"),
        *stories,
        *things,
        None if stories or things else nothing,
    )


def _title(outcomes: Sequence[Mapping[str, Any]]) -> str:
    return f"Why: {outcomes[0]['title']}" if outcomes else "Why"


def _story(view: View, one: Mapping[str, Any]) -> Html:
    """From the timer to the delivery."""
    steps = [
        el("li", el("span", view.times.at(one["due_at"]), class_="when"), el("span", "It was due.")),
        el(
            "li",
            el("span", view.times.at(one["at"]), class_="when"),
            state_badge(one["result"]),
            el("span", one["reason"] or one["meaning"]),
        ),
    ]
    if message := one.get("message"):
        how = _STATES.get(message["state"], message["state"])
        steps.append(
            el(
                "li",
                el("span", view.times.at(message["sent_at"]), class_="when"),
                el("span", f"{how}: “{message['text']}” {message['error']}"),
            )
        )
    if not one["final"]:
        steps.append(el("li", el("span", "", class_="when"), el("span", "Still pending.")))
    reminder = one["key"].removeprefix("reminder:") if one["key"].startswith("reminder:") else ""
    detail = [
        (name.replace("_", " "), str(value)) for name, value in one["detail"].items() if name not in ("message", "name")
    ]
    return card(
        f"{one['title']} of {one['agent']}",
        el("ol", *steps, class_="feed story"),
        el("details", el("summary", "Details"), facts(*detail, ("outcome", f"#{one['id']}"))),
        el("p", el("a", "The reminder", href=f"/time/{reminder}")) if reminder else None,
        live=False,
    )
