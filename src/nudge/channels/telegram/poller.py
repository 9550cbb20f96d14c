"""Long polling that survives a restart's conflict with itself and a socket that has gone dead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from nudge.backoff import Policy, RetryClock, delay
from nudge.channels.telegram.client import ConflictError, StalledError, TelegramClient
from nudge.channels.telegram.updates import ALLOWED_UPDATES, Cursor, Refused, read_batch
from nudge.errors import AnotherPollerError, ChannelUnavailableError
from nudge.instants import SECOND
from nudge.queue.channel import Inbound, Updates

LONG_POLL_SECONDS = 50.0
STALL_MARGIN_SECONDS = 15.0
_BATCH = 100


class Poller:
    """Asks for updates.

    A 409 is retried for one long-poll period, because a poll of the process that was just replaced may still be open.
    Exactly one period after the first 409 it gives up. `refused` counts updates by reason, `stalls` counts the polls
    that had to be cut.
    """

    def __init__(
        self,
        client: TelegramClient,
        clock: RetryClock,
        allowed: frozenset[int],
        *,
        stranger: Callable[[int, str], Awaitable[bool]] | None = None,
        long_poll: float = LONG_POLL_SECONDS,
        margin: float = STALL_MARGIN_SECONDS,
    ) -> None:
        self._client = client
        self._clock = clock
        self._allowed = allowed
        self._stranger = stranger
        self._long_poll = long_poll
        self._margin = margin
        self.refused: Counter[Refused] = Counter()
        self.stalls = 0

    async def updates(self, cursor: Cursor, wait_seconds: float) -> Updates:
        result = await self._poll_with_patience(cursor.offset, min(wait_seconds, LONG_POLL_SECONDS))
        if result == []:
            return Updates((), str(cursor))
        batch = read_batch(result, cursor, self._allowed, self._clock.now())
        self.refused.update(batch.refused)
        for user, words in batch.strangers:
            if self._stranger is not None and await self._stranger(user, words):
                self._allowed |= {user}
        if batch.cursor == cursor:
            # Polling on would bring the same updates again, at once and forever.
            repeated = batch.refused[Refused.REPEATED]
            raise ChannelUnavailableError(
                "Telegram repeats updates that are already handled."
                if repeated
                else "Telegram's updates are unreadable."
            )
        return Updates(batch.inbound, str(batch.cursor))

    def read(self, result: Any, cursor: Cursor) -> Inbound | None:
        """One update that came by itself."""
        batch = read_batch(result, cursor, self._allowed, self._clock.now())
        self.refused.update(batch.refused)
        return batch.inbound[0] if batch.inbound else None

    async def _poll_with_patience(self, offset: int, wait: float) -> Any:
        first = None
        slept = 0.0
        while True:
            try:
                return await self._poll_watched(offset, wait)
            except ConflictError as caught:
                conflict = caught
            now = self._clock.now()
            first = now if first is None else first
            # The sum of the pauses counts too: the wall clock may have been set back in between.
            waited = max(slept, (now - first) / SECOND)
            if conflict.webhook or waited >= self._long_poll:
                raise _another_poller(conflict)
            pause = delay(0, Policy.CONFLICT)
            await self._clock.sleep(pause)
            slept += pause

    async def _poll_watched(self, offset: int, wait: float) -> Any:
        """A poll that stays silent for too long is cut and repeated once over a new connection."""
        try:
            return await self._poll(offset, wait)
        except StalledError:
            self.stalls += 1
        await self._client.reconnect()
        return await self._poll(offset, wait)

    async def _poll(self, offset: int, wait: float) -> Any:
        params = {
            "offset": offset,
            "limit": _BATCH,
            "timeout": int(wait),
            "allowed_updates": list(ALLOWED_UPDATES),
        }
        return await self._client.call("getUpdates", params, deadline=wait + self._margin)


def _another_poller(conflict: ConflictError) -> AnotherPollerError:
    if conflict.webhook:
        return AnotherPollerError(
            "This bot has a webhook: its messages go there and cannot be polled.",
            next_step="Remove the webhook with the Bot API's deleteWebhook, or give nudge its own bot.",
        )
    return AnotherPollerError(
        "Another process is polling this bot, so each would miss some messages.",
        next_step="Stop the other one (another nudge or another program with the same token), then start again.",
    )
