"""What the coach changes for the person: documents, reminders, quiet times. /undo takes each of them back."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nudge.attention.requests import PersonRequests, stay_quiet
from nudge.attention.restraint import Requests
from nudge.coach.actions import (
    Action,
    AddReminder,
    CancelReminder,
    CompleteReminder,
    MoveReminder,
    RefusedAction,
    ReminderChange,
    SetQuiet,
    SetState,
    SnoozeReminder,
    UpdateGoals,
    UpdateMemory,
    apply_to_goals,
    apply_to_memory,
    confirm,
)
from nudge.coach.briefings import night_of
from nudge.coach.document_writes import DocumentWrites, Edit
from nudge.coach.documents import GOALS, MEMORY, Document
from nudge.coach.edits import replace_prose
from nudge.coach.fact_reader import LAST_BEDTIME
from nudge.coach.goals import parse_goals
from nudge.coach.memory import CONTEXT, set_recent_context
from nudge.coach.person_documents import PersonDocuments
from nudge.coach.person_reminders import PersonReminders
from nudge.coach.review import REVIEW, REVIEW_TIMEOUT, Review, ask
from nudge.coach.review import Status as ReviewStatus
from nudge.coach.store import CoachStore
from nudge.errors import LostLeaseError, NotConfiguredError, NotFoundError, NudgeError, StoreError, UsageError
from nudge.instants import Instant, local_date, whole_seconds
from nudge.queue.records import Record, fields, items, moment_or_none, text, texts, whole
from nudge.queue.timers import Timer, talk_lane
from nudge.reminders.definition import reminder_from_json, reminder_to_json
from nudge.reminders.service import Timed
from nudge.reminders.text import time_in_words
from nudge.text import short

log = logging.getLogger("nudge.changes")

KEPT = 10
"""So many changes can be taken back, one after the other."""

NOTHING = "There's nothing to undo."
GONE = "That was already undone, or it is too long ago."


@dataclass(frozen=True, slots=True)
class Change:
    """What one message or command changed. `what` says it in words, `said` is the message's number in the conversation,
    `noted` are the lines that went into MEMORY.md, by section; `at` is when a command did it. `before` is what the
    person had asked for until then, where that changed; `earlier` are the reminders that changed, as they were;
    `review` is the weekly review before it ({} where there was none). `number` names it among all changes of its agent;
    older versions gave none."""

    what: str
    edits: tuple[Edit, ...] = ()
    reminders: tuple[str, ...] = ()
    before: Requests | None = None
    said: int | None = None
    noted: tuple[tuple[str, str], ...] = ()
    at: Instant | None = None
    earlier: tuple[Timed, ...] = ()
    review: Mapping[str, Any] | None = None
    number: int = 0

    @property
    def touched(self) -> frozenset[str]:
        """What it changed: documents, reminders, the person's requests, the review."""
        reminders = (*self.reminders, *(one.reminder.id for one in self.earlier))
        more = [name for name, it in (("requests", self.before), ("review", self.review)) if it is not None]
        return frozenset((*(edit.name for edit in self.edits), *reminders, *more))

    @property
    def is_nothing(self) -> bool:
        changed = self.edits or self.reminders or self.earlier
        return not (changed or self.before is not None or self.review is not None)

    def to_json(self) -> dict[str, Any]:
        return {
            "words": self.what,
            "edits": [edit.to_json() for edit in self.edits],
            "reminders": list(self.reminders),
            "requests": self.before.to_json() if self.before else None,
            "said": self.said,
            "noted": [list(line) for line in self.noted],
            "at": self.at,
            "earlier": [[reminder_to_json(one.reminder), one.next_at] for one in self.earlier],
            "review": None if self.review is None else dict(self.review),
            "number": self.number,
        }

    @classmethod
    def from_json(cls, data: Any) -> Change:
        return cls(
            text(data["words"]),
            tuple(Edit.from_json(edit) for edit in items(data["edits"])),
            texts(data["reminders"]),
            Requests.from_json(data["requests"]) if data["requests"] else None,
            None if data["said"] is None else whole(data["said"]),
            tuple((text(section), text(line)) for section, line in items(data["noted"])),
            moment_or_none(data.get("at")),
            tuple(
                Timed(reminder_from_json(reminder), moment_or_none(next_at))
                for reminder, next_at in items(data.get("earlier", []))
            ),
            None if data.get("review") is None else fields(data["review"]),
            whole(data.get("number", 0)),
        )


