"""Reminders on a terminal: the list, one of them, and what was understood.

Nothing of the rules is imported here at the top: `nudge reminder list` must be fast.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nudge.cli.render import clock_time, note, out, table
from nudge.columns import cut
from nudge.durations import format_duration, span
from nudge.instants import Instant
from nudge.palette import painted, tone_of
from nudge.redaction import HIDDEN
from nudge.text import printable

if TYPE_CHECKING:
    from nudge.cli.context import Context
    from nudge.reminders.reminder import Reminder
    from nudge.reminders.service import Reminders, Timed
    from nudge.reminders.tables import ListedReminder

_WIDEST = 60


def short(text: str, widest: int = _WIDEST) -> str:
    """On one line, printable and not too wide: a message may hold anything."""
    return cut(printable(" ".join(text.split())), widest)


def print_list(rows: Sequence[ListedReminder], context: Context, *, with_agent: bool) -> None:
    zone, now = context.zone, context.now
    head = ["ID", "NAME", *(["AGENT"] if with_agent else []), "SCHEDULE", "NEXT", "LEFT", "LAST", "STATUS", "FIRES"]
    cells = [
        [
            row.id,
            short(row.name or row.message),
            *([row.agent] if with_agent else []),
            short(row.schedule_words),
            clock_time(row.next_at, zone, now) if row.next_at is not None else "-",
            _left(row.next_at, now),
            clock_time(row.last_fired_at, zone, now) if row.last_fired_at is not None else "-",
            row.status,
            str(row.fire_count),
        ]
        for row in rows
    ]
    status = {len(head) - 2: [tone_of(row.status) for row in rows]}
    table(head, cells, status if context.colour else None, spare=["FIRES", "LAST", "LEFT"])


def _left(next_at: Instant | None, now: Instant) -> str:
    if next_at is None:
        return "-"
    return span(next_at - now) if next_at > now else "due"


def say_understood(word: str, timed: Timed, context: Context) -> None:
    """On stderr, so that the id alone is what a script reads."""
    from nudge.reminders.text import echo

    reminder = timed.reminder
    to = "you" if reminder.to_person else reminder.agent
    note(f"{word} {reminder.id} for {to}: “{short(reminder.message, 60)}”")
    note(f"  {echo(reminder, timed.next_at, context.now)}")
    if HIDDEN in f"{reminder.name} {reminder.message} {reminder.description}":
        note("  Part of it looked like a key or a password, so it was not kept.")


def say_state(timed: Timed, context: Context) -> None:
    reminder = timed.reminder
    reason = f" {reminder.ended_reason}" if reminder.ended_reason else ""
    when = ""
    if timed.next_at is not None:
        when = f" Next: {clock_time(timed.next_at, context.zone, context.now)} ({_left(timed.next_at, context.now)})."
    note(f"{reminder.id} ({short(reminder.name or reminder.message)}) is {reminder.status.value}.{reason}{when}")


def print_one(reminder: Reminder, next_at: Instant | None, context: Context) -> None:
    from nudge.reminders.text import schedule_words

    status = painted(reminder.status.value, tone_of(reminder.status), context.colour)
    out(f"{reminder.id}  {short(reminder.name) or '(no name)'}  {status}  {reminder.ended_reason}".rstrip())
    rows = [("for", "you, through " + reminder.agent if reminder.to_person else reminder.agent)]
    rows.append(("schedule", f"{schedule_words(reminder)} ({reminder.tz})"))
    if reminder.one_shot:
        rows.append(("time", reminder.schedule.describe()))
    if next_at is not None:
        rows.append(("next", f"{clock_time(next_at, context.zone, context.now)}, {_left(next_at, context.now)}"))
    if reminder.chain is not None:
        rows.append(("chain", f"{reminder.chain} times, {reminder.asked} asked"))
    if reminder.condition is not None:
        condition = reminder.condition
        what = f"command: {condition.command}" if condition.command is not None else f"prompt: {condition.prompt}"
        limit = f", at most {format_duration(condition.timeout)}" if condition.command is not None else ""
        rows.append(("condition", f"{short(what, 100)} (mode {condition.mode.value}{limit})"))
    if not reminder.to_person:
        rows.append(("priority", reminder.priority.word))
    rows.append(("late", "default" if reminder.late is None else str(reminder.late)))
    flags = [name for name in ("reserve", "critical") if getattr(reminder, name)]
    if not reminder.allow_ping:
        flags.append("silent")
    if flags:
        rows.append(("flags", ", ".join(flags)))
    rows.append(("from", f"{reminder.source.value} {reminder.ref}".rstrip()))
    last = reminder.last_fired_at
    when = f", last {clock_time(last, context.zone, context.now)}" if last is not None else ""
    rows.append(("fired", f"{reminder.fire_count} time{'' if reminder.fire_count == 1 else 's'}{when}"))
    for name, value in rows:
        out(f"  {name:<10}{value}", hang=12)
    out("  message")
    for line in reminder.message.splitlines():
        out(f"    {printable(line)}")


def how_many_reminders(count: int) -> str:
    return f"{count} reminder{'' if count == 1 else 's'}"


def warn_unjudged(reminder: Reminder, context: Context) -> None:
    """Say so if nobody can judge a condition in words: it would be skipped every time, which looks like a no.

    Only the coach is run by us. Whoever runs another agent judges its conditions.
    """
    if not reminder.asks_agent or has_model(context):
        return
    from nudge.daemon.world import is_coach

    agent = context.with_store(lambda store: store.agents.get(reminder.agent))
    if agent is not None and is_coach(context.home, agent):
        note("  warning: no model is configured, so this condition cannot be judged and never fires.")
        note("  next: set ANTHROPIC_API_KEY in .env, or use --condition with a command.")


def has_model(context: Context) -> bool:
    return context.config.provider is not None


def reminders_of(context: Context, store: Any) -> Reminders:
    """The use cases over the store that a command has open."""
    from nudge.attention.quiet import Person
    from nudge.reminders.service import Reminders

    person = Person(context.zone)
    return Reminders(store, lambda agent: person)


def poke(context: Context) -> None:
    if not context.poke():
        note("  The daemon is not running. This takes effect when you start it with 'nudge run'.")
