"""The injection budget: how much the governors may say to the model before one call.

Nudges work only while they are rare. Every governor hands in what it would like to say, and this module picks: the most
urgent first, as many as fit, and nothing that was said just before the previous call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from nudge.errors import UsageError
from nudge.numbers import is_whole
from nudge.tokens import estimate_tokens

DEFAULT_INJECTION_TOKENS = 200
SEPARATOR = "\n"


class Urgency(IntEnum):
    """Which nudge goes first. Equal ones keep the order in which they were handed in."""

    HINT = 1
    WARNING = 2
    CRITICAL = 3


@dataclass(frozen=True, slots=True)
class Nudge:
    """One sentence of a governor for the model."""

    text: str
    urgency: Urgency = Urgency.HINT


@dataclass(frozen=True, slots=True)
class Injection:
    """What goes into one model call. `held_back` is what was left out, so that nothing is lost unseen."""

    nudges: tuple[Nudge, ...] = ()
    held_back: tuple[Nudge, ...] = ()

    @property
    def text(self) -> str:
        """The nudges as one text, a line each; empty if there are none."""
        return SEPARATOR.join(nudge.text for nudge in self.nudges)

    @property
    def tokens(self) -> int:
        """The estimated size: a token for every four characters begun."""
        return estimate_tokens(self.text)


def inject(
    nudges: Iterable[Nudge],
    *,
    max_tokens: int = DEFAULT_INJECTION_TOKENS,
    after: Injection | None = None,
) -> Injection:
    """Choose what to say before this model call; `after` is the injection of the call before.

    A text that was in `after` is held back this time, whatever its urgency, and may come again in the next call. One
    that is too long for the room left is held back whole, because half a warning misleads; a shorter, less urgent one
    may still fit. A limit of 0 silences every governor. Nothing is changed.

    >>> first = inject([Nudge("Budget at 70%."), Nudge("Stop.", Urgency.CRITICAL)], max_tokens=10)
    >>> first.text
    'Stop.\\nBudget at 70%.'
    >>> inject([Nudge("Stop.", Urgency.CRITICAL)], after=first).text
    ''
    """
    if not is_whole(max_tokens) or max_tokens < 0:
        raise UsageError(f"An injection budget cannot be {max_tokens!r} tokens.", next_step="Use 0 to add nothing.")
    said = {nudge.text for nudge in after.nudges} if after is not None else set()
    chosen: list[Nudge] = []
    held_back: list[Nudge] = []
    characters = 0
    for nudge in sorted(nudges, key=lambda nudge: -nudge.urgency):
        if not nudge.text.strip():
            continue
        grown = characters + (len(SEPARATOR) if chosen else 0) + len(nudge.text)
        if nudge.text in said or -(-grown // 4) > max_tokens:
            held_back.append(nudge)
            continue
        said.add(nudge.text)
        chosen.append(nudge)
        characters = grown
    return Injection(tuple(chosen), tuple(held_back))


@dataclass(slots=True)
class Told:
    """What the model was told before its last call, and what since then: nothing is said twice in a row, and what is
    said between two calls shares one budget."""

    max_tokens: int = DEFAULT_INJECTION_TOKENS
    before: list[str] = field(default_factory=list)
    since: list[str] = field(default_factory=list)
    unsaid: tuple[Nudge, ...] = ()

    def choose(self, nudges: Iterable[Nudge]) -> tuple[Nudge, ...]:
        """Pick what to say now, and remember it."""
        nudges = (*self.unsaid, *nudges)
        self.unsaid = ()
        if not nudges:
            return ()
        room = self.max_tokens - estimate_tokens(SEPARATOR.join(self.since))
        already = Injection(tuple(Nudge(text) for text in (*self.before, *self.since)))
        chosen = inject(nudges, max_tokens=max(0, room), after=already).nudges
        self.since += [nudge.text for nudge in chosen]
        return chosen

    def keep(self, nudges: Iterable[Nudge]) -> None:
        """Keep what could not be said, because the call was refused, for the next time."""
        self.unsaid = tuple(dict.fromkeys((*self.unsaid, *nudges)))

    def take_back(self, nudges: Iterable[Nudge]) -> None:
        """Keep what was chosen for the last call, which was not made."""
        nudges = tuple(nudges)
        texts = {nudge.text for nudge in nudges}
        self.before = [text for text in self.before if text not in texts]
        self.keep(nudges)

    def next_call(self) -> None:
        """Close what goes into one call: the next nudges are for the call after it."""
        self.before, self.since = self.since, []

    def to_json(self) -> dict[str, Any]:
        return {
            "before": self.before,
            "since": self.since,
            "unsaid": [[nudge.text, int(nudge.urgency)] for nudge in self.unsaid],
        }

    def restore(self, data: Mapping[str, Any]) -> None:
        """Continue from what `to_json` wrote."""
        self.before, self.since = [str(text) for text in data["before"]], [str(text) for text in data["since"]]
        self.unsaid = tuple(Nudge(str(text), Urgency(urgency)) for text, urgency in data["unsaid"])
