"""Reading what the coach knows at one moment: from the person's documents, from the store, and from what was said."""

from __future__ import annotations

from nudge.coach.briefings import Briefing, night_of, period_key
from nudge.coach.document_files import MEMORY
from nudge.coach.facts import CoachFacts, CoachState, DueReminder, Purpose, Turn
from nudge.coach.memory import parse_memory
from nudge.coach.person_documents import PersonDocuments
from nudge.coach.review import REVIEW
from nudge.coach.store import CoachStore
from nudge.instants import HOUR, Instant, local_date, start_of_day
from nudge.queue.records import Record, instant

LAST_BEDTIME: Record[Instant] = instant("bedtime.last")
"""When the last bedtime message went out."""
PROACTIVE = ("heartbeat", "briefing", "routine")
_RECENT = 24 * HOUR
"""What was said longer ago belongs to another conversation."""


class FactReader:
    """Reads the facts of one moment from the documents and the store."""

    def __init__(self, store: CoachStore, documents: PersonDocuments) -> None:
        self._store = store
        self._documents = documents

    async def gather(
        self,
        agent: str,
        purpose: Purpose,
        now: Instant,
        *,
        due: tuple[DueReminder, ...] = (),
        text: str = "",
        briefing: Briefing | None = None,
        task: str = "",
        degraded: bool = False,
    ) -> CoachFacts:
        targets = self._documents.targets(agent)
        review = await self._store.records.get(agent, REVIEW)
        return CoachFacts(
            now=now,
            purpose=purpose,
            targets=targets,
            goals=self._documents.goals(agent),
            memory=parse_memory(self._documents.shown(agent, MEMORY), local_date(now, targets.zone)),
            state=await self.state(agent, now),
            due_reminders=due,
            turns=await self.turns(agent, now),
            text=text,
            briefing=briefing,
            review=review,
            task=task,
            degraded=degraded,
        )

    async def state(self, agent: str, now: Instant) -> CoachState:
        targets = self._documents.targets(agent)
        row = await self._store.attention.get(agent)
        midnight = start_of_day(local_date(now, targets.zone), targets.zone)
        sent = await self._store.outbox.recent(agent, since=midnight, limit=200)
        morning = period_key(Briefing.MORNING, now, targets)
        review = await self._store.records.get(agent, REVIEW)
        last_bedtime = await self._store.records.get(agent, LAST_BEDTIME)
        return CoachState(
            last_user_message=row.last_conversation if row else None,
            last_activity=row.last_activity if row else None,
            proactive_today=sum(message.kind in PROACTIVE for message in sent),
            bedtime_nudges=row.bedtime.in_night(night_of(now, targets)) if row else 0,
            last_bedtime_nudge=last_bedtime,
            morning_brief_sent=await self._store.periods.taken(agent, Briefing.MORNING, morning) is not None,
            review_in_progress=review is not None and review.in_progress,
            quiet_until=row.requests.quiet_until if row else None,
            delayed_until=row.requests.delayed_until if row else None,
        )

    async def turns(self, agent: str, now: Instant, limit: int = 40) -> tuple[Turn, ...]:
        """What was said lately, oldest first."""
        said = await self._store.conversations.recent(agent, limit)
        return tuple(
            Turn(one.role, one.content, one.at, one.forwarded)
            for one in reversed(said)
            if one.role in ("user", "assistant") and now - one.at < _RECENT
        )
