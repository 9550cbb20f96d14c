"""The simulated person at the other end of the channel: what reaches them, what they do, and what they answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo
from heapq import heappop, heappush

from nudge.clock import Clock
from nudge.instants import DAY, SECOND, Instant, local_date
from nudge.queue.channel import Capabilities, Channel, Inbound, Outbound, Receipt
from nudge.queue.outbox import Message
from nudge.simulation.person import PING, Act, Profile, answer_to, day_of, tasks_of
from nudge.simulation.timeline import Plan
from nudge.stores.store import SqlStore

REPLY = "reply"
WELCOME, IGNORED, CURSED = "welcome", "ignored", "cursed"
LOOK_AHEAD = DAY

Hear = Callable[[Inbound], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Arrived:
    """A message as it reached the person, with its row and the bucket behind it (None where there is none)."""

    at: Instant
    text: str
    row: Message
    level: int | None
    taken: str = ""
    """How they took it, where they had not asked for it: welcome, ignored or cursed."""


class SimulatedPerson(Channel):
    """A channel whose other side lives by a profile. Everything they do follows from the plan's seed."""

    name = "simulated"
    capabilities = Capabilities(buttons=True)

    def __init__(self, plan: Plan, profile: Profile, store: SqlStore, clock: Clock) -> None:
        self.arrived: list[Arrived] = []
        self.did: list[Act] = []
        self._plan = plan
        self._profile = profile
        self._store = store
        self._clock = clock
        self._coming: list[tuple[Instant, int, str]] = []
        self._number = 0
        self._stir = asyncio.Event()

    async def send(self, message: Outbound) -> Receipt:
        now = self._clock.now()
        row = await self._store.outbox.get(message.id)
        assert row is not None
        attention = await self._store.attention.get(row.agent)
        level = None if attention is None else attention.budget.level_at(now)
        answer = self._consider(row, message.text, now)
        self.arrived.append(Arrived(now, message.text, row, level, self._taken(answer)))
        return Receipt((f"m{len(self.arrived)}",))

    async def live(self, hear: Hear) -> None:
        """Do what the profile says, day after day, and answer. Ends only by being cancelled."""
        for act in (*self._days(day_of), *self._arrivals()):
            self._intend(act)
        while True:
            now = self._clock.now()
            due = self._coming[0][0] if self._coming else Instant(now + LOOK_AHEAD)
            if due > now:
                self._stir.clear()
                await self._clock.wait(self._stir, (due - now) / SECOND)
                continue
            at, _, text = heappop(self._coming)
            self.did.append(Act(at, text))
            await hear(Inbound(at, text))

    async def hand_over(self, give: Callable[[str], Awaitable[object]]) -> None:
        """Give a worker its tasks, day after day."""
        for act in sorted(self._days(tasks_of), key=lambda act: act.at):
            await self._clock.sleep(max(0, act.at - self._clock.now()) / SECOND)
            self.did.append(act)
            await give(act.text)
        await asyncio.Event().wait()

    def _days(self, acts_of: Callable[[Profile, date, tzinfo, int], list[Act]]) -> Iterator[Act]:
        """The day before the first one counts too: its evening may last past midnight."""
        plan = self._plan
        for number in range(-1, plan.days):
            zone = self._profile.zone_on(number + 1, plan.zone)
            for act in acts_of(self._profile, plan.first + timedelta(days=number), zone, plan.seed):
                if plan.start <= act.at < plan.end:
                    yield act

    def _arrivals(self) -> Iterator[Act]:
        """What they write when they have come to another zone: with the first thing they do on that day."""
        plan = self._plan
        for stay in self._profile.stays:
            day = plan.first + timedelta(days=stay.day - 1)
            acts = day_of(self._profile, day, self._profile.zone_on(stay.day, plan.zone), plan.seed)
            if stay.say and acts and plan.start <= acts[0].at < plan.end:
                yield Act(acts[0].at, stay.say)

    def _intend(self, act: Act) -> None:
        self._number += 1
        heappush(self._coming, (act.at, self._number, act.text))

    def _consider(self, row: Message, text: str, now: Instant) -> Act | None:
        """They may answer what came by itself, and what asks them something; an "okay" needs no answer."""
        if row.kind == REPLY and not text.rstrip().endswith("?"):
            return None
        number = (local_date(now, self._plan.zone) - self._plan.first).days + 1
        zone = self._profile.zone_on(number, self._plan.zone)
        answer = answer_to(self._profile, text, _topic(row), now, zone, self._plan.seed)
        if answer is not None and answer.at < self._plan.end:
            self._intend(answer)
            self._stir.set()
        return answer

    def _taken(self, answer: Act | None) -> str:
        if answer is None:
            return IGNORED
        return CURSED if answer.text in self._profile.replies.unwelcome else WELCOME


def _topic(row: Message) -> str:
    """What it is about, as a profile's moods name it."""
    if "bedtime" in f"{row.key} {row.topic}":
        return "bedtime"
    return row.key.removeprefix("briefing:") if row.key.startswith("briefing:") else row.topic or row.kind


def is_signal(act: Act) -> bool:
    return act.text == PING
