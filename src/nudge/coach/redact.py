"""/redact: what was said is taken out of everything that the coach keeps.

Out of the conversation and its archive, Recent Context and the lines that were noted from it, the reminders that came
of it with their letters, messages and outcomes, the review's answers, what /undo remembers, and the log files. Then a
timer clears what is left of it behind the rows: the database's write-ahead log, its free pages and its daily copies.
What has been committed to git or sent to a chat is not in the coach's hands; the answer says so.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nudge.attention.requests import ASK_AGAIN
from nudge.coach.actions import UpdateMemory, apply_to_memory
from nudge.coach.changes import Change, Changes
from nudge.coach.document_writes import DocumentWrites, Edit
from nudge.coach.documents import MEMORY, Document
from nudge.coach.edits import replace_prose, replace_section_lines
from nudge.coach.fact_reader import LOOK_BACK, TALK
from nudge.coach.memory import CONTEXT, REVIEWS, recap
from nudge.coach.outside import Redactor
from nudge.coach.own_words import QUESTION
from nudge.coach.person_documents import PersonDocuments
from nudge.coach.review import REVIEW
from nudge.coach.store import CoachStore
from nudge.errors import NotConfiguredError
from nudge.instants import Instant, local_date
from nudge.queue.firing import Firing
from nudge.queue.timers import Timer

log = logging.getLogger("nudge.redaction")

REDACTED = "[redacted]"
PURGE = "purge"
MOST = 500
DEFAULT = 2
"""The person's last message and the answer to it."""

_SHORTEST = 6
"""A shorter text is taken out only where it stands alone: "ok" inside another sentence is no trace of it."""

_CUTS = (59, 60, 80, 119)
"""Where others cut a text to show its beginning."""


