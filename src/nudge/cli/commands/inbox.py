"""Read the inbox of an agent that you run yourself.

nudge inbox monitor                    the unread letters, in reading order
nudge inbox monitor --take --json      the next one, marked as read ([] if there is none)
nudge inbox monitor --up-to interrupt  only what may break into a running turn
"""

from __future__ import annotations

import argparse
from typing import Any

from nudge.cli.context import Context
from nudge.cli.render import clock_time, how_many, note, out, out_json, table
from nudge.instants import Instant, rfc3339
from nudge.queue.inbox import Letter, Priority
from nudge.stores.store import SqlStore


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", metavar="AGENT", help="whose inbox")
    parser.add_argument("--take", action="store_true", help="print only the next letter and mark it as read")
    parser.add_argument("--limit", type=how_many, default=50, metavar="N", help="at most this many (default: 50)")
    parser.add_argument(
        "--up-to",
        choices=[priority.word for priority in Priority],
        default=Priority.IDLE.word,
        help="only letters at least this urgent",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(args: argparse.Namespace) -> int:
    from nudge.queue.agents import IDLE_SINCE, Agents

    context = Context(args)

    async def read(store: SqlStore) -> list[Letter]:
        await Agents(store).get(args.agent)
        up_to = Priority.of(args.up_to)
        async with store.transaction():
            letters = list(await store.letters.unread(args.agent, up_to=up_to, limit=1 if args.take else args.limit))
            if not args.take:
                return letters
            taken = [letter for letter in letters if await store.letters.mark_read(letter.id, context.now)]
            if taken:  # the agent is at work: its idle checks start over
                await store.records.set(args.agent, IDLE_SINCE, context.now)
            return taken

    letters = context.with_store(read)
    if args.json:
        out_json([_json(letter, context) for letter in letters])
    elif not letters:
        note("The inbox is empty.")
    elif args.take:
        out(letters[0].body)
    else:
        rows = [
            [
                str(one.id),
                one.priority.word,
                clock_time(one.created_at, context.zone, context.now),
                one.sender,
                one.body.splitlines()[0][:70] + (f" (×{one.count})" if one.count > 1 else ""),
            ]
            for one in letters
        ]
        table(["ID", "PRIORITY", "CAME", "FROM", "TEXT"], rows)
    return 0


def _json(letter: Letter, context: Context) -> dict[str, Any]:
    detail = dict(letter.detail)
    if isinstance(due := detail.pop("slot_at", None), int):
        detail["due_at"] = rfc3339(Instant(due), context.zone)
    return {
        "id": letter.id,
        "priority": letter.priority.word,
        "sender": letter.sender,
        "topic": letter.topic,
        "body": letter.body,
        "count": letter.count,
        "created_at": rfc3339(letter.created_at, context.zone),
        "detail": detail,
    }
