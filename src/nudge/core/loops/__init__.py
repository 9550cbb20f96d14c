"""Loop detection: the same question with the same answer, again and again.

`LoopDetector` is what there is to use; everything else is what it takes (`LoopTuning`) and gives (`LoopResult`).
"""

from __future__ import annotations

from nudge.core.loops.detector import LoopDetector
from nudge.core.loops.outcomes import UNKNOWN
from nudge.core.loops.tuning import LoopTuning
from nudge.core.loops.verdict import LoopAction, LoopKind, LoopResult

__all__ = ["UNKNOWN", "LoopAction", "LoopDetector", "LoopKind", "LoopResult", "LoopTuning"]
