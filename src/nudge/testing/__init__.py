"""Fakes and virtual time for tests, nudge's own and yours. See docs/testing.md.

from nudge.testing import FakeTelegram, memory_store, run_virtual
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nudge.simulation.virtual_time import VirtualClock, VirtualLoop, run_virtual
from nudge.stores.store import SqlStore
from nudge.testing.channel import RecordingChannel
from nudge.testing.fakes import OfflineModel, ScriptedApprover, ScriptedConditions
from nudge.testing.faults import Fault, FaultKind
from nudge.testing.loopback import Loopback, running
from nudge.testing.model_server import Reply
from nudge.testing.telegram_protocol import SentMessage
from nudge.testing.worker_fakes import MemoryBlobs, ScriptedCommands, ScriptedSandbox

if TYPE_CHECKING:
    from nudge.testing.anthropic_server import FakeAnthropic
    from nudge.testing.google_server import FakeGoogle
    from nudge.testing.life import Life, live
    from nudge.testing.openai_server import FakeOpenAI
    from nudge.testing.responses_server import FakeResponses
    from nudge.testing.telegram_server import FakeTelegram

__all__ = [
    "FakeAnthropic",
    "FakeGoogle",
    "FakeOpenAI",
    "FakeResponses",
    "FakeTelegram",
    "Fault",
    "FaultKind",
    "Life",
    "Loopback",
    "MemoryBlobs",
    "OfflineModel",
    "RecordingChannel",
    "Reply",
    "ScriptedApprover",
    "ScriptedCommands",
    "ScriptedConditions",
    "ScriptedSandbox",
    "SentMessage",
    "VirtualClock",
    "VirtualLoop",
    "live",
    "memory_store",
    "run_virtual",
    "running",
]

_LATER = {
    "Life": "life",
    "live": "life",
    "FakeAnthropic": "anthropic_server",
    "FakeOpenAI": "openai_server",
    "FakeResponses": "responses_server",
    "FakeGoogle": "google_server",
    "FakeTelegram": "telegram_server",
}


def __getattr__(name: str) -> Any:
    """What is large, and the fakes that are programs too: `python -m` warns of a module that is loaded already."""
    from importlib import import_module

    if name not in _LATER:
        raise AttributeError(f"module 'nudge.testing' has no attribute {name!r}")
    return getattr(import_module(f"nudge.testing.{_LATER[name]}"), name)


def memory_store() -> SqlStore:
    """A store that lives in memory and ends with the process.

    It is the real SQLite store without a file: what passes with it passes with the real one.

    >>> import asyncio
    >>> from nudge.queue.agents import Agent
    >>> async def main():
    ...     store = memory_store()
    ...     await store.agents.add(Agent("coach", "coach", 0))
    ...     names = [agent.name for agent in await store.agents.all()]
    ...     await store.close()
    ...     return names
    >>> asyncio.run(main())
    ['coach']
    """
    from nudge.stores.open import open_sqlite

    return open_sqlite(":memory:")
