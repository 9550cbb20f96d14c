"""The coach: all of its parts put together, ready for the dispatcher and for a channel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from nudge.attention.gate import Gate
from nudge.attention.requests import ASK_AGAIN, PersonRequests
from nudge.clock import Clock
from nudge.coach import commands
from nudge.coach.answering import Answering
from nudge.coach.background import Background
from nudge.coach.briefing_run import KIND as BRIEFING
from nudge.coach.briefing_run import Briefings
from nudge.coach.changes import Changes
from nudge.coach.commands import Commands, menu
from nudge.coach.conversation import KIND as TURN
from nudge.coach.conversation import TURNS, Company, Conversation, ModelTalk, as_turn
from nudge.coach.document_changes import DocumentChanges
from nudge.coach.document_writes import KIND as DOCUMENT_WRITES
from nudge.coach.document_writes import DocumentWrites
from nudge.coach.drafts import Drafts
from nudge.coach.fact_reader import FactReader
from nudge.coach.heartbeat import KIND as HEARTBEAT
from nudge.coach.heartbeat import Heartbeat, Rhythm
from nudge.coach.housekeeping import ACTIVITY, ALIVE, COMMIT, PULL, RETENTION, Housekeeping
from nudge.coach.inbound import Intake, Listener
from nudge.coach.messages import Pings, Replies
from nudge.coach.notices import KIND as NOTICE
from nudge.coach.notices import Notices
from nudge.coach.onboarding import KIND as FIRST
from nudge.coach.onboarding_talk import OnboardingTalk
from nudge.coach.outside import Outside
from nudge.coach.person_documents import DOCUMENTS, PersonDocuments
from nudge.coach.person_reminders import SAY_AGAIN, Buttons, PersonReminders
from nudge.coach.redact import PURGE, Redaction
from nudge.coach.review_guide import ReviewGuide
from nudge.coach.review_talk import TIMEOUT, ReviewTalk
from nudge.coach.rhythm import KIND as RHYTHM
from nudge.coach.rhythm import RhythmWatch
from nudge.coach.store import CoachStore, Saying
from nudge.coach.tools import Tools
from nudge.coach.wishes import carry_out
from nudge.instants import Instant
from nudge.palette import state_words
from nudge.queue.delivery import Delivery
from nudge.queue.firing import Handler
from nudge.queue.inbox import LETTERS
from nudge.queue.outbox import REPLY, Message
from nudge.reminders.service import Reminders
from nudge.spending.governor import Spending


@dataclass(frozen=True)
class Governors:
    """Who decides what the coach may do and when. Without `spending` it pays for nothing and answers by rules."""

    gate: Gate
    delivery: Delivery
    reminders: Reminders
    answering: Answering
    spending: Spending | None = None


@dataclass(frozen=True)
class CoachOptions:
    """`secrets` are this home's own: they never leave in a message, whoever puts them there."""

    rhythm: Rhythm = field(default_factory=Rhythm)
    secrets: tuple[str, ...] = ()
    help_lines: tuple[str, str] = ("", "")
    """Where somebody in trouble can turn, and the emergency number, in the person's own words; "" goes by the zone."""


