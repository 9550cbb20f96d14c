"""The worker's loop: think, act, observe, repeat. One step is one turn of the model, or the tools it asked for.

Every step ends in a checkpoint, so a crash loses at most the step under way: an answer that was paid for is not asked
for again, and a tool whose result is written does not run again. The guard is asked before every call and every tool.
A step that changed the workspace takes a snapshot first, and its checkpoint names it. So the workspace can always be
put back to what the checkpoint knows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Protocol

from nudge.clock import Clock
from nudge.instants import Instant, as_instant
from nudge.model import (
    Model,
    ModelReply,
    ModelRequest,
    Purpose,
    StopReason,
    Text,
    Tool,
    ToolResult,
    ToolUse,
    Turn,
    assistant,
    cached,
    user,
)
from nudge.progress.checkpoints import Checkpoints
from nudge.progress.compaction import Message, begins_with, message_tokens
from nudge.progress.extensions import Approver
from nudge.progress.guard import AsyncGuard
from nudge.progress.guard_holds import AsyncLedgerHolds
from nudge.progress.guard_values import CallRefused, GuardTuning
from nudge.progress.injection import SEPARATOR, Nudge
from nudge.progress.run_limits import BudgetEnforcementMode, RunLimits
from nudge.progress.store import DENIED, Session, SessionStatus
from nudge.spending.governor import Spending, frame_bound, turns_bound
from nudge.worker.session_rules import (
    CUT_OFF,
    NUDGE,
    REPORT_NOW,
    as_message,
    is_fresh,
    run_of,
    turns_of,
    wanted_tools,
)

ANSWER_TOKENS = 8_192
EXTENSION_SHARE = 5
"""A worker asks for a fifth of its tokens more."""
USED_UP = "Its run budget was used up."
TOO_LITTLE = "Its run's remaining budget does not cover another call."

Write = Callable[[Session, Sequence[Message]], Awaitable[Session]]
"""Writes a checkpoint with the messages that the step added. Gives back the session to go on with."""


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a tool call. `ends` is the report of one that finishes the task, `waits` says that the person was
    asked something. `changed` says whether the workspace may have changed."""

    text: str
    is_error: bool = False
    changed: bool = False
    ends: str | None = None
    waits: bool = False


class Toolbox(Protocol):
    """The tools of an agent."""

    def offered(self, session: Session) -> Sequence[Tool]:
        """What the model is told about them."""
        ...

    def only_reads(self, name: str) -> bool:
        """Whether calls of this tool may run side by side: they change nothing."""
        ...

    def stands_alone(self, name: str) -> bool:
        """Whether a call of this tool is the only one in its turn: sessions that it starts change the workspace too."""
        ...

    async def run(self, session: Session, use: ToolUse) -> Done: ...


class Workspaces(Protocol):
    """The folders that agents work in, and what is kept of them."""

    async def keep(self, session: Session) -> str:
        """Take a snapshot of the workspace; its name."""
        ...

    async def put_back(self, agent: str, snapshot: str) -> Sequence[str]:
        """Make the workspace what the snapshot says; the paths that differed."""
        ...

    async def send_away(self, agent: str) -> None:
        """Bring what has changed to where snapshots are kept for good, if that is another place."""
        ...

    def changing(self, agent: str) -> AbstractAsyncContextManager[None]:
        """Held by whoever changes the workspace, from the tool to the checkpoint that names its snapshot."""
        ...


@dataclass(frozen=True)
class RunOptions:
    """How a session's run is limited. A task may bring limits of its own."""

    limits: RunLimits = field(default_factory=RunLimits)
    mode: BudgetEnforcementMode = BudgetEnforcementMode.STRICT
    answer_tokens: int = ANSWER_TOKENS


@dataclass(frozen=True, slots=True)
class Step:
    """Where a session is after a step. `until` is when it may go on, if it must wait for money."""

    session: Session
    until: Instant | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """A conversation: its turns, an estimate of their tokens, and a bound that they do not pass."""

    turns: tuple[Turn, ...] = ()
    tokens: int = 0
    bound: int = 0

    def with_more(self, messages: Sequence[Message]) -> Told:
        turns = turns_of(messages)
        return Told(self.turns + turns, self.tokens + message_tokens(messages), self.bound + turns_bound(turns))


