"""Long polling that survives a restart's conflict with itself and a socket that has gone dead."""

from __future__ import annotations

from collections import Counter
from typing import Any

from nudge.backoff import RetryClock
from nudge.channels.telegram.client import TelegramClient
from nudge.channels.telegram.failures import ConflictError, StalledError
from nudge.channels.telegram.updates import ALLOWED_UPDATES, Refused, read_batch
from nudge.errors import AnotherPollerError, ChannelUnavailableError
from nudge.instants import SECOND
from nudge.queue.channel import Inbound

LONG_POLL_SECONDS = 50.0
STALL_MARGIN_SECONDS = 15.0
CONFLICT_PAUSE_SECONDS = 3.0
_BATCH = 100


class Poller:
    """Asks for updates.

    A 409 is met with patience for one long-poll period, because a poll of the process that was just replaced may still
    be open; exactly one period after the first 409 the patience is over. `refused` counts by reason, `stalls` counts
    the polls that had to be cut.
    """

    def __init__(
        self,
        client: TelegramClient,
        clock: RetryClock,
        allowed: frozenset[int],
        *,
        long_poll: float = LONG_POLL_SECONDS,
        margin: float = STALL_MARGIN_SECONDS,
    ) -> None:
        self._client = client
        self._clock = clock
        self._allowed = allowed
        self._long_poll = long_poll
        self._margin = margin
        self.refused: Counter[Refused] = Counter()
        self.stalls = 0

    async def updates_after(self, offset: int, wait_seconds: float) -> tuple[list[Inbound], int]:
        result = await self._poll_with_patience(offset, min(wait_seconds, LONG_POLL_SECONDS))
        if result == []:
            return [], offset
        batch = read_batch(result, self._allowed, self._clock.now())
        self.refused.update(batch.refused)
        if batch.next_offset is None:
            # Asking again would bring the same at once, and again without an end.
            raise ChannelUnavailableError("Telegram's updates are not readable.")
        return list(batch.inbound), batch.next_offset

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
            await self._clock.sleep(CONFLICT_PAUSE_SECONDS)
            slept += CONFLICT_PAUSE_SECONDS

    async def _poll_watched(self, offset: int, wait: float) -> Any:
        """A poll that stays silent for longer than it may is cut and asked once more over a new connection."""
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
            "A webhook is set for this bot, so its messages go there and cannot be polled.",
            next_step="Remove it with the Bot API's deleteWebhook, or give nudge a bot of its own.",
        )
    return AnotherPollerError(
        "Another process polls this bot; two of them would take each other's messages.",
        next_step="Stop the other one (another nudge, another program with the same token), then start again.",
    )
