"""What surfaces show, as JSON: one question, one answer. Terminals, pages and other clients ask through the control
application, and hold no state and no rules of their own. Times are RFC 3339 in the zone of the agent's person."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from nudge.attention.preamble import ping_status_json
from nudge.coach.documents import GOALS, MEMORY
from nudge.coach.explain import explain
from nudge.coach.store import Saying
from nudge.errors import NotFoundError, UsageError
from nudge.instants import (
    DAY,
    HOUR,
    SECOND,
    Instant,
    Moment,
    as_instant,
    local_date,
    parse_rfc3339,
    rfc3339,
    start_of_day,
)
from nudge.queue.agents import Agent
from nudge.queue.following import Following
from nudge.queue.outcomes import MEANING, Outcome, Result, feed_json, named, outcome_json
from nudge.reminders.service import Timed
from nudge.spending.budgets import SpendingStatus, budget_json, day_meter, every_day
from nudge.worker.session_view import lines_of, public

if TYPE_CHECKING:
    from nudge.daemon.assemble import Daemon
    from nudge.daemon.control import Endpoint
    from nudge.daemon.events import State

_MOST = 500
_HISTORY = 20
_WEEK = 7
_MONTH = 30
_SLICE = 2000
_MOST_SLICES = 100
_STILL_LOOKED_AT = 5 * SECOND
_ALWAYS = Instant(-(2**62))

Body = Mapping[str, Any]
Answer = Mapping[str, Any]


def text_of(body: Body, name: str, default: str | None = None, *, longest: int = 4000) -> str:
    """A text field of a question. Without a default it must be there."""
    value = body.get(name, default)
    if value is None:
        raise UsageError(f"`{name}` is missing.")
    if not isinstance(value, str) or len(value) > longest:
        raise UsageError(f"`{name}` must be a text of at most {longest:,} characters.")
    return value


def number_of(body: Body, name: str, default: int, most: int = _MOST) -> int:
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise UsageError(f"`{name}` must be a number from 0 to {most:,}.")
    return value


class Reading:
    """Everything here only reads."""

    def __init__(self, daemon: Daemon, speaker: str) -> None:
        self._daemon = daemon
        self._store = daemon.store
        self._speaker = speaker
        self._talk_read_at: Instant | None = None

    def endpoints(self) -> dict[str, Endpoint]:
        asked = (self.overview, self.agents, self.upcoming, self.feed, self.reminders, self.reminder, self.outcomes)
        more = (self.why, self.attention, self.money, self.sessions, self.session, self.questions, self.documents)
        return {f"read/{one.__name__}": one for one in (*asked, *more, self.conversation)}

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
        """All agents, what waits for an answer, who talks to the person, and the time there. `place` is where to follow
        the events from: what comes while we read is told again, never lost."""
        place = await Following(self._store).end()
        return {
            "place": str(place),
            "now": self._time(self._now, self._speaker),
            "zone": self._zone(self._speaker).key,
            "speaker": self._speaker,
            "agents": [await self._agent(agent) for agent in await self._store.agents.all()],
            **await self.questions({}),
        }

    async def upcoming(self, body: Body) -> Answer:
        """{"limit": n}: the next occurrences of all reminders, the next one first."""
        limit = number_of(body, "limit", 20)
        listed = await self._daemon.reminders.list(limit=limit + 1) if limit else []
        coming = [one for one in listed if one.next_at is not None][:limit]
        return {"upcoming": [one.public(self._zone(one.agent)) for one in coming]}

    async def feed(self, body: Body) -> Answer:
        """{"limit": n, "agent": name}: what happened last, newest first. Outcomes that nobody was told of are in it."""
        limit, agent = number_of(body, "limit", 50), body.get("agent")
        lines = [feed_json(line) for line in await self._store.feed.recent(agent=agent, limit=limit)]
        rows = [outcome_json(row) for row in await self._store.outcomes.recent(agent=agent, limit=limit)]
        return {"feed": sorted([*lines, *rows], key=lambda one: str(one["at"]), reverse=True)[:limit]}

    async def reminders(self, body: Body) -> Answer:
        """{"ended": true, "agent": name, "limit": n}"""
        ended, agent = body.get("ended") is True, body.get("agent")
        listed = await self._daemon.reminders.list(agent, ended=ended, limit=number_of(body, "limit", 100))
        return {"reminders": [one.public(self._zone(one.agent)) for one in listed]}

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
            "outcomes": [{**outcome_json(row), "title": named(row)} for row in rows],
            "more_before": None if more is None else rfc3339(more, zone),
        }

    async def why(self, body: Body) -> Answer:
        """{"what": id, name or words}: the outcomes it means, or the things that it may mean."""
        found = await explain(self._store, text_of(body, "what"), limit=_HISTORY)
        rows = [{**outcome_json(row), "title": named(row), "meaning": MEANING[row.result]} for row in found.rows]
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

    async def attention(self, body: Body) -> Answer:
        """{"agent", "days"}: how the last days went by hour, and the bucket."""
        agent = await self._which(body)
        zone, days = self._zone(agent), max(1, number_of(body, "days", _WEEK, 31))
        first = local_date(self._now, zone) - timedelta(days=days - 1)
        since = start_of_day(first, zone)
        cells: list[dict[str, Any]] = []
        for hour in range((self._now - since) // HOUR + 1):
            at = Instant(since + hour * HOUR)
            for one in await self._store.outcomes.counts(agent, at, Instant(at + HOUR)):
                cell = {"result": one.result.value, "kind": one.kind, "count": one.count, "reason": one.reason}
                cells.append({"at": rfc3339(at, zone), **cell})
            await asyncio.sleep(0)  # timers that are due have their turn
        return {
            "agent": agent,
            "since": rfc3339(since, zone),
            "days": [(first + timedelta(days=number)).isoformat() for number in range(days)],
            "hours": cells,
            **await self._attention(agent),
        }

    async def money(self, body: Body) -> Answer:
        """{"agent", "days"}: the meter, the window, each day, what it was spent on, and the last calls."""
        agent, store = await self._which(body), self._store
        zone, days = self._zone(agent), max(1, number_of(body, "days", _MONTH, 366))
        budgets = self._daemon.spending.budgets
        status = await budgets.status(agent, self._now)
        totals = await store.usage.totals(agent, status.window_starts, status.window_ends)
        today = budgets.turn.day_of(self._now)
        history = every_day(await budgets.history(agent, days, self._now), today)
        calls = await store.calls.recent(agent, limit=30)
        usage = await store.usage.recent(agent=agent, limit=30)
        return {
            **budget_json(status, budgets.plan.tier, totals, zone, await budgets.forecast(status, self._now)),
            "window_ends_at": rfc3339(status.window_ends, zone),
            "forecast": _forecast(status, [day.spent for day in history], self._now),
            "days": [
                {
                    "day": day.day.isoformat(),
                    "spent": day.spent,
                    "limit": day.limit,
                    "percent": day_meter(day).percent,
                    "colour": day_meter(day).colour.value,
                }
                for day in history
            ],
            "calls": [
                {
                    "at": rfc3339(call.at, zone),
                    "client": call.client,
                    "model": call.model,
                    "run": call.run,
                    "asked": call.asked,
                    "granted": call.granted,
                    "clamped": call.clamped,
                    "held": call.held,
                    "waited_ms": call.waited // 1000,
                    "lasted_ms": call.lasted // 1000,
                    "status": call.status,
                    "result": call.result,
                    "cost": call.cost,
                }
                for call in calls
            ],
            "usage_log": [
                {
                    "at": rfc3339(row.at, zone),
                    "purpose": row.purpose,
                    "model": row.model,
                    "run": row.run,
                    "input": row.use.prompt,
                    "output": row.use.output,
                    "cost": row.cost,
                    "ended": row.ended,
                }
                for row in usage
            ],
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

    async def session(self, body: Body) -> Answer:
        """{"id", "after": n}: one with the lines of what was said and done from message `after` on."""
        from nudge.worker.loop import RunOptions
        from nudge.worker.sessions import Sessions

        after = number_of(body, "after", 0, 10_000_000)
        session = await Sessions(self._store, self._daemon.clock, RunOptions()).find(text_of(body, "id"))
        messages = await self._store.sessions.messages(session.agent, session.id, after=after, limit=_MOST)
        family = await self._store.sessions.family(session.agent, session.id)
        question = await self._store.questions.of_session(session.agent, session.id)
        is_open = question is not None and question.answered_at is None and question.deadline > self._now
        return {
            **public(session),
            "lines": [
                {"number": number, "kind": kind, "text": line}
                for number, message in enumerate(messages, after + 1)
                for kind, line in lines_of(message)
            ],
            "said": session.said,
            "subagents": [public(one) for one in family if one.id != session.id],
            "question": question.public() if is_open and question is not None else None,
        }

    async def questions(self, body: Body) -> Answer:
        """What waits for the person's answer."""
        return {"questions": [one.public() for one in await self._store.questions.open(self._now)]}

    async def documents(self, body: Body) -> Answer:
        """{"agent"}: goals and memory as they are, or as they will be once pending edits are written."""
        agent = await self._which(body)
        writes = self._daemon.coach.writes
        return {"agent": agent, "goals": await writes.read(agent, GOALS), "memory": await writes.read(agent, MEMORY)}

    async def conversation(self, body: Body) -> Answer:
        """{"agent", "limit"}: what was said last, oldest first, with the answers to commands; `draft` is what is
        written of the answer under way."""
        self._talk_read_at = self._now
        agent, limit = await self._which(body), number_of(body, "limit", 50)
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

    @property
    def _now(self) -> Instant:
        return self._daemon.clock.now()

    def _zone(self, agent: str) -> ZoneInfo:
        return self._daemon.documents.targets(agent).zone

    def _time(self, instant: Instant, agent: str) -> str:
        return rfc3339(instant, self._zone(agent))

    async def _which(self, body: Body) -> str:
        """The agent that is asked about; the one who talks to the person unless another is named."""
        agent = text_of(body, "agent", "") or self._speaker
        if await self._store.agents.get(agent) is None:
            raise NotFoundError(f"There is no agent called {agent!r}.", next_step="Run 'nudge agent list'.")
        return agent

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
            **(await self._attention(name) if row is not None and self._daemon.is_coach(agent) else {}),
        }

    async def _attention(self, agent: str) -> dict[str, Any]:
        state = await self._daemon.gate.state(agent, self._now)

        def until(moment: Moment | None) -> str | None:
            at = None if moment is None else as_instant(moment)
            return self._time(at, agent) if at is not None and at > self._now else None

        return {
            "bucket": ping_status_json(state.budget, state.claims, self._now),
            "quiet_until": until(state.quiet_until),
            "busy_until": until(state.busy_until),
            "left_alone": state.left_alone,
        }

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
        return await self._attention(agent)

    async def _reminder_state(self, agent: str, key: str) -> Answer | None:
        found = await self._store.reminders.get(key)
        if found is None:
            return None
        timer = await self._store.timers.get(agent, found.key)
        timed = Timed(found, None if timer is None else timer.due_at)
        return {**timed.public(self._zone(agent)), "id": found.id}


def _forecast(status: SpendingStatus, spent: list[int], now: Instant) -> dict[str, Any]:
    """At the pace of the last seven days: what is left at the end of the window, or when it is used up."""
    recent = spent[-_WEEK:]
    pace = sum(recent) // len(recent) if recent else 0
    left = max(0, status.window.limit - status.window.committed)
    days = max(0, (status.window_ends - now) // DAY)
    lasts = left // pace if pace else None
    return {
        "a_day": pace,
        "left": left,
        "left_at_end": max(0, left - pace * days),
        "lasts_days": lasts,
        "lasts": lasts is None or lasts >= days,
    }
