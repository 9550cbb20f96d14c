"""The web application: pages, the stream, and what a form may do. It keeps nothing but who came in."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from nudge.daemon import control_client
from nudge.errors import DaemonUnreachableError, NotFoundError, NudgeError, UsageError
from nudge.web.access import CSRF_FIELD, Access, TooLargeError, TooSlowError, Visitor, Visitors
from nudge.web.layout import View
from nudge.web.markup import Html, el
from nudge.web.pages import Page, routes
from nudge.web.pages.simulate import simulate_page

_STATIC = Path(__file__).parent / "static"
_TYPES = {"nudge.css": "text/css; charset=utf-8", "nudge.js": "text/javascript; charset=utf-8"}
_MOST_FIELDS = 40

Simulate = Callable[[Mapping[str, str]], Awaitable[Html]]
"""Runs a simulated life and renders it."""

ACTIONS: dict[str, tuple[tuple[str, ...], str]] = {
    "add": (("words", "agent"), "Added."),
    "edit": (("id", "message", "when"), "Changed."),
    "pause": (("id",), "Paused."),
    "resume": (("id",), "Resumed."),
    "snooze": (("id", "for"), "Snoozed."),
    "complete": (("id",), "Done."),
    "remove": (("id",), "Removed."),
    "restore": (("id",), "Restored."),
    "quiet": (("agent", "for"), "Quiet changed."),
    "wake": (("agent",), "Checking its budget."),
    "top_up": (("agent", "amount"), "Topped up."),
    "answer": (("id", "answer"), "Answered."),
    "cancel_session": (("id",), "Cancelled."),
    "resume_session": (("id",), "Resumed."),
    "message": (("agent", "text"), "Sent."),
    "work": (("agent", "task"), "Started."),
    "save": (("agent", "name", "before", "text"), "Saved."),
    "undo": (("agent", "change"), "Undone."),
    "chat": (("text",), ""),
}
"""What a form may do, the fields it may send, and what the page says afterwards."""

_UNDO = {"pause": "resume", "resume": "pause", "remove": "restore", "complete": "restore", "snooze": "restore"}


class Site:
    """The pages over one daemon's socket."""

    def __init__(self, control: Path, simulate: Simulate) -> None:
        self._control = control
        self._simulate = simulate
        self._one_life = asyncio.Lock()

    async def ask(self, route: str, body: dict[str, Any]) -> Any:
        return await control_client.ask(self._control, f"/{route}", body)

    def routes(self) -> list[Route]:
        first = {"/": "read/overview"}
        return [
            *(Route(path, self._page(page, first.get(path, "read/agents"))) for path, page in routes().items()),
            Route("/simulate", self.simulated),
            Route("/events", self.events),
            Route("/understand", self.understood, methods=["POST"]),
            Route("/do/{action}", self.done, methods=["POST"]),
            Route("/static/{name}", static),
        ]

    def _page(self, page: Page, base: str) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            view = await self._view(request, base)
            more = tuple(request.path_params.values())
            return HTMLResponse(await page(view, self.ask, request.query_params, *more))

        return answer

    async def _view(self, request: Request, base: str = "read/agents") -> View:
        data = await self.ask(base, {})
        visitor: Visitor = request.state.visitor
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return View(visitor, path, data, data["place"], live=request.headers.get("x-live") == "1")

    async def events(self, request: Request) -> Response:
        """The daemon's stream, as it is. A browser that comes back says how far it was."""
        after = request.headers.get("last-event-id") or request.query_params.get("after") or None
        if after is not None and (len(after) > 4000 or not after.isascii() or not after.isprintable()):
            raise UsageError("That is not a position in the events.")
        stream = control_client.events(self._control, after)
        try:
            first = await anext(stream)
        except StopAsyncIteration:
            raise DaemonUnreachableError(next_step="Start it with 'nudge run'.") from None

        async def passed_on() -> AsyncIterator[bytes]:
            yield b"retry: 1000\n\n"
            yield first
            async for chunk in stream:
                yield chunk

        return StreamingResponse(passed_on(), media_type="text/event-stream", headers={"Cache-Control": "no-store"})

    async def understood(self, request: Request) -> Response:
        """How a reminder in words is read, as one line; with `part=when`, only its time."""
        fields = await self._fields(request)
        words, only_time = fields.get("words", "")[:1000], fields.get("part") == "when"
        found = await self.ask("do/understand", {"words": f"x {words}" if only_time and words.strip() else words})
        known = only_time and found["understood"]
        return JSONResponse({"reading": found["reading"] if known else _reading(found)})

    async def done(self, request: Request) -> Response:
        """Do what a form says, then go back to its page, which says what was done."""
        action = request.path_params["action"]
        if action not in ACTIONS:
            raise NotFoundError("There is no such action.")
        fields = await self._fields(request)
        back = _own_path(fields.get("back", "/"))
        names, words = ACTIONS[action]
        body: dict[str, Any] = {name: fields[name] for name in names if name in fields}
        if action == "save":
            body = {name: value.replace("\r\n", "\n") for name, value in body.items()}
        if body.get("change", "").isdecimal():
            body["change"] = int(body["change"])
        visitor: Visitor = request.state.visitor
        if action == "add" and fields.get("check"):
            given = body.get("words", "")
            found = await self.ask("do/understand", {"words": given})
            return RedirectResponse(f"/time?{urlencode({'words': given, 'reading': _reading(found)})}", 303)
        try:
            answer = await self.ask("chat" if action == "chat" else f"do/{action}", body)
            if answer.get("error"):
                raise UsageError(str(answer["error"]))
        except DaemonUnreachableError:
            raise
        except NudgeError as error:
            visitor.flash.append({"text": str(error), "kind": "bad"})
        else:
            if said := _said(action, words, answer):
                visitor.flash.append({"text": said, "undo": _undo(action, answer)})
            if action == "work":
                back = "/sessions"
        del visitor.flash[:-3]
        return RedirectResponse(back, 303)

    async def simulated(self, request: Request) -> Response:
        view, query = await self._view(request), request.query_params
        if query.get("run") != "1":
            return HTMLResponse(simulate_page(view, query))
        if self._one_life.locked():
            return HTMLResponse(simulate_page(view, query, problem="A simulation is already running. Try again soon."))
        async with self._one_life:
            try:
                shown = await self._simulate(query)
            except NudgeError as error:
                return HTMLResponse(simulate_page(view, query, problem=str(error)))
        return HTMLResponse(simulate_page(view, query, shown))

    async def _fields(self, request: Request) -> dict[str, str]:
        """The fields of a form that one of our pages made for this visitor."""
        try:
            text = (await request.body()).decode()
            pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        except ValueError:  # not text, or too many fields
            raise ForgedError from None
        fields = dict(pairs)
        visitor: Visitor = request.state.visitor
        if not hmac.compare_digest(fields.get(CSRF_FIELD, "").encode(), visitor.csrf.encode()):
            raise ForgedError
        return fields


