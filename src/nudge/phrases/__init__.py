"""Times in words: what people type, understood or refused, never guessed."""

from __future__ import annotations

from nudge.phrases.asking import asks_for_reminder
from nudge.phrases.result import Understood
from nudge.phrases.split import split_reminder, times_in
from nudge.phrases.understanding import (
    is_task,
    message_and_time,
    read_answer,
    read_wish,
    understand,
    understand_duration,
)

__all__ = [
    "Understood",
    "asks_for_reminder",
    "is_task",
    "message_and_time",
    "read_answer",
    "read_wish",
    "split_reminder",
    "times_in",
    "understand",
    "understand_duration",
]
