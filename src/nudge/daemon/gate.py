"""The attention gate over a home: its person's documents, its routines' claims, its configuration."""

from __future__ import annotations

from nudge.attention.gate import Gate
from nudge.coach.person_documents import PersonDocuments
from nudge.home.config import Config
from nudge.home.documents import HomeDocuments
from nudge.reminders.service import Reminders
from nudge.stores.store import SqlStore


async def gate_of(store: SqlStore, config: Config, agent: str) -> Gate:
    """As the daemon has it, for commands that work without one."""
    documents = await _documents_of(store, config, agent)
    return Gate(
        store,
        documents.person,
        Reminders(store, documents.person).claims,
        capacity=config.attention.capacity,
        refill_minutes=config.attention.refill_minutes,
        budget=config.attention.ping_budget,
        reserve=config.attention.reserve,
        preferences_of=documents.preferences,
        learning=config.attention.learning,
    )


async def reminders_of(store: SqlStore, config: Config, agent: str) -> Reminders:
    return Reminders(store, (await _documents_of(store, config, agent)).person)


async def _documents_of(store: SqlStore, config: Config, agent: str) -> PersonDocuments:
    documents = PersonDocuments(store, HomeDocuments(config.home), config.timezone)
    await documents.open(agent)
    return documents
