"""Variables in messages: `{fire_count}` and four others. An unknown one is refused before it is ever delivered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from nudge.errors import UsageError

VARIABLES: Final = ("fire_count", "name", "due", "late_by", "condition_output")

_PLACE: Final = re.compile(r"\{\{([A-Za-z_]\w*)\}\}|\{([A-Za-z_]\w*)\}", re.ASCII)
"""`{{word}}` is the word in braces. Braces around anything else, as in JSON, are left alone."""


def check_template(message: str) -> None:
    """Raise for the first variable that does not exist."""
    for match in _PLACE.finditer(message):
        if match[2] and match[2] not in VARIABLES:
            known = ", ".join(f"{{{name}}}" for name in VARIABLES)
            raise UsageError(
                f"A message has no variable {{{match[2]}}}.",
                next_step=f"There are {known}. For the word in braces itself, write {{{{{match[2]}}}}}.",
            )


def fill(message: str, values: Mapping[str, str]) -> str:
    """The message with its variables filled in, once: what comes in is not looked at again.

    >>> fill("try {fire_count}, not {{fire_count}}", {"fire_count": "3"})
    'try 3, not {fire_count}'
    """

    def value(match: re.Match[str]) -> str:
        if match[1]:
            return f"{{{match[1]}}}"
        return values.get(match[2], match[0])

    return _PLACE.sub(value, message)


def literal(text: str) -> str:
    """A message that says the text as it stands, for who types a sentence and knows of no variables.

    >>> fill(literal("fix {name} and {{ name }} and {{name}}"), {"name": "x"})
    'fix {name} and {{ name }} and {{name}}'
    """
    return _PLACE.sub(lambda match: f"{{{match[0]}}}", text)
