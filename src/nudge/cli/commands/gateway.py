"""Commands about the gateway: run it, let clients in, look at its calls."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

from nudge.cli.context import Context
from nudge.cli.render import clock_time, how_many, note, out, out_json, table
from nudge.instants import SECOND, rfc3339
from nudge.stores.store import SqlStore

if TYPE_CHECKING:
    from nudge.spending.call_log import LoggedCall


def serve_arguments(parser: argparse.ArgumentParser) -> None:
    """None: the address is in nudge.toml."""


def serve(args: argparse.Namespace) -> int:
    """Run the gateway in this terminal, without the daemon. Ctrl-C stops it. Address and services are in nudge.toml.

    ANTHROPIC_BASE_URL=http://127.0.0.1:8717/agents/builder claude
    OPENAI_BASE_URL=http://127.0.0.1:8717/agents/builder/v1 your-program
    GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:8717/agents/builder gemini
    """
    import asyncio

    from nudge.gateway.run import alone
    from nudge.home.logs import configure_logs

    context = Context(args)
    config = context.config
    configure_logs(config.log.level, config.secrets, config.home.logs)

    def said(address: str) -> None:
        note(f"The gateway is at {address}. The base URL of an agent's client is {address}/agents/NAME")

    return asyncio.run(alone(config, said))


def token_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the agent's name")
    parser.add_argument("--revoke", action="store_true", help="make all tokens of the agent invalid instead")


def token(args: argparse.Namespace) -> int:
    """Print a new token for an agent's client, to use as its API key. It is shown once: only its hash is stored.

    With a token the client needs no provider key: the gateway uses yours from .env. Beyond loopback, a client
    with a key of its own sends the token in the header x-nudge-token.

    nudge gateway token builder
    nudge gateway token builder --revoke
    """
    from nudge.gateway.tokens import new_token, revoke_tokens
    from nudge.queue.agents import Agents

    context = Context(args)

    async def work(store: SqlStore) -> str:
        await Agents(store).get(args.name)
        if not args.revoke:
            return await new_token(store, args.name, context.now)
        count = await revoke_tokens(store, args.name)
        note(f"Revoked {count} token{'' if count == 1 else 's'} of {args.name}.")
        return ""

    made = context.with_store(work)
    if made:
        out(made)
        note("Use it as the API key of the agent's client. It is not shown again.")
    return 0


def calls_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--agent", metavar="NAME", help="only this agent's")
    parser.add_argument("--run", dest="of_run", metavar="RUN", help="only this run's, and what belongs to it")
    parser.add_argument("--limit", type=how_many, default=20, metavar="N", help="how many (default: 20)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def calls(args: argparse.Namespace) -> int:
    """Show the last calls through the gateway: model, tokens, how long they waited, and how they ended."""
    from nudge.queue.agents import Agents
    from nudge.spending.call_log import CallTable

    context = Context(args)

    async def work(store: SqlStore) -> Sequence[LoggedCall]:
        await Agents(store).require_known(args.agent)
        return await CallTable(store.database).recent(args.agent, run=args.of_run, limit=args.limit)

    found = context.with_store(work)
    if args.json:
        out_json([_json(call, context.zone) for call in found])
        return 0
    if not found:
        note("No calls yet. 'nudge exec --agent NAME -- COMMAND' makes some.")
        return 0
    rows = [
        [
            clock_time(call.at, context.zone, context.now),
            call.agent,
            call.model,
            f"{call.use.prompt:,}" if call.use else "-",
            f"{call.use.output:,}" if call.use else "-",
            f"{call.waited / SECOND:.1f} s" if call.waited >= SECOND // 10 else "-",
            f"{call.result}, clamped" if call.clamped else call.result,
        ]
        for call in found
    ]
    table(["TIME", "AGENT", "MODEL", "IN", "OUT", "WAITED", "RESULT"], rows, spare=["WAITED"])
    return 0


def _json(call: LoggedCall, zone: tzinfo) -> dict[str, Any]:
    use = call.use
    return {
        "id": call.id,
        "agent": call.agent,
        "run": call.run,
        "at": rfc3339(call.at, zone),
        "protocol": call.protocol,
        "client": call.client,
        "model": call.model,
        "asked_tokens": call.asked,
        "granted_tokens": call.granted,
        "clamped": call.clamped,
        "waited_ms": call.waited // 1000,
        "lasted_ms": call.lasted // 1000,
        "status": call.status,
        "result": call.result,
        "reason": call.reason,
        "unit": "micro-dollars",
        "held": call.held,
        "cost": call.cost,
        "input": use and use.input,
        "output": use and use.output,
        "cache_read": use and use.cache_read,
        "cache_write": use and use.cache_write,
    }
