"""The control application: what the daemon answers on its socket. CLI, terminal and web are its clients."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from nudge.daemon.events import Events
from nudge.errors import NotConfiguredError, NotFoundError, NudgeError, UsageError
from nudge.home.folder import foreign
from nudge.home.private_files import make_folder
from nudge.queue.following import Place
from nudge.redaction import redact

Endpoint = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


def control_app(
    status: Callable[[], Awaitable[Mapping[str, Any]]],
    poke: Callable[[], Awaitable[None]],
    stop: Callable[[], None],
    more: Mapping[str, Endpoint] | None = None,
    events: Events | None = None,
) -> Starlette:
    """GET /status, POST /poke, POST /stop, GET /events, and POST /<name> for each of `more` with a JSON object in and
    out."""

    async def on_status(request: Request) -> Response:
        return JSONResponse(await status())

    async def on_poke(request: Request) -> Response:
        await poke()
        return JSONResponse({"ok": True})

    async def on_stop(request: Request) -> Response:
        stop()
        return JSONResponse({"ok": True, "pid": os.getpid()})

    async def on_events(request: Request) -> Response:
        """From behind `Last-Event-ID` (or `?after=`), or from now on."""
        assert events is not None
        after = request.headers.get("last-event-id") or request.query_params.get("after") or None
        if after:
            Place.parse(after)  # refused now, not in the middle of the stream
        return StreamingResponse(
            events.stream(after), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
        )

    def on_more(endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            try:
                body = await request.json()
            except (ValueError, RecursionError):
                body = None
            if not isinstance(body, dict):
                return JSONResponse({"error": "the body must be a JSON object"}, 400)
            return JSONResponse(await endpoint(body))

        return answer

    routes = [
        Route("/status", on_status),
        Route("/poke", on_poke, methods=["POST"]),
        Route("/stop", on_stop, methods=["POST"]),
        *([Route("/events", on_events)] if events else []),
        *(Route(f"/{name}", on_more(endpoint), methods=["POST"]) for name, endpoint in (more or {}).items()),
    ]
    return Starlette(routes=routes, exception_handlers={NudgeError: _refused})


async def _refused(request: Request, error: Exception) -> Response:
    """In words: a status that cannot be read because the store is away must say just that."""
    assert isinstance(error, NudgeError)
    code = {UsageError.exit_code: 400, NotFoundError.exit_code: 404}.get(error.exit_code, 500)
    return JSONResponse(
        {"error": redact(error.message), "next_step": error.next_step, "exit_code": error.exit_code}, code
    )


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the daemon's to handle."""
        yield


@contextlib.asynccontextmanager
async def serving(app: Starlette, path: Path) -> AsyncIterator[None]:
    """Answer on a Unix socket that only its owner can reach."""
    make_folder(path.parent)
    if foreign(path.parent) or path.parent.stat().st_uid != os.getuid():
        raise NotConfiguredError(
            f"{path.parent} belongs to another user.", next_step="Remove it, or use a NUDGE_HOME with a shorter path."
        )
    path.parent.chmod(0o700)
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(mask)
    listener.listen()  # whoever comes before the server is up waits for it, and is not told that nobody is there
    server = _Server(
        uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=1)
    )
    task = asyncio.create_task(server.serve(sockets=[listener]), name="control socket")
    try:
        yield
    finally:
        server.should_exit = True
        await task
        listener.close()
        path.unlink(missing_ok=True)
