"""What a simulation takes along from the person's store: the agent, its reminders, and the size of its bucket.

History stays behind. A simulation begins at midnight with the person's wishes and a full bucket, so that it is the same
whatever happened today, and so that it can begin on any date.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from nudge.attention.store import AttentionRow
from nudge.errors import NotFoundError
from nudge.home.settings import Settings
from nudge.instants import Instant
from nudge.queue.agents import DEFAULT, Agent
from nudge.reminders.changes import timer_at
from nudge.reminders.reminder import Reminder, Status
from nudge.reminders.slots import first_slot
from nudge.simulation.home_copy import copied_database
from nudge.simulation.timeline import Plan
from nudge.stores.open import open_sqlite, open_store, sqlite_path
from nudge.stores.store import SqlStore


@dataclass(frozen=True, slots=True)
class Belongings:
    """`agent` is None where the home has no store yet; then it gets the default one."""

    agent: Agent | None = None
    reminders: tuple[Reminder, ...] = ()
    attention: AttentionRow | None = None


async def read_belongings(settings: Settings, agent: str, scratch: Path) -> Belongings:
    """Look into the person's store without touching it. A file is copied first; a server is only read."""
    url = settings.database_url
    if url.startswith("sqlite:"):
        copy = copied_database(Path(sqlite_path(url)), scratch)
        if copy is None:
            return Belongings()
        store = open_sqlite(str(copy))
    else:
        store = await open_store(url, connections=1, read_only=True)
    try:
        known = await store.agents.all()
        if not known:
            return Belongings()
        found = next((one for one in known if one.name == agent), None)
        if found is None:
            names = ", ".join(one.name for one in known)
            raise NotFoundError(f"There is no agent called {agent!r}.", next_step=f"Agents: {names}.")
        kept = [one for one in await store.reminders.everything(agent) if not one.status.ended]
        return Belongings(found, tuple(kept), await store.attention.get(agent))
    finally:
        await store.close()


async def carry_over(belongings: Belongings, store: SqlStore, plan: Plan) -> list[str]:
    """Put them into a fresh store as of the plan's start; what has to be said about it. The size of the bucket stays
    behind where the plan tries another one."""
    if belongings.agent is None:
        return []
    agent, start = belongings.agent, plan.start
    if agent.name != DEFAULT:  # it lives alone: the coach of every home would talk to the same person
        await store.agents.ensure(Agent(DEFAULT, DEFAULT, start))
        await store.agents.remove(DEFAULT, start)
    await store.agents.add(replace(agent, created_at=Instant(min(agent.created_at, start))))
    past = 0
    async with store.transaction():
        for kept in belongings.reminders:
            reminder = replace(kept, schedule=kept.schedule.begun_before(start))
            first = first_slot(reminder, start) if reminder.status is Status.ACTIVE else None
            if reminder.status is Status.ACTIVE and (first is None or first < start):
                past += 1
                continue
            await store.reminders.add(reminder)
            if first is not None:
                await store.timers.set(timer_at(reminder, first))
    changed = {key.rpartition(".")[2] for key in plan.changes}
    if belongings.attention is not None and not changed & {"capacity", "refill_minutes"}:
        budget = belongings.attention.budget
        await store.attention.create(agent.name, budget.capacity, budget.refill_minutes, start, plan.first)
    if not past:
        return []
    some = "1 reminder has" if past == 1 else f"{past} reminders have"
    return [f"{some} no time left on the first day, and {'is' if past == 1 else 'are'} left out."]
