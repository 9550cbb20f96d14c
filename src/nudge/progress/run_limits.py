"""What a run may use, and the numbers by which the progress governor judges it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

from nudge.defaults import RUN_COST, RUN_SECONDS, RUN_TOKENS
from nudge.errors import UsageError
from nudge.instants import from_timedelta, to_timedelta
from nudge.numbers import is_whole
from nudge.spending.money import Amount, Money, as_micros, format_money

_COST: Final = Money(RUN_COST)
_DURATION: Final = timedelta(seconds=RUN_SECONDS)


class BudgetEnforcementMode(StrEnum):
    """STRICT stops a run at its limits, ADVISORY only warns (and ignores the duration), SOFT only keeps count."""

    STRICT = "strict"
    ADVISORY = "advisory"
    SOFT = "soft"

    @classmethod
    def _missing_(cls, value: object) -> BudgetEnforcementMode:
        """Any case is fine, such as STRICT."""
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


@dataclass(frozen=True, slots=True, init=False)
class RunLimits:
    """The limits of one run; None means that this resource is not limited.

    Iterations are not limited by default: tokens, money and time already end a run, and a count of model calls says
    nothing about how much work was done in them.

    >>> RunLimits(tokens=200_000, cost=2.50)
    RunLimits(200,000 tokens, $2.50, 2:00:00)
    """

    tokens: int | None
    cost: Money | None
    duration: timedelta | None
    iterations: int | None

    def __init__(
        self,
        tokens: int | None = RUN_TOKENS,
        cost: Amount | None = _COST,
        duration: timedelta | None = _DURATION,
        iterations: int | None = None,
    ) -> None:
        """`cost` is in dollars. A limit of 0 or less is refused."""
        for name, limit in (("tokens", tokens), ("iterations", iterations)):
            if limit is not None and not is_whole(limit):
                raise UsageError(f"A limit of {limit!r} for {name} is not a whole number.", next_step="Use e.g. 50.")
        money = None if cost is None else Money(as_micros(cost))
        microseconds = None if duration is None else from_timedelta(duration)
        limits = (("tokens", tokens), ("cost", money), ("duration", microseconds), ("iterations", iterations))
        for name, amount in limits:
            if amount is not None and amount <= 0:
                raise UsageError(
                    f"A limit of {amount} for {name} would stop the run before it starts.",
                    next_step="Use a limit above 0, or None for no limit.",
                )
        for name, value in (("tokens", tokens), ("cost", money), ("duration", duration), ("iterations", iterations)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        parts = [
            "" if self.tokens is None else f"{self.tokens:,} tokens",
            "" if self.cost is None else format_money(self.cost),
            "" if self.duration is None else str(self.duration),
            "" if self.iterations is None else f"{self.iterations:,} iterations",
        ]
        return f"RunLimits({', '.join(filter(None, parts)) or 'none'})"

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> RunLimits:
        """Limits from configuration: `budget_max_tokens`, `budget_max_cost` (dollars), `budget_max_duration`
        (seconds), `max_iterations`. What is missing keeps its default, null lifts the limit, other keys are ignored.

        >>> RunLimits.from_config({"budget_max_cost": 2.5, "max_iterations": 50})
        RunLimits(1,000,000 tokens, $2.50, 2:00:00, 50 iterations)
        """
        limits = cls()
        if "budget_max_tokens" in config:
            limits = replace(limits, tokens=config["budget_max_tokens"])
        if "budget_max_cost" in config:
            limits = replace(limits, cost=config["budget_max_cost"])
        if "budget_max_duration" in config:
            seconds = config["budget_max_duration"]
            limits = replace(limits, duration=None if seconds is None else _seconds(seconds))
        if "max_iterations" in config:
            limits = replace(limits, iterations=config["max_iterations"])
        return limits

    def to_json(self) -> dict[str, int | None]:
        """Micro-dollars and microseconds, as whole numbers."""
        return {
            "tokens": self.tokens,
            "cost": None if self.cost is None else int(self.cost),
            "duration": None if self.duration is None else from_timedelta(self.duration),
            "iterations": self.iterations,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RunLimits:
        """What `to_json` wrote; ValueError if it is not that."""
        tokens, cost, duration, iterations = (data[name] for name in ("tokens", "cost", "duration", "iterations"))
        if not all(limit is None or is_whole(limit) for limit in (cost, duration)):
            raise ValueError(f"{data!r} are not limits")
        try:
            length = None if duration is None else to_timedelta(duration)
        except OverflowError as error:
            raise ValueError(f"{duration!r} is too long") from error
        return cls(tokens, None if cost is None else Money(cost), length, iterations)


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
                raise UsageError(f"{field.name} = {value!r} is not a whole number from 0.", next_step="Use e.g. 70.")
        if not self.warn_percent <= self.restricted_percent <= self.hard_percent <= 100:
            raise UsageError(
                f"The levels at {self.warn_percent}, {self.restricted_percent} and {self.hard_percent} % are out of "
                "order.",
                next_step="Put warn_percent, restricted_percent and hard_percent in rising order, up to 100.",
            )
        if self.task_gate_percent > self.task_gate_closes_percent:
            raise UsageError(
                f"The task gate closes at {self.task_gate_closes_percent} %, before it narrows at "
                f"{self.task_gate_percent} %.",
                next_step="Swap task_gate_percent and task_gate_closes_percent.",
            )


def _seconds(seconds: object) -> timedelta:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds != seconds or abs(seconds) > 1e9:
        raise UsageError(f"budget_max_duration = {seconds!r} is not a number of seconds.", next_step="Use e.g. 7200.")
    return timedelta(seconds=seconds)
