"""The attention gate over a home: its person's documents, its routines' claims, its configuration."""

from __future__ import annotations

from nudge.attention.gate import Gate
from nudge.coach.person_documents import PersonDocuments
from nudge.home.documents import HomeDocuments
from nudge.home.settings import Settings
from nudge.reminders.service import Reminders
from nudge.stores.store import SqlStore


async def gate_of(store: SqlStore, settings: Settings, agent: str) -> Gate:
    """As the daemon has it, for commands that work without one."""
    section = settings.table.get("attention")
    options = section if isinstance(section, dict) else {}
    documents = PersonDocuments(store, HomeDocuments(settings.home), settings.timezone)
    await documents.open(agent)
    return Gate(
        store,
        documents.person,
        Reminders(store, documents.person).claims,
        capacity=int(options.get("capacity", 5)),
        refill_minutes=int(options.get("refill_minutes", 90)),
        budget=options.get("ping_budget", "on") != "off",
        reserve=bool(options.get("reserve", True)),
    )
