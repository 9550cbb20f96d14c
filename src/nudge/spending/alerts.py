"""Alerts: what the person also gets by e-mail, because they may not be looking.

A mail is a timer. It is set in the transaction that raised the alert, so that there is one for each incident, and it is
retried until it is out or a day has passed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol

from nudge.errors import NudgeError
from nudge.instants import DAY, Instant
from nudge.queue.firing import Firing
from nudge.queue.outcomes import Result
from nudge.queue.timers import Timer
from nudge.redaction import redact
from nudge.spending.lifecycle import Alert


@dataclass(frozen=True, slots=True)
class Mail:
    """`id` stays the same when a mail is sent again after a crash, so that a mailbox can tell the repeat."""

    id: str
    subject: str
    text: str
    at: Instant


class Mailer(Protocol):
    """Raises ChannelUnavailableError if sending later may work, and NotConfiguredError if somebody has to fix
    something first."""

    async def send(self, mail: Mail) -> None: ...


MAIL = "mail"
GIVE_UP_AFTER = DAY


def mail_timer(agent: str, alert: Alert, now: Instant) -> Timer:
    """An alert on its way. A slow mail server keeps nothing else of the agent waiting."""
    payload = {"subject": alert.subject, "text": alert.text}
    return Timer.at(agent, f"mail:{now}", MAIL, now, payload=payload, lane=f"{agent}/mail")


class Alerts:
    """The handler of mail timers."""

    def __init__(self, mailer: Mailer | None = None) -> None:
        self._mailer = mailer

    async def mail(self, firing: Firing) -> None:
        """Send one alert. Without a mail server its outcome says so; the feed and the status have it anyway."""
        timer = firing.timer
        if self._mailer is None:
            async with firing.settle() as settlement:
                settlement.outcome(Result.SKIPPED, "No mail server is set up. Set NUDGE_SMTP_URL in .env.")
            return
        name = hashlib.sha256(f"{timer.agent} {timer.key}".encode()).hexdigest()[:24]
        subject = f"{timer.payload['subject']} ({timer.agent})"
        try:
            await self._mailer.send(Mail(name, subject, str(timer.payload["text"]), timer.slot_at))
        except NudgeError as error:
            if firing.now - timer.slot_at < GIVE_UP_AFTER:
                raise
            async with firing.settle() as settlement:
                settlement.outcome(Result.FAILED, f"Could not send the mail for a day: {redact(str(error))}")
                settlement.feed("failed", f"⚠️ Could not send the mail “{subject}”. Check NUDGE_SMTP_URL.")
            return
        async with firing.settle() as settlement:
            settlement.outcome(Result.FIRED)
