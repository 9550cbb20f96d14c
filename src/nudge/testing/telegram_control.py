"""Driving the fake Bot API from another process.

POST /control/push    {"kind": "say" | "edit" | "forward" | "press" | "say_in_group" | "post_in_channel", "text": …}
                      or {"kind": "raw", "update": {…}}; answers {"update_id": …}; "times": N makes N of them
POST /control/fault   {"kind": "status", "status": 429, "retry_after": 3, "on": "sendMessage", "times": 1}
POST /control/heal    no fault that is still queued is played
POST /control/rival   {"active": true}: every poll ends with 409
POST /control/reset
GET  /control/sent    ?at_least=N&timeout=S waits for that many; answers {"sent": [{"text": …, …}]}
GET  /control/state   what is pending, answered, set, and how often it was polled
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from nudge.testing.faults import Fault

if TYPE_CHECKING:
    from nudge.testing.telegram_server import FakeTelegram

_PUSHES = frozenset({"say", "edit", "forward", "press", "say_in_group", "post_in_channel"})


def routes(telegram: FakeTelegram) -> list[Route]:
    async def push(request: Request) -> Response:
        wanted: dict[str, Any] = await request.json()
        kind, times = wanted.pop("kind", "say"), int(wanted.pop("times", 1))
        words = wanted.pop("data" if kind == "press" else "text", "")
        for _ in range(times):
            if kind == "raw":
                number = telegram.push(wanted["update"], unfiltered=bool(wanted.get("unfiltered")))
            elif kind in _PUSHES:
                number = getattr(telegram, kind)(words, **wanted)
            else:
                return JSONResponse({"error": f"There is no kind {kind!r}.", "kinds": sorted(_PUSHES)}, status_code=400)
        return JSONResponse({"update_id": number})

    async def fault(request: Request) -> Response:
        wanted: dict[str, Any] = await request.json()
        times = int(wanted.pop("times", 1))
        telegram.fail(Fault.from_json(wanted), times)
        return JSONResponse({"queued": times})

    async def heal(request: Request) -> Response:
        telegram.heal()
        return JSONResponse({})

    async def rival(request: Request) -> Response:
        telegram.let_rival_poll(bool((await request.json())["active"]))
        return JSONResponse({})

    async def reset(request: Request) -> Response:
        telegram.reset()
        return JSONResponse({})

    async def sent(request: Request) -> Response:
        await request.body()
        at_least = int(request.query_params.get("at_least", 0))
        timeout = float(request.query_params.get("timeout", 10))
        await telegram.bell.heard(lambda: len(telegram.sent) >= at_least, timeout, request)
        return JSONResponse({"sent": [asdict(message) for message in telegram.sent]})

    async def state(request: Request) -> Response:
        return JSONResponse(
            {
                "pending": telegram.pending,
                "answers": telegram.answers,
                "commands": telegram.commands,
                "polls": telegram.polls,
            }
        )

    return [
        Route("/control/push", push, methods=["POST"]),
        Route("/control/fault", fault, methods=["POST"]),
        Route("/control/heal", heal, methods=["POST"]),
        Route("/control/rival", rival, methods=["POST"]),
        Route("/control/reset", reset, methods=["POST"]),
        Route("/control/sent", sent, methods=["GET"]),
        Route("/control/state", state, methods=["GET"]),
    ]
