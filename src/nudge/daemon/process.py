"""The daemon's process: lock, logs, store, signals, control socket, then the loop until it is told to stop."""

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
from nudge.daemon.control import control_app, serving
from nudge.daemon.lock import HomeLock
from nudge.daemon.reload import SpendingReload
from nudge.daemon.signals import handle_signals
from nudge.daemon.terminal_chat import TerminalChat, greeting
from nudge.daemon.world import options_of, ports_of
from nudge.errors import StoreCorruptError
from nudge.home.config import Config, load_config
from nudge.home.logs import configure_logs
from nudge.home.set_aside import set_aside
from nudge.home.settings import Settings
from nudge.queue.channel import Outbound
from nudge.queue.dispatch import EarlyWakes
from nudge.queue.outcomes import FeedLine
from nudge.stores.open import open_store, sqlite_path
from nudge.stores.store import SqlStore

log = logging.getLogger("nudge.daemon")


async def serve(settings: Settings, *, terminal: bool = False, empty_database: bool = False) -> int:
    """Run until a signal or `nudge stop`. The exit code."""
    clock = SystemClock()
    home = settings.home
    instance = secrets.token_hex(8)
    lock = HomeLock.acquire(home, instance, clock.now())
    try:
        config = load_config(settings)
        configure_logs(config.log.level, settings.secrets, home.logs, quiet=terminal)
        store, kept = await _open(settings, clock, empty_database=empty_database)
        try:
            if lock.before:
                await store.lanes.release_owner(lock.before.instance)  # we hold its lock: it is dead
            if kept:
                text = f"The database was damaged and is kept as {kept}. nudge starts with an empty one."
                log.error("%s", text)
                await store.feed.add(FeedLine(clock.now(), "", "restored", text))
            return await _run(settings, config, store, clock, instance, terminal=terminal)
        finally:
            await store.close()
    finally:
        lock.release()


async def _open(settings: Settings, clock: SystemClock, *, empty_database: bool) -> tuple[SqlStore, str | None]:
    try:
        return await open_store(settings.database_url), None
    except StoreCorruptError:
        if not empty_database:
            raise
    kept = set_aside(Path(sqlite_path(settings.database_url)), clock.now())
    return await open_store(settings.database_url), kept.name


async def _run(
    settings: Settings, config: Config, store: SqlStore, clock: SystemClock, instance: str, *, terminal: bool
) -> int:
    colour = sys.stdout.isatty() and "NO_COLOR" not in settings.environment
    prompt = Prompt(sys.stdin, sys.stdout, colour=colour, history=settings.home.chat_history) if terminal else None

    def zone() -> tzinfo:
        return daemon.documents.targets(agent).zone

    own = channel_of(settings, config, clock, screen=prompt or sys.stdout, zone=zone, terminal=terminal, colour=colour)
    channel = ChatAwareChannel(own, store, clock)
    ports = ports_of(settings, config, store, clock, channel)
    daemon = Daemon(ports, options_of(settings, config, instance))
    await daemon.start()
    agent = await who_talks(daemon, ports)
    signals = handle_signals(daemon.dispatcher)

    async def status() -> Mapping[str, Any]:
        return {"pid": os.getpid(), "version": __version__, "home": str(settings.home.path), **await daemon.status()}

    reload = SpendingReload(settings, daemon.spending, clock)

    async def poke() -> None:
        await reload.look()
        await daemon.look_again()

    app = control_app(status, poke, daemon.stop, ChatEndpoints(daemon, agent, channel).endpoints())
    companions = [daemon.watch.run(), reload.run(), EarlyWakes(store, clock, daemon.poke).run()]
    if own.capabilities.listens:
        companions.append(Polling(own, daemon.coach, clock, agent).run())
    if prompt:
        companions.append(TerminalChat(daemon, agent, prompt).run())
    try:
        async with serving(app, settings.home.socket):
            log.info("nudge %s runs in %s", __version__, settings.home.path)
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
