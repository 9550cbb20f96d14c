"""The coach: what a day of heartbeats and briefings costs, beside a coach that asks at every one of 32 heartbeats.

Three simulated days on the shipped documents, in virtual time, with the real dispatcher, gate and rules, and a model
that counts what it is sent:

- quiet: nobody is there and nothing changes.
- normal: up from 10:00 to 00:50, four conversations, two reminders, one edit of the goals.
- hectic: up until 02:00, a conversation every 40 minutes, a reminder every hour, five edits of the goals.

Tokens are estimated at four bytes each, the form of the answer included. Nothing is counted as cached: heartbeats are
45 minutes apart and a prompt cache holds for five. The model speaks at every third question.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from time import perf_counter

from nudge.coach.facts import DueReminder
from nudge.coach.prompts import estimate
from nudge.daemon.assemble import Daemon, Options, Ports
from nudge.home.documents import HomeDocuments
from nudge.home.folder import Home
from nudge.home.prices import load_prices
from nudge.instants import HOUR, MINUTE, Instant, parse_rfc3339
from nudge.model import ModelReply, ModelRequest, Purpose, text_reply
from nudge.queue.channel import Channel, Outbound, Receipt
from nudge.simulation.virtual_time import VirtualClock, run_virtual
from nudge.spending.prices import PriceTable
from nudge.spending.routing import STANDARD, Routes
from nudge.stores.open import open_store
from nudge.stores.store import SqlStore
from nudge.tokens import TokenUse

AGENT = "coach"
START = parse_rfc3339("2026-02-18T09:00:00Z")  # 04:00 in Toronto, on a Wednesday
MORNING = Instant(START + 6 * HOUR)  # 10:00, the wake target
PLAIN_CALLS, PLAIN_INPUT = 32, 2_100
NAMES = ("GOALS.md", "MEMORY.md", "AGENTS.md", "HEARTBEAT.md")


@dataclass
class Counting(Channel):
    """A model that counts and speaks at every third heartbeat, and the channel that it speaks on."""

    name = "counting"
    calls: list[ModelRequest] = field(default_factory=list)
    heartbeat_tokens: list[int] = field(default_factory=list)
    input: int = 0
    spent: dict[bool, int] = field(default_factory=lambda: {True: 0, False: 0})  # micro-dollars, heartbeats first
    sent: int = 0
    prices: PriceTable = field(default_factory=load_prices)
    routes: Routes = field(default_factory=Routes.of)

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.calls.append(request)
        beat = request.purpose is Purpose.HEARTBEAT
        text = '{"action": "heartbeat_ok"}' if beat else "Good morning. First: the draft. What is a small start?"
        if beat and len(self.calls) % 3 == 0:
            word = chr(97 + len(self.calls) % 26) * 4  # never the same twice, or the gate would hold it back
            text = json.dumps({"action": "message", "message": f"How is {word} going? What is in the way of it?"})
        form = estimate(json.dumps(request.schema)) if request.schema else 0
        read = estimate(request.system_text) + sum(estimate(turn.text) for turn in request.turns) + form
        if beat:
            self.heartbeat_tokens.append(read)
        use = TokenUse(input=read, output=estimate(text))
        self.input += read
        self.spent[beat] += self.prices.cost(self.routes.model(STANDARD, request.purpose.value), use)
        return text_reply(text, request.model, use)

    async def send(self, message: Outbound) -> Receipt:
        self.sent += 1
        return Receipt((str(message.id),))


@dataclass
class Life:
    """What the person does in a day: each returns when they sleep."""

    clock: VirtualClock
    store: SqlStore
    files: HomeDocuments
    due: list[DueReminder] = field(default_factory=list)

    async def at(self, minutes: int) -> None:
        """Wait until so many minutes after 10:00."""
        await self.clock.sleep(max(0.0, (MORNING + minutes * MINUTE - self.clock.now()) / 1e6))

    async def phone(self, minutes: int, every: int = 20) -> None:
        for minute in range(0, minutes, every):
            await self.at(minute)
            await self.store.attention.activity(AGENT, self.clock.now())

    async def talk(self, minutes: int) -> None:
        await self.at(minutes)
        await self.store.attention.conversation(AGENT, self.clock.now())
        text = (self.files.read(AGENT, "MEMORY.md") or b"").decode()
        head = text.partition("## Recent Context")[0]
        said = f"## Recent Context\n\nAt minute {minutes} they talked about the draft and the week. It went well.\n"
        self.files.write(AGENT, "MEMORY.md", (head + said).encode())

    async def edit(self, minutes: int) -> None:
        await self.at(minutes)
        text = (self.files.read(AGENT, "GOALS.md") or b"").decode()
        self.files.write(AGENT, "GOALS.md", text.replace("## Today", f"## Today\n1. Task {minutes}", 1).encode())

    async def reminder(self, minutes: int, done_after: int) -> None:
        await self.at(minutes)
        reminder = DueReminder(f"r-{minutes}", "Reply to Mary about the paper", self.clock.now())
        self.due.append(reminder)
        await self.at(minutes + done_after)
        self.due.remove(reminder)

    async def quiet(self) -> None:
        return None

    async def normal(self) -> None:
        await asyncio.gather(
            self.phone(14 * 60 + 50),
            *(self.talk(minute) for minute in (60, 270, 480, 690)),
            self.edit(65),
            self.reminder(300, 70),
            self.reminder(540, 30),
        )

    async def hectic(self) -> None:
        await asyncio.gather(
            self.phone(16 * 60, every=10),
            *(self.talk(minute) for minute in range(0, 15 * 60, 40)),
            *(self.edit(minute) for minute in (5, 200, 400, 600, 800)),
            *(self.reminder(minute, 25) for minute in range(30, 15 * 60, 60)),
        )


def day(live: Callable[[Life], Awaitable[None]], folder: Path) -> Counting:
    """One day from 04:00 to 04:00."""
    templates = resources.files("nudge.home") / "templates" / "documents"

    async def main(clock: VirtualClock) -> Counting:
        store = await open_store("sqlite://:memory:")
        files = HomeDocuments(Home(folder))
        for name in NAMES:
            files.write(AGENT, name, (templates / name).read_bytes())
        model = Counting()
        life = Life(clock, store, files)
        ports = Ports(store, clock, model, files, load_prices(), model=model)
        daemon = Daemon(ports, Options("benchmark", "America/Toronto"))

        async def due(agent: str, now: Instant) -> tuple[DueReminder, ...]:
            return tuple(life.due)

        daemon.coach.facts.due = due  # type: ignore[method-assign]
        await daemon.start()
        watch = asyncio.create_task(daemon.watch.run())
        running = asyncio.create_task(daemon.run())
        living = asyncio.ensure_future(live(life))
        await clock.sleep(24 * 3600)
        await living
        watch.cancel()
        daemon.stop()
        await asyncio.gather(running, watch, return_exceptions=True)
        await store.close()
        return model

    return run_virtual(main, START)


def rows() -> list[tuple[str, str, str]]:
    table = []
    plain = PLAIN_CALLS * PLAIN_INPUT
    largest = 0
    for name, live in (("quiet", Life.quiet), ("normal", Life.normal), ("hectic", Life.hectic)):
        with tempfile.TemporaryDirectory() as folder:
            started = perf_counter()
            model = day(live, Path(folder))
            took = perf_counter() - started
        beats = len(model.heartbeat_tokens)
        largest = max(largest, *model.heartbeat_tokens)
        quiet = name == "quiet"
        calls = f"{len(model.calls)} ({beats} heartbeats, {len(model.calls) - beats} briefings; {model.sent} messages)"
        table.append((f"coach: {name} day: model calls", calls, "≤ 8" if quiet else f"{PLAIN_CALLS} heartbeats"))
        ratio = f"{model.input:,} ({model.input / plain:.2f} of 32 × 2.1K)"
        table.append((f"coach: {name} day: input tokens", ratio, "≤ 20,000" if quiet else f"{plain:,}"))
        haiku = model.routes.model(STANDARD, "heartbeat")
        asked = model.prices.cost(haiku, TokenUse(input=PLAIN_INPUT, output=20)) * PLAIN_CALLS
        dollars = f"${model.spent[True] / 1e6:.4f} heartbeats, ${model.spent[False] / 1e6:.4f} briefings"
        table.append((f"coach: {name} day: dollars", dollars, f"${asked / 1e6:.4f} for 32 × 2.1K"))
        table.append((f"coach: {name} day: simulated in", f"{took:.2f} s", "–"))
    table.append(("coach: largest question of a heartbeat in these days", f"{largest:,} tokens", "≤ 2,100"))
    return table


if __name__ == "__main__":
    for row in rows():
        print("{:<55} {:>45}   {}".format(*row))
