"""Enforcement: from how much of each limit is used to what the run may still do, and what it is told.

Everything compares whole numbers (`used * 100 >= percent * limit`), so a level begins exactly at its percentage and no
rounding error moves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from nudge.progress.injection import Nudge, Urgency
from nudge.progress.run_limits import BudgetEnforcementMode, EconomicsTuning, Resource
from nudge.progress.tools import LOOKING_KINDS, ToolKind


class EnforcementLevel(IntEnum):
    """How tightly a run is held: freely, with a warning, with fewer tools, without tools."""

    NONE = 0
    WARN = 1
    RESTRICTED = 2
    HARD = 3


@dataclass(frozen=True, slots=True)
class BudgetCheck:
    """What the run may do next.

    `nudge` is set only on the first check of a level. `reason` names the resource that decides, in percent; it is
    empty while nothing does.
    """

    can_continue: bool
    level: EnforcementLevel
    force_text_only: bool
    restrict_tools: bool
    nudge: Nudge | None
    reason: str


Use: TypeAlias = tuple[Resource, int, int]
"""How much of one limit is used: the resource, the amount, the limit. A plain tuple, because a check makes four."""


Verdict: TypeAlias = tuple[EnforcementLevel, EnforcementLevel, bool, Use | None]
"""The level that is enforced, the level the run is told about (they differ if a limit or a mode only warns), whether
the run stops, and the use that decided."""

CRITICAL = "CRITICAL: Wrap up immediately. Complete current task and stop."

NONE, WARN, RESTRICTED, HARD = EnforcementLevel
_STRICT, _ADVISORY, _SOFT = BudgetEnforcementMode
_URGENCY = {WARN: Urgency.HINT, RESTRICTED: Urgency.WARNING, HARD: Urgency.CRITICAL}


def band_of(used: int, limit: int, tuning: EconomicsTuning) -> EnforcementLevel:
    """The level that a usage belongs to; a percentage itself belongs to the level it opens."""
    hundredfold = used * 100
    if hundredfold < tuning.warn_percent * limit:
        return NONE
    if hundredfold < tuning.restricted_percent * limit:
        return WARN
    return RESTRICTED if hundredfold < tuning.hard_percent * limit else HARD


def worst_of(uses: Sequence[Use]) -> Use | None:
    """The use with the largest share of its limit; the first of equals."""
    worst = None
    for use in uses:
        if worst is None or use[1] * worst[2] > worst[1] * use[2]:
            worst = use
    return worst


def judge(
    mode: BudgetEnforcementMode, graded: Sequence[Use], abrupt: Sequence[Use], tuning: EconomicsTuning
) -> Verdict:
    """The verdict on a run. `graded` are tokens and cost, which tighten step by step; `abrupt` are iterations and
    duration, which warn and then stop and take no tools away before that.

    SOFT says nothing. ADVISORY only warns, whatever is used. STRICT stops at 100 % of any limit.
    """
    if mode is _SOFT:
        return NONE, NONE, False, None
    graded_worst, abrupt_worst = worst_of(graded), worst_of(abrupt)
    level = NONE if graded_worst is None else band_of(graded_worst[1], graded_worst[2], tuning)
    worst, band = graded_worst, level
    if abrupt_worst is not None:
        abrupt_band = band_of(abrupt_worst[1], abrupt_worst[2], tuning)
        if graded_worst is None or abrupt_worst[1] * graded_worst[2] > graded_worst[1] * abrupt_worst[2]:
            worst, band = abrupt_worst, abrupt_band
        if abrupt_band and not level:
            level = WARN
    if mode is _ADVISORY:
        return (WARN if level else NONE), band, False, worst
    if worst is not None and worst[1] >= worst[2]:
        return HARD, HARD, True, worst
    return level, band, False, worst


def budget_nudge(use: Use, band: EnforcementLevel, tuning: EconomicsTuning) -> Nudge:
    """What the model is told: the text goes by what remains, the urgency by the level. The level that takes the tools
    away says CRITICAL from its first moment, exactly 95 %, because its nudge comes only once. Percentages are cut, not
    rounded, so that nobody reads 15 % remaining while it is already less."""
    _, used, limit = use
    remaining = max(0, limit - used)
    if band is HARD or remaining * 100 < tuning.critical_below_percent * limit:
        text = CRITICAL
    elif remaining * 100 < tuning.warning_below_percent * limit:
        text = (
            f"WARNING: Only {remaining * 100 // limit}% budget remaining. "
            "Focus on completing the most important remaining work."
        )
    else:
        text = f"Budget at {used * 100 // limit}%. Be efficient with remaining budget."
    return Nudge(text, _URGENCY[band])


def denied_tool(kind: ToolKind | None, level: EnforcementLevel, *, closing: bool) -> str | None:
    """Why a tool of this kind may not be used at this level, in words for the model; None if it may."""
    if closing:
        return "The run is wrapping up: no more tools. Write the closing report."
    if level >= HARD:
        return "The budget is nearly used up: no more tools. Finish with what you have, in words."
    if level >= RESTRICTED and kind not in LOOKING_KINDS and kind is not ToolKind.FINISH:
        return "The budget is nearly used up: only reading and finishing tools are left. Finish with what you have."
    return None


def remaining_calls(uses: Sequence[Use], calls: int) -> int | None:
    """How many more calls of the average size fit every limit; None before the first."""
    estimates = [max(0, limit - used) * calls // used for _, used, limit in uses if used > 0 and calls > 0]
    return min(estimates, default=None)


def may_start_task(mode: BudgetEnforcementMode, uses: Sequence[Use], calls: int, tuning: EconomicsTuning) -> bool:
    """Whether a new task may be started, which takes more than going on with the current one.

    Below 70 %: always. From exactly 70 to exactly 90 %: if three more calls of the average size fit (unknown sizes
    fit). Above 90 %: no. A mode that never stops a run always allows a task: what it allows above 90 % it cannot refuse
    below.
    """
    worst = worst_of(uses)
    if worst is None or mode is not _STRICT:
        return True
    _, used, limit = worst
    if used * 100 < tuning.task_gate_percent * limit:
        return True
    if used * 100 <= tuning.task_gate_closes_percent * limit:
        left = remaining_calls(uses, calls)
        return left is None or left >= tuning.task_gate_calls
    return False
