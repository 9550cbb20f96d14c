"""What happened over time, for whoever draws it: attention by hour, money by day, a session step by step."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from nudge.attention.bucket import level_line
from nudge.attention.preamble import ping_status_json
from nudge.attention.reserve import PING
from nudge.daemon.answers import MOST, Answer, Answers, Body, number_of, text_of
from nudge.instants import DAY, MINUTE, Instant, Moment, as_instant, local_date, rfc3339, start_of_day
from nudge.model import Role
from nudge.progress.store import Said
from nudge.spending.budgets import SpendingStatus, budget_json, day_meter, every_day
from nudge.spending.burn import pace_of
from nudge.spending.call_log import LoggedCall
from nudge.spending.plan_windows import current, plan_of
from nudge.spending.store import UsageRow
from nudge.worker.session_rules import run_of
from nudge.worker.session_view import lines_of, public

if TYPE_CHECKING:
    from nudge.daemon.control import Endpoint

_WEEK = 7
_MONTH = 30
_CALLS = 30


class Charts(Answers):
    def endpoints(self) -> dict[str, Endpoint]:
        return {f"read/{one.__name__}": one for one in (self.attention, self.money, self.session)}

    async def attention(self, body: Body) -> Answer:
        """{"agent", "days"}: how the last days went by hour, the bucket now, and its level over those days."""
        agent = await self._agent_of(body)
        zone, days, now = self._zone(agent), max(1, number_of(body, "days", _WEEK, 31)), self._now
        first = local_date(now, zone) - timedelta(days=days - 1)
        since = start_of_day(first, zone)
        cells: list[dict[str, Any]] = []
        for start in range(since, now + 1, DAY):
            for one in await self._store.outcomes.hourly(agent, Instant(start), Instant(min(start + DAY, now + 1))):
                cell = {"result": one.result.value, "kind": one.kind, "count": one.count, "reason": one.reason}
                cells.append({"at": rfc3339(one.since, zone), **cell})
            await asyncio.sleep(0)  # timers that are due have their turn
        line = level_line(await self._store.attention.levels(agent, since), since, now)
        return {
            "agent": agent,
            "since": rfc3339(since, zone),
            "until": rfc3339(start_of_day(first + timedelta(days=days), zone), zone),
            "days": [(first + timedelta(days=number)).isoformat() for number in range(days)],
            "hours": cells,
            "levels": [{"at": rfc3339(at, zone), "level": level / PING} for at, level in line],
            **await self.restraint(agent),
        }

    async def restraint(self, agent: str) -> dict[str, Any]:
        """The bucket and what the person asked for, as they are now."""
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

    async def money(self, body: Body) -> Answer:
        """{"agent", "days"}: the meter, the window, each day, plan windows, what it was spent on, the last calls."""
        agent, store, now = await self._agent_of(body), self._store, self._now
        zone, days = self._zone(agent), max(1, number_of(body, "days", _MONTH, 366))
        budgets = self._daemon.spending.budgets
        status = await budgets.status(agent, now)
        totals = await store.usage.totals(agent, status.window_starts, status.window_ends)
        history = every_day(await budgets.history(agent, days, now), budgets.turn.day_of(now))
        windows = current((await plan_of(store, agent)).windows, now)
        return {
            **budget_json(status, budgets.plan.tier, totals, zone, await budgets.forecast(status, now)),
            "window_ends_at": rfc3339(status.window_ends, zone),
            "forecast": _forecast(status, [day.spent for day in history], now),
            "plan_windows": [{**one.public(zone, now), "title": one.title} for one in windows],
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
            "calls": await self._calls(agent, zone),
        }

    async def _calls(self, agent: str, zone: ZoneInfo) -> list[dict[str, Any]]:
        """The last calls, newest first: those through the gateway, with how they were cut and how long they waited, and
        those of the agents that live here."""
        through = await self._store.calls.recent(agent, limit=_CALLS)
        known = {call.id for call in through}
        own = [row for row in await self._store.usage.recent(agent=agent, limit=_CALLS) if row.attempt_id not in known]
        calls = [(call.at, _gateway_call(call, zone)) for call in through]
        for row in own:
            hold = await self._store.ledger.hold(row.attempt_id)
            calls.append((row.at, _own_call(row, zone, held=None if hold is None else hold.hold.amount)))
        calls.sort(key=lambda one: one[0], reverse=True)
        return [call for _, call in calls[:_CALLS]]

    async def session(self, body: Body) -> Answer:
        """{"id", "after": n}: one with what was said, done and paid from message `after` on (the last 500 unless told),
        and when each phase began."""
        from nudge.worker.loop import RunOptions
        from nudge.worker.sessions import Sessions

        session = await Sessions(self._store, self._daemon.clock, RunOptions()).find(text_of(body, "id"))
        agent, store, zone = session.agent, self._store, self._zone(session.agent)
        after = number_of(body, "after", max(0, session.said - MOST), 10_000_000)
        said = await store.sessions.said(agent, session.id, after=after, limit=MOST)
        family = await store.sessions.family(agent, session.id)
        question = await store.questions.of_session(agent, session.id)
        is_open = question is not None and question.answered_at is None and question.deadline > self._now
        begun = said[0].at if after and said else session.started_at
        paid = await store.usage.of_run(agent, run_of(session), begun, Instant(session.updated_at + MINUTE), MOST)
        phases = await store.sessions.phases(agent, session.id)
        return {
            **public(session),
            "lines": _lines(said, paid, zone),
            "said": session.said,
            "phases": _phases(phases, session.started_at, session.updated_at, zone),
            "subagents": [public(one) for one in family if one.id != session.id],
            "question": question.public() if is_open and question is not None else None,
        }


def _gateway_call(call: LoggedCall, zone: ZoneInfo) -> dict[str, Any]:
    return {
        "at": rfc3339(call.at, zone),
        "client": call.client,
        "purpose": "",
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


def _own_call(row: UsageRow, zone: ZoneInfo, *, held: int | None) -> dict[str, Any]:
    """One that did not come through the gateway: nobody cut it or let it wait. Its hold is forgotten after a while."""
    return {
        "at": rfc3339(row.at, zone),
        "client": "",
        "purpose": row.purpose,
        "model": row.model,
        "run": row.run,
        "asked": None,
        "granted": None,
        "clamped": False,
        "held": held,
        "waited_ms": 0,
        "lasted_ms": None,
        "status": None,
        "result": row.ended,
        "cost": row.cost,
    }


def _lines(said: Sequence[Said], paid: Sequence[UsageRow], zone: ZoneInfo) -> list[dict[str, Any]]:
    """What was said and done, with what each call cost below its answer. A call that came to nothing is told before the
    next answer, or at the end."""
    lines: list[dict[str, Any]] = []
    left = list(paid)
    for one in said:
        when = rfc3339(one.at, zone)
        lines += [
            {"number": one.number, "at": when, "kind": kind, "text": text} for kind, text in lines_of(one.message)
        ]
        if one.message.get("role") == Role.ASSISTANT:
            earlier = [row for row in left if row.at < one.at]
            own = earlier or [row for row in left if row.at == one.at][:1]
            lines += [_cost_line(row, zone) for row in own]
            left = left[len(own) :]
    return lines + [_cost_line(row, zone) for row in left]


def _cost_line(row: UsageRow, zone: ZoneInfo) -> dict[str, Any]:
    tokens = f"{row.use.prompt:,} tokens in, {row.use.output:,} out"
    return {
        "number": row.attempt_id,
        "at": rfc3339(row.at, zone),
        "kind": "cost",
        "text": f"{row.model}: {tokens}",
        "cost": row.cost,
    }


def _phases(
    begun: Sequence[tuple[Instant, str]], since: Instant, until: Instant, zone: ZoneInfo
) -> list[Mapping[str, Any]]:
    """Each phase from when to when. What was said before phases were noted has none."""
    if not begun:
        return []
    starts = [max(since, begun[0][0]) if len(begun) > 1 else since, *(at for at, _ in begun[1:])]
    ends = [*starts[1:], max(until, starts[-1])]
    return [
        {"phase": phase, "since": rfc3339(start, zone), "until": rfc3339(end, zone)}
        for (_, phase), start, end in zip(begun, starts, ends, strict=True)
    ]


def _forecast(status: SpendingStatus, spent: list[int], now: Instant) -> dict[str, Any]:
    pace = pace_of(spent, status.window.limit - status.window.committed, now, status.window_ends)
    return {
        "a_day": pace.a_day,
        "left": pace.left,
        "left_at_end": pace.left_at_end,
        "lasts_days": pace.lasts_days,
        "lasts": pace.lasts,
    }
