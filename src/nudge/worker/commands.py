"""Agents by command: a letter that is due starts a program of yours, and its exit code ends the letter.

One program at a time for each agent. What it is told, and how often it was started, is in the session's checkpoint, so
another process goes on after a crash. A program that was running then is started again: it may have done its work
already, and `NUDGE_ATTEMPT` says that it is not the first time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from nudge.backoff import Policy, delay
from nudge.clock import Clock
from nudge.errors import LostLeaseError
from nudge.instants import SECOND, Instant, rfc3339
from nudge.model import Role, assistant, turn_from_json, user
from nudge.progress.checkpoints import Checkpoints
from nudge.progress.compaction import Message
from nudge.progress.store import Session, SessionStatus
from nudge.queue.agents import IDLE_SINCE
from nudge.queue.firing import Firing, Settlement
from nudge.queue.inbox import Letter, letter_key
from nudge.queue.outcomes import FeedLine, Result
from nudge.queue.records import Record, text
from nudge.spending.governor import Spending
from nudge.spending.lifecycle import resuming
from nudge.spending.plan_windows import PLAN, PlanTold, nothing_spare_until, plan_of, used_up_until
from nudge.worker.command_rules import (
    Command,
    CommandJob,
    CommandRan,
    End,
    Judged,
    filled,
    fitting,
    judged,
)
from nudge.worker.session_rules import COUNT, as_message, opened
from nudge.worker.sessions import FEED
from nudge.worker.store import WorkerStore

log = logging.getLogger("nudge.commands")

CLIENT_SESSION: Record[str] = Record("command.session", text, str)
"""The session that an agent's program named in its last calls, for `{session}`."""
STARTS, SLEPT, BY_PLAN = "starts", "slept", "slept_by_plan"
_LOOK_SECONDS = 2.0

Report = Callable[[Session, Instant], Awaitable[None]]


class CommandRunner(Protocol):
    async def run(self, job: CommandJob) -> CommandRan:
        """Start the program under its agent's budgets and come back when it has ended. When this returns or raises,
        everything that the program started is gone."""
        ...


