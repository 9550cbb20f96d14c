"""The talking half of the coach in virtual time, with documents in a folder and a channel that remembers."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from nudge.attention.gate import Gate
from nudge.coach.answering import Answering
from nudge.coach.document_writes import PENDING
from nudge.coach.listening import Talking
from nudge.coach.person_documents import REVIEW, Desk
from nudge.coach.person_reminders import PersonReminders
from nudge.coach.proactive import DOCUMENTS
from nudge.coach.undo import DEEDS
from nudge.home.documents import HomeDocuments
from nudge.home.folder import Home
from nudge.instants import Instant
from nudge.model import Model, ModelReply, ModelRequest, text_reply
from nudge.queue.agents import Agent
from nudge.queue.channel import Inbound
from nudge.queue.delivery import Delivery
from nudge.queue.dispatch import Dispatcher, Firing
from nudge.reminders.firing import ReminderFiring
from nudge.reminders.handover import Handover, SecondLook
from nudge.reminders.service import Reminders
from nudge.simulation.virtual_time import VirtualClock
from nudge.stores.store import SqlStore
from nudge.testing import RecordingChannel

TEMPLATES = ("GOALS.md", "MEMORY.md", "AGENTS.md", "HEARTBEAT.md")


class Scripted:
    """A paid model whose answers are written beforehand: a mapping is structured output, a text is text, an error is
    raised. Where the script is used up it says "…"."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[ModelRequest] = []

    async def call(self, agent: str, request: ModelRequest, now: Instant, *, model: Model | None = None) -> ModelReply:
        self.requests.append(request)
        answer = self.answers.pop(0) if self.answers else says("…")
        if callable(answer):
            answer = await answer()
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            return text_reply(answer, "scripted")
        return text_reply("", "scripted", data=answer)

    async def asleep(self, agent: str, now: Instant) -> bool:
        return False


def says(reply: str, *actions: Mapping[str, Any], context: str = "") -> dict[str, Any]:
    return {"reply": reply, "actions": list(actions), "recent_context": context}


class _NoCommands:
    async def ask(self, question: Any) -> Any:
        raise AssertionError(f"a command was run: {question}")


async def _no_claims(agent: str, now: Instant) -> tuple[Instant, ...]:
    return ()


async def _look(firing: Firing) -> None:
    async with firing.settle():
        pass


class Rig:
    def __init__(
        self,
        clock: VirtualClock,
        store: SqlStore,
        folder: Path,
        model: Scripted | None = None,
        *,
        secrets: Sequence[str] = (),
        **options: Any,
    ) -> None:
        self.clock = clock
        self.store = store
        self.home = Home(folder)
        self.channel = RecordingChannel()
        self.model = model
        self.desk = Desk(store, HomeDocuments(self.home), "America/Toronto")
        self.gate = Gate(store, self.desk.person, _no_claims)
        self.delivery = Delivery(store, lambda agent: self.channel, SecondLook(store, self.desk.person))
        self.reminders = Reminders(store, self.desk.person)
        answering = Answering(store, model)
        self.dispatcher = Dispatcher(store, clock, {}, owner="rig", longest_wait=3600)
        self.talking = Talking(
            store,
            clock,
            self.desk,
            self.gate,
            self.delivery,
            answering,
            PersonReminders(self.reminders),
            secrets=secrets,
            poke=self.dispatcher.poke,
            **options,
        )
        firing = ReminderFiring(store, Handover(store, self.delivery.post), self.gate, _NoCommands())
        self.dispatcher.handlers.update(
            {
                "deliver": self.delivery.deliver,
                "reminder": firing.fire,
                DOCUMENTS: _look,
                "activity-check": _look,
                "ask-again": _look,
                **self.talking.handlers(),
            }
        )
        self._number = 0

    async def open(self) -> Rig:
        await self.store.agents.add(Agent("coach", "coach", self.clock.now()))
        folder = self.home.agent("coach")
        folder.mkdir(parents=True, exist_ok=True)
        for name in TEMPLATES:
            if not (folder / name).exists():
                with resources.as_file(resources.files("nudge.home") / "templates" / "documents" / name) as template:
                    shutil.copyfile(template, folder / name)
        await self.desk.open("coach")
        return self

    def document(self, name: str) -> str:
        return (self.home.agent("coach") / name).read_text()

    def write(self, name: str, text: str) -> None:
        (self.home.agent("coach") / name).write_text(text)

    async def hear(self, text: str = "", **more: Any) -> str:
        """The person does something; nothing is answered yet that needs a turn."""
        self._number += 1
        number = str(self._number)
        update = Inbound(more.pop("at", self.clock.now()), text, id=number, cursor=number, **more)
        return await self.talking.listener.hear("coach", update, channel=self.channel.name)

    async def settle(self, seconds: float = 1.0) -> None:
        """Let everything happen that is due within the time."""
        running = asyncio.create_task(self.dispatcher.run())
        await self.clock.sleep(seconds)
        self.dispatcher.stop()
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
    return str([await rig.store.records.get("coach", record) for record in (PENDING, DEEDS, REVIEW)])


Scenario = Callable[[Rig], Any]
