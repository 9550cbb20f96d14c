"""What every guard decides, wherever its state lives and whoever holds the money.

Everything here answers at once and reads nothing but its clock. `guard` adds the ledger, `guard_store` the database.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from nudge.clock import SystemClock
from nudge.errors import BudgetExhaustedError, UsageError
from nudge.instants import Instant, Moment, as_instant
from nudge.progress.enforcement import CRITICAL, HARD, RESTRICTED, EnforcementLevel, denied_tool
from nudge.progress.extensions import Approver, ExtensionRequest
from nudge.progress.guard_values import (
    ALLOWED,
    CallAllowed,
    CallRefused,
    CallSettled,
    GuardTuning,
    TellsTime,
    ToolVerdict,
)
from nudge.progress.injection import Nudge, Told, Urgency
from nudge.progress.loops import UNKNOWN, LoopAction, LoopDetector
from nudge.progress.loops.history import Step
from nudge.progress.loops.outcomes import is_failure
from nudge.progress.loops.signature import parsed
from nudge.progress.phases import Phase, PhaseTracker
from nudge.progress.reserves import PhaseReserves
from nudge.progress.run_budget import RunBudget
from nudge.progress.run_calls import OpenCall, RunCalls
from nudge.progress.run_limits import BudgetEnforcementMode, RunLimits
from nudge.progress.tools import LOOKING_KINDS, ToolKind, name_of
from nudge.spending.money import Amount, Micros, Money, as_micros
from nudge.tokens import TokenUse, UnbelievableUsageError, believable, token_use

if TYPE_CHECKING:
    from nudge.spending.memory_ledger import Ledger
    from nudge.spending.prices import PriceTable

T = TypeVar("T")
H = TypeVar("H")
"""What a guard needs of a ledger: `Holds`, or `AsyncHolds`."""

STATE_VERSION = 1


_EXPLORED = "Exploring has used its share of the budget. Continue with what you know: plan, edit or report."
_EDITED = "Editing has used its share of the budget. Test what you have, and finish."


class GuardRules(ABC, Generic[H]):
    """The part that all guards share. The methods change the guard unless they say otherwise."""

    def __init__(
        self,
        max_tokens: int | None = 1_000_000,
        max_cost: Amount | None = None,
        max_duration: timedelta | None = timedelta(hours=2),
        max_iterations: int | None = None,
        *,
        mode: BudgetEnforcementMode | str = BudgetEnforcementMode.STRICT,
        tuning: GuardTuning | None = None,
        ledger: Ledger | H | None = None,
        prices: PriceTable | None = None,
        clock: TellsTime | None = None,
    ) -> None:
        """None lifts a limit. `max_cost` is in dollars and needs `prices`, a `ledger` or a cost told with each call.

        The clock is the system's unless you give one; every method also takes the moment as `now`.
        """
        tuning = tuning or GuardTuning()
        budget = RunBudget(max_tokens, max_cost, max_duration, max_iterations, mode=mode, tuning=tuning.economics)
        self._set_up(budget, tuning, ledger, prices, clock)

    @classmethod
    def within(
        cls,
        limits: RunLimits,
        *,
        mode: BudgetEnforcementMode | str = BudgetEnforcementMode.STRICT,
        tuning: GuardTuning | None = None,
        ledger: Ledger | H | None = None,
        prices: PriceTable | None = None,
        clock: TellsTime | None = None,
    ) -> Self:
        """A new guard with these limits, such as those of a configuration."""
        tuning = tuning or GuardTuning()
        guard = cls.__new__(cls)
        guard._set_up(RunBudget.within(limits, mode=mode, tuning=tuning.economics), tuning, ledger, prices, clock)
        return guard

    @classmethod
    def from_state(
        cls,
        state: Mapping[str, Any],
        *,
        running: bool = False,
        tuning: GuardTuning | None = None,
        ledger: Ledger | H | None = None,
        prices: PriceTable | None = None,
        clock: TellsTime | None = None,
    ) -> Self:
        """A guard that goes on from what `state` gave. The limits are in the state, the tuning is not.

        After a restart nothing is under way, and the time in between is not the run's. `running` says that the run did
        not stop: the state only moved, as it does between two hooks.
        """
        guard = cls.__new__(cls)
        guard._set_up(budget_of(state), tuning or GuardTuning(), ledger, prices, clock)
        guard._restore(state, running=running)
        return guard

    def _set_up(
        self,
        budget: RunBudget,
        tuning: GuardTuning,
        ledger: Ledger | H | None,
        prices: PriceTable | None,
        clock: TellsTime | None,
    ) -> None:
        self.tuning = tuning
        self.budget = budget
        self.loops = LoopDetector(tuning=self.tuning.loops)
        self.phases = PhaseTracker(self.tuning.tools, saturation=self.tuning.saturation)
        self._calls = RunCalls(budget, self.tuning.reserves, prices)
        self._told = Told(self.tuning.injection_tokens)
        self._clock = clock or SystemClock()
        self._holds = None if ledger is None else self._adapted(ledger)
        self._turn = 0
        self._can_edit = False
        self._spent_phases: frozenset[Phase] = frozenset()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} in {self.phase}, level {self.level.name}: {self.budget!r}>"

    @property
    def phase(self) -> Phase:
        """Where the run is."""
        return Phase.WRAPUP if self._calls.closing else self.phases.phase

    @property
    def level(self) -> EnforcementLevel:
        """How tightly the run is held: HARD also while it wraps up."""
        return HARD if self._calls.closing else self.budget.level()

    @property
    def text_only(self) -> bool:
        """Whether no tool may be used any more."""
        return self.level >= HARD

    @property
    def closing(self) -> bool:
        """Whether the run wraps up: only its report is left."""
        return self._calls.closing

    @property
    def context_tokens(self) -> int:
        """The size of the conversation as far as it is counted. The next input is this and what you add to it."""
        return self.budget.account.context

    @property
    def reserves(self) -> PhaseReserves | None:
        """What each phase has spent and may spend; None without a limit on tokens."""
        reserves = self._calls.reserves
        return None if reserves is None else reserves.enter(self.phase)

    def allow_task(self, now: Moment | None = None) -> bool:
        """Whether there is enough left to start another task. Ask between tasks; nothing is counted but the time."""
        return self.budget.allow_task_continuation(self._now(now)) and not self._calls.closing

    def offer(self, tools: Iterable[T]) -> list[T]:
        """Note which tools the agent has, and return those it may be offered now.

        That is all of them at first, the reading and finishing ones at RESTRICTED, none at HARD and while the run wraps
        up. A tool is a name, an object with one, or a definition as Anthropic's or OpenAI's API takes it. An agent that
        never had a tool to edit with is not held to its share of exploring.
        """
        named = [(self.phases.kinds[name_of(tool)], tool) for tool in tools]
        self._can_edit |= any(kind is ToolKind.EDIT for kind, _ in named)
        return [tool for kind, tool in named if denied_tool(kind, self.level, closing=self._calls.closing) is None]

    def before_tool(
        self, name: str, args: object = None, *, step: Step | None = None, now: Moment | None = None
    ) -> ToolVerdict:
        """Say whether a tool call may be made. Nothing is counted but the time.

        Denied are: every tool at HARD, all but reading and finishing ones at RESTRICTED, more exploring once that has
        used its share, and a call that only repeats itself. `step` is the number of the model's turn, if you do not
        tell the guard about model calls.
        """
        self.budget.tick(self._now(now))
        args = parsed(args)
        kind = self.phases.kinds.of(name, args)
        reason = denied_tool(kind, self.level, closing=self._calls.closing)
        if reason is None and kind in LOOKING_KINDS and self._explored_enough():
            reason = _EXPLORED
        if reason is None and self._calls.strict:
            loop = self.loops.peek(name, args, step=self._step(step))
            reason = loop.text if loop.action is LoopAction.REFUSE else None
        return ALLOWED if reason is None else ToolVerdict(False, reason)

    def after_tool(
        self,
        name: str,
        args: object = None,
        *,
        result: object = UNKNOWN,
        error: object = None,
        changed: bool | None = None,
        step: Step | None = None,
        now: Moment | None = None,
    ) -> tuple[Nudge, ...]:
        """Note a tool call that was made, and return what to tell the model together with its result.

        Give `result`, or `error` (a text or an exception) if it failed. `changed` says whether the call changed
        something, if neither its name nor its command tells.
        """
        self.budget.tick(self._now(now))
        args = parsed(args)
        failed = is_failure(error)
        edits = self.phases.kinds.of(name, args) is ToolKind.EDIT
        self._can_edit |= edits
        if changed is None and edits and not failed:
            changed = True
        loop = self.loops.record(name, args, result=result, error=error, step=self._step(step), changed=changed)
        report = self.phases.record_tool(name, args, looping=loop.is_loop, failed=failed)
        return self._told.choose((*loop.nudges, *report.nudges))

    def said(self, text: str) -> tuple[Nudge, ...]:
        """Note what the model wrote, and return what to tell it if it repeats itself or only announces."""
        self.phases.record_message(text)
        return self._told.choose(self.loops.record_message(text).nudges)

    def compacted(self, tokens: int) -> None:
        """Note that the conversation was cut down to this many tokens. Files may be read again."""
        self.budget.update_baseline(tokens)
        self.loops.reset()

    def person_spoke(self) -> None:
        """Note that the person said something. What comes next has a new reason: loops and phases start over, and a run
        that was wrapping up goes on. What was used stays used."""
        self.loops.record_person_message()
        self.phases.begin_task()
        self._calls.reopen()
        self._spent_phases = frozenset()

    def begin_task(self) -> None:
        """Start the next task of this run: loops and phases start over, what was used stays used."""
        self.person_spoke()

    def begin_run(self) -> None:
        """Start the next run of the session: as `begin_task`, with nothing used and the limits without extensions."""
        self.budget.begin_run()
        self._calls.begin_run()
        self.person_spoke()

    def wrap_up(self) -> None:
        """Close the run. From now on it is text only, and one call for the report is allowed whatever was used."""
        self._calls.closing = True

    def pause(self, now: Moment | None = None) -> None:
        """Stop the run's clock, as while waiting for a person. Model calls do this by themselves."""
        self.budget.pause(self._now(now))

    def resume(self, now: Moment | None = None) -> None:
        """End one `pause`."""
        self.budget.resume(self._now(now))

    def request_extension(self, additional_tokens: int, reason: str, *, now: Moment | None = None) -> ExtensionRequest:
        """Open a request for more tokens. Show it to a person, then `grant` or `deny` it."""
        return self.budget.request_extension(additional_tokens, reason, now=self._now(now))

    def grant(self, request: ExtensionRequest, *, now: Moment | None = None) -> bool:
        """Add the tokens of a request. A run that was wrapping up goes on. False if the answer came too late."""
        if not self.budget.grant(request, self._now(now)):
            return False
        self._calls.reopen()
        return True

    def deny(self, request: ExtensionRequest, *, now: Moment | None = None) -> None:
        """Close a request: the person said no, or nobody was there."""
        self.budget.deny(request, self._now(now))

    async def ask_extension(self, additional_tokens: int, reason: str, approver: Approver) -> bool:
        """Ask a person for more tokens; True if they were granted. The wait is not the run's time."""
        request = self.request_extension(additional_tokens, reason)
        if not request.can_request:
            return False
        self.pause()
        try:
            answer = await approver.ask(request)
        finally:
            self.resume()
        if answer.is_yes:
            return self.grant(request)
        self.deny(request)
        return False

    def state(self) -> dict[str, Any]:
        """Everything as plain JSON values, for a checkpoint or a row in a database. Changes nothing."""
        return {
            "version": STATE_VERSION,
            "budget": self.budget.to_json(),
            "clock": list(self.budget.clock),
            "loops": self.loops.to_json(),
            "phases": self.phases.to_json(),
            "calls": self._calls.to_json(),
            "told": self._told.to_json(),
            "turn": self._turn,
            "can_edit": self._can_edit,
            "spent_phases": sorted(self._spent_phases),
        }

    def _restore(self, state: Mapping[str, Any], *, running: bool) -> None:
        """Go on from what `state` gave. Unless the run is still `running`, nothing is under way and its clock starts
        again with the next moment it is told."""
        try:
            if state["version"] != STATE_VERSION:
                raise ValueError(f"its version is {state['version']!r}")
            self.loops = LoopDetector.from_json(state["loops"], tuning=self.tuning.loops)
            self.phases.restore(state["phases"])
            self._calls.restore(state["calls"], running=running)
            self._told.restore(state["told"])
            self._turn, self._can_edit = int(state["turn"]), bool(state["can_edit"])
            self._spent_phases = frozenset(Phase(name) for name in state["spent_phases"])
            if running:
                self.budget.set_clock(*state["clock"])
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise not_a_state(error) from error

    def _open(
        self, model: str, input_bound: int, max_tokens: int, min_tokens: int, now: Instant
    ) -> OpenCall | CallRefused:
        """Open a call that the run's own limits allow, clamped to them. It still has to be held and answered."""
        self._calls.give_up_stale(now)
        check = self.budget.check(now)
        if not check.can_continue and not self._calls.report_is_due:
            reason = f"The run has used up its budget ({check.reason})."
            return CallRefused(reason, can_wrap_up=not self._calls.closing)
        reported = self._calls.closing and not self._calls.report_is_due
        call = self._calls.open(model, input_bound, max_tokens, min_tokens, now)
        if call is None:
            return CallRefused("The run has used up what was kept for its closing report.")
        if call.closing:
            self._told.keep([] if reported else [Nudge(CRITICAL, Urgency.CRITICAL)])
        else:
            self._told.keep([*([check.nudge] if check.nudge else []), *self._phase_nudges()])
        return call

    def _allow(self, call: OpenCall, covered: int, wanted: int) -> CallAllowed:
        """The answer to a call that is open and held, with what the model is told."""
        if covered < call.max_tokens:
            self._calls.clamp(call.id, covered)
        nudges = self._told.choose(())
        self._told.next_call()
        level = self.level
        return CallAllowed(
            id=call.id,
            model=call.model,
            max_tokens=covered,
            clamped=covered < wanted,
            text_only=level >= HARD,
            restricted=level >= RESTRICTED,
            level=level,
            nudges=nudges,
        )

    def _not_held(
        self, call: OpenCall, error: BudgetExhaustedError, now: Instant, unsaid: Iterable[Nudge] = ()
    ) -> CallRefused:
        """The answer to a call that the ledger has no money for. What it would have told is told with the next one."""
        self._calls.close(call, now, never_made=True)
        self._told.take_back(unsaid)
        return CallRefused(str(error), error.retry_at, permanent=error.permanent)

    def _settle(
        self, call: OpenCall, use: TokenUse, cost: Micros, kept_output: int | None, iteration: bool, now: Instant
    ) -> CallSettled:
        """Count a call that came back."""
        self._calls.close(call, now)
        self._calls.count(call, use, cost, kept_output, iteration, self.phases.phase)
        self._turn += 1
        level = self.level
        ask = self._calls.strict and level >= RESTRICTED and self.budget.can_request_extension(now)
        return CallSettled(Money(cost), level, ask)

    def _fail(self, call: OpenCall, cost: Micros, now: Instant) -> None:
        """Count what a call cost that brought no usage."""
        self._calls.close(call, now, never_made=True)
        self.budget.record_cost(Money(cost))

    @abstractmethod
    def _adapted(self, ledger: Ledger | H) -> H:
        """The ledger in the shape that this guard needs."""

    def _came_back(
        self, call: CallAllowed | str | None, usage: object, model: str | None
    ) -> tuple[OpenCall, TokenUse, str]:
        """The call that came back, what it used, and which model answered."""
        opened = self._find(call)
        try:
            use = opened.bound if usage is None else believable(token_use(usage))
        except UnbelievableUsageError:
            use = opened.bound
        return opened, use, model or opened.model

    def _cost(self, use: TokenUse, model: str, cost: Amount | None) -> Micros:
        """What a call cost, if there is no ledger to say so."""
        return self._calls.cost_of(use, model) if cost is None else as_micros(cost)

    def _find(self, call: CallAllowed | str | None) -> OpenCall:
        return self._calls.find(call.id if isinstance(call, CallAllowed) else call)

    def _explored_enough(self) -> bool:
        """Whether an agent that can edit has spent the share of exploring and has made no edit."""
        reserves = self._calls.reserves
        if reserves is None or self.phases.edited or not (self._calls.strict and self._can_edit):
            return False
        return reserves.is_used_up(Phase.EXPLORATION)

    def _phase_nudges(self) -> tuple[Nudge, ...]:
        """What to say once per task when a phase has used its share."""
        phase, reserves = self.phases.phase, self._calls.reserves
        if reserves is None or phase in self._spent_phases or not self._calls.strict:
            return ()
        if self._explored_enough():
            text = _EXPLORED
        elif phase is Phase.ACTING and reserves.enter(phase).is_used_up(phase):
            text = _EDITED
        else:
            return ()
        self._spent_phases |= {phase}
        return (Nudge(text, Urgency.WARNING),)

    def _step(self, step: Step | None) -> Step | None:
        """Calls of one turn of the model count once. Without model calls nobody knows where a turn ends."""
        return step if step is not None or self._turn == 0 else self._turn

    def _now(self, now: Moment | None) -> Instant:
        return as_instant(self._clock.now() if now is None else now)


def budget_of(state: Mapping[str, Any]) -> RunBudget:
    """The run budget in the state of a guard."""
    try:
        return RunBudget.from_json(state["budget"])
    except (LookupError, TypeError) as error:
        raise not_a_state(error) from error


def not_a_state(error: Exception) -> UsageError:
    return UsageError(f"This is not the state of a guard: {error!r}.", next_step="Start with a new guard.")
