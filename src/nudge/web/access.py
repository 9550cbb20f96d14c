"""Who may see the page, and what a browser may do with it.

The link that `nudge web` prints holds a token that works once; it becomes a cookie that only this process knows. Every
request must name a host that is ours (a name that was pointed at this machine is refused), and every write must come
from our own page with that page's token.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "nudge"
MOST_SESSIONS = 32
LARGEST_BODY = 64 * 1024
LARGEST_DOCUMENT = 2 * 1024 * 1024
BODY_SECONDS = 10.0
CSRF_FIELD = "csrf"

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


@dataclass
class Visitor:
    """Somebody who came in with a link. `flash` is what the next page says once."""

    csrf: str
    flash: list[dict[str, Any]] = field(default_factory=list)


class Visitors:
    """Those who may come in: one unused link at a time, and the cookies that links became."""

    def __init__(self, on_link: Callable[[str], None] = lambda token: None) -> None:
        self._on_link = on_link
        self._known: dict[bytes, Visitor] = {}
        self.token = ""

    def new_link(self) -> str:
        self.token = secrets.token_urlsafe(32)
        self._on_link(self.token)
        return self.token

    def enter(self, token: str) -> str | None:
        """The cookie for a link that was not used yet."""
        if not self.token or not hmac.compare_digest(token.encode(), self.token.encode()):
            return None
        self.token = ""
        cookie = secrets.token_urlsafe(32)
        while len(self._known) >= MOST_SESSIONS:
            del self._known[next(iter(self._known))]
        self._known[_digest(cookie)] = Visitor(secrets.token_urlsafe(32))
        self.new_link()
        return cookie

    def of(self, cookie: str) -> Visitor | None:
        return self._known.get(_digest(cookie)) if cookie else None


def _digest(cookie: str) -> bytes:
    return hashlib.sha256(cookie.encode("utf-8", "replace")).digest()


class Access:
    """Stands before the pages. What it lets through has its visitor in `scope["state"]`."""

    def __init__(self, app: ASGIApp, visitors: Visitors, hosts: frozenset[str]) -> None:
        self._app = app
        self._visitors = visitors
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        answer = self._refusal(scope, headers)
        if answer is None and scope["path"] == "/enter":
            answer = self._enter(scope)
        visitor = self._visitors.of(_cookie(headers))
        if answer is None and visitor is None and not scope["path"].startswith("/static/"):
            answer = _page(403, "Open this page with its link", "Open the link that 'nudge web' shows in the terminal.")
        scope.setdefault("state", {})["visitor"] = visitor
        receiving = receive if scope["method"] in ("GET", "HEAD") else _bounded(scope["path"], receive)
        await (answer or self._app)(scope, receiving, _guarded(send))

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        host = headers.get("host", "").lower()
        if len(headers.getlist("host")) != 1 or host not in self._hosts:
            return _page(421, "Wrong address", "This page only works under the address that 'nudge web' shows.")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return _page(405, "Not allowed", "This page takes GET and POST only.")
        if scope["method"] == "POST" and not _same_origin(headers, host):
            return _page(403, "Not from this page", "Changes must come from this page itself.")
        return None

    def _enter(self, scope: Scope) -> Response:
        token = scope["query_string"].decode("ascii", "replace").removeprefix("token=")
        cookie = self._visitors.enter(token) if scope["method"] == "GET" else None
        if cookie is None:
            return _page(403, "This link was already used", "'nudge web' shows a new one in the terminal.")
        answer = RedirectResponse("/", 303)
        answer.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", path="/")
        return answer


def _same_origin(headers: Headers, host: str) -> bool:
    """A browser names the page that a form is on. Whoever names none is not our page."""
    site = headers.get("sec-fetch-site")
    origin = headers.get("origin")
    if site is not None and site != "same-origin":
        return False
    if origin is None:
        return site == "same-origin"
    return urlsplit(origin).netloc.lower() == host and origin.startswith(("http://", "https://"))


def _cookie(headers: Headers) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def _bounded(path: str, receive: Receive) -> Receive:
    """A body that is too long, or takes too long, ends the request."""
    most = LARGEST_DOCUMENT if path == "/do/save" else LARGEST_BODY
    size = 0

    async def bounded() -> Message:
        nonlocal size
        try:
            async with asyncio.timeout(BODY_SECONDS):
                message = await receive()
        except TimeoutError:
            raise TooSlowError from None
        size += len(message.get("body", b""))
        if size > most:
            raise TooLargeError
        return message

    return bounded


class TooLargeError(Exception):
    """The body is too long."""


class TooSlowError(Exception):
    """The body takes too long."""


def _guarded(send: Send) -> Send:
    """Every answer says what a browser may do with it."""

    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message.get("headers", [])}
            extra = dict(HEADERS) if b"cache-control" in present else {**HEADERS, "Cache-Control": "no-store"}
            pairs = [(name.lower().encode(), value.encode()) for name, value in extra.items()]
            message = {**message, "headers": [*message.get("headers", []), *pairs]}
        await send(message)

    return guarded


def _page(code: int, title: str, words: str) -> HTMLResponse:
    """A page without anything that needs leave to be seen."""
    return HTMLResponse(
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{title}</title><link rel="stylesheet" href="/static/nudge.css"></head>'
        f'<body><main class="narrow"><h1>{title}</h1><p>{words}</p></main></body></html>',
        code,
    )
