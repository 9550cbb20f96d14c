"""What a guard takes and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from nudge.instants import Moment
from nudge.progress.enforcement import EnforcementLevel
from nudge.progress.injection import DEFAULT_INJECTION_TOKENS, SEPARATOR, Nudge, inject
from nudge.progress.loops import LoopTuning
from nudge.progress.phases import SATURATION
from nudge.progress.reserves import RESERVES, PhaseReserves
from nudge.progress.run_limits import EconomicsTuning
from nudge.progress.tools import ToolKind, ToolKinds
from nudge.spending.money import Money


class TellsTime(Protocol):
    """A clock, as far as a guard needs one."""

    def now(self) -> Moment: ...


@dataclass(frozen=True, slots=True)
class GuardTuning:
    """The numbers and names behind a guard.

    `reserves` are the percentages of the phases: exploration, planning, acting, verifying, wrapping up. A phase with 0
    has no share of its own. `tools` gives the kinds of your tools, by name or pattern. `injection_tokens` is how much
    the guard may say before one model call.

    >>> GuardTuning(tools={"deploy_*": "run"}, saturation=20).injection_tokens
    200
    """

    economics: EconomicsTuning = field(default_factory=EconomicsTuning)
    loops: LoopTuning = field(default_factory=LoopTuning)
    reserves: tuple[int, ...] = tuple(RESERVES.values())
    saturation: int = SATURATION
    injection_tokens: int = DEFAULT_INJECTION_TOKENS
    tools: Mapping[str, ToolKind | str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        PhaseReserves(100, percents=self.reserves)
        ToolKinds(self.tools)
        inject((), max_tokens=self.injection_tokens)


@dataclass(frozen=True, slots=True)
class CallAllowed:
    """A model call that may be made now. It is true, so `if not call:` finds the refusal.

    Ask for `max_tokens` at most (`clamped` says that it is less than you wanted), and add `text` to what the model
    reads. Offer no tools if `text_only`, and only reading and finishing ones if `restricted`. With a ledger, the worst
    case of the call is held under the same `id`.
    """

    id: str
    model: str
    max_tokens: int
    clamped: bool = False
    text_only: bool = False
    restricted: bool = False
    level: EnforcementLevel = EnforcementLevel.NONE
    nudges: tuple[Nudge, ...] = ()

    @property
    def text(self) -> str:
        """The nudges as one text, a line each; empty if there are none."""
        return SEPARATOR.join(nudge.text for nudge in self.nudges)

    def __bool__(self) -> Literal[True]:
        return True


@dataclass(frozen=True, slots=True)
class CallRefused:
    """A model call that must not be made. It is false.

    `retry_at` is when it may work, if that is known: the refresh of a sleeping agent's budget. `can_wrap_up` says that
    one last call for the closing report is still there: `guard.wrap_up()`, then `before_call`. `permanent` says that no
    later time changes it: the run's own money does not cover it.
    """

    reason: str
    retry_at: datetime | None = None
    can_wrap_up: bool = False
    permanent: bool = False

    def __bool__(self) -> Literal[False]:
        return False


@dataclass(frozen=True, slots=True)
class CallSettled:
    """What a call cost, how tightly the run is held now, and whether it is time to ask a person for more."""

    cost: Money
    level: EnforcementLevel
    should_ask_extension: bool = False


@dataclass(frozen=True, slots=True)
class ToolVerdict:
    """Whether a tool call may be made. If not, `reason` is for the model, in place of the tool's result."""

    allowed: bool
    reason: str = ""

    def __bool__(self) -> bool:
        return self.allowed


ALLOWED = ToolVerdict(True)