CHANGES: Record[tuple[Change, ...]] = Record(
    "undo",
    lambda data: tuple(Change.from_json(one) for one in items(data)),
    lambda changes: [one.to_json() for one in changes],
)
NUMBER: Record[int] = Record("undo.number", whole, int)
"""The number of the last change; none is given twice, also when a change was taken back."""


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a reply's actions. `unchanged` are those that found their document as they wanted it; `documents`
    names those that were changed, `reminders` those that were set."""

    actions: tuple[Action, ...] = ()
    unchanged: tuple[Action, ...] = ()
    refused: tuple[RefusedAction, ...] = ()
    documents: tuple[str, ...] = ()
    reminders: tuple[str, ...] = ()


class ActionFailedError(NudgeError):
    """An action could not be carried out. The transaction around it is over; without the action it may work."""

    def __init__(self, action: Action, reason: str) -> None:
        super().__init__(reason)
        self.action = action


class Changes:
    """Everything here is part of the caller's transaction, except `finish`, which comes after it."""

    def __init__(
        self,
        store: CoachStore,
        documents: PersonDocuments,
        writes: DocumentWrites,
        requests: PersonRequests,
        reminders: PersonReminders,
    ) -> None:
        self._store = store
        self._documents = documents
        self._writes = writes
        self._requests = requests
        self._reminders = reminders

    async def carry_out(self, agent: str, actions: Sequence[Action], now: Instant, *, said: int | None = None) -> Done:
        """Do them in order, each checked once more, and remember them for /undo. `said` is the number of the message
        that asked for them."""
        before: dict[str, str] = {}
        texts: dict[str, str] = {}
        done: list[Action] = []
        unchanged: list[Action] = []
        refused: list[RefusedAction] = []
        reminders: list[str] = []
        earlier_ones: list[Timed] = []
        requests: Requests | None = None
        for action in actions:
            if action in done:
                continue
            match action:
                case UpdateMemory() | UpdateGoals():
                    name = MEMORY if isinstance(action, UpdateMemory) else GOALS
                    try:
                        if name not in texts:
                            before[name] = texts[name] = await self._writes.read(agent, name)
                        changed = self._edited(agent, name, texts[name], action, now)
                    except (UsageError, NotConfiguredError) as error:
                        refused.append(RefusedAction(action.name, error.message.rstrip(".")))
                        continue
                    if changed == texts[name]:
                        unchanged.append(action)
                    texts[name] = changed
                case AddReminder():
                    reminders.append(await self._remind(agent, action, now))
                case MoveReminder() | SnoozeReminder() | CancelReminder() | CompleteReminder():
                    earlier_ones.append(await self._change_reminder(agent, action, now))
                case SetQuiet(until):
                    earlier = await self._requests.quiet(agent, until, now)
                    requests = requests or earlier
                case SetState():
                    await self._set_state(agent, action, now)
            done.append(action)
        edits = tuple(Edit(name, before[name], texts[name]) for name in texts if texts[name] != before[name])
        await self._writes.plan(agent, edits, now)
        effective = [action for action in done if action not in unchanged]
        targets = self._documents.targets(agent)
        what = " ".join(
            f"the reminder “{short(action.text)}”."
            if isinstance(action, AddReminder)
            else confirm(action, whole_seconds(now), targets)
            for action in effective
        )
        noted = tuple((one.section, one.add) for one in effective if isinstance(one, UpdateMemory) and one.add)
        await self.remember(
            agent, Change(what, edits, tuple(reminders), requests, said, noted, earlier=tuple(earlier_ones))
        )
        return Done(tuple(done), tuple(unchanged), tuple(refused), tuple(edit.name for edit in edits), tuple(reminders))

    async def read(self, agent: str, name: str) -> str:
        """A document as it is, or as it is about to be."""
        return await self._writes.read(agent, name)

    async def write(self, agent: str, edits: Sequence[Edit], now: Instant, what: str, said: int | None = None) -> None:
        """Change documents as somebody else worked it out."""
        await self._writes.plan(agent, edits, now)
        await self.remember(agent, Change(what, tuple(edits), said=said))

    async def set_recent_context(self, agent: str, summary: str, now: Instant) -> None:
        """Rewrite Recent Context in MEMORY.md. It follows every exchange and is not worth an /undo of its own."""
        try:
            before = await self._writes.read(agent, MEMORY)
            after = set_recent_context(before, summary)
        except (UsageError, NotConfiguredError) as error:
            log.warning("Recent Context of %s cannot be written: %s", agent, error)
            return
        await self._writes.plan(agent, [Edit(MEMORY, before, after)], now)

    async def finish(self, agent: str, now: Instant) -> None:
        """Bring the files up to what was written down, also what a crash left over."""
        await self._writes.finish(agent, now)

    async def remember(self, agent: str, change: Change) -> int:
        """Keep it for /undo; its number."""
        if change.is_nothing:
            return 0
        number = (await self._store.records.get(agent, NUMBER) or 0) + 1
        await self._store.records.set(agent, NUMBER, number)
        await self._keep(agent, [*await self._kept(agent), replace(change, number=number)])
        return number

    async def undo_last(self, agent: str, now: Instant) -> str:
        """Take the last change back; what to say. `finish` comes after it."""
        kept = await self._kept(agent)
        return await self._undo(agent, kept, kept[-1], now) if kept else NOTHING

    async def undo(self, agent: str, number: int, now: Instant) -> str:
        """Take this change back, whatever came after it; what to say. One that something newer stands on is left alone.
        `finish` comes after it."""
        kept = await self._kept(agent)
        change = next((one for one in kept if one.number == number), None)
        if change is None or not number:
            return GONE
        newer = kept[kept.index(change) + 1 :]
        if over := [one for one in newer if one.touched & change.touched]:
            return f"I left it alone, because the same thing was changed again since: {_told(over)} Undo that first."
        said = await self._undo(agent, kept, change, now)
        return f"{said} What was changed since stays: {_told(newer)}" if newer else said

    async def _undo(self, agent: str, kept: Sequence[Change], change: Change, now: Instant) -> str:
        await self._keep(agent, [one for one in kept if one is not change])
        changed_since = await self._restore(agent, change.edits, now)
        now_true: list[str] = []
        for reminder in change.reminders:
            await self._reminders.forget(agent, reminder, now)
        now_true += [await self._put_back(agent, one, now) for one in reversed(change.earlier)]
        if change.before is not None:
            await self._requests.restore(agent, change.before, now)
            now_true.append(await self._restraint_now(agent, now))
        if change.review is not None:
            now_true.append(await self._review_back(agent, change.review, now))
        if not changed_since:
            return " ".join(part for part in (f"Undone: {change.what}", *now_true) if part)
        left = " and ".join(changed_since)
        return f"{left} changed in the meantime, so I left it alone. Please undo this by hand: {change.what}"

    async def _put_back(self, agent: str, earlier: Timed, now: Instant) -> str:
        """Put one reminder back; what is true now."""
        try:
            timed = await self._reminders.restore(agent, earlier, now)
        except NotFoundError:
            return "The reminder is gone."
        title = short(timed.reminder.name or timed.reminder.message)
        if timed.next_at is None:
            return f"“{title}” is as it was."
        zone = self._documents.targets(agent).zone
        return f"“{title}” comes {time_in_words(timed.next_at, now, zone)}."

    async def _restraint_now(self, agent: str, now: Instant) -> str:
        requests = await self._requests.now(agent, now)
        until = max((one for one in (requests.quiet_until, requests.busy_until) if one and one > now), default=None)
        if until is None:
            return "I write as usual again."
        return f"I keep quiet until {time_in_words(until, now, self._documents.targets(agent).zone)}."

    async def _review_back(self, agent: str, before: Mapping[str, Any], now: Instant) -> str:
        if not before:
            await self._store.records.delete(agent, REVIEW)
            await self._store.timers.cancel(agent, REVIEW_TIMEOUT)
            return "There is no review in progress."
        review = Review.from_json(before)
        await keep_review(self._store, agent, replace(review, touched_at=now) if review.in_progress else review)
        return ask(review) if review.status is ReviewStatus.ASKING else "The review waits. Say “continue” any time."

    async def drop(self, agent: str, said: int) -> None:
        """Forget for /undo what this message changed: something else stands for it."""
        await self._keep(agent, [one for one in await self._kept(agent) if one.said != said])

    async def forget(self, agent: str, said: Iterable[int], since: Instant) -> Sequence[Change]:
        """Forget what these messages, and commands since then, changed. Returns those changes.

        Every other change loses its texts too: an older version of a document may say what was taken out of it.
        """
        numbers = set(said)
        kept = await self._kept(agent)
        gone = [one for one in kept if one.said in numbers or (one.at is not None and one.at >= since)]
        left = [replace(change, edits=()) for change in kept if change not in gone]
        await self._keep(agent, [change for change in left if not change.is_nothing])
        return gone

    def _edited(self, agent: str, name: str, text: str, action: UpdateMemory | UpdateGoals, now: Instant) -> str:
        """The document after the action, if it is still one."""
        if isinstance(action, UpdateMemory):
            changed = apply_to_memory(text, action, local_date(now, self._documents.targets(agent).zone))
        else:
            changed = apply_to_goals(text, action)
        if not still_whole(name, text, changed):
            raise UsageError(f"it would break {name}")
        return changed

    async def _remind(self, agent: str, action: AddReminder, now: Instant) -> str:
        try:
            return await self._reminders.remind(agent, action.text, action.understood, now, action.source)
        except (StoreError, LostLeaseError):
            raise
        except NudgeError as error:
            raise ActionFailedError(action, error.message.rstrip(".")) from error

    async def _change_reminder(self, agent: str, action: ReminderChange, now: Instant) -> Timed:
        """Do it. Returns the reminder as it was."""
        try:
            earlier = await self._reminders.as_it_is(agent, action.reminder)
            match action:
                case MoveReminder(understood=understood):
                    await self._reminders.move(agent, action.reminder, understood, now)
                case SnoozeReminder(length=length):
                    await self._reminders.snooze(agent, action.reminder, length, now)
                case CompleteReminder():
                    await self._reminders.done(agent, action.reminder, now)
                case CancelReminder():
                    if not await self._reminders.forget(agent, action.reminder, now):
                        raise UsageError("it is over already")
        except (StoreError, LostLeaseError):
            raise
        except NudgeError as error:
            raise ActionFailedError(action, error.message.rstrip(".")) from error
        return earlier

    async def _set_state(self, agent: str, action: SetState, now: Instant) -> None:
        targets = self._documents.targets(agent)
        until = action.updates.get("quiet_mode_until")
        if until is not None:
            await stay_quiet(self._store, agent, until)
        if action.updates.get("bedtime_nudge_sent"):
            await self._store.attention.bedtime_sent(agent, night_of(now, targets))
            await self._store.records.set(agent, LAST_BEDTIME, now)

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

    async def _kept(self, agent: str) -> tuple[Change, ...]:
        return await self._store.records.get(agent, CHANGES) or ()

    async def _keep(self, agent: str, changes: Sequence[Change]) -> None:
        await self._store.records.set(agent, CHANGES, tuple(changes[-KEPT:]))


