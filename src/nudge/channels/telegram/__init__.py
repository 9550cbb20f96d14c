"""Telegram as the person's channel."""

from nudge.channels.telegram.channel import BotIdentity, TelegramChannel

__all__ = ["BotIdentity", "TelegramChannel"]
