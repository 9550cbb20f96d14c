"""Refusals in the words of the protocol, so that clients show them once and do not hammer.

How the coding agents take a status was measured. 402 is shown at once by Claude Code, opencode and Gemini. Codex
retries it after as long as `retry-after` says, and shows a 400 at once: the protocol that it speaks gets that.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from nudge.errors import BudgetExhaustedError, NotFoundError, NudgeError, StoreError, UsageError
from nudge.gateway.calls import Protocol
from nudge.gateway.repeats import RepeatsError
from nudge.instants import DAY, MINUTE, SECOND, Instant, as_instant
from nudge.redaction import redact
from nudge.spending.allowance import RED_FROM, YELLOW_FROM, SpendingDay

Headers = list[tuple[bytes, bytes]]

_ANTHROPIC_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    503: "overloaded_error",
}


_FINAL = {Protocol.MESSAGES: 402, Protocol.CHAT: 402, Protocol.RESPONSES: 400, Protocol.GOOGLE: 402}
"""The status that the clients of a protocol take as the last word."""
_NO_MONEY = {Protocol.MESSAGES: "billing_error", Protocol.GOOGLE: "FAILED_PRECONDITION"}
_GOOGLE_TYPES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    408: "DEADLINE_EXCEEDED",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
}


class GatewayError(NudgeError):
    """The gateway does not relay this."""

    def __init__(
        self, status: int, message: str, *, next_step: str | None = None, retry_after: int | None = None
    ) -> None:
        super().__init__(message, next_step=next_step)
        self.status = status
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer of ours. `result` is how the log of calls tells it."""

    status: int
    message: str
    type: str
    retry_after: int | None = None
    result: str = ""

    def body(self, protocol: Protocol) -> bytes:
        if protocol is Protocol.MESSAGES:
            told: dict[str, object] = {"type": "error", "error": {"type": self.type, "message": self.message}}
        elif protocol is Protocol.GOOGLE:
            told = {"error": {"code": self.status, "message": self.message, "status": self.type}}
        else:
            told = {"error": {"message": self.message, "type": self.type, "param": None, "code": self.type}}
        return json.dumps(told, ensure_ascii=False).encode()

    def headers(self) -> Headers:
        headers: Headers = [(b"content-type", b"application/json"), (b"x-should-retry", b"false")]
        if self.retry_after is not None:
            headers.append((b"retry-after", str(self.retry_after).encode()))
        return headers

    def event(self, protocol: Protocol) -> bytes:
        """The same in the middle of a stream."""
        data = self.body(protocol)
        if protocol is Protocol.MESSAGES:
            return b"event: error\ndata: " + data + b"\n\n"
        if protocol is Protocol.RESPONSES:
            failed = {"type": "error", "code": self.type, "message": self.message, "param": None}
            return b"event: error\ndata: " + json.dumps(failed, ensure_ascii=False).encode() + b"\n\n"
        return b"data: " + data + b"\n\n"


def warnings(protocol: Protocol, day: SpendingDay, now: Instant, answered: Headers) -> Headers:
    """What an answer says about the day, from 60 % on, in the headers where clients look for their provider's limits.
    A service that speaks of limits of its own is not talked over.

    Claude Code shows the unified ones of a subscription: its five hours stand for the day, and from 90 % the status is
    a warning. Codex shows a primary window in percent.
    """
    meter = day.meter
    if protocol in (Protocol.CHAT, Protocol.GOOGLE) or not meter.reached(YELLOW_FROM):
        return []
    prefix = b"anthropic-ratelimit-unified-" if protocol is Protocol.MESSAGES else b"x-codex-primary-"
    if any(name.lower().startswith(prefix) for name, _ in answered):
        return []
    resets = str(day.refresh_at // SECOND).encode()
    if protocol is Protocol.RESPONSES:
        minutes = max(1, (day.refresh_at - now) // MINUTE)
        told = {b"used-percent": meter.percent, b"window-minutes": DAY // MINUTE, b"reset-after-seconds": minutes * 60}
        return [*((prefix + name, str(value).encode()) for name, value in told.items()), (prefix + b"reset-at", resets)]
    status = b"allowed_warning" if meter.reached(RED_FROM) else b"allowed"
    used = f"{min(meter.percent, 100) / 100:.2f}".encode()
    return [
        (prefix + b"status", status),
        (prefix + b"reset", resets),
        (prefix + b"representative-claim", b"five_hour"),
        (prefix + b"5h-status", status),
        (prefix + b"5h-reset", resets),
        (prefix + b"5h-utilization", used),
        *([(prefix + b"5h-surpassed-threshold", b"0.9")] if meter.reached(RED_FROM) else []),
    ]


def refusal_of(error: NudgeError, protocol: Protocol, now: Instant) -> Refusal:
    """What a client is told about an error of ours."""
    words = redact(str(error))
    if isinstance(error, BudgetExhaustedError):
        kind = _NO_MONEY.get(protocol, "insufficient_quota")
        return Refusal(_FINAL[protocol], words, kind, _seconds(error, now), "refused")
    if isinstance(error, RepeatsError):  # not money, and the same status: it is the one that clients do not repeat
        return Refusal(_FINAL[protocol], words, _type(400, protocol), result="repeats itself")
    if isinstance(error, StoreError):
        text = "nudge cannot read its database, so nothing is spent. Run 'nudge doctor'."
        return Refusal(503, text, _type(503, protocol), 5, "database away")
    if isinstance(error, GatewayError):
        return Refusal(error.status, words, _type(error.status, protocol), error.retry_after, "not relayed")
    if isinstance(error, NotFoundError):
        return Refusal(404, words, _type(404, protocol), result="not relayed")
    status = 400 if isinstance(error, UsageError) else 500
    return Refusal(status, words, _type(status, protocol), result="not relayed")


def _seconds(error: BudgetExhaustedError, now: Instant) -> int | None:
    if error.retry_at is None:
        return None
    return max(1, -(-(as_instant(error.retry_at) - now) // SECOND))


def _type(status: int, protocol: Protocol) -> str:
    if protocol is Protocol.MESSAGES:
        return _ANTHROPIC_TYPES.get(status, "api_error")
    if protocol is Protocol.GOOGLE:
        return _GOOGLE_TYPES.get(status, "INVALID_ARGUMENT" if status < 500 else "INTERNAL")
    return "invalid_request_error" if status < 500 else "server_error"
