"""What a check finds, and what it looks at.

An *error* means that nudge does not start, or that a part of it does not work. A *warning* means that it works, and
that somebody should look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

from nudge.errors import NudgeError
from nudge.home.config import Config
from nudge.home.folder import Home
from nudge.home.read_config import Mistake, error_of, examine_config
from nudge.instants import Instant

Level = Literal["ok", "warning", "error"]


@dataclass(frozen=True)
class Finding:
    check: str
    level: Level
    text: str
    next_step: str | None = None

    @classmethod
    def of(cls, check: str, error: NudgeError) -> Finding:
        return cls(check, "error", error.message, error.next_step)

    def json(self) -> dict[str, Any]:
        return {"check": self.check, "level": self.level, "text": self.text, "next_step": self.next_step}


class Subject:
    """What is examined. `fix` also repairs what can be repaired without a question; `terminal` leaves out what a coach
    that talks in this terminal does not need; `config` is given where it has been read without a mistake."""

    def __init__(
        self, home: Home, now: Instant, *, fix: bool = False, terminal: bool = False, config: Config | None = None
    ) -> None:
        self.home = home
        self.now = now
        self.fix = fix
        self.terminal = terminal
        self._config = config

    @cached_property
    def read(self) -> tuple[Config, list[Mistake]]:
        """Read at the first use: a fix before that counts."""
        return (self._config, []) if self._config else examine_config(self.home)

    @property
    def config(self) -> Config:
        return self.read[0]

    @property
    def readable(self) -> bool:
        return not self.read[1]


class Check(NamedTuple):
    name: str
    examine: Callable[[Subject], Iterator[Finding]]


def refuse_bad_start(findings: Sequence[Finding]) -> None:
    """Raise the errors among the findings, in the words of `nudge config check`."""
    errors = [(finding.text, finding.next_step) for finding in findings if finding.level == "error"]
    if errors:
        raise error_of(errors)


def counted(findings: Sequence[Finding]) -> str:
    """The last line of a report.

    >>> counted([Finding("a", "error", ""), Finding("b", "warning", ""), Finding("c", "error", "")])
    '2 errors, 1 warning'
    >>> counted([Finding("a", "ok", "")])
    'No problems found.'
    """
    numbers = {level: sum(finding.level == level for finding in findings) for level in ("error", "warning")}
    parts = [f"{number} {level}{'s' if number > 1 else ''}" for level, number in numbers.items() if number]
    return ", ".join(parts) or "No problems found."
