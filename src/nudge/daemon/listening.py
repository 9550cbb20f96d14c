"""An application on a TCP socket: its address, its rules for connections, and a clean end."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import AsyncIterator, Iterator

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from nudge.errors import NotConfiguredError

LARGEST_HEADERS = 64 * 1024
HEADER_SECONDS = 30.0
"""How long a connection may take to send the head of a request."""
KEPT_SECONDS = 75
"""How long a connection without a request stays open; a coding agent runs tools between two calls."""
LAST_SECONDS = 5
"""How long calls in flight may go on after the server was told to stop."""


class _Protocol(H11Protocol):
    """Cuts a connection that never says what it wants, and lets the application cut one in the middle of an answer."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.app_state = {**self.app_state, "drop": transport.abort}
        self._patience = self.loop.call_later(HEADER_SECONDS, transport.abort)

    def handle_events(self) -> None:
        super().handle_events()
        if self.scope is not None:  # the head of its first request is there
            self._patience.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        self._patience.cancel()
        super().connection_lost(exc)


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are handled by whoever started the server."""
        yield


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def bound(host: str, port: int, *, what: str = "The gateway", next_step: str = "") -> socket.socket:
    """A socket at that address; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio then turns Nagle off
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host.strip("[]"), port))
        listener.listen(512)
    except OSError as error:
        listener.close()
        raise NotConfiguredError(
            f"{what} cannot listen on {host}:{port}: {error.strerror or error}.",
            next_step=next_step or "Set another host or port in [gateway] of nudge.toml.",
        ) from error
    return listener


def address_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextlib.asynccontextmanager
async def listening(
    app: ASGIApp, listener: socket.socket, *, last_seconds: int = LAST_SECONDS, most: int | None = None
) -> AsyncIterator[str]:
    """Answer on the socket for as long as the block runs; gives the address. `most` connections at a time."""
    server = _Server(
        uvicorn.Config(
            app,
            http=_Protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            h11_max_incomplete_event_size=LARGEST_HEADERS,
            timeout_keep_alive=KEPT_SECONDS,
            timeout_graceful_shutdown=last_seconds,
            limit_concurrency=most,
        )
    )
    task = asyncio.create_task(server.serve(sockets=[listener]), name="listening")
    try:
        yield address_of(listener)
    finally:
        server.should_exit = True
        await task
        listener.close()
