"""The stream of events: what is committed, as it is committed, for pages and terminals that show it.

Every stream reads the store behind its own place, so a slow one keeps nobody waiting and one that comes back goes on
where it was. Streams at the same place share one read. All of them wait for the commits of this process, for pokes, and
for a slow look that finds what other processes wrote.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nudge.clock import Clock
from nudge.errors import StoreError
from nudge.instants import SECOND, Instant, rfc3339
from nudge.queue.following import Following, Place, Step
from nudge.queue.outbox import Message
from nudge.queue.outcomes import FeedLine, Outcome, StateChange, feed_json, outcome_json
from nudge.stores.store import SqlStore

State = Callable[[str, str], Awaitable[Mapping[str, Any] | None]]
"""How something is now, by its agent and key; None if it is gone."""

_GATHER_SECONDS = 0.05
"""Events that come in a burst are sent together."""
_LOOK_SECONDS = 5.0
_ALIVE_SECONDS = 20.0
_STALE = 4 * SECOND
_KEPT = 8
_MOST = 500


@dataclass(frozen=True, slots=True)
class _Read:
    wakes: int
    at: Instant
    messages: asyncio.Future[list[tuple[Place, bytes]]]


class Events:
    """`states` says how each kind of thing looks as an event."""

    def __init__(self, store: SqlStore, clock: Clock, states: Mapping[str, State]) -> None:
        self._store = store
        self._clock = clock
        self._states = states
        self._following = Following(store)
        self._wakes = 0
        self._waiting: set[asyncio.Future[None]] = set()
        self._closed = False
        self._read: dict[str, _Read] = {}
        self._drafts: dict[str, str] = {}
        self._streams = 0
        store.database.on_commit = self.wake

    def wake(self) -> None:
        """Something was written. Costs nothing while nobody follows."""
        self._wakes += 1
        for one in self._waiting:
            if not one.done():
                one.set_result(None)

    @property
    def followed(self) -> bool:
        """Whether somebody looks on."""
        return self._streams > 0

    def drafted(self, agent: str, text: str) -> None:
        """So much is written of an answer. It is shown to those who look on now, and has no place in the stream: the
        message that follows has."""
        self._drafts[agent] = text
        self.wake()

    def close(self) -> None:
        """End all streams: the daemon stops."""
        self._closed = True
        self.wake()

    async def stream(self, place_text: str | None = None) -> AsyncIterator[bytes]:
        """Server-sent events from behind that place, or from now on. The first one says where it begins; `reset` says
        that the place means nothing here any more, and everything has to be read again."""
        place = Place.parse(place_text) if place_text else None
        if place is None:
            place = await self._following.end()
            yield _message(str(place), "ready", {})
        elif await self._following.is_ahead(place):
            place = await self._following.end()
            yield _message(str(place), "reset", {})
        else:
            yield b": welcome back\n\n"
        self._streams += 1
        try:
            async for chunk in self._from(place):
                yield chunk
        finally:
            self._streams -= 1

    async def _from(self, place: Place) -> AsyncIterator[bytes]:
        silent = 0.0
        shown = dict(self._drafts)
        while not self._closed:
            seen = self._wakes
            for agent, text in self._drafts.items():
                if shown.get(agent) != text:
                    yield _event("draft", {"agent": agent, "text": text})
            shown = dict(self._drafts)
            messages = await self._news(place)
            if messages:
                place, silent = messages[-1][0], 0.0
                yield b"".join(message for _, message in messages)
                if len(messages) >= _MOST:
                    continue
            if await self._woken(seen):
                await self._clock.sleep(_GATHER_SECONDS)
                continue
            silent += _LOOK_SECONDS
            if silent >= _ALIVE_SECONDS:
                silent = 0.0
                yield b": alive\n\n"

    async def _woken(self, seen: int) -> bool:
        """Wait for the next write, at most until the next slow look. Whether there was one."""
        if self._wakes != seen:
            return True
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.add(waiting)
        try:
            async with asyncio.timeout(_LOOK_SECONDS):
                await waiting
        except TimeoutError:
            return False
        finally:
            self._waiting.discard(waiting)
        return True

    async def _news(self, place: Place) -> list[tuple[Place, bytes]]:
        """What is new behind the place. Those who ask at the same place after the same write share the answer."""
        key, now = str(place), self._clock.now()
        kept = self._read.get(key)
        if kept is None or kept.wakes != self._wakes or abs(now - kept.at) > _STALE:
            while len(self._read) >= _KEPT:
                del self._read[next(iter(self._read))]
            kept = self._read[key] = _Read(self._wakes, now, asyncio.ensure_future(self._messages(place)))
        return await asyncio.shield(kept.messages)

    async def _messages(self, place: Place) -> list[tuple[Place, bytes]]:
        """A store that cannot be read now is read again at the next look."""
        try:
            steps = await self._following.after(place, _MOST)
            return [(step.place, _message(str(step.place), *await self._shown(step))) for step in steps]
        except StoreError:
            return []

    async def _shown(self, step: Step) -> tuple[str, Mapping[str, Any]]:
        match step.news:
            case FeedLine():
                return "feed", feed_json(step.news)
            case Outcome():
                return "outcome", outcome_json(step.news)
            case Message(id=number, agent=agent, kind=kind, text=text, created_at=at):
                return "message", {"agent": agent, "id": number, "at": rfc3339(at), "kind": kind, "text": text}
            case StateChange(kind=kind, agent=agent, key=key):
                state = self._states.get(kind)
                if state is not None and (data := await state(agent, key)) is not None:
                    return kind, {"agent": agent, **data}
                return kind, {"agent": agent, "id": key, "gone": True}


def _message(place: str, kind: str, data: Mapping[str, Any]) -> bytes:
    return f"id: {place}\n".encode() + _event(kind, data)


def _event(kind: str, data: Mapping[str, Any]) -> bytes:
    text = json.dumps(data, ensure_ascii=False).encode("utf-8", "replace").decode()
    lines = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\x85", "\\u0085")
    return f"event: {kind}\ndata: {lines}\n\n".encode()
