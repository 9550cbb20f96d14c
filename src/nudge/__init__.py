"""nudge: an always-on agent that acts on time, knows when not to interrupt, never overspends, and can prove it.

What this module exports is the public API. Points in time are datetimes that know their zone; one without is refused.
A number of money is dollars. Names are loaded when they are first used, so `import nudge` costs next to nothing.

To export a name, add one line to the imports below.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_CODE = sys._getframe().f_code
_FOUND: dict[str, str] = {}

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
    from nudge.errors import BudgetExhaustedError as BudgetExhaustedError
    from nudge.errors import InvalidPhraseError as InvalidPhraseError
    from nudge.errors import InvalidScheduleError as InvalidScheduleError
    from nudge.errors import LostLeaseError as LostLeaseError
    from nudge.errors import NaiveDatetimeError as NaiveDatetimeError
    from nudge.errors import NotConfiguredError as NotConfiguredError
    from nudge.errors import NotFoundError as NotFoundError
    from nudge.errors import NudgeError as NudgeError
    from nudge.errors import RetryableError as RetryableError
    from nudge.errors import StoreError as StoreError
    from nudge.errors import UsageError as UsageError
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
    from nudge.progress.guard_holds import AsyncHolds as AsyncHolds
    from nudge.progress.guard_holds import Holds as Holds
    from nudge.progress.guard_store import StoredGuards as StoredGuards
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
    from nudge.progress.store import Session as Session
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
    from nudge.spending.lifecycle import AsleepError as AsleepError
    from nudge.spending.memory_ledger import Ledger as Ledger
    from nudge.spending.money import Money as Money
    from nudge.spending.money import format_money as format_money
    from nudge.spending.prices import PriceTable as PriceTable
    from nudge.spending.routing import Routes as Routes
    from nudge.stores.open import open_store as open_store
    from nudge.tokens import TokenUse as TokenUse
    from nudge.tokens import estimate_tokens as estimate_tokens
    from nudge.tokens import most_tokens as most_tokens
    from nudge.tokens import token_use as token_use


def _places() -> dict[str, str]:
    """Each public name and the module it comes from.

    The imports above are the only list. A type checker reads them, and we find them in the compiled code of this
    module: every import is there to be seen, although these are never run.
    """
    import dis

    if not _FOUND:
        module = ""
        for step in dis.get_instructions(_CODE):
            if step.opname == "IMPORT_NAME":
                module = step.argval
            elif step.opname == "IMPORT_FROM" and module.startswith("nudge."):
                _FOUND[step.argval] = module
    return _FOUND


if not TYPE_CHECKING:  # so that a type checker finds a wrong name

    def __getattr__(name: str) -> Any:
        """Load a public name when it is first used."""
        from importlib import import_module

        if name == "__all__":
            value = ["__version__", *sorted(_places())]
        elif place := _places().get(name):
            value = getattr(import_module(place), name)
        else:
            raise AttributeError(f"module 'nudge' has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return ["__version__", *sorted(_places())]
