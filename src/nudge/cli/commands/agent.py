"""Commands about agents: list, add, show, message, remove."""

from __future__ import annotations

import argparse
from typing import Any

from nudge.cli.context import Context
from nudge.cli.render import clock_time, full_time, note, out, out_json, table
from nudge.durations import distance, parse_duration
from nudge.errors import UsageError
from nudge.instants import Instant, rfc3339
from nudge.stores.store import SqlStore
from nudge.text import short


def list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def list_(args: argparse.Namespace) -> int:
    """List agents."""
    context = Context(args)

    async def read(store: SqlStore) -> list[dict[str, Any]]:
        found = []
        for agent in await store.agents.all():
            timers = await store.timers.of_agent(agent.name, limit=1)
            unread = await store.letters.count_unread(agent.name)
            due = timers[0].due_at if timers else None
            found.append({"agent": agent, "next": due, "unread": unread})
        return found

    rows = context.with_store(read)
    if args.json:
        out_json(
            [
                {
                    "name": row["agent"].name,
                    "role": row["agent"].role,
                    "created_at": rfc3339(row["agent"].created_at, context.zone),
                    "next_due": rfc3339(row["next"], context.zone) if row["next"] else None,
                    "unread": row["unread"],
                }
                for row in rows
            ]
        )
        return 0
    if not rows:
        note("No agents yet. The first 'nudge run' adds the coach; 'nudge agent add NAME' adds others.")
        return 0
    table(
        ["NAME", "ROLE", "NEXT", "UNREAD", "SINCE"],
        [
            [
                row["agent"].name,
                row["agent"].role,
                clock_time(row["next"], context.zone, context.now) if row["next"] else "-",
                str(row["unread"]),
                clock_time(row["agent"].created_at, context.zone, context.now),
            ]
            for row in rows
        ],
        spare=["SINCE"],
    )
    return 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="its name: lowercase letters, digits, '-' and '_'")
    parser.add_argument(
        "--role", metavar="ROLE", help="a file in roles/, without .yaml (default: NAME, written if it is missing)"
    )
    parser.add_argument(
        "--run", dest="program", metavar="COMMAND", help="a program that does its work; writes roles/NAME.yaml"
    )
    parser.add_argument("--time-limit", metavar="TIME", help="with --run: how long one letter may take (default: 1h)")
    parser.add_argument("--budget", metavar="DOLLARS", help="with --run: what one letter may cost")
    parser.add_argument("--own-key", action="store_true", help="with --run: pay with the keys in the home's .env")


def add(args: argparse.Namespace) -> int:
    """Add an agent. Its role is a file in the home's roles/ folder: --role ROLE, or its own roles/NAME.yaml.

    nudge agent add monitor                    an agent that you run: 'nudge exec', 'nudge inbox' and 'nudge notify'
    nudge agent add night-shift --role monitor     another one from roles/monitor.yaml
    nudge agent add builder --run "claude -p --resume {session} {message}"

    With --run the daemon starts the program for every letter. {message}, {session}, {agent} and {letter} are filled in;
    without {message} the text comes on the standard input. Exit code 0 is done, 75 is try later.
    """
    from nudge.home.create import make_command_role
    from nudge.home.private_files import make_folder
    from nudge.home.roles import load_role, role_path
    from nudge.queue.agents import Agents

    context = Context(args)
    if args.program is not None:
        if args.role is not None:
            raise UsageError("Use either --role or --run, not both.")
        make_command_role(
            context.home, args.name, args.program, args.time_limit or "", args.budget or "", own_key=args.own_key
        )
    elif args.role is None and not (context.home.roles / f"{args.name}.yaml").exists():
        make_command_role(context.home, args.name)
    role = args.role or args.name
    load_role(role_path(context.home, role))
    context.with_store(lambda store: Agents(store).add(args.name, role, context.now))
    make_folder(context.home.workspace(args.name))
    context.poke()
    note(f"Added {args.name}. Its folder: {context.home.agent(args.name)}")
    return 0


def show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the agent's name")
    parser.add_argument("--json", action="store_true", help="print JSON")


