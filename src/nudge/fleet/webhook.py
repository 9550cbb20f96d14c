"""Updates that the person's channel pushes: one HTTP endpoint on each worker, behind whatever ends TLS.

It is the alternative to the poller. Any worker takes an update, and each is handled once: its id is stored with what it
changes. A worker that cannot store it answers 503, and the service sends it again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from nudge.daemon.listening import bound, listening
from nudge.errors import NotConfiguredError, StoreError, UsageError
from nudge.queue.channel import Channel, Inbound, PushingChannel

LARGEST_UPDATE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Webhook:
    """`url` is where the service sends updates to, `host` and `port` where the worker hears them."""

    url: str
    host: str
    port: int

    @classmethod
    def of(cls, url: str, listen: str) -> Webhook:
        host, _, port = listen.rpartition(":")
        if not host or not port.isdigit() or int(port) > 65_535:
            raise UsageError(f"{listen!r} is not HOST:PORT.", next_step="Use --listen 127.0.0.1:8443, for example.")
        if urlsplit(url).scheme != "https":
            raise UsageError("A webhook needs an https address.", next_step="Put a TLS proxy in front of it.")
        return cls(url, host, int(port))

    @property
    def path(self) -> str:
        return urlsplit(self.url).path or "/"


def pushing(channel: Channel) -> PushingChannel:
    if not isinstance(channel, PushingChannel):
        raise NotConfiguredError(
            f"The channel {channel.name!r} does not support webhooks.", next_step="Leave --webhook out."
        )
    return channel


def webhook_app(path: str, channel: PushingChannel, take: Callable[[Inbound], Awaitable[None]]) -> Starlette:
    async def pushed(request: Request) -> Response:
        if not channel.pushed_it(request.headers):
            return PlainTextResponse("The secret is wrong.", 403)
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > LARGEST_UPDATE:
                return PlainTextResponse("The update is too large.", 413)
        try:
            if (update := channel.read(body)) is not None:
                await take(update)
        except StoreError:
            return PlainTextResponse("The store does not answer.", 503)
        return PlainTextResponse("")

    return Starlette(routes=[Route(path, pushed, methods=["POST"])])


@asynccontextmanager
async def hearing(
    webhook: Webhook, channel: PushingChannel, take: Callable[[Inbound], Awaitable[None]]
) -> AsyncIterator[None]:
    """Hear what is pushed for as long as the block runs. The service is told the address by every worker that starts:
    it is the same one."""
    listener = bound(webhook.host, webhook.port, what="The webhook", next_step="Use another --listen HOST:PORT.")
    async with listening(webhook_app(webhook.path, channel, take), listener):
        await channel.hook(webhook.url)
        yield
