"""What Temporal remembers: one workflow per agent that sleeps until the next due time, and one that looks for those
that were forgotten.

A change here must be safe for agents that sleep while it is rolled out: `tests/fleet` replays recorded histories. Where
a change would take another path through an old one, ask `workflow.patched` first.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy, SearchAttributeKey
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from nudge.backoff import TABLE, Policy
    from nudge.fleet.rules import NEVER, shown_due, thinking_queue
    from nudge.instants import SECOND, Instant

STATE = SearchAttributeKey.for_keyword("NudgeState")
TIER = SearchAttributeKey.for_keyword("NudgeTier")
NEXT_DUE = SearchAttributeKey.for_datetime("NudgeNextDue")
SEARCH_ATTRIBUTES = (STATE, TIER, NEXT_DUE)

PAUSED = "paused"
HEARTBEAT_TIMEOUT = timedelta(seconds=20)
"""A visit that is silent for so long is repeated on another machine."""
LONGEST_VISIT = timedelta(days=1)
"""A working session may last. While it shows that it lives, nobody interrupts it."""
LONGEST_HISTORY = 400
"""Events: about forty wakes."""
LATEST = Instant(253_402_300_799 * SECOND)  # the year 9999: what the server can show

_WAITS = TABLE[Policy.STORE].delays
RETRIES = RetryPolicy(
    initial_interval=timedelta(seconds=_WAITS[0]),
    backoff_coefficient=_WAITS[1] / _WAITS[0],
    maximum_interval=timedelta(seconds=_WAITS[-1]),
)
"""The queue's own waits for a store that is away, forever: nothing is lost meanwhile."""


@dataclass(frozen=True)
class Shown:
    """What the search attributes say. They are written when this changes: each time costs an action."""

    state: str = ""
    tier: str = ""
    next_due: int = 0


@dataclass(frozen=True)
class AgentStart:
    """What an agent's workflow knows, carried over when its history starts again. `first` asks the next visit to start
    what belongs to the agent. Times are microseconds. `longest_history` is how many events it may have; 0 leaves that
    to the server."""

    agent: str
    wake_at: int = 0
    first: bool = True
    paused: bool = False
    seen: int = 0
    visits: int = 0
    fired: int = 0
    shown: Shown = Shown()
    longest_history: int = 0
    thinks: bool = False


@dataclass(frozen=True)
class VisitAsked:
    agent: str
    first: bool


@dataclass(frozen=True)
class VisitAnswer:
    """How a visit ended. `member` is False if the agent was removed or left the fleet. `thinks`: the next visit is for
    nothing but what the agent thinks of by itself."""

    wake_at: int
    seen: int
    fired: int
    state: str
    tier: str
    member: bool = True
    thinks: bool = False


