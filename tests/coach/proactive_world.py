"""A coach that acts by itself, in virtual time: real dispatcher, delivery, gate and rules, documents in a folder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import Any

from nudge.attention.gate import Gate
from nudge.coach.answering import Answering, Spender
from nudge.coach.facts import DueReminder
from nudge.coach.outside import SignOfLife, TextHistory
from nudge.coach.person_documents import Desk
from nudge.coach.proactive import Proactive, Rhythm
from nudge.coach.prompt_size import estimate
from nudge.coach.watch import Watch
from nudge.home.documents import HomeDocuments
from nudge.home.folder import Home
from nudge.instants import Instant, to_datetime
from nudge.model import Model, ModelReply, ModelRequest, text_reply
from nudge.queue import channel
from nudge.queue.agents import Agent
from nudge.queue.channel import Outbound, Receipt
from nudge.queue.delivery import KIND as DELIVER
from nudge.queue.delivery import Delivery
from nudge.queue.dispatch import Dispatcher
from nudge.queue.outbox import Message
from nudge.queue.outcomes import Outcome
from nudge.simulation.virtual_time import VirtualClock, run_virtual
from nudge.stores.open import open_store
from nudge.stores.store import SqlStore
from nudge.tokens import TokenUse
from tests.times import TORONTO

AGENT = "coach"
NAMES = ("GOALS.md", "MEMORY.md", "AGENTS.md", "HEARTBEAT.md")


class Channel(channel.Channel):
    """Remembers what was sent and when; `fail` makes the next sends raise."""

    capabilities = channel.Capabilities(buttons=True)

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self.sent: list[tuple[Instant, str]] = []
        self.fail: list[Exception] = []

    async def send(self, message: Outbound) -> Receipt:
        if self.fail:
            raise self.fail.pop(0)
        self.sent.append((self._clock.now(), message.text))
        return Receipt((str(message.id),))

    @property
    def texts(self) -> list[str]:
        return [text for _, text in self.sent]

    def times(self, zone: Any = TORONTO) -> list[str]:
        """When, as the person's clock shows it: "18 10:00"."""
        return [f"{to_datetime(at, zone):%d %H:%M}" for at, _ in self.sent]


class ScriptedSpender:
    """A paid model by script: each answer is a text, a decision, or an error to raise; after the last it repeats it."""

    def __init__(self, *answers: str | Mapping[str, Any] | Exception) -> None:
        self.answers = list(answers) or ["HEARTBEAT_OK"]
        self.calls: list[ModelRequest] = []
        self.is_asleep = False
        self.before_answer: Callable[[], Any] | None = None

    async def call(self, agent: str, request: ModelRequest, now: Instant, *, model: Model | None = None) -> ModelReply:
        self.calls.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if self.before_answer is not None:
            await self.before_answer()
        if isinstance(answer, Exception):
            raise answer
        usage = TokenUse(input=sum(estimate(text) for text in request.texts()), output=20)
        if isinstance(answer, str):
            return text_reply(answer, "scripted", usage)
        return text_reply("", "scripted", usage, data=answer)

    async def asleep(self, agent: str, now: Instant) -> bool:
        return self.is_asleep

    def purposes(self) -> list[str]:
        return [request.purpose.value for request in self.calls]


