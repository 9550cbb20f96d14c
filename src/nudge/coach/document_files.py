"""The person's four documents: their names, their texts, and the port to their files.

They, their editor, git and the coach all write these files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

GOALS, MEMORY, AGENTS, HEARTBEAT = "GOALS.md", "MEMORY.md", "AGENTS.md", "HEARTBEAT.md"
NAMES = (GOALS, MEMORY, AGENTS, HEARTBEAT)


@dataclass(frozen=True, slots=True)
class DocumentTexts:
    """The texts of the four documents, in the order of `NAMES`; empty where there is none."""

    goals: str = ""
    memory: str = ""
    agents: str = ""
    checklist: str = ""


class DocumentFiles(Protocol):
    def read(self, agent: str, name: str) -> bytes | None:
        """The file's bytes; None if it does not exist."""
        ...

    def write(self, agent: str, name: str, content: bytes) -> None:
        """Replace the file in one step: a reader sees the old text or the new one, even after a power cut."""
        ...

    def version(self, agent: str, name: str) -> str:
        """Changes when the file may have changed. Cheap."""
        ...
