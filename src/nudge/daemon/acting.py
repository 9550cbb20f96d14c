"""What surfaces do, as one request each. Every write is a use case of its room; the daemon is poked afterwards."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from nudge.coach.changes import Change
from nudge.coach.document_writes import Edit
from nudge.coach.documents import GOALS, MEMORY, too_long
from nudge.daemon.answers import Answer, Answers, Body, number_of, text_of
from nudge.errors import InvalidPhraseError, UnclearPhraseError, UsageError
from nudge.instants import Instant, local_date, rfc3339, start_of_day, whole_seconds
from nudge.phrases import split_reminder
from nudge.queue.inbox import Letter, Priority
from nudge.reminders.reminder import Source
from nudge.reminders.service import Timed
from nudge.reminders.text import literal
from nudge.reminders.timing import read_duration, schedule_from
from nudge.spending.budgets import wake_timer
from nudge.spending.money import parse_money
from nudge.text import short
from nudge.worker.loop import RunOptions
from nudge.worker.sessions import PERSON, Sessions, Task, work_timer

if TYPE_CHECKING:
    from nudge.daemon.control import Endpoint

_DOCUMENTS = {"goals": GOALS, "memory": MEMORY}
_LONGEST_DOCUMENT = 1_000_000
_MOST_CHANGES = 10**12
QUIET_TODAY = "today"


class Acting(Answers):
    def endpoints(self) -> dict[str, Endpoint]:
        reminders = (self.understand, self.add, self.edit, self.pause, self.resume, self.snooze, self.complete)
        more = (self.remove, self.restore, self.quiet, self.wake, self.top_up, self.answer, self.save, self.undo)
        work = (self.cancel_session, self.resume_session, self.message, self.work)
        return {f"do/{one.__name__}": self._poking(one) for one in (*reminders, *more, *work)}

    def _poking(self, act: Endpoint) -> Endpoint:
        async def acted(body: Body) -> Answer:
            answer = await act(body)
            self._daemon.poke()
            return answer

        return acted

    async def understand(self, body: Body) -> Answer:
        """{"words"}: how a reminder in words is understood, before it is set. `question` asks for a missing word."""
        agent = await self._agent_of(body)
        zone, now = self._zone(agent), whole_seconds(self._now)
        words = text_of(body, "words")
        if not words.strip():
            return {"understood": False, "question": ""}
        try:
            message, when = split_reminder(words, now, zone)
        except UnclearPhraseError as unclear:
            return {"understood": False, "question": unclear.question}
        except InvalidPhraseError as error:
            return {"understood": False, "question": str(error)}
        return {"understood": True, "message": message, "reading": when.echo(now, zone)}

    async def add(self, body: Body) -> Answer:
        """{"words", "agent"}: set a reminder for the person in one sentence. The answer has the reading."""
        agent = await self._agent_of(body)
        zone, now = self._zone(agent), self._now
        message, when = split_reminder(text_of(body, "words"), whole_seconds(now), zone)
        schedule = schedule_from(when, now, zone)
        definition = {"message": literal(message), "schedule": schedule, "to_person": True}
        async with self._store.transaction():
            timed = await self._daemon.reminders.add(agent, definition, now, Source.CHAT)
            change = Change(f"the reminder “{message}”", reminders=(timed.reminder.id,), at=now)
            number = await self._daemon.coach.changes.remember(agent, change)
        return {**self._timed(timed), "reading": when.echo(whole_seconds(now), zone), "change": number}

    async def edit(self, body: Body) -> Answer:
        """{"id", "message", "when": words}: change what is named. It can be undone."""
        reminder = await self._daemon.reminders.get(text_of(body, "id"))
        message, words = text_of(body, "message", "").strip(), text_of(body, "when", "").strip()
        if not message and not words:
            raise UsageError("There is nothing to change.", next_step="Write another text or another time.")
        coach, title, now = self._daemon.coach, short(reminder.name or reminder.message), self._now
        async with self._store.transaction():
            timed = before = await coach.reminders.as_it_is(reminder.agent, reminder.id)
            if message and message != reminder.message:
                timed = await self._daemon.reminders.edit(reminder.id, {"message": literal(message)}, now)
            if words:
                zone = self._zone(reminder.agent)
                _, when = split_reminder(f"x {words}", whole_seconds(now), zone)
                timed = await self._daemon.reminders.move(reminder.id, schedule_from(when, now, zone), now)
            change = Change(f"your change of “{title}”.", earlier=(before,), at=now)
            number = await coach.changes.remember(reminder.agent, change)
        return {**self._timed(timed), "agent": reminder.agent, "change": number}

    async def pause(self, body: Body) -> Answer:
        return await self._change(body, self._daemon.reminders.pause)

    async def resume(self, body: Body) -> Answer:
        return await self._change(body, self._daemon.reminders.resume)

    async def complete(self, body: Body) -> Answer:
        return await self._change(body, self._daemon.reminders.complete)

    async def remove(self, body: Body) -> Answer:
        return await self._change(body, self._daemon.reminders.remove)

    async def restore(self, body: Body) -> Answer:
        """Take back a removal, a completion, a pause or a snooze."""
        return await self._change(body, self._daemon.reminders.restore)

    async def snooze(self, body: Body) -> Answer:
        """{"id", "for": "30m" or "until 5pm"}"""
        found = await self._daemon.reminders.get(text_of(body, "id"))
        length = read_duration(text_of(body, "for", "30m") or "30m", self._now, self._zone(found.agent))
        return self._timed(await self._daemon.reminders.snooze(found.id, length, self._now))

    async def quiet(self, body: Body) -> Answer:
        """{"agent", "for": "2h" | "today" | "off"}: no messages that nobody asked for. It can be undone."""
        agent, now = await self._agent_of(body), self._now
        words = text_of(body, "for", "2h").strip() or "2h"
        zone = self._zone(agent)
        until: Instant | None
        if words == "off":
            until = None
        elif words == QUIET_TODAY:
            until = start_of_day(local_date(now, zone).fromordinal(local_date(now, zone).toordinal() + 1), zone)
        else:
            until = Instant(now + read_duration(words, now, zone))
        coach = self._daemon.coach
        async with self._store.transaction():
            before = await coach.requests.quiet(agent, until, now)
            said = "Quiet is off." if until is None else "Quiet is on."
            number = await coach.changes.remember(agent, Change(said, before=before))
        ends = None if until is None else rfc3339(until, zone)
        return {"ok": True, "agent": agent, "quiet_until": ends, "change": number}

    async def wake(self, body: Body) -> Answer:
        """{"agent"}: look at once whether a sleeping agent can go on."""
        agent = await self._agent_of(body)
        await self._store.timers.set(wake_timer(agent, self._now))
        return {"ok": True}

    async def top_up(self, body: Body) -> Answer:
        """{"agent", "amount": "5.00"}: dollars for this window. A sleeping agent wakes at once."""
        agent = await self._agent_of(body)
        await self._daemon.spending.budgets.top_up(agent, parse_money(text_of(body, "amount")), self._now)
        status = await self._daemon.spending.state(agent, self._now)
        return {"ok": True, "agent": agent, **status.public()}

    async def answer(self, body: Body) -> Answer:
        """{"id", "answer"}: answer what something waits for. The first answer counts."""
        question = await self._sessions.answer(text_of(body, "id"), text_of(body, "answer"))
        return {"ok": True, "agent": question.agent, "session": question.session}

    async def cancel_session(self, body: Body) -> Answer:
        session = await self._sessions.find(text_of(body, "id"))
        await self._sessions.cancel(session)
        return {"ok": True, "id": session.id}

    async def resume_session(self, body: Body) -> Answer:
        session = await self._sessions.find(text_of(body, "id"))
        await self._sessions.resume(session)
        return {"ok": True, "id": session.id}

    async def message(self, body: Body) -> Answer:
        """{"agent", "text"}: a letter to an agent; a worker hears it at its next safe point."""
        agent = await self._agent_of(body)
        text = text_of(body, "text").strip()
        if not text:
            raise UsageError("The message is empty.")
        there = await self._store.agents.get(agent)
        assert there is not None
        async with self._store.transaction():
            await self._store.letters.put(Letter(agent, PERSON, text, Priority.INTERRUPT, self._now))
            if self._daemon.works(there):
                await self._store.timers.hasten(work_timer(agent, self._now))
        return {"ok": True}

    async def work(self, body: Body) -> Answer:
        """{"agent", "task"}: a new task for a worker; the session that will work on it."""
        agent = await self._agent_of(body)
        if self._daemon.working is None:
            raise UsageError(
                "No worker is running here.", next_step="Set up a model and add an agent with a worker's role."
            )
        return {"ok": True, "session": await self._daemon.working.sessions.give(agent, Task(text_of(body, "task")))}

    async def save(self, body: Body) -> Answer:
        """{"agent", "name": "goals"|"memory", "before", "text"}: save a document as the chat's edits are saved. If
        somebody changed it since `before` was read, nothing is written."""
        agent, now = await self._agent_of(body), self._now
        name = _DOCUMENTS.get(text_of(body, "name"))
        if name is None:
            raise UsageError("Only goals and memory can be saved here.")
        before = text_of(body, "before", longest=_LONGEST_DOCUMENT)
        text = text_of(body, "text", longest=_LONGEST_DOCUMENT)
        if (excess := too_long(text)) is not None:
            raise UsageError(f"{name} is too long: {excess}.", next_step="Move what you no longer need elsewhere.")
        coach = self._daemon.coach
        async with self._store.transaction():
            if await coach.writes.read(agent, name) != before:
                raise UsageError(
                    f"{name} was changed elsewhere in the meantime. Nothing was saved.",
                    next_step="Load the page again, and make your change in the new text.",
                )
            edit = Edit(name, before, text)
            await coach.writes.plan(agent, [edit], now)
            number = await coach.changes.remember(agent, Change(f"your edit of {name}.", edits=(edit,)))
        await coach.writes.finish(agent, now)
        return {"ok": True, "agent": agent, "change": number}

    async def undo(self, body: Body) -> Answer:
        """{"agent", "change"}: take back the change with this number, which `add`, `edit`, `quiet` and `save` tell;
        without one, the last thing that was changed by chat or page."""
        agent, changes = await self._agent_of(body), self._daemon.coach.changes
        number = number_of(body, "change", 0, _MOST_CHANGES)
        async with self._store.transaction():
            if number:
                words = await changes.undo(agent, number, self._now)
            else:
                words = await changes.undo_last(agent, self._now)
        await self._daemon.coach.writes.finish(agent, self._now)
        return {"ok": True, "said": words}

    @property
    def _sessions(self) -> Sessions:
        working = self._daemon.working
        return working.sessions if working else Sessions(self._store, self._daemon.clock, RunOptions())

    async def _change(self, body: Body, change: Callable[[str, Instant], Awaitable[Timed]]) -> Answer:
        return self._timed(await change(text_of(body, "id"), self._now))

    def _timed(self, timed: Timed) -> dict[str, Any]:
        reminder = timed.reminder
        title = short(reminder.name or reminder.message)
        return {"ok": True, **timed.public(self._zone(reminder.agent)), "id": reminder.id, "title": title}
