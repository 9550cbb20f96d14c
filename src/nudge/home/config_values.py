"""What a value of nudge.toml or of the environment may be. Each kind reads a value as TOML has it, or says what it
expected; a table or a list says so for each of its entries."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from datetime import date, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from nudge.errors import NudgeError

KeyPath = tuple[str | int, ...]
"""A key from the outside in; a number is the place in a list."""

Report = Callable[[KeyPath, str], None]
"""Told where a mistake is and what it is."""

_LONGEST_SHOWN = 60
_ADDRESS = r"https?://[^\s/?#]+\S*"
_WORDS = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}


class Kind:
    """Reads one value. `read` raises ValueError or an error of ours where it does not fit; `write` gives back what
    nudge.toml would say."""

    def __init__(
        self, expected: str, read: Callable[[Any], Any], write: Callable[[Any], Any] = lambda value: value
    ) -> None:
        self.expected = expected
        self.write = write
        self.read = read

    def check(self, value: Any, path: KeyPath, report: Report) -> Any:
        """The value as the rest of nudge has it. One that does not fit is reported, and what comes back is unusable."""
        try:
            return self.read(value)
        except (ValueError, NudgeError):
            report(path, f"expected {self.expected}, found {found(value)}")
            return None

    def from_words(self, words: str) -> Any:
        """The value of a text that was typed without TOML's quotes: `3`, `off`, `45m`. Raises ValueError."""
        candidates: list[Any] = [words]
        if words.lower() in _WORDS:
            candidates.append(_WORDS[words.lower()])
        if re.fullmatch(r"-?[0-9]{1,18}", words):
            candidates.append(int(words))
        for candidate in candidates:
            problems: list[str] = []
            value = self.check(candidate, (), lambda path, problem: problems.append(problem))  # noqa: B023
            if not problems:
                return value
        raise ValueError(f"expected {self.expected}, found {found(words)}")


class TableOf(Kind):
    """A table whose entries are all of one kind; with `names`, it has no others."""

    def __init__(self, entry: Kind, expected: str, names: Callable[[], Collection[str]] | None = None) -> None:
        super().__init__(expected, _no_value, lambda table: {name: entry.write(value) for name, value in table.items()})
        self._entry = entry
        self._names = names

    def check(self, value: Any, path: KeyPath, report: Report) -> Any:
        if not isinstance(value, Mapping):
            report(path, f"expected {self.expected}, found {found(value)}")
            return None
        names = None if self._names is None else self._names()
        read = {}
        for name, inner in value.items():
            if names is not None and name not in names:
                close = meant(name, names)
                report((*path, name), f"no such field; did you mean {close}?" if close else "no such field")
            else:
                read[name] = self._entry.check(inner, (*path, name), report)
        return MappingProxyType(read)


class ListOf(Kind):
    def __init__(self, entry: Kind, expected: str) -> None:
        super().__init__(expected, _no_value, lambda values: [entry.write(value) for value in values])
        self._entry = entry

    def check(self, value: Any, path: KeyPath, report: Report) -> Any:
        if not isinstance(value, list):
            report(path, f"expected {self.expected}, found {found(value)}")
            return None
        return tuple(self._entry.check(inner, (*path, place), report) for place, inner in enumerate(value))


