"""Ask the person something, and wait for the answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from nudge.clock import Clock
from nudge.errors import UsageError
from nudge.instants import DAY, Instant
from nudge.progress.store import Session
from nudge.progress.tools import ToolKind
from nudge.worker.loop import Done
from nudge.worker.questions import Question, QuestionKind
from nudge.worker.store import WorkerStore
from nudge.worker.tool import inputs, text

ANSWER_WITHIN = DAY


class AskPerson:
    """`tell` shows the question to the person; part of the transaction that writes it. `poke` lets it go out."""

    name = "ask_person"
    kind = ToolKind.FINISH
    stands_alone = False
    description = (
        "Ask the person a question that only they can answer. The session waits for the answer, up to a day. Ask one "
        "thing, and only if you cannot go on without it."
    )
    schema = inputs({"question": text("The question, in one or two sentences.")})

    def __init__(
        self,
        store: WorkerStore,
        clock: Clock,
        tell: Callable[[Question], Awaitable[None]],
        poke: Callable[[], None],
    ) -> None:
        self._store = store
        self._clock = clock
        self._tell = tell
        self._poke = poke

    def offered_to(self, session: Session) -> bool:
        return not session.parent

    async def run(self, args: Mapping[str, Any], session: Session, use_id: str) -> Done:
        words = args["question"].strip()
        if not words:
            raise UsageError("The question is empty.")
        now = self._clock.now()
        deadline = Instant(now + ANSWER_WITHIN)
        question = Question(f"{session.id}-{use_id}", session.agent, session.id, QuestionKind.ASK, words, now, deadline)
        async with self._store.transaction():
            if await self._store.questions.get(question.id) is None:
                await self._store.questions.put(question)
                await self._tell(question)
        self._poke()
        return Done("Asked. The answer comes as the next message.", waits=True)
