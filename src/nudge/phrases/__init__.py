"""Times in words: what people type, understood or refused, never guessed."""

from __future__ import annotations

from nudge.phrases.result import Understood
from nudge.phrases.split import split_reminder, times_in
from nudge.phrases.understanding import understand, understand_duration

__all__ = ["Understood", "split_reminder", "times_in", "understand", "understand_duration"]
