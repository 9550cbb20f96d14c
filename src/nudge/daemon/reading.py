"""What surfaces show, as JSON: one question, one answer. Terminals, pages and other clients ask through the control
application, and hold no state and no rules of their own. Times are RFC 3339 in the zone of the agent's person."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from nudge.coach.documents import GOALS, MEMORY
from nudge.coach.explain import explain
from nudge.coach.store import Saying
from nudge.daemon.answers import Answer, Answers, Body, number_of, text_of
from nudge.daemon.charts import Charts
from nudge.errors import UsageError
from nudge.instants import DAY, SECOND, Instant, parse_rfc3339, rfc3339, start_of_day
from nudge.queue.agents import Agent
from nudge.queue.following import Following
from nudge.queue.outcomes import MEANING, Outcome, Result, feed_json, named, outcome_json
from nudge.reminders.reminder import key_of
from nudge.reminders.service import Timed
from nudge.text import short
from nudge.worker.session_view import public

if TYPE_CHECKING:
    from nudge.daemon.assemble import Daemon
    from nudge.daemon.control import Endpoint
    from nudge.daemon.events import State

_MOST = 500
_SHOWN = 50
"""So many agents are shown with all about them; the list of all has paging and search."""
_HISTORY = 20
_WEEK = 7
_MONTH = 30
_SLICE = 2000
_MOST_SLICES = 100
_STILL_LOOKED_AT = 5 * SECOND
_ALWAYS = Instant(-(2**62))


class Reading(Answers):
    """Everything here only reads."""

    def __init__(self, daemon: Daemon, speaker: str) -> None:
        super().__init__(daemon, speaker)
        self._charts = Charts(daemon, speaker)
        self._talk_read_at: Instant | None = None

    def endpoints(self) -> dict[str, Endpoint]:
        asked = (
            self.overview,
            self.agents,
            self.all_agents,
            self.upcoming,
            self.feed,
            self.reminders,
            self.reminder,
            self.outcomes,
        )
        more = (self.why, self.sessions, self.questions, self.documents, self.conversation)
        return {**{f"read/{one.__name__}": one for one in (*asked, *more)}, **self._charts.endpoints()}

    def states(self) -> dict[str, State]:
        """How each kind of thing looks when it changes."""
        return {
            "session": self._session_state,
            "question": self._question_state,
            "meter": self._meter_state,
            "attention": self._attention_state,
            "reminder": self._reminder_state,
        }

    async def overview(self, body: Body) -> Answer:
        """All that the first page shows."""
        return {
            **await self.agents({}),
            **await self.upcoming({"limit": 8}),
            **await self.feed({"limit": 30}),
            "sessions": [public(one) for one in await self._store.sessions.recent(5) if one.status.is_open],
        }

    async def agents(self, body: Body) -> Answer:
        """The first agents by name, what waits for an answer, who talks to the person, and the time there. `place` is
        where to follow the events from: what comes while we read is told again, never lost."""
        place = await Following(self._store).end()
        shown = [one.name for one in await self._store.agents.page(limit=_SHOWN)]
        if self._speaker not in shown:
            shown = [self._speaker, *shown]
        found = [await self._store.agents.get(name) for name in shown]
        return {
            "place": str(place),
            "now": self._time(self._now, self._speaker),
            "zone": self._zone(self._speaker).key,
            "speaker": self._speaker,
            "agents": [await self._agent(agent) for agent in found if agent is not None],
            "all_agents": await self._store.agents.count(),
            **await self.questions({}),
        }

    async def all_agents(self, body: Body) -> Answer:
        """{"search": text, "after": name, "limit": n}: agents by name, page by page, and how many match."""
        search, limit = text_of(body, "search", "", longest=200), number_of(body, "limit", 50)
        rows = await self._store.agents.page(
            search=search, after=text_of(body, "after", "", longest=200), limit=limit + 1
        )
        listed = [
            {
                "name": one.name,
                "role": one.role,
                "state": one.state,
                "next_at": None if one.next_at is None else self._time(one.next_at, self._speaker),
            }
            for one in rows[:limit]
        ]
        return {"agents": listed, "matching": await self._store.agents.count(search), "more": len(rows) > limit}

    async def upcoming(self, body: Body) -> Answer:
        """{"limit": n, "paused": true}: the next occurrences of all reminders, the next one first; paused ones last."""
        limit, paused = number_of(body, "limit", 20), body.get("paused") is True
        listed = await self._daemon.reminders.list(limit=limit + 1) if limit else []
        coming = [one for one in listed if one.next_at is not None or paused][:limit]
        return {"upcoming": [one.public(self._zone(one.agent)) for one in coming]}

    async def feed(self, body: Body) -> Answer:
        """{"limit": n, "agent": name}: what happened last, newest first. Outcomes that nobody was told of are in it."""
        limit, agent = number_of(body, "limit", 50), body.get("agent")
        lines = [feed_json(line) for line in await self._store.feed.recent(agent=agent, limit=limit)]
        rows = await self._titled(await self._store.outcomes.recent(agent=agent, limit=limit))
        return {"feed": sorted([*lines, *rows], key=lambda one: str(one["at"]), reverse=True)[:limit]}

    async def reminders(self, body: Body) -> Answer:
        """{"ended": true, "agent": name, "limit": n, "history": n}: with how the last `history` of each went, newest
        first."""
        ended, agent = body.get("ended") is True, body.get("agent")
        history = number_of(body, "history", 0, _HISTORY)
        listed = await self._daemon.reminders.list(agent, ended=ended, limit=number_of(body, "limit", 100))
        shown = [one.public(self._zone(one.agent)) for one in listed]
        for one, listing in zip(shown, listed, strict=True) if history else ():
            rows = await self._store.outcomes.recent(agent=listing.agent, key=key_of(listing.id), limit=history)
            one["history"] = [
                {"id": row.id, "due_at": rfc3339(row.slot_at), "result": row.result.value} for row in rows
            ]
        return {"reminders": shown}

    async def reminder(self, body: Body) -> Answer:
        """{"id": id or name}: one with its history, newest first."""
        found = await self._daemon.reminders.get(text_of(body, "id"))
        timer = await self._daemon.reminders.timer(found)
        timed = Timed(found, None if timer is None else timer.due_at)
        rows = await self._store.outcomes.recent(agent=found.agent, key=found.key, limit=_HISTORY)
        history = [{**outcome_json(row), "meaning": MEANING[row.result]} for row in rows]
        return {**timed.public(self._zone(found.agent)), "id": found.id, "agent": found.agent, "history": history}

    async def outcomes(self, body: Body) -> Answer:
        """{"words", "agent", "result", "day", "before", "limit"}: search, newest first. It goes back so far and no
        further at a time; `more_before` is where to go on."""
        zone = self._zone(self._speaker)
        since = until = None
        if day := text_of(body, "day", ""):
            try:
                first = date.fromisoformat(day)
            except ValueError:
                raise UsageError(f"{day!r} is not a day.", next_step="Write it like 2026-11-16.") from None
            since, until = start_of_day(first, zone), start_of_day(first + timedelta(days=1), zone)
        result = text_of(body, "result", "") or None
        if result is not None and result not in {one.value for one in Result}:
            raise UsageError(f"There is no result {result!r}.")
        if before := text_of(body, "before", ""):
            until = parse_rfc3339(before)
        words, agent = " ".join(text_of(body, "words", "").split()), text_of(body, "agent", "") or None
        limit, rows = number_of(body, "limit", 50), list[Outcome]()
        oldest = since if since is not None else _ALWAYS
        end = until if until is not None else Instant(self._now + DAY)
        more: Instant | None = None
        for _ in range(_MOST_SLICES):
            more = await self._store.outcomes.slice_start(oldest, end, _SLICE)
            begin = oldest if more is None else more
            rows += await self._store.outcomes.search(
                words, agent=agent, result=result, since=begin, until=end, limit=limit - len(rows)
            )
            if more is None or len(rows) >= limit:
                break
            end = more
            await asyncio.sleep(0)  # timers that are due have their turn
        if len(rows) >= limit and rows:
            more = rows[-1].at
        return {
            "outcomes": await self._titled(rows),
            "more_before": None if more is None else rfc3339(more, zone),
        }

    async def why(self, body: Body) -> Answer:
        """{"what": id, name or words}: the outcomes it means, or the things that it may mean."""
        found = await explain(self._store, text_of(body, "what"), limit=_HISTORY, zone=self._zone(self._speaker))
        titled = await self._titled(found.rows)
        rows = [{**one, "meaning": MEANING[row.result]} for one, row in zip(titled, found.rows, strict=True)]
        things = [found.thing] if found.thing is not None else list(found.choices)
        shown = [
            {"kind": one.kind, "id": one.id, "agent": one.agent, "title": one.title, "text": one.text} for one in things
        ]
        messages = [await self._message_of(row) for row in found.rows]
        return {
            "outcomes": [{**row, "message": message} for row, message in zip(rows, messages, strict=True)],
            "things": shown,
            "near": list(found.near),
        }

    async def sessions(self, body: Body) -> Answer:
        """{"agent", "limit"}: the last one first."""
        from nudge.worker.loop import RunOptions
        from nudge.worker.sessions import Sessions

        limit, agent = number_of(body, "limit", 30), text_of(body, "agent", "")
        sessions = self._store.sessions
        found = await sessions.of_agent(agent, limit) if agent else await sessions.recent(limit)
        queued = await Sessions(self._store, self._daemon.clock, RunOptions()).queued(agent or None)
        return {"sessions": [public(one) for one in (*queued, *found)]}

    async def questions(self, body: Body) -> Answer:
        """What waits for the person's answer."""
        return {"questions": [one.public() for one in await self._store.questions.open(self._now)]}

    async def documents(self, body: Body) -> Answer:
        """{"agent"}: goals and memory as they are, or as they will be once pending edits are written."""
        agent = await self._agent_of(body)
        writes = self._daemon.coach.writes
        return {"agent": agent, "goals": await writes.read(agent, GOALS), "memory": await writes.read(agent, MEMORY)}

    async def conversation(self, body: Body) -> Answer:
        """{"agent", "limit"}: what was said last, oldest first, with the answers to commands; `draft` is what is
        written of the answer under way."""
        self._talk_read_at = self._now
        agent, limit = await self._agent_of(body), number_of(body, "limit", 50)
        said = list(await self._store.conversations.recent(agent, limit))
        known = {one.content for one in said}
        said += [
            Saying(agent, sent.created_at, "assistant", sent.text, sent.kind, id=-sent.id)
            for sent in await self._store.outbox.recent(agent, limit=limit)
            if sent.text not in known
        ]
        said.sort(key=lambda one: (one.at, abs(one.id)))
        busy = await self._daemon.coach.is_answering(agent)
        return {
            "agent": agent,
            "conversation": [
                {"id": one.id, "at": self._time(one.at, agent), "role": one.role, "text": one.content}
                for one in said[-limit:]
            ],
            "busy": busy,
            "draft": self._daemon.coach.drafts.of(agent) if busy else "",
        }

    @property
    def looked_at_talk(self) -> bool:
        """Whether a page without a stream shows the conversation: it loads itself again every second or so."""
        return self._talk_read_at is not None and 0 <= self._now - self._talk_read_at < _STILL_LOOKED_AT

    async def _agent(self, agent: Agent) -> dict[str, Any]:
        name = agent.name
        status = await self._daemon.spending.state(name, self._now)
        session = await self._store.sessions.current(name)
        row = await self._store.attention.get(name)
        return {
            "name": name,
            "role": agent.role,
            "talks": self._daemon.is_coach(agent),
            "works": self._daemon.works(agent),
            "unread": await self._store.letters.count_unread(name),
            "spending": {**status.public(), "refresh_at": self._time(status.refresh_at, name)},
            "session": public(session) if session is not None else None,
            **(await self._charts.restraint(name) if row is not None and self._daemon.is_coach(agent) else {}),
        }

    async def _titled(self, rows: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Outcomes as JSON, each with what it was about: a reminder is known by its text, not by its number."""
        titles: dict[str, str] = {}
        for row in rows:
            if row.key not in titles:
                number = row.key.removeprefix(key_of(""))
                found = await self._store.reminders.get(number) if number != row.key else None
                titles[row.key] = named(row) if found is None else short(found.name or found.message)
        return [{**outcome_json(row), "title": titles[row.key]} for row in rows]

    async def _message_of(self, row: Any) -> dict[str, Any] | None:
        """The message that an occurrence became, and how its sending went."""
        number = row.detail.get("message") or row.detail.get("message_id")
        found = await self._store.outbox.get(number) if isinstance(number, int) else None
        if found is None:
            return None
        sent = self._time(found.sent_at, found.agent) if found.sent_at is not None else None
        return {"id": found.id, "text": found.text, "state": found.state.value, "sent_at": sent, "error": found.error}

    async def _session_state(self, agent: str, key: str) -> Answer | None:
        found = await self._store.sessions.get(agent, key)
        return {**public(found), "said": found.said} if found is not None else None

    async def _question_state(self, agent: str, key: str) -> Answer | None:
        found = await self._store.questions.get(key)
        if found is None:
            return None
        return {**found.public(), "open": found.answered_at is None and found.deadline > self._now}

    async def _meter_state(self, agent: str, key: str) -> Answer | None:
        status = await self._daemon.spending.state(agent, self._now)
        return {**status.public(), "refresh_at": self._time(status.refresh_at, agent)}

    async def _attention_state(self, agent: str, key: str) -> Answer | None:
        return await self._charts.restraint(agent)

    async def _reminder_state(self, agent: str, key: str) -> Answer | None:
        found = await self._store.reminders.get(key)
        if found is None:
            return None
        timer = await self._store.timers.get(agent, found.key)
        timed = Timed(found, None if timer is None else timer.due_at)
        return {**timed.public(self._zone(agent)), "id": found.id}
