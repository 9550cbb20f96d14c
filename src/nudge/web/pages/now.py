"""Now: agents with their meters, what is next, the feed. Banner and questions are on every page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nudge.web.layout import View, bucket_words, button, card, document, empty, form, meter, state_badge
from nudge.web.markup import Html, el
from nudge.web.pages import Ask, Query
from nudge.web.pages.time import add_form
from nudge.web.words import state_of

TOP_UP = "5"
"""Dollars. What one tap gives an agent that sleeps on its budget; the page Money takes any amount."""


async def now_page(view: View, ask: Ask, query: Query) -> str:
    data = view.base
    upcoming = [
        el(
            "li",
            el("span", view.times.at(one["next_at"]), class_="when"),
            el("a", one["name"] or one["message"], href=f"/time/{one['id']}"),
            el("span", view.times.away(one["next_at"]), class_="soft"),
            id=f"next-{one['id']}",
        )
        for one in data["upcoming"]
    ]
    nothing = empty("Nothing is coming up.", "Write a reminder below, for example “stretch every weekday at 9”.")
    return document(
        view,
        "Now",
        el("section", *(agent_card(view, one) for one in view.agents), id="agents", class_="grid", data_live=True),
        el(
            "div",
            el(
                "div",
                card(
                    "Next",
                    el("ul", *upcoming, class_="plain coming") if upcoming else nothing,
                    el("p", el("a", "All reminders", href="/time"), class_="soft"),
                    id_="upcoming",
                ),
                card("", add_form(view), live=False),
                notices(),
            ),
            card(
                "Activity",
                el("ol", *(feed_item(view, run) for run in runs(data["feed"])), class_="feed")
                if data["feed"]
                else empty("Nothing has happened yet.", "What agents do appears here as it happens."),
                id_="feed",
                aria_live="polite",
                aria_relevant="additions",
            ),
            class_="halves wide-right",
        ),
    )


def notices() -> Html:
    """The switch for notifications on the desktop. The script shows it where the browser has them, and asks for
    permission when it is pressed, never before."""
    return el(
        "section",
        el("h2", "Desktop notifications"),
        el("p", "Get your agents' messages as notifications while this page is open in a tab.", class_="soft"),
        el("button", "Turn on", type="button", id="notify", aria_pressed="false"),
        el("p", "", id="notify-state", role="status", class_="soft"),
        class_="card",
        id="notices",
        hidden=True,
    )


def agent_card(view: View, agent: Mapping[str, Any]) -> Html:
    spending, name = agent["spending"], agent["name"]
    bucket, session = agent.get("bucket") or {}, agent.get("session")
    refreshes = view.times.at(spending["refresh_at"])
    lines = [el("p", "Refreshes ", refreshes, f", {view.times.away(spending['refresh_at'])}.", class_="soft")]
    if bucket.get("ping_budget") == "on":
        lines.append(el("p", bucket_words(bucket), class_="soft"))
    if agent.get("quiet_until"):
        lines.append(el("p", "Quiet until ", view.times.at(agent["quiet_until"]), "."))
    if session:
        task = el("a", session["task"] or session["id"], href=f"/sessions/{session['id']}")
        lines.append(el("p", task, f" · {session['doing']}"))
    actions = []
    if agent.get("talks"):
        quiet = ("off", "End quiet", "loud") if agent.get("quiet_until") else ("today", "Quiet today", "quiet")
        actions.append(_button(view, "quiet", {"agent": name, "for": quiet[0]}, quiet[1], f"{quiet[2]}-{name}", name))
    if spending["state"] in ("asleep", "budget_exceeded"):
        actions.append(_button(view, "wake", {"agent": name}, "Wake", f"wake-{name}", name))
        top_up = {"agent": name, "amount": TOP_UP}
        actions.append(_button(view, "top_up", top_up, f"Top up ${TOP_UP}", f"more-{name}", name))
    return el(
        "article",
        el(
            "div",
            el("h2", name, id=f"agent-{name}-title"),
            state_badge(spending["state"], state_of(agent, view.times)),
            class_="title",
        ),
        el("p", el("b", f"{spending['percent']}%"), " of today's budget used", class_="big"),
        meter(spending["percent"], spending["colour"], f"{name}: {spending['text']}"),
        *lines,
        el("div", *actions, class_="actions") if actions else None,
        class_="card agent",
        id=f"agent-{name}",
        aria_labelledby=f"agent-{name}-title",
    )


def _button(view: View, action: str, values: Mapping[str, str], label: str, id_: str, name: str) -> Html:
    return form(view, action, values, button(label, id_=id_, aria_label=f"{label}: {name}"))


def runs(feed: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """What happened several times in a row in the same way, together. Newest first, as the feed is.

    >>> beat = {"type": "outcome", "agent": "coach", "key": "heartbeat", "result": "silent", "reason": ""}
    >>> [len(run) for run in runs([beat, beat, {**beat, "result": "fired"}])]
    [2, 1]
    """
    found: list[list[Mapping[str, Any]]] = []
    for one in feed:
        if found and _sort(one) == _sort(found[-1][0]):
            found[-1].append(one)
        else:
            found.append([one])
    return found


def _sort(one: Mapping[str, Any]) -> tuple[Any, ...]:
    """Of a meter that moves, the last word is enough. Every other line of the feed stands for itself."""
    if one["type"] == "outcome":
        return tuple(one[name] for name in ("agent", "key", "result", "reason"))
    return (one["agent"], "budget") if one["kind"] == "budget" else (one["id"],)


def feed_item(view: View, run: Sequence[Mapping[str, Any]]) -> Html:
    """A line of the feed. An outcome leads to its story; several equal ones are one line."""
    one, first = run[0], run[-1]
    times = [view.times.at(first["at"]), "–", view.times.at(one["at"])] if len(run) > 1 else [view.times.at(one["at"])]
    if one["type"] == "outcome":
        badge: Any = state_badge(one["result"])
        words: list[Any] = [el("a", one["title"], href=f"/why/{one['id']}")]
        words.append(f" {one['reason']}" if one["reason"] else "")
    else:
        badge, words = el("span", one["kind"], class_="badge soft"), [one["text"]]
    notes = [f"{len(run):,} times"] if len(run) > 1 and one["type"] == "outcome" else []
    notes += [one["agent"]] if len(view.agents) > 1 and one["agent"] else []
    words.append(el("span", f" {' · '.join(notes)}", class_="soft") if notes else "")
    return el(
        "li",
        el("span", *times, class_="when"),
        badge,
        el("span", *words),
        id=f"{one['type']}-{one['id']}",
    )
