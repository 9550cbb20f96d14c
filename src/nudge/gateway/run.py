"""The gateway of a home: inside the daemon, alone, or around one command."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from nudge.clock import Clock, SystemClock
from nudge.daemon.assemble import Daemon
from nudge.daemon.listening import address_of, bound, is_loopback
from nudge.errors import NotFoundError
from nudge.gateway.app import Gateway, GatewayOptions, serving
from nudge.gateway.limits import Limit, TokenLimit
from nudge.gateway.repeats import Repeats
from nudge.gateway.routes import session_of
from nudge.gateway.telemetry import observing
from nudge.gateway.tokens import PREFIX
from nudge.gateway.upstream import ADDRESSES, KEYS, Upstreams, check_upstream
from nudge.home.config import Config, without_secrets
from nudge.home.prices import load_prices
from nudge.home.private_files import make_folder
from nudge.home.roles import find_role
from nudge.instants import SECOND, Instant
from nudge.queue.agents import Agent, Agents
from nudge.redaction import redact
from nudge.sandbox.run import run_own
from nudge.spending.call_log import CallTable
from nudge.spending.governor import Spending
from nudge.spending.lifecycle import AsleepError
from nudge.spending.money import Micros, format_money
from nudge.stores.open import open_store
from nudge.stores.store import SqlStore
from nudge.tokens import TokenUse
from nudge.worker.command_rules import OUTPUT_BYTES, CommandJob, CommandRan
from nudge.worker.sandbox import Limits

log = logging.getLogger("nudge.gateway")

LOOK_SECONDS = 5.0
"""How often a command that waits for money looks whether somebody topped up, and a role is read again."""
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


async def beside_daemon(config: Config, daemon: Daemon) -> None:
    """Answer beside the daemon, with its money, until cancelled."""
    async with gateway_of(config, daemon.store, daemon.spending, daemon.clock) as address:
        log.info("the gateway is at %s", address)
        await asyncio.Event().wait()


async def alone(config: Config, said: Callable[[str], None]) -> int:
    """Answer until a signal comes. `said` gets the address."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for which in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(which, stop.set)
    listener = bound(config.gateway.host, config.gateway.port)
    # Nobody else has this address, so what a gateway held here before is dead.
    owner = f"gateway {config.home.path} {address_of(listener)}"
    async with (
        _money(config, owner) as (store, spending, clock),
        gateway_of(config, store, spending, clock, listener=listener) as address,
    ):
        said(address)
        await stop.wait()
    return 0


@asynccontextmanager
async def gateway_of(
    config: Config,
    store: SqlStore,
    spending: Spending,
    clock: Clock,
    *,
    listener: socket.socket | None = None,
    options: GatewayOptions | None = None,
    limit: Limit | None = None,
) -> AsyncIterator[str]:
    """The gateway of a home for as long as the block runs; gives its address."""
    section, environment = config.gateway, config.environment
    told = {provider: environment[name] for provider, name in ADDRESSES.items() if name in environment}
    keys = {provider: environment[name] for provider, name in KEYS.items() if name in environment}
    own = options or (GatewayOptions() if is_loopback(section.host) else GatewayOptions(None, tokens_required=True))
    own = replace(own, repeats=RepeatsOf(config, clock))
    listener = listener or bound(section.host, section.port)
    try:
        upstreams = Upstreams({**told, **section.upstreams}, keys)
        for address in upstreams.addresses.values():
            check_upstream(address, address_of(listener))
    except BaseException:
        listener.close()
        raise
    prices = load_prices(config.home.path, weights=config.spending.weights)
    async with observing(environment) as observe:
        gateway = Gateway(
            store, spending, clock, prices=prices, upstreams=upstreams, options=own, limit=limit, observe=observe
        )
        async with serving(gateway, listener) as address:
            yield address


class RepeatsOf:
    """What happens to an agent that repeats itself: its role says so, else nudge.toml. Roles may be edited, so they are
    read again now and then."""

    def __init__(self, config: Config, clock: Clock) -> None:
        self._home = config.home
        self._usual = config.gateway.repeats
        self._clock = clock
        self._known: dict[str, tuple[Instant, Repeats]] = {}

    def __call__(self, agent: Agent) -> Repeats:
        now = self._clock.now()
        looked_at, repeats = self._known.get(agent.role, (None, Repeats.OFF))
        if looked_at is None or not 0 <= now - looked_at < LOOK_SECONDS * SECOND:
            role = find_role(self._home, agent.role)
            repeats = Repeats((role.repeats if role else "") or self._usual)
            self._known[agent.role] = (now, repeats)
        return repeats


@asynccontextmanager
async def _money(config: Config, owner: str = "") -> AsyncIterator[tuple[SqlStore, Spending, Clock]]:
    clock = SystemClock()
    store = await open_store(config.database_url)
    try:
        await Agents(store).ensure_default(clock.now())
        spending = Spending(
            store,
            clock,
            prices=load_prices(config.home.path, weights=config.spending.weights),
            routes=config.spending.routes,
            plan=config.spending.plan,
            turn=config.spending.turn,
            owner=owner,
        )
        await spending.start(clock.now())
        yield store, spending, clock
    finally:
        await store.close()


@dataclass(frozen=True, slots=True)
class CommandRun:
    """A command that runs under an agent's budgets. `budget` and `max_tokens` limit all its calls together. With `wait`
    it starts when there is money; with `own_key` it uses the keys of the home instead of its own."""

    agent: str
    command: Sequence[str]
    budget: Micros | None = None
    max_tokens: int | None = None
    wait: bool = False
    own_key: bool = False


