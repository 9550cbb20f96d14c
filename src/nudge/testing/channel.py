"""A channel that remembers what was sent, and fails as it is told to."""

from __future__ import annotations

from nudge.queue.channel import Outbound, Receipt


class RecordingChannel:
    """`faults` are raised one a call, None meaning that the call succeeds; when they are used up, all succeed.

    >>> import asyncio
    >>> channel = RecordingChannel()
    >>> asyncio.run(channel.send(Outbound(1, "hello"))).message_ids
    ('m1',)
    >>> [message.text for message in channel.sent]
    ['hello']
    """

    def __init__(self, *faults: Exception | None) -> None:
        self.faults = list(faults)
        self.sent: list[Outbound] = []

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.sent]

    async def send(self, message: Outbound) -> Receipt:
        fault = self.faults.pop(0) if self.faults else None
        if fault:
            raise fault
        self.sent.append(message)
        return Receipt((f"m{message.id}",))

    async def close(self) -> None:
        return None
