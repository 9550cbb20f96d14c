"""Explain why it acted, or didn't.

nudge why                the last five occurrences
nudge why 42             outcome #42 of the log
nudge why stretch        a reminder, routine, timer, message, letter, session, agent, run or call, by id, name or words
nudge why "message 7"    the message with that number; the same with letter and outcome
nudge why 15:00          what was due around that time
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from nudge.cli.context import Context
from nudge.cli.past_time import parse_past
from nudge.cli.render import full_time, note, number_from, out, out_json
from nudge.coach.explain import Explanation, Thing, explain
from nudge.durations import span
from nudge.errors import NotFoundError, NudgeError, UsageError
from nudge.instants import MINUTE, Instant
from nudge.palette import painted, tone_of
from nudge.queue.agents import Agents
from nudge.queue.outcomes import MEANING, Outcome, named, outcome_json
from nudge.stores.store import SqlStore
from nudge.text import plain

_AROUND = 15 * MINUTE


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="?", metavar="WHAT", help="an id, a name, words, or a time")
    parser.add_argument("--agent", metavar="NAME", help="only this agent")
    parser.add_argument("--limit", type=number_from(1), default=5, metavar="N", help="how many (default: 5)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    context = Context(args)

    async def read(store: SqlStore) -> Explanation:
        await _say_if_nobody_looks(store, context)
        return await _find(store, args, context)

    found = context.with_store(read)
    if args.json:
        rows = [{**outcome_json(row), "meaning": MEANING[row.result]} for row in found.rows]
        out_json(rows or [_thing_json(found.thing)] if found.thing else rows)
        return 0
    if found.thing is not None and not found.rows:
        due = ": nothing has been due." if found.thing.comes_due else ""
        whose = "" if found.thing.kind == "agent" else f" of {found.thing.agent}"
        out(f"{found.thing.title}{whose}{due}\n    now   {plain(found.thing.text)}", hang=10)
    elif not found.rows:
        out("Nothing has been due yet.")
    for row in found.rows:
        out(_explained(row, context), hang=10)
    return 0


def _thing_json(thing: Thing) -> dict[str, str]:
    return {"type": thing.kind, "id": thing.id, "agent": thing.agent, "name": thing.name, "text": thing.text}


async def _say_if_nobody_looks(store: SqlStore, context: Context) -> None:
    """What is due but has not fired has no outcome yet. The reason may be that no daemon runs."""
    if await store.timers.due_lanes(Instant(context.now - MINUTE), 1):
        from nudge.daemon.lock import holder_of

        if holder_of(context.home) is None:
            note("Something is due, but no daemon is running here. Start it with 'nudge run'.")


async def _find(store: SqlStore, args: argparse.Namespace, context: Context) -> Explanation:
    what: str | None = args.what
    await Agents(store).require_known(args.agent)
    if what is None:
        return Explanation(await store.outcomes.recent(agent=args.agent, limit=args.limit))
    found = await explain(store, what, args.agent, limit=args.limit, words=False, zone=context.zone)
    if not found.found:
        try:
            around = parse_past(what, context.now, context.zone)
        except NudgeError:
            found = await explain(store, what, args.agent, limit=args.limit, zone=context.zone)
        else:
            return Explanation(await _around(store, around, args.agent, context))
    if found.choices:
        shown = "\n".join(f"  {one.title} of {one.agent}" for one in found.choices)
        raise UsageError(
            f"{what!r} matches several things:\n{shown}", next_step=f"For example: nudge why {found.choices[0].id}"
        )
    if not found.found:
        near = f" Near it: {', '.join(found.near)}." if found.near else ""
        raise NotFoundError(
            f"{what!r} matches no outcome, reminder, id or time.{near}",
            next_step="See 'nudge log' for numbers and ids, or give a time such as 15:00.",
        )
    return found


async def _around(store: SqlStore, around: Instant, agent: str | None, context: Context) -> Sequence[Outcome]:
    since, until = Instant(around - _AROUND), Instant(around + _AROUND)
    rows = await store.outcomes.around(since, until, agent=agent)
    if not rows:
        raise NotFoundError(
            f"Nothing was due within 15 minutes of {full_time(around, context.zone)}.",
            next_step="See 'nudge log' for what happened.",
        )
    return rows


def _explained(row: Outcome, context: Context) -> str:
    word = painted(row.result.value, tone_of(row.result.value), context.colour)
    lines = [f"#{row.id}  {named(row)} of {row.agent}: {word}"]
    lines.append(f"    due   {full_time(row.slot_at, context.zone)}")
    if row.at - row.slot_at >= MINUTE:
        lines.append(f"    ended {full_time(row.at, context.zone)} ({span(row.at - row.slot_at)} later)")
    lines.append(f"    why   {plain(row.reason) or MEANING[row.result]}")
    if not row.final:
        lines.append("    Still pending.")
    lines += [f"    {name.replace('_', ' '):<5} {_shown(name, value, context)}" for name, value in row.detail.items()]
    return "\n".join(lines) + "\n"


def _shown(name: str, value: object, context: Context) -> str:
    """A field of an outcome for people: times as times, yes and no, and further lines below the first."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name.endswith("_at") and isinstance(value, int):
        return full_time(Instant(value), context.zone)
    return "\n          ".join(plain(str(value)).splitlines())
