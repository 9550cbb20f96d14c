"""Time: reminders with their next and last time, and how each of them went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from nudge.palette import tone_of
from nudge.reminders.text import rhythm
from nudge.web.layout import View, button, card, choose_agent, document, empty, facts, form, state_badge, table
from nudge.web.markup import Html, el, together
from nudge.web.pages import Ask, Query
from nudge.web.words import plural

_PAGEFUL = 40
_DOTS = 12
_STEP = 13

ABLE = {
    "active": (("snooze", "Snooze 30 min"), ("pause", "Pause"), ("complete", "Done"), ("remove", "Remove")),
    "paused": (("resume", "Resume"), ("remove", "Remove")),
}
"""What can be done with a reminder, by its status."""


def add_form(view: View, words: str = "", reading: str = "") -> Html:
    """A reminder in words. While it is typed the reading appears; without JavaScript "Check" shows it."""
    typed = el(
        "input",
        name="words",
        id="words",
        value=words,
        required=True,
        autocomplete="off",
        maxlength="1000",
        placeholder="call mum friday 5pm",
        aria_describedby="reading",
        data_understand="reading",
    )
    content = together(
        el("label", "Remind me", for_="words"),
        el(
            "div",
            typed,
            button("Add", class_="primary"),
            button("Check", name="check", value="1", class_="quiet"),
            class_="words",
        ),
        el("output", reading, id="reading", aria_live="polite"),
    )
    return form(view, "add", {}, content, class_="stack", data_reset=True)


async def time_page(view: View, ask: Ask, query: Query) -> str:
    ended, agent = query.get("ended") == "1", query.get("agent", "")
    most = _PAGEFUL * 10 if query.get("more") == "1" else _PAGEFUL
    asked = {"ended": ended, "limit": most, "history": _DOTS, **({"agent": agent} if agent else {})}
    found = await ask("read/reminders", asked)
    rows = [
        [
            el("a", one["name"] or one["message"], href=f"/time/{one['id']}"),
            rhythm(one["schedule_words"]),
            _next(view, one),
            together(timeline(one["history"]), view.times.at(one["last_fired_at"])),
            state_badge(one["status"]),
            _buttons(view, one),
        ]
        for one in found["reminders"]
    ]
    other = el("a", "Hide ended ones", href="/time") if ended else el("a", "Show ended ones too", href="/time?ended=1")
    there = urlencode({"ended": "1" if ended else "", "agent": agent, "more": "1"})
    return document(
        view,
        "Time",
        card("", add_form(view, query.get("words", ""), query.get("reading", "")), live=False),
        choose_agent(view, agent, path="/time", all_=True),
        card(
            "",
            table(["Reminder", "When", "Next", "How it went", "Status", "Change"], rows, caption="Reminders")
            if rows
            else empty("No reminders yet.", "Write one above, for example “stretch every weekday at 9”."),
            el("p", el("a", "Show more", href=f"/time?{there}")) if len(rows) == _PAGEFUL else None,
            el("p", other, class_="soft"),
            id_="reminders",
        ),
    )


def _next(view: View, one: Mapping[str, Any]) -> Html | str:
    if not one["next_at"]:
        return "–"
    return together(view.times.at(one["next_at"]), " ", el("span", view.times.away(one["next_at"]), class_="soft"))


def _buttons(view: View, one: Mapping[str, Any]) -> Html:
    """All that can be done with it, as one form: each button says what."""
    number, name = one["id"], one["name"] or one["message"]
    able = ABLE.get(one["status"], (("restore", "Restore"),))
    buttons = [
        button(
            label, id_=f"{action}-{number}", class_="small", formaction=f"/do/{action}", aria_label=f"{label}: {name}"
        )
        for action, label in able
    ]
    return form(view, able[0][0], {"id": number, "for": "30m"}, *buttons)


async def reminder_page(view: View, ask: Ask, query: Query, number: str) -> str:
    one = await ask("read/reminder", {"id": number})
    history, title = one["history"], one.get("name") or one["message"]
    rows = [
        [
            view.times.at(row["due_at"]),
            state_badge(row["result"]),
            row["reason"] or row["meaning"],
            el("a", "Story", href=f"/why/{row['id']}", aria_label=f"Story of outcome {row['id']}"),
        ]
        for row in history
    ]
    edit = form(
        view,
        "edit",
        {"id": one["id"]},
        el("label", "Text", for_="message"),
        el("input", name="message", id="message", value=one["message"], maxlength="2000"),
        el("label", "When, in words (leave empty to keep the time)", for_="when"),
        el(
            "input",
            name="when",
            id="when",
            placeholder="every weekday at 9",
            autocomplete="off",
            data_understand="when-reading",
            data_part="when",
            aria_describedby="when-reading",
        ),
        el("output", "", id="when-reading", aria_live="polite"),
        el("div", button("Save", class_="primary"), class_="actions"),
        class_="stack",
    )
    return document(
        view,
        title,
        card(
            "",
            facts(
                ("When", rhythm(one["schedule_words"])),
                ("Next", _next(view, one)),
                ("Status", state_badge(one["status"])),
                ("Fired", plural(int(one.get("fire_count") or 0), "time")),
                ("Agent", one["agent"]),
                ("Id", one["id"]),
            ),
            _buttons(view, {**one, "name": title}),
            id_="reminder",
        ),
        card(
            "How it went",
            timeline(history),
            table(["Due", "Result", "Why", "Story"], rows, caption="History")
            if rows
            else empty("It has not been due yet.", "Each occurrence appears here with its reason."),
            id_="history",
        ),
        card("Change it", edit, live=False),
    )


def timeline(history: Sequence[Mapping[str, Any]]) -> Html | None:
    """The last occurrences as dots, oldest first."""
    if not history:
        return None
    oldest_first = list(reversed(history))
    dots = [
        el(
            "circle",
            el("title", f"{row['due_at']}: {row['result']}"),
            cx=7 + at * _STEP,
            cy=8,
            r=4.5,
            class_=f"dot-{tone_of(row['result'])}",
        )
        for at, row in enumerate(oldest_first)
    ]
    width = len(dots) * _STEP
    return el(
        "svg",
        *dots,
        viewBox=f"0 0 {width} 16",
        width=width,
        height=16,
        class_="timeline",
        role="img",
        aria_label="Oldest first: " + ", ".join(row["result"] for row in oldest_first),
    )
