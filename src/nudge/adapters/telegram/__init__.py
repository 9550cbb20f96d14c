"""Telegram as the person's channel."""

from nudge.adapters.telegram.channel import BotIdentity, TelegramChannel

__all__ = ["BotIdentity", "TelegramChannel"]
