"""The model calls of a run: how large each may be, and what the run has left for its closing report.

Only STRICT limits the size of a call. An ordinary call leaves the reserve for wrapping up whole, in tokens and, where
prices are known, in money. Calls under way count with their worst case; one that only they leave no room for is clamped
to the least it may have, because they will use less. The first call after the run began to close is always allowed by
the run's own limits, so that every run can end with a report. A ledger, if there is one, still has the last word.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from nudge.errors import UsageError
from nudge.instants import MINUTE, Instant
from nudge.numbers import is_whole
from nudge.progress.phases import Phase
from nudge.progress.reserves import PhaseReserves
from nudge.progress.run_budget import RunBudget
from nudge.progress.run_limits import BudgetEnforcementMode
from nudge.spending.money import Micros, Money, format_money
from nudge.tokens import TokenUse

if TYPE_CHECKING:
    from nudge.spending.prices import PriceTable

MIN_TOKENS = 64
"""An answer shorter than this is not worth its question: a call is not clamped below it."""
CALL_LASTS = 15 * MINUTE
"""A call that nobody reported on for so long is given up: its tokens are there for others again."""
MOST_GIVEN_UP = 16
"""How many of those are remembered, in case their usage still comes."""


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call under way: its bounds, the most it can add to the run's tokens and cost, and whether it closes the run.
    One that was given up is no longer waited for."""

    id: str
    model: str
    input_bound: int
    max_tokens: int
    new_tokens: int
    cost: Micros
    closing: bool
    at: Instant
    given_up: bool = False

    @property
    def bound(self) -> TokenUse:
        """What the call used at the most: counted if the reply does not say."""
        return TokenUse(input=self.input_bound, output=self.max_tokens)


