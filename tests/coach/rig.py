"""A daemon with one coach in virtual time, wired as in production: documents in a folder, a channel that remembers, a
model that answers by script."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from nudge.clock import Clock
from nudge.coach.changes import CHANGES
from nudge.coach.document_writes import PENDING
from nudge.coach.outside import Outside
from nudge.coach.review import REVIEW
from nudge.daemon.assemble import Daemon, Options, Ports
from nudge.home.documents import HomeDocuments
from nudge.home.folder import Home
from nudge.home.prices import load_prices
from nudge.model import Model, ModelReply, ModelRequest, text_reply
from nudge.queue.channel import Channel, Inbound
from nudge.simulation.virtual_time import VirtualClock
from nudge.spending.budgets import SpendingPlan
from nudge.spending.money import DOLLAR
from nudge.stores.store import SqlStore
from nudge.testing import RecordingChannel

AGENT = "coach"
TEMPLATES = ("GOALS.md", "MEMORY.md", "AGENTS.md", "HEARTBEAT.md")
PLENTY = SpendingPlan(window=1_000 * DOLLAR)
"""Money is not what these tests are about."""


def daemon_of(
    clock: Clock,
    store: SqlStore,
    home: Home,
    channel: Channel,
    model: Model | None = None,
    outside: Outside | None = None,
    **options: Any,
) -> Daemon:
    """The daemon as the process makes it, on these ports. It looks by itself only once an hour: whatever happens sooner
    must have woken it."""
    ports = Ports(
        store,
        clock,
        channel,
        HomeDocuments(home),
        load_prices(),
        model=model,
        outside=outside or Outside(),
        is_coach=lambda agent: agent.role == "coach",
    )
    options = {"owner": "test", "timezone": "America/Toronto", "longest_wait": 3600, "plan": PLENTY, **options}
    return Daemon(ports, Options(**options))


def templates() -> dict[str, str]:
    folder = resources.files("nudge.home") / "templates" / "documents"
    return {name: (folder / name).read_text(encoding="utf-8") for name in TEMPLATES}


class Scripted:
    """A paid model whose answers are written beforehand: a mapping is structured output, a text is text, an error is
    raised, a function is called. Where the script is used up it says "…"."""

    name = "scripted"

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        answer = self.answers.pop(0) if self.answers else says("…")
        if callable(answer):
            answer = await answer()
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            return text_reply(answer, request.model)
        return text_reply("", request.model, data=answer)

    async def close(self) -> None:
        return None


def says(reply: str, *actions: Mapping[str, Any], context: str = "") -> dict[str, Any]:
    return {"reply": reply, "actions": list(actions), "recent_context": context}


class Rig:
    """The person talks, and the coach answers. Nothing happens between two calls: `settle` lets time pass."""

    def __init__(
        self, clock: VirtualClock, store: SqlStore, folder: Path, model: Scripted | None = None, **options: Any
    ) -> None:
        self.clock = clock
        self.store = store
        self.home = Home(folder)
        self.channel = RecordingChannel()
        self.model = model
        outside = Outside(history=options.pop("history", None), redactor=options.pop("redactor", None))
        self.daemon = daemon_of(clock, store, self.home, self.channel, model, outside, **options)
        self.coach = self.daemon.coach
        self.documents = self.daemon.documents
        self.gate = self.daemon.gate
        self.delivery = self.daemon.delivery
        self.reminders = self.daemon.reminders
        self.dispatcher = self.daemon.dispatcher
        self._number = 0

    async def open(self) -> Rig:
        folder = self.home.agent(AGENT)
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in templates().items():
            if not (folder / name).exists():
                self.write(name, text)
        await self.daemon.start()
        return self

    def document(self, name: str) -> str:
        return (self.home.agent(AGENT) / name).read_text()

    def write(self, name: str, text: str) -> None:
        (self.home.agent(AGENT) / name).write_text(text)

    async def hear(self, text: str = "", **more: Any) -> str:
        """The person does something; nothing is answered yet that needs a turn."""
        self._number += 1
        number = str(self._number)
        update = Inbound(more.pop("at", self.clock.now()), text, id=number, cursor=number, **more)
        return await self.coach.listener.hear(AGENT, update, channel=self.channel.name)

    async def settle(self, seconds: float = 1.0) -> None:
        """Let everything happen that is due within the time."""
        running = asyncio.create_task(self.daemon.run())
        await self.clock.sleep(seconds)
        self.daemon.stop()
        await running
        self.dispatcher._stopping = False

    async def say(self, text: str, **more: Any) -> str:
        """The person writes and gets what is answered."""
        before = len(self.channel.sent)
        await self.hear(text, **more)
        await self.settle()
        return "\n---\n".join(self.channel.texts[before:])


async def stored_words(rig: Rig) -> str:
    """What the records hold of the person's words."""
    return str([await rig.store.records.get(AGENT, record) for record in (PENDING, CHANGES, REVIEW)])


Scenario = Callable[[Rig], Any]
