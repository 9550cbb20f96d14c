"""Phase reserves: a part of the run's budget for each phase, so that reading cannot eat what testing needs.

Exploration has 30 %, planning 10 %, acting 40 %, verifying 15 % and wrapping up 5 %. What a phase does not use flows on
when it is over. Exploration and planning are over with the first edit. Acting and verifying take turns until the run
wraps up, so each keeps its own reserve for the way back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from nudge.errors import UsageError
from nudge.numbers import is_whole
from nudge.progress.phases import Phase

RESERVES: Mapping[Phase, int] = MappingProxyType(
    {Phase.EXPLORATION: 30, Phase.PLANNING: 10, Phase.ACTING: 40, Phase.VERIFYING: 15, Phase.WRAPUP: 5}
)
_PHASES = tuple(Phase)
_BEFORE_EDITS = frozenset({Phase.EXPLORATION, Phase.PLANNING})
_OVER = {
    Phase.EXPLORATION: frozenset[Phase](),
    Phase.PLANNING: frozenset[Phase](),
    Phase.ACTING: _BEFORE_EDITS,
    Phase.VERIFYING: _BEFORE_EDITS,
    Phase.WRAPUP: frozenset(_PHASES) - {Phase.WRAPUP},
}


@dataclass(frozen=True, slots=True)
class PhaseReserves:
    """What each phase has spent of one limit, and what the current one may still spend. A value: `enter` and `spend`
    return a copy.

    >>> reserves = PhaseReserves(100_000).spend(10_000)
    >>> reserves.available
    20000
    >>> reserves.enter(Phase.ACTING).available
    70000
    """

    limit: int
    phase: Phase = Phase.EXPLORATION
    spent: tuple[int, ...] = (0, 0, 0, 0, 0)
    over: frozenset[Phase] = frozenset()
    percents: tuple[int, ...] = tuple(RESERVES.values())

    def __post_init__(self) -> None:
        if not is_whole(self.limit) or self.limit <= 0:
            raise UsageError(f"Reserves cannot be {self.limit!r} tokens.", next_step="Use a whole number above 0.")
        if len(self.percents) != len(_PHASES) or min(self.percents) < 0 or sum(self.percents) != 100:
            raise UsageError(
                f"The reserves {self.percents} do not add up to 100 %.",
                next_step="Give five percentages: exploration, planning, acting, verifying, wrapping up.",
            )
        if len(self.spent) != len(_PHASES) or min(self.spent) < 0:
            raise UsageError(
                f"{self.spent!r} is not what five phases spent.", next_step="Give five whole numbers from 0."
            )

    @property
    def available(self) -> int:
        """What the current phase may spend: its own reserve and what has flowed on, never the reserve of another."""
        return self.available_to(self.phase)

    def available_to(self, phase: Phase) -> int:
        """What a phase may spend.

        If one phase spent too much (the size of a call is known only afterwards), the next one has less. Wrapping up is
        the exception: its reserve is there even past the limit, so that every run can close with a report.
        """
        free = self.limit - sum(self.spent) - sum(self._kept_for(other) for other in _PHASES if other is not phase)
        if phase is Phase.WRAPUP:
            return max(free, self.reserve_of(phase) - self._spent_in(phase), 0)
        return max(free, 0)

    def is_used_up(self, phase: Phase) -> bool:
        """Whether a phase that has a share of its own has nothing left to spend."""
        return self.reserve_of(phase) > 0 and self.available_to(phase) == 0

    def reserve_of(self, phase: Phase) -> int:
        """The share of a phase in whole tokens. Wrapping up is rounded up and the others down, so they fit."""
        share = self.limit * self.percents[_PHASES.index(phase)]
        return -(-share // 100) if phase is Phase.WRAPUP else share // 100

    def enter(self, phase: Phase) -> PhaseReserves:
        """A copy in that phase. What has flowed on does not flow back: exploring again after edits has only what the
        later phases do not need."""
        return replace(self, phase=phase, over=self.over | _OVER[phase])

    def spend(self, tokens: int) -> PhaseReserves:
        """A copy with that much charged to the current phase, even if it is more than was available."""
        if not is_whole(tokens) or tokens < 0:
            raise UsageError(f"A phase cannot spend {tokens!r} tokens.")
        at = _PHASES.index(self.phase)
        return replace(self, spent=(*self.spent[:at], self.spent[at] + tokens, *self.spent[at + 1 :]))

    def with_limit(self, limit: int) -> PhaseReserves:
        """A copy with another limit, such as after an extension."""
        return replace(self, limit=limit)

    def to_json(self) -> dict[str, Any]:
        return {
            "limit": self.limit,
            "phase": self.phase.value,
            "spent": list(self.spent),
            "over": sorted(self.over),
            "percents": list(self.percents),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PhaseReserves:
        try:
            return cls(
                limit=int(data["limit"]),
                phase=Phase(data["phase"]),
                spent=tuple(int(tokens) for tokens in data["spent"]),
                over=frozenset(Phase(name) for name in data["over"]),
                percents=tuple(int(percent) for percent in data["percents"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"These are not phase reserves: {error}.", next_step="Start with new ones.") from error

    def _spent_in(self, phase: Phase) -> int:
        return self.spent[_PHASES.index(phase)]

    def _kept_for(self, phase: Phase) -> int:
        """What nobody else may touch: the unspent reserve of a phase that is not over; wrapping up never is."""
        if phase in self.over and phase is not Phase.WRAPUP:
            return 0
        return max(0, self.reserve_of(phase) - self._spent_in(phase))
