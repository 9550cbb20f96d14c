"""A coach that acts by itself, in virtual time, wired as in production, with documents in a folder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from nudge.coach.heartbeat import Rhythm
from nudge.coach.outside import Outside, SignOfLife, TextHistory
from nudge.coach.person_documents import DocumentWatch
from nudge.coach.prompts import estimate
from nudge.home.documents import HomeDocuments
from nudge.home.folder import Home
from nudge.instants import Instant, to_datetime
from nudge.model import ModelReply, ModelRequest, Purpose, text_reply, user
from nudge.queue import channel
from nudge.queue.channel import Outbound, Receipt
from nudge.queue.outcomes import Outcome
from nudge.simulation.virtual_time import VirtualClock, run_virtual
from nudge.stores.open import open_store
from nudge.stores.store import SqlStore
from nudge.tokens import TokenUse
from tests.coach.rig import AGENT, daemon_of, templates
from tests.times import TORONTO


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


MODEL = "claude-haiku-4-5"


class ScriptedModel:
    """A paid model by script: each answer is a text, a decision, or an error to raise; after the last it repeats it."""

    name = "scripted"

    def __init__(self, *answers: str | Mapping[str, Any] | Exception) -> None:
        self.answers = list(answers) or ["HEARTBEAT_OK"]
        self.has_no_words = not answers
        """Without a script it has nothing to say, and for a briefing no words: the rules find them."""
        self.calls: list[ModelRequest] = []
        self.before_answer: Callable[[], Any] | None = None
        self.usage: TokenUse | None = None

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.calls.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if self.before_answer is not None:
            await self.before_answer()
        if isinstance(answer, Exception):
            raise answer
        if self.has_no_words and request.purpose is Purpose.BRIEFING:
            answer = ""
        usage = self.usage or TokenUse(input=sum(estimate(text) for text in request.texts()), output=20)
        if isinstance(answer, str):
            return text_reply(answer, MODEL, usage)
        return text_reply("", MODEL, usage, data=answer)

    async def close(self) -> None:
        return None

    def purposes(self) -> list[str]:
        return [request.purpose.value for request in self.calls]


@dataclass
class World:
    """One coach. `assemble` makes everything but the store again, as a restart does."""

    clock: VirtualClock
    store: SqlStore
    home: Home
    model: ScriptedModel | None = None
    rhythm: Rhythm = field(default_factory=Rhythm)
    history: TextHistory | None = None
    sign_of_life: SignOfLife | None = None
    options: dict[str, Any] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    log: list[Mapping[str, Any]] = field(default_factory=list)
    reviews: list[tuple[Instant, str]] = field(default_factory=list)
    """When a weekly review began, and how it opened."""

    def __post_init__(self) -> None:
        self.channel = Channel(self.clock)
        self.files = HomeDocuments(self.home)
        self.assemble()

    def assemble(self) -> None:
        outside = Outside(history=self.history, sign_of_life=self.sign_of_life, decision_log=self.log.append)
        options = {"rhythm": self.rhythm, "secrets": self.secrets, **self.options}
        self.daemon = daemon_of(self.clock, self.store, self.home, self.channel, self.model, outside, **options)
        self.coach = self.daemon.coach
        self.documents = self.daemon.documents
        self.gate = self.daemon.gate
        self.delivery = self.daemon.delivery
        self.dispatcher = self.daemon.dispatcher
        self.answering = self.coach.answering
        start = self.coach.review.start

        async def noted(agent: str, now: Instant, opening: str = "", **more: Any) -> None:
            self.reviews.append((now, opening))
            await start(agent, now, opening, **more)

        self.coach.review.start = noted  # type: ignore[method-assign]

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
        await self.daemon.agents.ensure_default(self.clock.now())
        await self.gate.row(AGENT, self.clock.now())

    async def start(self) -> None:
        await self.daemon.start()
        await self.coach.start(AGENT, self.clock.now())

    @asynccontextmanager
    async def running(self, *, watch: bool = False) -> AsyncIterator[None]:
        """The daemon, for as long as the block runs."""
        await self.start()
        dispatcher = self.dispatcher
        tasks = [asyncio.create_task(dispatcher.run())]
        if watch:
            look = DocumentWatch(self.store, self.clock, self.documents, self.daemon.poke, every=20)
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

    async def spend_everything(self) -> None:
        """One call costs more than there is: from now on the agent sleeps."""
        assert self.model is not None
        self.model.usage, answers = TokenUse(output=10**9), list(self.model.answers)
        request = ModelRequest(Purpose.CONVERSATION, "", (), (user("Hi"),), 100)
        await self.daemon.spending.call(AGENT, request, self.clock.now())
        self.model.usage, self.model.answers = None, answers
        self.model.calls.clear()

    async def outcomes(self, kind: str = "heartbeat") -> list[Outcome]:
        """Oldest first."""
        rows = await self.store.outcomes.recent(agent=AGENT, kind=kind, limit=2000)
        return list(reversed(rows))


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
