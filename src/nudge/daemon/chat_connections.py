"""Talking to a running daemon from another terminal: `nudge chat` over the control socket.

What is typed there is handled like a message on the person's channel, and its answers are shown only there while
`nudge chat` is connected. Once it is gone, they go to the channel.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nudge.daemon.terminal_chat import known_names
from nudge.errors import NudgeError
from nudge.instants import SECOND, Instant, rfc3339
from nudge.queue.channel import Channel, Inbound, Outbound, Receipt
from nudge.queue.outbox import REPLY

if TYPE_CHECKING:
    from nudge.clock import Clock
    from nudge.daemon.assemble import Daemon
    from nudge.daemon.control import Endpoint
    from nudge.queue.outbox import Message
    from nudge.stores.store import SqlStore

STILL_THERE = 10 * SECOND
"""A `nudge chat` that has not asked for this long is gone."""
LONGEST_WAIT = 20.0
LONGEST_LINE = 8_000
_LOOK_SECONDS = 0.1
_MOST = 50


class ChatAwareChannel(Channel):
    """Sends through the person's channel, except for answers to what was typed in a `nudge chat` that is connected."""

    def __init__(self, channel: Channel, store: SqlStore, clock: Clock) -> None:
        self._channel = channel
        self._store = store
        self._clock = clock
        self._asked_at: Instant | None = None
        self.name = channel.name
        self.capabilities = replace(channel.capabilities, listens=False)

    def listened(self) -> None:
        self._asked_at = self._clock.now()

    def is_listened(self) -> bool:
        """Whether a `nudge chat` is connected."""
        return self._asked_at is not None and abs(self._clock.now() - self._asked_at) < STILL_THERE

    async def send(self, message: Outbound) -> Receipt:
        if self.is_listened():
            row = await self._store.outbox.get(message.id)
            if row is not None and row.typed:
                return Receipt((f"typed-{message.id}",))
        return await self._channel.send(message)

    async def check(self) -> str:
        return await self._channel.check()

    async def close(self) -> None:
        await self._channel.close()


class ChatEndpoints:
    def __init__(self, daemon: Daemon, agent: str, channel: ChatAwareChannel) -> None:
        self._daemon = daemon
        self._agent = agent
        self._channel = channel
        self._written = asyncio.Event()
        daemon.coach.drafts.watch(self._drafted, only_if=channel.is_listened)

    def _drafted(self, agent: str, text: str) -> None:
        if agent == self._agent:
            self._written.set()

    def endpoints(self) -> dict[str, Endpoint]:
        return {"chat": self.chat, "heard": self.heard, "greet": self.greet, "names": self.names}

    async def greet(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """{"again": bool}: the person has opened a chat. In a new home they are asked the first questions; `again` puts
        one that is open once more. `asked` says whether that happened."""
        self._channel.listened()
        now = self._daemon.clock.now()
        again = body.get("again") is True
        asked = await self._daemon.coach.onboarding.greet(self._agent, now, typed=True, again=again)
        self._daemon.poke()
        return {"ok": True, "asked": asked}

    async def names(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """What Tab offers: the commands, and what reminders and goals are called."""
        commands, names = await known_names(self._daemon, self._agent)
        return {"commands": commands, "names": names}

    async def chat(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """{"text": …}: the person typed a line."""
        text = body.get("text")
        if not isinstance(text, str) or not 0 < len(text.strip()) <= LONGEST_LINE:
            return {"error": f"text must be 1 to {LONGEST_LINE:,} characters"}
        self._channel.listened()
        update = Inbound(self._daemon.clock.now(), text)
        try:
            await self._daemon.coach.listener.hear(self._agent, update, typed=True)
        except NudgeError as error:
            return {"error": str(error)}
        return {"ok": True}

    async def heard(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """{"after": id, "wait": seconds, "draft": text}: what was said since that message, as soon as there is
        something, or `draft` differs from what is written of the answer under way. Without `after`, only the id to
        begin with. `busy` while an answer is being written."""
        clock, after, wait = self._daemon.clock, body.get("after"), body.get("wait", 0)
        drafts, known = self._daemon.coach.drafts, body.get("draft", None)
        seconds = min(float(wait), LONGEST_WAIT) if isinstance(wait, int | float) and wait > 0 else 0.0
        if not isinstance(after, int):
            newest = await self._daemon.store.outbox.recent(self._agent, limit=1)
            return {"last": newest[0].id if newest else 0, "messages": [], "busy": False, "agent": self._agent}
        end = clock.now() + int(seconds * SECOND)
        while True:
            self._channel.listened()
            busy = await self._daemon.coach.is_answering(self._agent)
            fresh = [one for one in await self._daemon.store.outbox.recent(self._agent, limit=_MOST) if one.id > after]
            draft = drafts.of(self._agent)
            if fresh or clock.now() >= end or (isinstance(known, str) and draft and draft != known):
                return {
                    "last": max((one.id for one in fresh), default=after),
                    "messages": [self._shown(one) for one in reversed(fresh) if _is_for_terminal(one)],
                    "busy": busy,
                    "draft": draft,
                }
            self._written.clear()
            await clock.wait(self._written, _LOOK_SECONDS)

    def _shown(self, message: Message) -> dict[str, Any]:
        zone = self._daemon.documents.targets(self._agent).zone
        return {
            "id": message.id,
            "at": rfc3339(message.created_at, zone),
            "text": message.text,
            "kind": message.kind,
            "buttons": [[label, data] for label, data in message.buttons],
        }


def _is_for_terminal(message: Message) -> bool:
    """Answers to what was written on the channel stay there."""
    return message.kind != REPLY or message.typed
