"""What the person does on a channel, accepted once.

Accepting is one transaction: everything the update changes, with the channel's position behind it. What needs no model
is answered in it; a message becomes a timer that is due now, and its turn answers it. After a crash before the commit
the channel still has the update; after a crash behind it the store has the work.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from nudge.attention.requests import PersonRequests
from nudge.clock import Clock
from nudge.coach.changes import Change, Changes
from nudge.coach.commands import Asked, Commands, read_command
from nudge.coach.conversation import KIND as TURN
from nudge.coach.conversation import Heard
from nudge.coach.messages import Replies
from nudge.coach.onboarding import KIND as FIRST
from nudge.coach.onboarding import ONBOARDING
from nudge.coach.own_words import ASKED_TO_GO_ON, QUESTION, yes_or_no
from nudge.coach.person_reminders import Buttons
from nudge.coach.review import REVIEW
from nudge.coach.store import CoachStore, Saying
from nudge.errors import LostLeaseError, NudgeError, StoreError
from nudge.instants import Instant
from nudge.queue.channel import Inbound, Position
from nudge.queue.records import Record, fields, text, texts
from nudge.redaction import redact, screen
from nudge.text import short

log = logging.getLogger("nudge.inbound")

POSITION: Record[Position] = Record(
    "channel.position",
    lambda value: Position(text(fields(value)["cursor"]), texts(value["recent"])),
    lambda position: {"cursor": position.cursor, "recent": list(position.recent)},
)
"""How far the updates of a channel are handled: one for each channel."""
LEAVE_ME_ALONE = "leave me alone"
"""What a no means to the question whether to write again."""
FAILED = "Sorry, I couldn't read your last message. Please send it again; my log says what went wrong."


class Listener:
    def __init__(
        self,
        store: CoachStore,
        clock: Clock,
        intake: Intake,
        replies: Replies,
        poke: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._intake = intake
        self._replies = replies
        self._poke = poke

    async def cursor(self, agent: str, channel: str) -> str:
        """Where to continue reading the channel; "" is the beginning."""
        position = await self._store.records.get(agent, POSITION.of(channel))
        return position.cursor if position else ""

    async def move_on(self, agent: str, channel: str, before: str, cursor: str) -> None:
        """Nothing from `before` to `cursor` is left to handle. If somebody else moved on meanwhile, theirs counts."""
        async with self._store.transaction():
            position = await self._position(agent, channel)
            await self._store.records.set(agent, POSITION.of(channel), position.moved(before, cursor))

    async def hear(self, agent: str, update: Inbound, *, channel: str = "", typed: bool = False) -> str:
        """Accept one update. Returns what to say if a button was pressed.

        `channel` names the one that was polled: the position behind the update is stored with what it changes, and an
        update that was accepted before (by another process, or from a repeated batch) is left alone. `typed` marks what
        came from a terminal beside the person's own channel.
        """
        now = self._clock.now()
        try:
            async with self._store.transaction():
                if channel and not await self._is_new(agent, update, channel):
                    return ""
                words = await self._intake.accept(agent, update, now, typed=typed)
        except (StoreError, LostLeaseError):
            raise
        except NudgeError as error:
            words = redact(error.message if update.button is not None else str(error))
            await self._apologise(agent, "" if update.button is not None else words, update, channel, typed=typed)
        self._poke()
        return words

    async def hear_together(self, agent: str, updates: Sequence[Inbound], channel: str) -> Sequence[str]:
        """The same for several updates in one transaction: all of them are accepted, or none. One that needs an apology
        raises, and has to be heard alone."""
        now = self._clock.now()
        async with self._store.transaction():
            position = await self._position(agent, channel)
            words: list[str] = []
            for update in updates:
                if position.has(update):
                    words.append("")
                    continue
                position = position.after(update)
                words.append(await self._intake.accept(agent, update, now, typed=False))
            await self._store.records.set(agent, POSITION.of(channel), position)
        self._poke()
        return words

    async def give_up(self, agent: str, update: Inbound, channel: str) -> None:
        """Skip an update that cannot be handled, and tell the person: it must not block the others."""
        await self._apologise(agent, FAILED, update, channel)
        self._poke()

    async def _apologise(self, agent: str, words: str, update: Inbound, channel: str, *, typed: bool = False) -> None:
        async with self._store.transaction():
            if channel and not await self._is_new(agent, update, channel):
                return
            if words:
                await self._replies.post(agent, words, self._clock.now(), typed=typed)

    async def _is_new(self, agent: str, update: Inbound, channel: str) -> bool:
        """Whether nobody has handled the update; it then counts as handled once the transaction is committed."""
        position = await self._position(agent, channel)
        if position.has(update):
            return False
        await self._store.records.set(agent, POSITION.of(channel), position.after(update))
        return True

    async def _position(self, agent: str, channel: str) -> Position:
        """Locked until the transaction ends: two that read one channel take turns."""
        return await self._store.records.lock_or_add(agent, POSITION.of(channel), Position())


class Intake:
    """What an update of the person's changes. Everything here is part of the caller's transaction."""

    def __init__(
        self,
        store: CoachStore,
        requests: PersonRequests,
        changes: Changes,
        buttons: Buttons,
        commands: Commands,
        *,
        secrets: Iterable[str] = (),
    ) -> None:
        self._store = store
        self._requests = requests
        self._changes = changes
        self._buttons = buttons
        self._commands = commands
        self._secrets = tuple(secrets)

    async def accept(self, agent: str, update: Inbound, now: Instant, *, typed: bool) -> str:
        """Take one update in. Returns what to say if a button was pressed."""
        at = Instant(min(update.at, now))
        if update.button is not None:
            await self._store.attention.activity(agent, at)
            answered = await self._answer(agent, update)
            if answered is None:
                return await self._buttons.press(agent, update, now)
            await self._message(agent, replace(update, text=answered, button=None), at, now, typed)
            return ""
        said = screen(update.text, self._secrets).strip()
        hidden = said != update.text.strip()
        update = replace(update, text=said)
        starts_as_command = said.startswith("/") and not update.forwarded
        if starts_as_command and (command := read_command(said)) is not None:
            name, text = command
            if name in ("yes", "no"):  # where nothing can be pressed, this is what the buttons say to type
                await self._message(agent, replace(update, text=name), at, now, typed)
                return ""
            await self._commands.answer(name, Asked(agent, text, at, now, typed, hidden), edited=update.edited)
        elif said:
            await self._message(agent, update, at, now, typed, hidden=hidden)
        return ""

    async def _answer(self, agent: str, update: Inbound) -> str | None:
        """The word that a pressed Yes or No stands for, if it answers what was asked last."""
        word, _, number = (update.button or "").partition(":")
        if word not in ("yes", "no"):
            return None
        asked = await self._store.records.get(agent, QUESTION)
        if asked is None or number != str(asked.number) or not await self._buttons.offered(agent, update):
            return None
        return word

    async def _message(
        self, agent: str, update: Inbound, at: Instant, now: Instant, typed: bool, *, hidden: bool = False
    ) -> None:
        text = update.text
        number = await self._store.conversations.add(Saying(agent, at, "user", text, "conversation", update.forwarded))
        review = await self._store.records.get(agent, REVIEW)
        if update.forwarded or (review is not None and review.hears(text)):
            await self._requests.wrote(agent, at, now)
        else:
            asked = await self._store.records.get(agent, QUESTION)
            stay = asked is not None and asked.asks_to_go_on and asked.is_open(now) and yes_or_no(text) is False
            before = await self._requests.heard(agent, LEAVE_ME_ALONE if stay else text, at, now)
            if before is not None and not stay:
                await self._store.records.delete(agent, ASKED_TO_GO_ON)
            if before is not None:
                what = f"the pause you asked for (“{short(text)}”)"
                await self._changes.remember(agent, Change(what, before=before, said=number))
        heard = Heard(number, text, update.forwarded, typed, hidden=hidden)
        first = await self._store.records.get(agent, ONBOARDING)
        kind = FIRST if first is not None and first.is_open(now) else TURN
        await self._store.timers.set(replace(heard.timer(agent, now), kind=kind))
