"""Loop detection: the same question with the same answer, again and again.

`LoopDetector` is what there is to use; everything else is what it takes (`LoopTuning`) and gives (`LoopResult`).
"""

from __future__ import annotations

from nudge.progress.loops.detector import LoopDetector
from nudge.progress.loops.outcomes import UNKNOWN
from nudge.progress.loops.tuning import LoopTuning
from nudge.progress.loops.verdict import LoopAction, LoopKind, LoopResult

__all__ = ["UNKNOWN", "LoopAction", "LoopDetector", "LoopKind", "LoopResult", "LoopTuning"]
