"""Where a request goes: which agent pays, for which run, and whether it costs money.

    /agents/NAME/v1/messages                 the agent is in the path
    /agents/NAME/runs/RUN/v1/messages        and a run too, as `nudge exec` sets it
    /agents/NAME/v1beta/models/M:generateContent
    /v1/messages                             the agent is in the token

What cannot cost money passes. Everything else is a model call that we know how to hold, or it is refused: a route that
nobody counts would be a way around every budget.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import unquote_plus

from nudge.errors import NotFoundError, UsageError
from nudge.gateway.calls import Protocol
from nudge.gateway.google import google_call, is_free

LONGEST_PATH = 1_000
RUN_HEADER = "x-nudge-run"

_SEGMENT = re.compile(r"[A-Za-z0-9._:~-]+")
_QUERY = re.compile(r"[!-~]*")
_RUN = re.compile(r"[A-Za-z0-9._-]{1,80}")
_HASHED = re.compile(r"h-[0-9a-f]{16}")
_AGENT = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")

_CALLS = {
    "v1/messages": Protocol.MESSAGES,
    "v1/chat/completions": Protocol.CHAT,
    "v1/responses": Protocol.RESPONSES,
}
_FREE_POSTS = re.compile(
    r"v1/messages/count_tokens|v1/responses/input_tokens|v1/responses/[^/]+/cancel|api/event_logging/batch"
)
_READS = ("GET", "HEAD")
_GOOGLE = ("v1beta", "v1alpha")
KEY_HEADER = "x-goog-api-key"
_KEYS = ("key", "$key", "access_token")
"""Fields of a query that Google takes a credential from."""
_OTHER_METHODS = ("x-http-method-override", "x-http-method", "x-method-override")
"""With these, some services read a GET as a POST: a call that nobody counts."""
_MASKS, _MASK_HEADER = ("fields", "$fields"), "x-goog-fieldmask"
"""What Google leaves out of an answer. Without its usage, or with half of it, nobody knows what a call costs."""

_SESSION_HEADERS = (
    *(RUN_HEADER, "x-claude-code-session-id", "session-id", "session_id"),
    *("x-parent-session-id", "x-session-id"),
)
"""Claude Code, Codex, opencode. A session that has a parent is a member of the parent's run."""
_MEMBER_HEADERS = ("x-claude-code-agent-id", "thread-id", "x-session-id")


class Kind(StrEnum):
    CALL = "call"
    FREE = "free"
    UNCOUNTED = "uncounted"


@dataclass(frozen=True, slots=True)
class Route:
    """`path` is what is asked of the service, without a slash in front. Without an `agent` a token has to name it.
    `model` and `stream` are set where the path says them, as Google's do; `key` is the credential in the query."""

    kind: Kind
    agent: str
    run: str
    path: str
    query: str = field(repr=False)
    protocol: Protocol
    model: str = ""
    stream: bool = False
    key: str = field(default="", repr=False)

    @property
    def query_without_key(self) -> str:
        return "&".join(part for part in self.query.split("&") if _name_of(part) not in _KEYS)


