"""The half of the coach that acts by itself: heartbeat, briefings and chores, ready for the dispatcher."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nudge.attention.gate import Gate
from nudge.attention.requests import ASK_AGAIN
from nudge.coach import heartbeat as beats
from nudge.coach.answering import Answering
from nudge.coach.briefing_run import KIND as BRIEFING
from nudge.coach.briefing_run import Briefings, OpenReview
from nudge.coach.heartbeat import DecisionLog, DueOf, Heartbeat
from nudge.coach.housekeeping import ACTIVITY, ALIVE, COMMIT, DOCUMENTS, PULL, RETENTION, Housekeeping, alive_timer
from nudge.coach.housekeeping import documents_timer as documents_timer
from nudge.coach.notices import KIND as NOTICE
from nudge.coach.notices import Notices, failure_notice
from nudge.coach.nudges import SAY_AGAIN
from nudge.coach.outside import SignOfLife, TextHistory
from nudge.coach.person_documents import Desk
from nudge.coach.store import CoachStore
from nudge.coach.unasked import Speaking
from nudge.defaults import HEARTBEAT, LONGEST_SILENCE
from nudge.instants import Instant
from nudge.queue.delivery import Delivery
from nudge.queue.dispatch import Handler


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How often the coach considers whether to speak, and how rarely it asks a model while nothing changes."""

    every: int = HEARTBEAT
    change_gate: bool = True
    longest_silence: int = LONGEST_SILENCE


class Proactive:
    """Everything that happens without a word from the person. `on_failure` is for the dispatcher."""

    def __init__(
        self,
        store: CoachStore,
        desk: Desk,
        gate: Gate,
        delivery: Delivery,
        answering: Answering,
        due_of: DueOf,
        open_review: OpenReview,
        *,
        rhythm: Rhythm | None = None,
        history: TextHistory | None = None,
        sign_of_life: SignOfLife | None = None,
        decision_log: DecisionLog = lambda line: None,
        secrets: Iterable[str] = (),
    ) -> None:
        rhythm, secrets = rhythm or Rhythm(), tuple(secrets)
        self._store = store
        self._desk = desk
        self._watched = sign_of_life is not None
        self.speaking = Speaking(gate, delivery, desk, secrets)
        self.on_failure = failure_notice(store, secrets)
        self.heartbeat = Heartbeat(
            store,
            desk,
            answering,
            self.speaking,
            due_of,
            every=rhythm.every,
            change_gate=rhythm.change_gate,
            longest_silence=rhythm.longest_silence,
            decision_log=decision_log,
            after_beat=self._show_life,
            on_misconfigured=self.on_failure,
        )
        self.briefings = Briefings(store, desk, answering, self.speaking, open_review)
        self.chores = Housekeeping(
            store, desk, self.briefings, self.speaking, history=history, sign_of_life=sign_of_life
        )
        self.notices = Notices(desk, self.speaking)

    def handlers(self) -> Mapping[str, Handler]:
        return {
            beats.KIND: self.heartbeat.beat,
            BRIEFING: self.briefings.tell,
            NOTICE: self.notices.tell,
            DOCUMENTS: self.chores.documents_changed,
            ASK_AGAIN: self.chores.ask_again,
            SAY_AGAIN: self.chores.say_again,
            ACTIVITY: self.chores.no_activity,
            RETENTION: self.chores.tidy,
            COMMIT: self.chores.commit,
            PULL: self.chores.pull,
            ALIVE: self.chores.report_alive,
        }

    async def start(self, agent: str, now: Instant) -> None:
        """Bring an agent's timers in line with its documents. Safe to do at every start."""
        await self._desk.open(agent)
        async with self._store.transaction():
            await self.heartbeat.ensure(agent, now)
            await self.chores.ensure(agent, now)

    async def _show_life(self, agent: str, now: Instant) -> None:
        if self._watched:
            await self._store.timers.set(alive_timer(agent, now))