class ForgedError(NudgeError):
    """This form is not from this page, or the page is too old. Load it again."""


def _own_path(path: str) -> str:
    """A way back to one of our pages, never to somewhere else."""
    return path if path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() else "/"


def _reading(found: Mapping[str, Any]) -> str:
    return f"{found['message']}: {found['reading']}" if found["understood"] else str(found["question"])


def _said(action: str, words: str, answer: Mapping[str, Any]) -> str:
    if action == "add":
        return f"I'll remind you: {answer['title']}. {answer['reading']}"
    if action == "undo":
        return str(answer["said"])
    title = answer.get("title")
    return f"{words[:-1]}: {title}." if title and words else words


def _undo(action: str, answer: Mapping[str, Any]) -> tuple[str, dict[str, str]] | None:
    if action in _UNDO:
        return _UNDO[action], {"id": str(answer["id"])}
    if action == "add":
        return "remove", {"id": str(answer["id"])}
    if not answer.get("change"):
        return None
    return "undo", {"agent": str(answer["agent"]), "change": str(answer["change"])}


@cache
def _file(name: str) -> bytes:
    content = (_STATIC / name).read_text(encoding="utf-8")
    if name == "nudge.css":
        from nudge.simulation.html import STYLE  # one palette for everything that is drawn

        content = STYLE + content
    return content.encode()


async def static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _TYPES:
        return Response(status_code=404)
    return Response(_file(name), media_type=_TYPES[name], headers={"Cache-Control": "no-cache"})


async def _refused(request: Request, error: Exception) -> Response:
    """What went wrong, on a page of its own."""
    if isinstance(error, TooLargeError | TooSlowError):
        code, words = (
            (413, "That is too much for one form.") if isinstance(error, TooLargeError) else (408, "Too slow.")
        )
    else:
        assert isinstance(error, NudgeError)
        codes: dict[type[NudgeError], int] = {ForgedError: 403, NotFoundError: 404, UsageError: 400}
        known = [code for kind, code in codes.items() if isinstance(error, kind)]
        code, words = (known[0] if known else 503), str(error)
    page = el(
        "html",
        el(
            "head",
            el("meta", charset="utf-8"),
            el("meta", name="viewport", content="width=device-width, initial-scale=1"),
            el("title", "nudge"),
            el("link", rel="stylesheet", href="/static/nudge.css"),
        ),
        el(
            "body",
            el(
                "main",
                el("h1", "That did not work"),
                el("p", words),
                el("p", el("a", "Back to Now", href="/")),
                class_="narrow",
            ),
        ),
        lang="en",
    )
    return HTMLResponse("<!doctype html>" + page, code, headers={"Connection": "close"} if code in (408, 413) else None)


async def _no_page(request: Request, _: Exception) -> Response:
    return await _refused(request, NotFoundError("There is no such page."))


def web_app(control: Path, visitors: Visitors, hosts: frozenset[str], simulate: Simulate) -> ASGIApp:
    """The pages behind the door."""
    handlers: Any = {404: _no_page, NudgeError: _refused, TooLargeError: _refused, TooSlowError: _refused}
    app = Starlette(routes=Site(control, simulate).routes(), exception_handlers=handlers)
    return Access(app, visitors, hosts)
