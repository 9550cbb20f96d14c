"""What a failed attempt means: try again, give up, or ask in another way. In words without secrets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from nudge.backoff import Policy, SetbackError, parse_retry_after
from nudge.errors import ModelUnavailableError, NotConfiguredError, NudgeError
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
    """The service said no: with the status of its answer, or in the middle of a stream as if it had been one."""

    def __init__(self, status: int, said: str, retry_after: str | None = None) -> None:
        super().__init__(said)
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


@dataclass(frozen=True, slots=True)
class Help:
    """What to tell the operator: the service's name, how to fix the key, and how to fix the model's name."""

    service: str
    key: str
    model: str


def failure_of_refusal(
    refused: RefusedError, request: ModelRequest | None, help_: Help, *, now: Instant, key: str
) -> Failure:
    """What it means that the service said no. Its words may quote the key."""
    status, said = refused.status, redact(refused.said, (key,))
    wait = parse_retry_after(refused.retry_after, now)
    words = said[:LONGEST_WORDS] or f"status {status}"
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
        error = ModelUnavailableError(f"{help_.service} asks for a pause ({words}).", retry_after=wait)
        return SetbackError(Policy.MODEL_RATE, error)
    if status >= 500:
        error = ModelUnavailableError(f"{help_.service} is out of order ({words}).", retry_after=wait)
        return SetbackError(Policy.MODEL_SERVER, error)
    if status == 408:
        return SetbackError(
            Policy.MODEL_NETWORK, ModelUnavailableError(f"{help_.service} did not answer in time ({words}).")
        )
    return NudgeError(f"{help_.service} does not accept this question ({words}).")


def _lacking(status: int, said: str, request: ModelRequest | None) -> Capability | None:
    """What the service says it cannot do. A request has a schema or tools, so there is no doubt what is meant."""
    if request is None or status not in _REFUSED or not (_SUBJECT.search(said) and _CANNOT.search(said)):
        return None
    if request.schema is not None:
        return Capability.SCHEMA
    return Capability.TOOLS if request.tools else None


def no_answer(service: str, seconds: float) -> SetbackError:
    return SetbackError(Policy.MODEL_NETWORK, ModelUnavailableError(f"{service} did not answer within {seconds:g} s."))


def no_connection(service: str) -> SetbackError:
    return SetbackError(Policy.MODEL_NETWORK, ModelUnavailableError(f"The connection to {service} failed."))


def unreadable(service: str) -> SetbackError:
    return SetbackError(Policy.MODEL_NETWORK, ModelUnavailableError(f"The answer of {service} cannot be read."))
