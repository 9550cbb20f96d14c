"""Listening to the person's channel: one update after the other, each once, whatever goes wrong around it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence

from nudge.backoff import TABLE, Policy, delay
from nudge.clock import Clock
from nudge.coach.coach import Coach
from nudge.errors import AnotherPollerError, NudgeError, RetryableError, StoreError
from nudge.queue.channel import Channel, Inbound
from nudge.redaction import redact

log = logging.getLogger("nudge.polling")

LONG_POLL_SECONDS = 50.0
TYPING_AFTER_SECONDS = 1.0
"""An answer that comes sooner needs no typing sign."""
TYPING_EVERY_SECONDS = 4.0
"""The sign fades after some seconds, so it is shown again."""
_TYPING_TIMES = 30
_TRIES = 3
TOGETHER = 20
"""Updates that share a commit, where many wait. More would keep everything else waiting for longer than a moment."""


class Polling:
    def __init__(self, channel: Channel, coach: Coach, clock: Clock, agent: str) -> None:
        self._channel = channel
        self._coach = coach
        self._listener = coach.listener
        self._clock = clock
        self._agent = agent
        self._failures = 0
        self._commands_offered = False
        self._beside: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Listen until cancelled. Only another poller of the same channel ends it: AnotherPollerError."""
        try:
            while True:
                await self._listen_once()
        finally:
            for task in self._beside.values():
                task.cancel()

    async def _listen_once(self) -> None:
        try:
            await self._listen()
            self._failures = 0
        except AnotherPollerError:
            raise
        except (NudgeError, OSError) as error:
            await self._pause(error)
        except Exception as error:
            log.exception("Listening failed")
            await self._pause(error)

    async def _listen(self) -> None:
        if not self._commands_offered:
            await self.offer_commands()
            self._commands_offered = True
        cursor = await self._listener.cursor(self._agent, self._channel.name)
        updates = await self._channel.updates(cursor, LONG_POLL_SECONDS)
        for some in batched(updates.inbound, TOGETHER):
            await self._handle_together(some)
            cursor = some[-1].cursor
        if updates.cursor != cursor:
            await self._listener.move_on(self._agent, self._channel.name, cursor, updates.cursor)

    async def _handle_together(self, updates: Sequence[Inbound]) -> None:
        """In one commit. If anything goes wrong nothing is written, and each is handled alone."""
        if len(updates) > 1:
            try:
                words = await self._listener.hear_together(self._agent, updates, self._channel.name)
            except Exception as error:
                log.info("One by one: %s", redact(str(error) or type(error).__name__))
            else:
                for update, said in zip(updates, words, strict=True):
                    self._show_noticed(update, said)
                return
        for update in updates:
            await self._handle(update)

    async def _handle(self, update: Inbound) -> None:
        """If the store fails, wait for it. Any other error is a bug: after three tries the update is skipped, and the
        person is told."""
        tries = 0
        while True:
            try:
                words = await self._listener.hear(self._agent, update, channel=self._channel.name)
            except StoreError as error:
                await self._pause(error)
            except Exception as error:
                log.exception("An update could not be handled")
                tries += 1
                if tries == _TRIES:
                    await self._listener.give_up(self._agent, update, self._channel.name)
                    return
                await self._pause(error)
            else:
                break
        self._show_noticed(update, words)

    async def take(self, update: Inbound) -> None:
        """An update that the channel pushed. Raises StoreError if it has to come again; any other error is a bug, and
        the person is told."""
        try:
            words = await self._listener.hear(self._agent, update, channel=self._channel.name)
        except StoreError:
            raise
        except Exception:
            log.exception("An update could not be handled")
            await self._listener.give_up(self._agent, update, self._channel.name)
            return
        self._show_noticed(update, words)

    async def offer_commands(self) -> None:
        await self._channel.offer_commands(self._coach.menu)

    def _show_noticed(self, update: Inbound, words: str) -> None:
        if self._coach.heartbeat.sleeps_through:  # a sign of life alone sets no timer
            self._start("heartbeat", lambda: self._coach.heartbeat.ensure(self._agent, self._clock.now()))
        if update.button is not None:
            self._start(f"button {update.id}", lambda: self._channel.acknowledge(update, words))
        elif self._channel.capabilities.typing and "typing" not in self._beside:
            self._start("typing", self._show_typing)

    def _start(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Beside the listening. The update is handled already, so a failure here is only a blemish."""

        async def run() -> None:
            try:
                await work()
            except Exception as error:
                log.warning("%s: %s", name, redact(str(error) or type(error).__name__))
            finally:
                self._beside.pop(name, None)

        self._beside[name] = asyncio.create_task(run(), name=name)

    async def _show_typing(self) -> None:
        await self._clock.sleep(TYPING_AFTER_SECONDS)
        for _ in range(_TYPING_TIMES):
            if not await self._coach.is_answering(self._agent):
                return
            try:
                await self._channel.show_typing()
            except NudgeError as error:  # the answer still comes
                log.debug("No typing sign: %s", redact(str(error)))
                return
            await self._clock.sleep(TYPING_EVERY_SECONDS)

    async def _pause(self, error: BaseException) -> None:
        asked = error.retry_after if isinstance(error, RetryableError) else None
        seconds = delay(self._failures, Policy.LISTENING, asked)
        lasting = self._failures >= len(TABLE[Policy.LISTENING].delays)  # a long outage is not news every minute
        words = redact(str(error) or type(error).__name__)
        log.log(logging.INFO if lasting else logging.WARNING, "Retrying in %.0f s: %s", seconds, words)
        self._failures += 1
        await self._clock.sleep(seconds)


def batched(updates: Sequence[Inbound], size: int) -> Iterator[Sequence[Inbound]]:
    """In order, at most that many at a time."""
    for start in range(0, len(updates), size):
        yield updates[start : start + size]
