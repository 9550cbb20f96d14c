"""Times in words: what people type, understood or refused, never guessed."""

from __future__ import annotations

from nudge.phrases.result import Understood
from nudge.phrases.split import split_reminder
from nudge.phrases.understanding import understand, understand_duration

__all__ = ["Understood", "split_reminder", "understand", "understand_duration"]
