"""The person's own texts: files that they, their editor, git and the coach all write."""

from __future__ import annotations

from typing import Protocol


class DocumentFiles(Protocol):
    def read(self, agent: str, name: str) -> bytes | None:
        """The file's bytes; None if it is not there."""
        ...

    def write(self, agent: str, name: str, content: bytes) -> None:
        """Replace the file in one step: a reader sees the old text or the new one, also after a power cut."""
        ...

    def version(self, agent: str, name: str) -> str:
        """Changes when the file may have changed; cheap."""
        ...
