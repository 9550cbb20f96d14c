"""The channel: how many messages of the person a second are answered without a model, from Telegram and back.

A fake Telegram in a process of its own holds a thousand messages (ten thousand with `--full`). The daemon takes them,
answers each by its rules and sends the answers one after the other, all on a durable SQLite. None may be lost or
doubled.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import httpx2

from benchmarks import measure
from benchmarks.measure import Row, running, scratch
from nudge.channels.telegram import TelegramChannel
from nudge.clock import SystemClock
from nudge.coach.polling import Polling
from nudge.daemon.assemble import Daemon, Options, Ports
from nudge.home.documents import HomeDocuments
from nudge.home.folder import Home
from nudge.home.prices import load_prices
from nudge.stores.open import open_store
from nudge.testing.telegram_server import PERSON, TOKEN

AGENT = "coach"
ASKED = "what's next?"
PATIENCE = 600.0


async def answered(url: str, folder: Path, count: int) -> tuple[float, float]:
    """Seconds until every message has its answer, and seconds of the processor."""
    clock = SystemClock()
    store = await open_store(f"sqlite:///{folder}/nudge.db")
    channel = TelegramChannel(TOKEN, person=PERSON, clock=clock, api_base=url)
    ports = Ports(store, clock, channel, HomeDocuments(Home(folder)), load_prices())
    daemon = Daemon(ports, Options(owner="benchmark", timezone="UTC"))
    await daemon.start()
    started, worked = time.perf_counter(), time.process_time()
    running = asyncio.create_task(daemon.run())
    polling = asyncio.create_task(Polling(channel, daemon.coach, clock, AGENT).run())
    async with httpx2.AsyncClient(timeout=PATIENCE) as control:
        sent = (await control.get(f"{url}/control/sent?at_least={count}&timeout={PATIENCE}")).json()["sent"]
        took, cpu = time.perf_counter() - started, time.process_time() - worked
        await asyncio.sleep(1)
        later = (await control.get(f"{url}/control/sent")).json()["sent"]
    polling.cancel()
    daemon.stop()
    await running
    rows = await store.outbox.recent(AGENT, limit=count + 1)
    await channel.close()
    await store.close()
    if not len(sent) == len(later) == len(rows) == count:
        raise AssertionError(f"{count} messages got {len(rows)} answers, and {len(later)} arrived")
    return took, cpu


def rows() -> list[Row]:
    count = 10_000 if measure.full else 1_000
    command = [sys.executable, "-m", "nudge.testing.telegram_server", "--port", "0"]
    with scratch() as folder, running(command, os.environ) as service:
        assert service.stdout is not None
        url = service.stdout.readline().split()[-1]
        httpx2.post(f"{url}/control/push", json={"text": ASKED, "times": count}, timeout=PATIENCE).raise_for_status()
        took, cpu = asyncio.run(answered(url, folder, count))
    return [
        (f"{count:,} messages answered without a model", f"{count / took:,.0f}/s", "≥ 100/s"),
        ("a message answered without a model, processor time", f"{cpu / count * 1000:.1f} ms", "< 10 ms"),
    ]
