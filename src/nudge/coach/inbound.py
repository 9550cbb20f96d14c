"""What the person does on a channel, accepted once.

Accepting is one transaction: the channel's offset with everything the update changes. What needs no model is answered
in it; a message becomes a timer that is due now, and its turn answers it. A crash before the commit leaves the update
with the channel, a crash after it leaves the work with the store.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from nudge.attention.requests import PersonWishes
from nudge.clock import Clock
from nudge.coach.changes import Change, Changes
from nudge.coach.commands import Asked, Commands, read_command
from nudge.coach.conversation import Heard
from nudge.coach.messages import Replies
from nudge.coach.person_reminders import Buttons
from nudge.coach.store import CoachStore, Saying
from nudge.errors import LostLeaseError, NudgeError, StoreError
from nudge.instants import Instant
from nudge.queue.channel import Inbound
from nudge.queue.records import Record, whole
from nudge.redaction import redact
from nudge.text import short

log = logging.getLogger("nudge.inbound")

CURSOR: Record[int] = Record("channel.cursor", whole, int)
"""What to ask the channel for next."""
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

    async def offset(self, agent: str) -> int:
        """What to ask the channel for next."""
        return await self._store.records.get(agent, CURSOR) or 0

    async def confirm(self, agent: str, offset: int) -> None:
        """Everything below is handled or refused. It may be lower than before: ids can begin anew."""
        await self._store.records.set(agent, CURSOR, offset)

    async def confirm_batch(self, agent: str, following: int, asked: int) -> None:
        """The same after the updates that a poll from `asked` on has brought, unless somebody else is further."""
        async with self._store.transaction():
            kept = await self._store.records.lock(agent, CURSOR)
            if kept is None or following > kept or following < asked:
                await self.confirm(agent, following)

    async def hear(
        self, agent: str, update: Inbound, *, offset: int | None = None, asked: int = 0, typed: bool = False
    ) -> str:
        """Accept one update; what to say where a button was pressed. `typed` marks what came from a terminal beside
        the person's own channel.

        `offset` confirms the update with what it changes. Two that poll one channel may both be given an update: the
        second finds it confirmed and leaves it. `asked` is what the poll asked for; an id below it is no old one, but
        one of a channel that began its ids anew.
        """
        now = self._clock.now()
        try:
            async with self._store.transaction():
                if offset is not None and update.update_id >= asked and await self._is_confirmed(agent, update):
                    return ""
                words = await self._intake.accept(agent, update, now, typed=typed)
                if offset is not None:
                    await self.confirm(agent, offset)
        except (StoreError, LostLeaseError):
            raise
        except NudgeError as error:
            words = redact(error.message if update.button is not None else str(error))
            await self._apologise(agent, words, now, offset, typed, pressed=update.button is not None)
        self._poke()
        return words

    async def _is_confirmed(self, agent: str, update: Inbound) -> bool:
        kept = await self._store.records.lock(agent, CURSOR)
        return kept is not None and update.update_id < kept

    async def give_up(self, agent: str, offset: int) -> None:
        """An update that cannot be handled is left behind, and the person is told: it must not block the others."""
        await self._apologise(agent, FAILED, self._clock.now(), offset, typed=False, pressed=False)
        self._poke()

    async def _apologise(
        self, agent: str, words: str, now: Instant, offset: int | None, typed: bool, *, pressed: bool
    ) -> None:
        async with self._store.transaction():
            if not pressed:
                await self._replies.post(agent, words, now, typed=typed)
            if offset is not None:
                await self.confirm(agent, offset)


class Intake:
    """What an update of the person's changes. Everything here is part of the caller's transaction."""

    def __init__(
        self,
        store: CoachStore,
        requests: PersonWishes,
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
        await self._requests.now(agent, now)  # the first look makes the row that everything below changes
        if update.button is not None:
            await self._store.attention.activity(agent, at)
            return await self._buttons.press(agent, update, now)
        command = None if update.forwarded else read_command(update.text)
        if command is not None:
            name, text = command
            await self._commands.answer(name, Asked(agent, text, at, now, typed), edited=update.edited)
        elif update.text.strip():
            await self._message(agent, update, at, now, typed)
        return ""

    async def _message(self, agent: str, update: Inbound, at: Instant, now: Instant, typed: bool) -> None:
        text = redact(update.text, self._secrets).strip()
        number = await self._store.conversations.add(Saying(agent, at, "user", text, "conversation", update.forwarded))
        if update.forwarded:
            await self._requests.wrote(agent, at, now)
        else:
            before = await self._requests.heard(agent, text, at, now)
            if before is not None:
                what = f"the pause you asked for (“{short(text)}”)"
                await self._changes.remember(agent, Change(what, before=before, said=number))
        heard = Heard(number, text, update.forwarded, typed, hidden=text != update.text.strip())
        await self._store.timers.set(heard.timer(agent, now))
