"""Explain why it acted, or didn't.

nudge why                the last five occurrences
nudge why 42             outcome #42 of the log
nudge why r-a1b2c3       the last ones of a reminder or routine, by id or name
nudge why 15:00          what was due around that time
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from nudge.cli.context import Context
from nudge.cli.log_lines import named, outcome_json
from nudge.cli.past_time import parse_past
from nudge.cli.render import RESULT_COLOURS, full_time, note, number_from, out, out_json, painted, span
from nudge.errors import NotFoundError, NudgeError
from nudge.instants import MINUTE, Instant, rfc3339
from nudge.queue.agents import Agents
from nudge.queue.outcomes import MEANING, Outcome
from nudge.stores.store import SqlStore
from nudge.text import plain

_AROUND = 15 * MINUTE
_MOST_DIGITS = 18  # more than any row has


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="?", metavar="ID|TIME", help="an outcome's number, a reminder, or a time")
    parser.add_argument("--agent", metavar="NAME", help="only this agent")
    parser.add_argument("--limit", type=number_from(1), default=5, metavar="N", help="how many (default: 5)")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(args: argparse.Namespace) -> int:
    context = Context(args)

    async def read(store: SqlStore) -> Sequence[Outcome]:
        await _say_if_nobody_looks(store, context)
        return await _find(store, args, context)

    rows = context.with_store(read)
    if args.json:
        out_json([{**outcome_json(row), "meaning": MEANING[row.result]} for row in rows])
        return 0
    if not rows:
        out("Nothing has been due yet.")
    for row in rows:
        out(_explained(row, context))
    return 0


async def _say_if_nobody_looks(store: SqlStore, context: Context) -> None:
    """What is due but has not fired has no outcome yet. The reason may be that no daemon runs."""
    if await store.timers.due_lanes(Instant(context.now - MINUTE), 1):
        from nudge.daemon.lock import holder_of

        if holder_of(context.home) is None:
            note("Something is due, but no daemon runs here. Start it with 'nudge run'.")


async def _find(store: SqlStore, args: argparse.Namespace, context: Context) -> Sequence[Outcome]:
    what: str | None = args.what
    await Agents(store).require_known(args.agent)
    if what is None:
        return await store.outcomes.recent(agent=args.agent, limit=args.limit)
    number = what.removeprefix("#")
    if number.isdecimal() and len(number) <= _MOST_DIGITS and (row := await store.outcomes.by_id(int(number))):
        return [row]
    if rows := await store.outcomes.recent(agent=args.agent, key=what, limit=args.limit):
        return rows
    if rows := await store.outcomes.recent(agent=args.agent, key=f"reminder:{what}", limit=args.limit):
        return rows
    for one in await store.reminders.named(what, args.agent) or await store.reminders.named_ended(what):
        if rows := await store.outcomes.recent(agent=one.agent, key=one.key, limit=args.limit):
            return rows
    try:
        around = parse_past(what, context.now, context.zone)
    except NudgeError:
        raise NotFoundError(
            f"{what!r} matches no outcome, no reminder and no time.",
            next_step="See 'nudge log' for numbers and ids, or give a time such as 15:00.",
        ) from None
    since, until = Instant(around - _AROUND), Instant(around + _AROUND)
    rows = await store.outcomes.around(since, until, agent=args.agent)
    if not rows:
        raise NotFoundError(
            f"Nothing was due within a quarter of an hour of {full_time(around, context.zone)}.",
            next_step="See 'nudge log' for what happened.",
        )
    return rows


def _explained(row: Outcome, context: Context) -> str:
    word = painted(row.result.value, RESULT_COLOURS.get(row.result.value), context.colour)
    lines = [f"#{row.id}  {named(row)} of {row.agent}: {word}"]
    lines.append(f"    due   {full_time(row.slot_at, context.zone)}")
    if row.at - row.slot_at >= MINUTE:
        lines.append(f"    ended {full_time(row.at, context.zone)} ({span(row.at - row.slot_at)} later)")
    lines.append(f"    why   {plain(row.reason) or MEANING[row.result]}")
    if not row.final:
        lines.append("    Still pending.")
    for name, value in row.detail.items():
        text = rfc3339(Instant(value), context.zone) if name.endswith("_at") and isinstance(value, int) else value
        lines.append(f"    {name:<5} {plain(str(text))}")
    return "\n".join(lines) + "\n"
