"""One worker at a time listens to the person's channel. The others wait for its lease to end."""

from __future__ import annotations

import asyncio

from temporalio import activity

from nudge.coach.polling import Polling
from nudge.daemon.assemble import Daemon
from nudge.daemon.visits import LEASE, Visits
from nudge.errors import LostLeaseError, RetryableError
from nudge.fleet.activities import refuse_if_stopping
from nudge.instants import Instant
from nudge.queue.channel import Channel

RENEW_SECONDS = 5.0


class SomebodyListensError(RetryableError):
    """Another worker is listening to the channel. Its lease ends soon if it is gone."""


class Poller:
    """Where it listened up to is in the store, in the same transaction as what it heard: whoever goes on, on whichever
    machine, answers nothing twice."""

    def __init__(self, daemon: Daemon, channel: Channel, agent: str, owner: str, visits: Visits) -> None:
        self._daemon = daemon
        self._channel = channel
        self._agent = agent
        self._owner = owner
        self._visits = visits

    @activity.defn(name="poll")
    async def poll(self) -> None:
        """Listen until this worker stops."""
        refuse_if_stopping(self._visits)
        lanes, clock = self._daemon.store.lanes, self._daemon.clock
        lane, now = f"{self._agent}/channel/{self._channel.name}", clock.now()
        lease = await lanes.claim(lane, self._owner, now, Instant(now + LEASE))
        if lease is None:
            raise SomebodyListensError
        listening = asyncio.create_task(Polling(self._channel, self._daemon.coach, clock, self._agent).run())
        stopped = asyncio.create_task(self._visits.until_stopped())
        try:
            while not self._visits.stopping:
                await asyncio.wait([listening, stopped], timeout=RENEW_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                if listening.done():
                    listening.result()
                activity.heartbeat()
                if not await lanes.renew(lease, Instant(clock.now() + LEASE)):
                    raise LostLeaseError(f"Another worker is listening to {self._channel.name} now.")
        finally:
            for task in (listening, stopped):
                task.cancel()
            await asyncio.gather(listening, stopped, return_exceptions=True)
            await lanes.release(lease)
