"""The daemon's process: lock, logs, store, signals, control socket, then the loop until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import signal
import sys
from collections.abc import Mapping
from typing import Any

from nudge import __version__
from nudge.adapters.clock import SystemClock
from nudge.adapters.config import Config, load_config
from nudge.adapters.logs import configure_logs
from nudge.adapters.open_store import open_store
from nudge.adapters.set_aside import set_aside
from nudge.adapters.settings import Settings
from nudge.adapters.terminal import TerminalMessenger
from nudge.app.ports.messenger import Messenger
from nudge.app.ports.records import FeedLine
from nudge.app.ports.store import Store
from nudge.core.instants import zone_of
from nudge.errors import StoreCorruptError
from nudge.surfaces.daemon.assemble import Daemon
from nudge.surfaces.daemon.control import control_app, serving
from nudge.surfaces.daemon.lock import HomeLock
from nudge.surfaces.daemon.signals import handle_signals
from nudge.surfaces.daemon.world import options_of, ports_of

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


async def _open(settings: Settings, clock: SystemClock, *, empty_database: bool) -> tuple[Store, str | None]:
    try:
        return await open_store(settings.database_url), None
    except StoreCorruptError:
        if not empty_database:
            raise
    kept = set_aside(settings.home.database, clock.now())
    return await open_store(settings.database_url), kept.name


async def _run(
    settings: Settings, config: Config, store: Store, clock: SystemClock, instance: str, *, terminal: bool
) -> int:
    messenger = make_messenger(settings, config, clock, terminal=terminal)
    ports = ports_of(settings, config, store, clock, messenger)
    daemon = Daemon(ports, options_of(settings, config, instance))
    await daemon.start()
    signals = handle_signals(daemon.dispatcher)

    async def status() -> Mapping[str, Any]:
        return {"pid": os.getpid(), "version": __version__, "home": str(settings.home.path), **await daemon.status()}

    app = control_app(status, daemon.look_again, daemon.stop)
    try:
        async with serving(app, settings.home.socket):
            log.info("nudge %s runs in %s", __version__, settings.home.path)
            if terminal:
                print(f"nudge runs. Reminders appear here; stop with Ctrl-C. Home: {settings.home.path}", flush=True)  # noqa: T201
            watching = asyncio.create_task(daemon.watch.run(), name="watch")
            try:
                await daemon.run()
            finally:
                watching.cancel()
    finally:
        await messenger.close()
        if ports.model:
            await ports.model.close()
    log.info("nudge stopped")
    return 130 if signal.SIGINT in signals else 0


def make_messenger(settings: Settings, config: Config, clock: SystemClock, *, terminal: bool) -> Messenger:
    zone = zone_of(settings.timezone)
    colour = sys.stdout.isatty() and "NO_COLOR" not in settings.environment
    return TerminalMessenger(sys.stdout, clock.now, zone, colour=colour)
