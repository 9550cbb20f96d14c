"""One reminder: all of it, and how its last occurrences ended."""

from __future__ import annotations

import argparse
from typing import Any

from nudge.cli.context import Context
from nudge.cli.reminders_text import print_one, reminders_of, timed_json
from nudge.cli.render import RESULT_COLOURS, clock_time, out, out_json, painted
from nudge.stores.store import SqlStore

_LAST = 5


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("reminder", metavar="ID", help="its id or name")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(args: argparse.Namespace) -> int:
    from nudge.cli.log_lines import outcome_json
    from nudge.reminders.service import Timed

    context = Context(args)

    async def read(store: SqlStore) -> tuple[Timed, Any]:
        reminders = reminders_of(context, store)
        reminder = await reminders.get(args.reminder)
        timer = await reminders.timer(reminder)
        last = await store.outcomes.recent(agent=reminder.agent, key=reminder.key, limit=_LAST)
        return Timed(reminder, None if timer is None else timer.due_at), last

    timed, last = context.with_store(read)
    if args.json:
        out_json({**timed_json(timed, context.zone), "outcomes": [outcome_json(row) for row in last]})
        return 0
    print_one(timed.reminder, timed.next_at, context)
    if last:
        out("  outcomes")
    for row in last:
        word = painted(f"{row.result.value:<11}", RESULT_COLOURS.get(row.result.value), context.colour)
        out(f"    {clock_time(row.slot_at, context.zone, context.now):<17}{word} {row.reason}".rstrip())
    return 0
