"""Times in words: what people type, understood or refused, never guessed."""

from __future__ import annotations

from nudge.core.phrases.result import Understood
from nudge.core.phrases.split import split_reminder
from nudge.core.phrases.understanding import understand, understand_duration

__all__ = ["Understood", "split_reminder", "understand", "understand_duration"]
