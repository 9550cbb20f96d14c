"""Listening to a channel that must be asked: one update after the other, each once, whatever goes wrong around it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from nudge.clock import Clock
from nudge.coach.inbound import Listener
from nudge.errors import AnotherPollerError, NudgeError, RetryableError, StoreError
from nudge.queue.channel import Inbound, Inbox
from nudge.redaction import redact

log = logging.getLogger("nudge.polling")

LONG_POLL_SECONDS = 50.0
PAUSES = (1.0, 2.0, 5.0, 15.0, 30.0, 60.0)
"""Seconds between attempts while the channel is away, by the number of failures before; the last one repeats."""
LONGEST_PAUSE = 300.0
"""A channel that asks for more is asked again after this."""
_TRIES = 3

Announce = Callable[[], Awaitable[None]]


class Polling:
    """`announce` tells the channel once what there is to say to it, as soon as it answers."""

    def __init__(
        self, inbox: Inbox, listener: Listener, clock: Clock, agent: str, announce: Announce | None = None
    ) -> None:
        self._inbox = inbox
        self._listener = listener
        self._clock = clock
        self._agent = agent
        self._announce = announce
        self._failures = 0
        self._answering: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Listen until cancelled. Only somebody else on the same bot ends it: AnotherPollerError."""
        while True:
            try:
                await self._listen()
                self._failures = 0
            except AnotherPollerError:
                raise
            except (NudgeError, OSError) as error:
                await self._pause(error)
            except Exception as error:
                log.exception("listening failed")
                await self._pause(error)

    async def _listen(self) -> None:
        if self._announce is not None:
            await self._announce()
            self._announce = None
        offset = await self._listener.offset(self._agent)
        updates, following = await self._inbox.updates_after(offset, LONG_POLL_SECONDS)
        for update in updates:
            await self._handle(update, offset)
        await self._listener.confirm_batch(self._agent, following, offset)

    async def _handle(self, update: Inbound, asked: int) -> None:
        """A store that refuses is waited for. Any other error is ours: after three of them the update is left behind,
        and the person is told."""
        offset, tries = update.update_id + 1, 0
        while True:
            try:
                words = await self._listener.hear(self._agent, update, offset=offset, asked=asked)
            except StoreError as error:
                await self._pause(error)
            except Exception as error:
                log.exception("an update could not be handled")
                tries += 1
                if tries == _TRIES:
                    await self._listener.give_up(self._agent, offset)
                    return
                await self._pause(error)
            else:
                break
        if update.callback_id is not None:
            task = asyncio.create_task(self._acknowledge(update, words), name="button")
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)

    async def _acknowledge(self, update: Inbound, words: str) -> None:
        """The work is done already; a button that keeps turning is only a blemish."""
        try:
            await self._inbox.acknowledge(update, words)
        except Exception as error:
            log.warning("a pressed button was not answered: %s", redact(str(error)))

    async def _pause(self, error: BaseException) -> None:
        seconds = PAUSES[min(self._failures, len(PAUSES) - 1)]
        if isinstance(error, RetryableError) and error.retry_after is not None:
            seconds = min(max(error.retry_after, PAUSES[0]), LONGEST_PAUSE)
        level = logging.WARNING if self._failures < len(PAUSES) else logging.INFO  # an outage is news once
        log.log(level, "the channel is asked again in %.0f s: %s", seconds, redact(str(error) or type(error).__name__))
        self._failures += 1
        await self._clock.sleep(seconds)
