"""Puts the worker together: its loop, its tools, and how its reports and questions reach whoever asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nudge.clock import Clock
from nudge.errors import NudgeError
from nudge.instants import Instant
from nudge.model import Model
from nudge.progress.checkpoints import Checkpoints, ModelSummaries
from nudge.progress.extensions import Approver
from nudge.progress.guard_values import GuardTuning
from nudge.progress.store import Session
from nudge.progress.stored_pools import Pools
from nudge.queue.agents import Agent
from nudge.queue.delivery import Delivery
from nudge.queue.inbox import Letter, Priority
from nudge.queue.outbox import Message
from nudge.reminders.service import Reminders
from nudge.spending.governor import Spending
from nudge.worker.command_rules import Command
from nudge.worker.commands import CommandRunner
from nudge.worker.loop import RunOptions, WorkLoop, Workspaces
from nudge.worker.questions import Question, QuestionKind, StoredApprover, is_yes
from nudge.worker.sandbox import Sandbox
from nudge.worker.sessions import PERSON, Sessions
from nudge.worker.toolbox import WorkerTools
from nudge.worker.tools.ask_person import AskPerson
from nudge.worker.tools.remind_me import RemindMe
from nudge.worker.tools.report import Report
from nudge.worker.tools.spawn import Spawn
from nudge.worker.worker import Worker

if TYPE_CHECKING:
    from nudge.stores.store import SqlStore

REPORT = "report"
QUESTION = "question"

ApproverFor = Callable[[Session], Approver]


@dataclass(frozen=True)
class WorkPorts:
    """What working agents need of the world. `works` says which agents nudge's own worker runs. Without an
    `approver_for` the person is asked through rows that any surface can answer."""

    works: Callable[[Agent], bool]
    instructions: Callable[[str], str]
    folder_of: Callable[[str], Path]
    sandbox_of: Callable[[str], Sandbox]
    workspaces: Workspaces
    options: RunOptions = field(default_factory=RunOptions)
    approver_for: ApproverFor | None = None


@dataclass(frozen=True)
class CommandPorts:
    """What agents by command need of the world. `runner` is made when the first program is started. With
    `spare_only` they begin nothing while their plan has nothing to spare."""

    command_of: Callable[[str], Command | None]
    runner: Callable[[Spending], CommandRunner]
    spare_only: bool = False


class Reports:
    """How the end of a task, and a question, reach whoever asked."""

    def __init__(
        self,
        store: SqlStore,
        reminders: Reminders,
        delivery: Delivery,
        speaker: Callable[[], Awaitable[str | None]],
        letter_came: Callable[[str, Priority, Instant], Awaitable[None]],
    ) -> None:
        self._store = store
        self._reminders = reminders
        self._delivery = delivery
        self._speaker = speaker
        self._letter_came = letter_came

    async def report(self, session: Session, now: Instant) -> None:
        """To the person as a message, to another agent as a letter. A reminder's condition hears it too."""
        text = session.report or session.reason
        if session.letter:
            letter = await self._store.letters.get(session.letter)
            if letter is not None and letter.detail.get("reminder"):
                await self._reminders.agent_replied(letter.id, text, now)
        if session.asked_by == PERSON:
            await self._say(f"{session.agent}: {session.last_task}\n{text}", REPORT, now)
        elif await self._store.agents.get(session.asked_by) is not None and session.asked_by != session.agent:
            body = f"Report of {session.agent} on {session.last_task!r}: {text}"
            await self._store.letters.put(Letter(session.asked_by, session.agent, body, Priority.NORMAL, now))
            await self._letter_came(session.asked_by, Priority.NORMAL, now)

    async def tell(self, question: Question) -> None:
        if question.kind is QuestionKind.EXTENSION:
            buttons = (("Yes", f"answer:{question.id}:yes"), ("No", f"answer:{question.id}:no"))
            await self._say(question.text, QUESTION, question.asked_at, buttons)
        else:
            how = f'Answer with: nudge session answer {question.session} "…"'
            await self._say(f"{question.agent} asks: {question.text}\n{how}", QUESTION, question.asked_at)

    async def _say(self, text: str, kind: str, now: Instant, buttons: tuple[tuple[str, str], ...] = ()) -> None:
        """The person asked for the work, so this is an answer and not a ping. It comes from whoever talks to them."""
        speaker = await self._speaker()
        if speaker is not None:
            await self._delivery.post(Message(speaker, text, kind, now, asked=True, buttons=buttons))


class Working:
    """The worker of a daemon, with everything that it touches."""

    def __init__(
        self,
        store: SqlStore,
        clock: Clock,
        ports: WorkPorts,
        *,
        model: Model,
        spending: Spending,
        pools: Pools,
        reminders: Reminders,
        reports: Reports,
        poke: Callable[[], None],
        new_id: Callable[[], str],
        secrets: tuple[str, ...] = (),
    ) -> None:
        spawn = Spawn()
        tools = WorkerTools(
            ports.folder_of,
            ports.sandbox_of,
            (Report(), AskPerson(store, clock, reports.tell, poke), RemindMe(store, clock, reminders), spawn),
            secrets,
        )
        loop = WorkLoop(
            Checkpoints(store, summarise=ModelSummaries(spending)),
            clock,
            spending,
            model,
            tools,
            ports.workspaces,
            approver_for=ports.approver_for
            or (lambda session: StoredApprover(store, clock, session, reports.tell, poke)),
            instructions=ports.instructions,
            tuning=GuardTuning(tools=tools.kinds),
        )
        self.worker = Worker(
            store,
            clock,
            spending,
            pools,
            loop,
            ports.workspaces,
            report=reports.report,
            options=ports.options,
            new_id=new_id,
        )
        spawn.run_child = self.worker.run_child
        self.sessions = Sessions(store, clock, ports.options, new_id)

    async def answer(self, question: str, word: str) -> str:
        """The person pressed a button under a question. The first answer counts, and a late one says so."""
        try:
            await self.sessions.answer(question, word)
        except NudgeError as error:
            return str(error)
        return "OK, go on." if is_yes(word) else "No more. It will wrap up."
