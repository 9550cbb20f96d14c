"""The gateway: the latency it adds, calls a second, memory, and a limit under a hundred streams of twenty agents.

The service and the gateway are processes of their own. They share the machine's cores with the clients, which take
little (`benchmarks.load`). LiteLLM's proxy, if `make bench` could install it, gets the same load in front of the same
service, with a budget of its own kind: one dollar on the deployment.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks import measure
from benchmarks.load import INPUT, MODEL, OUTPUT, Client, served
from benchmarks.measure import Row, say
from nudge.home.prices import load_prices
from nudge.queue.agents import Agent
from nudge.spending.holds import AccountKey, AccountKind
from nudge.stores.open import open_store
from nudge.tokens import TokenUse

KEY = "sk-ant-fake-key-of-nobody"
AGENTS = [f"agent-{number}" for number in range(20)]
RUN = "together"
LIMIT = 1_000_000
COST = load_prices().cost(MODEL, TokenUse(INPUT, OUTPUT))
NUDGE = [sys.executable, "-m", "nudge.cli.main"]
LITELLM = Path(sys.prefix).parent / f"{Path(sys.prefix).name}-litellm" / "bin" / "litellm"
MOST_CALLS = 3 * LIMIT // COST


@dataclass(frozen=True)
class Proxy:
    """What stands before the service: a client of it for a number."""

    name: str
    pid: int
    service: int
    client: Callable[[int], Client]
    limited: str = MODEL
    """The model whose calls share the dollar."""
    store_url: str = ""

    def goal(self, target: str) -> str:
        return target if self.name == "nudge" else "-"


def rows() -> list[Row]:
    return asyncio.run(_rows())


async def _rows() -> list[Row]:
    found: list[Row] = []
    async with _nudge() as nudge:
        found += [*await _latency(nudge), *await _throughput(nudge), *await _limit(nudge)]
        found += await _ledger(nudge)
        found += await _memory(nudge, 20_000 if measure.full else 3_000)
    for row in found:
        say("  ".join(row))
    if not LITELLM.exists():
        say("LiteLLM is not installed; 'make bench' does that")
        return found
    async with _litellm() as other:
        return [*found, *await _latency(other), *await _throughput(other), *await _limit(other)]


@contextmanager
def _service() -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-m", "benchmarks.load"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline().rpartition(":")[2])
        finally:
            process.terminate()


@asynccontextmanager
async def _nudge() -> AsyncIterator[Proxy]:
    with _service() as service, tempfile.TemporaryDirectory() as folder:
        home, port = Path(folder) / "home", _free_port()
        environment = {**os.environ, "NUDGE_HOME": str(home), "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{service}"}
        subprocess.run([*NUDGE, "init"], env=environment, check=True, capture_output=True)
        (home / "nudge.toml").write_text(f"[gateway]\nport = {port}\n[spending]\nwindow = 90000\n")
        store_url = f"sqlite:///{home / 'nudge.db'}"
        store = await open_store(store_url)
        for name in AGENTS:
            await store.agents.add(Agent(name, "coach", 0))
        await store.ledger.open(AccountKey(AccountKind.RUN, RUN), LIMIT, agent=AGENTS[0])
        await store.close()

        def client(number: int) -> Client:
            return Client(port, f"/agents/{AGENTS[number % len(AGENTS)]}/v1/messages", {"x-api-key": KEY})

        with subprocess.Popen([*NUDGE, "gateway"], env=environment, stderr=subprocess.DEVNULL) as process:
            try:
                await _answers(client(0))
                yield Proxy("nudge", process.pid, service, client, store_url=store_url)
            finally:
                process.send_signal(signal.SIGINT)


@asynccontextmanager
async def _litellm() -> AsyncIterator[Proxy]:
    with _service() as service, tempfile.TemporaryDirectory() as folder:
        config, port = Path(folder) / "config.yaml", _free_port()
        config.write_text(
            f"""
model_list:
  - model_name: {MODEL}
    litellm_params: {{model: anthropic/{MODEL}, api_base: "http://127.0.0.1:{service}", api_key: {KEY}}}
    model_info: {{input_cost_per_token: 0.000002, output_cost_per_token: 0.00001}}
  - model_name: limited
    litellm_params:
      model: anthropic/{MODEL}
      api_base: http://127.0.0.1:{service}
      api_key: {KEY}
      max_budget: {LIMIT / 1_000_000}
      budget_duration: 1d
    model_info: {{input_cost_per_token: 0.000002, output_cost_per_token: 0.00001}}
