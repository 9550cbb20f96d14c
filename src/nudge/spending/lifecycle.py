"""The spending lifecycle: awake, winding down from 90 %, asleep from 100 %, stopped above 110 %, awake again.

A pure step from one state to the next. What has to happen with it comes back as effects, which are carried out in the
transaction that writes the state: done twice or lost, an effect would lie.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from nudge.errors import BudgetExhaustedError
from nudge.instants import Instant, rfc3339, to_datetime
from nudge.palette import state_words
from nudge.spending.allowance import RED_FROM, SpendingDay
from nudge.spending.money import Micros

WINDING_DOWN_FROM = RED_FROM
ASLEEP_FROM = 100
EXCEEDED_ABOVE = 110
LAST_TASK_LENGTH = 80

PAUSED = "Agent paused until budget refresh"
STOPPED = "Agent stopped — daily budget exceeded"
RESUMING = "Resuming — budget refreshed."


class SpendingState(StrEnum):
    """What an agent may do with its money.

    `WINDING_DOWN`: the current task is finished, inside its tool loop too, and none is started. `ASLEEP` and
    `BUDGET_EXCEEDED`: no model is called for anything.
    """

    AWAKE = "awake"
    WINDING_DOWN = "winding_down"
    ASLEEP = "asleep"
    BUDGET_EXCEEDED = "budget_exceeded"

    @property
    def may_start_task(self) -> bool:
        return self is SpendingState.AWAKE

    @property
    def may_go_on(self) -> bool:
        """Whether a task that has begun may call the model again."""
        return self in (SpendingState.AWAKE, SpendingState.WINDING_DOWN)

    def why(self, refresh_at: Instant | None) -> str:
        """Why its agent does nothing, in a sentence; empty if money is not the reason."""
        if self.may_go_on:
            return ""
        until = f" until {rfc3339(refresh_at)}" if refresh_at is not None else ""
        return (
            f"Its agent is asleep{until}."
            if self is SpendingState.ASLEEP
            else f"Its agent is stopped{until}: {state_words(self)}."
        )

    @property
    def banner(self) -> str | None:
        """What a status shows in red until it is over."""
        return STOPPED if self is SpendingState.BUDGET_EXCEEDED else None


class AsleepError(BudgetExhaustedError):
    """The agent sleeps until its budget is refreshed, or a window of its plan resets."""

    def __init__(self, agent: str, state: SpendingState, refresh_at: Instant, *, by_plan: bool = False) -> None:
        self.agent = agent
        self.state = state
        self.refresh_at = refresh_at
        if by_plan:
            super().__init__(
                f"{agent} is asleep: a window of its plan is used up. It resets at {rfc3339(refresh_at)}.",
                next_step=f"If the plan has room already, run 'nudge budget wake --agent {agent}'.",
                retry_at=to_datetime(refresh_at),
            )
            return
        what = {
            SpendingState.WINDING_DOWN: "is winding down: it finishes what it has begun and starts nothing new",
            SpendingState.BUDGET_EXCEEDED: "was stopped: its daily budget is exceeded",
        }.get(state, "is asleep")
        super().__init__(
            f"{agent} {what} until its budget is refreshed at {rfc3339(refresh_at)}.",
            next_step="Run 'nudge budget top-up AMOUNT' to go on at once.",
            retry_at=to_datetime(refresh_at),
        )


class NothingSpareError(BudgetExhaustedError):
    """The agent works only with what its plan has to spare, and that is nothing now."""

    def __init__(self, agent: str, spare_at: Instant) -> None:
        super().__init__(
            f"{agent}'s plan has nothing to spare before {rfc3339(spare_at)}.",
            next_step="Wait, or set 'spare = false' in [windows] of nudge.toml.",
            retry_at=to_datetime(spare_at),
        )


@dataclass(frozen=True, slots=True)
class FeedLine:
    """A line in the agent's activity feed."""

    text: str


@dataclass(frozen=True, slots=True)
class SetWake:
    """Set the agent's one wake timer to this instant, in place of an earlier one."""

    at: Instant


@dataclass(frozen=True, slots=True)
class ClearWake:
    """Remove the wake timer: the agent is awake already."""


@dataclass(frozen=True, slots=True)
class Alert:
    """Also tell the person outside the feed, by e-mail."""

    subject: str
    text: str


