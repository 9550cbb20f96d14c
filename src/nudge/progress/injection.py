"""The injection budget: how much the governors may say to the model before one call.

Nudges steer only while they are rare. Every governor hands in what it would like to say, and this module picks: the
most urgent first, as many as fit, and nothing that was already said just before the previous call.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from nudge.errors import UsageError
from nudge.numbers import is_whole
from nudge.tokens import estimate_tokens

DEFAULT_INJECTION_TOKENS = 200
SEPARATOR = "\n"


class Urgency(IntEnum):
    """How much a nudge may push others aside. Equal urgencies keep the order in which they were handed in."""

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
    """What goes into one model call. `held_back` is what was left out, so that nothing vanishes unseen."""

    nudges: tuple[Nudge, ...] = ()
    held_back: tuple[Nudge, ...] = ()

    @property
    def text(self) -> str:
        """The nudges as one text, a line each; empty where there is nothing to say."""
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
    may still fit. A limit of 0 silences every governor.

    >>> first = inject([Nudge("Budget at 70%."), Nudge("Stop.", Urgency.CRITICAL)], max_tokens=10)
    >>> first.text
    'Stop.\\nBudget at 70%.'
    >>> inject([Nudge("Stop.", Urgency.CRITICAL)], after=first).text
    ''
    """
    if not is_whole(max_tokens) or max_tokens < 0:
        raise UsageError(f"There is no injection budget of {max_tokens!r} tokens.", next_step="Use 0 for silence.")
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
