"""The words in which the scenarios of the loop detector are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

NOT_YET = object()
"""The result of a call that is still under way."""


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    args: Any = field(default_factory=dict)
    result: Any = NOT_YET
    error: Any = None


@dataclass(frozen=True, slots=True)
class Together:
    """Calls that the agent asked for in one breath."""

    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Later:
    """A call noted before it ran; its result is noted when it is back."""

    call: Call


@dataclass(frozen=True, slots=True)
class Says:
    """A message of the agent without an action."""

    text: str


@dataclass(frozen=True, slots=True)
class Person:
    text: str = "go on"


@dataclass(frozen=True, slots=True)
class Streams:
    """A piece of the model's own output as it arrives."""

    text: str


Step = Call | Together | Later | Says | Person | Streams


@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    steps: Sequence[Step]
    fires: tuple[int, int] | None = None
    tuning: Mapping[str, Any] = field(default_factory=dict)


def read(path: str, result: Any = NOT_YET) -> Call:
    return Call("read_file", {"path": path}, result)


def edit(path: str, old: str, new: str, result: Any = "1 replacement made") -> Call:
    return Call("edit_file", {"path": path, "old": old, "new": new}, result)


def bash(command: str, result: Any = NOT_YET, error: Any = None) -> Call:
    return Call("bash", {"command": command}, result, error)


def together(*calls: Call) -> Together:
    return Together(calls)


def rounds(count: int, make: Any) -> list[Step]:
    """The steps of `make(round)` for each round from 1."""
    return [step for number in range(1, count + 1) for step in make(number)]


def pieces(text: str, size: int) -> list[Step]:
    return [Streams(text[start : start + size]) for start in range(0, len(text), size)]
