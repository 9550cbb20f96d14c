"""The half of the coach that talks: what it hears, how it answers, what it changes, ready for the dispatcher."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from nudge.attention.gate import Gate
from nudge.attention.requests import PersonWishes
from nudge.clock import Clock
from nudge.coach.answering import Answering
from nudge.coach.buttons import Buttons
from nudge.coach.carry_out import Actions
from nudge.coach.command_lane import LaneCommands
from nudge.coach.command_look import BudgetWords, LookCommands, no_budget
from nudge.coach.command_wish import WishCommands
from nudge.coach.commands import Asked, Command, help_text, menu
from nudge.coach.conversation import KIND as TURN
from nudge.coach.conversation import Talk
from nudge.coach.document_writes import KIND as PAGES
from nudge.coach.document_writes import Pages
from nudge.coach.inbound import Listener
from nudge.coach.outside import TextHistory
from nudge.coach.person_documents import Desk
from nudge.coach.person_reminders import PersonReminders
from nudge.coach.redact import Redaction, Redactor
from nudge.coach.replies import KIND as REPLY
from nudge.coach.replies import Replies
from nudge.coach.review_talk import TIMEOUT, ReviewTalk
from nudge.coach.store import CoachStore
from nudge.coach.undo import Undo
from nudge.instants import Instant
from nudge.queue.delivery import Delivery
from nudge.queue.dispatch import Handler

WELCOME = (
    "Hi, I'm your coach. I keep an eye on your day: I write in the morning, before bed, and when something is due; "
    "otherwise I stay out of the way. Tell me what today is about, or say “remind me to … at …”.\n\n"
)


class Talking:
    def __init__(
        self,
        store: CoachStore,
        clock: Clock,
        desk: Desk,
        gate: Gate,
        delivery: Delivery,
        answering: Answering,
        reminders: PersonReminders,
        *,
        history: TextHistory | None = None,
        redactor: Redactor | None = None,
        budget_words: BudgetWords = no_budget,
        secrets: Iterable[str] = (),
        poke: Callable[[], None] = lambda: None,
    ) -> None:
        secrets = tuple(secrets)
        self._store = store
        replies = Replies(delivery, secrets)
        self.pages = Pages(store, desk, replies)
        wishes = PersonWishes(store, gate)
        undo = Undo(store, self.pages, wishes, reminders)
        buttons = Buttons(store, reminders)
        self._review = ReviewTalk(store, desk, self.pages, replies, undo)
        redaction = Redaction(store, desk, self.pages, undo, redactor)
        self.commands = _commands(
            LookCommands(store, desk, gate, wishes, reminders, budget_words),
            WishCommands(desk, wishes, reminders, undo, buttons),
            LaneCommands(undo, redaction, self._review, history),
        )
        actions = Actions(store, desk, self.pages, wishes, reminders)
        self._talk = Talk(
            store,
            desk,
            answering,
            replies,
            self.pages,
            actions,
            undo,
            self._review,
            reminders,
            self.commands,
            history,
        )
        self.listener = Listener(
            store, clock, wishes, replies, buttons, undo, self.commands, secrets=secrets, poke=poke
        )

    def handlers(self) -> Mapping[str, Handler]:
        return {TURN: self._talk.turn, TIMEOUT: self._review.timed_out, PAGES: self.pages.retry}

    @property
    def menu(self) -> list[tuple[str, str]]:
        """The commands that a channel offers."""
        return menu(self.commands)

    async def start_review(self, agent: str, now: Instant, opening: str = "") -> None:
        """Begin the weekly review, inside the caller's transaction; its first question is in the outbox then."""
        await self._review.start(agent, now, opening)

    async def thinking(self, agent: str) -> bool:
        """Whether a message still waits for its answer."""
        return bool(await self._store.timers.of_agent(agent, prefix="turn:", limit=1))

    async def busy(self, agent: str) -> bool:
        """Whether a message still waits for its answer, or an answer for its way out."""
        if await self.thinking(agent):
            return True
        return any(message.kind == REPLY for message in await self._store.outbox.pending(agent))


def _commands(look: LookCommands, wish: WishCommands, lane: LaneCommands) -> dict[str, Command]:
    table: dict[str, Command] = {}

    async def on_help(asked: Asked) -> str:
        return help_text(table)

    async def on_start(asked: Asked) -> str:
        return WELCOME + help_text(table)

    for command in (
        Command("status", "what I decided lately, the state, and your reminders", look.status),
        Command("why", "why I spoke, or didn't", look.why, "[number or reminder]"),
        Command("goals", "show GOALS.md", look.goals),
        Command("remind", "set a reminder", wish.remind, "[text] by [date]"),
        Command("done", "the last reminder is done", wish.done, "[id]"),
        Command("snooze", "remind me again later", wish.snooze, "[id] [30m]"),
        Command("skip", "not this time", wish.skip, "[id]"),
        Command("cancel", "take a reminder away", wish.cancel, "[id or words]"),
        Command("quiet", "no messages for a while, or “off”", wish.quiet, "[duration]"),
        Command("review", "start or go on with the weekly review", lane.review, "[pause or skip]", in_lane=True),
        Command("undo", "take back the last thing I changed", lane.undo, in_lane=True),
        Command("redact", "remove the last messages from my records", lane.redact, "[n]", in_lane=True),
        Command("sync", "fetch your documents from git, or “push” them", lane.sync, "[push]", in_lane=True, slow=True),
        Command("budget", "what is left to spend today", look.budget),
        Command("ping-budget", "how many unasked messages may come", look.ping_budget, "[capacity] [minutes]"),
        Command("ping", "silent sign of life for your phone's automation", _silence),
        Command("help", "what I understand", on_help),
        Command("start", "say hello", on_start),
    ):
        table[command.name] = command
    return table


async def _silence(asked: Asked) -> None:
    return None
