"""One of many that want the same ping: ready, wait for the word, take."""

from __future__ import annotations

import asyncio
import sys
from datetime import date

from nudge.attention.reserve import PING
from nudge.instants import Instant
from nudge.stores.open import open_store


async def main(url: str, now: int) -> None:
    store = await open_store(url, connections=1)
    print("ready", flush=True)
    sys.stdin.readline()
    granted = await store.attention.take_ping("race", Instant(now), date(2026, 2, 18), PING)
    print("granted" if granted else "refused", flush=True)
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
