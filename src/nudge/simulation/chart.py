"""The day-by-hour chart: messages, the bucket behind them, and how much of the day's money was used, as inline SVG."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from nudge.attention.reserve import PING
from nudge.instants import HOUR, to_datetime
from nudge.simulation.timeline import Day, Plan, Said, Sent, Timeline, days_of, wall_hour
from nudge.spending.allowance import Meter


def safe(text: str) -> str:
    """Text for markup: escaped, and without the characters that no document may hold."""
    return escape("".join(char for char in text if _allowed(char)), quote=True)


def tag(name: str, content: str = "", **attributes: str | float) -> str:
    """One element. `style` names its class; `content` is markup already.

    >>> tag("rect", style="bar", x=1.0, y=2.25)
    '<rect class="bar" x="1" y="2.2"/>'
    """
    stated = "".join(
        f' {"class" if key == "style" else key.replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{stated}>{content}</{name}>" if content else f"<{name}{stated}/>"


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return safe(value)
    return f"{value:.1f}".removesuffix(".0")


def _allowed(char: str) -> bool:
    return char in "\n\t" or " " <= char <= "\ud7ff" or "\ue000" <= char <= "\ufffd" or char >= "\U00010000"


LEFT, HOUR_WIDTH, TOP = 92, 34, 24
CHART = 24 * HOUR_WIDTH
SIDE, SIDE_WIDTH = LEFT + CHART + 40, 90
WIDTH = SIDE + SIDE_WIDTH + 44
MANY_DAYS = 45

KINDS = {
    "briefing": "Briefing",
    "heartbeat": "The heartbeat’s own idea",
    "reminder": "Reminder or routine",
    "notice": "Notice",
}
STYLES = {kind: kind for kind in KINDS} | {"routine": "reminder", "ask-again": "reminder"}


def day_chart(timeline: Timeline) -> str:
    """One row per day. The clock on the wall is the x axis, so days with a clock change line up with the others."""
    days = list(days_of(timeline))
    row = 46 if len(days) <= MANY_DAYS else 26
    height = TOP + row * len(days) + 6
    capacity = max((sample.capacity for sample in timeline.samples), default=0)
    parts = [*_axis(height, any(sample.limit for sample in timeline.samples))]
    for number, day in enumerate(days):
        parts += _row(day, timeline.plan, TOP + number * row, row, capacity)
    return _svg(WIDTH, height, "Messages by day and hour", parts)


def hour_chart(by_hour: tuple[int, ...], plan: Plan) -> str:
    """How many messages came in each hour of the day, altogether."""
    width, height, base = 480, 220, 188
    step, most = width / 24, max(by_hour) or 1
    parts = [
        tag("rect", style="quiet", x=left * step, y=6, width=(right - left) * step, height=base - 6)
        for left, right in _quiet_spans(plan)
    ]
    for hour, count in enumerate(by_hour):
        if not count:
            continue
        tall, x = max(3.0, count / most * (base - 26)), hour * step
        title = tag("title", f"{hour:02}:00 to {hour:02}:59: {count}")
        parts.append(tag("rect", title, style="bar", rx=2, x=x + 2, y=base - tall, width=step - 4, height=tall))
        parts.append(_text(str(count), x + step / 2, base - tall - 5, style="small", text_anchor="middle"))
    parts.append(tag("line", style="edge", x1=0, y1=base, x2=width, y2=base))
    parts += [_text(f"{hour:02}", (hour + 0.5) * step, base + 17, text_anchor="middle") for hour in range(0, 24, 3)]
    return _svg(width, height, "Messages by hour of the day", parts)


def legend(budget: bool) -> str:
    marks = [(tag("circle", style=kind, cx=7, cy=7, r=5), name) for kind, name in KINDS.items()]
    marks.append((tag("circle", style="reply", cx=7, cy=7, r=4), "Reply"))
    marks.append((tag("path", style="said", d="M7 3 L11 11 L3 11 Z"), "The person wrote"))
    marks.append((tag("rect", style="bucket", x=0, y=4, width=14, height=10), "Pings in the bucket"))
    marks.append((tag("rect", style="quiet", x=0, y=0, width=14, height=14), "Quiet hours"))
    if budget:
        marks.append((tag("rect", style="asleep", x=0, y=0, width=14, height=14), "Asleep on the budget"))
    items = [f'<li><svg viewBox="0 0 14 14" aria-hidden="true">{mark}</svg>{safe(name)}</li>' for mark, name in marks]
    return f'<ul class="legend">{"".join(items)}</ul>'


def _svg(width: float, height: float, label: str, parts: list[str]) -> str:
    return tag("svg", "\n".join(parts), viewBox=f"0 0 {width:g} {height:g}", role="img", aria_label=label)


def _text(content: str, x: float, y: float, **attributes: str | float) -> str:
    return tag("text", safe(content), x=x, y=y, **attributes)


def _axis(height: int, budget: bool) -> Iterator[str]:
    for hour in range(0, 25, 3):
        x = LEFT + hour * HOUR_WIDTH
        yield _text(f"{hour:02}:00", x, TOP - 9, text_anchor="middle")
        yield tag("line", style="rule", x1=x, y1=TOP - 2, x2=x, y2=height - 6)
    yield _text("Day’s budget used" if budget else "Messages", SIDE, TOP - 9)


def _row(day: Day, plan: Plan, top: int, row: int, capacity: int) -> Iterator[str]:
    base, tall = top + row - 6, row - 10
    middle = base - tall / 2
    for left, right in _quiet_spans(plan):
        yield tag("rect", style="quiet", x=_x(left), y=top + 2, width=(right - left) * HOUR_WIDTH, height=row - 8)
    yield from _bucket(day, plan, base, tall, capacity)
    for sample in day.samples:
        if sample.asleep:
            x = _x(wall_hour(sample.at, plan.zone))
            yield tag("rect", style="asleep", x=x, y=top + 2, width=HOUR_WIDTH, height=row - 8)
    yield tag("line", style="edge", x1=LEFT, y1=base, x2=LEFT + CHART, y2=base)
    yield _text(f"{day.date:%a} {day.date.day} {day.date:%b}", 0, middle + 4, style="day")
    if day.shift:
        sign = "+" if day.shift > 0 else "−"
        yield _text(f"clock {sign}{abs(day.shift) / HOUR:g} h", 0, middle + 16, style="small")
    for event in day.events:
        if isinstance(event, Said):
            title = _title(f"{to_datetime(event.at, plan.zone):%H:%M} “{event.text}”")
            x = _x(wall_hour(event.at, plan.zone))
            yield tag("path", title, style="said", d=f"M{x:.1f} {base - 7} l3.2 6 h-6.4 Z")
    for sent in day.sent():
        yield _dot(sent, plan, base - tall * (0.32 if sent.reply else 0.62))
    yield from _side(day, middle)


def _dot(event: Sent, plan: Plan, y: float) -> str:
    kind = STYLES.get(event.kind, "notice")
    style, size = ("reply", 3.2) if event.reply else (f"dot {kind}", 5.5)
    subject = "reply" if event.reply else event.subject
    title = _title(f"{to_datetime(event.at, plan.zone):%H:%M} {subject}: {event.text}")
    return tag("circle", title, style=style, cx=_x(wall_hour(event.at, plan.zone)), cy=y, r=size)


def _title(text: str) -> str:
    words = " ".join(text.split())
    return tag("title", safe(words if len(words) <= 200 else f"{words[:199]}…"))


def _bucket(day: Day, plan: Plan, base: int, tall: int, capacity: int) -> Iterator[str]:
    """The level over the day. Where the clock goes back an hour, its second pass is not drawn over the first."""
    found = [(one.at, 0, one.level) for one in day.samples if one.level is not None]
    for one in day.sent():
        if one.level is not None:
            before = one.level if one.reply or one.exact else min(capacity * PING, one.level + PING)
            found += [(one.at, 1, before), (one.at, 2, one.level)]
    points: list[tuple[float, float]] = []
    for at, _, level in sorted(found):
        hour = wall_hour(at, plan.zone)
        if not points or hour >= points[-1][0]:
            points.append((hour, base - level / (capacity * PING) * tall))
    if not points:
        return
    points.append((24.0, points[-1][1]))
    path = " ".join(f"{_x(hour):.1f},{y:.1f}" for hour, y in points)
    yield tag("polygon", style="bucket", points=f"{_x(points[0][0]):.1f},{base} {path} {_x(24):.1f},{base}")
    yield tag("polyline", style="level", points=path)


def _side(day: Day, middle: float) -> Iterator[str]:
    """What stands beside a day: how much of its money was used, or without a budget how many messages came."""
    if not any(sample.limit for sample in day.samples):
        yield _text(str(sum(not one.reply for one in day.sent())), SIDE, middle + 4, style="day")
        return
    yield tag("rect", style="track", rx=4, x=SIDE, y=middle - 4, width=SIDE_WIDTH, height=8)
    if day.percent:
        colour = Meter(day.percent, 100).colour.value
        filled = max(4.0, min(100, day.percent) * SIDE_WIDTH / 100)
        yield tag("rect", style=colour, rx=4, x=SIDE, y=middle - 4, width=filled, height=8)
    yield _text(f"{day.percent}%", SIDE + SIDE_WIDTH + 8, middle + 4)


def _quiet_spans(plan: Plan) -> list[tuple[float, float]]:
    """The quiet hours in hours after midnight; two spans where they cross it."""
    if plan.quiet is None or plan.quiet[0] == plan.quiet[1]:
        return []
    start, end = plan.quiet[0] / 60, plan.quiet[1] / 60
    return [(start, end)] if start < end else [(0.0, end), (start, 24.0)]


def _x(hour: float) -> float:
    return LEFT + hour * HOUR_WIDTH
