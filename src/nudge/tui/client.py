"""How the dashboard talks to the daemon: questions, and the stream of events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from nudge.errors import DaemonUnreachableError, NudgeError


class Event(NamedTuple):
    """Something that was committed. `place` is where to go on after it."""

    kind: str
    data: Mapping[str, Any]
    place: str


class Surface(Protocol):
    """What a dashboard needs of the daemon."""

    async def ask(self, name: str, body: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """`read/…` or `do/…`. Raises NudgeError with what the daemon said."""
        ...

    def events(self, place: str) -> AsyncIterator[Event]: ...

    async def close(self) -> None: ...


class SocketSurface:
    """The control application of a running daemon, over its Unix socket."""

    def __init__(self, socket: Path) -> None:
        import httpx2

        self._http = httpx2
        transport = httpx2.AsyncHTTPTransport(uds=str(socket))
        self._client = httpx2.AsyncClient(transport=transport, base_url="http://nudge", timeout=15)

    async def ask(self, name: str, body: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        try:
            response = await self._client.post(f"/{name}", json=dict(body or {}))
            answer = response.json()
        except (self._http.HTTPError, ValueError, OSError) as error:
            raise _gone() from error
        if response.status_code >= 400:
            raise NudgeError(str(answer.get("error", "The daemon refused.")), next_step=answer.get("next_step"))
        return dict(answer)

    async def events(self, place: str) -> AsyncIterator[Event]:
        try:
            async with self._client.stream(
                "GET", "/events", headers={"Last-Event-ID": place}, timeout=self._http.Timeout(15, read=60)
            ) as response:
                async for event in read_events(response.aiter_lines()):
                    yield event
        except (self._http.HTTPError, OSError) as error:
            raise _gone() from error

    async def close(self) -> None:
        await self._client.aclose()


async def read_events(lines: AsyncIterator[str]) -> AsyncIterator[Event]:
    """Server-sent events from their lines. A comment keeps the line alive and says nothing."""
    place, kind, data = "", "message", ""
    async for line in lines:
        if not line:
            if data:
                yield Event(kind, json.loads(data), place)
            kind, data = "message", ""
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            place = value
        elif name == "event":
            kind = value
        elif name == "data":
            data += value


def _gone() -> DaemonUnreachableError:
    return DaemonUnreachableError("The daemon does not answer.", next_step="Start it with 'nudge run'.")
