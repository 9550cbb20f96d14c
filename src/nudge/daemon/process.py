"""The daemon's process: checks, lock, logs, store, signals, control socket, then the loop until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import signal
import sys
from collections.abc import Coroutine, Mapping, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import Any

from nudge import __version__
from nudge.channels.terminal_prompt import Prompt
from nudge.clock import SystemClock
from nudge.coach.polling import Polling
from nudge.daemon.assemble import Daemon
from nudge.daemon.channel import channel_of, who_talks
from nudge.daemon.chat_connections import ChatAwareChannel, ChatEndpoints
from nudge.daemon.checks import ask_model, examine
from nudge.daemon.config_checks import CONFIG_CHECKS
from nudge.daemon.control import control_app, serving
from nudge.daemon.findings import Finding, Subject, refuse_bad_start
from nudge.daemon.lock import HomeLock
from nudge.daemon.reload import SpendingReload
from nudge.daemon.signals import handle_signals
from nudge.daemon.terminal_chat import TerminalChat, greeting
from nudge.daemon.troubles import DatabaseFile, KeyCheck, Troubles
from nudge.daemon.world import options_of, ports_of
from nudge.errors import StoreCorruptError
from nudge.home.config import SECRET_NAMES, Config
from nudge.home.logs import configure_logs
from nudge.home.set_aside import set_aside
from nudge.queue.channel import Outbound
from nudge.queue.dispatch import EarlyWakes
from nudge.queue.outcomes import FeedLine
from nudge.stores.open import open_store, sqlite_path
from nudge.stores.store import SqlStore

log = logging.getLogger("nudge.daemon")


async def serve(config: Config, *, terminal: bool = False, empty_database: bool = False) -> int:
    """Run until a signal or `nudge stop`. The exit code. What `nudge config check` calls an error is refused."""
    clock = SystemClock()
    home = config.home
    findings = examine(Subject(home, clock.now(), terminal=terminal, config=config), CONFIG_CHECKS)
    refuse_bad_start(findings)
    _keep_private()
    instance = secrets.token_hex(8)
    lock = HomeLock.acquire(home, instance, clock.now())
    try:
        configure_logs(config.log.level, config.secrets, home.logs, quiet=terminal)
        _say_warnings(findings)
        store, kept = await _open(config, clock, empty_database=empty_database)
        try:
            if lock.before:
                await store.lanes.release_owner(lock.before.instance)  # we hold its lock: it is dead
            if kept:
                text = f"The database was damaged and is kept as {kept}. nudge starts with an empty one."
                log.error("%s", text)
                await store.feed.add(FeedLine(clock.now(), "", "restored", text))
            return await _run(config, store, clock, lock, terminal=terminal)
        finally:
            await store.close()
    finally:
        lock.release()


def _keep_private() -> None:
    """What this process and its children make is their owner's alone. The keys leave its environment, so that no child
    inherits one; `/proc` still shows the environment that it was started with."""
    os.umask(0o077)
    for name in SECRET_NAMES:
        os.environ.pop(name, None)


def _say_warnings(findings: Sequence[Finding]) -> None:
    for finding in findings:
        if finding.level == "warning":
            log.warning("%s %s", finding.text, finding.next_step or "")


async def _open(config: Config, clock: SystemClock, *, empty_database: bool) -> tuple[SqlStore, str | None]:
    try:
        return await open_store(config.database_url), None
    except StoreCorruptError:
        if not empty_database:
            raise
    kept = set_aside(Path(sqlite_path(config.database_url)), clock.now())
    return await open_store(config.database_url), kept.name


async def _run(config: Config, store: SqlStore, clock: SystemClock, lock: HomeLock, *, terminal: bool) -> int:
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    prompt = Prompt(sys.stdin, sys.stdout, colour=colour, history=config.home.chat_history) if terminal else None

    def zone() -> tzinfo:
        return daemon.documents.targets(agent).zone

    own = channel_of(config, clock, screen=prompt or sys.stdout, zone=zone, terminal=terminal, colour=colour)
    channel = ChatAwareChannel(own, store, clock)
    ports = ports_of(config, store, clock, channel)
    daemon = Daemon(ports, options_of(config, lock.holder.instance, lock.holder.home))
    await daemon.start()
    agent = await who_talks(daemon, ports)
    signals = handle_signals(daemon.dispatcher)
    reload = SpendingReload(config, daemon.spending, clock)
    key = KeyCheck(lambda: ask_model(config), clock, store.feed.add) if ports.model else None
    troubles = Troubles(config.home, _database_file(config), key, reload)

    async def status() -> Mapping[str, Any]:
        coaches = [one.name for one in await store.agents.all() if ports.is_coach(one)]
        return {
            "pid": os.getpid(),
            "version": __version__,
            "home": str(config.home.path),
            "problems": troubles.now(coaches),
            **await daemon.status(),
        }

    async def poke() -> None:
        await reload.look()
        await daemon.look_again()

    app = control_app(status, poke, daemon.stop, ChatEndpoints(daemon, agent, channel).endpoints())
    companions = [daemon.watch.run(), reload.run(), EarlyWakes(store, clock, daemon.poke).run()]
    if key:
        companions.append(key.run())
    if own.capabilities.listens:
        companions.append(Polling(own, daemon.coach, clock, agent).run())
    if prompt:
        companions.append(TerminalChat(daemon, agent, prompt).run())
    try:
        async with serving(app, config.home.socket):
            log.info("nudge %s runs in %s", __version__, config.home.path)
            if prompt:
                words = greeting(daemon, agent, clock.now(), by_rules=ports.model is None)
                await own.send(Outbound(0, words))
            await _beside(daemon, companions)
    finally:
        if prompt:
            prompt.close()
        await channel.close()
        if ports.model:
            await ports.model.close()
    log.info("nudge stopped")
    return 130 if signal.SIGINT in signals else 0


def _database_file(config: Config) -> DatabaseFile | None:
    url = config.database_url
    return DatabaseFile(Path(sqlite_path(url))) if url.startswith("sqlite:") else None


async def _beside(daemon: Daemon, companions: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Run the daemon with what runs beside it. A companion that cannot go on ends the daemon with its error."""
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
    if errors:
        raise errors[0]
