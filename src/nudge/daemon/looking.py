"""The control application without the daemon's work: for looking at agents that somebody else works for."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

from nudge.clock import SystemClock
from nudge.daemon.acting import Acting
from nudge.daemon.assemble import Daemon
from nudge.daemon.channel import channel_of, who_talks
from nudge.daemon.control import control_app, serving
from nudge.daemon.events import Events
from nudge.daemon.reading import Reading
from nudge.daemon.world import options_of, ports_of
from nudge.home.config import Config
from nudge.stores.open import open_store


@asynccontextmanager
async def looking(config: Config, socket: Path) -> AsyncIterator[None]:
    """Answer on the socket while the block runs. What is changed there is written to the store; nothing is fired."""
    clock = SystemClock()
    store = await open_store(config.database_url)
    try:
        ports = ports_of(config, store, clock, channel_of(config, clock))
        daemon = Daemon(ports, options_of(config, token_hex(8)))
        speaker = await who_talks(daemon, ports)
        reading = Reading(daemon, speaker)
        events = Events(store, clock, reading.states())

        async def status() -> Mapping[str, Any]:
            return {"pid": os.getpid(), "home": str(config.home.path)}

        async def poke() -> None:
            events.wake()

        endpoints = {**reading.endpoints(), **Acting(daemon, speaker).endpoints()}
        app = control_app(status, poke, lambda: None, endpoints, events)
        try:
            async with serving(app, socket):
                yield
        finally:
            events.close()
            await ports.channel.close()
            if ports.model:
                await ports.model.close()
    finally:
        await store.close()
