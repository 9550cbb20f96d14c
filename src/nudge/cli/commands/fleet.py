"""Commands about the fleet: work for it, move agents there and back, look at it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from nudge.cli.context import Context
from nudge.cli.render import clock_time, how_many, note, number_from, out, out_json, table, watch_argument, watched
from nudge.errors import needs_extra
from nudge.instants import SECOND, Instant, rfc3339
from nudge.stores.store import SqlStore

if TYPE_CHECKING:
    from nudge.fleet.connection import Client
    from nudge.fleet.looks import AgentLook, Standing

T = TypeVar("T")
_FAR = 2**61


def _server_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--temporal", metavar="HOST:PORT", help="the Temporal server (default: TEMPORAL_ADDRESS, else 127.0.0.1:7233)"
    )
    parser.add_argument("--namespace", metavar="N", help="the namespace there (default: TEMPORAL_NAMESPACE or default)")


def _require_temporal() -> None:
    from importlib.util import find_spec

    if find_spec("temporalio") is None:
        raise needs_extra("The fleet needs temporalio, which is not installed.", "fleet")


def _with_fleet(args: argparse.Namespace, work: Callable[[Context, SqlStore, Client], Coroutine[Any, Any, T]]) -> T:
    _require_temporal()
    from nudge.fleet.connection import Server, connect
    from nudge.fleet.tables import require_server

    context = Context(args)
    require_server(context.config.database_url)

    async def main(store: SqlStore) -> T:
        return await work(context, store, await connect(Server(args.temporal, args.namespace)))

    return context.with_store(main)


def worker_arguments(parser: argparse.ArgumentParser) -> None:
    _server_arguments(parser)
    parser.add_argument("--metrics", metavar="HOST:PORT", help="serve Prometheus metrics there")
    parser.add_argument("--webhook", metavar="URL", help="let the channel push to this address instead of polling it")
    parser.add_argument(
        "--listen", default="127.0.0.1:8443", metavar="HOST:PORT", help="where pushes arrive (default: 127.0.0.1:8443)"
    )
    parser.add_argument(
        "--concurrency", type=number_from(1), default=16, metavar="N", help="visits at the same time (default: 16)"
    )


def worker(args: argparse.Namespace) -> int:
    """Work for the fleet until a signal comes. The first one drains, the second stops at once. Run as many workers as
    you like, on any machines that see the same home and the same PostgreSQL.

    TLS, API keys and client certificates come from Temporal's own environment variables (TEMPORAL_TLS,
    TEMPORAL_API_KEY, TEMPORAL_TLS_CLIENT_CERT_PATH, …).

    nudge fleet worker --temporal temporal.example.com:7233 --metrics 127.0.0.1:9464
    """
    _require_temporal()
    import asyncio

    from nudge.fleet.connection import Server
    from nudge.fleet.webhook import Webhook
    from nudge.fleet.worker import WorkerOptions, serve
    from nudge.home.logs import configure_logs

    config = Context(args).config
    configure_logs(config.log.level, config.secrets, config.home.logs)
    server = Server(args.temporal, args.namespace, args.metrics)
    webhook = Webhook.of(args.webhook, args.listen) if args.webhook else None
    return asyncio.run(serve(config, server, WorkerOptions(args.concurrency, webhook=webhook), note))


def adopt_arguments(parser: argparse.ArgumentParser) -> None:
    _server_arguments(parser)
    parser.add_argument("--task-queue", default="nudge", metavar="Q", help="the name of this home's queue there")
    parser.add_argument(
        "--spread", default="5m", metavar="DURATION", help="spread the chores of midnight over this long (default: 5m)"
    )
    parser.add_argument(
        "--calls-per-minute",
        type=number_from(1),
        default=0,
        metavar="N",
        help="how often all agents together may call the model (default: no limit)",
    )


def adopt(args: argparse.Namespace) -> int:
    """Move the agents of this home to the fleet. Safe to repeat. Stop the daemons ('nudge stop') afterwards: until then
    both work, and leases keep every occurrence to one outcome.

    nudge fleet adopt --spread 10m
    """
    _require_temporal()
    from nudge.durations import parse_duration
    from nudge.fleet.adoption import adopt as move
    from nudge.fleet.connection import ensure_search_attributes

    spread = parse_duration(args.spread)

    async def work(context: Context, store: SqlStore, client: Client) -> int:
        await ensure_search_attributes(client)
        return await move(store, args.task_queue, spread, context.now, calls_per_minute=args.calls_per_minute)

    count = _with_fleet(args, work)
    note(f"The fleet looks after {count} agent{'' if count == 1 else 's'}. Start workers with 'nudge fleet worker'.")
    return 0


def release_arguments(parser: argparse.ArgumentParser) -> None:
    _server_arguments(parser)


def release(args: argparse.Namespace) -> int:
    """Hand the agents back: their workflows end, and 'nudge run' takes over. Stop the workers afterwards."""
    _require_temporal()
    from nudge.fleet.adoption import release as hand_back

    async def work(context: Context, store: SqlStore, client: Client) -> int:
        return await hand_back(store, client, context.now)

    count = _with_fleet(args, work)
    note(f"Released {count} agent{'' if count == 1 else 's'}. Start the daemon with 'nudge run'.")
    return 0


def status_arguments(parser: argparse.ArgumentParser) -> None:
    _server_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    watch_argument(parser)


def status(args: argparse.Namespace) -> int:
    """Show the state of the fleet: workers, agents, lateness, and what happened in the last hour."""
    _require_temporal()
    return watched(lambda: _status(args), args.watch)


def _status(args: argparse.Namespace) -> int:
    from nudge.fleet.looks import standing

    async def work(context: Context, store: SqlStore, client: Client) -> Standing:
        return await standing(store, client, context.now)

    found = _with_fleet(args, work)
    now, counts = Context(args).now, found.counts
    lag = 0 if counts.first_wake is None else max(0, now - counts.first_wake)
    if args.json:
        out_json(
            {
                "task_queue": found.fleet.task_queue,
                "adopted_at": rfc3339(found.fleet.adopted_at),
                "spread_seconds": found.fleet.spread // SECOND,
                "workers": list(found.workers),
                "agents": counts.agents,
                "due": counts.due,
                "late": counts.late,
                "never_visited": counts.fresh,
                "not_joined": counts.strangers,
                "pokes_waiting": counts.pokes,
                "lag_seconds": round(lag / SECOND, 3),
                "states": dict(found.states),
                "last_hour": dict(found.results),
                "trouble": found.trouble,
            }
        )
        return 0
    rows = [
        ["Workers", f"{len(found.workers)}"],
        ["Agents", f"{counts.agents:,} ({counts.fresh:,} not visited yet, {counts.strangers:,} to join)"],
        ["Due now", f"{counts.due:,}, {counts.late:,} late, lag {lag / SECOND:.1f} s"],
        ["Pokes waiting", f"{counts.pokes:,}"],
        ["States", ", ".join(f"{count:,} {state}" for state, count in found.states.items()) or "-"],
        ["Last hour", ", ".join(f"{count:,} {result}" for result, count in found.results.items()) or "-"],
    ]
    table(["FLEET", found.fleet.task_queue], rows)
    if found.trouble:
        note(found.trouble)
    return 0


def agents_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--search", default="", metavar="TEXT", help="only names with this in them")
    parser.add_argument("--after", default="", metavar="NAME", help="start behind this name")
    parser.add_argument("--limit", type=how_many, default=50, metavar="N", help="how many (default: 50)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def agents(args: argparse.Namespace) -> int:
    """List agents by name, and when each wakes next. Page with --after.

    nudge fleet agents --search eu- --after eu-0420
    """
    _require_temporal()
    from nudge.fleet.tables import FleetTable, Member, require_server

    context = Context(args)
    require_server(context.config.database_url)

    async def read(store: SqlStore) -> list[Member]:
        found = FleetTable(store)
        await found.require()
        return list(await found.page(after=args.after, search=args.search, limit=args.limit))

    found = context.with_store(read)
    if args.json:
        out_json(
            [
                {
                    "name": one.agent,
                    "role": one.role,
                    "wakes_at": _time(one.wakes_at, context),
                    "visited_at": _time(one.visited_at, context),
                    "joined": one.wakes_at is not None,
                }
                for one in found
            ]
        )
        return 0
    if not found:
        note("No agents match.")
        return 0
    rows = [[one.agent, one.role, _short(one.wakes_at, context), _short(one.visited_at, context)] for one in found]
    table(["NAME", "ROLE", "WAKES", "VISITED"], rows)
    if len(found) == args.limit:
        note(f"There may be more: --after {found[-1].agent}")
    return 0


def why_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="AGENT", help="the agent's name")
    _server_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def why(args: argparse.Namespace) -> int:
    """Explain why an agent is awake, asleep or late: its workflow, its next timers, who works for it."""
    _require_temporal()
    from nudge.fleet.looks import look_at

    async def work(context: Context, store: SqlStore, client: Client) -> AgentLook:
        return await look_at(store, client, args.name, context.now)

    found = _with_fleet(args, work)
    context = Context(args)
    member = found.member
    if args.json:
        out_json(
            {
                "name": found.agent,
                "why": found.why(context.now),
                "wakes_at": _time(member.wakes_at if member else None, context),
                "visited_at": _time(member.visited_at if member else None, context),
                "workflow": dict(found.workflow) if found.workflow is not None else None,
                "timers": [
                    {"key": one.key, "kind": one.kind, "due_at": rfc3339(one.due_at, context.zone)}
                    for one in found.timers
                ],
                "lanes": [{"lane": one.lane, "owner": one.owner} for one in found.held],
                "outcomes": [
                    {"key": one.key, "at": rfc3339(one.at, context.zone), "result": one.result.value, "why": one.reason}
                    for one in found.outcomes
                ],
            }
        )
        return 0
    out(found.why(context.now))
    if member:
        out(f"Wakes {_short(member.wakes_at, context)}, last visited {_short(member.visited_at, context)}.")
    if found.timers:
        out()
        rows = [[clock_time(one.due_at, context.zone, context.now), one.kind, one.key] for one in found.timers]
        table(["DUE", "KIND", "TIMER"], rows)
    for lease in found.held:
        out(f"{lease.lane} is held by {lease.owner}.")
    return 0


def wake_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="AGENT", help="the agent's name")
    _server_arguments(parser)


def wake(args: argparse.Namespace) -> int:
    """Visit an agent now, whatever its next timer is. An agent without a workflow gets one."""
    _require_temporal()
    from nudge.fleet.adoption import wake as visit

    async def work(context: Context, store: SqlStore, client: Client) -> None:
        await visit(store, client, args.name, context.now)

    _with_fleet(args, work)
    note(f"{args.name} is being woken.")
    return 0


def drain_arguments(parser: argparse.ArgumentParser) -> None:
    _server_arguments(parser)
    parser.add_argument("--undo", action="store_true", help="resume; what became due in the meantime is late")


def drain(args: argparse.Namespace) -> int:
    """Pause all agents: running visits finish, and nothing new starts. For example, before database maintenance."""
    _require_temporal()
    from nudge.fleet.adoption import drain as pause

    async def work(context: Context, store: SqlStore, client: Client) -> int:
        return await pause(store, client, undo=args.undo)

    count = _with_fleet(args, work)
    note(f"{count} agent{'' if count == 1 else 's'} {'resumed' if args.undo else 'paused. Resume with --undo'}.")
    return 0


def web_arguments(parser: argparse.ArgumentParser) -> None:
    from nudge.cli.commands.web import arguments

    arguments(parser)


def web(args: argparse.Namespace) -> int:
    """Show the web page of a fleet: all agents with search and paging, reminders, money and the rest. It reads and
    writes PostgreSQL; workers are told what you change.

    nudge fleet web --open
    """
    import asyncio
    import sys
    import tempfile
    from pathlib import Path

    from nudge.daemon.looking import looking
    from nudge.web.server import serve_web

    config = Context(args).config

    def say(link: str) -> None:
        out(link)
        sys.stdout.flush()

    async def main() -> int:
        with tempfile.TemporaryDirectory(prefix="nudge-web-") as folder:
            control = Path(folder) / "control.sock"
            async with looking(config, control):
                return await serve_web(
                    config.home,
                    say,
                    host=args.host,
                    port=args.port,
                    names=tuple(args.name),
                    open_browser=args.open_browser,
                    control=control,
                )

    return asyncio.run(main())


def dev_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--agents", type=number_from(1), default=1000, metavar="N", help="how many (default: 1000)")
    parser.add_argument("--workers", type=number_from(1), default=3, metavar="N", help="how many (default: 3)")
    parser.add_argument("--seconds", type=number_from(1), metavar="N", help="stop after this long")


def dev(args: argparse.Namespace) -> int:
    """Try the fleet on this machine: a real Temporal server and PostgreSQL in a temporary folder, workers, and agents
    that wake 32 times a day each. Ctrl-C ends it and removes everything. Needs 'pip install nudge[fleet-dev]'.

    nudge fleet dev --agents 200 --seconds 60
    """
    _require_temporal()
    import asyncio

    from nudge.fleet.dev import show

    return asyncio.run(show(args.agents, args.workers, args.seconds, out))


def _time(instant: Instant | None, context: Context) -> str | None:
    return None if instant is None or not 0 < instant < _FAR else rfc3339(instant, context.zone)


def _short(instant: Instant | None, context: Context) -> str:
    if instant is None:
        return "-"
    if instant >= _FAR:
        return "when poked"
    return clock_time(instant, context.zone, context.now)
