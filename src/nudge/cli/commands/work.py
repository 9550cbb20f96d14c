"""Have a worker do a task, within a budget, and watch it.

nudge work "fix the failing test in app.py"
nudge work "update the changelog" --agent builder --max-cost 2.00
nudge work "tidy up the docs" --detach         hand it to the running daemon
nudge work --demo                              a scripted worker on a small broken project; no key needed

With a daemon running it does the work and you watch; otherwise it is done here. Ctrl-C leaves the task as it is: it
goes on with the next 'nudge run' or 'nudge work'.
"""

from __future__ import annotations

import argparse
from typing import Any

from nudge.cli.context import Context
from nudge.cli.render import note, out_json
from nudge.errors import NotConfiguredError, UsageError

WORKER = "worker"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", nargs="*", help="what should be done, in words")
    parser.add_argument("--agent", default=WORKER, metavar="NAME", help="the agent (default: worker)")
    parser.add_argument("--max-tokens", type=int, metavar="N", help="tokens that the run may use")
    parser.add_argument("--max-cost", metavar="DOLLARS", help="money that the run may use, such as 2.00")
    parser.add_argument("--max-iterations", type=int, metavar="N", help="the most model turns")
    parser.add_argument("--max-duration", metavar="TIME", help="the most working time, such as 2h")
    parser.add_argument(
        "--mode", choices=["strict", "advisory", "soft"], help="stop at the limits, warn, or only count"
    )
    parser.add_argument("--detach", action="store_true", help="start it and return at once")
    parser.add_argument("--demo", action="store_true", help="watch a scripted worker; needs no key")
    parser.add_argument("--json", action="store_true", help="one JSON object per line; with --detach, the session")


def run(args: argparse.Namespace) -> int:
    if args.demo:
        from nudge.cli.work_demo import demo

        return demo(args)
    text = " ".join(args.task).strip()
    if not text:
        raise UsageError("The task is empty.", next_step='Say what should be done: nudge work "fix the login test"')
    context = Context(args)
    if context.config.provider is None:
        raise NotConfiguredError(
            "There is no model to work with.",
            next_step="Put ANTHROPIC_API_KEY into .env (docs/models.md), or try 'nudge work --demo'.",
        )
    limits = limits_of(args)
    session = context.with_store(lambda store: _give(context, store, args, text, limits))
    from nudge.daemon.lock import holder_of

    if holder_of(context.home) is not None:
        context.poke()
        if not args.detach:
            from nudge.cli.commands.session import follow

            return follow(context, args.agent, session, as_json=args.json)
    elif not args.detach:
        import asyncio

        from nudge.cli.work_here import work_here

        return asyncio.run(work_here(context, args.agent, session, as_json=args.json))
    if args.json:
        out_json({"session": session, "agent": args.agent})
    else:
        later = "" if holder_of(context.home) else " No daemon is running: it starts with the next 'nudge run'."
        note(f"Handed over as session {session}. Watch it with: nudge session watch {session}.{later}")
    return 0


def limits_of(args: argparse.Namespace) -> dict[str, Any]:
    """The limits that were given, in the units of a run's limits."""
    from datetime import timedelta

    from nudge.durations import parse_duration
    from nudge.progress.run_limits import RunLimits
    from nudge.spending.money import Money, parse_money

    given: dict[str, Any] = {}
    if args.max_tokens is not None:
        given["tokens"] = args.max_tokens
    if args.max_cost is not None:
        given["cost"] = Money(parse_money(args.max_cost))
    if args.max_iterations is not None:
        given["iterations"] = args.max_iterations
    if args.max_duration is not None:
        given["duration"] = timedelta(microseconds=parse_duration(args.max_duration))
    checked = RunLimits(**given).to_json()
    return {name: checked[name] for name in given}


async def _give(context: Context, store: Any, args: argparse.Namespace, text: str, limits: dict[str, Any]) -> str:
    from nudge.clock import SystemClock
    from nudge.reminders.service import random_id
    from nudge.worker.sessions import PERSON, Sessions, Task

    await _known(context, store, args.agent)
    sender = PERSON if args.detach else "terminal"
    task = Task(text, sender, limits=limits or None, mode=args.mode or "")
    options = context.config.worker.run_options
    return await Sessions(store, SystemClock(), options, lambda: random_id().removeprefix("r-")).give(args.agent, task)


async def _known(context: Context, store: Any, name: str) -> None:
    """The agent is there, and nudge's own worker runs it. The standard worker is made when it is first asked for."""
    from nudge.home.create import make_worker_role
    from nudge.home.private_files import make_folder
    from nudge.home.roles import load_role, role_path
    from nudge.queue.agents import Agents

    agents = Agents(store)
    if name == WORKER and await store.agents.get(name) is None:
        make_worker_role(context.home)
        await agents.add(name, WORKER, context.now)
    agent = await agents.get(name)
    make_folder(context.home.workspace(name))
    role = load_role(role_path(context.home, agent.role))
    if not role.works:
        raise UsageError(
            f"{name} is not run by nudge's own worker.",
            next_step=f"Put 'run: worker' into roles/{agent.role}.yaml, or leave out --agent.",
        )
