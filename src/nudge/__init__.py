"""nudge: an always-on agent that acts on time, knows when not to interrupt, never overspends, and can prove it.

What this module exports is the public API. Points in time are datetimes that know their zone; one without is refused.
Names are loaded when they are first used, so that `import nudge` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from nudge.attention.bucket import PingBudget as PingBudget
    from nudge.attention.forward_schedule import UpcomingTask as UpcomingTask
    from nudge.attention.forward_schedule import upcoming as upcoming
    from nudge.attention.preamble import background_preamble as background_preamble
    from nudge.attention.quiet import QuietHours as QuietHours
    from nudge.attention.rules import Allow as Allow
    from nudge.attention.rules import Attention as Attention
    from nudge.attention.rules import Candidate as Candidate
    from nudge.attention.rules import Defer as Defer
    from nudge.attention.rules import Kind as Kind
    from nudge.attention.rules import Refuse as Refuse
    from nudge.attention.rules import Rule as Rule
    from nudge.attention.rules import decide as decide
    from nudge.channels.terminal_approver import TerminalApprover as TerminalApprover
    from nudge.clock import SystemClock as SystemClock
    from nudge.home.prices import load_prices as load_prices
    from nudge.instants import as_instant as as_instant
    from nudge.phrases import split_reminder as split_reminder
    from nudge.phrases import understand as understand
    from nudge.progress.checkpoints import Checkpoints as Checkpoints
    from nudge.progress.compaction import compact as compact
    from nudge.progress.enforcement import BudgetCheck as BudgetCheck
    from nudge.progress.enforcement import EnforcementLevel as EnforcementLevel
    from nudge.progress.extensions import Approval as Approval
    from nudge.progress.extensions import Approver as Approver
    from nudge.progress.extensions import ExtensionRequest as ExtensionRequest
    from nudge.progress.guard import AsyncGuard as AsyncGuard
    from nudge.progress.guard import Guard as Guard
    from nudge.progress.guard_values import CallAllowed as CallAllowed
    from nudge.progress.guard_values import CallRefused as CallRefused
    from nudge.progress.guard_values import CallSettled as CallSettled
    from nudge.progress.guard_values import GuardTuning as GuardTuning
    from nudge.progress.guard_values import ToolVerdict as ToolVerdict
    from nudge.progress.injection import Injection as Injection
    from nudge.progress.injection import Nudge as Nudge
    from nudge.progress.injection import Urgency as Urgency
    from nudge.progress.injection import inject as inject
    from nudge.progress.loops import LoopAction as LoopAction
    from nudge.progress.loops import LoopDetector as LoopDetector
    from nudge.progress.loops import LoopKind as LoopKind
    from nudge.progress.loops import LoopResult as LoopResult
    from nudge.progress.loops import LoopTuning as LoopTuning
    from nudge.progress.phases import Phase as Phase
    from nudge.progress.phases import PhaseReport as PhaseReport
    from nudge.progress.phases import PhaseTracker as PhaseTracker
    from nudge.progress.pool import BudgetPool as BudgetPool
    from nudge.progress.pool_rules import ReservationState as ReservationState
    from nudge.progress.reserves import PhaseReserves as PhaseReserves
    from nudge.progress.run_budget import RunBudget as RunBudget
    from nudge.progress.run_limits import BudgetEnforcementMode as BudgetEnforcementMode
    from nudge.progress.run_limits import EconomicsTuning as EconomicsTuning
    from nudge.progress.run_limits import RunLimits as RunLimits
    from nudge.progress.stored_pools import Pools as Pools
    from nudge.progress.tools import ToolKind as ToolKind
    from nudge.queue.agents import Agent as Agent
    from nudge.schedules import Schedule as Schedule
    from nudge.spending.allowance import Allowance as Allowance
    from nudge.spending.allowance import DayTurn as DayTurn
    from nudge.spending.allowance import Meter as Meter
    from nudge.spending.budgets import SpendingPlan as SpendingPlan
    from nudge.spending.governor import Spending as Spending
    from nudge.spending.ledger import HeldCall as HeldCall
    from nudge.spending.memory_ledger import Ledger as Ledger
    from nudge.spending.money import Money as Money
    from nudge.spending.money import format_money as format_money
    from nudge.spending.prices import PriceTable as PriceTable
    from nudge.spending.routing import Routes as Routes
    from nudge.stores.open import open_store as open_store
    from nudge.tokens import TokenUse as TokenUse

_PLACES = {
    "Guard": "nudge.progress.guard",
    "AsyncGuard": "nudge.progress.guard",
    "most_tokens": "nudge.tokens",
    "Agent": "nudge.queue.agents",
    "Allow": "nudge.attention.rules",
    "Allowance": "nudge.spending.allowance",
    "Approval": "nudge.progress.extensions",
    "Approver": "nudge.progress.extensions",
    "Attention": "nudge.attention.rules",
    "BudgetCheck": "nudge.progress.enforcement",
    "BudgetEnforcementMode": "nudge.progress.run_state",
    "BudgetPool": "nudge.progress.pool",
    "Candidate": "nudge.attention.rules",
    "Checkpoints": "nudge.progress.checkpoints",
    "DayTurn": "nudge.spending.allowance",
    "Defer": "nudge.attention.rules",
    "EconomicsTuning": "nudge.progress.run_state",
    "EnforcementLevel": "nudge.progress.enforcement",
    "ExtensionRequest": "nudge.progress.extensions",
    "HeldCall": "nudge.spending.ledger",
    "Injection": "nudge.progress.injection",
    "Kind": "nudge.attention.rules",
    "Ledger": "nudge.spending.memory_ledger",
    "LoopAction": "nudge.progress.loops",
    "LoopDetector": "nudge.progress.loops",
    "LoopKind": "nudge.progress.loops",
    "LoopResult": "nudge.progress.loops",
    "LoopTuning": "nudge.progress.loops",
    "Meter": "nudge.spending.allowance",
    "Money": "nudge.spending.money",
    "Nudge": "nudge.progress.injection",
    "Phase": "nudge.progress.phases",
    "PhaseReport": "nudge.progress.phases",
    "PhaseReserves": "nudge.progress.reserves",
    "PhaseTracker": "nudge.progress.phases",
    "PingBudget": "nudge.attention.bucket",
    "Pools": "nudge.progress.stored_pools",
    "PriceTable": "nudge.spending.prices",
    "QuietHours": "nudge.attention.quiet",
    "Refuse": "nudge.attention.rules",
    "ReservationState": "nudge.progress.pool_rules",
    "Routes": "nudge.spending.routing",
    "Rule": "nudge.attention.rules",
    "RunBudget": "nudge.progress.run_budget",
    "RunLimits": "nudge.progress.run_state",
    "Schedule": "nudge.schedules",
    "Spending": "nudge.spending.governor",
    "SpendingPlan": "nudge.spending.budgets",
    "SystemClock": "nudge.clock",
    "TerminalApprover": "nudge.channels.terminal_approver",
    "TokenUse": "nudge.tokens",
    "ToolKind": "nudge.progress.tools",
    "UpcomingTask": "nudge.attention.forward_schedule",
    "Urgency": "nudge.progress.injection",
    "as_instant": "nudge.instants",
    "background_preamble": "nudge.attention.preamble",
    "compact": "nudge.progress.compaction",
    "decide": "nudge.attention.rules",
    "format_money": "nudge.spending.money",
    "inject": "nudge.progress.injection",
    "load_prices": "nudge.home.prices",
    "open_store": "nudge.stores.open",
    "split_reminder": "nudge.phrases",
    "understand": "nudge.phrases",
    "upcoming": "nudge.attention.forward_schedule",
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