class RunCalls:
    """The calls under way and the reserves of the phases."""

    def __init__(self, budget: RunBudget, percents: tuple[int, ...], prices: PriceTable | None) -> None:
        limit = budget.limits.tokens
        self.budget = budget
        self.reserves = None if limit is None else PhaseReserves(limit, percents=percents)
        self.closing = False
        self._percents = percents
        self._prices = prices
        self._reports = 0
        self._open: dict[str, OpenCall] = {}

    @property
    def strict(self) -> bool:
        return self.budget.mode is BudgetEnforcementMode.STRICT

    @property
    def report_is_due(self) -> bool:
        """Whether the run is closing and has not had a call for its report."""
        return self.closing and self._reports == 0

    def open(self, model: str, input_bound: int, max_tokens: int, min_tokens: int, now: Instant) -> OpenCall | None:
        """Open a call, clamped to what the run has left; None if nothing is left for it.

        A call that leaves too little for the report becomes the report: the run closes.
        """
        for tokens, at_least in ((input_bound, 0), (max_tokens, 1), (min_tokens, 1)):
            if not is_whole(tokens) or tokens < at_least:
                raise UsageError(
                    f"A call cannot have {input_bound!r} tokens of input and {min_tokens!r} to {max_tokens!r} "
                    "of output.",
                    next_step="Give whole numbers: input from 0, output from 1.",
                )
        least, most = min(min_tokens, max_tokens), max_tokens
        if self.strict:
            if not self.closing:
                most = self._fitting(model, input_bound, max_tokens, self._under_way())
                if most < least and self._fitting(model, input_bound, max_tokens, ()) >= least:
                    most = least
                self.closing = most < least
            if self.closing:
                most = self._fitting_report(model, input_bound, max_tokens)
                if most < least and not self.report_is_due:
                    return None
                most = max(most, least)
        call = OpenCall(
            os.urandom(8).hex(),
            model,
            input_bound,
            most,
            self._new_input(input_bound) + most,
            self._prices.worst_case(model, input_bound, most) if self._prices else 0,
            self.closing,
            now,
        )
        self._open[call.id] = call
        self._reports += self.closing
        self.budget.pause(now)
        return call

    def clamp(self, call_id: str, max_tokens: int) -> None:
        """Note that the ledger covers less of an open call."""
        self._open[call_id] = replace(self._open[call_id], max_tokens=max_tokens)

    def find(self, call_id: str | None) -> OpenCall:
        """An open call: the one of that id, or the only one. Changes nothing."""
        if call_id is not None and call_id in self._open:
            return self._open[call_id]
        under_way = self._under_way()
        if call_id is None and len(under_way) == 1:
            return under_way[0]
        if call_id is None and under_way:
            raise UsageError(f"{len(under_way)} calls are open.", next_step="Pass the call that before_call returned.")
        raise UsageError("No such call is open.", next_step="Call before_call first, and report each call once.")

    def close(self, call: OpenCall, now: Instant, *, never_made: bool = False) -> None:
        """Take a call off the list."""
        del self._open[call.id]
        self._reports -= never_made and call.closing
        if not call.given_up:
            self.budget.resume(now)

    def give_up_stale(self, now: Instant) -> None:
        """Stop waiting for calls that nobody reported on for a quarter of an hour."""
        for call in self._under_way():
            if now - call.at >= CALL_LASTS:
                self._open[call.id] = replace(call, given_up=True)
                self.budget.resume(now)
        for call in [call for call in self._open.values() if call.given_up][:-MOST_GIVEN_UP]:
            del self._open[call.id]

    def count(
        self, call: OpenCall, use: TokenUse, cost: Micros, kept_output: int | None, iteration: bool, phase: Phase
    ) -> None:
        """Count a call that came back, and charge its tokens to the phase it was made in."""
        before = self.budget.incremental_tokens
        self.budget.record_call(use, Money(cost), kept_output=kept_output, iteration=iteration)
        if self.reserves is not None:
            spent = max(0, self.budget.incremental_tokens - before)
            # A report that did not end the run, because it got more tokens, must not leave the other phases over.
            at = replace(self.reserves, phase=Phase.WRAPUP) if call.closing else self.reserves.enter(phase)
            self.reserves = at.spend(spent)

    def cost_of(self, use: TokenUse, model: str) -> Micros:
        """What a call cost where neither a ledger nor the caller says so. Changes nothing."""
        if self._prices is not None:
            return self._prices.cost(model, use)
        if self.budget.limits.cost is not None:
            raise UsageError(
                f"This run may cost {format_money(self.budget.limits.cost)}, but there are no prices.",
                next_step="Give the guard prices=nudge.load_prices() or a ledger, or pass cost= to after_call.",
            )
        return 0

    def reopen(self) -> None:
        """Go on with a run that was closing: it has a new task, or more tokens."""
        self.closing, self._reports = False, 0
        limit = self.budget.limits.tokens
        if self.reserves is not None and limit is not None:
            self.reserves = self.reserves.with_limit(limit)

    def begin_run(self) -> None:
        """Start the next run with nothing spent. What is under way is not waited for, and counts in it."""
        self._open = {call.id: replace(call, given_up=True) for call in self._open.values()}
        if self.reserves is not None:
            self.reserves = PhaseReserves(self.reserves.limit, percents=self._percents)
        self.reopen()

    def to_json(self) -> dict[str, Any]:
        return {
            "open": [asdict(call) for call in self._open.values()],
            "reserves": None if self.reserves is None else self.reserves.to_json(),
            "closing": self.closing,
            "reports": self._reports,
        }

    def restore(self, data: Mapping[str, Any], *, running: bool) -> None:
        """Continue from what `to_json` wrote. After a restart nothing is under way."""
        self.reserves = None if data["reserves"] is None else PhaseReserves.from_json(data["reserves"])
        self.closing, self._reports = bool(data["closing"]), int(data["reports"])
        self._open = {call.id: call for call in map(_open_call, data["open"])} if running else {}

    def _fitting(self, model: str, input_bound: int, max_tokens: int, beside: Collection[OpenCall]) -> int:
        """How much output an ordinary call may have beside others, so that the reserve for the report stays whole."""
        limits, most = self.budget.limits, max_tokens
        if limits.tokens is not None:
            kept = 0 if self.reserves is None else self.reserves.reserve_of(Phase.WRAPUP)
            used = self.budget.incremental_tokens + sum(call.new_tokens for call in beside)
            most = min(most, limits.tokens - used - kept - self._new_input(input_bound))
        if limits.cost is not None and self._prices is not None:
            spent = self.budget.cost + sum(call.cost for call in beside)
            money = max(0, limits.cost - spent - self._report_money(limits.cost))
            most = min(most, self._prices.fit_max_tokens(model, input_bound, money, at_most=max_tokens))
        return most

    def _fitting_report(self, model: str, input_bound: int, max_tokens: int) -> int:
        """How much output the report may have. Its input is the conversation: there is no way around that."""
        limits, most = self.budget.limits, max_tokens
        if self.reserves is not None:
            most = min(most, self.reserves.available_to(Phase.WRAPUP))
        if limits.cost is not None and self._prices is not None:
            money = max(limits.cost - self.budget.cost, self._report_money(limits.cost))
            most = min(most, self._prices.fit_max_tokens(model, input_bound, money, at_most=max_tokens))
        return most

    def _under_way(self) -> list[OpenCall]:
        return [call for call in self._open.values() if not call.given_up]

    def _report_money(self, limit: Micros) -> Micros:
        return -(-limit * self._percents[-1] // 100)

    def _new_input(self, input_bound: int) -> int:
        return max(0, input_bound - self.budget.account.context)


def _open_call(data: Mapping[str, Any]) -> OpenCall:
    """An open call as it was stored; ValueError or TypeError if it is not one."""
    names, counts = ("id", "model"), ("input_bound", "max_tokens", "new_tokens", "cost", "at")
    if not all(isinstance(data[name], str) for name in names):
        raise ValueError(f"{data!r} is not a call")
    if not all(is_whole(data[name]) and data[name] >= 0 for name in counts):
        raise ValueError(f"{data!r} is not a call")
    return OpenCall(**data)