class Commands:
    """`command_of` is what a role says now; None if no command does the work of its agents. With `spare_only` a letter
    is begun only while the agent's plan has something to spare."""

    def __init__(
        self,
        store: WorkerStore,
        clock: Clock,
        spending: Spending,
        runner: Callable[[], CommandRunner],
        *,
        command_of: Callable[[str], Command | None],
        report: Report,
        new_id: Callable[[], str],
        spare_only: bool = False,
    ) -> None:
        self._store = store
        self._clock = clock
        self._spending = spending
        self._runner = runner
        self._command_of = command_of
        self._report = report
        self._new_id = new_id
        self._spare_only = spare_only
        self._checkpoints = Checkpoints(store)

    async def fire(self, firing: Firing) -> None:
        """Run the agent's program for what is in hand, or for the most urgent letter."""
        agent = firing.timer.agent
        there = await self._store.agents.get(agent)
        command = self._command_of(there.role) if there is not None else None
        status = await self._spending.state(agent, firing.now)
        if command is None:  # the role has changed: letters wait for whoever runs the agent
            async with firing.settle():
                return
        if not status.state.may_start_task:
            await self._rest(firing, status.refresh_at)
            return
        resets_at = await self._plan_resets_at(agent, firing.now)
        if resets_at is not None:
            await self._rest(firing, resets_at)
            return
        session = await self._store.sessions.current(agent)
        if session is None and self._spare_only:  # what has begun goes on: half a task helps nobody
            spare_at = nothing_spare_until((await plan_of(self._store, agent)).windows, firing.now)
            if spare_at is not None:
                await self._rest(firing, spare_at)
                return
        session = session or await self._start(firing)
        if session is None:
            await self._rest(firing, None)
            return
        letter = await self._store.letters.get(session.letter) if session.letter else None
        if letter is not None:
            count = session.retries.get(COUNT, letter.count)
            firing.stands_for(letter_key(letter.id, count), letter.created_at)
        session = await self._begin(firing, session)
        began = self._clock.now()
        result = await self._run(await self._job(session, letter, command), session)
        if result is None:
            await self._rest(firing, None)  # somebody cancelled the session meanwhile
            return
        now = self._clock.now()
        resets_at = await self._plan_resets_at(agent, now)
        state = (await self._spending.state(agent, now)).state
        verdict = judged(result, state, command.time_limit, plan_used_up=resets_at is not None)
        await self._settle(firing, _Turn(session, letter, result, verdict, now, (now - began) // SECOND))

    async def _start(self, firing: Firing) -> Session | None:
        agent = firing.timer.agent
        letters = await self._store.letters.unread(agent, free_at=firing.now, limit=1)
        if not letters:
            return None
        letter, now = letters[0], self._clock.now()
        session = opened(agent, str(letter.detail.get("session") or self._new_id()), letter, now)
        async with firing.fenced():
            await self._store.feed.add(FeedLine(now, agent, FEED, f"Started: {session.last_task}"))
            return await self._checkpoints.write(session, [as_message(user(letter.body))], now)

    async def _begin(self, firing: Firing, session: Session) -> Session:
        """Count the start before it happens. The feed hears of a wake by the money from the ledger, and of one by the
        plan from here."""
        starts = {**session.retries, STARTS: session.retries.get(STARTS, 0) + 1, BY_PLAN: 0}
        now = self._clock.now()
        async with firing.fenced():
            if session.retries.get(BY_PLAN):
                await self._store.feed.add(FeedLine(now, session.agent, "awake", resuming(session.last_task)))
            return await self._checkpoints.write(replace(session, retries=starts), (), now)

    async def _plan_resets_at(self, agent: str, now: Instant) -> Instant | None:
        """When the agent's program can go on, if any window of its plan is used up: it may need that one model."""
        return used_up_until((await self._store.records.get(agent, PLAN) or PlanTold()).windows, now)

    async def _job(self, session: Session, letter: Letter | None, command: Command) -> CommandJob:
        client = await self._store.records.get(session.agent, CLIENT_SESSION) or "" if command.resumes else ""
        slept = bool(session.retries.get(SLEPT))
        message = _last_words(session)
        if slept and not client and letter is not None:
            message = letter.body  # there is nothing to go on with: start over
        values = {
            "message": message,
            "session": client,
            "agent": session.agent,
            "letter": str(session.letter or ""),
        }
        environment = {
            "NUDGE_AGENT": session.agent,
            "NUDGE_SESSION": session.id,
            "NUDGE_ATTEMPT": str(session.retries.get(STARTS, 1)),
            "NUDGE_MESSAGE": fitting(message),
            **({"NUDGE_RESUMED": "1"} if slept else {}),
        }
        if letter is not None:
            environment |= {
                "NUDGE_LETTER_ID": str(letter.id),
                "NUDGE_LETTER": fitting(letter.body),
                "NUDGE_SENDER": letter.sender,
                "NUDGE_REMINDER_ID": str(letter.detail.get("reminder", "")),
            }
        return CommandJob(
            session.agent,
            f"run-{self._new_id()}",
            filled(command.argv, values),
            "" if command.takes_message else message,
            environment,
            command,
        )

    async def _run(self, job: CommandJob, session: Session) -> CommandRan | None:
        """None if the session was cancelled; the program is gone then."""
        running = asyncio.ensure_future(self._runner().run(job))
        watching = asyncio.ensure_future(self._cancelled(session))
        try:
            await asyncio.wait({running, watching}, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                return running.result()
            return None
        finally:
            for task in (running, watching):
                task.cancel()
            await asyncio.gather(running, watching, return_exceptions=True)

    async def _cancelled(self, session: Session) -> None:
        while True:
            await self._clock.sleep(_LOOK_SECONDS)
            there = await self._store.sessions.get(session.agent, session.id)
            if there is None or not there.status.is_open:
                return

    async def _settle(self, firing: Firing, turn: _Turn) -> None:
        """The last checkpoint, the letter, the report and the outcome are one transaction."""
        agent = turn.session.agent
        try:
            async with firing.settle() as settlement:
                settlement.now = turn.now  # it may have taken hours
                await self._store.records.set(agent, IDLE_SINCE, turn.now)
                if turn.result.session:
                    await self._store.records.set(agent, CLIENT_SESSION, turn.result.session)
                match turn.verdict.end:
                    case End.ASLEEP:
                        await self._sleep(settlement, turn)
                    case End.LATER:
                        await self._put_off(settlement, turn)
                    case _:
                        await self._finish(settlement, turn)
        except LostLeaseError:
            there = await self._store.sessions.get(agent, turn.session.id)
            if there is None or there.status.is_open:
                raise
            await self._rest(firing, None)  # the session was cancelled in the last moment

    async def _sleep(self, settlement: Settlement, turn: _Turn) -> None:
        """The session stays open. What it is told at the refresh is written now, so that it is told once."""
        session, now = turn.session, turn.now
        status = await self._spending.state(session.agent, now)
        by_plan = await self._plan_resets_at(session.agent, now) if status.state.may_go_on else None
        refresh_at = by_plan or status.refresh_at
        said = [*turn.said, as_message(user(resuming(session.last_task)))]
        slept = {**session.retries, SLEPT: session.retries.get(SLEPT, 0) + 1, BY_PLAN: int(by_plan is not None)}
        await self._checkpoints.write(replace(session, retries=slept), said, now)
        settlement.outcome(Result.DEFERRED, turn.verdict.reason, final=False, until=rfc3339(refresh_at), **turn.detail)
        if by_plan is not None:
            settlement.feed("asleep", "Agent paused until its plan window resets")
        settlement.following = settlement.timer.next_slot(Instant(max(refresh_at, now + SECOND)))

    async def _put_off(self, settlement: Settlement, turn: _Turn) -> None:
        """Others may go first. The letter comes back, each time a little later."""
        tries = turn.letter.takes if turn.letter is not None else 0
        until = Instant(turn.now + round(delay(tries, Policy.COMMAND) * SECOND))
        ended = await self._ended(turn, SessionStatus.STOPPED)
        if turn.letter is not None:
            await self._store.letters.put_off(turn.letter.id, until)
        settlement.outcome(
            Result.DEFERRED,
            turn.verdict.reason,
            final=turn.letter is None,
            until=rfc3339(until),
            attempts=tries + 1,
            **turn.detail,
        )
        settlement.feed(FEED, f"Later: {ended.last_task} — {turn.verdict.reason}")
        await self._go_on(settlement, turn.now)

    async def _finish(self, settlement: Settlement, turn: _Turn) -> None:
        done, reason = turn.verdict.end is End.DONE, turn.verdict.reason
        ended = await self._ended(turn, SessionStatus.DONE if done else SessionStatus.FAILED)
        if turn.letter is not None:
            await self._store.letters.mark_read(turn.letter.id, turn.now, count=ended.retries.get(COUNT))
        await self._report(ended, turn.now)
        result, word = (Result.FIRED, "Finished") if done else (Result.FAILED, "Failed")
        settlement.outcome(result, reason or f"{word}: {ended.last_task}", **turn.detail)
        settlement.feed(FEED, f"{word}: {ended.last_task}{f' — {reason}' if reason else ''}")
        await self._go_on(settlement, turn.now)

    async def _ended(self, turn: _Turn, status: SessionStatus) -> Session:
        report = turn.verdict.last_lines if status is SessionStatus.DONE else ""
        ended = replace(turn.session, status=status, reason=turn.verdict.reason, report=report)
        return await self._checkpoints.write(ended, turn.said, turn.now)

    async def _go_on(self, settlement: Settlement, now: Instant) -> None:
        """Come back for the next letter: at once, or when one that was put off is due."""
        agent = settlement.timer.agent
        if await self._store.letters.unread(agent, free_at=now, limit=1):
            settlement.again(Instant(now + 1))
        elif (free_at := await self._store.letters.next_free(agent, now)) is not None:
            settlement.again(free_at)

    async def _rest(self, firing: Firing, refresh_at: Instant | None) -> None:
        """Nothing to do now, or no money to start with: then what waits does so until the refresh, or a top-up."""
        agent, now = firing.timer.agent, firing.now
        async with firing.settle() as settlement:
            if refresh_at is None:
                await self._go_on(settlement, now)
            elif await self._waits(agent):
                settlement.following = firing.timer.next_slot(Instant(max(refresh_at, now + SECOND)))

    async def _waits(self, agent: str) -> bool:
        letters = await self._store.letters.unread(agent, limit=1)
        return bool(letters) or await self._store.sessions.current(agent) is not None


@dataclass(frozen=True, slots=True)
class _Turn:
    """One start of a program that has ended, `lasted` seconds after it began."""

    session: Session
    letter: Letter | None
    result: CommandRan
    verdict: Judged
    now: Instant
    lasted: int

    @property
    def said(self) -> list[Message]:
        output = self.result.ran.output
        return [as_message(assistant(output))] if output.strip() else []

    @property
    def detail(self) -> dict[str, Any]:
        return {
            "session": self.session.id,
            "exit_code": self.result.ran.code,
            "seconds": self.lasted,
            "output": self.verdict.last_lines,
        }


def _last_words(session: Session) -> str:
    """What the program is told: the last thing that was said to it."""
    for message in reversed(session.messages):
        turn = turn_from_json(message)
        if turn.role is Role.USER:
            return turn.text
    return session.last_task
