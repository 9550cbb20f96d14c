"""The Approver port: a person who may say yes to more budget."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from nudge.progress.extensions import ExtensionRequest


class Approval(StrEnum):
    """How a request ended. Only GRANTED is a yes; the others differ so that the log can say why it was a no."""

    GRANTED = "granted"
    DENIED = "denied"
    TIMED_OUT = "timed-out"
    UNATTENDED = "unattended"

    @property
    def is_yes(self) -> bool:
        return self is Approval.GRANTED


class Approver(Protocol):
    """Puts a request before a person and returns by its deadline at the latest: silence is a no.

    It changes no budget. Whoever asked calls `grant` or `deny` with the moment at which the answer came.
    """

    async def ask(self, request: ExtensionRequest) -> Approval: ...
