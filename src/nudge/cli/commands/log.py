"""Show what happened: how each occurrence ended, the activity feed, and the calls through the gateway.

nudge log --follow
nudge log --agent coach --limit 100 --json
"""

from __future__ import annotations

import argparse
import sys
import time

from nudge.cli.context import Context
from nudge.cli.log_lines import Entry, Follow, call_entry, feed_entry, outcome_entry
from nudge.cli.render import clock_time, json_text, note, number_from, out, out_raw
from nudge.columns import cells, cut, padded
from nudge.instants import rfc3339
from nudge.palette import painted, tone_of
from nudge.queue.agents import Agents
from nudge.stores.store import SqlStore
from nudge.text import plain

_POLL_SECONDS = 0.5
_LONGEST_NAME = 24


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--follow", "-f", action="store_true", help="keep printing new lines")
    parser.add_argument("--agent", metavar="NAME", help="only this agent")
    parser.add_argument(
        "--limit", type=number_from(0), default=30, metavar="N", help="how many lines to start with (default: 30)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")


def run(args: argparse.Namespace) -> int:
    context = Context(args)
    follow = Follow()

    async def recent(store: SqlStore) -> list[Entry]:
        if args.follow:
            await follow.start(store)
        await Agents(store).require_known(args.agent)
        outcomes = await store.outcomes.recent(agent=args.agent, limit=args.limit)
        lines = await store.feed.recent(agent=args.agent, limit=args.limit)
        calls = await store.calls.recent(args.agent, limit=args.limit)
        follow.shown(outcomes, lines)
        entries = [outcome_entry(row) for row in outcomes] + [feed_entry(line) for line in lines]
        entries += [call_entry(call) for call in calls]
        entries.sort(key=lambda entry: (entry.at, entry.order))
        return entries[-args.limit :] if args.limit else []

    entries = context.with_store(recent)
    if not entries and not args.follow and not args.json:
        note("Nothing has happened yet.")
    _print_all(entries, context, args)
    while args.follow:
        time.sleep(_POLL_SECONDS)
        _print_all(context.with_store(follow.news), context, args)
    return 0


def _print_all(entries: list[Entry], context: Context, args: argparse.Namespace) -> None:
    for entry in entries:
        if args.agent in (None, entry.agent):
            _print(entry, context, args.json)
    sys.stdout.flush()  # whoever reads through a pipe follows too


def _print(entry: Entry, context: Context, as_json: bool) -> None:
    if as_json:
        out_raw(json_text({**entry.data, "at": rfc3339(entry.at, context.zone)}))
        return
    when = clock_time(entry.at, context.zone, context.now)
    word = painted(f"{entry.word:<11}", tone_of(entry.word), context.colour)
    head = f"{when:<9} {padded(cut(entry.agent, _LONGEST_NAME), 10)} {word} "
    out(head + " ".join(plain(entry.text).split()), hang=cells(head))
