"""nudge: an always-on agent that acts on time, knows when not to interrupt, never overspends, and can prove it.

What this module exports is the public API. Points in time are datetimes that know their zone; one without is refused.
Names are loaded when they are first used, so that `import nudge` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from nudge.adapters.price_file import load_prices as load_prices
    from nudge.adapters.terminal_approver import TerminalApprover as TerminalApprover
    from nudge.app.ledger import HeldCall as HeldCall
    from nudge.app.ledger import Ledger as Ledger
    from nudge.app.ports.approver import Approval as Approval
    from nudge.app.ports.approver import Approver as Approver
    from nudge.core.allowance import Allowance as Allowance
    from nudge.core.attention import Allow as Allow
    from nudge.core.attention import Attention as Attention
    from nudge.core.attention import Candidate as Candidate
    from nudge.core.attention import Defer as Defer
    from nudge.core.attention import Kind as Kind
    from nudge.core.attention import Refuse as Refuse
    from nudge.core.attention import Rule as Rule
    from nudge.core.attention import decide as decide
    from nudge.core.economics import RunBudget as RunBudget
    from nudge.core.enforcement import BudgetCheck as BudgetCheck
    from nudge.core.enforcement import EnforcementLevel as EnforcementLevel
    from nudge.core.extensions import ExtensionRequest as ExtensionRequest
    from nudge.core.injection import Injection as Injection
    from nudge.core.injection import Nudge as Nudge
    from nudge.core.injection import Urgency as Urgency
    from nudge.core.injection import inject as inject
    from nudge.core.loops import LoopAction as LoopAction
    from nudge.core.loops import LoopDetector as LoopDetector
    from nudge.core.loops import LoopKind as LoopKind
    from nudge.core.loops import LoopResult as LoopResult
    from nudge.core.loops import LoopTuning as LoopTuning
    from nudge.core.meter import Meter as Meter
    from nudge.core.phases import Phase as Phase
    from nudge.core.phases import PhaseReport as PhaseReport
    from nudge.core.phases import PhaseTracker as PhaseTracker
    from nudge.core.phrases import split_reminder as split_reminder
    from nudge.core.phrases import understand as understand
    from nudge.core.pings import PingBudget as PingBudget
    from nudge.core.pool import BudgetPool as BudgetPool
    from nudge.core.pool_tree import ReservationState as ReservationState
    from nudge.core.preamble import background_preamble as background_preamble
    from nudge.core.prices import PriceTable as PriceTable
    from nudge.core.quiet import QuietHours as QuietHours
    from nudge.core.reserves import PhaseReserves as PhaseReserves
    from nudge.core.run_limits import BudgetEnforcementMode as BudgetEnforcementMode
    from nudge.core.run_limits import EconomicsTuning as EconomicsTuning
    from nudge.core.run_limits import RunLimits as RunLimits
    from nudge.core.tokens import TokenUse as TokenUse
    from nudge.core.tool_kinds import ToolKind as ToolKind
    from nudge.core.upcoming import UpcomingTask as UpcomingTask
    from nudge.core.upcoming import upcoming as upcoming
    from nudge.core.when import Schedule as Schedule

_PLACES = {
    "Allow": "nudge.core.attention",
    "Allowance": "nudge.core.allowance",
    "Approval": "nudge.app.ports.approver",
    "Approver": "nudge.app.ports.approver",
    "Attention": "nudge.core.attention",
    "BudgetCheck": "nudge.core.enforcement",
    "BudgetEnforcementMode": "nudge.core.run_limits",
    "BudgetPool": "nudge.core.pool",
    "Candidate": "nudge.core.attention",
    "Defer": "nudge.core.attention",
    "EconomicsTuning": "nudge.core.run_limits",
    "EnforcementLevel": "nudge.core.enforcement",
    "ExtensionRequest": "nudge.core.extensions",
    "HeldCall": "nudge.app.ledger",
    "Injection": "nudge.core.injection",
    "Kind": "nudge.core.attention",
    "Ledger": "nudge.app.ledger",
    "LoopAction": "nudge.core.loops",
    "LoopDetector": "nudge.core.loops",
    "LoopKind": "nudge.core.loops",
    "LoopResult": "nudge.core.loops",
    "LoopTuning": "nudge.core.loops",
    "Meter": "nudge.core.meter",
    "Nudge": "nudge.core.injection",
    "Phase": "nudge.core.phases",
    "PhaseReport": "nudge.core.phases",
    "PhaseReserves": "nudge.core.reserves",
    "PhaseTracker": "nudge.core.phases",
    "PingBudget": "nudge.core.pings",
    "PriceTable": "nudge.core.prices",
    "QuietHours": "nudge.core.quiet",
    "Refuse": "nudge.core.attention",
    "ReservationState": "nudge.core.pool_tree",
    "Rule": "nudge.core.attention",
    "RunBudget": "nudge.core.economics",
    "RunLimits": "nudge.core.run_limits",
    "Schedule": "nudge.core.when",
    "TerminalApprover": "nudge.adapters.terminal_approver",
    "TokenUse": "nudge.core.tokens",
    "ToolKind": "nudge.core.tool_kinds",
    "UpcomingTask": "nudge.core.upcoming",
    "Urgency": "nudge.core.injection",
    "background_preamble": "nudge.core.preamble",
    "decide": "nudge.core.attention",
    "inject": "nudge.core.injection",
    "load_prices": "nudge.adapters.price_file",
    "split_reminder": "nudge.core.phrases",
    "understand": "nudge.core.phrases",
    "upcoming": "nudge.core.upcoming",
}

__all__ = ["__version__", *_PLACES]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'nudge' has no attribute {name!r}")
    value = getattr(import_module(place), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
