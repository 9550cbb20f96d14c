"""Loop detection: the same question with the same answer, again and again.

Use `LoopDetector`. It takes a `LoopTuning` and answers with a `LoopResult`.
"""

from __future__ import annotations

from nudge.progress.loops.detector import LoopDetector
from nudge.progress.loops.outcomes import UNKNOWN
from nudge.progress.loops.tuning import LoopTuning
from nudge.progress.loops.verdict import LoopAction, LoopKind, LoopResult

__all__ = ["UNKNOWN", "LoopAction", "LoopDetector", "LoopKind", "LoopResult", "LoopTuning"]
