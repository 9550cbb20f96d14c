"""What a failed attempt means: try again, give up, or ask in another way. In words without secrets.

What the service certainly did not do is free, and tried again here (SetbackError). What it may have done (it was sent,
and no whole answer came back) may be billed: that is told to the caller, who has the money for another attempt or not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from nudge.backoff import Policy, SetbackError, parse_retry_after
from nudge.errors import ModelUnavailableError, NotConfiguredError, NudgeError, QuestionRefusedError
from nudge.instants import Instant
from nudge.model import ModelRequest
from nudge.redaction import redact

LONGEST_WORDS = 300


class Capability(StrEnum):
    """What not every model can do. Where one cannot, the question is asked in words instead (`models.fallbacks`)."""

    TOOLS = "tools"
    SCHEMA = "an answer of a given form"


class LacksError(Exception):
    """The service refused a question because of what this model cannot do."""

    def __init__(self, capability: Capability, words: str) -> None:
        super().__init__(words)
        self.capability = capability


class RefusedError(Exception):
    """The service said no: with the status of its answer, or in the middle of a stream as if it had been one.

    `own` says that the answer has the form of the service's own errors. One without it may come from a gateway on the
    way, which does not know what the service did.
    """

    def __init__(self, status: int, said: str, retry_after: str | None = None, *, own: bool = True) -> None:
        super().__init__(said)
        self.own = own
        self.status = status
        self.said = said
        self.retry_after = retry_after


Failure = SetbackError | NudgeError | LacksError

_SUBJECT = re.compile(r"tool|function|response_format|schema|structured|grammar", re.IGNORECASE)
_CANNOT = re.compile(
    r"support|unavailable|unknown|unrecogni[sz]ed|requires|must be"
    r"|not (?:allowed|permitted|enabled|implemented|available)",
    re.IGNORECASE,
)
_REFUSED = (400, 404, 405, 422, 501)
_GATEWAY = (408, 502, 504, *range(520, 528))
"""What gateways answer when the service behind them was asked and its answer did not come back."""


@dataclass(frozen=True, slots=True)
class Help:
    """What to tell the operator: the service's name, how to fix the key, and how to fix the model's name."""

    service: str
    key: str
    model: str


def failure_of_refusal(
    refused: RefusedError, request: ModelRequest | None, help_: Help, *, now: Instant, key: str, begun: bool = False
) -> Failure:
    """What it means that the service said no. Its words may quote the key. `begun`: it had begun to answer."""
    status, said = refused.status, redact(refused.said, (key,))
    wait = parse_retry_after(refused.retry_after, now)
    words = said[:LONGEST_WORDS] or f"status {status}"
    if begun or (status in _GATEWAY and not refused.own):
        return ModelUnavailableError(f"{help_.service}'s answer broke off ({words}).", retry_after=wait)
    lacking = _lacking(status, said, request)
    if lacking is not None:
        return LacksError(lacking, words)
    if status in (401, 403):
        return NotConfiguredError(f"{help_.service} does not accept the key ({words}).", next_step=help_.key)
    if status == 404:
        return NotConfiguredError(
            f"{help_.service} does not know this model or address ({words}).", next_step=help_.model
        )
    if status == 429:
        error = ModelUnavailableError(
            f"{help_.service} asks nudge to slow down ({words}).", retry_after=wait, unbilled=True
        )
        return SetbackError(Policy.MODEL_RATE, error)
    if status >= 500:
        error = ModelUnavailableError(f"{help_.service} has a problem ({words}).", retry_after=wait, unbilled=True)
        return SetbackError(Policy.MODEL_SERVER, error)
    if status == 408:
        error = ModelUnavailableError(f"{help_.service} did not answer in time ({words}).", unbilled=True)
        return SetbackError(Policy.MODEL_NETWORK, error)
    return QuestionRefusedError(f"{help_.service} rejected this request ({words}).")


def _lacking(status: int, said: str, request: ModelRequest | None) -> Capability | None:
    """What the service says it cannot do. A request has a schema or tools, so there is no doubt what is meant."""
    if request is None or status not in _REFUSED or not (_SUBJECT.search(said) and _CANNOT.search(said)):
        return None
    if request.schema is not None:
        return Capability.SCHEMA
    return Capability.TOOLS if request.tools else None


def not_reached(service: str) -> SetbackError:
    """Nothing was sent, so nothing can have been done."""
    error = ModelUnavailableError(f"The connection to {service} failed.", unbilled=True)
    return SetbackError(Policy.MODEL_NETWORK, error)


def no_answer(service: str, seconds: float) -> ModelUnavailableError:
    return ModelUnavailableError(f"{service} did not answer within {seconds:g} s.")


def cut_off(service: str) -> ModelUnavailableError:
    return ModelUnavailableError(f"The connection to {service} broke off.")


def unreadable(service: str) -> ModelUnavailableError:
    return ModelUnavailableError(f"{service}'s answer cannot be read.")
