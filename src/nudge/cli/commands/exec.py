"""Run a command under an agent's budgets. Its calls to Anthropic and OpenAI go through a gateway that holds and counts.

nudge exec --agent builder -- claude -p "fix the failing tests"
nudge exec --agent builder --budget 2.00 --wait -- ./agent.sh

Output, signals and exit code are the command's own. At the end, one line on stderr says what it used. Without --wait,
the exit code is 6 if the agent may not start anything now.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from nudge.cli.context import Context
from nudge.cli.render import note, number_from
from nudge.durations import span
from nudge.errors import UsageError
from nudge.instants import SECOND

if TYPE_CHECKING:
    from nudge.gateway.run import CommandEnded


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--agent", required=True, metavar="NAME", help="the agent that pays")
    parser.add_argument("--budget", metavar="DOLLARS", help="at most this much for all its calls together")
    parser.add_argument("--max-tokens", type=number_from(1), metavar="N", help="at most this many tokens in all")
    parser.add_argument("--wait", action="store_true", help="wait for money instead of failing")
    parser.add_argument("--own-key", action="store_true", help="use the keys in the home's .env, not the command's")
    parser.add_argument("--json", action="store_true", help="print the last line as JSON, on stderr")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND ...", help="the command to run")


def run(args: argparse.Namespace) -> int:
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not command:
        raise UsageError(
            "There is no command to run.", next_step="Write it after --: nudge exec --agent NAME -- claude"
        )
    import asyncio

    from nudge.gateway.run import CommandRun, run_command
    from nudge.spending.lifecycle import AsleepError
    from nudge.spending.money import parse_money

    context = Context(args)
    budget = None if args.budget is None else int(parse_money(args.budget))
    wanted = CommandRun(args.agent, command, budget, args.max_tokens, args.wait, args.own_key)

    def waiting(asleep: AsleepError) -> None:
        note(f"Waiting: {asleep.message} It starts then, or when you run 'nudge budget top-up AMOUNT'.")

    ended = asyncio.run(run_command(context.config, wanted, waiting))
    sys.stderr.write((json.dumps(_json(args.agent, ended)) if args.json else _line(args.agent, ended)) + "\n")
    return ended.code


def _line(agent: str, ended: CommandEnded) -> str:
    refused = f" ({ended.refused} refused)" if ended.refused else ""
    calls = f"{ended.calls} call{'' if ended.calls == 1 else 's'}{refused}"
    return (
        f"nudge: {agent} at {ended.percent}% of today's budget; {ended.tokens:,} tokens in {calls}, "
        f"{span(ended.seconds * SECOND)}, exit code {ended.code}"
    )


def _json(agent: str, ended: CommandEnded) -> dict[str, object]:
    return {
        "agent": agent,
        "run": ended.run,
        "exit_code": ended.code,
        "seconds": ended.seconds,
        "calls": ended.calls,
        "refused": ended.refused,
        "tokens": ended.tokens,
        "unit": "micro-dollars",
        "cost": ended.cost,
        "percent": ended.percent,
        "state": ended.state,
    }
