"""A shifted rhythm: somebody who is up at other hours than their targets say is asked once whether to change them.

A look a day. The question comes at an hour at which they are up and messages were welcome, and it changes nothing
before they say yes. The same rhythm is not proposed twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time, timedelta

from nudge.attention.rhythm import LOOK_BACK, SHIFTED, SeenRhythm, apart, seen_rhythm
from nudge.attention.rules import Candidate, Kind
from nudge.attention.welcome import Place
from nudge.coach.actions import UpdateGoals
from nudge.coach.messages import Ping, Pings
from nudge.coach.own_words import QUESTION, OpenQuestion, as_asked, question
from nudge.coach.person_documents import PersonDocuments
from nudge.coach.store import CoachStore
from nudge.coach.targets import SECTION, Targets
from nudge.instants import DAY, HOUR, SECOND, Instant, from_local, to_datetime
from nudge.queue.firing import Firing, Settlement
from nudge.queue.records import Record, whole
from nudge.queue.timers import Timer

KIND = "rhythm"
REASON = "You were up at other hours than your targets say."


@dataclass(frozen=True, slots=True)
class Proposed:
    """The rhythm that was proposed last, in full hours."""

    wake: int
    bedtime: int

    def covers(self, seen: SeenRhythm) -> bool:
        return apart(self.wake, seen.wake) < SHIFTED and apart(self.bedtime, seen.bedtime) < SHIFTED


PROPOSED: Record[Proposed] = Record(
    "rhythm.proposed",
    lambda data: Proposed(whole(data["wake"]), whole(data["bedtime"])),
    lambda one: {"wake": one.wake, "bedtime": one.bedtime},
)


class RhythmWatch:
    """The handler of the daily look, and of the question that may follow from it."""

    def __init__(self, store: CoachStore, documents: PersonDocuments, pings: Pings) -> None:
        self._store = store
        self._documents = documents
        self._pings = pings

    async def ensure(self, agent: str, now: Instant) -> None:
        await self._store.timers.ensure(Timer.at(agent, KIND, KIND, Instant(now + LOOK_BACK), lane=f"{agent}/notices"))

    async def look(self, firing: Firing) -> None:
        agent, now = firing.timer.agent, firing.now
        targets = self._documents.targets(agent)
        to_ask = firing.timer.payload.get("ask")
        async with firing.settle() as settlement:
            if to_ask:
                await self._ask(settlement, PROPOSED.read(to_ask), targets)
            elif (seen := await self._shift(agent, now, targets)) is not None:
                at = await self._good_hour(agent, seen, now, targets)
                settlement.again(at, {"ask": PROPOSED.write(Proposed(seen.wake, seen.bedtime))})
            if settlement.following is None:
                settlement.again(Instant(now + DAY), {})

    async def _shift(self, agent: str, now: Instant, targets: Targets) -> SeenRhythm | None:
        """The rhythm to ask about, if there is one."""
        signs = await self._store.activity.since(agent, Instant(now - LOOK_BACK))
        seen = seen_rhythm(signs, now, targets.zone)
        if seen is None or not seen.shifted_from(_hours(targets.wake_target), _hours(targets.bedtime_target)):
            return None
        before = await self._store.records.get(agent, PROPOSED)
        return None if before is not None and before.covers(seen) else seen

    async def _good_hour(self, agent: str, seen: SeenRhythm, now: Instant, targets: Targets) -> Instant:
        """The hour of the coming day at which they are up, may be asked, and messages are most welcome."""
        learned = await self._store.welcomes.learned(agent)
        start = to_datetime(now, targets.zone).replace(minute=0, second=0, microsecond=0, tzinfo=None)
        coming = [from_local(start + timedelta(hours=hours), targets.zone) for hours in range(1, 25)]
        up = [at for at in coming if Place.of(at, targets.zone).hour in seen.awake and not targets.is_quiet(at)]
        return max(
            up or [Instant(now + HOUR)],
            key=lambda at: (learned.estimate(KIND, Place.of(at, targets.zone), now).share, -at),
        )

    async def _ask(self, settlement: Settlement, proposed: Proposed, targets: Targets) -> None:
        agent, now = settlement.timer.agent, settlement.now
        action = UpdateGoals(SECTION, lines_of(proposed))
        number = now // SECOND
        asked = OpenQuestion(number, now, (as_asked(action, now, targets),))
        text = (
            f"I see you're usually up from about {proposed.wake:02}:00 to {proposed.bedtime:02}:00, and my times are "
            f"{targets.wake_target:%H:%M} to {targets.bedtime_target:%H:%M}. {question([action], now, targets)}"
        )
        candidate = Candidate(Kind.NOTICE, asked_by_person=True, topic=KIND)
        if await self._pings.send(settlement, Ping(text, "notice", candidate, REASON, asked.buttons), now):
            await self._store.records.set(agent, QUESTION, asked)
            await self._store.records.set(agent, PROPOSED, proposed)


def lines_of(proposed: Proposed) -> tuple[str, ...]:
    """The targets that fit a rhythm. Quiet hours begin an hour after bedtime and end with waking up."""
    wake, bedtime = proposed.wake, proposed.bedtime
    return (
        f"wake_target: {wake:02}:00",
        f"bedtime_target: {bedtime:02}:00",
        f"quiet_hours: {(bedtime + 1) % 24:02}:00-{wake:02}:00",
    )


def _hours(clock: time) -> float:
    return clock.hour + clock.minute / 60
