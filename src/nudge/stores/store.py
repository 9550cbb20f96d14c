"""The store over a database: the tables of all rooms, the same for SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from nudge.database import Database

if TYPE_CHECKING:
    from nudge.attention.tables import AttentionTable, WelcomeTable
    from nudge.coach.tables import ActivityTable, ConversationTable, PeriodTable, TraceTable
    from nudge.progress.tables import GuardTable, PoolTable, SessionTable
    from nudge.queue.mail_tables import AgentTable, LetterTable, OutboxTable
    from nudge.queue.records import RecordTable
    from nudge.queue.tables import ChangeTable, FeedTable, LaneTable, OutcomeTable, TimerTable
    from nudge.reminders.tables import ReminderTable
    from nudge.spending.call_log import CallTable
    from nudge.spending.tables import LedgerTable, SpendingTable, UsageTable
    from nudge.worker.questions import QuestionTable


def _table(module: str, name: str) -> cached_property[Any]:
    """Loaded when it is first used: a command that lists reminders loads nothing else."""
    return cached_property(lambda store: getattr(import_module(f"nudge.{module}"), name)(store.database))


class SqlStore:
    """One line per table. Each room declares which of them it needs, in its `store.py`."""

    timers: cached_property[TimerTable] = _table("queue.tables", "TimerTable")
    lanes: cached_property[LaneTable] = _table("queue.tables", "LaneTable")
    outcomes: cached_property[OutcomeTable] = _table("queue.tables", "OutcomeTable")
    feed: cached_property[FeedTable] = _table("queue.tables", "FeedTable")
    changes: cached_property[ChangeTable] = _table("queue.tables", "ChangeTable")
    agents: cached_property[AgentTable] = _table("queue.mail_tables", "AgentTable")
    letters: cached_property[LetterTable] = _table("queue.mail_tables", "LetterTable")
    outbox: cached_property[OutboxTable] = _table("queue.mail_tables", "OutboxTable")
    records: cached_property[RecordTable] = _table("queue.records", "RecordTable")
    attention: cached_property[AttentionTable] = _table("attention.tables", "AttentionTable")
    welcomes: cached_property[WelcomeTable] = _table("attention.tables", "WelcomeTable")
    reminders: cached_property[ReminderTable] = _table("reminders.tables", "ReminderTable")
    spending: cached_property[SpendingTable] = _table("spending.tables", "SpendingTable")
    ledger: cached_property[LedgerTable] = _table("spending.tables", "LedgerTable")
    usage: cached_property[UsageTable] = _table("spending.tables", "UsageTable")
    calls: cached_property[CallTable] = _table("spending.call_log", "CallTable")
    pools: cached_property[PoolTable] = _table("progress.tables", "PoolTable")
    sessions: cached_property[SessionTable] = _table("progress.tables", "SessionTable")
    guards: cached_property[GuardTable] = _table("progress.tables", "GuardTable")
    questions: cached_property[QuestionTable] = _table("worker.questions", "QuestionTable")
    conversations: cached_property[ConversationTable] = _table("coach.tables", "ConversationTable")
    activity: cached_property[ActivityTable] = _table("coach.tables", "ActivityTable")
    periods: cached_property[PeriodTable] = _table("coach.tables", "PeriodTable")
    traces: cached_property[TraceTable] = _table("coach.tables", "TraceTable")

    def __init__(self, database: Database) -> None:
        self.database = database

    @property
    def shared(self) -> bool:
        return self.database.shared

    def transaction(self) -> AbstractAsyncContextManager[None]:
        return self.database.transaction()

    def savepoint(self) -> AbstractAsyncContextManager[None]:
        return self.database.savepoint()

    def wakes(self) -> AsyncIterator[None]:
        return self.database.wakes()

    async def purge(self) -> None:
        await self.database.purge()

    async def close(self) -> None:
        await self.database.close()
