"""The gateway: what it adds to a call, how many calls it takes, and whether a limit holds under load.

Gateway and service are processes of their own on this machine, and share its cores with the client that measures.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2

from benchmarks import measure
from benchmarks.measure import Row
from nudge.queue.agents import Agent
from nudge.spending.holds import AccountKey, AccountKind
from nudge.stores.open import open_store
from nudge.testing import running

KEY = "sk-ant-fake-key-of-nobody"
HEADERS = {"x-api-key": KEY, "anthropic-version": "2023-06-01"}
AGENTS = [f"agent-{number}" for number in range(20)]
RUN = "together"
LIMIT = 1_000_000
NUDGE = [sys.executable, "-m", "nudge.cli.main"]


def rows() -> list[Row]:
    return asyncio.run(_rows())


async def _rows() -> list[Row]:
    with (
        running("nudge.testing.anthropic_server", "--default", "word " * 200) as service,
        tempfile.TemporaryDirectory() as folder,
    ):
        async with _gateway(Path(folder), service) as (url, store_url):
            return [*await _latency(service, url), *await _throughput(service, url), *await _limit(url, store_url)]


@asynccontextmanager
async def _gateway(folder: Path, service: str) -> AsyncIterator[tuple[str, str]]:
    port = 18_717
    environment = {**os.environ, "NUDGE_HOME": str(folder / "home"), "ANTHROPIC_BASE_URL": service}
    subprocess.run([*NUDGE, "init"], env=environment, check=True, capture_output=True)
    (folder / "home" / "nudge.toml").write_text(f"[gateway]\nport = {port}\n[spending]\nwindow = 90000\n")
    store_url = f"sqlite:///{folder / 'home' / 'nudge.db'}"
    store = await open_store(store_url)
    for name in AGENTS:
        await store.agents.add(Agent(name, "coach", 0))
    await store.ledger.open(AccountKey(AccountKind.RUN, RUN), LIMIT, agent=AGENTS[0])
    await store.close()
    with subprocess.Popen([*NUDGE, "gateway"], env=environment, stderr=subprocess.PIPE) as process:
        try:
            assert process.stderr is not None
            await asyncio.to_thread(process.stderr.readline)  # it says its address
            yield f"http://127.0.0.1:{port}/agents", store_url
        finally:
            process.terminate()


def _ask(max_tokens: int = 100, *, stream: bool = False) -> dict[str, object]:
    question = [{"role": "user", "content": "Hi"}]
    return {"model": "claude-sonnet-5-5", "max_tokens": max_tokens, "messages": question, "stream": stream}


async def _first_byte(client: httpx2.AsyncClient, url: str) -> float:
    began = time.perf_counter()
    async with client.stream("POST", f"{url}/v1/messages", json=_ask(8, stream=True), headers=HEADERS) as answer:
        assert answer.status_code == 200
        pieces = aiter(answer.aiter_raw())
        await anext(pieces)
        first = time.perf_counter() - began
        async for _ in pieces:
            pass
    return first


async def _latency(service: str, url: str) -> list[Row]:
    """Fifty calls a second with short answers: a second through the gateway, a second straight to the service."""
    rounds = 20 if measure.full else 5
    taken: dict[bool, list[float]] = {False: [], True: []}
    async with httpx2.AsyncClient(timeout=60) as client:

        async def one(number: int, *, through: bool) -> None:
            where = f"{url}/{AGENTS[number % len(AGENTS)]}" if through else service
            taken[through].append(await _first_byte(client, where))

        for warm in range(40):
            await one(warm, through=warm % 2 == 0)
        taken = {False: [], True: []}
        for turn in range(2 * rounds):
            tasks = []
            for number in range(50):
                tasks.append(asyncio.create_task(one(number, through=turn % 2 == 0)))
                await asyncio.sleep(0.02)
            await asyncio.gather(*tasks)
    direct, through = sorted(taken[False]), sorted(taken[True])

    def added(share: float) -> float:
        return (through[int(len(through) * share)] - direct[int(len(direct) * share)]) * 1000

    return [
        ("first byte later at 50 calls/s, median", f"{added(0.5):.1f} ms", "< 5 ms"),
        ("first byte later at 50 calls/s, 99th percentile", f"{added(0.99):.1f} ms", "< 25 ms"),
    ]


async def _throughput(service: str, url: str) -> list[Row]:
    seconds = 15 if measure.full else 5

    async def rate(bases: list[str]) -> float:
        done, end = 0, time.perf_counter() + seconds
        async with httpx2.AsyncClient(timeout=60, limits=httpx2.Limits(max_connections=None)) as client:

            async def work(base: str) -> None:
                nonlocal done
                while time.perf_counter() < end:
                    answer = await client.post(f"{base}/v1/messages", json=_ask(), headers=HEADERS)
                    assert answer.status_code == 200
                    done += 1

            await asyncio.gather(*(work(base) for base in bases))
        return done / seconds

    through = await rate([f"{url}/{name}" for name in AGENTS])
    direct = await rate([service] * len(AGENTS))
    return [
        ("small calls through one process", f"{through:.0f} calls/s", "> 300 calls/s"),
        ("the same straight to the service", f"{direct:.0f} calls/s", "-"),
    ]


async def _limit(url: str, store_url: str) -> list[Row]:
    """A hundred streams of twenty agents spend one dollar together, until they are refused."""
    answers: Counter[str] = Counter()
    refused = 0
    began = time.perf_counter()
    async with httpx2.AsyncClient(timeout=120, limits=httpx2.Limits(max_connections=None)) as client:

        async def work(agent: str) -> None:
            nonlocal refused
            headers = {**HEADERS, "x-nudge-run": RUN}
            while True:
                body = _ask(32_000, stream=True)
                async with client.stream("POST", f"{url}/{agent}/v1/messages", json=body, headers=headers) as answer:
                    async for _ in answer.aiter_raw():
                        pass
                if answer.status_code == 402:
                    refused += 1
                    return
                assert answer.status_code == 200
                answers[agent] += 1

        await asyncio.gather(*(work(name) for name in AGENTS for _ in range(5)))
    took = time.perf_counter() - began
    store = await open_store(store_url)
    found = await store.ledger.lock([AccountKey(AccountKind.RUN, RUN)])
    await store.close()
    (account,) = (row.account for row in found.values())
    return [
        ("100 streams of 20 agents, $1: above the limit", f"{max(0, account.committed - LIMIT)} µ$", "0 µ$"),
        ("… used of it", f"{account.committed * 100 / LIMIT:.1f} %", "> 95 %"),
        ("… still held afterwards", f"{account.held} µ$", "0 µ$"),
        ("… calls of the agent with the fewest", f"{min(answers[name] for name in AGENTS)} calls", "> 0 calls"),
        ("… calls in all", f"{answers.total()} calls in {took:.1f} s, {refused} refused", "-"),
    ]