def read_route(method: str, raw_path: bytes, query: bytes, headers: Mapping[str, str]) -> Route:
    """The route of a request. Raises UsageError for one that could mean two things, NotFoundError for a path that means
    nothing here.

    >>> route = read_route("POST", b"/agents/builder/v1/messages", b"beta=true", {})
    >>> route.agent, route.kind.value, route.path, route.query
    ('builder', 'call', 'v1/messages', 'beta=true')
    """
    segments = _segments(raw_path)
    agent = run = ""
    if segments[0] == "agents" and len(segments) > 1:
        agent, segments = segments[1], segments[2:]
        if not _AGENT.fullmatch(agent):
            raise NotFoundError(f"There is no agent called {agent!r}.", next_step="Run 'nudge agent list'.")
        if len(segments) > 1 and segments[0] == "runs":
            run, segments = segments[1], segments[2:]
            if not _RUN.fullmatch(run):
                raise UsageError(f"{run!r} cannot be a run's name.", next_step="Use letters, digits and dashes.")
    if not segments or segments[0] not in ("v1", "api", *_GOOGLE):
        raise NotFoundError(
            "There is nothing at this address.",
            next_step="Use /agents/NAME as the base URL for Anthropic and Google, /agents/NAME/v1 for OpenAI.",
        )
    asked = query.decode("latin-1")
    if not _QUERY.fullmatch(asked):
        raise UsageError("The query of this address has invalid characters.")
    if other := next((name for name in _OTHER_METHODS if name in headers), None):
        raise UsageError(f"The header {other} names another method.", next_step="Use that method itself.")
    path = "/".join(segments)
    model, stream = google_call(path) or ("", False)
    kind, protocol, key = _kind(method, path), _protocol(path, headers), ""
    if protocol is Protocol.GOOGLE:
        told = {_name_of(part): unquote_plus(part.partition("=")[2]) for part in asked.split("&")}
        key = next((told[name] for name in _KEYS if told.get(name)), "")
        if kind is Kind.CALL and (_MASK_HEADER in headers or not told.keys().isdisjoint(_MASKS)):
            raise UsageError("A field mask would hide what this call costs.", next_step="Ask for the whole answer.")
    return Route(kind, agent, run, path, asked, protocol, model, stream, key)


def run_of(route: Route, headers: Mapping[str, str]) -> str:
    """The run that a call belongs to, as the client names it: its session, and the agent inside it. Empty where it
    names none.

    >>> route = read_route("POST", b"/agents/builder/v1/messages", b"", {})
    >>> run_of(route, {"x-claude-code-session-id": "s1", "x-claude-code-agent-id": "reviewer"})
    's1/reviewer'
    """
    session = _first(headers, _SESSION_HEADERS)
    member = _first(headers, _MEMBER_HEADERS) if session else ""
    return "/".join(part for part in (route.run, session, member if member != session else "") if part)


def session_of(run: str) -> str:
    """The client's own session in the run of a call that came by `/runs/RUN`; empty if it named none that it would
    know again.

    >>> session_of("run-7/5f0c/reviewer"), session_of("run-7"), session_of("run-7/h-0123456789abcdef")
    ('5f0c', '', '')
    """
    session = run.split("/")[1] if "/" in run else ""
    return "" if session.startswith("-") or _HASHED.fullmatch(session) else session


def _segments(raw_path: bytes) -> list[str]:
    """The parts of a path. One that is written in a way that another server may read differently is refused."""
    path = raw_path.decode("latin-1")
    segments = path.removeprefix("/").split("/")
    strange = any(not _SEGMENT.fullmatch(part) or part.strip(".") == "" for part in segments)
    if not path.startswith("/") or len(path) > LONGEST_PATH or strange:
        raise UsageError("This address cannot be used.", next_step="Write it without '..', '//' and '%'.")
    return segments


def _name_of(part: str) -> str:
    return unquote_plus(part.partition("=")[0])


def _kind(method: str, path: str) -> Kind:
    if method == "POST" and (path in _CALLS or google_call(path)):
        return Kind.CALL
    free = _FREE_POSTS.fullmatch(path) or is_free(path)
    if method in _READS or method == "DELETE" or (method == "POST" and free):
        return Kind.FREE
    return Kind.UNCOUNTED


def _protocol(path: str, headers: Mapping[str, str]) -> Protocol:
    """Whose address this is. Some are the same with both providers; then the client's headers tell."""
    if path in _CALLS:
        return _CALLS[path]
    if path.startswith(_GOOGLE) or google_call(path) or is_free(path) or KEY_HEADER in headers:
        return Protocol.GOOGLE
    if path.startswith(("v1/messages", "api/")) or "anthropic-version" in headers or "x-api-key" in headers:
        return Protocol.MESSAGES
    return Protocol.RESPONSES


def _first(headers: Mapping[str, str], names: tuple[str, ...]) -> str:
    given = next((headers[name] for name in names if headers.get(name)), "")
    if not given or _RUN.fullmatch(given):
        return given
    return f"h-{hashlib.sha256(given.encode('latin-1', 'replace')).hexdigest()[:16]}"
