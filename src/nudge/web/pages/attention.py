"""Attention: the week by hour, what was held back and why, and the ping budget over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from nudge.web.layout import View, bucket_words, button, card, choose_agent, document, empty, form, legend, table
from nudge.web.markup import Html, el, together
from nudge.web.pages import Ask, Query
from nudge.web.words import plural

_SENT = ("fired", "fired-late")
_HELD = ("suppressed", "deferred", "missed")
_MOST_REASONS = 14
_HEIGHT, _WIDTH = 100, 700
_DAYS = 7


@dataclass
class Cell:
    """One hour of a day."""

    sent: int = 0
    held: int = 0
    other: int = 0
    why: list[str] = field(default_factory=list)

    def count(self, one: Mapping[str, Any]) -> None:
        group = "sent" if one["result"] in _SENT else "held" if one["result"] in _HELD else "other"
        setattr(self, group, getattr(self, group) + one["count"])
        if one["reason"] and one["reason"] not in self.why:
            self.why.append(one["reason"])

    @property
    def look(self) -> str:
        return "both" if self.sent and self.held else "sent" if self.sent else "held" if self.held else "other"


Cells = Mapping[tuple[str, int], Cell]


async def attention_page(view: View, ask: Ask, query: Query) -> str:
    agent = query.get("agent") or view.speaker
    data = await ask("read/attention", {"agent": agent, "days": _DAYS})
    cells: dict[tuple[str, int], Cell] = {}
    for one in data["hours"]:
        at = view.times.local(one["at"])
        cells.setdefault((at.date().isoformat(), at.hour), Cell()).count(one)
    return document(
        view,
        "Attention",
        choose_agent(view, agent, path="/attention"),
        card(
            "The week by hour",
            _week(data["days"], cells),
            legend(("sent", "sent"), ("held", "held back"), ("both", "both"), ("other", "looked, said nothing")),
            note=_sum(cells),
            id_="week",
        ),
        _bucket(view, agent, data),
        card(
            "Held back, and why",
            _reasons(view, agent, cells)
            or empty("Nothing was held back this week.", "Quiet hours, “busy” and the ping budget would appear here."),
            id_="held",
        ),
    )


def _sum(cells: Cells) -> str:
    sent, held = sum(one.sent for one in cells.values()), sum(one.held for one in cells.values())
    return f"{plural(sent, 'message')} sent and {held:,} held back in the last seven days."


def _bucket(view: View, agent: str, data: Mapping[str, Any]) -> Html:
    bucket, quiet = data["bucket"], data["quiet_until"]
    is_on = bucket.get("ping_budget") == "on"
    choices = [("off", "End quiet")] if quiet else [("2h", "Quiet for 2 hours"), ("today", "Quiet today")]
    return card(
        "Ping budget",
        _level_chart(view, data) if is_on else None,
        el("p", "Quiet until ", view.times.at(quiet), ".") if quiet else None,
        el(
            "div",
            *(
                form(view, "quiet", {"agent": agent, "for": length}, button(label, id_=f"quiet-{length}"))
                for length, label in choices
            ),
            class_="actions",
        ),
        note=bucket_words(bucket) if is_on else "The ping budget is off. Only the other rules apply.",
        id_="bucket",
    )


def _week(days: Sequence[str], cells: Cells) -> Html:
    """A row for each day and a square for each hour. The words are in the sum above and the table below."""
    hours = [el("span", f"{hour:02d}" if hour % 6 == 0 else "", class_="hour") for hour in range(24)]
    parts: list[Html] = [el("span", ""), *hours]
    for day in days:
        parts.append(el("span", f"{date.fromisoformat(day):%a %d}", class_="day"))
        for hour in range(24):
            cell = cells.get((day, hour))
            words = f"{day} {hour:02d}:00"
            if cell is not None:
                words += f": {cell.sent} sent, {cell.held} held back, {cell.other} silent or failed"
            parts.append(el("span", "", class_=f"cell {cell.look if cell else 'none'}", title=words))
    return el("div", *parts, class_="week", role="img", aria_label=f"Seven days by hour: {_sum(cells)}")


def _level_chart(view: View, data: Mapping[str, Any]) -> Html:
    """The bucket's level over the week. It falls when a ping is taken and rises with time."""
    capacity = float(data["bucket"]["capacity"])
    since, until = datetime.fromisoformat(data["since"]), datetime.fromisoformat(data["until"])
    length = (until - since).total_seconds()

    def point(at: str, level: float) -> tuple[float, float]:
        share = (datetime.fromisoformat(at) - since).total_seconds() / length
        return round(share * _WIDTH, 1), round(_HEIGHT - min(1.0, level / capacity) * (_HEIGHT - 4), 1)

    points = [point(one["at"], one["level"]) for one in data["levels"]]
    if not points:
        return empty("No levels for this week yet.", "The chart starts with the first ping.")
    lowest = min(one["level"] for one in data["levels"])
    line = " ".join(f"{x},{y}" for x, y in points)
    days = [el("span", f"{date.fromisoformat(day):%a}") for day in data["days"]]
    return together(
        el(
            "div",
            el("div", el("span", f"{capacity:.0f}"), el("span", "0"), class_="scale", aria_hidden="true"),
            el(
                "svg",
                *(el("line", x1=x, x2=x, y1=0, y2=_HEIGHT, class_="edge") for x in _midnights(len(days))),
                el("polygon", points=f"{points[0][0]},{_HEIGHT} {line} {points[-1][0]},{_HEIGHT}", class_="bucket"),
                el("polyline", points=line, class_="level"),
                viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
                preserveAspectRatio="none",
                role="img",
                aria_label=f"Level over the week: lowest {lowest:.1f} of {capacity:.0f}",
            ),
            class_="chart scaled",
        ),
        el("div", *days, class_="axis scaled", aria_hidden="true"),
        el("p", f"Lowest level {lowest:.1f} of {capacity:.0f}.", class_="soft"),
    )


def _midnights(days: int) -> list[float]:
    return [round(number * _WIDTH / days, 1) for number in range(1, days)]


def _reasons(view: View, agent: str, cells: Cells) -> Html | None:
    """The last ones by day and reason, newest first: in which hours, and how many. All are on the page Why."""
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for (day, hour), cell in sorted(cells.items()):
        if cell.held:
            found.setdefault((day, "; ".join(cell.why) or "–"), []).append((hour, cell.held))
    rows = [
        [
            f"{date.fromisoformat(day):%a %d}",
            _hours([hour for hour, _ in hours]),
            sum(count for _, count in hours),
            why,
            el("a", "Outcomes", href=f"/why?agent={agent}&day={day}", aria_label=f"Outcomes of {day}: {why}"),
        ]
        for (day, why), hours in sorted(found.items(), reverse=True)[:_MOST_REASONS]
    ]
    return table(["Day", "Hours", "How many", "Why", "More"], rows, caption="What was held back") if rows else None


def _hours(hours: Sequence[int]) -> str:
    """
    >>> _hours([2, 3, 4, 9])
    '02–05, 09–10'
    """
    spans: list[list[int]] = []
    for hour in hours:
        if spans and spans[-1][1] == hour:
            spans[-1][1] = hour + 1
        else:
            spans.append([hour, hour + 1])
    return ", ".join(f"{first:02d}–{end:02d}" for first, end in spans)
