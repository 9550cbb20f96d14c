"""The Seeds port: which reminders the files of a home ask for."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol

from nudge.queue.records import Agent
from nudge.reminders import ReminderSpec, Source


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a file that cannot be used. `version` tells a file that is still broken from one broken anew; `ref`
    names the file whose last good reminder stays."""

    text: str
    version: str
    ref: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """`where` is said in sentences: "the role coach". Where the whole could not be read, nothing is taken away."""

    source: Source
    where: str
    specs: tuple[ReminderSpec, ...] = ()
    problems: tuple[Problem, ...] = ()
    readable: bool = True


class Seeds(Protocol):
    def of_role(self, agent: Agent) -> Wanted: ...

    def of_routines(self, agent: Agent) -> Wanted: ...

    def stamp(self, agent: Agent) -> Hashable:
        """Another value whenever a routine's file came, went or changed. Cheap: asked every half minute."""
        ...