@dataclass(frozen=True, slots=True)
class CancelSiblings:
    """Cancel the agent's other calls in flight."""


Effect: TypeAlias = FeedLine | SetWake | ClearWake | Alert | CancelSiblings


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """An agent's spending state, with the day it was decided for and what that day could spend. `refresh_at` is when
    that is over: the end of the day, or the reset of the plan that put the agent to sleep."""

    state: SpendingState = SpendingState.AWAKE
    refresh_at: Instant | None = None
    limit: Micros = 0


@dataclass(frozen=True, slots=True)
class Step:
    lifecycle: Lifecycle
    effects: tuple[Effect, ...] = ()


def state_of(day: SpendingDay) -> SpendingState:
    """The state that a day's money alone asks for. An allowance of nothing is used up from the start, and so is one
    whose rest pays for no further call."""
    if day.meter.passed(EXCEEDED_ABOVE):
        return SpendingState.BUDGET_EXCEEDED
    if day.used_up or day.meter.reached(ASLEEP_FROM):
        return SpendingState.ASLEEP
    if day.meter.reached(WINDING_DOWN_FROM):
        return SpendingState.WINDING_DOWN
    return SpendingState.AWAKE


def step(before: Lifecycle, day: SpendingDay, now: Instant, last_task: str | None = None) -> Step:
    """The next state and what has to happen for it; the same reading again asks for nothing.

    The state follows the money, also back: a cost that is corrected downwards wakes an agent. Only a stop above 110 %
    holds until the day is over or its allowance was raised, because something went wrong that a person should see, and
    every entry into it is one incident with one alert.

    A reading of a day that is over by `now` decides nothing: it asks for a timer at once, whose run reads the new day.
    A plan whose window is used up puts an agent to sleep that has money.
    """
    if day.refresh_at <= now:
        return Step(before, (SetWake(now),))
    state = state_of(day)
    if (
        before.state is SpendingState.BUDGET_EXCEEDED
        and before.refresh_at == day.refresh_at
        and day.limit <= before.limit
    ):
        state = SpendingState.BUDGET_EXCEEDED
    after = Lifecycle(state, day.refresh_at, day.limit)
    if state.may_go_on and day.plan_resets_at is not None and day.plan_resets_at > now:
        after = Lifecycle(SpendingState.ASLEEP, day.plan_resets_at, day.limit)
    return Step(after, _effects(before, after, day, last_task))


def resuming(last_task: str | None) -> str:
    """The feed's line for a wake. The task is told in one line of at most 80 characters, without its own full stop;
    where none is known, the sentence about it is left out.

    >>> resuming("Fix the flaky login test.")
    'Resuming — budget refreshed. Continuing from Fix the flaky login test.'
    >>> resuming(None)
    'Resuming — budget refreshed.'
    """
    task = " ".join((last_task or "").split()).rstrip(". ")
    if not task:
        return RESUMING
    if len(task) > LAST_TASK_LENGTH:
        task = task[: LAST_TASK_LENGTH - 1].rstrip() + "…"
    return f"{RESUMING} Continuing from {task}."


def _effects(before: Lifecycle, after: Lifecycle, day: SpendingDay, last_task: str | None) -> tuple[Effect, ...]:
    if after.state.may_go_on:
        return () if before.state.may_go_on else (FeedLine(resuming(last_task)), ClearWake())
    effects: list[Effect] = []
    if after.state is SpendingState.BUDGET_EXCEEDED and before.state is not SpendingState.BUDGET_EXCEEDED:
        effects += [FeedLine(STOPPED), CancelSiblings(), _alert(day)]
    elif before.state.may_go_on:
        effects.append(FeedLine(PAUSED))
    if before.state.may_go_on or before.refresh_at != after.refresh_at:
        effects.append(SetWake(after.refresh_at or day.refresh_at))
    return tuple(effects)


def _alert(day: SpendingDay) -> Alert:
    return Alert(
        subject=STOPPED,
        text=(
            f"{day.meter.text}. Calls in flight were cancelled, and no new ones start before the budget refreshes at "
            f"{rfc3339(day.refresh_at)}. To go on now, run: nudge budget top-up AMOUNT"
        ),
    )