class Redaction:
    def __init__(
        self,
        store: CoachStore,
        documents: PersonDocuments,
        writes: DocumentWrites,
        changes: Changes,
        redactor: Redactor | None = None,
    ) -> None:
        self._store = store
        self._documents = documents
        self._writes = writes
        self._changes = changes
        self._redactor = redactor

    async def last(self, agent: str, count: int, now: Instant) -> str:
        """Take the last so many messages out, inside the caller's transaction; what to say. Doing it twice does no
        harm: files are cleaned before the transaction ends, so a crash leaves nothing half done."""
        gone = await self._store.conversations.redact(agent, min(count, MOST))
        if not gone:
            return "There's nothing to remove."
        since = Instant(min(saying.at for saying in gone))
        changes = await self._changes.forget(agent, [saying.id for saying in gone], since)
        noted = [line for change in changes for line in change.noted]
        reminders = await self._forget_reminders(agent, changes, [saying.content for saying in gone], since)
        said = [*(saying.content for saying in gone), *(line for _, line in noted), *reminders]
        forms = all_forms(said)
        await self._clean_rows(agent, since, forms)
        await self._clean_memory(agent, noted, forms, now)
        await self._clean_review(agent, forms)
        await self._store.records.delete(agent, QUESTION)
        if self._redactor is not None:
            self._redactor.remove([form for form in forms if len(form) >= _SHORTEST])
        await self._store.timers.set(Timer.at(agent, PURGE, PURGE, now, lane=f"{agent}/chores"))
        lines = f", {_count(len(noted), 'line')} I'd noted from them" if noted else ""
        lines += f", {_count(len(reminders), 'reminder')} I'd set" if reminders else ""
        return (
            f"Removed: the last {_count(len(gone), 'message')}{lines}, Recent Context, and their traces in my logs. "
            "This chat still shows them, and git keeps what was committed; delete them there if you need to."
        )

    async def _forget_reminders(
        self, agent: str, changes: Sequence[Change], said: Sequence[str], since: Instant
    ) -> list[str]:
        """Delete the reminders that came of it, with their timers and letters; what they said."""
        numbers = {number for change in changes for number in change.reminders}
        gone = []
        for one in await self._store.reminders.from_chat_since(agent, since):
            repeats = len(one.message) >= _SHORTEST and any(one.message in text for text in said)
            if one.id in numbers or repeats:
                await self._store.timers.cancel(agent, one.key)
                await self._store.letters.delete_topic(agent, one.id)
                await self._store.reminders.delete(one.id)
                gone.append(one.message)
        return gone

    async def purge(self, firing: Firing) -> None:
        """Handle the timer: what was deleted must not lie in the write-ahead log, in a free page or in a copy."""
        await self._store.purge()
        if self._redactor is not None:
            self._redactor.purge()
        async with firing.settle():
            pass

    async def _clean_rows(self, agent: str, since: Instant, forms: Sequence[str]) -> None:
        for trace in await self._store.traces.since(agent, since):
            words, detail = scrub(trace.words, forms), scrub_all(trace.detail, forms)
            if words != trace.words or detail != trace.detail:
                await self._store.traces.rewrite(replace(trace, words=words, detail=detail))
        timer = await self._store.timers.get(agent, ASK_AGAIN)
        if timer is not None and scrub_all(timer.payload, forms) != timer.payload:
            kept: Timer = replace(timer, payload={})
            await self._store.timers.set(kept)

    async def _clean_memory(
        self, agent: str, noted: Iterable[tuple[str, str]], forms: Sequence[str], now: Instant
    ) -> None:
        try:
            before = await self._writes.read(agent, MEMORY)
        except NotConfiguredError as error:
            log.error("MEMORY.md of %s was left as it is: %s", agent, error)
            return
        today = local_date(now, self._documents.targets(agent).zone)
        text = before
        for section, line in noted:
            text = apply_to_memory(text, UpdateMemory(section, remove=line), today)
        reviews = [item.text for item in Document.parse(text).items(REVIEWS)]
        if reviews and (cleaned := [scrub(one, forms) for one in reviews]) != reviews:
            text = replace_section_lines(text, REVIEWS, cleaned)
        if Document.parse(text).section(CONTEXT) is not None:
            text = replace_prose(text, CONTEXT, await self._context(agent, now) or "[Nothing yet]")
        await self._writes.plan(agent, [Edit(MEMORY, before, text)], now)

    async def _context(self, agent: str, now: Instant) -> str:
        """A summary from what is left: the one before was made of what is gone."""
        left = await self._store.conversations.recent(agent, LOOK_BACK)
        said = (one.content for one in left if one.role == "user" and now - one.at < TALK and not one.forwarded)
        return recap("", next(said, ""), local_date(now, self._documents.targets(agent).zone))

    async def _clean_review(self, agent: str, forms: Sequence[str]) -> None:
        review = await self._store.records.get(agent, REVIEW)
        if review is not None:
            answers = tuple("" if scrub(one, forms) != one else one for one in review.answers)
            if answers != review.answers:
                await self._store.records.set(agent, REVIEW, replace(review, answers=answers))


def all_forms(texts: Iterable[str]) -> list[str]:
    """The texts and how they look elsewhere: on one line, or cut with or without a sign; the longest first."""
    forms: set[str] = set()
    for text in texts:
        line = " ".join(text.split())
        forms |= {text.strip(), line}
        for cut in _CUTS:
            if len(line) > cut:
                forms |= {line[:cut].rstrip(), text.strip()[:cut].rstrip()}
    return sorted((form for form in forms if form), key=len, reverse=True)


def scrub(text: str, forms: Sequence[str]) -> str:
    """The text without them. What is short goes only where it is all there is.

    >>> scrub("It spoke: my PIN is 4711.", ["my PIN is 4711"]), scrub("broken", ["ok"]), scrub("ok", ["ok"])
    ('It spoke: [redacted].', 'broken', '[redacted]')
    """
    for form in forms:
        if text.strip().casefold() == form.casefold():
            return REDACTED
        if len(form) >= _SHORTEST:
            text = re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", REDACTED, text, flags=re.IGNORECASE)
    return text


def scrub_all(value: Any, forms: Sequence[str]) -> Any:
    """The same for every text inside a value."""
    if isinstance(value, str):
        return scrub(value, forms)
    if isinstance(value, Mapping):
        return {key: scrub_all(one, forms) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [scrub_all(one, forms) for one in value]
    return value


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
