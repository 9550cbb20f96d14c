"""Agents: all of them by name, with a search and page by page, also where there are a hundred thousand."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from nudge.web.layout import View, button, card, document, empty, state_badge
from nudge.web.markup import Html, el
from nudge.web.pages import Ask, Query

PAGE = 50


async def agents_page(view: View, ask: Ask, query: Query) -> str:
    search, after = query.get("search", "")[:200], query.get("after", "")[:200]
    found = await ask("read/all_agents", {"search": search, "after": after, "limit": PAGE})
    rows = [_row(view, one) for one in found["agents"]]
    heads = el("tr", *(el("th", name, scope="col") for name in ("Name", "Role", "State", "Next")))
    links = []
    if after:
        links.append(el("a", "First page", href=f"/agents?{urlencode({'search': search})}"))
    if found["more"]:
        following = urlencode({"search": search, "after": found["agents"][-1]["name"]})
        links.append(el("a", "Next page", href=f"/agents?{following}", rel="next"))
    matching = found["matching"]
    return document(
        view,
        "Agents",
        card(
            "",
            el(
                "form",
                el("label", "Name", for_="search"),
                el("input", name="search", id="search", type="search", value=search, autocomplete="off"),
                button("Search"),
                method="get",
                action="/agents",
                role="search",
            ),
            el("p", f"{matching:,} agent{'' if matching == 1 else 's'}", class_="soft", role="status"),
            el("table", el("thead", heads), el("tbody", *rows))
            if rows
            else empty("No agents match.", "Search for a part of a name."),
            el("p", *links, class_="actions") if links else None,
            live=False,
        ),
    )


def _row(view: View, one: Any) -> Html:
    coming = view.times.at(one["next_at"]) if one["next_at"] else "when something happens"
    state = state_badge(one["state"]) if one["state"] else "new"
    name = el("a", one["name"], href=f"/money?{urlencode({'agent': one['name']})}")
    return el("tr", el("td", name), el("td", one["role"]), el("td", state), el("td", coming))
