"""The store over a database: one repository for each noun, the same for SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from functools import cached_property
from typing import TYPE_CHECKING

from nudge.database import Database

if TYPE_CHECKING:
    from nudge.attention.tables import SqlAttention
    from nudge.coach.tables import SqlActivity, SqlConversations, SqlPeriods
    from nudge.coach.trace_table import SqlTraces
    from nudge.progress.pool_tables import SqlPools
    from nudge.progress.session_tables import SqlSessions
    from nudge.queue.agent_table import SqlAgents
    from nudge.queue.lane_table import SqlLanes
    from nudge.queue.letter_table import SqlLetters
    from nudge.queue.note_table import SqlNotes
    from nudge.queue.outbox_table import SqlOutbox
    from nudge.queue.outcome_table import SqlFeed, SqlOutcomes
    from nudge.queue.timer_table import SqlTimers
    from nudge.reminders.tables import SqlReminders
    from nudge.spending.ledger_table import SqlLedger
    from nudge.spending.spending_table import SqlSpending
    from nudge.spending.usage_table import SqlUsage


class SqlStore:
    """Repositories are made when they are first used: a command that lists reminders loads nothing else."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @property
    def shared(self) -> bool:
        return self.database.shared

    def transaction(self) -> AbstractAsyncContextManager[None]:
        return self.database.transaction()

    def wakes(self) -> AsyncIterator[None]:
        return self.database.wakes()

    async def close(self) -> None:
        await self.database.close()

    @cached_property
    def timers(self) -> SqlTimers:
        from nudge.queue.timer_table import SqlTimers

        return SqlTimers(self.database)

    @cached_property
    def lanes(self) -> SqlLanes:
        from nudge.queue.lane_table import SqlLanes

        return SqlLanes(self.database)

    @cached_property
    def outcomes(self) -> SqlOutcomes:
        from nudge.queue.outcome_table import SqlOutcomes

        return SqlOutcomes(self.database)

    @cached_property
    def feed(self) -> SqlFeed:
        from nudge.queue.outcome_table import SqlFeed

        return SqlFeed(self.database)

    @cached_property
    def agents(self) -> SqlAgents:
        from nudge.queue.agent_table import SqlAgents

        return SqlAgents(self.database)

    @cached_property
    def letters(self) -> SqlLetters:
        from nudge.queue.letter_table import SqlLetters

        return SqlLetters(self.database)

    @cached_property
    def outbox(self) -> SqlOutbox:
        from nudge.queue.outbox_table import SqlOutbox

        return SqlOutbox(self.database)

    @cached_property
    def notes(self) -> SqlNotes:
        from nudge.queue.note_table import SqlNotes

        return SqlNotes(self.database)

    @cached_property
    def attention(self) -> SqlAttention:
        from nudge.attention.tables import SqlAttention

        return SqlAttention(self.database)

    @cached_property
    def conversations(self) -> SqlConversations:
        from nudge.coach.tables import SqlConversations

        return SqlConversations(self.database)

    @cached_property
    def activity(self) -> SqlActivity:
        from nudge.coach.tables import SqlActivity

        return SqlActivity(self.database)

    @cached_property
    def periods(self) -> SqlPeriods:
        from nudge.coach.tables import SqlPeriods

        return SqlPeriods(self.database)

    @cached_property
    def reminders(self) -> SqlReminders:
        from nudge.reminders.tables import SqlReminders

        return SqlReminders(self.database)

    @cached_property
    def spending(self) -> SqlSpending:
        from nudge.spending.spending_table import SqlSpending

        return SqlSpending(self.database)

    @cached_property
    def ledger(self) -> SqlLedger:
        from nudge.spending.ledger_table import SqlLedger

        return SqlLedger(self.database)

    @cached_property
    def pools(self) -> SqlPools:
        from nudge.progress.pool_tables import SqlPools

        return SqlPools(self.database)

    @cached_property
    def usage(self) -> SqlUsage:
        from nudge.spending.usage_table import SqlUsage

        return SqlUsage(self.database)

    @cached_property
    def sessions(self) -> SqlSessions:
        from nudge.progress.session_tables import SqlSessions

        return SqlSessions(self.database)

    @cached_property
    def traces(self) -> SqlTraces:
        from nudge.coach.trace_table import SqlTraces

        return SqlTraces(self.database)
