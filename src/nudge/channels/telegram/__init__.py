"""Telegram as the person's channel."""

from nudge.channels.telegram.channel import TelegramChannel, telegram_channel

__all__ = ["TelegramChannel", "telegram_channel"]
