"""The Bot API's side of the fake: requests in, the service's answers out, over one bot's state."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from nudge.testing import telegram_rules as rules
from nudge.testing.faults import FaultKind, Faults
from nudge.testing.loopback import Bell

BOT = {"id": 1234567890, "is_bot": True, "first_name": "nudge", "username": "nudge_fake_bot"}
CONFLICT = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
_ONLY_ON_REQUEST = frozenset({"chat_member", "message_reaction", "message_reaction_count"})


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message the bot sent and the service accepted. `buttons` are rows of (label, data)."""

    message_id: int
    chat_id: int
    text: str
    entities: tuple[Mapping[str, Any], ...] = ()
    buttons: tuple[tuple[tuple[str, str], ...], ...] = ()


@dataclass(slots=True)
class BotState:
    """Everything the service knows of one bot."""

    pending: list[dict[str, Any]] = field(default_factory=list)
    confirmed: list[dict[str, Any]] = field(default_factory=list)
    replaying: bool = False
    next_update: int = 700_000_001
    next_message: int = 1
    allowed: frozenset[str] | None = None
    sent: list[SentMessage] = field(default_factory=list)
    callbacks: set[str] = field(default_factory=set)
    answers: list[tuple[str, str]] = field(default_factory=list)
    commands: tuple[tuple[str, str], ...] = ()
    blocked: set[int] = field(default_factory=set)
    strangers: set[int] = field(default_factory=set)
    rival: bool = False
    webhook: bool = False
    polls: int = 0
    calls: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)


