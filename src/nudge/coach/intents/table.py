"""All intents in the order in which they are read, and the help they give: what can be said, in examples."""

from __future__ import annotations

import re
import sys
from typing import Final

from nudge.coach.intents.agenda import AGENDA
from nudge.coach.intents.clock import CLOCK
from nudge.coach.intents.intent import Intent
from nudge.coach.intents.itself import ITSELF
from nudge.coach.intents.lists import LISTS
from nudge.coach.intents.person import PERSON
from nudge.coach.intents.reminders import REMINDERS
from nudge.coach.intents.talk import TALK
from nudge.phrases.wording import stem

INTENTS: Final[tuple[Intent, ...]] = (*REMINDERS, *AGENDA, *LISTS, *ITSELF, *CLOCK, *PERSON, *TALK)
GROUPS: Final = {
    "Reminders": REMINDERS,
    "What is on": AGENDA,
    "Lists, goals and the weekly review": LISTS,
    "About the coach": ITSELF,
    "Times": CLOCK,
    "About you": PERSON,
    "Small talk": TALK,
}
_DANGER: Final = "trouble"
"""Nobody needs examples for this one."""
MOST_TOPICS: Final = 4
_SHOWN: Final = 8


def on_topic(words: str) -> tuple[Intent, ...]:
    """The intents that a question like "what can I say about snoozing?" is about, the nearest first.

    >>> [one.name for one in on_topic("snoozing")][0]
    'again'
    """
    wanted = _stems(words)
    near = [(len(wanted & _stems(f"{one.name} {one.does}")), one) for one in INTENTS if one.name != _DANGER]
    best = max(count for count, _ in near)
    if wanted and not best:
        near = [(sum(bool(wanted & _stems(said)) for said in one.examples), one) for one in INTENTS]
        best = max(count for count, _ in near)
    return tuple(one for count, one in near if count == best)[:MOST_TOPICS] if best else ()


def _stems(words: str) -> set[str]:
    return {stem(word) for word in re.findall(r"[a-z']{3,}", words.casefold()) if word not in _COMMON}


_COMMON: Final = frozenset(
    [
        "the",
        "and",
        "you",
        "your",
        "for",
        "that",
        "this",
        "what",
        "about",
        "one",
        "can",
        "how",
        "say",
        "was",
        "with",
        "from",
        "when",
        "are",
        "last",
    ]
)


def help_on(words: str) -> str:
    """What can be said about it, in examples; empty if it is about nothing here."""
    found = on_topic(words)
    return "\n\n".join(f"I can {one.does}. Say for example:\n{_lines(one, _SHOWN // len(found))}" for one in found)


def _lines(one: Intent, count: int) -> str:
    return "\n".join(f"• {said}" for said in one.examples[: max(count, 3)])


def as_document() -> str:
    """The page that lists every intent with its examples (docs/what-you-can-say.md)."""
    parts = [_INTRODUCTION]
    for title, some in GROUPS.items():
        parts.append(f"## {title}")
        for one in some:
            if one.name == _DANGER:
                continue
            after = f" (after “{one.before.strip('()')}”)" if one.before else ""
            said = " · ".join(one.examples)
            parts.append(f"**{one.does[:1].upper()}{one.does[1:]}**{after}: {said}")
    return "\n\n".join(parts) + "\n"


_INTRODUCTION: Final = """# What you can say

The coach understands these without a language model, and much that is close to them. In the chat, `help snooze` and
“what can I say about snoozing?” show the part you need. This page comes from the coach's own table
(`coach/intents/`), and every example on it is tested."""


if __name__ == "__main__":
    sys.stdout.write(as_document())
