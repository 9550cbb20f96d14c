"""What a run may use, and the numbers by which the progress governor judges it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any

from nudge.errors import UsageError
from nudge.instants import HOUR, SECOND, from_timedelta
from nudge.numbers import is_whole
from nudge.spending.money import DOLLAR, Micros, parse_money


class BudgetEnforcementMode(StrEnum):
    """STRICT stops a run at its limits, ADVISORY only warns (and ignores the duration), SOFT only keeps count."""

    STRICT = "strict"
    ADVISORY = "advisory"
    SOFT = "soft"

    @classmethod
    def _missing_(cls, value: object) -> BudgetEnforcementMode:
        """As the tables write it, too: STRICT."""
        for mode in cls:
            if isinstance(value, str) and mode.value == value.lower():
                return mode
        raise UsageError(f"There is no mode called {value!r}.", next_step=f"Use one of {', '.join(cls)}.")


class Resource(StrEnum):
    """What a run uses up."""

    TOKENS = "tokens"
    COST = "cost"
    DURATION = "duration"
    ITERATIONS = "iterations"


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The limits of one run; None means that this resource is not limited.

    Iterations are unlimited unless somebody asks: tokens, money and time already end a run, and a count of model calls
    says nothing about how much work was done in them.
    """

    tokens: int | None = 1_000_000
    cost: Micros | None = 10 * DOLLAR
    duration: int | None = 2 * HOUR
    iterations: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            limit = getattr(self, field.name)
            if limit is None:
                continue
            if not is_whole(limit):
                raise UsageError(f"A limit of {limit!r} for {field.name} is not a whole number.")
            if limit <= 0:
                raise UsageError(
                    f"A limit of {limit} for {field.name} would stop the run before it starts.",
                    next_step="Use a limit above 0, or none at all.",
                )

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> RunLimits:
        """Limits from configuration: `budget_max_tokens`, `budget_max_cost` (dollars), `budget_max_duration`
        (seconds), `max_iterations`. What is absent keeps its default, null lifts the limit, other keys are ignored.

        >>> RunLimits.from_config({"budget_max_cost": 2.5, "max_iterations": 50}).cost
        2500000
        """
        limits = cls()
        if "budget_max_tokens" in config:
            limits = replace(limits, tokens=config["budget_max_tokens"])
        if "budget_max_cost" in config:
            dollars = config["budget_max_cost"]
            limits = replace(limits, cost=None if dollars is None else _micros(dollars))
        if "budget_max_duration" in config:
            seconds = config["budget_max_duration"]
            limits = replace(limits, duration=None if seconds is None else _microseconds(seconds))
        if "max_iterations" in config:
            limits = replace(limits, iterations=config["max_iterations"])
        return limits


@dataclass(frozen=True, slots=True)
class EconomicsTuning:
    """The numbers that may be tuned. Percentages are of the limit, and each begins exactly at its number."""

    warn_percent: int = 70
    restricted_percent: int = 90
    hard_percent: int = 95
    warning_below_percent: int = 15
    critical_below_percent: int = 5
    task_gate_percent: int = 70
    task_gate_closes_percent: int = 90
    task_gate_calls: int = 3
    max_extensions: int = 3
    extension_cooldown_seconds: int = 120
    extension_deadline_seconds: int = 60

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not is_whole(value) or value < 0:
                raise UsageError(f"{field.name} = {value!r} is not a whole number from 0.")
        if not self.warn_percent <= self.restricted_percent <= self.hard_percent <= 100:
            raise UsageError(
                f"Levels at {self.warn_percent}, {self.restricted_percent} and {self.hard_percent} % do not rise.",
                next_step="Order them warn, restricted, hard, and none above 100.",
            )
        if self.task_gate_percent > self.task_gate_closes_percent:
            raise UsageError("The task gate closes before it narrows.", next_step="Swap the two percentages.")


def whole_microseconds(duration: timedelta | None) -> int | None:
    """A duration in microseconds, or None for no limit."""
    return None if duration is None else from_timedelta(duration)


def _micros(dollars: object) -> Micros:
    if isinstance(dollars, bool) or not isinstance(dollars, int | float | str | Decimal):
        raise UsageError(f"budget_max_cost = {dollars!r} is not an amount in dollars.", next_step="Write it like 10.0.")
    return parse_money(str(dollars))


def _microseconds(seconds: object) -> int:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds != seconds or abs(seconds) > 1e12:
        raise UsageError(f"budget_max_duration = {seconds!r} is not a number of seconds.", next_step="Use e.g. 7200.")
    return round(seconds * SECOND)
