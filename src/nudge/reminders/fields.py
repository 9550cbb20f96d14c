"""How a field is read, written, stored, and given as a flag.

A field is declared once, where its dataclass has it (`reminder.py`). Flags, roles, routines, chats, JSON and SQL all go
through these tables, so that they know the same fields and refuse the same mistakes in the same words.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, Final, Generic, TypeVar
from zoneinfo import ZoneInfo

from nudge.durations import format_duration, parse_duration
from nudge.errors import NudgeError, UsageError
from nudge.instants import Instant, parse_rfc3339, rfc3339, zone_of
from nudge.text import is_blank

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)

LONGEST_TEXT: Final = 16_000
_DECLARED: Final = "field"


class FieldError(UsageError):
    """A field is missing, unknown, or holds what it cannot.

    `path` says where it stands in the definition. `wrong` is what is wrong with it, to put behind the name that the
    reader knows it by; empty where the message names no field.
    """

    def __init__(self, path: tuple[str, ...], wrong: str = "", message: str = "", next_step: str | None = None) -> None:
        super().__init__(message or f"{'.'.join(path)!r} {wrong}.", next_step=next_step or "Fix that field.")
        self.path = path
        self.wrong = wrong


class FieldPart(Enum):
    """What decides on a field: the person or file that asks for it, its schedule, where it comes from, or what has
    happened to it."""

    SETTING = "setting"
    TIMING = "timing"
    ORIGIN = "origin"
    STATE = "state"


class FieldKind(ABC, Generic[T]):
    """What a field can hold. Flags, YAML and JSON give plain values, and `read` takes all of them."""

    what: str = ""
    """What it must be, for somebody who gave something else."""
    choices: tuple[str, ...] = ()
    python: type = str
    """What a flag gives it."""

    @abstractmethod
    def read(self, value: Any) -> T: ...

    def write(self, value: T, zone: ZoneInfo) -> Any:
        """As JSON. `zone` is the reminder's, for times."""
        return value

    def to_column(self, value: T) -> Any:
        return value

    def from_column(self, value: Any) -> T:
        return value  # type: ignore[no-any-return]


class Wrong(Exception):  # noqa: N818 - a signal to `read_field`, which knows the name of the field
    """What is wrong with the value, and what to do; without words, it is not of this kind."""

    def __init__(self, wrong: str = "", next_step: str | None = None) -> None:
        super().__init__(wrong)
        self.wrong = wrong
        self.next_step = next_step


class TextKind(FieldKind[str]):
    """A text without spaces around it, which every database can hold."""

    what = "text, perhaps in quotes"

    def __init__(
        self, longest: int = LONGEST_TEXT, *, empty: bool = True, check: Callable[[str], None] | None = None
    ) -> None:
        self._longest = longest
        self._empty = empty
        self._check = check

    def read(self, value: Any) -> str:
        if not isinstance(value, str):
            raise Wrong
        text = value.strip()
        if is_blank(text) and not self._empty:
            raise Wrong("is empty", "Say what it should be.")
        if len(text) > self._longest:
            raise Wrong(f"is longer than {self._longest:,} characters", "Shorten it.")
        if "\0" in text or any(0xD800 <= ord(char) <= 0xDFFF for char in text):
            raise Wrong("contains characters that are not text", "Remove them.")
        if self._check is not None:
            self._check(text)
        return text


