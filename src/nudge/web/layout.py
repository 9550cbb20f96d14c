"""What all pages share: the frame, the banner, open questions, meters, forms and lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nudge.palette import tone_of
from nudge.queue.outcomes import MEANING
from nudge.web.access import CSRF_FIELD, Visitor
from nudge.web.markup import Html, el, together
from nudge.web.words import Times

PAGES = (
    ("/", "Now"),
    ("/time", "Time"),
    ("/attention", "Attention"),
    ("/money", "Money"),
    ("/sessions", "Sessions"),
    ("/why", "Why"),
    ("/simulate", "Simulate"),
    ("/coach", "Coach"),
    ("/agents", "Agents"),
)


@dataclass(frozen=True)
class View:
    """One request: who looks, where, and what the daemon said about everybody. A `live` one only catches up."""

    visitor: Visitor
    path: str
    base: Mapping[str, Any]
    place: str = ""
    live: bool = False

    @property
    def times(self) -> Times:
        return Times(self.base["zone"], self.base["now"])

    @property
    def speaker(self) -> str:
        return str(self.base["speaker"])

    @property
    def agents(self) -> Sequence[Mapping[str, Any]]:
        found: Sequence[Mapping[str, Any]] = self.base["agents"]
        return found


def document(view: View, title: str, *content: Any, head: str = "", again: int | None = None) -> str:
    """A whole page. Without JavaScript it is loaded `again` after so many seconds."""
    links = [
        el("a", name, href=path, aria_current="page" if _is_here(path, view.path) else None) for path, name in PAGES
    ]
    body = el(
        "body",
        el("a", "Skip to the content", href="#main", class_="skip"),
        el("header", el("a", "nudge", href="/", class_="brand"), el("nav", *links, aria_label="Pages")),
        el("div", banners(view), id="alerts", role="alert", data_live=True),
        el("div", flash(view), id="flash", role="status", data_live=True),
        el("div", questions(view), id="questions", data_live=True, aria_live="assertive"),
        el("main", el("h1", head or title), *content, id="main", tabindex="-1"),
        el("p", "", id="connection", role="status"),
        data_place=view.place,
        data_csrf=view.visitor.csrf,
    )
    top = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", f"{title} · nudge"),
        el("link", rel="stylesheet", href="/static/nudge.css"),
        el("link", rel="icon", href="data:,"),
        el("script", src="/static/nudge.js", defer=True),
        el("noscript", el("meta", http_equiv="refresh", content=str(again))) if again else None,
    )
    return "<!doctype html>" + el("html", top, body, lang="en")


def _is_here(path: str, here: str) -> bool:
    return here == path or (path != "/" and here.startswith(path))


def banners(view: View) -> Html:
    shown = [
        el("p", f"{one['name']}: {one['spending']['banner']} ", el("a", "See why", href=f"/money?agent={one['name']}"))
        for one in view.agents
        if one["spending"]["banner"]
    ]
    return el("div", *shown, class_="banner") if shown else Html("")


def flash(view: View) -> Html:
    """What the last action did, with its undo; said once."""
    if view.live:
        return Html("")
    said, view.visitor.flash = view.visitor.flash, []
    return together(
        el(
            "div",
            el("span", one["text"]),
            form(view, one["undo"][0], one["undo"][1], button("Undo", id_="undo")) if one.get("undo") else None,
            class_=f"flash {one.get('kind', 'good')}",
        )
        for one in said
    )


def questions(view: View) -> Html:
    """Dialogs that wait for an answer. They are on every page: anyone looking can answer, and the first one counts."""
    return together(_question(view, one) for one in view.base["questions"])


def _question(view: View, one: Mapping[str, Any]) -> Html:
    deadline = view.times.local(one["deadline"])
    left = el("time", f"until {deadline:%H:%M:%S}", datetime=deadline.isoformat(), data_countdown=True)
    if one["kind"] == "extension":
        answers: Any = [
            form(view, "answer", {"id": one["id"], "answer": word.lower()}, button(f"{word}, {does}", class_=look))
            for word, does, look in (("Yes", "grant it", "primary"), ("No", "deny it", ""))
        ]
        note = "No answer means no."
    else:
        name = f"answer-{one['id']}"
        answers = form(
            view,
            "answer",
            {"id": one["id"]},
            el("label", "Your answer", for_=name),
            el("input", name="answer", id=name, required=True, autocomplete="off"),
            button("Answer", class_="primary"),
        )
        note = f"{one['agent']} is waiting for your answer."
    return el(
        "section",
        el("h2", f"{one['agent']} asks", id=f"q-{one['id']}-title"),
        el("p", one["text"]),
        el("div", answers, class_="actions"),
        el("p", note, " ", left, class_="soft"),
        class_="card question",
        id=f"q-{one['id']}",
        aria_labelledby=f"q-{one['id']}-title",
    )


def button(label: Any, *, id_: str | None = None, class_: str = "", **more: Any) -> Html:
    return el("button", label, type="submit", id=id_, class_=class_ or None, **more)


def form(
    view: View, action: str, values: Mapping[str, Any], *content: Any, class_: str = "inline", **more: Any
) -> Html:
    """A form that does one thing and comes back to this page."""
    hidden = {CSRF_FIELD: view.visitor.csrf, "back": view.path, **values}
    fields = [el("input", type="hidden", name=name, value=value) for name, value in hidden.items()]
    return el("form", *fields, *content, method="post", action=f"/do/{action}", class_=class_, **more)


def card(
    title: str, *content: Any, note: str = "", id_: str | None = None, live: bool = True, class_: str = "", **more: Any
) -> Html:
    """A part of a page. What is live is put in place again whenever something happens, and needs an id for that."""
    return el(
        "section",
        el("h2", title) if title else None,
        el("p", note, class_="soft") if note else None,
        *content,
        class_=f"card {class_}".strip(),
        id=id_,
        data_live=live and id_ is not None,
        **more,
    )


def empty(words: str, next_step: str) -> Html:
    """Instead of a list with nothing in it: that, and what to do about it."""
    return el("div", el("p", words), el("p", next_step, class_="soft"), class_="empty")


def facts(*pairs: tuple[str, Any]) -> Html:
    return el("dl", *(together(el("dt", name), el("dd", value)) for name, value in pairs))


def legend(*marks: tuple[str, str]) -> Html:
    """What the colours of a chart mean, by the class of each."""
    items = [el("li", el("i", "", class_=look, aria_hidden="true"), words) for look, words in marks]
    return el("ul", *items, class_="legend")


def meter(percent: int, colour: str, words: str) -> Html:
    """A bar. The words beside it say the same without colour."""
    return el(
        "svg",
        el("rect", x=0, y=0, width=100, height=6, class_="track"),
        el("rect", x=0, y=0, width=max(0, min(100, int(percent))), height=6, class_=colour),
        viewBox="0 0 100 6",
        preserveAspectRatio="none",
        class_="meter",
        role="img",
        aria_label=words,
    )


def bucket_words(bucket: Mapping[str, Any]) -> str:
    whole = int(float(bucket.get("available", 0)))
    waiting = bucket.get("next_refill_minutes")
    following = "" if waiting is None else f", the next in {int(-(-float(waiting) // 1))} min"
    return f"Pings: {whole} of {bucket.get('capacity')} available{following}."


def state_badge(state: str, words: str = "") -> Html:
    """A result, a status or a state in its colour."""
    return el("span", words or state, class_=f"badge {tone_of(state)}", title=_MEANING.get(state))


_MEANING = {result.value: words for result, words in MEANING.items()}


def select(name: str, label: str, choices: Iterable[tuple[str, str]], chosen: str) -> Html:
    options = (el("option", words, value=value, selected=value == chosen) for value, words in choices)
    return el("span", el("label", label, for_=name), el("select", *options, name=name, id=name), class_="field")


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], *, caption: str) -> Html:
    """A table that a small screen shows as cards: every cell knows its column."""
    return el(
        "div",
        el(
            "table",
            el("caption", caption, class_="unseen"),
            el("thead", el("tr", *(el("th", name, scope="col") for name in head))),
            el(
                "tbody",
                *(
                    el("tr", *(el("td", cell, data_label=name) for name, cell in zip(head, row, strict=True)))
                    for row in rows
                ),
            ),
        ),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=caption,
    )


def choose_agent(view: View, chosen: str, *, path: str, all_: bool = False) -> Html | None:
    """Links to the same page for other agents."""
    names = [one["name"] for one in view.agents]
    if len(names) < 2:
        return None
    links = [el("a", "all", href=path, aria_current="true" if not chosen else None)] if all_ else []
    links += [
        el("a", name, href=f"{path}?agent={name}", aria_current="true" if name == chosen else None) for name in names
    ]
    return el("nav", *links, class_="choose", aria_label="Agents")
