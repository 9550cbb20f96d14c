"""The Mailer port: a letter to the person by e-mail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from nudge.instants import Instant


@dataclass(frozen=True, slots=True)
class Mail:
    """`id` stays the same when a mail is sent again after a crash, so that a mailbox can tell the repeat."""

    id: str
    subject: str
    text: str
    at: Instant


class Mailer(Protocol):
    """Raises ChannelUnavailableError where sending later may work, and NotConfiguredError where somebody has to mend
    something first."""

    async def send(self, mail: Mail) -> None: ...
