"""Reading what the coach knows at one moment: from the store, the person's documents and their reminders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nudge.attention.forward_schedule import UpcomingTask
from nudge.attention.gate import SELF_QUIET
from nudge.coach.briefings import Briefing, night_of, period_key
from nudge.coach.documents import MEMORY, DocumentTexts
from nudge.coach.facts import CoachFacts, CoachState, DueReminder, Purpose, Turn
from nudge.coach.goals import QUARTER, TODAY, WEEK
from nudge.coach.intents import ANSWER_WITHIN, DONE, Known, Talk
from nudge.coach.intents import TALK as TALK_STATE
from nudge.coach.memory import Memory, parse_memory
from nudge.coach.person_documents import PersonDocuments
from nudge.coach.review import REVIEW, Review
from nudge.coach.store import CoachStore, Saying
from nudge.coach.targets import Targets
from nudge.instants import DAY, Instant, local_date, start_of_day, whole_seconds
from nudge.queue.records import instant
from nudge.reminders.service import Reminders

PROACTIVE = ("heartbeat", "briefing", "routine")
LOOK_BACK = 60
"""So many sayings are read; how many of them a model is shown is a matter of the prompt."""
TALK = DAY
"""Words older than this are another conversation."""

_MOST_NAMED = 200

LAST_BEDTIME = instant("bedtime.last")
"""When the last bedtime message went out."""


class FactReader:
    """Each purpose reads what it needs and no more."""

    def __init__(self, store: CoachStore, documents: PersonDocuments, reminders: Reminders) -> None:
        self._store = store
        self._documents = documents
        self._reminders = reminders

    async def for_message(self, agent: str, text: str, number: int, now: Instant, *, forwarded: bool) -> CoachFacts:
        """For the answer to a message: the talk before it, as later messages wait for their own turn."""
        before = [
            one
            for one in await self._store.conversations.recent(agent, LOOK_BACK)
            if one.id < number or one.role == "assistant"
        ]
        due = await self.due(agent, now)
        return CoachFacts(
            now=whole_seconds(now),
            purpose=Purpose.CONVERSATION,
            targets=self._documents.targets(agent),
            goals=self._documents.goals(agent),
            memory=self._memory(agent, now),
            due_reminders=due,
            turns=_turns(before, now),
            talk=await self.talk(agent, now, due),
            text=text,
            forwarded=forwarded,
        )

    async def for_heartbeat(
        self, agent: str, now: Instant, *, due: tuple[DueReminder, ...] = (), task: str = ""
    ) -> CoachFacts:
        """For a judgment; `task` is what a background run was set for."""
        return await self._proactive(agent, Purpose.HEARTBEAT, now, due=due, task=task)

    async def for_briefing(self, agent: str, kind: Briefing, now: Instant) -> CoachFacts:
        return await self._proactive(agent, Purpose.BRIEFING, now, briefing=kind)

    def texts(self, agent: str) -> DocumentTexts:
        """The person's texts, for a prompt."""
        return self._documents.texts(agent)

    def targets(self, agent: str) -> Targets:
        """The Schedule Targets in force."""
        return self._documents.targets(agent)

    async def due(self, agent: str, now: Instant) -> tuple[DueReminder, ...]:
        """The reminders that wait to reach the person, or reached them and have no answer yet."""
        found = await self._reminders.open_for_person(agent, now)
        return tuple(DueReminder(one.reminder.id, one.reminder.message, one.due_at) for one in found)

    async def upcoming(self, agent: str, now: Instant) -> Sequence[UpcomingTask]:
        """What the forward schedule shows."""
        return await self._reminders.upcoming(agent, now)

    async def tasks(self, agent: str, refs: Sequence[str], now: Instant) -> dict[str, str]:
        """The whole texts of tasks in the agent's own schedule, by what stands in its lines. Nothing else can be read
        by it: no file is opened."""
        known = {task.ref: task.body for task in await self.upcoming(agent, now)}
        return {ref: known[ref] for ref in refs if ref in known}

    async def talk(self, agent: str, now: Instant, due: tuple[DueReminder, ...]) -> Talk:
        """Where the conversation stands, and what its words may be about."""
        kept = await self._store.records.get(agent, TALK_STATE) or Talk()
        if now - kept.at > ANSWER_WITHIN:
            kept = Talk(kept.subject, kept.subject_at)
        came = max((one for one in due if one.due_at <= now), key=lambda one: one.due_at, default=None)
        newer = came is not None and came.due_at > kept.subject_at
        listed = [one for one in await self._reminders.list(agent, limit=_MOST_NAMED) if one.next_at is not None]
        here = {one.id for one in listed}
        goals = self._documents.goals(agent)
        lists = ((TODAY, goals.today), (WEEK, goals.week), (QUARTER, goals.quarter))
        known = [Known(one.id, one.name or one.message, one.next_at, _rhythm(one.schedule_words)) for one in listed]
        known += [Known(one.id, one.text) for one in due if one.id not in here]
        return replace(
            kept,
            subject=came.id if came is not None and newer else kept.subject,
            came=came.id if came is not None and (newer or kept.subject == came.id) else "",
            reminders=tuple(sorted(known, key=lambda one: one.next_at or now)),
            tasks=tuple(
                Known(section, one.text, rhythm=DONE if one.done else "") for section, some in lists for one in some
            ),
        )

    async def review(self, agent: str) -> Review | None:
        return await self._store.records.get(agent, REVIEW)

    async def state(self, agent: str, now: Instant) -> CoachState:
        targets = self._documents.targets(agent)
        row = await self._store.attention.get(agent)
        midnight = start_of_day(local_date(now, targets.zone), targets.zone)
        sent = await self._store.outbox.recent(agent, since=midnight, limit=200)
        morning = period_key(Briefing.MORNING, now, targets)
        review = await self.review(agent)
        own_silence = await self._store.records.get(agent, SELF_QUIET)
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
            self_quiet_until=own_silence,
            delayed_until=row.requests.delayed_until if row else None,
        )

    def _memory(self, agent: str, now: Instant) -> Memory:
        return parse_memory(self._documents.shown(agent, MEMORY), local_date(now, self.targets(agent).zone))

    async def _proactive(
        self,
        agent: str,
        purpose: Purpose,
        now: Instant,
        *,
        due: tuple[DueReminder, ...] = (),
        briefing: Briefing | None = None,
        task: str = "",
    ) -> CoachFacts:
        return CoachFacts(
            now=now,
            purpose=purpose,
            targets=self._documents.targets(agent),
            goals=self._documents.goals(agent),
            memory=self._memory(agent, now),
            state=await self.state(agent, now),
            due_reminders=due,
            turns=_turns(await self._store.conversations.recent(agent, LOOK_BACK), now),
            briefing=briefing,
            task=task,
        )


def _rhythm(words: str) -> str:
    """ "weekdays at 15:00", without the name of its kind."""
    return words.removeprefix("RRULE(").removesuffix(")") if words.startswith("RRULE(") else words


def _turns(newest_first: Sequence[Saying], now: Instant) -> tuple[Turn, ...]:
    return tuple(
        Turn(one.role, one.content, one.at, one.forwarded)
        for one in reversed(newest_first)
        if one.role in ("user", "assistant") and now - one.at < TALK
    )
