"""Sessions from outside: hand over a task, cancel, resume, answer. The caller pokes the daemon, if there is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from nudge.clock import Clock
from nudge.errors import NotFoundError, UsageError
from nudge.instants import Instant
from nudge.model import user
from nudge.progress.checkpoints import Checkpoints
from nudge.progress.guard import AsyncGuard
from nudge.progress.store import Session, SessionStatus
from nudge.queue.inbox import LETTERS, Letter, Priority
from nudge.queue.outcomes import FeedLine
from nudge.queue.store import QueueStore
from nudge.queue.timers import Timer
from nudge.worker.loop import RunOptions
from nudge.worker.questions import Question, QuestionKind, checked_answer
from nudge.worker.session_rules import COUNT, as_message, opened, unanswered
from nudge.worker.store import WorkerStore

KIND = "work"
"""The timer, by kind and key, of a worker that has something to do."""
FEED = "work"
WAIT_FOR_MONEY = (LETTERS, KIND)
"""The keys of timers that look again when there is money."""
_MOST_QUEUED = 200
PERSON = "person"
"""Who asked, if a report goes to the person's channel."""


def work_timer(agent: str, now: Instant) -> Timer:
    return Timer.at(agent, KIND, KIND, now)


async def letter_arrived(store: QueueStore, agent: str, priority: Priority, now: Instant) -> None:
    """A letter came for an agent that works; part of the transaction that delivered it. A firing under way is left
    alone: it looks for letters before it ends."""
    timer = work_timer(agent, now)
    if priority is Priority.IDLE:
        await store.timers.ensure(timer)
    else:
        await store.timers.hasten(timer)


def new_guard(options: RunOptions, clock: Clock) -> dict[str, Any]:
    """The guard of a new run, as a checkpoint has it."""
    return AsyncGuard.within(options.limits, mode=options.mode, clock=clock).state()


@dataclass(frozen=True)
class Task:
    """What somebody wants done, with limits of its own if it has any."""

    text: str
    sender: str = PERSON
    priority: Priority = Priority.NORMAL
    limits: Mapping[str, Any] | None = None
    mode: str = ""

    def letter(self, agent: str, now: Instant, *, session: str = "") -> Letter:
        detail = {"limits": self.limits, "mode": self.mode, "session": session}
        return Letter(agent, self.sender, self.text, self.priority, now, detail={k: v for k, v in detail.items() if v})


class Sessions:
    """The sessions of a store. `options` are the limits of a run that is resumed."""

    def __init__(
        self, store: WorkerStore, clock: Clock, options: RunOptions, new_id: Callable[[], str] = lambda: ""
    ) -> None:
        self._store = store
        self._clock = clock
        self._options = options
        self._new_id = new_id
        self._checkpoints = Checkpoints(store)

    async def arrived(self, agent: str, priority: Priority, now: Instant) -> None:
        await letter_arrived(self._store, agent, priority, now)

    async def give(self, agent: str, task: Task) -> str:
        """Hand over a task; the id of the session that will work on it."""
        if not task.text.strip():
            raise UsageError("The task is empty.", next_step="Say what should be done.")
        session, now = self._new_id(), self._clock.now()
        async with self._store.transaction():
            if await self._store.agents.get(agent) is None:
                raise NotFoundError(f"There is no agent called {agent!r}.", next_step="Run 'nudge agent list'.")
            await self._store.letters.put(task.letter(agent, now, session=session))
            await self.arrived(agent, task.priority, now)
        return session

    async def queued(self, agent: str | None = None) -> list[Session]:
        """Tasks that wait in an inbox for their turn, as the sessions that they will be."""
        letters = await self._store.letters.recent(agent, limit=_MOST_QUEUED)
        waiting = [one for one in letters if one.read_at is None and one.detail.get("session")]
        found = [
            replace(opened(one.agent, str(one.detail["session"]), one, one.created_at), status=SessionStatus.QUEUED)
            for one in waiting
        ]
        return [one for one in found if await self._store.sessions.get(one.agent, one.id) is None]

    async def find(self, words: str) -> Session:
        """A session by its id, or by as much of it as is enough; by the name of its agent, the last one."""
        found = [*await self._store.sessions.find(words)]
        found += [one for one in await self.queued() if words and one.id.startswith(words)]
        exact = [one for one in found if one.id == words]
        if exact or len(found) == 1:
            return (exact or found)[0]
        if found:
            which = ", ".join(one.id for one in found[:5])
            raise UsageError(f"{words!r} could be several sessions: {which}.", next_step="Give more of the id.")
        of_agent = await self._store.sessions.of_agent(words, limit=1)
        if of_agent:
            return of_agent[0]
        raise NotFoundError(f"There is no session {words!r}.", next_step="Run 'nudge session list'.")

    async def cancel(self, session: Session, reason: str = "You cancelled it.") -> None:
        """End a session where it is, and all that it started. What it did stays."""
        now = self._clock.now()
        async with self._store.transaction():
            there = await self._store.sessions.get(session.agent, session.id)
            if there is None and session.status is SessionStatus.QUEUED:
                there = session
            if there is None or not there.status.is_open:
                raise UsageError(f"Session {session.id} has already ended.")
            for one in await self._store.sessions.family(session.agent, session.id):
                if one.status.is_open:
                    ended = replace(one, status=SessionStatus.CANCELLED, reason=reason)
                    await self._checkpoints.write(ended, unanswered(one, "Not run: the session was cancelled."), now)
            if there.letter:
                await self._store.letters.mark_read(there.letter, now, count=there.retries.get(COUNT))
            await self._store.feed.add(FeedLine(now, session.agent, FEED, f"Cancelled: {there.last_task}"))
            await self.arrived(session.agent, Priority.NORMAL, now)

    async def resume(self, session: Session) -> None:
        """Go on with a session that was stopped, failed or cancelled, with a fresh run budget."""
        now = self._clock.now()
        async with self._store.transaction():
            there = await self._store.sessions.get(session.agent, session.id)
            if there is None or there.status.is_open:
                raise UsageError(
                    f"Session {session.id} has not ended. It continues while the daemon runs.",
                    next_step=f"Start the daemon with 'nudge run', or run 'nudge session watch {session.id}'.",
                )
            if await self._store.sessions.current(session.agent) is not None:
                raise UsageError(f"{session.agent} is working on something else.", next_step="Wait until it is done.")
            guard = new_guard(self._options, self._clock)
            again = replace(there, status=SessionStatus.WORKING, reason="", report="", guard=guard, letter=0)
            note = as_message(user("Go on with this task. The workspace is as you left it."))
            await self._checkpoints.write(again, [*unanswered(there), note], now)
            await self.arrived(session.agent, Priority.NORMAL, now)

    async def answer(self, question_id: str, answer: str) -> Question:
        """Answer a question of a session. The first answer counts."""
        now = self._clock.now()
        async with self._store.transaction():
            question = await self._store.questions.get(question_id)
            if question is None:
                raise NotFoundError(f"There is no question {question_id!r}.", next_step="Run 'nudge session list'.")
            if not await self._store.questions.answer(question_id, checked_answer(question, answer), now):
                raise UsageError("That question was already answered, or it has expired.")
            if question.kind is QuestionKind.ASK:
                await self.arrived(question.agent, Priority.NORMAL, now)
        return question
