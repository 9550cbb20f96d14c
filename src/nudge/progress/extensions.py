"""Extensions: a run asks a person for more tokens. Asking grants nothing; only an answer in time does.

The person is not asked all day: at most three extensions, and a pause after every answer, also after a no and after
silence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from nudge.errors import UsageError
from nudge.instants import SECOND, Instant, to_datetime
from nudge.numbers import is_whole
from nudge.progress.run_limits import EconomicsTuning


@dataclass(frozen=True, slots=True)
class ExtensionRequest:
    """A run's request for more tokens, as a person sees it. Fields can also be read as items.

    `can_request` False means: ask nobody (and `id` is 0). `refused_because` then says why, and `retry_at` when it would
    be allowed, if that is known. `deadline` is the first moment at which an answer comes too late.

    >>> request = ExtensionRequest(id=1, can_request=True, additional_tokens=200_000, reason="Finish the tests",
    ...                            extensions_granted=0, max_extensions=3)
    >>> request["can_request"], request["max_extensions"]
    (True, 3)
    """

    id: int
    can_request: bool
    additional_tokens: int
    reason: str
    extensions_granted: int
    max_extensions: int
    deadline: datetime | None = None
    refused_because: str | None = None
    retry_at: datetime | None = None

    def __getitem__(self, name: str) -> Any:
        if name not in self.keys():
            raise KeyError(name)
        return getattr(self, name)

    def keys(self) -> tuple[str, ...]:
        """The names of the fields, so that `dict(request)` works."""
        return tuple(field.name for field in fields(self))

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())


@dataclass(frozen=True, slots=True)
class Extensions:
    """The history of a session's extensions and the request that is open, if there is one."""

    asked: int = 0
    granted: int = 0
    answered_at: int | None = None
    pending_tokens: int = 0
    pending_until: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None and field.name in ("answered_at", "pending_until"):
                continue
            if not is_whole(value):
                raise UsageError(f"{value!r} is not a whole number ({field.name}).")

    def at(self, now: Instant) -> Extensions:
        """The history as of `now`. Silence is a no: a request that is open at its deadline is denied as of then."""
        if self.pending_until is None or now < self.pending_until:
            return self
        return replace(self, answered_at=self.pending_until, pending_until=None, pending_tokens=0)

    def requested(
        self, additional_tokens: int, reason: str, now: Instant, tuning: EconomicsTuning
    ) -> tuple[Extensions, ExtensionRequest]:
        """The history with a new request, or a request that says why there must be none."""
        if not is_whole(additional_tokens) or additional_tokens <= 0:
            raise UsageError(
                f"An extension cannot be {additional_tokens!r} tokens.", next_step="Ask for a whole number above 0."
            )
        if not reason.strip():
            raise UsageError("An extension needs a reason.", next_step="Say what the tokens are for.")
        settled = self.at(now)
        refused, retry_at = settled.refusal(now, tuning)
        number = settled.asked + 1
        deadline = Instant(now + tuning.extension_deadline_seconds * SECOND)
        request = ExtensionRequest(
            id=number if refused is None else 0,
            can_request=refused is None,
            additional_tokens=additional_tokens,
            reason=reason.strip(),
            extensions_granted=settled.granted,
            max_extensions=tuning.max_extensions,
            deadline=to_datetime(deadline) if refused is None else None,
            refused_because=refused,
            retry_at=None if retry_at is None else to_datetime(retry_at),
        )
        if refused is not None:
            return settled, request
        return replace(settled, asked=number, pending_tokens=additional_tokens, pending_until=deadline), request

    def answered(self, request_id: int, yes: bool, now: Instant) -> tuple[Extensions, int]:
        """The history with a request answered, and how many tokens the answer gave.

        It gives none if the request was refused, answered before or past its deadline: a second key press or a late yes
        never grants.
        """
        settled = self.at(now)
        if settled.pending_until is None or request_id != settled.asked:
            return settled, 0
        tokens = settled.pending_tokens if yes else 0
        return (
            replace(
                settled,
                granted=settled.granted + (1 if yes else 0),
                answered_at=now,
                pending_tokens=0,
                pending_until=None,
            ),
            tokens,
        )

    def refusal(self, now: Instant, tuning: EconomicsTuning) -> tuple[str | None, Instant | None]:
        """Why nobody may be asked now, and from when on; None and None if they may. Exactly the cooldown after the last
        answer is late enough."""
        if self.pending_until is not None and now < self.pending_until:
            return "A request is still open.", None
        if self.granted >= tuning.max_extensions:
            return f"All {tuning.max_extensions} extensions are used.", None
        answered_at = self.answered_at if self.pending_until is None else self.pending_until
        if answered_at is not None:
            again = Instant(answered_at + tuning.extension_cooldown_seconds * SECOND)
            if now < again:
                return f"The last answer is less than {tuning.extension_cooldown_seconds} seconds old.", again
        return None, None


class Approval(StrEnum):
    """How a request ended. Only GRANTED is a yes; the others say why it was a no."""

    GRANTED = "granted"
    DENIED = "denied"
    TIMED_OUT = "timed-out"
    UNATTENDED = "unattended"

    @property
    def is_yes(self) -> bool:
        return self is Approval.GRANTED


class Approver(Protocol):
    """Shows a request to a person and returns by its deadline: silence is a no.

    It changes no budget: the caller then calls `grant` or `deny` with the moment when the answer came.
    """

    async def ask(self, request: ExtensionRequest) -> Approval: ...
