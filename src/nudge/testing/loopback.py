"""Real servers on 127.0.0.1 for tests: an ASGI application in a thread, or a fake in a process of its own.

Nothing here polls or sleeps: starting waits until the socket is served, stopping wakes the server at once, cuts what is
still open and joins. A handler that waits must therefore also end when its client goes (see `Bell.heard`).
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Self

import uvicorn
from starlette.requests import Request
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

HOST = "127.0.0.1"


class Bell:
    """Wakes threads and coroutines that wait for the same state; `lock` guards that state."""

    def __init__(self) -> None:
        self.lock = threading.Condition(threading.RLock())
        self._listeners: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def ring(self) -> None:
        with self.lock:
            self.lock.notify_all()
            for loop, event in self._listeners:
                loop.call_soon_threadsafe(event.set)

    def wait_for(self, met: Callable[[], bool], timeout: float) -> bool:
        """Block this thread until `met` holds. False if it did not within `timeout` seconds."""
        with self.lock:
            return self.lock.wait_for(met, timeout)

    async def heard(self, met: Callable[[], bool], within: float | None, request: Request) -> bool:
        """Wait until `met` holds. False if the time is over or the client has gone."""
        event = asyncio.Event()
        listener = (asyncio.get_running_loop(), event)
        with self.lock:
            self._listeners.append(listener)
        gone = asyncio.ensure_future(disconnected(request))
        try:
            async with asyncio.timeout(within):
                while not self._holds(met) and not gone.done():
                    ringing = asyncio.ensure_future(event.wait())
                    try:
                        await asyncio.wait({ringing, gone}, return_when=asyncio.FIRST_COMPLETED)
                    finally:
                        ringing.cancel()
                    event.clear()
        except TimeoutError:
            pass
        finally:
            with self.lock:
                self._listeners.remove(listener)
            gone.cancel()
        return self._holds(met)

    def _holds(self, met: Callable[[], bool]) -> bool:
        with self.lock:
            return met()


async def disconnected(request: Request) -> None:
    """Return when the client of this request has gone. The body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


class _Protocol(H11Protocol):
    """Gives each request `request.state.drop` (cut the connection now) and `.close` (once what was sent is out).

    Writes no access log: a bot's token is part of the path.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.access_log = False
        self.app_state = {**self.app_state, "drop": transport.abort, "close": transport.close}


class _Server(uvicorn.Server):
    """uvicorn without its ticks: it stops when told, not at the next tenth of a second."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self.ready.set()

    async def main_loop(self) -> None:
        await self._wake.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for sock in sockets or []:
            sock.close()
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        while self.server_state.tasks:
            await asyncio.wait(self.server_state.tasks)
        for server in self.servers:
            await server.wait_closed()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.should_exit = True
        self.stop()

    def stop(self) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended by itself
                self._loop.call_soon_threadsafe(self._wake.set)


def _server(app: ASGIApp) -> _Server:
    return _Server(
        uvicorn.Config(
            app,
            http=_Protocol,
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
        )
    )


def _bound(port: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio then turns Nagle off
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((HOST, port))
    return sock


def _url(sock: socket.socket) -> str:
    return f"http://{HOST}:{sock.getsockname()[1]}"


class Loopback:
    """An ASGI application served on a free port of 127.0.0.1 by a thread, as a context manager.

    >>> async def app(scope, receive, send):
    ...     await send({"type": "http.response.start", "status": 204, "headers": []})
    ...     await send({"type": "http.response.body", "body": b""})
    >>> import httpx2
    >>> with Loopback(app) as server:
    ...     httpx2.get(server.url).status_code
    204
    """

    def __init__(self, app: ASGIApp, port: int = 0) -> None:
        self._app = app
        self._port = port
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None
        self.url = ""

    def start(self) -> None:
        if self._thread is not None:
            raise RuntimeError("This server is already running.")
        sock = _bound(self._port)
        self.url = _url(sock)
        self._server = _server(self._app)
        self._thread = threading.Thread(target=self._server.run, args=([sock],), name="loopback", daemon=True)
        self._thread.start()
        self._server.ready.wait()

    def stop(self) -> None:
        if self._server is not None and self._thread is not None:
            self._server.stop()
            self._thread.join()
        self._server = self._thread = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def serve(app: ASGIApp, port: int = 0) -> None:
    """Serve in this process until SIGTERM or SIGINT. The first line on stdout is the URL."""
    sock = _bound(port)
    print(_url(sock), flush=True)  # noqa: T201
    _server(app).run([sock])


@contextlib.contextmanager
def running(module: str, *arguments: str) -> Iterator[str]:
    """`python -m MODULE --port 0 …` in a process of its own, for as long as the block runs; gives its URL."""
    command = [sys.executable, "-m", module, "--port", "0", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            if not url:
                raise RuntimeError(f"{module} ended without serving.")
            yield url
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()
