"""What the coach does besides talking: notice changed documents, keep its promises, tidy up, show that it is alive."""

from __future__ import annotations

import logging
from datetime import timedelta

from nudge.app.coach.briefing import Briefings
from nudge.app.coach.desk import DELAYED_UNTIL, Desk
from nudge.app.coach.speaking import Speaking, Words
from nudge.app.dispatch import Firing
from nudge.app.ports.outside import SignOfLife, TextHistory
from nudge.app.ports.store import Store
from nudge.core.attention import Candidate, Kind
from nudge.core.instants import DAY, HOUR, MINUTE, Instant, local_date, start_of_day
from nudge.core.outcome import Result
from nudge.core.timer import Timer
from nudge.errors import NudgeError

log = logging.getLogger("nudge.housekeeping")

DOCUMENTS, ASK_AGAIN, ACTIVITY, RETENTION, COMMIT, ALIVE = (
    "documents",
    "ask-again",
    "activity-check",
    "retention",
    "commit",
    "alive",
)
KEEP_TALKS = 30 * DAY
KEEP_ACTIVITY = 7 * DAY
NO_SIGNAL = DAY
NO_SIGNAL_QUESTION = "Haven't seen your phone activity in a while — is the Shortcut still running?"
SIGNAL_ASKED = "activity.asked"
_RETENTION_HOUR = 4 * HOUR


def ask_again_timer(agent: str, at: Instant, words: str = "") -> Timer:
    """ "30 more min": look again then."""
    return Timer.at(agent, ASK_AGAIN, ASK_AGAIN, at, payload={"words": words})


def activity_timer(agent: str, now: Instant) -> Timer:
    """Set at every sign of life: it comes due only when there has been none for a day."""
    return Timer.at(agent, ACTIVITY, ACTIVITY, Instant(now + NO_SIGNAL))


class Housekeeping:
    def __init__(
        self,
        store: Store,
        desk: Desk,
        briefings: Briefings,
        speaking: Speaking,
        *,
        history: TextHistory | None = None,
        sign_of_life: SignOfLife | None = None,
        alive_every: int = 45 * MINUTE,
    ) -> None:
        self._store = store
        self._desk = desk
        self._briefings = briefings
        self._speaking = speaking
        self._history = history
        self._sign_of_life = sign_of_life
        self._alive_every = alive_every

    async def ensure(self, agent: str, now: Instant) -> None:
        """Start the regular chores, unless they are running."""
        timers = self._store.timers
        await timers.ensure(
            Timer.at(agent, RETENTION, RETENTION, self._next_retention(agent, now), lane=f"{agent}/chores")
        )
        if self._history is not None:
            await timers.ensure(Timer.at(agent, COMMIT, COMMIT, Instant(now + HOUR), lane=f"{agent}/chores"))
        if self._sign_of_life is not None:
            await timers.ensure(Timer.at(agent, ALIVE, ALIVE, now, lane=f"{agent}/alive"))

    async def documents_changed(self, firing: Firing) -> None:
        """A document was written by somebody: check the targets, reschedule, and say once if they cannot be read."""
        agent, now = firing.timer.agent, firing.now
        async with firing.settle() as settlement:
            changed, notice = await self._desk.check_targets(agent)
            await self._briefings.schedule(agent, now)
            if changed:
                settlement.feed("rescheduled", "The schedule targets in GOALS.md are in force.")
            if notice:
                words = Words(notice, "notice", Candidate(Kind.NOTICE, asked_by_person=True, set_for_time=True))
                await self._speaking.say(settlement, words, now)

    async def ask_again(self, firing: Firing) -> None:
        """The time that the person asked for is over."""
        agent, now = firing.timer.agent, firing.now
        words = str(firing.timer.payload.get("words") or "")
        text = f"You said “{words}” — time's up. How does it look?" if words else "Time's up. How does it look?"
        async with firing.settle() as settlement:
            candidate = Candidate(Kind.REMINDER, asked_by_person=True, set_for_time=True)
            if await self._speaking.say(settlement, Words(text, "reminder", candidate, "The delay was over."), now):
                await self._store.notes.delete(agent, DELAYED_UNTIL)

    async def no_activity(self, firing: Firing) -> None:
        """No sign of life for a day: ask once, then fall back to the time of day alone."""
        agent, now = firing.timer.agent, firing.now
        async with firing.settle() as settlement:
            if await self._store.notes.get(agent, SIGNAL_ASKED):
                settlement.outcome(Result.SKIPPED, "It has asked about the missing signal before.")
                return
            candidate = Candidate(Kind.NOTICE, asked_by_person=True, topic="activity-signal")
            if await self._speaking.say(settlement, Words(NO_SIGNAL_QUESTION, "notice", candidate), now):
                await self._store.notes.set(agent, SIGNAL_ASKED, int(now))

    async def tidy(self, firing: Firing) -> None:
        """Old talk goes to the archive, old signs of life go."""
        agent, now = firing.timer.agent, firing.now
        async with firing.settle() as settlement:
            await self._store.conversations.archive(agent, Instant(now - KEEP_TALKS))
            await self._store.activity.prune(agent, Instant(now - KEEP_ACTIVITY))
            settlement.again(self._next_retention(agent, now))

    async def commit(self, firing: Firing) -> None:
        """Keep the present texts in their repository. It never stands in the way of anything."""
        agent, now = firing.timer.agent, firing.now
        said = None
        try:
            said = await self._history.commit(agent) if self._history else None
        except NudgeError as error:
            log.warning("the documents of %s were not committed: %s", agent, error)
        async with firing.settle() as settlement:
            if said:
                settlement.feed("committed", said)
            settlement.again(Instant(now + HOUR))

    async def report_alive(self, firing: Firing) -> None:
        """The dead-man's switch. An agent that sleeps on its budget is alive too."""
        if self._sign_of_life is not None:
            try:
                await self._sign_of_life.report()
            except NudgeError as error:
                log.warning("nobody took the sign of life: %s", error)
        async with firing.settle() as settlement:
            settlement.again(Instant(firing.now + self._alive_every))

    def _next_retention(self, agent: str, now: Instant) -> Instant:
        zone = self._desk.targets(agent).zone
        day = local_date(now, zone)
        at = Instant(start_of_day(day, zone) + _RETENTION_HOUR)
        return at if at > now else Instant(start_of_day(day + timedelta(days=1), zone) + _RETENTION_HOUR)
