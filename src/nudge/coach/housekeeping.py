"""What the coach does besides talking: keep its promises, tidy up, show that it is alive."""

from __future__ import annotations

import logging
from datetime import timedelta

from nudge.attention.preferences import forbids
from nudge.attention.requests import end_delay
from nudge.attention.rules import Candidate, Kind
from nudge.coach.briefing_run import BEDTIME, Briefings
from nudge.coach.briefings import bedtime_nudge
from nudge.coach.fact_reader import LAST_BEDTIME, FactReader
from nudge.coach.messages import Ping, Pings
from nudge.coach.notices import SYNC, notice_timer
from nudge.coach.outside import Outside
from nudge.coach.person_documents import PersonDocuments, documents_timer
from nudge.coach.person_reminders import BUTTONS
from nudge.coach.store import CoachStore
from nudge.errors import LostLeaseError, NudgeError, RetryableError, StoreError
from nudge.instants import DAY, HOUR, Instant, local_date, start_of_day
from nudge.queue.firing import Firing
from nudge.queue.outcomes import Result
from nudge.queue.records import Record, instant
from nudge.queue.timers import Timer

log = logging.getLogger("nudge.housekeeping")

ACTIVITY, RETENTION, COMMIT, PULL, ALIVE = (
    "activity-check",
    "retention",
    "commit",
    "pull",
    "alive",
)
KEEP_TALKS = 30 * DAY
KEEP_ACTIVITY = 7 * DAY
NO_SIGNAL = DAY
NO_SIGNAL_QUESTION = "Haven't seen your phone activity in a while — is the Shortcut still running?"
SIGNAL_ASKED: Record[Instant] = instant("signal.asked")
"""When the person was asked about the missing signal; gone as soon as there is one again."""
ALIVE_TRIES = 3
_RETENTION_HOUR = 4 * HOUR


def activity_timer(agent: str, now: Instant) -> Timer:
    """Set at every sign of life: it comes due only when there has been none for a day."""
    return Timer.at(agent, ACTIVITY, ACTIVITY, Instant(now + NO_SIGNAL))


def alive_timer(agent: str, now: Instant) -> Timer:
    """Tell whoever watches that a heartbeat worked."""
    return Timer.at(agent, ALIVE, ALIVE, now, lane=f"{agent}/alive")


