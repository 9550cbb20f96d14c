"""The worker: takes letters, works through them in sessions, and reports to whoever asked.

One firing of its timer works for a while and comes back, so that a stop, a more urgent letter or another machine never
waits for a task to end. Everything it knows is in the session's checkpoint: any process can go on from there.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace

from nudge.clock import Clock
from nudge.errors import NotConfiguredError, NudgeError, UsageError
from nudge.instants import MINUTE, SECOND, Instant
from nudge.model import user
from nudge.progress.checkpoints import Checkpoints
from nudge.progress.compaction import Message
from nudge.progress.pool_rules import offer
from nudge.progress.run_limits import BudgetEnforcementMode, RunLimits
from nudge.progress.store import Session, SessionStatus
from nudge.progress.stored_pools import Pools
from nudge.queue.firing import Firing, Settlement
from nudge.queue.inbox import Letter, Priority
from nudge.queue.outcomes import FeedLine, Result
from nudge.spending.governor import Spending
from nudge.spending.lifecycle import AsleepError
from nudge.spending.money import Money
from nudge.worker.loop import RunOptions, Step, WorkLoop, Workspaces
from nudge.worker.manifest import DamagedSnapshotError
from nudge.worker.session_rules import (
    COUNT,
    RESERVED,
    as_message,
    member_of,
    next_task,
    opened,
    title,
    unanswered,
    wanted_tools,
)
from nudge.worker.sessions import FEED, new_guard
from nudge.worker.store import WorkerStore

log = logging.getLogger("nudge.worker")

STRETCH = 20 * SECOND
"""How long one firing works before it lets others look."""
MOST_STEPS = 50
SIGN_OF_LIFE = MINUTE
"""A subagent that has been silent for longer says that it still needs its money."""
NONE_IS_SOUND = "No snapshot of the workspace is intact. Continuing with the files as they are."
NO_ANSWER = "The person did not answer. Go on with what you know, or report."

Report = Callable[[Session, Instant], Awaitable[None]]
"""Hands a closing report to whoever asked; part of the transaction that ends the task."""


@dataclass(frozen=True, slots=True)
class Heard:
    """Something that came in while a session worked, and the letter that it was."""

    message: Message
    letter: int = 0
    count: int = 0


class Worker:
    def __init__(
        self,
        store: WorkerStore,
        clock: Clock,
        spending: Spending,
        pools: Pools,
        loop: WorkLoop,
        workspaces: Workspaces,
        *,
        report: Report,
        options: RunOptions,
        new_id: Callable[[], str],
    ) -> None:
        self._store = store
        self._clock = clock
        self._spending = spending
        self._pools = pools
        self._loop = loop
        self._workspaces = workspaces
        self._report = report
        self._options = options
        self._new_id = new_id
        self._checkpoints = Checkpoints(store)
        self._fences: dict[str, Callable[[], AbstractAsyncContextManager[None]]] = {}
        self._verified: dict[str, str] = {}  # by agent: the snapshot that its workspace is known to be

    async def fire(self, firing: Firing) -> None:
        """Work for a while: on the open session, or on the most urgent letter."""
        agent = firing.timer.agent
        session = await self._store.sessions.current(agent) or await self._start(firing)
        if session is None:
            await self._rest(firing)
            return
        began, steps = firing.now, 0
        self._fences[agent] = firing.fenced
        try:
            session = await self._trust_workspace(session, firing)
            while steps < MOST_STEPS and self._clock.now() - began < STRETCH:
                step = await self._step(session, firing)
                session, steps = step.session, steps + 1
                if firing.settled:  # the task has ended
                    return
                if step.until is not None:
                    await self._sleep(firing, await self._not_before(session, step.until))
                    return
            async with firing.settle() as settlement:
                settlement.again(Instant(self._clock.now() + 1))
        except AsleepError as error:
            await self._sleep(firing, error.refresh_at)
        except NotConfiguredError as error:
            failed = replace(session, status=SessionStatus.FAILED, reason=str(error))
            await self._end(firing, failed, unanswered(session))
        except BaseException:  # a tool may have run whose checkpoint was not written
            self._verified.pop(agent, None)
            raise

    async def _step(self, session: Session, firing: Firing) -> Step:
        """One step, or a shorter history first. What was heard is marked as read with the checkpoint that has it."""
        shorter = await self._loop.shortened(session)
        if shorter is not None:
            async with firing.fenced():
                return Step(await self._checkpoints.write(shorter, (), self._clock.now()))
        heard = () if wanted_tools(session) else await self._heard(session)
        if session.status is SessionStatus.WAITING and not heard:
            return Step(session, await self._answer_due(session))

        async def write(after: Session, new: Sequence[Message]) -> Session:
            if not after.status.is_open:
                return await self._end(firing, after, new, heard)
            async with firing.fenced():
                await self._mark(heard)
                saved = await self._checkpoints.write(after, new, self._clock.now())
            self._verified[session.agent] = saved.snapshot
            return saved

        working = replace(session, status=SessionStatus.WORKING)
        return await self._loop.step(working, write, [one.message for one in heard])

    async def _mark(self, heard: Sequence[Heard]) -> None:
        for one in heard:
            if one.letter:
                await self._store.letters.mark_read(one.letter, self._clock.now(), count=one.count)

    async def _heard(self, session: Session) -> Sequence[Heard]:
        """What the session has to hear before its next turn: urgent letters, and what came of its question."""
        letters = await self._store.letters.unread(session.agent, up_to=Priority.INTERRUPT, limit=10)
        heard = [
            Heard(as_message(user(f"Message from {letter.sender}: {letter.body}")), letter.id, letter.count)
            for letter in letters
            if letter.id != session.letter
        ]
        if session.status is SessionStatus.WAITING:
            question = await self._store.questions.of_session(session.agent, session.id)
            if question is not None and question.answered_at is not None:
                heard.append(Heard(as_message(user(f"The person answered: {question.answer}"))))
            elif question is None or question.deadline <= self._clock.now():
                heard.append(Heard(as_message(user(NO_ANSWER))))
        return heard

    async def _start(self, firing: Firing) -> Session | None:
        """A new session for the most urgent letter, if the agent may start something."""
        agent = firing.timer.agent
        letters = await self._store.letters.unread(agent, limit=1)
        if not letters or not (await self._spending.state(agent, firing.now)).state.may_start_task:
            return None
        letter, now = letters[0], self._clock.now()
        options = _options(letter, self._options)
        session = opened(agent, str(letter.detail.get("session") or self._new_id()), letter, now)
        session = replace(session, guard=new_guard(options, self._clock))
        async with firing.fenced():
            if options.limits.cost is not None:
                await self._pools.open(agent, session.id, options.limits.cost)
            return await self._begin(session, letter, now)

    async def _begin(self, session: Session, letter: Letter, now: Instant) -> Session:
        """Write the first checkpoint of a task; part of the caller's transaction."""
        await self._store.feed.add(FeedLine(now, session.agent, FEED, f"Started: {session.last_task}"))
        return await self._checkpoints.write(session, [as_message(user(letter.body))], now)

    async def _rest(self, firing: Firing) -> None:
        """Nothing to do, or no money to start with: letters wait for the refresh, or for a top-up."""
        agent = firing.timer.agent
        status = await self._spending.state(agent, firing.now)
        async with firing.settle() as settlement:
            if await self._store.letters.unread(agent, limit=1):
                again = Instant(firing.now + 1) if status.state.may_start_task else status.refresh_at
                settlement.following = firing.timer.next_slot(again)

    async def _trust_workspace(self, session: Session, firing: Firing) -> Session:
        """Check the workspace against the last snapshot, once for each process that takes the session over. A session
        that has none yet gets its first."""
        agent = session.agent
        family = await self._store.sessions.family(agent, session.id)
        snapshot = max((one.snapshot for one in family), default="")
        if snapshot and self._verified.get(agent) == snapshot:
            return session
        told = ""
        async with self._workspaces.changing(agent):
            try:
                different = await self._workspaces.put_back(agent, snapshot) if snapshot else ()
            except DamagedSnapshotError:
                different, snapshot, told = (), "", NONE_IS_SOUND
            if not snapshot:
                snapshot = await self._workspaces.keep(session)
                async with firing.fenced():
                    session = await self._checkpoints.write(replace(session, snapshot=snapshot), (), self._clock.now())
        if different:
            told = f"The workspace differed from its last snapshot in {_files(different)}. Restored it."
        if told:
            log.warning("%s: %s", agent, told)
            async with firing.fenced():
                await self._store.feed.add(FeedLine(self._clock.now(), agent, "restored", told))
        self._verified[agent] = snapshot
        return session

    async def _not_before(self, session: Session, until: Instant) -> Instant:
        """A call that does not fit is tried once more: a second refusal in a row puts the agent to sleep, and then
        everybody can see why nothing happens."""
        state = (await self._spending.state(session.agent, self._clock.now())).state
        waits = session.status is SessionStatus.WAITING or not state.may_go_on
        return until if waits else Instant(self._clock.now() + SECOND)

    async def _sleep(self, firing: Firing, until: Instant) -> None:
        """It has to wait, for money or for an answer. The session stays as it is, and the timer comes back. After that
        the workspace is checked in full."""
        self._verified.pop(firing.timer.agent, None)
        await self._workspaces.send_away(firing.timer.agent)
        async with firing.settle() as settlement:
            settlement.following = firing.timer.next_slot(Instant(max(until, firing.now + SECOND)))

    async def _answer_due(self, session: Session) -> Instant:
        question = await self._store.questions.of_session(session.agent, session.id)
        return question.deadline if question is not None else self._clock.now()

    async def _end(
        self, firing: Firing, session: Session, new: Sequence[Message], heard: Sequence[Heard] = ()
    ) -> Session:
        """The last checkpoint, the report, the letter and the outcome are one transaction. The next letter goes on in
        the same session if its budget is enough for another task: what it has learned is worth keeping."""
        now, agent = self._clock.now(), session.agent
        may_start = (await self._spending.state(agent, now)).state.may_start_task
        goes_on = may_start and session.status is SessionStatus.DONE and self._loop.allow_task(session)
        async with firing.settle() as settlement:
            settlement.now = now
            await self._mark(heard)
            ended = await self._checkpoints.write(session, new, now)
            if ended.letter:
                await self._store.letters.mark_read(ended.letter, now, count=ended.retries.get(COUNT))
            await self._report(ended, now)
            _record(settlement, ended)
            following = await self._store.letters.unread(agent, limit=1)
            if following:
                settlement.again(Instant(now + 1))
                letter = following[0]
                if goes_on and not letter.detail.get("session"):  # one with an id of its own was promised a session
                    ended = await self._begin(self._loop.begin_task(next_task(ended, letter)), letter, now)
        await self._workspaces.send_away(agent)
        return ended

    async def run_child(self, parent: Session, name: str, task: str) -> Session:
        """Work on a part of a session's task, with a share of its budget, to the end. A child that has begun goes on
        from its last checkpoint."""
        agent, top = parent.agent, parent.id.partition(".")[0]
        session_id = f"{parent.id}.{name}"
        child = await self._store.sessions.get(agent, session_id) or await self._born(parent, session_id, task)

        async def write(after: Session, new: Sequence[Message]) -> Session:
            async with self._fences[agent]():
                saved = await self._checkpoints.write(after, new, self._clock.now())
            if saved.snapshot:
                self._verified[agent] = saved.snapshot
            return saved

        while child.status.is_open:
            child = await self._paid_for(parent, child)
            shorter = await self._loop.shortened(child)
            if shorter is not None:
                child = await write(shorter, ())
                continue
            step = await self._loop.step(child, write)
            if step.until is not None:
                state = (await self._spending.state(agent, self._clock.now())).state
                raise AsleepError(agent, state, step.until)
            child = step.session
        if await self._store.pools.get(top) is not None:
            with suppress(NudgeError):  # given back already
                await self._pools.release(top, member_of(child), self._clock.now())
        return child

    async def _paid_for(self, parent: Session, child: Session) -> Session:
        """The child with money to go on. A reservation without a sign of life goes back, and a child that slept, or
        whose process died, gets another."""
        now, top = self._clock.now(), parent.id.partition(".")[0]
        if now - child.updated_at < SIGN_OF_LIFE or await self._store.pools.get(top) is None:
            return child
        async with self._fences[child.agent]():
            try:
                await self._pools.renew(top, member_of(child), now)
            except UsageError:  # it went back
                again = child.retries.get(RESERVED, 0) + 1
                child = replace(child, retries={**child.retries, RESERVED: again})
                await self._pools.reserve(top, member_of(child), now=now, parent=member_of(parent))
            return await self._checkpoints.write(child, (), now)

    async def _born(self, parent: Session, session_id: str, task: str) -> Session:
        """The first checkpoint of a child, with what the pool and its parent's tokens give it."""
        now, top = self._clock.now(), parent.id.partition(".")[0]
        limits = self._loop.limits_left(parent)
        tokens = None if limits.tokens is None else max(1, offer(limits.tokens))
        async with self._fences[parent.agent]():
            cost = limits.cost
            if await self._store.pools.get(top) is not None:
                member = session_id.partition(".")[2]
                reservation = await self._pools.reserve(top, member, now=now, parent=member_of(parent))
                cost = Money(reservation.granted)
            options = replace(self._options, limits=RunLimits(tokens, cost, limits.duration, limits.iterations))
            child = Session(
                parent.agent,
                session_id,
                last_task=title(task),
                asked_by=parent.id,
                parent=parent.id,
                guard=new_guard(options, self._clock),
                started_at=now,
            )
            return await self._checkpoints.write(child, [as_message(user(task))], now)


_RESULTS = {SessionStatus.DONE: Result.FIRED}
_WORDS = {SessionStatus.DONE: "Finished", SessionStatus.STOPPED: "Stopped", SessionStatus.FAILED: "Failed"}


def _record(settlement: Settlement, session: Session) -> None:
    word = _WORDS.get(session.status, session.status.value.capitalize())
    why = f" {session.reason}" if session.reason else ""
    settlement.outcome(
        _RESULTS.get(session.status, Result.FAILED),
        f"{word}: {session.last_task}.{why}".replace("..", "."),
        session=session.id,
        iterations=session.iteration,
    )
    settlement.feed(FEED, f"{word}: {session.last_task}{why and ' —' + why}")


def _options(letter: Letter, options: RunOptions) -> RunOptions:
    """The limits of a task over those of the configuration."""
    own, mode = letter.detail.get("limits"), letter.detail.get("mode")
    if own:
        options = replace(options, limits=RunLimits.from_json({**options.limits.to_json(), **own}))
    return replace(options, mode=BudgetEnforcementMode(mode)) if mode else options


def _files(paths: Sequence[str]) -> str:
    return f"{len(paths)} files" if len(paths) > 1 else paths[0]