class Switch(FieldKind[bool]):
    what = "true or false"
    python = bool

    def read(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise Wrong
        return value

    def to_column(self, value: bool) -> int:
        return int(value)

    def from_column(self, value: Any) -> bool:
        return bool(value)


class Whole(FieldKind[int]):
    """A whole number from `least` to `most`."""

    python = int

    def __init__(self, least: int, most: int = 2**62) -> None:
        self._least, self._most = least, most
        self.what = f"a whole number, {least} or more" if most == 2**62 else f"a whole number from {least} to {most}"

    def read(self, value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not self._least <= value <= self._most:
            raise Wrong
        return value


class Word(FieldKind[E]):
    """One word of an enum."""

    def __init__(self, words: type[E]) -> None:
        self._words = words
        self.choices = tuple(one.value for one in words)
        self.what = f"one of {', '.join(self.choices)}"

    def read(self, value: Any) -> E:
        if value not in self.choices:
            raise Wrong
        return self._words(value)

    def write(self, value: E, zone: ZoneInfo) -> str:
        return value.value

    def to_column(self, value: E) -> str:
        return value.value

    def from_column(self, value: Any) -> E:
        return self._words(value)


class Length(FieldKind[int]):
    """A duration: microseconds inside, `1h 30m` outside."""

    what = "a duration such as 30m"

    def __init__(self, check: Callable[[int], None] | None = None) -> None:
        self._check = check

    def read(self, value: Any) -> int:
        if not isinstance(value, str):
            raise Wrong
        length = parse_duration(value)
        if self._check is not None:
            self._check(length)
        return length

    def write(self, value: int, zone: ZoneInfo) -> str:
        return format_duration(value)


class Time(FieldKind[Instant]):
    """An instant: RFC 3339 with offset outside."""

    what = "a time such as 2026-02-20T15:00:00-05:00"

    def read(self, value: Any) -> Instant:
        if not isinstance(value, str):
            raise Wrong
        return parse_rfc3339(value)

    def write(self, value: Instant, zone: ZoneInfo) -> str:
        return rfc3339(value, zone)

    def from_column(self, value: Any) -> Instant:
        return Instant(value)


class ZoneName(FieldKind[str]):
    what = "the name of a time zone such as America/Toronto"

    def read(self, value: Any) -> str:
        if not isinstance(value, str):
            raise Wrong
        return zone_of(value).key


class Maybe(FieldKind[T | None]):
    """The same, or nothing. `empty` stands for nothing in the column."""

    def __init__(self, kind: FieldKind[T], empty: Any = None) -> None:
        self._kind, self._empty = kind, empty
        self.what, self.choices, self.python = kind.what, kind.choices, kind.python

    def read(self, value: Any) -> T | None:
        return None if value is None else self._kind.read(value)

    def write(self, value: T | None, zone: ZoneInfo) -> Any:
        return None if value is None else self._kind.write(value, zone)

    def to_column(self, value: T | None) -> Any:
        return self._empty if value is None else self._kind.to_column(value)

    def from_column(self, value: Any) -> T | None:
        return None if value == self._empty else self._kind.from_column(value)


@dataclass(frozen=True, slots=True)
class Flag:
    """A field on the command line. `clear` is the word that takes its value away in an edit."""

    help: str
    metavar: str = ""
    group: str = "how"
    name: str = ""
    short: str = ""
    clear: str | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """`required` is one that must be given: it has no default."""

    name: str
    kind: FieldKind[Any]
    part: FieldPart = FieldPart.SETTING
    required: bool = False
    default: Any = None
    flag: Flag | None = None


def setting(kind: FieldKind[Any], flag: Flag | None = None) -> dict[str, Any]:
    """The metadata of a field that somebody asks for."""
    return {_DECLARED: (kind, FieldPart.SETTING, flag)}


def timing(kind: FieldKind[Any]) -> dict[str, Any]:
    return {_DECLARED: (kind, FieldPart.TIMING, None)}


def origin(kind: FieldKind[Any]) -> dict[str, Any]:
    return {_DECLARED: (kind, FieldPart.ORIGIN, None)}


def state(kind: FieldKind[Any]) -> dict[str, Any]:
    return {_DECLARED: (kind, FieldPart.STATE, None)}


def fields_of(record: type[Any]) -> tuple[Field, ...]:
    """The fields that a dataclass declares, in its order."""
    found = []
    for one in dataclasses.fields(record):
        kind, part, flag = one.metadata[_DECLARED]
        required = one.default is dataclasses.MISSING
        found.append(Field(one.name, kind, part, required, None if required else one.default, flag))
    return tuple(found)


def read_record(
    fields: Sequence[Field], data: Any, path: tuple[str, ...] = (), *, partial: bool = False
) -> dict[str, Any]:
    """The values of a mapping, checked. A field that is missing (unless `partial`), unknown or wrong is named."""
    if not isinstance(data, Mapping):
        raise FieldError(path, "must have fields of its own")
    known = {field.name: field for field in fields}
    for name in data:
        if name not in known:
            raise FieldError((*path, str(name)[:40]), "is not a field", next_step=f"Fields: {', '.join(known)}.")
    found = {}
    for field in fields:
        if field.name in data:
            found[field.name] = read_field(field, data[field.name], path)
        elif field.required and not partial:
            raise FieldError((*path, field.name), "is missing", next_step="Add it.")
    return found


def read_field(field: Field, value: Any, path: tuple[str, ...] = ()) -> Any:
    here = (*path, field.name)
    try:
        return field.kind.read(value)
    except Wrong as wrong:
        raise FieldError(here, wrong.wrong or f"must be {field.kind.what}", next_step=wrong.next_step) from None
    except FieldError as error:
        message = "" if error.wrong else error.message
        raise FieldError((*here, *error.path), error.wrong, message, error.next_step) from None
    except NudgeError as error:
        raise FieldError(here, message=error.message, next_step=error.next_step) from error


def write_record(fields: Sequence[Field], record: Any, zone: ZoneInfo) -> dict[str, Any]:
    """The JSON form."""
    return {field.name: field.kind.write(getattr(record, field.name), zone) for field in fields}


def to_columns(fields: Sequence[Field], record: Any) -> dict[str, Any]:
    return {field.name: field.kind.to_column(getattr(record, field.name)) for field in fields}


def from_columns(fields: Sequence[Field], row: Mapping[str, Any]) -> dict[str, Any]:
    return {field.name: field.kind.from_column(row[field.name]) for field in fields}