general_settings: {{master_key: {KEY}}}
"""
        )
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        command = [str(LITELLM), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]

        def client(number: int) -> Client:
            return Client(port, headers={"x-api-key": KEY})

        with subprocess.Popen(
            [*command, "--telemetry", "False"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            try:
                await _answers(client(0))
                yield Proxy("LiteLLM", process.pid, service, client, "limited")
            finally:
                process.terminate()


async def _answers(client: Client) -> None:
    """Wait until a proxy takes calls; the first ones load what they need."""
    async with asyncio.timeout(120):
        while True:
            try:
                if (await client.ask())[0] == 200:
                    break
            except (OSError, asyncio.IncompleteReadError):
                client.close()
            await asyncio.sleep(0.2)
    client.close()


async def _latency(proxy: Proxy) -> list[Row]:
    """Fifty calls a second with short answers: a second through the gateway, a second straight to the service."""
    rounds = 20 if measure.full else 5
    direct, through = (
        [Client(proxy.service, headers={"x-api-key": KEY}) for _ in range(50)],
        [proxy.client(number) for number in range(50)],
    )
    for client in direct + through:
        await client.ask(stream=True)
    taken: dict[bool, list[float]] = {False: [], True: []}
    for turn in range(2 * rounds):
        clients = through if turn % 2 == 0 else direct
        tasks = []
        for client in clients:
            tasks.append(asyncio.create_task(client.ask(stream=True)))
            await asyncio.sleep(0.02)
        taken[turn % 2 == 0] += [first for _, first in await asyncio.gather(*tasks)]
    for client in direct + through:
        client.close()
    plain, later = sorted(taken[False]), sorted(taken[True])

    def added(share: float) -> float:
        return (later[int(len(later) * share)] - plain[int(len(plain) * share)]) * 1000

    return [
        (f"{proxy.name}, first byte later at 50 calls/s, median", f"{added(0.5):.1f} ms", proxy.goal("< 5 ms")),
        (
            f"{proxy.name}, first byte later at 50 calls/s, 99th percentile",
            f"{added(0.99):.1f} ms",
            proxy.goal("< 25 ms"),
        ),
    ]


async def _many(proxy: Proxy, until: Callable[[int], bool]) -> int:
    """Small calls of twenty clients at once, until somebody says that it is enough."""
    done = 0

    async def work(client: Client) -> None:
        nonlocal done
        while not until(done):
            status, _ = await client.ask()
            assert status == 200, status
            done += 1
        client.close()

    await asyncio.gather(*(work(proxy.client(number)) for number in range(20)))
    return done


async def _throughput(proxy: Proxy) -> list[Row]:
    seconds = 15 if measure.full else 5
    end, used = time.perf_counter() + seconds, _processor_seconds(proxy.pid)
    done = await _many(proxy, lambda made: time.perf_counter() > end)
    each = (_processor_seconds(proxy.pid) - used) / done
    return [
        (
            f"{proxy.name}, small calls through one process",
            f"{done / seconds:.0f} calls/s",
            proxy.goal("> 300 calls/s"),
        ),
        (f"{proxy.name}, processor time for one", f"{each * 1000:.2f} ms", proxy.goal("< 3.3 ms")),
    ]


async def _limit(proxy: Proxy) -> list[Row]:
    """A hundred streams spend one dollar together, until they are refused. What the service served is the truth."""
    answers: Counter[int] = Counter()
    refused = 0
    before = await served(proxy.service)
    began = time.perf_counter()

    async def work(number: int) -> None:
        nonlocal refused
        client = proxy.client(number)
        client.model, client.headers["x-nudge-run"] = proxy.limited, RUN
        while answers.total() < MOST_CALLS:
            status, _ = await client.ask(32_000, stream=True)
            if status != 200:
                refused += 1
                break
            answers[number % 20] += 1
        client.close()

    await asyncio.gather(*(work(number) for number in range(100)))
    took = time.perf_counter() - began
    spent = (await served(proxy.service) - before) * COST
    fewest = min(answers[number] for number in range(len(AGENTS)))
    return [
        (f"{proxy.name}, 100 streams, $1: above it", f"{max(0, spent - LIMIT)} µ$", proxy.goal("0 µ$")),
        (f"{proxy.name}, … used of it", f"{min(100.0, spent * 100 / LIMIT):.1f} %", proxy.goal("> 95 %")),
        (f"{proxy.name}, … streams refused", f"{refused} of 100, after {answers.total() / took:.0f} calls/s", "-"),
        (f"{proxy.name}, … calls of the agent with the fewest", f"{fewest}", proxy.goal("> 0")),
    ]


async def _ledger(proxy: Proxy) -> list[Row]:
    store = await open_store(proxy.store_url)
    (account,) = [row.account for row in (await store.ledger.get([AccountKey(AccountKind.RUN, RUN)])).values()]
    await store.close()
    return [("nudge, … still held afterwards", f"{account.held} µ$", "0 µ$")]


async def _memory(proxy: Proxy, calls: int) -> list[Row]:
    """How much larger the gateway is after so many calls than after its first thousands."""
    await _many(proxy, lambda made: made >= 2_000)
    before = _resident_megabytes(proxy.pid)
    await _many(proxy, lambda made: made >= calls)
    grown = _resident_megabytes(proxy.pid) - before
    return [(f"nudge, memory after {calls:,} calls more", f"{grown:.1f} MB", "< 10 MB")]


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident_megabytes(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


async def _soak(calls: int) -> None:
    """Say how large the gateway is after its first thousands of calls, and after each tenth of the others."""
    async with _nudge() as nudge:
        await _many(nudge, lambda made: made >= 2_000)
        first = _resident_megabytes(nudge.pid)
        print(f"0 calls  {first:.1f} MB", flush=True)
        for tenth in range(1, 11):
            await _many(nudge, lambda made: made >= calls // 10)
            size = _resident_megabytes(nudge.pid)
            print(f"{calls * tenth // 10:,} calls  {size:.1f} MB  ({size - first:+.1f} MB; < +10 MB)", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How the gateway's memory grows over many calls.")
    parser.add_argument("--calls", type=int, default=100_000)
    asyncio.run(_soak(parser.parse_args().calls))
