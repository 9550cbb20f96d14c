"""The store over a database: one repository for each noun, the same for SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from functools import cached_property
from typing import TYPE_CHECKING

from nudge.adapters.sql.database import Database

if TYPE_CHECKING:
    from nudge.adapters.sql.agents import SqlAgents
    from nudge.adapters.sql.attention import SqlAttention
    from nudge.adapters.sql.coach import SqlActivity, SqlConversations, SqlPeriods
    from nudge.adapters.sql.lanes import SqlLanes
    from nudge.adapters.sql.ledger import SqlLedger
    from nudge.adapters.sql.letters import SqlLetters
    from nudge.adapters.sql.notes import SqlNotes
    from nudge.adapters.sql.outbox import SqlOutbox
    from nudge.adapters.sql.outcomes import SqlFeed, SqlOutcomes
    from nudge.adapters.sql.pools import SqlPools
    from nudge.adapters.sql.reminders import SqlReminders
    from nudge.adapters.sql.sessions import SqlSessions
    from nudge.adapters.sql.spending import SqlSpending
    from nudge.adapters.sql.timers import SqlTimers
    from nudge.adapters.sql.traces import SqlTraces
    from nudge.adapters.sql.usage import SqlUsage


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
        from nudge.adapters.sql.timers import SqlTimers

        return SqlTimers(self.database)

    @cached_property
    def lanes(self) -> SqlLanes:
        from nudge.adapters.sql.lanes import SqlLanes

        return SqlLanes(self.database)

    @cached_property
    def outcomes(self) -> SqlOutcomes:
        from nudge.adapters.sql.outcomes import SqlOutcomes

        return SqlOutcomes(self.database)

    @cached_property
    def feed(self) -> SqlFeed:
        from nudge.adapters.sql.outcomes import SqlFeed

        return SqlFeed(self.database)

    @cached_property
    def agents(self) -> SqlAgents:
        from nudge.adapters.sql.agents import SqlAgents

        return SqlAgents(self.database)

    @cached_property
    def letters(self) -> SqlLetters:
        from nudge.adapters.sql.letters import SqlLetters

        return SqlLetters(self.database)

    @cached_property
    def outbox(self) -> SqlOutbox:
        from nudge.adapters.sql.outbox import SqlOutbox

        return SqlOutbox(self.database)

    @cached_property
    def notes(self) -> SqlNotes:
        from nudge.adapters.sql.notes import SqlNotes

        return SqlNotes(self.database)

    @cached_property
    def attention(self) -> SqlAttention:
        from nudge.adapters.sql.attention import SqlAttention

        return SqlAttention(self.database)

    @cached_property
    def conversations(self) -> SqlConversations:
        from nudge.adapters.sql.coach import SqlConversations

        return SqlConversations(self.database)

    @cached_property
    def activity(self) -> SqlActivity:
        from nudge.adapters.sql.coach import SqlActivity

        return SqlActivity(self.database)

    @cached_property
    def periods(self) -> SqlPeriods:
        from nudge.adapters.sql.coach import SqlPeriods

        return SqlPeriods(self.database)

    @cached_property
    def reminders(self) -> SqlReminders:
        from nudge.adapters.sql.reminders import SqlReminders

        return SqlReminders(self.database)

    @cached_property
    def spending(self) -> SqlSpending:
        from nudge.adapters.sql.spending import SqlSpending

        return SqlSpending(self.database)

    @cached_property
    def ledger(self) -> SqlLedger:
        from nudge.adapters.sql.ledger import SqlLedger

        return SqlLedger(self.database)

    @cached_property
    def pools(self) -> SqlPools:
        from nudge.adapters.sql.pools import SqlPools

        return SqlPools(self.database)

    @cached_property
    def usage(self) -> SqlUsage:
        from nudge.adapters.sql.usage import SqlUsage

        return SqlUsage(self.database)

    @cached_property
    def sessions(self) -> SqlSessions:
        from nudge.adapters.sql.sessions import SqlSessions

        return SqlSessions(self.database)

    @cached_property
    def traces(self) -> SqlTraces:
        from nudge.adapters.sql.traces import SqlTraces

        return SqlTraces(self.database)