class History:
    """The messages of sessions as the model reads them. What was read for the last step is not read again."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Sequence[Message], Told]] = {}

    def of(self, session: Session) -> Told:
        messages = session.messages
        before, told = self._known.get(session.id, ((), Told()))
        if not begins_with(messages, before):
            before, told = (), Told()
        if len(messages) > len(before):
            told = told.with_more(messages[len(before) :])
        self._known[session.id] = (messages, told)
        return told

    def forget(self, session: Session) -> None:
        self._known.pop(session.id, None)


class WorkLoop:
    """One step of one session at a time. What it remembers only saves time: everything is in the checkpoint."""

    def __init__(
        self,
        checkpoints: Checkpoints,
        clock: Clock,
        spending: Spending,
        model: Model,
        toolbox: Toolbox,
        workspaces: Workspaces,
        *,
        approver_for: Callable[[Session], Approver],
        instructions: Callable[[str], str],
        tuning: GuardTuning | None = None,
    ) -> None:
        self._checkpoints = checkpoints
        self._clock = clock
        self._spending = spending
        self._model = model
        self._toolbox = toolbox
        self._workspaces = workspaces
        self._approver_for = approver_for
        self._instructions = instructions
        self._tuning = tuning or GuardTuning()
        self._history = History()
        self._guards: dict[str, tuple[int, AsyncGuard]] = {}
        self._frames: dict[tuple[tuple[Text, ...], tuple[str, ...]], int] = {}

    async def step(self, session: Session, write: Write, heard: Sequence[Message] = ()) -> Step:
        """Run the tools that the model asked for, or else ask the model. `heard` is what it has not heard yet."""
        if wanted_tools(session):
            return Step(await self._act(session, write))
        return await self._think(session, write, heard)

    async def shortened(self, session: Session) -> Session | None:
        """The session with a summary in place of its older messages; None if its history is short enough."""
        if self._history.of(session).tokens <= self._checkpoints.limit:
            return None
        shorter = await self._checkpoints.shortened(session, self._clock.now())
        if shorter is None:
            return None
        guard = self._guard(session)
        guard.compacted(message_tokens(shorter.messages))
        return replace(shorter, guard=guard.state())

    def allow_task(self, session: Session) -> bool:
        """Whether the session's budget is enough for another task."""
        return self._guard(session).allow_task()

    def limits_left(self, session: Session) -> RunLimits:
        """What a subagent may be given at most: the session's limits, with the tokens that are left."""
        budget = self._guard(session).budget
        left = budget.remaining_tokens
        return replace(budget.limits, tokens=None if left is None else max(1, left))

    def begin_task(self, session: Session) -> Session:
        """Loops and phases start over; what was used stays used."""
        guard = self._guard(session)
        guard.begin_task()
        return replace(session, guard=guard.state())

    async def _think(self, session: Session, write: Write, heard: Sequence[Message]) -> Step:
        guard = self._guard(session)
        fresh, new = is_fresh(session), list(heard)
        if heard:
            guard.person_spoke()
        tools = tuple(guard.offer(self._toolbox.offered(session)))
        request = self._request(session, turns_of(new), tools)
        call = await guard.before_call(
            request.model,
            self._bound(session, request, new),
            request.max_tokens,
            starts_task=fresh and not session.parent,
        )
        if isinstance(call, CallRefused):
            return await self._refused(session, guard, call, write)
        asked = replace(request, max_tokens=call.max_tokens, attempt_id=call.id)
        if call.nudges:
            nudge = user(NUDGE + call.text)
            new.append(as_message(nudge))
            asked = replace(asked, turns=(*asked.turns, nudge))
        if call.text_only:
            asked = replace(asked, tools=())
        try:
            reply = await self._model.complete(asked)
        except BaseException as error:
            await guard.call_failed(error, call=call)
            raise
        settled = await guard.after_call(reply.usage, call=call, model=reply.model)
        said = guard.said(reply.text)
        if settled.should_ask_extension:
            await self._ask_for_more(session, guard)
        if call.text_only:
            return Step(await self._written(_closed(session, reply), guard, [*new, _words(reply)], write))
        new.append(as_message(reply.turn))
        after = session if reply.tool_uses else self._heard_out(session, reply, said, new)
        return Step(await self._written(after, guard, new, write))

    def _heard_out(self, session: Session, reply: ModelReply, said: Sequence[Nudge], new: list[Message]) -> Session:
        """The session after an answer without tool calls. It ends the task, unless it was cut off, or only announced
        what it did not do."""
        if reply.stop_reason is StopReason.MAX_TOKENS:
            new.append(as_message(user(CUT_OFF)))
            return session
        if said:
            new.append(as_message(user(NUDGE + _text(said))))
            return session
        return _ended(session, SessionStatus.DONE, reply.text, "")

    async def _refused(self, session: Session, guard: AsyncGuard, call: CallRefused, write: Write) -> Step:
        """Sleep where money comes back, close with a report where the run is used up, and stop where that is gone."""
        if call.retry_at is not None:
            return Step(session, as_instant(call.retry_at))
        if call.can_wrap_up:
            guard.wrap_up()
            return Step(await self._written(session, guard, [as_message(user(REPORT_NOW))], write))
        if not guard.closing and not call.permanent:  # calls in flight hold what is left of the day
            return Step(session, self._clock.now())
        reason = TOO_LITTLE if call.permanent else call.reason
        stopped = _ended(session, SessionStatus.STOPPED, session.report, reason)
        return Step(await self._written(stopped, guard, (), write))

    async def _ask_for_more(self, session: Session, guard: AsyncGuard) -> None:
        limit = guard.budget.limits.tokens
        if limit is not None:
            more = max(1, limit // EXTENSION_SHARE)
            await guard.ask_extension(more, f"To finish: {session.last_task}", self._approver_for(session))

    async def _act(self, session: Session, write: Write) -> Session:
        """Run the tools. Whoever changes the workspace holds it until the checkpoint that knows of the change, so the
        newest snapshot of a session and its subagents always fits all of their checkpoints."""
        uses, guard = wanted_tools(session), self._guard(session)
        if len(uses) == 1 and self._toolbox.stands_alone(uses[0].name):
            done = await self._run(session, guard, uses[0])
            async with self._workspaces.changing(session.agent):
                return await self._acted(session, guard, [(uses[0], done)], write)
        if all(self._toolbox.only_reads(use.name) for use in uses):
            return await self._acted(session, guard, await self._run_tools(session, guard, uses), write)
        async with self._workspaces.changing(session.agent):
            return await self._acted(session, guard, await self._run_tools(session, guard, uses), write)

    async def _run_tools(
        self, session: Session, guard: AsyncGuard, uses: Sequence[ToolUse]
    ) -> list[tuple[ToolUse, Done]]:
        """Run the calls in the model's order; those that only read run side by side."""
        ran: list[tuple[ToolUse, Done]] = []
        for batch in self._batches(uses):
            done = await asyncio.gather(*(self._run(session, guard, use, len(uses)) for use in batch))
            ran += zip(batch, done, strict=True)
        return ran

    async def _acted(
        self, session: Session, guard: AsyncGuard, ran: Sequence[tuple[ToolUse, Done]], write: Write
    ) -> Session:
        """Write what came of the tools, with a snapshot if the workspace may have changed."""
        results: list[ToolResult | Text] = []
        nudges: list[Nudge] = []
        after = session
        for use, done in ran:
            results.append(ToolResult(use.id, done.text, done.is_error))
            nudges += self._noted(guard, use, done)
            if done.ends is not None and after.status.is_open:
                after = _ended(after, SessionStatus.DONE, done.ends, "")
            elif done.waits and after.status.is_open:
                after = replace(after, status=SessionStatus.WAITING)
        if nudges:
            results.append(Text(NUDGE + _text(nudges)))
        if any(done.changed for _, done in ran):
            after = replace(after, snapshot=await self._workspaces.keep(after))
        return await self._written(after, guard, [as_message(user(*results))], write)

    def _batches(self, uses: Sequence[ToolUse]) -> Iterator[list[ToolUse]]:
        for reads, group in groupby(uses, key=lambda use: self._toolbox.only_reads(use.name)):
            calls = list(group)
            yield from [calls] if reads else ([call] for call in calls)

    async def _run(self, session: Session, guard: AsyncGuard, use: ToolUse, together: int = 1) -> Done:
        if use.malformed:
            return Done("The input of this call is not a JSON object. Write it again.", is_error=True)
        if together > 1 and self._toolbox.stands_alone(use.name):
            return Done(f"Call {use.name} alone, without other tools in the same turn.", is_error=True)
        verdict = guard.before_tool(use.name, dict(use.input))
        if not verdict:
            return Done(DENIED + verdict.reason, is_error=True)
        async with self._spending.stoppable(session.agent):
            return await self._toolbox.run(session, use)

    def _noted(self, guard: AsyncGuard, use: ToolUse, done: Done) -> Sequence[Nudge]:
        args = dict(use.input)
        if done.is_error:
            return guard.after_tool(use.name, args, error=done.text, changed=done.changed or None)
        return guard.after_tool(use.name, args, result=done.text, changed=done.changed or None)

    def _request(self, session: Session, new: tuple[Turn, ...], tools: tuple[Tool, ...]) -> ModelRequest:
        model = self._spending.routes.model(self._spending.budgets.plan.tier, Purpose.WORK)
        return ModelRequest(
            Purpose.WORK,
            model,
            (cached(self._instructions(session.agent)),),
            _with_mark((*self._history.of(session).turns, *new)),
            ANSWER_TOKENS,
            tools=tools,
        )

    def _bound(self, session: Session, request: ModelRequest, new: Sequence[Message]) -> int:
        """The bound of a request's input. What does not change from call to call is counted once."""
        key = (request.system, tuple(tool.name for tool in request.tools))
        if key not in self._frames:
            self._frames = {key: frame_bound(request, calls=True)}
        return self._frames[key] + self._history.of(session).bound + turns_bound(turns_of(new))

    def _guard(self, session: Session) -> AsyncGuard:
        """The guard of a session as its checkpoint has it. The one of the last step is taken if nothing has happened to
        the session since; a step that fails leaves none behind."""
        iteration, guard = self._guards.pop(session.id, (-1, None))
        if guard is not None and iteration == session.iteration:
            return guard
        holds = AsyncLedgerHolds.of_agent(self._spending, session.agent, run=run_of(session))
        return AsyncGuard.from_state(session.guard, ledger=holds, tuning=self._tuning, clock=self._clock)

    async def _written(self, session: Session, guard: AsyncGuard, new: Sequence[Message], write: Write) -> Session:
        """Write a step, and keep its guard for the next one."""
        after = await write(replace(session, guard=guard.state(), phase=guard.phase.value), new)
        if after.status.is_open:
            self._guards[after.id] = (after.iteration, guard)
        else:
            self._history.forget(after)
        return after


def _ended(session: Session, status: SessionStatus, report: str, reason: str) -> Session:
    return replace(session, status=status, report=report.strip(), reason=reason)


def _closed(session: Session, reply: ModelReply) -> Session:
    """A session whose budget is used up, with what the model said last. A model that says nothing has not reported."""
    report = reply.text.strip() or "The worker wrote no closing report."
    return _ended(session, SessionStatus.STOPPED, report, USED_UP)


def _with_mark(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """The conversation, with a mark at its end: the next call reads all of this from the prompt cache."""
    *before, last = turns
    *blocks, end = last.content
    if not isinstance(end, Text | ToolResult):
        return turns
    return (*before, replace(last, content=(*blocks, replace(end, cache=True))))


def _words(reply: ModelReply) -> Message:
    """An answer without the tool calls that nobody will run."""
    return as_message(assistant(reply.text or "…"))


def _text(nudges: Sequence[Nudge]) -> str:
    return SEPARATOR.join(nudge.text for nudge in nudges)