@dataclass(frozen=True, slots=True)
class CommandEnded:
    """How a command ended: its exit code, what it used, and how the agent's day stands."""

    run: str
    code: int
    seconds: int
    calls: int
    refused: int
    use: TokenUse
    cost: Micros
    percent: int
    state: str

    @property
    def tokens(self) -> int:
        return self.use.prompt + self.use.output


async def run_command(config: Config, wanted: CommandRun, waiting: Callable[[AsleepError], None]) -> CommandEnded:
    """Run a command with a gateway of its own, and come back when it has ended. Raises AsleepError if the agent may not
    start anything and nobody wants to wait; `waiting` hears of it if somebody does."""
    run = f"exec-{secrets.token_hex(4)}"
    async with _money(config) as (store, spending, clock):
        await Agents(store).get(wanted.agent)
        began = await _money_is_there(spending, clock, wanted, waiting)
        async with _budgeted(config, store, spending, clock, wanted, run) as variables:
            code = await _child(wanted.command, {**os.environ, **variables})
        return await _ended(store, spending, clock, wanted.agent, run, code, began)


@asynccontextmanager
async def _budgeted(
    config: Config, store: SqlStore, spending: Spending, clock: Clock, wanted: CommandRun, run: str
) -> AsyncIterator[Mapping[str, str]]:
    """The variables that lead a command to a gateway of its own, for as long as the block runs."""
    if wanted.budget is not None:
        await spending.open_run(wanted.agent, run, format_money(wanted.budget))
    token = f"{PREFIX}{wanted.agent}.{secrets.token_urlsafe(32)}"
    options = GatewayOptions(agent=wanted.agent, token=token)
    limit = TokenLimit(wanted.max_tokens) if wanted.max_tokens else None
    listener = bound("127.0.0.1", 0)
    async with gateway_of(config, store, spending, clock, listener=listener, options=options, limit=limit) as address:
        base = f"{address}/agents/{wanted.agent}/runs/{run}"
        yield {
            **{name: f"{base}/v1" if provider == "openai" else base for provider, name in ADDRESSES.items()},
            "NUDGE_AGENT": wanted.agent,
            "NUDGE_RUN": run,
            **(dict.fromkeys(KEYS.values(), token) if wanted.own_key else {}),
        }


class GatewayCommands:
    """Runs the programs of agents inside the daemon, each behind a gateway of its own."""

    def __init__(self, config: Config, store: SqlStore, spending: Spending, clock: Clock) -> None:
        self._config = config
        self._store = store
        self._spending = spending
        self._clock = clock

    async def run(self, job: CommandJob) -> CommandRan:
        config, command = self._config, job.command
        folder = config.home.workspace(job.agent)
        make_folder(folder)
        wanted = CommandRun(job.agent, job.argv, command.budget, own_key=command.own_key)
        limits = Limits(seconds=command.time_limit / SECOND, output_bytes=OUTPUT_BYTES)
        async with _budgeted(config, self._store, self._spending, self._clock, wanted, job.run) as variables:
            ran = await run_own(
                job.argv,
                folder,
                {
                    **without_secrets(os.environ, config.secrets),
                    "NUDGE_HOME": str(config.home.path),
                    **variables,
                    **job.environment,
                },
                stdin=job.stdin.encode("utf-8", "replace"),
                limits=limits,
            )
        calls = CallTable(self._store.database)
        last = await calls.recent(job.agent, run=job.run, limit=1)
        total = await calls.total(job.agent, job.run)
        told = replace(ran, output=redact(ran.output, config.secrets))
        return CommandRan(told, session_of(last[0].run) if last else "", total.refused)


async def _money_is_there(
    spending: Spending, clock: Clock, wanted: CommandRun, waiting: Callable[[AsleepError], None]
) -> Instant:
    told = False
    while True:
        now = clock.now()
        status = await spending.state(wanted.agent, now)
        if status.state.may_start_task:
            return now
        asleep = status.asleep
        if not wanted.wait:
            raise asleep
        if not told:
            waiting(asleep)
            told = True
        await clock.sleep(min(LOOK_SECONDS, max(0.0, (status.refresh_at - now) / SECOND) + 0.1))


async def _child(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run the command on our terminal, hand it our signals, and give its exit code; 128 and more is a signal.

    A Ctrl-C on a terminal reaches the command by itself. It decides what that means, so we only go on waiting."""
    process: asyncio.subprocess.Process | None = None
    early: list[signal.Signals] = []

    def forward(which: signal.Signals) -> None:
        if which is signal.SIGINT and sys.stdin is not None and sys.stdin.isatty():
            return
        if process is None:
            early.append(which)
        elif process.returncode is None:
            process.send_signal(which)

    loop = asyncio.get_running_loop()
    for which in _FORWARDED:
        loop.add_signal_handler(which, forward, which)
    try:
        process = await asyncio.create_subprocess_exec(*command, env=dict(environment))
        for which in early:
            forward(which)
        code = await process.wait()
    except FileNotFoundError:
        raise NotFoundError(
            f"There is no program called {command[0]!r}.", next_step="Check the name after --."
        ) from None
    finally:
        for which in _FORWARDED:
            loop.remove_signal_handler(which)
    return 128 - code if code < 0 else code


async def _ended(
    store: SqlStore, spending: Spending, clock: Clock, agent: str, run: str, code: int, began: Instant
) -> CommandEnded:
    now = clock.now()
    total = await CallTable(store.database).total(agent, run)
    status = await spending.state(agent, now)
    return CommandEnded(
        run=run,
        code=code,
        seconds=(now - began) // SECOND,
        calls=total.calls,
        refused=total.refused,
        use=total.use,
        cost=total.cost,
        percent=status.meter.percent,
        state=status.state.value,
    )
