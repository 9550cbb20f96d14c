"""The run budget: whether a run may go on, what it is told on the way, and when to ask a person for more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

from nudge.errors import UsageError
from nudge.instants import Instant, Moment, as_instant, to_timedelta
from nudge.numbers import is_whole
from nudge.progress.enforcement import (
    BudgetCheck,
    EnforcementLevel,
    budget_nudge,
    judge,
    may_start_task,
    remaining_calls,
)
from nudge.progress.extensions import ExtensionRequest
from nudge.progress.run_limits import BudgetEnforcementMode, EconomicsTuning, RunLimits
from nudge.progress.run_state import RunState, TokenAccount
from nudge.spending.money import Amount, Money, as_micros, format_money
from nudge.tokens import token_use

_NONE, _RESTRICTED, _HARD = EnforcementLevel.NONE, EnforcementLevel.RESTRICTED, EnforcementLevel.HARD
_FREE = BudgetCheck(True, _NONE, force_text_only=False, restrict_tools=False, nudge=None, reason="")


class RunBudget:
    """The budget of one run: tokens, cost, active time and iterations.

    Tell it about every model call and ask it before the next one. It reads no clock: moments are arguments, and the
    time between `pause` and `resume` (waiting for the model or for a person) is not the run's. It belongs to one
    thread; parallel subagents share a `BudgetPool`.

    >>> from datetime import UTC, datetime
    >>> now = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
    >>> budget = RunBudget(max_tokens=100_000, max_cost=2)
    >>> budget.record_call({"input_tokens": 60_000, "output_tokens": 10_000}, cost=0.33)
    >>> check = budget.check(now)
    >>> check.can_continue, check.level.name, check.nudge.text
    (True, 'WARN', 'Budget at 70%. Be efficient with remaining budget.')
    >>> budget.record_call({"input_tokens": 71_000, "output_tokens": 30_000}, cost=0.66)
    >>> budget.check(now).can_continue
    False
    >>> budget
    <RunBudget strict: 101,000 of 100,000 tokens, $0.99 of $2.00, 2 calls>
    """

    __slots__ = ("_state",)

    def __init__(
        self,
        max_tokens: int | None = 1_000_000,
        max_cost: Amount | None = 10,
        max_duration: timedelta | None = timedelta(hours=2),
        max_iterations: int | None = None,
        *,
        mode: BudgetEnforcementMode | str = BudgetEnforcementMode.STRICT,
        tuning: EconomicsTuning | None = None,
    ) -> None:
        """None lifts a limit; 0 or less is refused. `max_cost` is in dollars."""
        limits = RunLimits(max_tokens, max_cost, max_duration, max_iterations)
        self._state = RunState(limits, BudgetEnforcementMode(mode), tuning or EconomicsTuning())

    @classmethod
    def within(
        cls,
        limits: RunLimits,
        *,
        mode: BudgetEnforcementMode | str = BudgetEnforcementMode.STRICT,
        tuning: EconomicsTuning | None = None,
    ) -> RunBudget:
        """A new budget with these limits, such as those of a configuration."""
        return cls._of(RunState(limits, BudgetEnforcementMode(mode), tuning or EconomicsTuning()))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RunBudget:
        """The budget that `to_json` wrote. Its clock starts again with the next moment it is told."""
        return cls._of(RunState.from_json(data))

    def to_json(self) -> dict[str, Any]:
        """Everything a checkpoint needs, as plain JSON values. Changes nothing."""
        return self._state.to_json()

    def __repr__(self) -> str:
        state, limit = self._state, self._state.token_limit
        tokens = (
            f"{self.incremental_tokens:,} tokens"
            if limit is None
            else f"{self.incremental_tokens:,} of {limit:,} tokens"
        )
        cost = format_money(state.cost)
        if state.limits.cost is not None:
            cost += f" of {format_money(state.limits.cost)}"
        return f"<RunBudget {state.mode}: {tokens}, {cost}, {_calls(state.account.calls)}>"

    def record_call(
        self, usage: object, cost: Amount = 0, *, kept_output: int | None = None, iteration: bool = True
    ) -> None:
        """Count one model call: its usage as Anthropic or OpenAI reported it (or a TokenUse), and what it cost in
        dollars.

        `kept_output` is how much of the output goes back into the conversation, if not all of it. A call that is not a
        turn of the loop, such as one that writes a summary, passes `iteration=False`.
        """
        use, micros = token_use(usage), as_micros(cost)
        self._state.account = self._state.account.with_call(use, kept_output)
        self._state.cost += micros
        self._state.iterations += iteration

    def record_cost(self, cost: Amount) -> None:
        """Count money that was spent without a usage, such as the input of a call that failed."""
        self._state.cost += as_micros(cost)

    def set_baseline(self, tokens: int) -> None:
        """Make the opening of the conversation free: the system prompt as estimated before the first call, or better,
        what the first call really took. It never frees more than the first call."""
        self._state.account = self._state.account.with_baseline(tokens)

    def update_baseline(self, tokens_after: int) -> None:
        """Note that the conversation was compacted to this many tokens. Every count stays as it is, so the usage never
        rises; what the next call adds to `tokens_after` is new."""
        self._state.account = self._state.account.with_context(tokens_after)

    def pause(self, now: Moment) -> None:
        """Stop the run's clock. Waits may overlap; the time counts again when all of them are over."""
        self._state.tick(as_instant(now))
        self._state.waits += 1

    def resume(self, now: Moment) -> None:
        """End one wait."""
        if self._state.waits == 0:
            raise UsageError("The run was not waiting.", next_step="Call pause before resume.")
        self._state.tick(as_instant(now))
        self._state.waits -= 1

    @contextmanager
    def waiting(self, clock: Callable[[], Moment]) -> Iterator[None]:
        """Pause while the block runs: `with budget.waiting(clock.now): reply = ask_model()`."""
        self.pause(clock())
        try:
            yield
        finally:
            self.resume(clock())

    def tick(self, now: Moment) -> None:
        """Count the time up to now. `check`, `pause` and `resume` do this too."""
        self._state.tick(as_instant(now))

    @property
    def clock(self) -> tuple[Instant | None, int]:
        """The last moment the budget was told, and how many waits there are: not in `to_json`, because the time a
        process was down is not the run's."""
        return self._state.told_at, self._state.waits

    def set_clock(self, told_at: Instant | None, waits: int) -> None:
        """Continue with the clock of another process."""
        if not is_whole(waits) or waits < 0:
            raise UsageError(f"A run cannot wait for {waits!r} things.", next_step="Give a whole number from 0.")
        self._state.told_at = None if told_at is None else as_instant(told_at)
        self._state.waits = waits

    def begin_run(self) -> None:
        """Start the next run of the session: nothing used, and the limits without extensions. The totals over all runs,
        the size of the conversation and the number of extensions stay."""
        self._state = self._state.next_run()

    def check(self, now: Moment) -> BudgetCheck:
        """Say what the run may do next, and remember that it was told. The run's time starts with the first moment the
        budget is told.

        The nudge of a level comes once. It comes again only after the usage fell below the level, as it does when an
        extension is granted.
        """
        self._state.tick(as_instant(now))
        state = self._state
        graded, abrupt = state.uses()
        level, band, stop, worst = judge(state.mode, graded, abrupt, state.tuning)
        if not band:
            state.nudged = _NONE
            return _FREE
        assert worst is not None
        nudge = budget_nudge(worst, band, state.tuning) if band > state.nudged else None
        state.nudged = band
        resource, used, limit = worst
        reason = f"{resource.value} at {used * 100 // limit}%"
        return BudgetCheck(not stop, level, level >= _HARD, level >= _RESTRICTED, nudge, reason)

    def level(self) -> EnforcementLevel:
        """How tightly the run is held, as of the last moment the budget was told. Changes nothing."""
        graded, abrupt = self._state.uses()
        return judge(self._state.mode, graded, abrupt, self._state.tuning)[0]

    def allow_task_continuation(self, now: Moment | None = None) -> bool:
        """Whether another task may be started: stricter than `check`, so that a run does not begin what it cannot
        finish. Without `now` the active time is as of the last moment the budget was told."""
        if now is not None:
            self._state.tick(as_instant(now))
        state = self._state
        graded, abrupt = state.uses()
        return may_start_task(state.mode, graded + abrupt, state.account.calls, state.tuning)

    def request_extension(self, additional_tokens: int, reason: str, *, now: Moment) -> ExtensionRequest:
        """Open a request for more tokens. This grants nothing: show it to a person, then `grant` or `deny` it."""
        state = self._state
        state.extensions, request = state.extensions.requested(additional_tokens, reason, as_instant(now), state.tuning)
        return request

    def grant(self, request: ExtensionRequest, now: Moment) -> bool:
        """Add the tokens of a request to the limit: the person said yes. False, and nothing changes, if that came at
        the deadline or later, or the request was answered before. Cost, duration and what was used stay as they are."""
        self._state.extensions, tokens = self._state.extensions.answered(request.id, True, as_instant(now))
        self._state.granted_tokens += tokens
        return tokens > 0

    def deny(self, request: ExtensionRequest, now: Moment) -> None:
        """Close a request: the person said no, or nobody was there."""
        self._state.extensions, _ = self._state.extensions.answered(request.id, False, as_instant(now))

    def can_request_extension(self, now: Moment) -> bool:
        """Whether a request may be opened now. Changes nothing."""
        return self._state.extensions.refusal(as_instant(now), self._state.tuning)[0] is None

    @property
    def mode(self) -> BudgetEnforcementMode:
        """How strictly the limits are kept."""
        return self._state.mode

    @property
    def limits(self) -> RunLimits:
        """The limits as they stand, extensions included."""
        return replace(self._state.limits, tokens=self._state.token_limit)

    @property
    def account(self) -> TokenAccount:
        """The counts behind the totals: calls, input, output, cache read and cache write."""
        return self._state.account

    @property
    def total_tokens(self) -> int:
        """All prompts and outputs of this run added up: for the bill, not for enforcement."""
        return self._state.account.total_tokens

    @property
    def incremental_tokens(self) -> int:
        """The tokens that are enforced: each counted once, less the baseline."""
        return self._state.account.incremental_tokens

    @property
    def remaining_tokens(self) -> int | None:
        """What is left of the token limit; None if there is none."""
        limit = self._state.token_limit
        return None if limit is None else max(0, limit - self.incremental_tokens)

    @property
    def usage_fraction(self) -> float:
        """Enforced tokens as a share of their limit, for display; 0.0 without a limit. Decisions compare integers."""
        limit = self._state.token_limit
        return 0.0 if limit is None else self.incremental_tokens / limit

    @property
    def estimated_remaining_calls(self) -> int | None:
        """How many more calls of the average size fit; None before the first."""
        graded, abrupt = self._state.uses()
        return remaining_calls(graded + abrupt, self._state.account.calls)

    @property
    def cost(self) -> Money:
        """What this run has spent."""
        return Money(self._state.cost)

    @property
    def iterations(self) -> int:
        """Turns of the loop in this run."""
        return self._state.iterations

    @property
    def active_time(self) -> timedelta:
        """The time the run itself took, up to the last moment the budget was told."""
        return to_timedelta(self._state.active)

    @property
    def extensions_granted(self) -> int:
        """How often a person said yes, in all runs of the session."""
        return self._state.extensions.granted

    @property
    def total_tokens_all_runs(self) -> int:
        """`total_tokens` of all runs of the session."""
        return self._state.earlier_tokens + self.total_tokens

    @property
    def cost_all_runs(self) -> Money:
        """`cost` of all runs of the session."""
        return Money(self._state.earlier_cost + self._state.cost)

    @classmethod
    def _of(cls, state: RunState) -> RunBudget:
        budget = cls.__new__(cls)
        budget._state = state
        return budget


def _calls(count: int) -> str:
    return "1 call" if count == 1 else f"{count:,} calls"
