"""What the coach did lately, so that the person can take it back: /undo."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nudge.attention.requests import PersonRequests
from nudge.attention.restraint import Requests
from nudge.coach.document_files import MEMORY
from nudge.coach.document_writes import DocumentWrites, Edit
from nudge.coach.documents import Document
from nudge.coach.edits import replace_prose
from nudge.coach.memory import CONTEXT, set_recent_context
from nudge.coach.person_reminders import PersonReminders
from nudge.coach.store import CoachStore
from nudge.errors import UsageError
from nudge.instants import Instant
from nudge.queue.records import Record, items, text, texts, whole

KEPT = 10
"""So many steps can be taken back, one after the other."""

NOTHING = "There is nothing that I could take back."


@dataclass(frozen=True, slots=True)
class Deed:
    """What one message or command led to. `said` is the message's number in the conversation, `words` say what was
    done, `noted` are lines that went into the memory, by section."""

    words: str
    edits: tuple[Edit, ...] = ()
    reminders: tuple[str, ...] = ()
    requests: Requests | None = None
    said: int | None = None
    noted: tuple[tuple[str, str], ...] = ()

    @property
    def is_nothing(self) -> bool:
        return not (self.edits or self.reminders or self.requests is not None)

    def to_json(self) -> dict[str, Any]:
        return {
            "words": self.words,
            "edits": [edit.to_json() for edit in self.edits],
            "reminders": list(self.reminders),
            "requests": self.requests.to_json() if self.requests else None,
            "said": self.said,
            "noted": [list(line) for line in self.noted],
        }

    @classmethod
    def from_json(cls, data: Any) -> Deed:
        return cls(
            text(data["words"]),
            tuple(Edit.from_json(edit) for edit in items(data["edits"])),
            texts(data["reminders"]),
            Requests.from_json(data["requests"]) if data["requests"] else None,
            None if data["said"] is None else whole(data["said"]),
            tuple((text(section), text(line)) for section, line in items(data["noted"])),
        )


DEEDS: Record[tuple[Deed, ...]] = Record(
    "undo",
    lambda data: tuple(Deed.from_json(one) for one in items(data)),
    lambda deeds: [one.to_json() for one in deeds],
)


class Undo:
    def __init__(
        self, store: CoachStore, writes: DocumentWrites, requests: PersonRequests, reminders: PersonReminders
    ) -> None:
        self._store = store
        self._writes = writes
        self._requests = requests
        self._reminders = reminders

    async def remember(self, agent: str, deed: Deed) -> None:
        """Part of the transaction that does it."""
        if not deed.is_nothing:
            await self._keep(agent, [*await self._deeds(agent), deed])

    async def last(self, agent: str, now: Instant) -> str:
        """Undo the last deed, inside the caller's transaction. Returns what to say. Call `DocumentWrites.finish` after
        it."""
        deeds = await self._deeds(agent)
        if not deeds:
            return NOTHING
        deed = deeds[-1]
        await self._keep(agent, deeds[:-1])
        changed_since = await self._restore(agent, deed.edits, now)
        for reminder in deed.reminders:
            await self._reminders.forget(agent, reminder, now)
        if deed.requests is not None:
            await self._requests.restore(agent, deed.requests, now)
        if not changed_since:
            return f"Taken back: {deed.words}"
        left = ", ".join(changed_since)
        return f"{left} was changed since, so I left it alone. To take back by hand: {deed.words}"

    async def forget(self, agent: str, said: Iterable[int]) -> tuple[tuple[str, str], ...]:
        """Drop what these messages led to from the memory of deeds; the lines of MEMORY.md that came from them.

        Every other deed loses its texts too: an older version of a document may say what was taken out of it.
        """
        gone = set(said)
        deeds = await self._deeds(agent)
        noted = tuple(line for deed in deeds if deed.said in gone for line in deed.noted)
        kept = [replace(deed, edits=()) for deed in deeds if deed.said not in gone]
        await self._keep(agent, [deed for deed in kept if not deed.is_nothing])
        return noted

    async def _restore(self, agent: str, edits: Sequence[Edit], now: Instant) -> list[str]:
        """Plan the way back; the names of documents that somebody else has changed since."""
        way_back, changed_since = [], []
        for edit in edits:
            current = await self._writes.read(agent, edit.name)
            if edit.name == MEMORY and _same_but_context(current, edit.after):
                context = Document.parse(current).prose(CONTEXT)
                way_back.append(Edit(MEMORY, current, set_recent_context(edit.before, context)))
            elif current == edit.after:
                way_back.append(Edit(edit.name, current, edit.before))
            else:
                changed_since.append(edit.name)
        await self._writes.plan(agent, way_back, now)
        return changed_since

    async def _deeds(self, agent: str) -> tuple[Deed, ...]:
        return await self._store.records.get(agent, DEEDS) or ()

    async def _keep(self, agent: str, deeds: Sequence[Deed]) -> None:
        await self._store.records.set(agent, DEEDS, tuple(deeds[-KEPT:]))


def _same_but_context(one: str, other: str) -> bool:
    """Recent Context is rewritten after every exchange; it does not count as a change."""
    try:
        return replace_prose(one, CONTEXT, "-") == replace_prose(other, CONTEXT, "-")
    except UsageError:
        return one == other
