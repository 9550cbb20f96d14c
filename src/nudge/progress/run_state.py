"""What a run has used so far: all that a run budget keeps between two questions, and all that a checkpoint carries.

Tokens are counted so that each one counts once. Every model call sends the whole conversation again, so adding up
prompts counts an early token once per call, and the sum grows with the square of the run: the run stops long before it
has done a budget's worth of work. Here a call adds only what is new in it,

    max(0, prompt - context already counted) + output,

where `prompt` is everything the model read, from the prompt cache or not. The plain sum, `total_tokens`, is kept for
the bill.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from nudge.errors import UsageError
from nudge.instants import Instant, from_timedelta
from nudge.numbers import is_whole
from nudge.progress.enforcement import EnforcementLevel, Use
from nudge.progress.extensions import Extensions
from nudge.progress.run_limits import BudgetEnforcementMode, EconomicsTuning, Resource, RunLimits
from nudge.spending.money import Micros
from nudge.tokens import TokenUse

JSON_VERSION = 1
_TOKENS, _COST, _DURATION, _ITERATIONS = Resource
_STRICT = BudgetEnforcementMode.STRICT
_COUNTS = ("granted_tokens", "cost", "iterations", "active", "earlier_tokens", "earlier_cost")


@dataclass(frozen=True, slots=True)
class TokenAccount:
    """The tokens of one run.

    `context` is the size of the conversation that is counted already. It grows with each call and only `with_context`
    lowers it: a small call beside the conversation (a title, a classification) must not make the next big one count
    again. The price: a conversation that shrinks without telling us counts too little for a while.
    """

    calls: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    counted: int = 0
    context: int = 0
    start: int = 0
    opening: int = 0
    baseline: int = 0

    def __post_init__(self) -> None:
        for part in fields(self):
            value = getattr(self, part.name)
            if not is_whole(value) or value < 0:
                raise UsageError(f"{value!r} is not a number of tokens or calls ({part.name}).")

    @property
    def total_tokens(self) -> int:
        """All prompts and outputs added up, as the bill does. Never used to stop a run."""
        return self.input + self.cache_read + self.cache_write + self.output

    @property
    def incremental_tokens(self) -> int:
        """The tokens this run is charged with: each once, less the baseline.

        The baseline frees at most the first call, whatever it was set to: the opening of the conversation is not the
        run's work, everything later is.
        """
        free = self.baseline - self.start
        if free <= 0:
            return self.counted
        return self.counted - (free if free < self.opening else self.opening)

    def with_call(self, use: TokenUse, kept_output: int | None = None) -> TokenAccount:
        """The account with one more call. `kept_output` says how much of the output stays in the conversation, if that
        is less than all of it (thinking that is not sent back)."""
        kept = use.output if kept_output is None else kept_output
        if not is_whole(kept) or not 0 <= kept <= use.output:
            raise UsageError(f"A call with {use.output} tokens of output cannot keep {kept!r} of them.")
        new = max(0, use.prompt - self.context) + use.output
        first = self.calls == 0
        return replace(
            self,
            calls=self.calls + 1,
            input=self.input + use.input,
            output=self.output + use.output,
            cache_read=self.cache_read + use.cache_read,
            cache_write=self.cache_write + use.cache_write + use.cache_write_1h,
            counted=self.counted + new,
            context=max(self.context, use.prompt + kept),
            start=self.context if first else self.start,
            opening=new if first else self.opening,
        )

    def with_baseline(self, tokens: int) -> TokenAccount:
        """The account with the first `tokens` tokens of the conversation free; a later call refines an earlier one."""
        return replace(self, baseline=tokens)

    def with_context(self, tokens: int) -> TokenAccount:
        """The account after the conversation was cut down to `tokens`. Every count stays as it is."""
        return replace(self, context=tokens)

    def next_run(self) -> TokenAccount:
        """An empty account for the next run on the same conversation, whose context is counted already."""
        return TokenAccount(context=self.context)


@dataclass(slots=True)
class RunState:
    """The state of one run and the totals of the runs before it.

    `active` is microseconds of the run's own time. `told_at` is the last moment the run was told, and `waits` is how
    many things it waits for: while it waits for anything, the time is not its own.
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
    told_at: Instant | None = None
    waits: int = 0
    nudged: EnforcementLevel = EnforcementLevel.NONE
    earlier_tokens: int = 0
    earlier_cost: Micros = 0

    @property
    def token_limit(self) -> int | None:
        """The limit with what was granted on top of it."""
        return None if self.limits.tokens is None else self.limits.tokens + self.granted_tokens

    def uses(self) -> tuple[list[Use], list[Use]]:
        """What is measured: tokens and cost, which tighten by degrees; then iterations and duration, which only warn
        and stop. Only STRICT looks at the duration."""
        limits = self.limits
        graded: list[Use] = []
        abrupt: list[Use] = []
        if limits.tokens is not None:
            graded.append((_TOKENS, self.account.incremental_tokens, limits.tokens + self.granted_tokens))
        if limits.cost is not None:
            graded.append((_COST, self.cost, int(limits.cost)))
        if limits.iterations is not None:
            abrupt.append((_ITERATIONS, self.iterations, limits.iterations))
        if limits.duration is not None and self.mode is _STRICT:
            abrupt.append((_DURATION, self.active, from_timedelta(limits.duration)))
        return graded, abrupt

    def next_run(self) -> RunState:
        """The state in which the next run of the session starts: the limits without extensions, nothing used."""
        return RunState(
            limits=self.limits,
            mode=self.mode,
            tuning=self.tuning,
            account=self.account.next_run(),
            extensions=self.extensions,
            earlier_tokens=self.earlier_tokens + self.account.total_tokens,
            earlier_cost=self.earlier_cost + self.cost,
        )

    def tick(self, now: Instant) -> None:
        """Count the time since the last moment told. A clock that goes back adds and takes nothing."""
        if self.told_at is not None and self.waits == 0 and now > self.told_at:
            self.active += now - self.told_at
        self.told_at = now

    def to_json(self) -> dict[str, Any]:
        """Everything but the clock, as plain JSON values: the time a process was down is not the run's."""
        return {
            "version": JSON_VERSION,
            "mode": self.mode.value,
            "limits": self.limits.to_json(),
            "tuning": asdict(self.tuning),
            "account": asdict(self.account),
            "extensions": asdict(self.extensions),
            "nudged": self.nudged.name,
            **{name: getattr(self, name) for name in _COUNTS},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RunState:
        """The state that `to_json` wrote; anything else is refused. Its clock starts again with the next moment it is
        told, and it waits for nothing."""
        try:
            if data["version"] != JSON_VERSION:
                raise ValueError(f"version {data['version']!r} is not {JSON_VERSION}")
            counts: dict[str, Any] = {name: _whole(data[name]) for name in _COUNTS}
            return cls(
                limits=RunLimits.from_json(data["limits"]),
                mode=BudgetEnforcementMode(data["mode"]),
                tuning=EconomicsTuning(**data["tuning"]),
                account=TokenAccount(**data["account"]),
                extensions=Extensions(**data["extensions"]),
                nudged=EnforcementLevel[data["nudged"]],
                **counts,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(
                f"This is not a run budget: {error}.", next_step="Go back to an older checkpoint, or start a new run."
            ) from error


def _whole(value: object) -> int:
    if not is_whole(value) or value < 0:
        raise ValueError(f"{value!r} is not a whole number from 0")
    return value
