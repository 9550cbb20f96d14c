"""The person's documents: what they say, and what becomes of one that cannot be used."""

from __future__ import annotations

from typing import Any

import pytest

from nudge.coach.person_documents import PersonDocuments
from nudge.coach.targets import Targets
from nudge.errors import NotConfiguredError
from nudge.stores.store import SqlStore

LONG = b"- a line of a list\n" * 700_000


class Files:
    """Documents in memory."""

    def __init__(self, **texts: bytes) -> None:
        self.texts = {f"{name}.md": text for name, text in texts.items()}

    def read(self, agent: str, name: str) -> bytes | None:
        return self.texts.get(name)

    def write(self, agent: str, name: str, content: bytes) -> None:
        self.texts[name] = content

    def version(self, agent: str, name: str) -> str:
        return str(hash(self.texts.get(name)))


def documents(store: Any = None, **texts: bytes) -> PersonDocuments:
    return PersonDocuments(store, Files(**texts), "America/Toronto")


async def test_goals_that_are_too_long_leave_the_last_targets_in_force(store: SqlStore) -> None:
    files = Files(GOALS=b'## Schedule Targets\n- wake_target: "08:30"\n')
    known = PersonDocuments(store, files, "America/Toronto")
    await known.open("coach")
    assert await known.check_targets("coach") == (True, None)
    files.texts["GOALS.md"] = LONG
    changed, complaint = await known.check_targets("coach")
    assert not changed
    assert complaint is not None
    assert "I can't use GOALS.md: it has 13,300,000 characters, and 131,072 is the limit." in complaint.text
    assert known.targets("coach").as_fields()["wake_target"] == "08:30"
    assert await known.check_targets("coach") == (False, None)  # told once


def test_goals_that_were_too_long_from_the_start_leave_the_defaults() -> None:
    assert documents(GOALS=LONG).targets("coach") == Targets(timezone="America/Toronto")


def test_a_document_that_is_too_long_is_neither_shown_nor_taken_for_empty() -> None:
    known = documents(MEMORY=LONG, AGENTS=b"Be kind.")
    assert (known.texts("coach").memory, known.texts("coach").agents) == ("", "Be kind.")
    with pytest.raises(NotConfiguredError, match=r"MEMORY.md of coach is too long: it has 13,300,000 characters"):
        known.text("coach", "MEMORY.md")
