"""The daemon's process: checks, lock, logs, store, signals, control socket, then the loop until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import tzinfo
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any

from nudge import __version__
from nudge.channels.terminal_prompt import Prompt
from nudge.clock import Clock, SystemClock
from nudge.coach.polling import Polling
from nudge.daemon.acting import Acting
from nudge.daemon.assemble import Daemon
from nudge.daemon.channel import channel_of, who_talks
from nudge.daemon.chat_connections import ChatAwareChannel, ChatEndpoints
from nudge.daemon.checks import ask_model, examine
from nudge.daemon.config_checks import CONFIG_CHECKS
from nudge.daemon.control import control_app, serving
from nudge.daemon.events import Events
from nudge.daemon.findings import Finding, Subject, refuse_bad_start
from nudge.daemon.keeper import DatabaseKeeper
from nudge.daemon.lock import HomeLock
from nudge.daemon.reading import Reading
from nudge.daemon.reload import SpendingReload
from nudge.daemon.rescue import open_sound, tell
from nudge.daemon.signals import handle_signals
from nudge.daemon.terminal_chat import Leaving, TerminalChat, greeting
from nudge.daemon.troubles import KeyCheck, Troubles
from nudge.daemon.working import CommandPorts
from nudge.daemon.world import command_of, options_of, ports_of
from nudge.errors import NotConfiguredError, StoreDamagedError, StoreError, StoreGoneError
from nudge.home.config import SECRET_NAMES, Config
from nudge.home.create import allow_person
from nudge.home.logs import configure_logs
from nudge.instants import MINUTE, Instant, to_datetime
from nudge.queue.channel import Outbound
from nudge.queue.dispatch import EarlyWakes
from nudge.queue.pairing import Pairing, Pairs
from nudge.redaction import keep_secret
from nudge.spending.governor import Spending
from nudge.stores.open import open_store, sqlite_path
from nudge.stores.sqlite import SqliteDatabase
from nudge.stores.store import SqlStore
from nudge.worker.commands import CommandRunner

log = logging.getLogger("nudge.daemon")


Door = Callable[[Config, Daemon], Coroutine[Any, Any, None]]
"""A way in for other programs, which runs beside the daemon until it is cancelled."""


RunnerOf = Callable[[Config, SqlStore, Spending, Clock], CommandRunner]
"""What starts the programs of agents by command."""


async def serve(
    config: Config,
    *,
    terminal: bool = False,
    doors: Sequence[Door] = (),
    runner_of: RunnerOf | None = None,
    leaving: Leaving | None = None,
) -> int:
    """Run until a signal or `nudge stop`. The exit code. What `nudge config check` calls an error is refused. `leaving`
    says afterwards how somebody left the terminal."""
    clock = SystemClock()
    home = config.home
    findings = examine(Subject(home, clock.now(), terminal=terminal, config=config), CONFIG_CHECKS)
    refuse_bad_start(findings)
    _keep_private(config.secrets)
    instance = token_hex(8)
    lock = HomeLock.acquire(home, instance, clock.now())
    try:
        configure_logs(config.log.level, config.secrets, home.logs, quiet=terminal)
        _say_warnings(findings)
        starts: list[Instant] = []
        trouble: StoreError | None = None
        while True:
            store, news = await _open(config, clock, trouble)
            starts = [*(at for at in starts if clock.now() - at < _SOON), clock.now()]
            try:
                await _refuse_fleet(store)
                if lock.before:
                    await store.lanes.release_owner(lock.before.instance)  # we hold its lock: it is dead
                await store.lanes.release_owner(instance)
                return await _run(
                    config,
                    store,
                    clock,
                    lock,
                    news,
                    terminal=terminal,
                    doors=doors,
                    runner_of=runner_of,
                    leaving=leaving,
                )
            except (StoreDamagedError, StoreGoneError) as error:
                if len(starts) > _MOST_STARTS:
                    raise
                log.error("%s nudge starts again with what can be recovered.", error.message)
                trouble = error
                if isinstance(error, StoreGoneError):
                    _leave(store, clock.now())
            finally:
                with suppress(StoreError):
                    await store.close()
    finally:
        lock.release()


async def _refuse_fleet(store: SqlStore) -> None:
    """Beside a fleet's workers a daemon would do half of the work twice, and read the person's channel twice."""
    if await store.database.one("fleet_get", {}) is not None:
        raise NotConfiguredError(
            "This home's agents run on a fleet.",
            next_step="Start a worker with 'nudge fleet worker', or take the agents back with 'nudge fleet release'.",
        )


_SOON = 10 * MINUTE
_MOST_STARTS = 3
"""More than this in ten minutes: the disk or somebody else damages every file, and starting again does not help."""


def _keep_private(secrets: Sequence[str]) -> None:
    """What this process and its children make is their owner's alone. The keys leave its environment, so that no child
    inherits one; `/proc` still shows the environment that it was started with."""
    os.umask(0o077)
    keep_secret(secrets)
    for name in SECRET_NAMES:
        os.environ.pop(name, None)


def _say_warnings(findings: Sequence[Finding]) -> None:
    for finding in findings:
        if finding.level == "warning":
            log.warning("%s %s", finding.text, finding.next_step or "")


async def _open(config: Config, clock: SystemClock, trouble: StoreError | None) -> tuple[SqlStore, str]:
    """The store, and what the person must know of it. A damaged file is recovered first."""
    url = config.database_url
    if not url.startswith("sqlite:"):
        return await open_store(url), ""
    return await open_sound(Path(sqlite_path(url)), config.home.copies, clock.now(), trouble)


def _leave(store: SqlStore, now: Instant) -> None:
    """Somebody put another file in the place of ours: keep ours beside it."""
    database = store.database
    assert isinstance(database, SqliteDatabase)
    stamp = to_datetime(now).strftime("%Y-%m-%dT%H%M%SZ")
    database.leave(Path(f"{database.path}.replaced-{stamp}"))


async def _run(
    config: Config,
    store: SqlStore,
    clock: SystemClock,
    lock: HomeLock,
    news: str,
    *,
    terminal: bool,
    doors: Sequence[Door],
    runner_of: RunnerOf | None,
    leaving: Leaving | None,
) -> int:
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    prompt = Prompt(sys.stdin, sys.stdout, colour=colour, history=config.home.chat_history) if terminal else None

    def zone() -> tzinfo:
        return daemon.documents.targets(agent).zone

    pairing = Pairing(store)

    async def offer(words: str, who: str) -> bool:
        return await pairing.offer(words, who, clock.now())

    async def accepted(who: str) -> None:
        """Somebody sent the code of 'nudge pair': from here on the coach is theirs."""
        allow_person(config, who)
        await _greet(daemon, agent, pairing, who, clock.now())

    pairs = Pairs(offer, accepted)
    own = channel_of(
        config, clock, screen=prompt or sys.stdout, zone=zone, terminal=terminal, colour=colour, pairs=pairs
    )
    channel = ChatAwareChannel(own, store, clock)
    ports = ports_of(config, store, clock, channel)
    if runner_of:
        commands = CommandPorts(
            partial(command_of, config.home),
            lambda spending: runner_of(config, store, spending, clock),
            config.windows.spare,
        )
        ports = replace(ports, commands=commands)
    daemon = Daemon(ports, options_of(config, lock.holder.instance, lock.holder.home))
    await daemon.start()
    agent = await who_talks(daemon, ports)
    if news:
        await tell(store, agent, news, clock.now())
    signals = handle_signals(daemon.dispatcher)
    reload = SpendingReload(config, daemon.spending, clock)
    key = KeyCheck(lambda: ask_model(config), clock, store.feed.add) if ports.model else None
    troubles = Troubles(config.home, key, reload)
    failures: list[StoreError] = []

    def start_again(error: StoreError) -> None:
        failures.append(error)
        daemon.dispatcher.abort()

    async def status() -> Mapping[str, Any]:
        coaches = [one.name for one in await store.agents.all() if ports.is_coach(one)]
        return {
            "pid": os.getpid(),
            "version": __version__,
            "home": str(config.home.path),
            "problems": troubles.now(coaches),
            **await daemon.status(),
        }

    reading = Reading(daemon, agent)
    events = Events(store, clock, reading.states())
    daemon.coach.drafts.watch(events.drafted, only_if=lambda: events.followed or reading.looked_at_talk)

    async def poke() -> None:
        await reload.look()
        await daemon.look_again()
        events.wake()

    endpoints = {
        **ChatEndpoints(daemon, agent, channel).endpoints(),
        **reading.endpoints(),
        **Acting(daemon, agent).endpoints(),
    }
    companions = [daemon.watch.run(), reload.run(), EarlyWakes(store, clock, daemon.poke).run()]
    companions += [door(config, daemon) for door in doors]
    if isinstance(store.database, SqliteDatabase):
        keeper = DatabaseKeeper(store.database, config.home.copies, clock, store.feed.add, start_again)
        companions.append(keeper.run())
        endpoints["examine"] = keeper.asked
    if key:
        companions.append(key.run())
    if own.capabilities.listens:
        newcomer = await pairing.paired()
        if newcomer is not None and not newcomer.greeted:
            await _greet(daemon, agent, pairing, newcomer.who, clock.now())
        companions.append(Polling(own, daemon.coach, clock, agent).run())
    if prompt:
        companions.append(TerminalChat(daemon, agent, prompt, leaving).run())
    app = control_app(status, poke, daemon.stop, endpoints, events)
    try:
        async with serving(app, config.home.socket):
            log.info("nudge %s runs in %s", __version__, config.home.path)
            if prompt:
                asked = prompt.interactive and await daemon.coach.onboarding.greet(agent, clock.now())
                words = greeting(daemon, agent, clock.now(), by_rules=ports.model is None, asked=asked)
                await own.send(Outbound(0, words))
            try:
                await _beside(daemon, companions, failures)
            finally:
                events.close()
    finally:
        if prompt:
            prompt.close()
        await channel.close()
        if ports.model:
            await ports.model.close()
    log.info("nudge stopped")
    return 130 if signal.SIGINT in signals else 0


async def _greet(daemon: Daemon, agent: str, pairing: Pairing, who: str, now: Instant) -> None:
    """The first words to somebody who was just paired: the first questions, or that it worked."""
    if not await daemon.coach.onboarding.greet(agent, now):
        await daemon.coach.replies.post(agent, PAIRED, now)
    await pairing.greeted(who)
    daemon.poke()


PAIRED = "We're connected: from now on I write to you here."


async def _beside(
    daemon: Daemon, companions: Sequence[Coroutine[Any, Any, None]], failures: Sequence[StoreError]
) -> None:
    """Run the daemon with what runs beside it. A companion that cannot go on ends the daemon with its error, and so
    does a failure of the store that only a new start can help."""
    errors: list[BaseException] = []

    def ended(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("%s", error)
            errors.append(error)
            daemon.stop()

    tasks = [asyncio.create_task(companion) for companion in companions]
    for task in tasks:
        task.add_done_callback(ended)
    try:
        await daemon.run()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    if failures or errors:
        raise [*failures, *errors][0]
