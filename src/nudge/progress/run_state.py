"""What a run budget keeps between two questions, and all that a checkpoint has to carry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from nudge.errors import UsageError
from nudge.numbers import is_whole
from nudge.progress.accounting import TokenAccount
from nudge.progress.enforcement import EnforcementLevel, Use
from nudge.progress.extensions import Extensions
from nudge.progress.run_limits import BudgetEnforcementMode, EconomicsTuning, Resource, RunLimits
from nudge.spending.money import Micros

JSON_VERSION = 1
_TOKENS, _COST, _DURATION, _ITERATIONS = Resource
_STRICT = BudgetEnforcementMode.STRICT
_COUNTS = ("granted_tokens", "cost", "iterations", "active", "earlier_tokens", "earlier_cost")


@dataclass(slots=True)
class RunState:
    """The state of one run and the totals of those before it.

    `active` is microseconds of the run's own time. Waits and the running clock are not here: whoever restores a
    checkpoint waits for nothing yet, and the time it was down is not the run's.
    """

    limits: RunLimits = field(default_factory=RunLimits)
    mode: BudgetEnforcementMode = BudgetEnforcementMode.STRICT
    tuning: EconomicsTuning = field(default_factory=EconomicsTuning)
    account: TokenAccount = field(default_factory=TokenAccount)
    extensions: Extensions = field(default_factory=Extensions)
    granted_tokens: int = 0
    cost: Micros = 0
    iterations: int = 0
    active: int = 0
    nudged: EnforcementLevel = EnforcementLevel.NONE
    earlier_tokens: int = 0
    earlier_cost: Micros = 0

    @property
    def token_limit(self) -> int | None:
        """The limit with what was granted on top of it."""
        return None if self.limits.tokens is None else self.limits.tokens + self.granted_tokens

    def uses(self) -> tuple[list[Use], list[Use]]:
        """What is measured: tokens and cost, which tighten by degrees; then iterations and duration, which stop at
        once. Only STRICT looks at the duration."""
        limits = self.limits
        graded: list[Use] = []
        abrupt: list[Use] = []
        if limits.tokens is not None:
            graded.append((_TOKENS, self.account.incremental_tokens, limits.tokens + self.granted_tokens))
        if limits.cost is not None:
            graded.append((_COST, self.cost, limits.cost))
        if limits.iterations is not None:
            abrupt.append((_ITERATIONS, self.iterations, limits.iterations))
        if limits.duration is not None and self.mode is _STRICT:
            abrupt.append((_DURATION, self.active, limits.duration))
        return graded, abrupt

    def next_run(self) -> RunState:
        """The state in which the next run of the session starts."""
        return RunState(
            limits=self.limits,
            mode=self.mode,
            tuning=self.tuning,
            account=self.account.next_run(),
            extensions=self.extensions,
            earlier_tokens=self.earlier_tokens + self.account.total_tokens,
            earlier_cost=self.earlier_cost + self.cost,
        )

    def to_json(self) -> dict[str, Any]:
        """Everything, as plain JSON values."""
        return {
            "version": JSON_VERSION,
            "mode": self.mode.value,
            "limits": asdict(self.limits),
            "tuning": asdict(self.tuning),
            "account": asdict(self.account),
            "extensions": asdict(self.extensions),
            "nudged": self.nudged.name,
            **{name: getattr(self, name) for name in _COUNTS},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RunState:
        """The state that `to_json` wrote; anything else is refused whole."""
        try:
            if data["version"] != JSON_VERSION:
                raise ValueError(f"version {data['version']!r} is not {JSON_VERSION}")
            return cls(
                limits=RunLimits(**data["limits"]),
                mode=BudgetEnforcementMode(data["mode"]),
                tuning=EconomicsTuning(**data["tuning"]),
                account=TokenAccount(**data["account"]),
                extensions=Extensions(**data["extensions"]),
                nudged=EnforcementLevel[data["nudged"]],
                **{name: _whole(data[name]) for name in _COUNTS},
            )
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(
                f"This is not a run budget: {error}.", next_step="Restore an older checkpoint, or start a new run."
            ) from error


def _whole(value: object) -> int:
    if not is_whole(value) or value < 0:
        raise ValueError(f"{value!r} is not a whole number from 0")
    return value