@workflow.defn(name="nudge-agent")
class AgentWorkflow:
    @workflow.init
    def __init__(self, start: AgentStart) -> None:
        self._is = start
        self._poked: int = NEVER
        self._ended = False
        self._visiting = False

    @workflow.run
    async def run(self, start: AgentStart) -> None:
        while not self._ended:
            if not self._is.paused and self._wake_at <= self._now():
                await self._visit()
            elif self._is_long() and workflow.all_handlers_finished():
                workflow.continue_as_new(replace(self._is, wake_at=self._wake_at, longest_history=LONGEST_HISTORY))
            else:
                await self._sleep()
        await workflow.wait_condition(workflow.all_handlers_finished)

    def _is_long(self) -> bool:
        """A worker that does not know an agent reads its whole history: short ones cost less each time than a new one
        costs now and then. One that began before this rule goes on until the server suggests an end."""
        info = workflow.info()
        longest = self._is.longest_history
        return info.is_continue_as_new_suggested() or 0 < longest < info.get_current_history_length()

    @workflow.signal
    def poke(self, wake_at: int, made_at: int) -> None:
        """Something is due earlier. One that the last visit has seen is old news."""
        if made_at > self._is.seen:
            self._poked = min(self._poked, wake_at)

    @workflow.signal
    def wake(self) -> None:
        """Look now."""
        self._poked = 0

    @workflow.signal
    def pause(self) -> None:
        """Visit no more until `resume`. What becomes due meanwhile is late."""
        self._is = replace(self._is, paused=True)
        self._show()

    @workflow.signal
    def resume(self) -> None:
        self._is = replace(self._is, paused=False)
        self._poked = 0

    @workflow.signal
    def cancel(self) -> None:
        """End after the visit that is under way. The store stays as it is."""
        self._ended = True

    @workflow.query
    def state(self) -> dict[str, object]:
        return {
            "agent": self._is.agent,
            "state": PAUSED if self._is.paused else self._is.shown.state,
            "tier": self._is.shown.tier,
            "wake_at": None if self._wake_at >= NEVER else self._wake_at,
            "visiting": self._visiting,
            "visits": self._is.visits,
            "fired": self._is.fired,
        }

    @property
    def _wake_at(self) -> int:
        return min(self._is.wake_at, self._poked)

    @staticmethod
    def _now() -> int:
        return round(workflow.now().timestamp() * SECOND)

    async def _sleep(self) -> None:
        """Until the next wake, or until a signal changes something. A later poke changes nothing, and costs nothing."""
        until, paused = self._wake_at, self._is.paused
        span = None if paused or until >= LATEST else timedelta(microseconds=max(1, until - self._now()))
        with suppress(TimeoutError):
            await workflow.wait_condition(
                lambda: self._ended or self._is.paused != paused or (not paused and self._wake_at < until), timeout=span
            )

    async def _visit(self) -> None:
        thinks = self._is.thinks and self._poked > self._is.wake_at
        self._poked = NEVER
        self._visiting = True
        answer = await workflow.execute_activity(
            "visit",
            VisitAsked(self._is.agent, self._is.first),
            task_queue=thinking_queue(workflow.info().task_queue) if thinks else None,
            result_type=VisitAnswer,
            start_to_close_timeout=LONGEST_VISIT,
            heartbeat_timeout=HEARTBEAT_TIMEOUT,
            retry_policy=RETRIES,
        )
        self._visiting = False
        self._is = replace(
            self._is,
            wake_at=answer.wake_at,
            thinks=answer.thinks,
            first=False,
            seen=answer.seen,
            visits=self._is.visits + 1,
            fired=self._is.fired + answer.fired,
        )
        if not answer.member:
            self._ended = True
        else:
            self._show(answer)

    def _show(self, answer: VisitAnswer | None = None) -> None:
        before = self._is.shown
        after = before if answer is None else Shown(answer.state, answer.tier, shown_due(Instant(answer.wake_at)))
        if self._is.paused:
            after = replace(after, state=PAUSED)
        if after != before:
            self._is = replace(self._is, shown=after)
            due = datetime.fromtimestamp(min(after.next_due, LATEST) / SECOND, UTC)
            workflow.upsert_search_attributes(
                [STATE.value_set(after.state), TIER.value_set(after.tier), NEXT_DUE.value_set(due)]
            )


@workflow.defn(name="nudge-poller")
class PollerWorkflow:
    """Somebody listens to the person's channel: one worker at a time, another if that one is gone."""

    def __init__(self) -> None:
        self._ended = False

    @workflow.run
    async def run(self) -> None:
        while not self._ended:
            if workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new()
            await self._listen()

    async def _listen(self) -> None:
        """Until the worker that listens stops, or until the end."""
        polling = workflow.start_activity(
            "poll", start_to_close_timeout=LONGEST_VISIT, heartbeat_timeout=HEARTBEAT_TIMEOUT, retry_policy=RETRIES
        )
        await workflow.wait_condition(lambda: self._ended or polling.done())
        if not polling.done():
            polling.cancel()
        with suppress(ActivityError):  # it was cancelled
            await polling

    @workflow.signal
    def cancel(self) -> None:
        self._ended = True


@dataclass(frozen=True)
class SweepStart:
    every_seconds: float
    found: int = 0


@workflow.defn(name="nudge-sweep")
class SweepWorkflow:
    """Looks for agents that should have been visited, and pokes them. It fires nothing itself."""

    @workflow.init
    def __init__(self, start: SweepStart) -> None:
        self._found = start.found
        self._ended = False

    @workflow.run
    async def run(self, start: SweepStart) -> None:
        while not self._ended:
            self._found += await workflow.execute_activity(
                "sweep",
                result_type=int,
                start_to_close_timeout=timedelta(minutes=10),
                heartbeat_timeout=HEARTBEAT_TIMEOUT,
                retry_policy=RETRIES,
            )
            with suppress(TimeoutError):
                await workflow.wait_condition(lambda: self._ended, timeout=timedelta(seconds=start.every_seconds))
            if workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(SweepStart(start.every_seconds, self._found))

    @workflow.signal
    def cancel(self) -> None:
        self._ended = True

    @workflow.query
    def found(self) -> int:
        return self._found
