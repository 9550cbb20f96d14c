"""The person's documents in memory: read once from a home, written nowhere."""

from __future__ import annotations

from nudge.coach.document_files import DocumentFiles


class DocumentsInMemory:
    """What is written stays here and is what is read from then on. A year of edits costs no disk."""

    def __init__(self, original: DocumentFiles) -> None:
        self._original = original
        self._kept: dict[tuple[str, str], bytes | None] = {}
        self._versions: dict[tuple[str, str], int] = {}

    def read(self, agent: str, name: str) -> bytes | None:
        place = agent, name
        if place not in self._kept:
            self._kept[place] = self._original.read(agent, name)
        return self._kept[place]

    def write(self, agent: str, name: str, content: bytes) -> None:
        self._kept[agent, name] = content
        self._versions[agent, name] = self._versions.get((agent, name), 0) + 1

    def version(self, agent: str, name: str) -> str:
        return "" if self.read(agent, name) is None else str(self._versions.get((agent, name), 0))
