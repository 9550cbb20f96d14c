"""A simulation in words: the timeline day by day, then the summary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nudge.attention.reserve import PING
from nudge.columns import cut, padded, table_lines, wrap
from nudge.instants import Instant, to_datetime
from nudge.queue.outcomes import Result
from nudge.simulation.compare import Row
from nudge.simulation.summary import Summary, summarise
from nudge.simulation.timeline import Asked, Day, Ended, Event, Noted, Plan, Said, Sent, Signal, Timeline, days_of
from nudge.spending.money import Micros
from nudge.worker.sessions import KIND as WORK

HEARTBEAT = "heartbeat"
METER = "budget"
"""The feed's line for another percent of the budget; a day's last line says how far it came."""
_SPOKE = (Result.FIRED, Result.FIRED_LATE)
_SPAN = re.compile(r"\b(?:\d+ (?:days?|h|min)(?: \d+ min)? ago|just now)")


@dataclass(frozen=True, slots=True)
class Line:
    """Events that read as one."""

    events: tuple[Event, ...]

    @property
    def event(self) -> Event:
        return self.events[0]

    @property
    def last_at(self) -> Instant:
        return self.events[-1].at

    @property
    def count(self) -> int:
        return len(self.events)

    @property
    def silent(self) -> bool:
        return is_silent(self.event)


def lines_of(events: Iterable[Event]) -> Iterator[Line]:
    """The lines worth reading, in the order in which they begin. Signals, model calls and the meter are counted
    elsewhere; a firing whose message is shown is not shown as well.

    Between two events that stand for themselves (somebody said something), outcomes with the same text are one line,
    even where others happened in between.
    """
    shown = list(events)
    spoken = {(event.key, event.slot_at) for event in shown if isinstance(event, Sent)}
    stretch: dict[tuple[str, ...], list[Event]] = {}
    for event in shown:
        if isinstance(event, Signal | Asked) or _is_told(event, spoken) or _is_meter(event):
            continue
        if isinstance(event, Ended) and event.kind == WORK:  # the feed says it
            continue
        if isinstance(event, Ended):
            stretch.setdefault(_reads_as(event), []).append(event)
            continue
        yield from (Line(tuple(same)) for same in stretch.values())
        stretch = {}
        yield Line((event,))
    yield from (Line(tuple(same)) for same in stretch.values())


def is_silent(event: Event) -> bool:
    """A heartbeat that came to nothing: judged and found nothing to say, or nothing had changed."""
    return (
        isinstance(event, Ended)
        and event.kind == HEARTBEAT
        and event.result in (*_SPOKE, Result.SILENT, Result.SKIPPED)
    )


def _is_told(event: Event, spoken: set[tuple[str, Instant | None]]) -> bool:
    return isinstance(event, Ended) and event.result in _SPOKE and (event.key, event.slot_at) in spoken


def _is_meter(event: Event) -> bool:
    return isinstance(event, Noted) and event.kind == METER


def _reads_as(event: Ended) -> tuple[str, ...]:
    """Equal but for the time: "nothing has changed since … 45 min ago" and "… 90 min ago" say the same."""
    return ("silent",) if is_silent(event) else (event.subject, event.result.value, plain(event.reason))


def plain(reason: str) -> str:
    """A reason without the distances in time in it."""
    return _SPAN.sub("earlier", reason)


WIDTH = 100
BLOCKS = " ▁▂▃▄▅▆▇█"
_MODELS = {
    "offline": "the offline rules answer",
    "scripted": "the rules answer and a model's tokens are counted",
    "real": "a real model answers",
}


def dollars(micros: Micros) -> str:
    """Two decimals; a sum below a cent that is not nothing shows four."""
    return f"${micros / 1_000_000:.2f}" if micros >= 10_000 or micros == 0 else f"${micros / 1_000_000:.4f}"


def heading(plan: Plan) -> str:
    first, last = to_datetime(plan.start, plan.zone), to_datetime(Instant(plan.end - 1), plan.zone)
    days = f"{plan.days} days" if plan.days != 1 else "1 day"
    changes = "".join(f", {key}={value}" for key, value in plan.changes.items())
    who = "a model works as models do on average" if plan.works else _MODELS[plan.model]
    return (
        f"{plan.agent} with {plan.person} (seed {plan.seed}{changes}): {days}, {first:%a} {first.day} {first:%b} "
        f"to {last:%a} {last.day} {last:%b %Y}, {plan.timezone}. {who.capitalize()}."
    )


def timeline_lines(timeline: Timeline, width: int = WIDTH) -> Iterator[str]:
    """The timeline for a terminal of that width."""
    plan = timeline.plan
    yield from wrap(heading(plan), width)
    for day in days_of(timeline):
        yield ""
        yield _day_head(day, width)
        yield from day_lines(day, plan, width)


def day_lines(day: Day, plan: Plan, width: int = WIDTH) -> Iterator[str]:
    """What happened on a day, and what it came to."""
    for line in lines_of(day.events):
        yield _line(line, plan, width)
    yield from _day_foot(day, width, plan)


def summary_lines(timeline: Timeline, width: int = WIDTH) -> Iterator[str]:
    summary = summarise(timeline)
    plan = timeline.plan
    yield f"Summary of {plan.days} day{'s' if plan.days != 1 else ''}"
    for name, text in _facts(summary, plan):
        first, *more = wrap(text, width - 18)
        yield f"  {name:<15} {first}".rstrip()
        for rest in more:
            yield f"  {'':<15} {rest}"
    for note in timeline.notes:
        first, *more = wrap(note, width - 18)
        yield f"  {'note':<15} {first}"
        for rest in more:
            yield f"  {'':<15} {rest}"


def comparison_lines(titles: Sequence[str], rows: Sequence[Row], width: int | None = None) -> Iterator[str]:
    """A table of the numbers that differ, with the change from the first column; then the names of those that do
    not."""
    different = [row for row in rows if row.differs]
    head = ["", *titles]
    table = [
        [row.name, row.cell(0), *(f"{row.cell(n)}  {row.difference(n)}" for n in range(1, len(titles)))]
        for row in different
    ]
    yield from table_lines(head, table, width)
    same = [row.name for row in rows if not row.differs]
    if not different:
        yield "No number differs."
    elif same:
        yield from wrap(f"The same in all: {', '.join(same)}.", width or WIDTH)


def _day_head(day: Day, width: int) -> str:
    title = f"── {day.date:%a} {day.date.day} {day.date:%b %Y} "
    return title + "─" * max(0, width - len(title))


def _line(line: Line, plan: Plan, width: int) -> str:
    event = line.event
    zone = plan.zone
    clock = f"{to_datetime(event.at, zone):%H:%M}"
    if line.count > 1:
        clock += f"–{to_datetime(line.last_at, zone):%H:%M}"
    end = ""
    match event:
        case Sent():
            word = "reply" if event.reply else "sent"
            subject, text = ("" if event.reply else event.subject), event.text
            if event.level is not None and not event.reply and not event.exact:
                end = gauge(event.level)
        case Ended() if line.silent:
            word, subject, text = "silent", event.subject, _silence(line)
        case Ended():
            word = event.result.value
            subject, text = event.subject, event.reason
            last = line.events[-1]
            if isinstance(last, Ended) and last.until is not None and not last.final:
                text = f"until {to_datetime(last.until, zone):%H:%M}. {text}"
        case Said():
            word, subject, text = "said", "", f"“{event.text}”"
        case Noted():
            word, subject, text = event.kind, "", event.text
        case _:
            raise ValueError(f"{event!r} has no line of its own")
    count = f" ×{line.count}" if line.count > 1 else ""
    start = f"  {clock:<11} {word + count:<15} "
    room = width - len(start) - (len(end) + 2 if end else 0)
    body = cut(": ".join(part for part in (subject, one_line(text)) if part), room)
    return f"{start}{padded(body, room)}  {end}" if end else f"{start}{body}".rstrip()


def _silence(line: Line) -> str:
    judged = sum(isinstance(one, Ended) and one.result is not Result.SKIPPED for one in line.events)
    unchanged = line.count - judged
    if not unchanged:
        return "judged, nothing to say."
    return f"judged {judged}×, nothing to say; unchanged {unchanged}×." if judged else "nothing had changed."


def gauge(level: int) -> str:
    """The bucket in whole pings and tenths, as text that is always as wide."""
    return f"pings {level / PING:.1f}"


def _day_foot(day: Day, width: int, plan: Plan) -> Iterator[str]:
    sent = day.sent()
    messages = sum(not one.reply for one in sent)
    tasks = sum(isinstance(event, Ended) and event.kind == WORK for event in day.events)
    parts = [f"{_plural(tasks, 'task')} ended"] if plan.works else [_plural(messages, "message")]
    if replies := len(sent) - messages:
        parts.append(f"{replies} repl{'y' if replies == 1 else 'ies'}")
    levels = [sample.level for sample in day.samples if sample.level is not None]
    levels += [one.level for one in sent if one.level is not None]
    if levels and not plan.works:
        parts.append(f"pings {min(levels) / PING:.1f}–{max(levels) / PING:.1f}")
    if day.signals:
        parts.append(_plural(day.signals, "phone signal"))
    asked = day.asked()
    if asked:
        tokens = sum(one.input + one.output for one in asked)
        cost = sum(one.cost for one in asked)
        free = all(one.free for one in asked)
        price = f"{dollars(cost)}" if plan.model == "real" else f"≈ {dollars(cost)}{' with a model' if free else ''}"
        parts.append(f"{_plural(len(asked), 'call')}, {tokens:,} tokens, {price}")
    if any(sample.limit for sample in day.samples):
        parts.append(f"budget {day.percent}%")
    for row in wrap(" · ".join(parts), width - 2):
        yield f"  {row}"


def _facts(summary: Summary, plan: Plan) -> Iterator[tuple[str, str]]:
    if plan.works:
        failed = sum(summary.tasks.values()) - summary.tasks_finished
        yield "tasks", f"{summary.said} given, {summary.tasks_finished} finished, {failed} failed or stopped"
    else:
        yield from _talk(summary, plan)
    yield from _calls(summary)
    yield from _money(summary, plan)


def _talk(summary: Summary, plan: Plan) -> Iterator[tuple[str, str]]:
    """What reached the person, and what was held back."""
    span = f"{min(summary.per_day)} to {max(summary.per_day)} on one day"
    kinds = ", ".join(f"{name} {count}" for name, count in summary.by_kind.items())
    yield "messages", f"{summary.messages} ({summary.messages_a_day:.1f} a day, {span}){f': {kinds}' if kinds else ''}"
    yield "replies", f"{summary.replies}, to {_plural(summary.said, 'message')} of the person"
    if summary.welcome or summary.unwanted:
        yield "taken", f"{summary.welcome} welcome, {summary.ignored} ignored, {summary.cursed} cursed"
    yield "by hour", _hours(summary.by_hour)
    yield "", "0     6     12    18    "
    if plan.quiet is not None:
        start, end = (f"{minutes // 60:02}:{minutes % 60:02}" for minutes in plan.quiet)
        asked = f"; {_plural(summary.quiet_asked, 'message')} that you set for that time" if summary.quiet_asked else ""
        yield "quiet hours", f"{_plural(summary.quiet_violations, 'violation')} ({start}–{end}){asked}"
    yield "occurrences", ", ".join(f"{name} {count}" for name, count in summary.results.items()) or "none"
    if summary.rules:
        yield "held back by", ", ".join(f"{name} {count}" for name, count in summary.rules.items())
    if summary.lowest_level is None:
        yield "ping budget", "off"
    else:
        kept = f"; reserve kept {summary.reserve_kept} of {summary.reserved}" if summary.reserved else ""
        yield "ping budget", f"lowest level {summary.lowest_level:.1f} of {summary.capacity}{kept}"


def _calls(summary: Summary) -> Iterator[tuple[str, str]]:
    if summary.calls:
        calls = ", ".join(f"{name} {count}" for name, count in summary.calls.items())
        yield "model calls", f"{calls}; {summary.input_tokens:,} tokens in, {summary.output_tokens:,} out"


def _money(summary: Summary, plan: Plan) -> Iterator[tuple[str, str]]:
    monthly = dollars(summary.monthly_would_cost)
    match plan.model:
        case "offline":
            yield "cost", f"nothing: rules answer. A model would cost ≈ {monthly} a month (estimate from prompt sizes)."
        case "scripted":
            yield (
                "cost",
                f"≈ {dollars(summary.cost)}; ≈ {dollars(summary.monthly_cost)} a month (estimate from prompt sizes)",
            )
        case _:
            yield "cost", f"{dollars(summary.cost)} charged; {dollars(summary.monthly_cost)} a month at this rate"
    if plan.model != "offline":
        asleep = (
            f"asleep {_plural(summary.sleeps, 'time')}, {summary.asleep_hours:.1f} h"
            if summary.sleeps
            else "never asleep"
        )
        yield "budget", f"at most {summary.highest_percent}% of a day's allowance used; {asleep}"


def _hours(counts: Sequence[int]) -> str:
    """24 small bars; an hour in which anything came is never empty."""
    most = max(counts, default=0)
    return (
        "".join(BLOCKS[0 if not count else max(1, count * 8 // most)] for count in counts) if most else "nothing came"
    )


def one_line(text: str) -> str:
    return " ".join(text.split())


def _plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
