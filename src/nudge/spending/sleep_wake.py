"""Sleep and wake: the lifecycle's next step, written with all that follows from it in the transaction around it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nudge.instants import Instant
from nudge.queue import outcomes
from nudge.spending.alerts import mail_timer
from nudge.spending.books import WAKE, Books, wake_timer
from nudge.spending.lifecycle import (
    PAUSED,
    STOPPED,
    Alert,
    CancelSiblings,
    ClearWake,
    FeedLine,
    Lifecycle,
    SetWake,
    SpendingState,
    step,
)
from nudge.spending.store import SpendingRow, SpendingStore

_FEED_KINDS = {PAUSED: "asleep", STOPPED: "budget_exceeded"}


@dataclass(frozen=True, slots=True)
class Advanced:
    """The books after the step. What concerns this process comes back as flags, to be done once it is committed."""

    books: Books
    woke: bool = False
    stopped: bool = False
    alerted: bool = False

    @property
    def state(self) -> SpendingState:
        return self.books.row.state


class SleepWake:
    def __init__(self, store: SpendingStore) -> None:
        self._store = store

    async def advance(self, books: Books, now: Instant, *, badge: bool = False) -> Advanced:
        """Let the state follow the money. The same reading again changes nothing and costs no write.

        With `badge`, a meter that shows another whole percentage than before is told to the feed.
        """
        before = books.lifecycle
        awake = before.state.may_go_on
        last_task = None if awake else await self._store.spending.last_task(books.agent)
        taken = step(before, books.today, now, last_task)
        row = _written(books, taken.lifecycle)
        percent = books.today.meter.percent
        if badge and percent != row.badge:
            if percent > row.badge:
                await self._feed(books.agent, "budget", books.today.meter.text, now)
            row = replace(row, badge=percent)
        if row != books.row:
            await self._store.spending.put(row)
        for effect in taken.effects:
            match effect:
                case FeedLine(text):
                    await self._feed(books.agent, _FEED_KINDS.get(text, "awake"), text, now)
                case SetWake(at):
                    await self._store.timers.set(wake_timer(books.agent, at))
                case ClearWake():
                    await self._store.timers.cancel(books.agent, WAKE)
                case Alert():
                    await self._store.timers.set(mail_timer(books.agent, effect, now))
                case CancelSiblings():
                    pass
        woke = not awake and row.state.may_go_on
        if woke and before.refresh_at is not None:
            await self._store.spending.pull_deferred(books.agent, before.refresh_at, now)
        return Advanced(
            replace(books, row=row),
            woke=woke,
            stopped=CancelSiblings() in taken.effects,
            alerted=any(isinstance(effect, Alert) for effect in taken.effects),
        )

    async def keep_wake(self, books: Books) -> None:
        """See to it that an agent that sleeps on has its wake: whoever took the timer to look may have found nothing
        to do, and without it the agent would never wake."""
        if not books.row.state.may_go_on:
            await self._store.timers.set(wake_timer(books.agent, books.refresh_at))

    async def _feed(self, agent: str, kind: str, text: str, now: Instant) -> None:
        await self._store.feed.add(outcomes.FeedLine(now, agent, kind, text))


def _written(books: Books, after: Lifecycle) -> SpendingRow:
    return replace(books.row, state=after.state, refresh_at=after.refresh_at, state_limit=after.limit)