def found(value: Any) -> str:
    """A value as the person wrote it, shortened.

    >>> found("lots"), found(True), found([1, "a"]), found({"a": 1})
    ('"lots"', 'true', '[1, "a"]', 'a table')
    """
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list):
        text = f"[{', '.join(found(inner) for inner in value[:10])}]"
    elif isinstance(value, str | bool):
        text = json.dumps(value, ensure_ascii=False)
    else:
        text = str(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def meant(name: str, known: Collection[str], cutoff: float = 0.6) -> str:
    """The known name that was probably meant; empty if none is close."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, known, 1, cutoff)), "")


def one_of(*words: str) -> Kind:
    def read(value: Any) -> str:
        if value not in words or not isinstance(value, str):
            raise ValueError
        return value

    quoted = [f'"{word}"' for word in words]
    return Kind(f"{', '.join(quoted[:-1])} or {quoted[-1]}", read)


def whole(least: int, most: int) -> Kind:
    def read(value: Any) -> int:
        if type(value) is not int or not least <= value <= most:  # true is an int to Python, and no number to a person
            raise ValueError
        return value

    return Kind(f"a whole number from {least} to {most}", read)


def matching(pattern: str, expected: str) -> Kind:
    """A text of that form. Used for secrets, so what was found is for the caller to hide."""

    def read(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError
        return value

    return Kind(expected, read)


def _user_id(value: Any) -> int:
    if type(value) is not int or not 0 < value < 2**62:
        raise ValueError
    return value


def _no_value(value: Any) -> Any:
    raise ValueError


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value


def _some_text(value: Any) -> str:
    if not _text(value).strip():
        raise ValueError
    return _text(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


def _switch(value: Any) -> bool:
    if value not in ("on", "off") or not isinstance(value, str):
        raise ValueError
    return value == "on"


def _duration(value: Any) -> int:
    from nudge.durations import parse_duration

    return parse_duration(_text(value))


def _duration_words(microseconds: int) -> str:
    from nudge.durations import format_duration

    return format_duration(microseconds)


def _money(value: Any) -> int:
    from nudge.spending.money import parse_money

    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise ValueError
    return parse_money(value if isinstance(value, Decimal) else str(value))


def _money_words(micros: int) -> str:
    from nudge.spending.money import format_money

    return format_money(micros).removeprefix("$")


def _day(value: Any) -> date | None:
    if isinstance(value, datetime):
        raise ValueError
    if isinstance(value, date):
        return value
    return date.fromisoformat(value) if _text(value) else None


def _day_words(day: date | None) -> str:
    return day.isoformat() if day else ""


def _turn(value: Any) -> str:
    from nudge.spending.allowance import DayTurn

    DayTurn.parse(_text(value))
    return str(value)


def _zone(value: Any) -> str:
    from nudge.instants import zone_of

    if _text(value):
        zone_of(value)
    return str(value)


def _weight(value: Any) -> str | int | Decimal:
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise ValueError
    return value


def _weight_words(value: str | int | Decimal) -> str | int | float:
    return float(value) if isinstance(value, Decimal) else value


def _address(value: Any) -> str:
    if not re.fullmatch(_ADDRESS, _text(value)):
        raise ValueError
    return str(value)


def _providers() -> Collection[str]:
    return ("anthropic", "openai", "google")


def _purposes() -> Collection[str]:
    from nudge.spending.routing import DEFAULT, PURPOSES

    return (*PURPOSES, DEFAULT)


TEXT = Kind("text in quotes", _text)
FLAG = Kind("true or false", _flag)
SWITCH = Kind('"on" or "off"', _switch, lambda on: "on" if on else "off")
DURATION = Kind('a duration such as "45m" or "1h30m"', _duration, _duration_words)
MONEY = Kind('an amount of dollars such as "12.50"', _money, _money_words)
DAY = Kind('a date such as "2026-12-01"', _day, _day_words)
DAY_START = Kind('a time of day such as "04:00 America/Toronto"', _turn)
ZONE = Kind('a time zone by its IANA name, such as "America/Toronto"', _zone)
USER_IDS = ListOf(
    Kind("a numeric user id such as 123456789", _user_id), "a list of numeric user ids such as [123456789]"
)
MODEL_OF_PURPOSE = TableOf(Kind("the id of a model", _some_text), "a table of purposes and models", _purposes)
TIERS = TableOf(MODEL_OF_PURPOSE, "a table of tiers")
WINDOWS = TableOf(MONEY, "a table of tiers and amounts")
UPSTREAMS = TableOf(
    Kind("an address that begins with https:// or http://", _address), "a table of providers and addresses", _providers
)
WEIGHTS = TableOf(Kind("a number", _weight, _weight_words), "a table of weights")

KEY = matching(r"[!-~]+", "a key without spaces")
BOT_TOKEN = matching(r"[0-9]+:[A-Za-z0-9_-]+", "a bot token (digits, a colon, letters)")
ADDRESS = matching(_ADDRESS, "an address that begins with https:// or http://")
