"""Writing the person's documents together with the store.

A file cannot be part of a transaction. So the new text is stored in the transaction that tells the person about it, and
written into the file right after. If a crash comes in between, a timer finishes the work. A file that somebody else
changed in the meantime stays as they wrote it, and the person is told.
"""

from __future__ import annotations

import logging
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nudge.coach.documents import GOALS
from nudge.coach.messages import Replies
from nudge.coach.person_documents import PersonDocuments, documents_timer
from nudge.coach.store import CoachStore
from nudge.errors import NotConfiguredError
from nudge.instants import Instant
from nudge.queue.firing import Firing
from nudge.queue.outcomes import FeedLine
from nudge.queue.records import Record, items, text
from nudge.queue.timers import Timer, talk_lane

log = logging.getLogger("nudge.documents")

KIND = "document-writes"


@dataclass(frozen=True, slots=True)
class Edit:
    """A document before and after. Bytes that are not UTF-8 are surrogates."""

    name: str
    before: str
    after: str

    def to_json(self) -> dict[str, str]:
        return {"name": self.name, "before": _pack(self.before), "after": _pack(self.after)}

    @classmethod
    def from_json(cls, data: Any) -> Edit:
        return cls(text(data["name"]), _unpack(text(data["before"])), _unpack(text(data["after"])))


PENDING: Record[tuple[Edit, ...]] = Record(
    "documents.pending",
    lambda data: tuple(Edit.from_json(one) for one in items(data)),
    lambda edits: [edit.to_json() for edit in edits],
)
"""Edits that are stored but not in their files yet."""


class DocumentWrites:
    def __init__(self, store: CoachStore, documents: PersonDocuments, replies: Replies) -> None:
        self._store = store
        self._documents = documents
        self._replies = replies

    async def read(self, agent: str, name: str) -> str:
        """The document as it is, or as it will be once pending edits are written."""
        for edit in await self._pending(agent):
            if edit.name == name:
                return edit.after
        return self._documents.text(agent, name)

    async def plan(self, agent: str, edits: Sequence[Edit], now: Instant) -> None:
        """Store the edits, inside the caller's transaction. Call `finish` after the commit; if that never happens, a
        timer does it."""
        pending = {edit.name: edit for edit in await self._pending(agent)}
        for edit in edits:
            if edit.before != edit.after:
                earlier = pending.get(edit.name)
                pending[edit.name] = Edit(edit.name, earlier.before if earlier else edit.before, edit.after)
        if not pending:
            return
        await self._store.records.set(agent, PENDING, tuple(pending.values()))
        await self._store.timers.set(Timer.at(agent, KIND, KIND, now, lane=talk_lane(agent)))

    async def finish(self, agent: str, now: Instant) -> None:
        """Write the stored edits into the files. If the disk refuses, the timer tries again."""
        try:
            if await self._write(agent, now):
                await self._store.timers.cancel(agent, KIND)
        except (OSError, NotConfiguredError) as error:
            log.error("cannot write the documents of %s: %s", agent, error)

    async def retry(self, firing: Firing) -> None:
        """Handle the timer: a crash or the disk left something to write."""
        await self._write(firing.timer.agent, firing.now)
        async with firing.settle():
            pass

    async def _write(self, agent: str, now: Instant) -> bool:
        pending = await self._pending(agent)
        if not pending:
            return False
        lost = []
        for edit in pending:
            current = self._documents.text(agent, edit.name)
            if current == edit.before:
                self._documents.write(agent, edit.name, edit.after)
            elif current != edit.after:
                lost.append(edit.name)
        async with self._store.transaction():
            await self._store.records.delete(agent, PENDING)
            if any(edit.name == GOALS for edit in pending):
                await self._store.timers.set(documents_timer(agent, now))  # the targets may be others now
            for name in lost:
                words = f"Somebody else changed {name} at the same time. I left it as it is, without my change."
                await self._store.feed.add(FeedLine(now, agent, "conflict", words))
                await self._replies.post(agent, words, now)
        return True

    async def _pending(self, agent: str) -> tuple[Edit, ...]:
        return await self._store.records.get(agent, PENDING) or ()


def _pack(text: str) -> str:
    """As characters that every database accepts."""
    return b64encode(text.encode("utf-8", "surrogateescape")).decode()


def _unpack(packed: str) -> str:
    return b64decode(packed).decode("utf-8", "surrogateescape")