class BotApi:
    """The methods of the Bot API. `waiting` is the one long poll that waits, if any."""

    def __init__(self, token: str, clock: Callable[[], float]) -> None:
        self.token = token
        self.clock = clock
        self.bell = Bell()
        self.faults = Faults(self.bell)
        self.state = BotState()
        self.waiting: object | None = None
        self._methods: dict[str, Callable[[Mapping[str, Any], Request], Awaitable[Any]]] = {
            "getupdates": self._get_updates,
            "sendmessage": self._send_message,
            "answercallbackquery": self._answer_callback_query,
            "sendchataction": self._send_chat_action,
            "setmycommands": self._set_my_commands,
            "getmycommands": self._get_my_commands,
            "getme": self._get_me,
            "setwebhook": self._set_webhook,
            "deletewebhook": self._delete_webhook,
        }

    async def serve(self, request: Request) -> Response:
        method = request.path_params["method"]
        params = await _params(request)
        token = request.path_params["token"]
        if token != self.token:
            return _error(401, "Unauthorized") if re.fullmatch(r"\d+:[\w-]+", token) else _error(404, "Not Found")
        with self.bell.lock:
            self.state.calls.append((method, params))
        fault = self.faults.take(method)
        if fault is not None and fault.done:
            with suppress(rules.BadRequestError, _RefusedError):
                await self._methods[method.lower()](params, request)
        if fault is not None and fault.kind is FaultKind.STATUS:
            return _error(fault.status, fault.message or _DESCRIPTIONS.get(fault.status, "Error"), fault.retry_after)
        if fault is not None:
            return await self.faults.play(fault, request)
        call = self._methods.get(method.lower())
        if call is None:
            return _error(404, "Not Found")
        try:
            return JSONResponse({"ok": True, "result": await call(params, request)})
        except rules.BadRequestError as refusal:
            return _error(400, str(refusal))
        except _RefusedError as refusal:
            return _error(refusal.status, refusal.description)

    async def _get_updates(self, params: Mapping[str, Any], request: Request) -> list[dict[str, Any]]:
        offset, limit, timeout = (_int(params, name) for name in ("offset", "limit", "timeout"))
        limit = min(limit, 100) if limit >= 1 else 100
        with self.bell.lock:
            state = self.state
            state.polls += 1
            if state.webhook:
                raise _RefusedError(409, "Conflict: can't use getUpdates method while webhook is active")
            if state.rival:
                raise _RefusedError(409, CONFLICT)
            if "allowed_updates" in params:
                names = {str(name).lower() for name in _json(params["allowed_updates"]) or ()}
                state.allowed = frozenset(names) or None
            self._confirm(offset)
            if state.replaying:
                state.replaying = False
                return state.confirmed + state.pending
            if state.pending or timeout <= 0:
                return state.pending[:limit]
            mine = self.waiting = object()
        self.bell.ring()
        try:
            await self.bell.heard(
                lambda: self.waiting is not mine or bool(self.state.pending) or self.state.rival,
                min(timeout, 50),
                request,
            )
            with self.bell.lock:
                if self.waiting is not mine or self.state.rival:
                    raise _RefusedError(409, CONFLICT)
                return self.state.pending[:limit]
        finally:
            with self.bell.lock:
                if self.waiting is mine:
                    self.waiting = None
            self.bell.ring()

    def _confirm(self, offset: int) -> None:
        state = self.state
        if offset < 0:
            done, left = state.pending[:offset], state.pending[offset:]
        elif offset <= state.next_update + 10:
            done = [update for update in state.pending if _number(update) < offset]
            left = [update for update in state.pending if _number(update) >= offset] if done else state.pending
        else:
            return
        state.confirmed += done
        state.pending = left

    async def _send_message(self, params: Mapping[str, Any], request: Request) -> dict[str, Any]:
        chat = _int(params, "chat_id")
        if chat in self.state.strangers or chat == 0:
            raise rules.BadRequestError("Bad Request: chat not found")
        if chat in self.state.blocked:
            raise _RefusedError(403, "Forbidden: bot was blocked by the user")
        text, entities = rules.read_text({**params, "entities": _json(params.get("entities"))})
        buttons = rules.read_buttons(_json(params.get("reply_markup")))
        message = SentMessage(self.message_id(), chat, text, tuple(entities), buttons)
        with self.bell.lock:
            self.state.sent.append(message)
        self.bell.ring()
        return {
            "message_id": message.message_id,
            "from": BOT,
            "chat": {"id": chat, "type": "private", "first_name": "Person"},
            "date": int(self.clock()),
            "text": text,
            **({"entities": entities} if entities else {}),
        }

    async def _answer_callback_query(self, params: Mapping[str, Any], request: Request) -> bool:
        number, text = str(params.get("callback_query_id", "")), str(params.get("text", ""))
        if number not in self.state.callbacks:
            raise rules.BadRequestError(
                "Bad Request: query is too old and response timeout expired or query ID is invalid"
            )
        if rules.units(text) > rules.CALLBACK_ANSWER_UNITS:
            raise rules.BadRequestError("Bad Request: MESSAGE_TOO_LONG")
        with self.bell.lock:
            self.state.callbacks.discard(number)
            self.state.answers.append((number, text))
        self.bell.ring()
        return True

    async def _send_chat_action(self, params: Mapping[str, Any], request: Request) -> bool:
        if _int(params, "chat_id") in self.state.strangers:
            raise rules.BadRequestError("Bad Request: chat not found")
        if params.get("action") != "typing":
            raise rules.BadRequestError("Bad Request: wrong parameter action in request")
        return True

    async def _set_my_commands(self, params: Mapping[str, Any], request: Request) -> bool:
        self.state.commands = rules.read_commands(_json(params.get("commands")))
        return True

    async def _get_my_commands(self, params: Mapping[str, Any], request: Request) -> list[dict[str, str]]:
        return [{"command": name, "description": words} for name, words in self.state.commands]

    async def _get_me(self, params: Mapping[str, Any], request: Request) -> dict[str, Any]:
        return BOT

    async def _set_webhook(self, params: Mapping[str, Any], request: Request) -> bool:
        self.state.webhook = bool(params.get("url"))
        return True

    async def _delete_webhook(self, params: Mapping[str, Any], request: Request) -> bool:
        self.state.webhook = False
        return True

    def subscribed(self, update: Mapping[str, Any]) -> bool:
        allowed = self.state.allowed
        return not _ONLY_ON_REQUEST & set(update) if allowed is None else bool(allowed & set(update))

    def message_id(self) -> int:
        with self.bell.lock:
            self.state.next_message += 1
            return self.state.next_message - 1


_DESCRIPTIONS = {429: "Too Many Requests", 500: "Internal Server Error", 502: "Bad Gateway", 409: CONFLICT}


class _RefusedError(Exception):
    def __init__(self, status: int, description: str) -> None:
        super().__init__(description)
        self.status = status
        self.description = description


def _error(status: int, description: str, retry_after: float | str | None = None) -> Response:
    body: dict[str, Any] = {"ok": False, "error_code": status, "description": description}
    if retry_after is not None:
        body["description"] = f"{description}: retry after {retry_after}"
        body["parameters"] = {"retry_after": retry_after}
    return JSONResponse(body, status_code=status)


async def _params(request: Request) -> dict[str, Any]:
    """Parameters from the query, a form or a JSON body, as the service takes them."""
    params: dict[str, Any] = dict(request.query_params)
    body = await request.body()
    if request.headers.get("content-type", "").startswith("application/json"):
        given = json.loads(body or b"{}")
        return {**params, **(given if isinstance(given, dict) else {})}
    return {**params, **dict(parse_qsl(body.decode(), keep_blank_values=True))}


def _number(update: Mapping[str, Any]) -> int:
    number = update["update_id"]
    return number if isinstance(number, int) else 0  # a test may push nonsense


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _int(params: Mapping[str, Any], name: str) -> int:
    try:
        return int(params.get(name) or 0)
    except (TypeError, ValueError):
        raise rules.BadRequestError(f"Bad Request: invalid {name} specified") from None
