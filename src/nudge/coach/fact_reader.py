"""Reading what the coach knows at one moment: from the store, the person's documents and their reminders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo

from nudge.attention.forward_schedule import UpcomingTask
from nudge.attention.gate import SELF_QUIET
from nudge.coach.briefings import Briefing, night_of, period_key
from nudge.coach.documents import MEMORY, DocumentTexts
from nudge.coach.facts import PRESSED, CoachFacts, CoachState, DueReminder, Purpose, Surroundings, Told, Turn
from nudge.coach.intents.reading import ANSWER_WITHIN, Known, Talk
from nudge.coach.intents.reading import TALK as TALK_STATE
from nudge.coach.memory import Memory, parse_memory
from nudge.coach.person_documents import PersonDocuments
from nudge.coach.review import COUNT, REVIEW, Review
from nudge.coach.review import Status as ReviewStatus
from nudge.coach.store import CoachStore, Saying
from nudge.coach.targets import Targets
from nudge.instants import DAY, HOUR, Instant, local_date, start_of_day, to_datetime, whole_seconds
from nudge.queue.records import instant
from nudge.reminders.reminder import Status
from nudge.reminders.service import Reminders
from nudge.reminders.tables import ListedReminder
from nudge.reminders.text import rhythm
from nudge.text import short

PROACTIVE = ("heartbeat", "briefing", "routine")
LOOK_BACK = 60
"""So many sayings are read; how many of them a model is shown is a matter of the prompt."""
TALK = DAY
"""Words older than this are another conversation."""
LEAST = 8
"""A model sees so many sayings, however old: an answer to a nudge of the day before yesterday carries the nudge."""
OLDEST = 30 * DAY
MOST_REMINDERS = 12
ANSWERED_WITHIN = 2 * HOUR
"""What the person writes this soon after a message counts as an answer to it."""

_MOST_NAMED = 200

LAST_BEDTIME = instant("bedtime.last")
"""When the last bedtime message went out."""


class FactReader:
    """Each purpose reads what it needs and no more."""

    def __init__(self, store: CoachStore, documents: PersonDocuments, reminders: Reminders) -> None:
        self._store = store
        self._documents = documents
        self._reminders = reminders

    async def for_message(
        self, agent: str, text: str, number: int, now: Instant, *, forwarded: bool, for_model: bool = False
    ) -> CoachFacts:
        """For the answer to a message: the talk before it, as later messages wait for their own turn. A model is told
        of the surroundings too."""
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
            surroundings=await self._surroundings(agent, before, now) if for_model else Surroundings(),
            text=text,
            forwarded=forwarded,
        )

    async def for_heartbeat(
        self, agent: str, now: Instant, *, due: tuple[DueReminder, ...] = (), task: str = ""
    ) -> CoachFacts:
        """For a judgment; `task` is what a background run was set for."""
        return await self._proactive(agent, Purpose.HEARTBEAT, now, due=due, task=task)

    async def for_briefing(self, agent: str, kind: Briefing, now: Instant) -> CoachFacts:
        return await self._proactive(agent, Purpose.BRIEFING, now, due=await self.due(agent, now), briefing=kind)

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
        known = [Known(one.id, one.name or one.message, one.next_at, rhythm(one.schedule_words)) for one in listed]
        known += [Known(one.id, one.text) for one in due if one.id not in here]
        return replace(
            kept,
            subject=came.id if came is not None and newer else kept.subject,
            came=came.id if came is not None and (newer or kept.subject == came.id) else "",
            reminders=tuple(sorted(known, key=lambda one: one.next_at or now)),
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

    async def told_today(self, agent: str, now: Instant) -> tuple[Told, ...]:
        """What the coach sent unasked today, reminders included, oldest first, and what the person did about each."""
        zone = self.targets(agent).zone
        midnight = start_of_day(local_date(now, zone), zone)
        said = [one for one in reversed(await self._store.conversations.recent(agent, LOOK_BACK)) if one.at >= midnight]
        return told(tuple(_turn(one) for one in said), now)

    async def _surroundings(self, agent: str, before: Sequence[Saying], now: Instant) -> Surroundings:
        targets = self.targets(agent)
        row = await self._store.attention.get(agent)
        restraint = []
        if row is not None:
            asked = row.requests
            for what, until in (
                ("quiet", asked.quiet_until),
                ("busy", asked.busy_until),
                ("check back later", asked.delayed_until),
            ):
                if until is not None and until > now:
                    restraint.append(f"{what} until {to_datetime(until, targets.zone):%A %H:%M}")
            if asked.left_alone:
                restraint.append("wanted to be left alone until this message")
        if targets.is_quiet(now):
            restraint.append("quiet hours now")
        listed = [
            one
            for one in await self._reminders.list(agent, limit=LOOK_BACK)
            if one.status == Status.ACTIVE and one.next_at is not None
        ]
        shown = [_reminder_line(one, targets.zone) for one in listed[:MOST_REMINDERS]]
        more = ["… and more"] if len(listed) > MOST_REMINDERS else []
        review = await self.review(agent)
        return Surroundings(
            earlier=_earlier(before, now),
            reminders=(*shown, *more),
            restraint=tuple(restraint),
            review=_review_line(review) if review is not None and review.in_progress else "",
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
            told_today=await self.told_today(agent, now),
            turns=_turns(await self._store.conversations.recent(agent, LOOK_BACK), now),
            briefing=briefing,
            task=task,
        )


def _turns(newest_first: Sequence[Saying], now: Instant) -> tuple[Turn, ...]:
    return tuple(_turn(one) for one in reversed(newest_first) if one.role in _SPEAKERS and now - one.at < TALK)


def _earlier(newest_first: Sequence[Saying], now: Instant) -> tuple[Turn, ...]:
    """The sayings before the talk that a model sees too, so that there are at least eight. They begin at every eighth
    row of the conversation: what a model reads first then stays the same from message to message."""
    spoken = [one for one in newest_first if one.role in _SPEAKERS and now - one.at < OLDEST]
    talk = sum(now - one.at < TALK for one in spoken)
    if talk >= LEAST or not spoken:
        return ()
    oldest = spoken[: max(talk, LEAST)][-1].id
    return tuple(_turn(one) for one in reversed(spoken[talk:]) if one.id >= oldest - oldest % LEAST)


def _turn(one: Saying) -> Turn:
    return Turn(one.role, one.content, one.at, one.forwarded, one.kind, one.id)


_SPEAKERS = ("user", "assistant")


def told(turns: Sequence[Turn], now: Instant) -> tuple[Told, ...]:
    """The unasked messages among these turns, each with what the person did next: the button they pressed under it,
    how soon they wrote, or nothing."""
    found = []
    for place, turn in enumerate(turns):
        if not turn.unasked:
            continue
        after = [one for one in turns[place + 1 :] if one.role == "user"]
        pressed = next((one for one in after if one.kind == PRESSED and one.text.endswith(short(turn.text))), None)
        wrote = next((one for one in after if one.kind != PRESSED and one.at - turn.at <= ANSWERED_WITHIN), None)
        if pressed is not None:
            reaction = f"they pressed {pressed.text.partition(':')[0]}"
        elif wrote is not None:
            reaction = f"they answered: {short(wrote.text, 80)}"
        else:
            reaction = "no answer"
        found.append(Told(turn.at, turn.kind, turn.text, reaction))
    return tuple(found)


def _reminder_line(one: ListedReminder, zone: tzinfo) -> str:
    assert one.next_at is not None
    repeats = "" if one.schedule_words in ("", "once") else f", {one.schedule_words}"
    return (
        f"{short(one.name or one.message, 80)} ({to_datetime(one.next_at, zone):%a %Y-%m-%d %H:%M}{repeats}) [{one.id}]"
    )


def _review_line(review: Review) -> str:
    paused = ", paused" if review.status is ReviewStatus.PAUSED else ""
    return f"question {review.index + 1} of {COUNT}{paused}: “{review.question().text}”"
