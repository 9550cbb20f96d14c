"""Work on one agent's tasks in this process, without a daemon: for `nudge work` while none runs."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from nudge.clock import Clock, SystemClock
from nudge.daemon.assemble import Daemon, Options, Ports
from nudge.daemon.lock import HomeLock
from nudge.daemon.signals import handle_signals
from nudge.daemon.world import options_of, ports_of
from nudge.home.config import Config
from nudge.home.logs import configure_logs
from nudge.progress.extensions import Approver
from nudge.progress.store import Session
from nudge.queue.channel import Capabilities, Channel, Outbound, Receipt
from nudge.queue.tables import AgentTimers
from nudge.stores.open import open_store
from nudge.stores.store import SqlStore

LOOK_SECONDS = 0.2

Look = Callable[[SqlStore], Awaitable[bool]]
"""Shows its state; True when it is over."""


class Nowhere(Channel):
    """For a process that talks to nobody: what is due for the person waits for the daemon."""

    name = "nowhere"
    capabilities = Capabilities()

    async def send(self, message: Outbound) -> Receipt:
        raise AssertionError("nothing is sent from here")


async def work_here(config: Config, agent: str, look: Look, approver_for: Callable[[Session], Approver]) -> bool:
    """Run one agent's worker until `look` says that it is over, or a signal comes. Whether it was over."""
    clock = SystemClock()
    instance = secrets.token_hex(8)
    lock = HomeLock.acquire(config.home, instance, clock.now())
    try:
        configure_logs(config.log.level, config.secrets, config.home.logs, quiet=True)
        store = await open_store(config.database_url)
        try:
            if lock.before:
                await store.lanes.release_owner(lock.before.instance)
            ports = ports_of(config, store, clock, Nowhere())
            assert ports.work is not None
            ports = replace(ports, work=replace(ports.work, approver_for=approver_for))
            store.timers = AgentTimers(store.database, agent)
            async with working(ports, options_of(config, instance)) as daemon:
                return await watched(daemon, look, clock)
        finally:
            await store.close()
    finally:
        lock.release()


@asynccontextmanager
async def working(ports: Ports, options: Options) -> AsyncIterator[Daemon]:
    """A daemon that runs for the block."""
    daemon = Daemon(ports, options)
    await daemon.start()
    handle_signals(daemon.dispatcher)
    running = asyncio.create_task(daemon.run())
    try:
        yield daemon
    finally:
        daemon.stop()
        await running
        if ports.model is not None:
            await ports.model.close()


async def watched(daemon: Daemon, look: Look, clock: Clock) -> bool:
    """Look until it is over, or until the daemon was told to stop."""
    while not await look(daemon.store):
        if daemon.dispatcher.stopping:
            return False
        await clock.sleep(LOOK_SECONDS)
    return True
