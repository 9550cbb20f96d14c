"""Questions to the person that a session waits for: more budget, or something only the person knows.

A question is a row. Whoever the person talks to (a terminal, a chat, a page) shows the open ones and writes the answer;
the first one counts. Silence until the deadline is a no.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from nudge.clock import Clock
from nudge.database import Database, Row
from nudge.errors import UsageError
from nudge.instants import SECOND, Instant, as_instant, rfc3339
from nudge.progress.extensions import Approval, ExtensionRequest
from nudge.progress.store import Session

if TYPE_CHECKING:
    from nudge.worker.store import WorkerStore

LOOK_SECONDS = 0.25


class QuestionKind(StrEnum):
    EXTENSION = "extension"
    ASK = "ask"


@dataclass(frozen=True, slots=True)
class Question:
    """`deadline` is the first moment at which an answer comes too late."""

    id: str
    agent: str
    session: str
    kind: QuestionKind
    text: str
    asked_at: Instant
    deadline: Instant
    answer: str = ""
    answered_at: Instant | None = None

    def public(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "agent": self.agent,
            "session": self.session,
            "kind": self.kind.value,
            "text": self.text,
            "asked_at": rfc3339(self.asked_at),
            "deadline": rfc3339(self.deadline),
            "answer": self.answer or None,
        }


class QuestionTable:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def put(self, question: Question) -> None:
        """Asking again under the same id changes nothing."""
        row = {name: getattr(question, name) for name in ("id", "agent", "session", "text", "asked_at", "deadline")}
        await self._db.run("questions_put", {**row, "kind": question.kind.value})

    async def get(self, question: str) -> Question | None:
        row = await self._db.one("questions_get", {"id": question})
        return _question(row) if row else None

    async def open(self, now: Instant) -> Sequence[Question]:
        return [_question(row) for row in await self._db.all("questions_open", {"now": now})]

    async def of_session(self, agent: str, session: str) -> Question | None:
        """The last one that a session asked."""
        row = await self._db.one("questions_of_session", {"agent": agent, "session": session})
        return _question(row) if row else None

    async def answer(self, question: str, answer: str, now: Instant) -> bool:
        """False, and nothing written, if it was answered before or is past its deadline."""
        return await self._db.run("questions_answer", {"id": question, "answer": answer, "now": now}) == 1


def _question(row: Row) -> Question:
    return Question(
        row["id"],
        row["agent"],
        row["session"],
        QuestionKind(row["kind"]),
        row["text"],
        Instant(row["asked_at"]),
        Instant(row["deadline"]),
        row["answer"],
        row["answered_at"],
    )


YES = {"y", "yes", "grant", "ok", "sure"}
NO = {"n", "no", "deny"}


def is_yes(answer: str) -> bool:
    """
    >>> is_yes("Y"), is_yes(" no "), is_yes("")
    (True, False, False)
    """
    return answer.strip().lower() in YES


def checked_answer(question: Question, answer: str) -> str:
    """An answer that fits the question."""
    word = answer.strip()
    if question.kind is QuestionKind.EXTENSION and word.lower() not in YES | NO:
        raise UsageError(f"{answer!r} is neither yes nor no.", next_step="Answer yes or no.")
    if not word:
        raise UsageError("The answer is empty.", next_step="Write what the worker should know.")
    return word


class StoredApprover:
    """Asks for more budget through a row, and waits for whoever answers first. `tell` shows it to the person, `poke`
    lets it go out."""

    def __init__(
        self,
        store: WorkerStore,
        clock: Clock,
        session: Session,
        tell: Callable[[Question], Awaitable[None]],
        poke: Callable[[], None],
    ) -> None:
        self._store = store
        self._clock = clock
        self._session = session
        self._tell = tell
        self._poke = poke

    async def ask(self, request: ExtensionRequest) -> Approval:
        if not request.can_request or request.deadline is None:
            return Approval.DENIED
        agent, session = self._session.agent, self._session.id
        deadline = as_instant(request.deadline)
        question = Question(
            f"{session}-more-{request.id}",
            agent,
            session,
            QuestionKind.EXTENSION,
            f"{agent} asks for {request.additional_tokens:,} more tokens. {request.reason}",
            self._clock.now(),
            deadline,
        )
        async with self._store.transaction():
            await self._store.questions.put(question)
            await self._tell(question)
        self._poke()
        while (now := self._clock.now()) < deadline:
            found = await self._store.questions.get(question.id)
            if found is not None and found.answered_at is not None:
                return Approval.GRANTED if is_yes(found.answer) else Approval.DENIED
            await self._clock.sleep(min(LOOK_SECONDS, (deadline - now) / SECOND))
        return Approval.TIMED_OUT
