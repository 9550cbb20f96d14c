"""Commands for programs that call a model themselves, in any language: hold, settle, record."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from nudge.cli import budget_text
from nudge.cli.context import Context
from nudge.cli.render import note, number_from, out, out_json
from nudge.instants import rfc3339
from nudge.stores.store import SqlStore
from nudge.tokens import MOST_TOKENS

if TYPE_CHECKING:
    from nudge.spending.outside import OutsideCalls
    from nudge.spending.store import HoldRow
    from nudge.tokens import TokenUse


def hold_arguments(parser: argparse.ArgumentParser) -> None:
    budget_text.arguments(parser)
    parser.add_argument("--model", required=True, help="the model you will call")
    parser.add_argument(
        "--input",
        required=True,
        type=number_from(0, MOST_TOKENS),
        metavar="N",
        help="the most input tokens",
    )
    parser.add_argument(
        "--max-tokens", required=True, type=number_from(1, MOST_TOKENS), metavar="N", help="tokens of the answer"
    )
    _names(parser)


def hold(args: argparse.Namespace) -> int:
    """Hold the worst case of a call that you make yourself, and print the id to settle it by.

    nudge budget hold --agent builder --model claude-sonnet-5-5 --input 12000 --max-tokens 4096

    The exit code is 6 if the money does not cover it, or the agent is asleep. The answer may have to be shorter than
    you asked for: see max_tokens in --json. What is not settled in 15 minutes is charged its worst case.
    """
    row, context = _with_calls(
        args, lambda calls, now: calls.hold(args.agent, args.model, args.input, args.max_tokens, now, **_given(args))
    )
    if args.json:
        out_json(_json(row, context))
        return 0
    out(row.hold.attempt_id)
    if row.hold.max_tokens < args.max_tokens:
        note(f"The budget covers {row.hold.max_tokens:,} tokens of the answer.")
    return 0


def settle_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="what 'nudge budget hold' printed")
    parser.add_argument("--model", default="", help="the model that answered, if it was another one")
    parser.add_argument("--unused", action="store_true", help="you did not make the call: charge nothing")
    _usage(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def settle(args: argparse.Namespace) -> int:
    """Settle a held call with what it used. The first settlement counts.

    nudge budget settle 5f0c3a --input 11042 --output 812
    nudge budget settle 5f0c3a --unused
    """
    use = _use(args, nothing=args.unused)
    return _told(args, lambda calls, now: calls.settle(args.id, use, now, model=args.model))


def record_arguments(parser: argparse.ArgumentParser) -> None:
    budget_text.arguments(parser)
    parser.add_argument("--model", required=True, help="the model that answered")
    _usage(parser)
    _names(parser)


def record(args: argparse.Namespace) -> int:
    """Charge a call that was made without a hold. It is charged whether or not there was money for it.

    nudge budget record --agent builder --model claude-sonnet-5-5 --input 11042 --output 812
    """
    use = _use(args)
    return _told(args, lambda calls, now: calls.record(args.agent, args.model, use, now, **_given(args)))


def _names(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", dest="of_run", default="", metavar="RUN", help="the run that it belongs to")
    parser.add_argument("--id", default="", metavar="ID", help="your own id; using it twice changes nothing")


def _given(args: argparse.Namespace) -> dict[str, str]:
    return {"run": args.of_run, "attempt_id": args.id}


def _usage(parser: argparse.ArgumentParser) -> None:
    for name, what in (
        ("input", "tokens of the input that were not cached"),
        ("output", "tokens of the answer"),
        ("cache-read", "tokens that were read from the cache"),
        ("cache-write", "tokens that were written to the cache"),
    ):
        parser.add_argument(f"--{name}", type=number_from(0, MOST_TOKENS), metavar="N", help=what)


def _use(args: argparse.Namespace, *, nothing: bool = False) -> TokenUse:
    from nudge.errors import UsageError
    from nudge.tokens import TokenUse, believable

    if nothing:
        return TokenUse()
    if args.input is None or args.output is None:
        raise UsageError("Give both --input and --output.", next_step="Both are in the usage of the model's reply.")
    return believable(TokenUse(args.input, args.output, args.cache_read or 0, args.cache_write or 0))


def _with_calls(
    args: argparse.Namespace, work: Callable[[OutsideCalls, Any], Coroutine[Any, Any, HoldRow]]
) -> tuple[HoldRow, Context]:
    from nudge.home.prices import load_prices
    from nudge.queue.agents import Agents
    from nudge.spending.budgets import Budgets
    from nudge.spending.outside import OutsideCalls
    from nudge.worker.sessions import WAIT_FOR_MONEY

    context = Context(args)
    spending = context.config.spending
    prices = load_prices(context.home.path, weights=spending.weights)

    async def main(store: SqlStore) -> HoldRow:
        if hasattr(args, "agent"):
            await Agents(store).ensure_default(context.now)
            await Agents(store).get(args.agent)
        calls = OutsideCalls(store, Budgets(store, spending.plan, spending.turn), prices, WAIT_FOR_MONEY)
        return await work(calls, context.now)

    row = context.with_store(main)
    context.poke()
    return row, context


def _told(args: argparse.Namespace, work: Callable[[OutsideCalls, Any], Coroutine[Any, Any, HoldRow]]) -> int:
    row, context = _with_calls(args, work)
    if args.json:
        out_json(_json(row, context))
    else:
        note("Charged." if row.hold.charged else "Nothing charged.")
    return 0


def _json(row: HoldRow, context: Context) -> dict[str, Any]:
    one = row.hold
    return {
        "id": one.attempt_id,
        "agent": row.agent,
        "model": row.model,
        "run": row.run or None,
        "state": one.state.value,
        "max_tokens": one.max_tokens,
        "unit": "micro-dollars",
        "held": one.amount,
        "charged": one.charged,
        "expires_at": rfc3339(one.expires_at, context.zone) if one.expires_at is not None else None,
    }
