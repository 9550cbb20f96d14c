"""Commands about an inbox: read it, take letters out of it, say that they are done."""

from __future__ import annotations

import argparse
import re
import sys
import time
from typing import Any

from nudge.cli.context import Context
from nudge.cli.render import clock_time, how_many, note, out_json, out_raw, table
from nudge.clock import SystemClock
from nudge.errors import BudgetExhaustedError, NotFoundError, UsageError
from nudge.instants import SECOND, Instant, rfc3339
from nudge.queue.inbox import Letter, Priority
from nudge.stores.store import SqlStore
from nudge.text import short

EMPTY = 3
_LEASE = "10m"
_LOOK_SECONDS = 0.5
_RECEIPT = re.compile(r"(\d{1,18})(?:-(\d{1,9}))?", re.ASCII)


def read_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", metavar="AGENT", help="the agent's name")
    parser.add_argument("--take", action="store_true", help="take the next letter, so that nobody else gets it")
    parser.add_argument("--wait", metavar="TIME", help="with --take: wait this long for a letter, such as 60s")
    parser.add_argument(
        "--lease", metavar="TIME", help=f"with --take: give it back after this time unless acked (default: {_LEASE})"
    )
    parser.add_argument("--for-good", action="store_true", help="with --take: keep it, with no lease")
    parser.add_argument("--fail-if-empty", action="store_true", help="exit with 3 if there is no letter")
    parser.add_argument("--limit", type=how_many, default=50, metavar="N", help="at most this many (default: 50)")
    parser.add_argument(
        "--up-to",
        choices=[priority.word for priority in Priority],
        default=Priority.IDLE.word,
        help="only letters at least this urgent",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def read(args: argparse.Namespace) -> int:
    """Read the inbox of an agent that you run yourself.

    nudge inbox monitor                      the unread letters, in reading order
    nudge inbox monitor --take --wait 60s    take the next one, or wait for it
    nudge inbox ack monitor                  done with it; 'nack' gives it back
    nudge inbox monitor --up-to interrupt    only what may break into a running turn

    A letter you took comes back after its lease unless you ack it. While the agent is asleep on its budget, it
    gets none, and the exit code is 6.
    """
    context = Context(args)
    if args.take:
        letters = _take(args, context)
    else:
        if args.wait or args.lease or args.for_good:
            raise UsageError("--wait, --lease and --for-good need --take.")
        letters = context.with_store(lambda store: _unread(store, args))
    if args.json:
        out_json([_json(letter, context) for letter in letters])
    elif not letters:
        note("The inbox is empty.")
    elif args.take:
        out_raw(letters[0].body)
        if letters[0].taken_until is not None and sys.stdout.isatty():
            note(f"Done with it? nudge inbox ack {letters[0].receipt}")
    else:
        _print(letters, context)
    return EMPTY if args.fail_if_empty and not letters else 0


async def _unread(store: SqlStore, args: argparse.Namespace) -> list[Letter]:
    from nudge.queue.agents import Agents

    await Agents(store).get(args.agent)
    return list(await store.letters.unread(args.agent, up_to=Priority.of(args.up_to), limit=args.limit))


def _take(args: argparse.Namespace, context: Context) -> list[Letter]:
    from nudge.durations import parse_duration

    if args.lease and args.for_good:
        raise UsageError("Use either --lease or --for-good, not both.")
    lease = 0 if args.for_good else parse_duration(args.lease or _LEASE)
    clock = SystemClock()
    until = clock.now() + (parse_duration(args.wait) if args.wait else 0)
    while True:
        found = context.with_store(lambda store: _next(store, args, context, lease))
        left = until - clock.now()
        if isinstance(found, Letter):
            return [found]
        if left <= 0:
            if isinstance(found, BudgetExhaustedError):
                raise found
            return []
        time.sleep(min(_LOOK_SECONDS, left / SECOND))


async def _next(store: SqlStore, args: argparse.Namespace, context: Context, lease: int) -> Any:
    """The next letter; None, or the reason why there is none."""
    from nudge.home.roles import find_role
    from nudge.queue.agents import IDLE_SINCE, Agents
    from nudge.spending.budgets import Budgets
    from nudge.spending.lifecycle import NothingSpareError
    from nudge.spending.plan_windows import nothing_spare_until, plan_of

    agent = await Agents(store).get(args.agent)
    role = find_role(context.home, agent.role)
    if role is not None and (role.works or role.command):
        raise UsageError(
            f"The daemon works on the letters of {agent.name}.", next_step=f"Remove 'run' from roles/{agent.role}.yaml."
        )
    now, spending = SystemClock().now(), context.config.spending
    status = await Budgets(store, spending.plan, spending.turn).status(agent.name, now)
    if not status.state.may_start_task:
        return status.asleep
    if context.config.windows.spare:
        spare_at = nothing_spare_until((await plan_of(store, agent.name)).windows, now)
        if spare_at is not None:
            return NothingSpareError(agent.name, spare_at)
    async with store.transaction():
        until = Instant(now + lease)
        letter = await store.letters.take(agent.name, now, until, up_to=Priority.of(args.up_to))
        if letter is None:
            return None
        if not lease:
            await store.letters.acknowledge(letter.id, letter.takes, now)
        await store.records.set(agent.name, IDLE_SINCE, until)  # it is at work until then, or until it says otherwise
    return letter


def ack_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("letter", metavar="ID", help="the receipt in the JSON of --take, the letter's id, or the agent")


def ack(args: argparse.Namespace) -> int:
    """Mark a letter you took as done. This counts once, and not after your lease ended and another agent took it.

    nudge inbox ack 42-1        by the receipt in the JSON of --take
    nudge inbox ack monitor     the one letter that this agent has taken
    """
    return _answer(args, done=True)


def nack_arguments(parser: argparse.ArgumentParser) -> None:
    ack_arguments(parser)
    parser.add_argument("--in", dest="later", metavar="TIME", help="let it come back after this time, not at once")


def nack(args: argparse.Namespace) -> int:
    """Give back a letter you took. It comes again, to you or to another agent.

    nudge inbox nack 42-1 --in 10m
    """
    return _answer(args, done=False)


def _answer(args: argparse.Namespace, *, done: bool) -> int:
    from nudge.durations import parse_duration
    from nudge.queue.agents import IDLE_SINCE

    context = Context(args)
    later = 0 if done or not args.later else parse_duration(args.later)

    async def write(store: SqlStore) -> bool:
        agent, number, takes = await _which(store, args.letter)
        now = context.now
        async with store.transaction():
            if done:
                answered = await store.letters.acknowledge(number, takes, now)
            else:
                answered = await store.letters.give_back(number, takes, Instant(now + later))
            if answered:
                await store.records.set(agent, IDLE_SINCE, now)
        return answered

    if not context.with_store(write):
        raise NotFoundError(
            f"{args.letter} is no longer yours: it is done, or another agent took it.",
            next_step="Take the next one with 'nudge inbox AGENT --take'.",
        )
    note("Done." if done else "Given back.")
    return 0


async def _which(store: SqlStore, wanted: str) -> tuple[str, int, int]:
    """The agent, the letter and the time it was taken that are meant."""
    match = _RECEIPT.fullmatch(wanted)
    if match is not None:
        letter = await store.letters.get(int(match[1]))
        if letter is None:
            raise NotFoundError(f"There is no letter {wanted}.", next_step="Run 'nudge inbox AGENT'.")
        return letter.agent, letter.id, int(match[2]) if match[2] else letter.takes
    from nudge.queue.agents import Agents

    agent = await Agents(store).get(wanted)
    taken = await store.letters.taken(agent.name)
    if not taken:
        raise NotFoundError(f"{wanted} has taken no letter.", next_step=f"Run 'nudge inbox {wanted} --take'.")
    if len(taken) > 1:
        which = ", ".join(one.receipt for one in taken[:5])
        raise UsageError(f"{wanted} has taken several letters: {which}.", next_step="Say which one.")
    return agent.name, taken[0].id, taken[0].takes


def _print(letters: list[Letter], context: Context) -> None:
    rows = [
        [
            str(one.id),
            one.priority.word,
            clock_time(one.created_at, context.zone, context.now),
            one.sender,
            short(one.body) + (f" (×{one.count})" if one.count > 1 else "") + _taken(one, context),
        ]
        for one in letters
    ]
    table(["ID", "PRIORITY", "CAME", "FROM", "TEXT"], rows)


def _taken(letter: Letter, context: Context) -> str:
    until = letter.taken_until
    if until is None or until <= context.now:
        return ""
    return f" (taken until {clock_time(until, context.zone, context.now)})"


def _json(letter: Letter, context: Context) -> dict[str, Any]:
    detail = dict(letter.detail)
    if isinstance(due := detail.pop("slot_at", None), int):
        detail["due_at"] = rfc3339(Instant(due), context.zone)
    until = letter.taken_until
    return {
        "id": letter.id,
        "priority": letter.priority.word,
        "sender": letter.sender,
        "topic": letter.topic,
        "body": letter.body,
        "count": letter.count,
        "created_at": rfc3339(letter.created_at, context.zone),
        "taken_until": rfc3339(until, context.zone) if until is not None else None,
        "receipt": letter.receipt if letter.takes else None,
        "detail": detail,
    }