class Coach:
    """Talks to the person, and acts by itself. One object serves all coaches of a home: each method names its agent."""

    def __init__(
        self,
        store: CoachStore,
        clock: Clock,
        documents: PersonDocuments,
        governors: Governors,
        outside: Outside,
        options: CoachOptions,
        poke: Callable[[], None] = lambda: None,
    ) -> None:
        gate, delivery, answering = governors.gate, governors.delivery, governors.answering
        self.store = store
        self.documents = documents
        self.gate = gate
        self.answering = answering
        self.outside = outside
        self._clock = clock
        self._delivery = delivery
        self._spending = governors.spending

        self.reminders = PersonReminders(governors.reminders)
        self.facts = FactReader(store, documents, governors.reminders)
        self.replies = Replies(delivery, options.secrets)
        self.pings = Pings(store, gate, delivery, options.secrets)
        self.requests = PersonRequests(store, gate)
        self.writes = DocumentWrites(store, documents, self.replies)
        self.changes = Changes(store, documents, self.writes, self.requests, self.reminders)
        self.buttons = Buttons(store, self.reminders, documents.goals, self.changes.carry_out)
        guide = ReviewGuide(self.facts, answering) if answering.pays else None
        self.review = ReviewTalk(store, documents, self.replies, self.changes, outside.history, guide)
        self.redaction = Redaction(store, documents, self.writes, self.changes, outside.redactor)
        self.commands = Commands(self)
        self.drafts = Drafts(options.secrets)
        self._company = Company(clock, self.replies, self.drafts, poke)
        talk = ModelTalk(self.facts, answering, Tools(self), self.drafts)
        self.conversation = Conversation(
            store, talk, self.replies, self.changes, self.review, partial(carry_out, self), options.help_lines
        )
        self.onboarding = OnboardingTalk(
            store, documents, self.facts, self.replies, self.changes, self.conversation.turn
        )
        intake = Intake(store, self.requests, self.changes, self.buttons, self.commands, secrets=options.secrets)
        self.listener = Listener(store, clock, intake, self.replies, poke)

        self.notices = Notices(store, documents, self.pings, options.secrets)
        self.briefings = Briefings(store, self.facts, answering, self.pings, self.review)
        self.heartbeat = Heartbeat(
            store, self.facts, answering, self.pings, self.notices, outside, rhythm=options.rhythm
        )
        self.background = Background(store, self.facts, gate, answering, self.pings, governors.reminders)
        self.housekeeping = Housekeeping(store, documents, self.facts, self.briefings, self.pings, outside)

        self.document_changes = DocumentChanges(store, documents, self.briefings, self.reminders, self.replies)
        self.rhythm = RhythmWatch(store, documents, self.pings)

    def _waited_for(self, handler: Handler) -> Handler:
        """A person waits. The rules answer at once; a model may not."""
        return self._company.around(handler) if self.answering.pays else handler

    def handlers(self) -> Mapping[str, Handler]:
        """Who handles which kind of timer."""
        return {
            TURN: as_turn(self.store, self._clock, self._waited_for(self.conversation.turn)),
            FIRST: as_turn(self.store, self._clock, self._waited_for(self.onboarding.turn)),
            commands.KIND: as_turn(self.store, self._clock, self.commands.turn),
            LETTERS: as_turn(self.store, self._clock, self.background.run),
            TIMEOUT: self.review.timed_out,
            DOCUMENT_WRITES: self.writes.retry,
            HEARTBEAT: self.heartbeat.beat,
            BRIEFING: self.briefings.tell,
            NOTICE: self.notices.tell,
            DOCUMENTS: self.document_changes.handle,
            ASK_AGAIN: self.housekeeping.ask_again,
            SAY_AGAIN: self.housekeeping.say_again,
            ACTIVITY: self.housekeeping.no_activity,
            RETENTION: self.housekeeping.tidy,
            COMMIT: self.housekeeping.commit,
            PULL: self.housekeeping.pull,
            ALIVE: self.housekeeping.report_alive,
            PURGE: self.redaction.purge,
            RHYTHM: self.rhythm.look,
        }

    async def start(self, agent: str, now: Instant) -> None:
        """Bring an agent's timers in line with its documents. Safe to do at every start."""
        await self.documents.open(agent)
        async with self.store.transaction():
            await self.heartbeat.ensure(agent, now)
            await self.housekeeping.ensure(agent, now)
            if self.gate.learning:
                await self.rhythm.ensure(agent, now)
            else:
                await self.store.timers.cancel(agent, RHYTHM)

    async def post_reminder(self, message: Message) -> int:
        """A reminder to the person is part of the conversation: nobody says it twice, and "done" makes sense."""
        number = await self._delivery.post(message)
        await self.store.conversations.add(
            Saying(message.agent, message.created_at, "assistant", message.text, message.kind)
        )
        return number

    @property
    def menu(self) -> list[tuple[str, str]]:
        """The commands that a channel offers."""
        return menu()

    async def is_answering(self, agent: str) -> bool:
        """Whether a message still waits for its answer."""
        return bool(await self.store.timers.of_agent(agent, prefix=TURNS, limit=1))

    async def is_busy(self, agent: str) -> bool:
        """Whether a message still waits for its answer, or an answer for its way out."""
        if await self.is_answering(agent):
            return True
        return any(message.kind == REPLY for message in await self.store.outbox.pending(agent))

    async def budget(self, agent: str, now: Instant) -> str:
        """What the person may know about spending: percentages, no dollars."""
        if self._spending is None:
            return "I answer by simple rules here, without a paid model, so there's nothing to spend."
        status = await self._spending.state(agent, now)
        return f"{status.text} ({state_words(status.state)})."