def _told(changes: Sequence[Change]) -> str:
    """
    >>> _told([Change("your edit of GOALS.md"), Change("Quiet is on.")])
    'your edit of GOALS.md; Quiet is on.'
    """
    return "; ".join(one.what.rstrip(".") for one in changes) + "."


def still_whole(name: str, before: str, after: str) -> bool:
    """Whether an edit left every heading where it was and broke no target that could be read before."""
    old, new = Document.parse(before).outline, Document.parse(after).outline
    if [heading for heading in new if heading in old] != old:
        return False
    if name != GOALS:
        return True
    known = {str(problem) for problem in parse_goals(before).parsed.problems}
    return len(parse_goals(after).parsed.problems) <= len(known)


def _same_but_context(one: str, other: str) -> bool:
    """Recent Context is rewritten after every exchange; it does not count as a change."""
    try:
        return replace_prose(one, CONTEXT, "-") == replace_prose(other, CONTEXT, "-")
    except UsageError:
        return one == other


async def keep_review(store: CoachStore, agent: str, review: Review) -> None:
    """Store the review with the timer that ends it, inside the caller's transaction."""
    await store.records.set(agent, REVIEW, review)
    due = review.times_out_at
    if due is None:
        await store.timers.cancel(agent, REVIEW_TIMEOUT)
    else:
        await store.timers.set(Timer.at(agent, REVIEW_TIMEOUT, REVIEW_TIMEOUT, due, lane=talk_lane(agent)))