def show(args: argparse.Namespace) -> int:
    """Show an agent: its role, its timers and its inbox."""
    from nudge.queue.agents import Agents

    context = Context(args)

    async def read(store: SqlStore) -> tuple[Any, Any, Any]:
        agent = await Agents(store).get(args.name)
        return agent, await store.timers.of_agent(agent.name, limit=20), await store.letters.unread(agent.name)

    agent, timers, letters = context.with_store(read)
    if args.json:
        out_json(
            {
                "name": agent.name,
                "role": agent.role,
                "created_at": rfc3339(agent.created_at, context.zone),
                "folder": str(context.home.agent(agent.name)),
                "timers": [
                    {"key": t.key, "kind": t.kind, "due_at": rfc3339(t.due_at, context.zone), "attempts": t.attempts}
                    for t in timers
                ],
                "inbox": [
                    {
                        "id": one.id,
                        "priority": one.priority.word,
                        "sender": one.sender,
                        "body": one.body,
                        "count": one.count,
                        "created_at": rfc3339(one.created_at, context.zone),
                    }
                    for one in letters
                ],
            }
        )
        return 0
    out(f"{agent.name}  (role {agent.role}, since {full_time(agent.created_at, context.zone)})")
    out(f"folder  {context.home.agent(agent.name)}\n")
    if timers:
        rows = [[t.key, t.kind, full_time(t.due_at, context.zone), distance(t.due_at - context.now)] for t in timers]
        table(["TIMER", "KIND", "NEXT", "LEFT"], rows, spare=["KIND", "LEFT"])
    else:
        out("No timers.")
    out()
    if letters:
        rows = [[str(one.id), one.priority.word, one.sender, _body(one.body, one.count)] for one in letters]
        table(["LETTER", "PRIORITY", "FROM", "TEXT"], rows)
    else:
        out("The inbox is empty.")
    return 0


def _body(text: str, count: int) -> str:
    line = short(text)
    return f"{line} (×{count})" if count > 1 else line


def message_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the agent's name")
    parser.add_argument("text", metavar="TEXT", nargs="+", help="what to tell it")
    parser.add_argument(
        "--priority",
        choices=["interrupt", "normal", "idle"],
        default="normal",
        help="when it reads it: at the next safe point, before its next turn, or when idle (default: normal)",
    )


def message(args: argparse.Namespace) -> int:
    """Write to an agent: a letter in its inbox. A worker takes it as a task, or hears it while it works.

    nudge agent message builder "use tabs" --priority interrupt
    """
    from nudge.daemon.lock import holder_of
    from nudge.home.roles import load_role, role_path
    from nudge.queue.agents import Agents
    from nudge.queue.inbox import Letter, Priority
    from nudge.worker.sessions import PERSON, work_timer

    context = Context(args)
    priority = Priority.of(args.priority)

    async def write(store: SqlStore) -> None:
        agent = await Agents(store).get(args.name)
        timer = work_timer(agent.name, context.now)
        async with store.transaction():
            letter = Letter(agent.name, PERSON, " ".join(args.text), priority, context.now)
            await store.letters.put(letter)
            role = load_role(role_path(context.home, agent.role))
            if role.works or role.command:
                await store.timers.hasten(timer)

    context.with_store(write)
    context.poke()
    later = "" if holder_of(context.home) else " No daemon is running: it is read after the next 'nudge run'."
    note(f"In the inbox of {args.name}.{later}")
    return 0


def busy_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the agent's name")
    parser.add_argument("--for", dest="span", default="1h", metavar="TIME", help="for how long at most (default: 1h)")


def busy(args: argparse.Namespace) -> int:
    """Mark an agent you run yourself as busy. Its idle checks wait until 'nudge agent idle', or for --for."""

    return _at_work(args, parse_duration(args.span))


def idle_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the agent's name")


def idle(args: argparse.Namespace) -> int:
    """Mark an agent you run yourself as idle. Its idle checks count from now."""
    return _at_work(args, 0)


def _at_work(args: argparse.Namespace, span: int) -> int:
    from nudge.queue.agents import IDLE_SINCE, Agents

    context = Context(args)
    until = Instant(context.now + span)

    async def write(store: SqlStore) -> None:
        await Agents(store).get(args.name)
        await store.records.set(args.name, IDLE_SINCE, until)

    context.with_store(write)
    note(
        f"{args.name} is busy until {clock_time(until, context.zone, context.now)}."
        if span
        else f"{args.name} is idle."
    )
    return 0


def remove_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the agent's name")


def remove(args: argparse.Namespace) -> int:
    """Remove an agent. Its timers end; its history and files are kept."""
    from nudge.queue.agents import Agents

    context = Context(args)
    context.with_store(lambda store: Agents(store).remove(args.name, context.now))
    context.poke()
    note(f"Removed {args.name}. Its files are still in {context.home.agent(args.name)}")
    return 0