class Housekeeping:
    """The handlers of the chores, and their timers."""

    def __init__(
        self,
        store: CoachStore,
        documents: PersonDocuments,
        facts: FactReader,
        briefings: Briefings,
        pings: Pings,
        outside: Outside,
    ) -> None:
        self._store = store
        self._documents = documents
        self._facts = facts
        self._briefings = briefings
        self._pings = pings
        self._history = outside.history
        self._sign_of_life = outside.sign_of_life

    async def ensure(self, agent: str, now: Instant) -> None:
        """Start the regular chores, unless they are running, and look at the documents. Git has a lane of its own: a
        remote that hangs must not keep a changed document from being noticed."""
        timers = self._store.timers
        await timers.set(documents_timer(agent, now))
        await timers.ensure(
            Timer.at(agent, RETENTION, RETENTION, self._next_retention(agent, now), lane=f"{agent}/chores")
        )
        if self._history is not None:
            await timers.ensure(Timer.at(agent, COMMIT, COMMIT, Instant(now + HOUR), lane=f"{agent}/git"))
            await timers.set(Timer.at(agent, PULL, PULL, now, lane=f"{agent}/git"))
        row = await self._store.attention.get(agent)
        if row is not None and row.last_activity is not None and not await self._asked_since(agent, row.last_activity):
            await timers.ensure(activity_timer(agent, row.last_activity))

    async def ask_again(self, firing: Firing) -> None:
        """The time that the person asked for is over. Around bedtime it is the next of the night's three messages that
        keeps the promise, so that two do not come at once."""
        agent, now = firing.timer.agent, firing.now
        words = str(firing.timer.payload.get("words") or "")
        text = f"You said “{words}” — time's up." if words else "Time's up."
        state = await self._facts.state(agent, now)
        tone = bedtime_nudge(now, self._documents.targets(agent), state).tone
        wanted = tone if tone and not forbids(self._documents.preferences(agent), BEDTIME) else None
        bedtime = await self._briefings.bedtime_words(firing, wanted) if wanted else ""
        kind = Kind.BEDTIME if bedtime else Kind.REMINDER
        candidate = Candidate(kind, asked_by_person=True, set_for_time=True)
        ping = Ping(f"{text} {bedtime or 'How does it look?'}", "reminder", candidate, "The delay was over.")
        async with firing.settle() as settlement:
            if not await self._pings.send(settlement, ping, now):
                return
            await end_delay(self._store, agent)
            if bedtime:
                await self._store.records.set(agent, LAST_BEDTIME, now)

    async def say_again(self, firing: Firing) -> None:
        """A nudge that the person put off: the time is theirs, so it comes then."""
        text = str(firing.timer.payload["text"])
        candidate = Candidate(Kind.REMINDER, asked_by_person=True, set_for_time=True)
        async with firing.settle() as settlement:
            ping = Ping(text, "heartbeat", candidate, "It was put off until now.", BUTTONS)
            await self._pings.send(settlement, ping, firing.now)

    async def no_activity(self, firing: Firing) -> None:
        """No sign of life for a day: ask once, then fall back to the time of day alone. A new sign of life, and it may
        ask again the next time there is none."""
        agent, now = firing.timer.agent, firing.now
        row = await self._store.attention.get(agent)
        last = row.last_activity if row is not None else None
        async with firing.settle() as settlement:
            if last is not None and 0 <= now - last < NO_SIGNAL:
                settlement.outcome(Result.SKIPPED, "A sign of life came in the meantime.")
                settlement.again(Instant(last + NO_SIGNAL))
                return
            if await self._asked_since(agent, last):
                settlement.outcome(Result.SKIPPED, "It has asked about the missing signal before.")
                return
            candidate = Candidate(Kind.NOTICE, asked_by_person=True, topic="activity-signal")
            ping = Ping(NO_SIGNAL_QUESTION, "notice", candidate, "There was no sign of life for a day.")
            if await self._pings.send(settlement, ping, now):
                await self._store.records.set(agent, SIGNAL_ASKED, now)

    async def tidy(self, firing: Firing) -> None:
        """Old talk goes to the archive, old signs of life go."""
        agent, now = firing.timer.agent, firing.now
        async with firing.settle() as settlement:
            await self._store.conversations.archive(agent, Instant(now - KEEP_TALKS))
            await self._store.activity.prune(agent, Instant(now - KEEP_ACTIVITY))
            settlement.again(self._next_retention(agent, now))

    async def pull(self, firing: Firing) -> None:
        """At start-up: bring in what others changed, if nothing is uncommitted. Being offline is no news; a conflict
        is, since only the person can resolve it."""
        agent, now = firing.timer.agent, firing.now
        said, conflict = None, ""
        try:
            said = await self._history.pull_if_clean(agent) if self._history else None
        except RetryableError as error:
            log.warning("the documents of %s were not pulled: %s", agent, error)
        except NudgeError as error:
            log.warning("the documents of %s were not pulled: %s", agent, error)
            conflict = f"I could not sync your documents: {error}"
        async with firing.settle() as settlement:
            if said:
                settlement.feed("pulled", said)
                await self._store.timers.set(documents_timer(agent, now))
            if conflict:
                await self._store.timers.set(notice_timer(agent, SYNC, conflict, now))

    async def commit(self, firing: Firing) -> None:
        """Keep the present texts in their repository. It never stands in the way of anything."""
        agent, now = firing.timer.agent, firing.now
        said = None
        try:
            said = await self._history.commit(agent) if self._history else None
        except (StoreError, LostLeaseError):
            raise
        except NudgeError as error:
            log.warning("the documents of %s were not committed: %s", agent, error)
        async with firing.settle() as settlement:
            if said:
                settlement.feed("committed", said)
            settlement.again(Instant(now + HOUR))

    async def report_alive(self, firing: Firing) -> None:
        """The dead-man's switch, after every heartbeat that worked: an agent that sleeps on its budget is alive too,
        one whose heartbeats fail is not. A network that hiccups is given two more tries; then it is left to the next
        heartbeat."""
        try:
            if self._sign_of_life is not None:
                await self._sign_of_life.report()
        except RetryableError as error:
            if firing.timer.attempts + 1 < ALIVE_TRIES:
                raise
            log.warning("nobody took the sign of life: %s", error)
            async with firing.settle() as settlement:
                settlement.outcome(Result.FAILED, str(error))
            return
        async with firing.settle():
            pass

    async def _asked_since(self, agent: str, last: Instant | None) -> bool:
        asked = await self._store.records.get(agent, SIGNAL_ASKED)
        return asked is not None and (last is None or asked >= last)

    def _next_retention(self, agent: str, now: Instant) -> Instant:
        zone = self._documents.targets(agent).zone
        day = local_date(now, zone)
        at = Instant(start_of_day(day, zone) + _RETENTION_HOUR)
        return at if at > now else Instant(start_of_day(day + timedelta(days=1), zone) + _RETENTION_HOUR)
