"""What can go wrong on the other side of a socket, queued up and played once each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from nudge.testing.loopback import Bell


class FaultKind(StrEnum):
    """How a fake service fails."""

    STATUS = "status"  # an error answer of the service, with its own body
    HANG = "hang"  # nothing comes back until the client goes
    DROP = "drop"  # the connection is cut without an answer
    TRUNCATE = "truncate"  # the connection is cut in the middle of an answer
    BROKEN_JSON = "broken_json"  # 200 with a body that is no JSON
    PAGE = "page"  # a page of something in between, with any status; `message` is its text
    CUT = "cut"  # a stream ends after some pieces, without a word about it
    GIVE_UP = "give_up"  # a stream ends after some pieces with an error
    STALL = "stall"  # a stream says nothing more after some pieces, until the client goes


@dataclass(frozen=True, slots=True)
class Fault:
    """One failure.

    `on` limits it to one method of the service (any, if empty), and `after` lets that many calls pass first.
    `retry_after` goes where the service puts it; a text is sent as it is, so an HTTP date or nonsense can be tried too.
    `pieces` of a stream come before it is cut or given up. `done`: the service does what it was asked, and fails then.

    >>> Fault.status_of(429, retry_after=7).retry_after
    7
    """

    kind: FaultKind
    status: int = 500
    retry_after: float | str | None = None
    message: str = ""
    on: str = ""
    after: int = 0
    pieces: int = 0
    done: bool = False

    @classmethod
    def status_of(
        cls, status: int, *, retry_after: float | str | None = None, message: str = "", on: str = "", after: int = 0
    ) -> Fault:
        return cls(FaultKind.STATUS, status, retry_after, message, on, after)

    @classmethod
    def page_of(cls, status: int, text: str = "<html><body>Sorry.</body></html>", *, on: str = "") -> Fault:
        return cls(FaultKind.PAGE, status, message=text, on=on)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Fault:
        return cls(**{**data, "kind": FaultKind(data["kind"])})


class Faults:
    """A queue of faults. `held` counts the requests that hang right now."""

    def __init__(self, bell: Bell) -> None:
        self._bell = bell
        self._queue: list[Fault] = []
        self.held = 0

    def add(self, fault: Fault, times: int = 1) -> None:
        with self._bell.lock:
            self._queue.extend([fault] * times)

    def clear(self) -> None:
        with self._bell.lock:
            self._queue.clear()

    def take(self, method: str) -> Fault | None:
        """The next fault for this method, once."""
        with self._bell.lock:
            for index, fault in enumerate(self._queue):
                if fault.on.lower() not in ("", method.lower()):
                    continue
                if fault.after > 0:
                    self._queue[index] = replace(fault, after=fault.after - 1)
                    return None
                return self._queue.pop(index)
        return None

    async def play(self, fault: Fault, request: Request) -> Response:
        """Every kind but STATUS, whose body is the service's own. The answer of a cut connection goes nowhere."""
        if fault.kind is FaultKind.BROKEN_JSON:
            return Response('{"ok": true, "result": [', media_type="application/json")
        if fault.kind is FaultKind.PAGE:
            return Response(fault.message, fault.status, media_type="text/html")
        if fault.kind is FaultKind.TRUNCATE:
            return _Truncated(request)
        if fault.kind is FaultKind.HANG:
            with self._bell.lock:
                self.held += 1
            self._bell.ring()
            try:
                await self._bell.heard(lambda: False, None, request)
            finally:
                with self._bell.lock:
                    self.held -= 1
                self._bell.ring()
        else:
            request.state.drop()
            await self._bell.heard(lambda: False, None, request)
        return Response(status_code=204)


class _Truncated(Response):
    """Promises more than it sends, then cuts."""

    def __init__(self, request: Request) -> None:
        super().__init__('{"type": "mess', media_type="application/json", headers={"content-length": "4096"})
        self._request = request

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        scope["state"]["close"]()
        while (await receive())["type"] != "http.disconnect":
            pass
