"""The pages: each asks the daemon for what it shows, and renders it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from nudge.palette import tone_of
from nudge.web.layout import (
    View,
    agent_card,
    bucket_words,
    button,
    choose_agent,
    document,
    feed_item,
    form,
    state_badge,
    table,
)
from nudge.web.markup import Html, el, together
from nudge.web.words import dollars, plural, span

Ask = Callable[[str, dict[str, Any]], Awaitable[Any]]
Query = Mapping[str, str]

_PAGEFUL = 40
_SENT = ("fired", "fired-late")
_HELD = ("suppressed", "deferred", "missed", "skipped")
RESULTS = ("fired", "fired-late", "silent", "skipped", "suppressed", "deferred", "missed", "failed", "unknown")


async def now_page(view: View, ask: Ask, query: Query) -> str:
    data = view.base
    upcoming = [
        el(
            "li",
            el("strong", view.times.at(one["next_at"])),
            f" {view.times.away(one['next_at'])} · ",
            el("a", one["name"] or one["message"], href=f"/time/{one['id']}"),
            id=f"next-{one['id']}",
        )
        for one in data["upcoming"]
    ]
    return document(
        view,
        "Now",
        el("section", *(agent_card(view, one) for one in view.agents), id="agents", class_="grid", data_live=True),
        el(
            "div",
            el(
                "section",
                el("h2", "Next"),
                el("ul", *upcoming, id="upcoming", class_="plain", data_live=True),
                el("p", el("a", "All reminders", href="/time"), class_="soft"),
                add_form(view),
                class_="card",
            ),
            el(
                "section",
                el("h2", "Activity", id="feed-title"),
                el(
                    "ol",
                    *(feed_item(view, one) for one in data["feed"]),
                    id="feed",
                    class_="feed",
                    data_live=True,
                    aria_live="polite",
                    aria_relevant="additions",
                    aria_labelledby="feed-title",
                ),
                class_="card",
            ),
            class_="halves",
        ),
    )


def add_form(view: View, words: str = "", reading: str = "") -> Html:
    """A reminder in words. While it is typed the reading appears; without JavaScript "Check" shows it."""
    content = together(
        el("label", "Remind me", for_="words"),
        el(
            "div",
            el(
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
            ),
            button("Add", class_="primary"),
            button("Check", name="check", value="1"),
            class_="words",
        ),
        el("output", reading, id="reading", aria_live="polite"),
    )
    return el("div", form(view, "add", {}, content, class_="stack", data_reset=True), class_="add")


async def time_page(view: View, ask: Ask, query: Query) -> str:
    ended = query.get("ended") == "1"
    agent = query.get("agent", "")
    most = _PAGEFUL * 10 if query.get("more") == "1" else _PAGEFUL
    found = await ask("read/reminders", {"ended": ended, "limit": most, **({"agent": agent} if agent else {})})
    rows = [
        [
            el("a", one["name"] or one["message"], href=f"/time/{one['id']}"),
            one["schedule_words"],
            together(view.times.at(one["next_at"]), f" {view.times.away(one['next_at'])}") if one["next_at"] else "–",
            view.times.at(one["last_fired_at"]),
            state_badge(one["status"]),
            _reminder_buttons(view, one),
        ]
        for one in found["reminders"]
    ]
    other = el("a", "Hide ended ones", href="/time") if ended else el("a", "Show ended ones too", href="/time?ended=1")
    listed = (
        table(["Reminder", "Schedule", "Next", "Last", "Status", "Change"], rows, caption="Reminders")
        if rows
        else el("p", "No reminders yet. Write one above: “stretch every weekday at 9”.")
    )
    there = urlencode({"ended": "1" if ended else "", "agent": agent, "more": "1"})
    more = el("p", el("a", "Show more", href=f"/time?{there}")) if len(rows) == _PAGEFUL else None
    return document(
        view,
        "Time",
        el("section", add_form(view, query.get("words", ""), query.get("reading", "")), class_="card"),
        choose_agent(view, agent, path="/time", all_=True),
        el("section", listed, more, el("p", other, class_="soft"), class_="card", id="reminders", data_live=True),
    )


def _reminder_buttons(view: View, one: Mapping[str, Any]) -> Html:
    """All that can be done with it, as one form: each button says what."""
    number, name = one["id"], one["name"] or one["message"]
    able = {
        "active": (("snooze", "Snooze 30 min"), ("pause", "Pause"), ("complete", "Done"), ("remove", "Remove")),
        "paused": (("resume", "Resume"), ("remove", "Remove")),
    }.get(one["status"], (("restore", "Restore"),))
    buttons = [
        button(label, id_=f"{action}-{number}", formaction=f"/do/{action}", aria_label=f"{label}: {name}")
        for action, label in able
    ]
    return form(view, able[0][0], {"id": number, "for": "30m"}, *buttons)


async def reminder_page(view: View, ask: Ask, query: Query, number: str) -> str:
    one = await ask("read/reminder", {"id": number})
    history = one["history"]
    title = one.get("name") or one["message"]
    rows = [
        [
            view.times.at(row["due_at"]),
            state_badge(row["result"]),
            row["reason"] or row["meaning"],
            el("a", "Story", href=f"/why/{row['id']}", aria_label=f"Story of outcome {row['id']}"),
        ]
        for row in history
    ]
    facts = [
        ("Schedule", one["schedule_words"]),
        (
            "Next",
            together(view.times.at(one["next_at"]), f" {view.times.away(one['next_at'])}") if one["next_at"] else "–",
        ),
        ("Fired", plural(int(one.get("fire_count") or 0), "time")),
        ("Agent", one["agent"]),
        ("Id", one["id"]),
    ]
    edit = form(
        view,
        "edit",
        {"id": one["id"]},
        el("label", "Text", for_="message"),
        el("input", name="message", id="message", value=one["message"], maxlength="2000"),
        el("label", "When, in words (leave empty to keep it)", for_="when"),
        el("input", name="when", id="when", placeholder="every weekday at 9", autocomplete="off"),
        el("div", button("Save", class_="primary"), class_="actions"),
        class_="stack",
    )
    return document(
        view,
        title,
        el(
            "section",
            el("dl", *(together(el("dt", name), el("dd", value)) for name, value in facts)),
            _reminder_buttons(view, {**one, "name": title}),
            class_="card",
            id="reminder",
            data_live=True,
        ),
        el(
            "section",
            el("h2", "How it went"),
            _timeline(history),
            table(["Due", "Result", "Why", "Story"], rows, caption="History") if rows else el("p", "Nothing yet."),
            class_="card",
            id="history",
            data_live=True,
        ),
        el("section", el("h2", "Change it"), edit, class_="card"),
    )


def _timeline(history: list[dict[str, Any]]) -> Html | None:
    """The last occurrences as dots, oldest first."""
    if not history:
        return None
    dots = [
        el(
            "circle",
            el("title", f"{row['due_at']}: {row['result']}"),
            cx=8 + at * 16,
            cy=9,
            r=5,
            class_=f"dot-{tone_of(row['result'])}",
        )
        for at, row in enumerate(reversed(history))
    ]
    words = ", ".join(row["result"] for row in reversed(history))
    return el(
        "svg",
        *dots,
        viewBox=f"0 0 {max(16, len(dots) * 16)} 18",
        preserveAspectRatio="xMinYMid meet",
        class_="timeline",
        role="img",
        aria_label=f"Oldest first: {words}",
    )


async def attention_page(view: View, ask: Ask, query: Query) -> str:
    agent = query.get("agent") or view.speaker
    data = await ask("read/attention", {"agent": agent, "days": 7})
    cells: dict[tuple[str, int], dict[str, Any]] = {}
    for one in data["hours"]:
        at = view.times.local(one["at"])
        cell = cells.setdefault((at.date().isoformat(), at.hour), {"sent": 0, "held": 0, "other": 0, "why": []})
        group = "sent" if one["result"] in _SENT else "held" if one["result"] in _HELD else "other"
        cell[group] += one["count"]
        if one["reason"]:
            cell["why"].append(one["reason"])
    held = [
        [
            day,
            f"{hour:02d}:00",
            cell["held"],
            el("span", "; ".join(dict.fromkeys(cell["why"])) or "–"),
            el("a", "Outcomes", href=f"/why?agent={agent}&day={day}", aria_label=f"Outcomes of {day}, {hour} o'clock"),
        ]
        for (day, hour), cell in sorted(cells.items(), reverse=True)
        if cell["held"]
    ]
    bucket = data["bucket"]
    return document(
        view,
        "Attention",
        choose_agent(view, agent, path="/attention"),
        el(
            "section",
            el("h2", "The week by hour"),
            el(
                "p",
                "Each square is an hour: green was sent, orange was held back, blue looked and said nothing.",
                class_="soft",
            ),
            _week(data["days"], cells),
            class_="card",
            id="week",
            data_live=True,
        ),
        el(
            "section",
            el("h2", "Ping budget"),
            el("p", bucket_words(bucket) if bucket.get("ping_budget") == "on" else "The ping budget is off."),
            _levels(data) if bucket.get("ping_budget") == "on" else None,
            el("p", "Quiet until ", view.times.at(data["quiet_until"]), ".") if data["quiet_until"] else None,
            el(
                "div",
                *(
                    form(view, "quiet", {"agent": agent, "for": length}, button(label, id_=f"quiet-{length}"))
                    for length, label in (("2h", "Quiet for 2 hours"), ("today", "Quiet today"), ("off", "End quiet"))
                ),
                class_="actions",
            ),
            class_="card",
            id="bucket",
            data_live=True,
        ),
        el(
            "section",
            el("h2", "Held back, and why"),
            table(["Day", "Hour", "How many", "Why", "More"], held, caption="What was held back")
            if held
            else el("p", "Nothing was held back in this week."),
            class_="card",
            id="held",
            data_live=True,
        ),
    )


def _week(days: list[str], cells: Mapping[tuple[str, int], Mapping[str, Any]]) -> Html:
    parts: list[Html] = []
    for row, day in enumerate(days):
        parts.append(el("text", day[5:], x=0, y=row * 22 + 28, class_="day"))
        for hour in range(24):
            cell = cells.get((day, hour))
            look = "none" if cell is None else "sent" if cell["sent"] else "held" if cell["held"] else "other"
            words = f"{day} {hour:02d}:00"
            if cell is not None:
                words += f": {cell['sent']} sent, {cell['held']} held back, {cell['other']} silent or failed"
            parts.append(
                el(
                    "rect",
                    el("title", words),
                    x=48 + hour * 27,
                    y=row * 22 + 14,
                    width=24,
                    height=18,
                    rx=4,
                    class_=f"hour-{look}",
                )
            )
    hours = [el("text", f"{hour:02d}", x=48 + hour * 27 + 4, y=10, class_="small") for hour in range(0, 24, 3)]
    sent = sum(cell["sent"] for cell in cells.values())
    held = sum(cell["held"] for cell in cells.values())
    return el(
        "svg",
        *hours,
        *parts,
        viewBox=f"0 0 700 {len(days) * 22 + 20}",
        role="img",
        aria_label=f"Seven days by hour: {sent} sent, {held} held back. The table below has the reasons.",
    )


def _levels(data: Mapping[str, Any]) -> Html:
    """The bucket's level over the week, worked out backwards from now: each ping took one, time gave them back."""
    bucket = data["bucket"]
    capacity, refill = float(bucket["capacity"]), float(bucket["refill_rate_minutes"]) / 60
    pings: dict[str, int] = {}
    for one in data["hours"]:
        if one["result"] in _SENT and one["kind"] not in ("reminder", "work"):
            pings[one["at"]] = pings.get(one["at"], 0) + one["count"]
    first = data["hours"][0]["at"] if data["hours"] else data["since"]
    at, level, lowest, points = datetime.fromisoformat(first), capacity, capacity, list[str]()
    end = datetime.fromisoformat(data["since"]) + timedelta(days=len(data["days"]))
    sums = {datetime.fromisoformat(stamp): count for stamp, count in pings.items()}
    hours = int((end - at).total_seconds() // 3600)
    for number in range(max(1, hours)):
        level = max(0.0, min(capacity, level + 1 / refill) - sums.get(at, 0))
        lowest = min(lowest, level)
        points.append(f"{number / max(1, hours) * 700:.1f},{60 - level / capacity * 50:.1f}")
        at += timedelta(hours=1)
    return el(
        "svg",
        el("polyline", points=" ".join(points), class_="level"),
        viewBox="0 0 700 64",
        role="img",
        aria_label=f"Level over the week, estimated by hour; lowest {lowest:.1f} of {capacity:.0f}",
    )


async def money_page(view: View, ask: Ask, query: Query) -> str:
    agent = query.get("agent") or view.speaker
    data = await ask("read/money", {"agent": agent, "days": 30})
    detail, forecast = data["detail"], data["forecast"]
    window, day = detail["window"], detail["day"]
    usage = [
        [
            row["purpose"] or "–",
            row["model"],
            plural(row["calls"], "call"),
            f"{row['input'] + row['cache_read']:,}",
            f"{row['output']:,}",
            dollars(row["cost"]),
        ]
        for row in detail["usage"]
    ]
    calls = [
        [
            view.times.at(row["at"]),
            row["model"],
            row["run"] or row["client"],
            dollars(row["held"]),
            f"{row['granted']:,} of {row['asked']:,}" if row["clamped"] else "–",
            span(row["waited_ms"] // 1000) if row["waited_ms"] >= 1000 else "–",
            row["result"],
            dollars(row["cost"]),
        ]
        for row in data["calls"]
    ]
    log = [
        [
            view.times.at(row["at"]),
            row["purpose"],
            row["model"],
            f"{row['input']:,}",
            f"{row['output']:,}",
            row["ended"],
            dollars(row["cost"]),
        ]
        for row in data["usage_log"]
    ]
    lasts = (
        f"At the pace of the last week ({dollars(forecast['a_day'])} a day) it lasts until the window ends, "
        f"with {dollars(forecast['left_at_end'])} left."
        if forecast["lasts"]
        else f"At the pace of the last week ({dollars(forecast['a_day'])} a day) it is used up in "
        f"{plural(forecast['lasts_days'], 'day')}."
    )
    top_up = form(
        view,
        "top_up",
        {"agent": agent},
        el("label", "Top up, in dollars", for_="amount"),
        el("input", name="amount", id="amount", required=True, inputmode="decimal", placeholder="5.00", size="8"),
        button("Top up", class_="primary"),
    )
    mine = next((one for one in view.agents if one["name"] == agent), None)
    return document(
        view,
        "Money",
        choose_agent(view, agent, path="/money"),
        el(
            "section",
            el("div", agent_card(view, mine) if mine else None, id="meter", data_live=True),
            el(
                "div",
                el("h2", "This window"),
                el(
                    "p",
                    f"Today {dollars(day['spent'])} of {dollars(day['limit'])}"
                    + (f", {dollars(day['held'])} held" if day["held"] else "")
                    + ".",
                ),
                el(
                    "p",
                    f"Window {dollars(window['spent'])} of {dollars(window['limit'])}, until ",
                    view.times.at(data["window_ends_at"]),
                    ".",
                ),
                el("p", lasts, class_="soft"),
                class_="card",
                id="window",
                data_live=True,
            ),
            class_="halves",
        ),
        el("section", top_up, class_="card"),
        el("section", el("h2", "The last 30 days"), _bars(data["days"]), class_="card", id="days", data_live=True),
        el(
            "section",
            el("h2", "What it was spent on"),
            table(
                ["For", "Model", "Calls", "In", "Out", "Cost"],
                usage,
                caption="Cost of this window by purpose and model",
            )
            if usage
            else el("p", "Nothing was spent in this window."),
            class_="card",
            id="usage",
            data_live=True,
        ),
        el(
            "section",
            el("h2", "Calls through the gateway"),
            table(["At", "Model", "Run", "Held", "Clamped", "Waited", "Result", "Cost"], calls, caption="Gateway calls")
            if calls
            else el("p", "No calls yet."),
            class_="card",
            id="calls",
            data_live=True,
        ),
        el(
            "section",
            el("h2", "The last calls"),
            table(["At", "For", "Model", "In", "Out", "Ended", "Cost"], log, caption="The last calls")
            if log
            else el("p", "No calls yet."),
            class_="card",
            id="log",
            data_live=True,
        ),
    )


def _bars(days: list[dict[str, Any]]) -> Html:
    shown = days[-30:]
    most = max([one["spent"] for one in shown] + [one["limit"] for one in shown] + [1])
    bars = []
    for at, one in enumerate(shown):
        height = max(1, round(one["spent"] / most * 90)) if one["spent"] else 0
        limit = round(one["limit"] / most * 90)
        words = f"{one['day']}: {dollars(one['spent'])} of {dollars(one['limit'])} ({one['percent']}%)"
        bars.append(
            el(
                "g",
                el("title", words),
                el("rect", x=at * 23, y=96 - limit, width=18, height=limit, class_="track"),
                el("rect", x=at * 23, y=96 - height, width=18, height=height, class_=one["colour"]),
            )
        )
    total = sum(one["spent"] for one in shown)
    return together(
        el(
            "svg",
            *bars,
            viewBox=f"0 0 {max(23, len(shown) * 23)} 98",
            role="img",
            aria_label=f"{plural(len(shown), 'day')}: {dollars(total)} in all",
        ),
        el(
            "p",
            f"{plural(len(shown), 'day')}, {dollars(total)} in all; this week "
            f"{dollars(sum(one['spent'] for one in shown[-7:]))}.",
            class_="soft",
        ),
    )


async def sessions_page(view: View, ask: Ask, query: Query) -> str:
    agent = query.get("agent", "")
    found = await ask("read/sessions", {"agent": agent, "limit": 50})
    rows = [
        [
            el("a", one["task"] or one["id"], href=f"/sessions/{one['id']}"),
            one["agent"],
            state_badge(one["status"]),
            one["phase"] or "–",
            f"{one['tokens']:,}",
            f"${one['cost']:.2f}",
            view.times.at(one["updated_at"]),
        ]
        for one in found["sessions"]
    ]
    workers = [one["name"] for one in view.agents if one["works"]]
    give = form(
        view,
        "work",
        {},
        el("label", "Worker", for_="worker"),
        el("select", *(el("option", name, value=name) for name in workers), name="agent", id="worker"),
        el("label", "Task", for_="task"),
        el("input", name="task", id="task", required=True, autocomplete="off"),
        el("div", button("Start", class_="primary"), class_="actions"),
        class_="stack",
    )
    return document(
        view,
        "Sessions",
        choose_agent(view, agent, path="/sessions", all_=True),
        el("section", el("h2", "New task"), give, class_="card") if workers else None,
        el(
            "section",
            table(["Task", "Agent", "Status", "Phase", "Tokens", "Cost", "Last"], rows, caption="Sessions")
            if rows
            else el("p", "No sessions yet. Start one with: nudge work “what should be done”"),
            class_="card",
            id="sessions",
            data_live=True,
        ),
    )


async def session_page(view: View, ask: Ask, query: Query, number: str) -> str:
    one = await ask("read/session", {"id": number})
    is_open = one["status"] in ("working", "waiting")
    most = one["max_tokens"]
    facts = [
        ("Agent", one["agent"]),
        ("Status", state_badge(one["status"])),
        ("Doing", one["doing"]),
        ("Phase", one["phase"] or "–"),
        ("Tokens", f"{one['tokens']:,}" + (f" of {most:,}" if most else "")),
        ("Cost", f"${one['cost']:.4f}"),
        ("Started", view.times.at(one["started_at"])),
    ]
    lines = [
        el("li", line["text"], class_=line["kind"], id=f"line-{line['number']}-{at}")
        for at, line in enumerate(one["lines"])
    ]
    act = (
        form(view, "cancel_session", {"id": one["id"]}, button("Cancel", id_="cancel"))
        if is_open
        else form(view, "resume_session", {"id": one["id"]}, button("Resume", id_="resume"))
    )
    message = form(
        view,
        "message",
        {"agent": one["agent"]},
        el("label", f"Message to {one['agent']}", for_="text"),
        el("input", name="text", id="text", required=True, autocomplete="off"),
        button("Send", class_="primary"),
    )
    return document(
        view,
        one["task"] or one["id"],
        el(
            "section",
            el("dl", *(together(el("dt", name), el("dd", value)) for name, value in facts)),
            _phases(one),
            el("p", one["reason"]) if one["reason"] else None,
            el("div", act, class_="actions"),
            class_="card",
            id="session",
            data_live=True,
        ),
        el("section", el("h2", "Report"), el("pre", one["report"]), class_="card") if one["report"] else None,
        el("section", message, class_="card"),
        el(
            "section",
            el("h2", "What was said and done", id="transcript-title"),
            el("ol", *lines, id="transcript", class_="transcript", data_live=True, aria_labelledby="transcript-title"),
            class_="card",
        ),
        el(
            "section",
            el("h2", "Subagents"),
            el(
                "ul",
                *(
                    el("li", el("a", sub["task"] or sub["id"], href=f"/sessions/{sub['id']}"), f" · {sub['status']}")
                    for sub in one["subagents"]
                ),
                class_="plain",
            ),
            class_="card",
        )
        if one["subagents"]
        else None,
    )


_PHASES = ("exploration", "planning", "acting", "verification")


def _phases(one: Mapping[str, Any]) -> Html:
    """Where the session is among its phases."""
    names = _PHASES if one["phase"] in _PHASES or not one["phase"] else (one["phase"],)
    at = names.index(one["phase"]) if one["phase"] in names else 0
    parts = [
        el(
            "g",
            el("rect", x=number * 150, y=0, width=146, height=16, rx=4, class_="bar" if number <= at else "track"),
            el("text", name, x=number * 150 + 2, y=30, class_="day" if number == at else "small"),
        )
        for number, name in enumerate(names)
    ]
    return el("svg", *parts, viewBox="0 0 600 36", role="img", aria_label=f"Phase: {names[at]}")


async def why_page(view: View, ask: Ask, query: Query) -> str:
    body = {name: query.get(name, "") for name in ("words", "agent", "result", "day")}
    found = await ask("read/outcomes", {**body, "before": query.get("before", ""), "limit": 100})
    older = urlencode({**body, "before": found["more_before"]}) if found["more_before"] else ""
    rows = [
        [
            view.times.at(one["at"]),
            one["agent"],
            el("a", one["detail"].get("name") or one["title"], href=f"/why/{one['id']}"),
            state_badge(one["result"]),
            one["reason"],
        ]
        for one in found["outcomes"]
    ]

    def options(name: str, values: list[str], label: str) -> Html:
        return together(
            el("label", label, for_=name),
            el(
                "select",
                el("option", "any", value=""),
                *(el("option", one, value=one, selected=body[name] == one) for one in values),
                name=name,
                id=name,
            ),
        )

    search = el(
        "form",
        el("label", "Words", for_="words"),
        el("input", name="words", id="words", value=body["words"], type="search"),
        options("agent", [one["name"] for one in view.agents], "Agent"),
        options("result", list(RESULTS), "Result"),
        el("label", "Day", for_="day"),
        el("input", name="day", id="day", type="date", value=body["day"]),
        el("button", "Search", type="submit", class_="primary"),
        method="get",
        action="/why",
        class_="inline",
        role="search",
    )
    days = []
    today = view.times.now.date()
    for back in range(7):
        day = today - timedelta(days=back)
        name = "Today" if back == 0 else "Yesterday" if back == 1 else f"{day:%A}"
        days.append(
            el(
                "a",
                name,
                href=f"/why?day={day.isoformat()}",
                aria_current="true" if body["day"] == day.isoformat() else None,
            )
        )
    return document(
        view,
        "Why",
        el("section", search, class_="card"),
        el("nav", *days, class_="choose", aria_label="Days"),
        el(
            "section",
            table(["When", "Agent", "What", "Result", "Why"], rows, caption="Outcomes")
            if rows
            else el("p", "Nothing matches so far." if older else "Nothing matches."),
            el("p", el("a", "Search further back", href=f"/why?{older}"), class_="soft") if older else None,
            class_="card",
            id="outcomes",
            data_live=True,
        ),
    )


async def story_page(view: View, ask: Ask, query: Query, number: str) -> str:
    found = await ask("read/why", {"what": number})
    stories = [_story(view, one) for one in found["outcomes"]]
    things = [
        el(
            "section",
            el("h2", one["title"]),
            el("p", one["text"]),
            el("p", el("a", "Its outcomes", href=f"/why/{one['id']}"), class_="soft"),
            class_="card",
        )
        for one in found["things"]
    ]
    nothing = not stories and not things
    near = ", ".join(found["near"])
    return document(
        view,
        "Why",
        el("p", el("a", "All outcomes", href="/why"), class_="soft"),
        *stories,
        *things,
        el("p", f"Nothing matches {number!r}." + (f" Near it: {near}." if near else "")) if nothing else None,
    )


def _story(view: View, one: Mapping[str, Any]) -> Html:
    """From the timer to the delivery."""
    steps = [
        el("li", view.times.at(one["due_at"]), " It was due."),
        el("li", view.times.at(one["at"]), " ", state_badge(one["result"]), f" {one['reason'] or one['meaning']}"),
    ]
    message = one.get("message")
    if message:
        how = {"sent": "It was delivered", "pending": "It waits to be sent"}.get(message["state"], message["state"])
        steps.append(el("li", view.times.at(message["sent_at"]), f" {how}: “{message['text']}” {message['error']}"))
    if not one["final"]:
        steps.append(el("li", "Still pending."))
    reminder = one["key"].removeprefix("reminder:") if one["key"].startswith("reminder:") else ""
    detail = [
        together(el("dt", name.replace("_", " ")), el("dd", str(value)))
        for name, value in one["detail"].items()
        if name not in ("message", "name")
    ]
    return el(
        "section",
        el("h2", f"#{one['id']} {one['title']} of {one['agent']}"),
        el("ol", *steps, class_="feed"),
        el("dl", *detail) if detail else None,
        el("p", el("a", "The reminder", href=f"/time/{reminder}")) if reminder else None,
        class_="card",
    )


async def coach_page(view: View, ask: Ask, query: Query) -> str:
    agent = view.speaker
    talk = await ask("read/conversation", {"agent": agent, "limit": 60})
    texts = await ask("read/documents", {"agent": agent})
    said = [el("li", one["text"], class_=one["role"], id=f"said-{one['id']}") for one in talk["conversation"]]
    write = form(
        view,
        "chat",
        {},
        el("label", f"Message to {agent}", for_="chat"),
        el(
            "div",
            el("input", name="text", id="chat", required=True, autocomplete="off", maxlength="8000"),
            button("Send", class_="primary"),
            class_="words",
        ),
        class_="stack",
        data_reset=True,
    )

    def editor(name: str, title: str) -> Html:
        return el(
            "section",
            el("h2", title, id=f"{name}-title"),
            form(
                view,
                "save",
                {"name": name, "before": texts[name]},
                el("textarea", texts[name], name="text", id=f"doc-{name}", rows="16", aria_labelledby=f"{name}-title"),
                el("div", button(f"Save {title}", class_="primary"), class_="actions"),
                class_="stack",
                data_before=True,
            ),
            class_="card",
        )

    return document(
        view,
        "Coach",
        el(
            "section",
            el(
                "ol",
                *said,
                id="talk",
                class_="chat",
                data_live=True,
                aria_live="polite",
                tabindex="0",
                aria_label="Conversation",
            ),
            el("p", "Writing …" if talk["busy"] else "", id="busy", data_live=True, class_="soft"),
            write,
            form(view, "undo", {"agent": agent}, button("Undo the last change", id_="undo-last")),
            class_="card",
        ),
        el("div", editor("goals", "Goals"), editor("memory", "Memory"), class_="halves"),
    )


SETTINGS = ("", "ping_budget=off", "capacity=3", "capacity=8", "heartbeat=30m", "heartbeat=2h", "reserve=off")
PEOPLE = ("night-owl", "early-bird", "busy-week", "silent")


def simulate_page(view: View, query: Query, shown: Html | None = None, problem: str = "") -> str:
    def choice(name: str, label: str, values: tuple[str, ...], empty: str = "") -> Html:
        return together(
            el("label", label, for_=name),
            el(
                "select",
                *(el("option", one or empty, value=one, selected=query.get(name) == one) for one in values),
                name=name,
                id=name,
            ),
        )

    run = el(
        "form",
        choice("person", "Person", PEOPLE),
        choice("change", "Change", SETTINGS, "nothing"),
        el("input", type="hidden", name="run", value="1"),
        el("button", "Run a week", type="submit", class_="primary"),
        method="get",
        action="/simulate",
        class_="inline",
    )
    return document(
        view,
        "Simulate",
        el(
            "section",
            el(
                "p",
                "The real daemon lives a week on a copy of your home, with a simulated person and no "
                "model. It takes a few seconds; nothing is sent, and your home is only read.",
            ),
            run,
            class_="card",
        ),
        el("p", problem, class_="flash bad", role="alert") if problem else None,
        shown,
    )
