"""What the Bot API can answer instead of a result, in the words of nudge's errors.

Every sentence here is written to be shown: descriptions of the service pass through with the token cut out of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nudge.errors import ChannelUnavailableError, NotConfiguredError, NudgeError
from nudge.queue.channel import ChannelRefusedError

_MAY_HAVE_PASSED = frozenset({502, 504})  # a gateway that gave up waiting


class BadRequestError(NudgeError):
    """Telegram does not accept this call."""

    def __init__(self, description: str) -> None:
        super().__init__(f"Telegram does not accept this call: {description}")
        self.description = description


class ConflictError(NudgeError):
    """Telegram ended this poll because of another one."""

    def __init__(self, description: str) -> None:
        super().__init__(f"Telegram ended the poll: {description}")
        self.webhook = "webhook" in description.lower()


class StalledError(ChannelUnavailableError):
    """Telegram did not answer in time."""


def failure_of(status: int, body: Any, token: str) -> NudgeError:
    """The error of an answer that is not ok."""
    told: Mapping[str, Any] = body if isinstance(body, dict) else {}
    description = str(told.get("description") or f"status {status}").replace(token, "<token>")[:300]
    if status in (401, 404):
        return NotConfiguredError(
            f"Telegram does not know this bot ({description}).",
            next_step="Get a token from @BotFather and put it into .env as TELEGRAM_BOT_TOKEN.",
        )
    if status == 403:
        return ChannelRefusedError(
            f"Telegram does not deliver to this person ({description}); sending again will not help.",
            next_step="Open the chat with the bot in Telegram, unblock it and press Start.",
        )
    if status == 409:
        return ConflictError(description)
    if status == 429:
        return ChannelUnavailableError(
            f"Telegram asks for a pause ({description}).", retry_after=_seconds(told.get("parameters"))
        )
    if status == 400 and "chat not found" in description.lower():
        return NotConfiguredError(
            "Telegram knows no chat between this bot and the person.",
            next_step="Open the bot in Telegram and press Start; check the person's id in nudge.toml.",
        )
    if 400 <= status < 500:
        return BadRequestError(description)
    return ChannelUnavailableError(f"Telegram is out of order ({description}).", maybe_sent=status in _MAY_HAVE_PASSED)


def _seconds(parameters: Any) -> float | None:
    value = parameters.get("retry_after") if isinstance(parameters, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        return None
    return float(value)
