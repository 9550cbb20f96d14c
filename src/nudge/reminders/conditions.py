"""The Conditions port: run a command and say whether it agrees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Question:
    """What a reminder's condition asks. The command runs in the agent's workspace."""

    command: str
    agent: str
    reminder_id: str
    fire_count: int
    timeout_us: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reason` says why it was not met. `output` is at most 2 KB of what the command wrote."""

    met: bool
    reason: str = ""
    output: str = ""
    exit_code: int | None = None


class Conditions(Protocol):
    async def ask(self, question: Question) -> Verdict:
        """Exit 0 is met. A command that hangs, is missing or cannot be started is not met: this never raises for it."""
        ...