@dataclass
class World:
    """One coach. `assemble` makes everything but the store anew, as a restart does.

    The dispatcher looks by itself only once an hour: whatever happens sooner must have woken it.
    """

    clock: VirtualClock
    store: SqlStore
    home: Home
    spender: Spender | None = None
    rhythm: Rhythm | None = None
    history: TextHistory | None = None
    sign_of_life: SignOfLife | None = None
    gate_options: dict[str, Any] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    due: list[DueReminder] = field(default_factory=list)
    log: list[Mapping[str, Any]] = field(default_factory=list)
    reviews: list[tuple[Instant, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.channel = Channel(self.clock)
        self.watching = False
        self.assemble()

    def assemble(self) -> None:
        self.files = HomeDocuments(self.home)
        self.desk = Desk(self.store, self.files, "America/Toronto")
        self.gate = Gate(self.store, self.desk.person, self._claims, **self.gate_options)
        self.delivery = Delivery(self.store, lambda agent: self.channel)
        self.answering = Answering(self.store, self.spender)
        self.proactive = Proactive(
            self.store,
            self.desk,
            self.gate,
            self.delivery,
            self.answering,
            self._due,
            self._open_review,
            rhythm=self.rhythm,
            history=self.history,
            sign_of_life=self.sign_of_life,
            decision_log=self.log.append,
            secrets=self.secrets,
        )
        self.dispatcher = Dispatcher(
            self.store,
            self.clock,
            {DELIVER: self.delivery.deliver, **self.proactive.handlers()},
            owner="test",
            longest_wait=3600,
            on_failure=self.proactive.on_failure,
        )

    async def _claims(self, agent: str, now: Instant) -> tuple[Instant, ...]:
        return ()

    async def _due(self, agent: str, now: Instant) -> tuple[DueReminder, ...]:
        return tuple(self.due)

    async def _open_review(self, agent: str, now: Instant, opening: str) -> None:
        self.reviews.append((now, opening))
        await self.delivery.post(Message(agent, f"{opening}\n\nWeekly review".strip(), "briefing", now))

    def write(self, name: str, text: str) -> None:
        path = self.files.path(AGENT, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def goals(self, **targets: str) -> None:
        """Write GOALS.md with these targets, one task for today, and nothing else."""
        lines = "".join(f'- {name}: "{value}"\n' for name, value in targets.items())
        zone = "" if "timezone" in targets else '- timezone: "America/Toronto"\n'
        self.write("GOALS.md", f"# Goals\n\n## Today\n1. Write the draft\n\n## Schedule Targets\n{lines}{zone}")

    async def prepare(self) -> None:
        await self.store.agents.add(Agent(AGENT, "coach", self.clock.now()))
        await self.gate.row(AGENT, self.clock.now())

    async def start(self) -> None:
        await self.proactive.start(AGENT, self.clock.now())

    @asynccontextmanager
    async def running(self, *, watch: bool = False) -> AsyncIterator[None]:
        """The daemon, for as long as the block runs."""
        await self.start()
        dispatcher = self.dispatcher
        tasks = [asyncio.create_task(dispatcher.run())]
        if watch:
            look = Watch(self.store, self.clock, self.desk, dispatcher.poke, every=20)
            tasks.append(asyncio.create_task(look.run()))
        try:
            yield
        finally:
            for task in tasks[1:]:
                task.cancel()
            dispatcher.stop()
            await asyncio.gather(*tasks, return_exceptions=True)
            if not tasks[0].cancelled() and (error := tasks[0].exception()) is not None:
                raise error

    async def run_for(self, seconds: float, *, watch: bool = False) -> None:
        async with self.running(watch=watch):
            await self.clock.sleep(seconds)

    async def until(self, wall: datetime) -> None:
        """Wait until the person's clock shows this."""
        await self.clock.sleep((wall.replace(tzinfo=TORONTO) - to_datetime(self.clock.now())).total_seconds())

    async def active(self) -> None:
        """The phone gives a sign of life now."""
        await self.store.attention.activity(AGENT, self.clock.now())

    async def outcomes(self, kind: str = "heartbeat") -> list[Outcome]:
        """Oldest first."""
        rows = await self.store.outcomes.recent(agent=AGENT, kind=kind, limit=2000)
        return list(reversed(rows))


def templates() -> dict[str, str]:
    folder = resources.files("nudge.home") / "templates" / "documents"
    return {name: (folder / name).read_text(encoding="utf-8") for name in NAMES}


def in_world(
    folder: Path,
    scenario: Callable[[World], Any],
    start: Any,
    *,
    url: str = "sqlite://:memory:",
    **options: Any,
) -> Any:
    """Run `scenario(world)` in virtual time on the store of that URL, the templates in place."""

    async def main(clock: VirtualClock) -> Any:
        store = await open_store(url)
        try:
            world = World(clock, store, Home(folder), **options)
            for name, text in templates().items():
                world.write(name, text)
            await world.prepare()
            return await scenario(world)
        finally:
            await store.close()

    return run_virtual(main, start)
