"""`.env` of a home: KEY=VALUE lines with the secrets. The environment wins over it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class EnvLine(NamedTuple):
    value: str
    line: int


def read_env(text: str, report: Callable[[int, str], None]) -> dict[str, EnvLine]:
    """The values by name. A line that is none is reported by its number alone: it may hold a key.

    >>> read_env("A='x y' # why\\nB", lambda line, problem: print(line, problem))
    2 expected KEY=VALUE
    {'A': EnvLine(value='x y', line=1)}
    """
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip().removeprefix("export ").strip()
        if not stripped or stripped.startswith("#"):
            continue
        name, equals, value = stripped.partition("=")
        name = name.strip()
        if not equals or not name.replace("_", "a").isalnum() or name[0].isdigit():
            report(number, "expected KEY=VALUE")
            continue
        value = value.strip()
        if value[:1] in ("'", '"'):
            inside, closed, behind = value[1:].partition(value[0])
            if not closed or (behind.strip() and not behind.strip().startswith("#")):
                report(number, f"{name}: the quote is not closed")
                continue
            value = inside
        else:
            value = value.partition(" #")[0].rstrip()
        found[name] = EnvLine(value, number)
    return found
