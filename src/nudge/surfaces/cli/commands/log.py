"""What happened: how every occurrence ended, and what the feed says.

nudge log --follow
nudge log --agent coach --limit 100 --json
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from nudge.adapters.sql.store import SqlStore
from nudge.core.instants import rfc3339
from nudge.surfaces.cli.argument_types import number_from
from nudge.surfaces.cli.context import Context
from nudge.surfaces.cli.log_lines import Entry, feed_entry, outcome_entry
from nudge.surfaces.cli.render import RESULT_COLOURS, clock_time, note, out, painted

_POLL_SECONDS = 0.5


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--follow", "-f", action="store_true", help="go on printing what happens")
    parser.add_argument("--agent", metavar="NAME", help="only this agent")
    parser.add_argument(
        "--limit", type=number_from(0), default=30, metavar="N", help="how many lines to begin with (default 30)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def run(args: argparse.Namespace) -> int:
    context = Context(args)

    async def recent(store: SqlStore) -> tuple[list[Entry], int, int]:
        outcomes = await store.outcomes.recent(agent=args.agent, limit=args.limit)
        lines = await store.feed.recent(agent=args.agent, limit=args.limit)
        entries = [outcome_entry(row) for row in outcomes] + [feed_entry(line) for line in lines]
        entries.sort(key=lambda entry: (entry.at, entry.order))
        last_outcome = max((row.id for row in await store.outcomes.recent(limit=1)), default=0)
        last_line = max((line.id for line in await store.feed.recent(limit=1)), default=0)
        return entries[-args.limit :] if args.limit > 0 else [], last_outcome, last_line

    entries, last_outcome, last_line = context.with_store(recent)
    if not entries and not args.follow and not args.json:
        note("Nothing has happened yet.")
    for entry in entries:
        _print(entry, context, args.json)
    while args.follow:

        async def newer(store: SqlStore, seen: tuple[int, int] = (last_outcome, last_line)) -> tuple[Any, Any]:
            outcomes = await store.outcomes.after_id(seen[0], agent=args.agent)
            return outcomes, await store.feed.after_id(seen[1], agent=args.agent)

        outcomes, lines = context.with_store(newer)
        fresh = [outcome_entry(row) for row in outcomes] + [feed_entry(line) for line in lines]
        for entry in sorted(fresh, key=lambda entry: (entry.at, entry.order)):
            _print(entry, context, args.json)
        last_outcome = max([last_outcome, *(row.id for row in outcomes)])
        last_line = max([last_line, *(line.id for line in lines)])
        time.sleep(_POLL_SECONDS)
    return 0


def _print(entry: Entry, context: Context, as_json: bool) -> None:
    if as_json:
        out(json.dumps({**entry.data, "at": rfc3339(entry.at, context.zone)}, ensure_ascii=False))
        return
    when = clock_time(entry.at, context.zone, context.now)
    word = painted(f"{entry.word:<11}", RESULT_COLOURS.get(entry.word), context.colour)
    out(f"{when:<17} {entry.agent:<10} {word} {entry.text}")
