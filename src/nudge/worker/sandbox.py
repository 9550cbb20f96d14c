"""The Sandbox port: run a command so that it reaches the workspace and nothing else.

The adapters are in `nudge.sandbox`; `nudge.sandbox.choose` takes the strongest that really works on this machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

_MB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """What a command may use. Processes and memory are those of the command and everything it started, together.

    Of the output the first and the last `output_bytes` / 2 are kept.
    """

    seconds: float = 120.0
    output_bytes: int = 64 * 1024
    processes: int = 256
    memory_bytes: int = 4096 * _MB
    file_bytes: int = 2048 * _MB
    open_files: int = 1024


class Ending(StrEnum):
    """How a command ended: by itself, or why it was stopped."""

    EXITED = "exited"
    TIMED_OUT = "timed-out"
    TOO_MANY_PROCESSES = "too-many-processes"
    TOO_MUCH_MEMORY = "too-much-memory"


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a command. `code` is below 0 if a signal ended it, and None if it was stopped by us."""

    ending: Ending
    code: int | None
    output: str
    left_out_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """A line for the shell and where it runs: `folder` is the workspace, which the command may change."""

    command: str
    folder: Path
    limits: Limits = field(default_factory=Limits)
    environment: Mapping[str, str] = field(default_factory=dict)


class Sandbox(Protocol):
    """`name` is what people read; `confines` is False for the one that stops nothing."""

    @property
    def name(self) -> str: ...

    @property
    def confines(self) -> bool: ...

    async def run(self, job: Job) -> Ran:
        """Run the command to its end, to its limit, or until the task is cancelled. When this returns or raises,
        everything that the command started is gone."""
        ...
