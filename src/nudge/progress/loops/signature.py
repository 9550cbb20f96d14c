"""The signature of a call: two calls with the same signature ask for the same thing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import blake2b
from typing import Any

from nudge.progress.loops.volatile import (
    KeyRole,
    hide_in_argument,
    is_clock_reading,
    is_unique_id,
    role_of,
    without_spare_spaces,
)

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_DEEPEST = 40
_PLAIN, _THING, _TIME, _VOLATILE, _COMMAND, _REMARK, _REMARK_ON_COMMAND = KeyRole


def digest(text: str) -> str:
    """Sixteen hexadecimal digits that stand for the text, the same in every process."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def signature(tool: str, args: object, ignored: frozenset[str] = frozenset()) -> str:
    """The digest of the tool's name and its arguments as JSON with sorted keys, without what is volatile.

    Arguments may come as a mapping or as the raw JSON text of it. What JSON cannot say counts by its repr without
    addresses, so that a fresh object of the same kind is the same argument.
    """
    return digest(f"{tool}\0{canonical(parsed(args), lambda value: _meaning(value, ignored))}")


def parsed(args: object) -> object:
    """Arguments as a value, where they come as JSON text."""
    if args is None:
        return {}
    if isinstance(args, str) and args.lstrip()[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            return json.loads(args)
    return args


def canonical(value: object, clean: Callable[[Any], Any]) -> str:
    """`value` as JSON with sorted keys, after `clean`. Never fails, whatever the value holds."""
    try:
        return _encode(clean(value))
    except (TypeError, ValueError, RecursionError):
        return _encode(clean(_sayable(value, _DEEPEST)))


def _opaque(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(_repr(item) for item in value)
    if isinstance(value, bytes | bytearray):
        return blake2b(value, digest_size=8).hexdigest()
    return _repr(value)


def _repr(value: object) -> str:
    try:
        return _ADDRESS.sub("", repr(value))
    except Exception:  # somebody else's object: its repr may fail in any way
        return type(value).__name__


# What contains itself ends in a RecursionError, which `canonical` knows; looking for it costs every other call.
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=_opaque, check_circular=False).encode


def _sayable(value: object, depth: int) -> Any:
    """The value with text keys only, cut where it is too deep or contains itself."""
    if depth == 0:
        return "…"
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else _repr(key): _sayable(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_sayable(item, depth - 1) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return _opaque(value)


def _meaning(value: Any, ignored: frozenset[str]) -> Any:
    kind = type(value)
    if kind is str:
        return hide_in_argument(value)
    if kind is dict:
        return _meaning_of_mapping(value, ignored)
    if kind is list or kind is tuple:
        return [_meaning(item, ignored) for item in value]
    return value


def _meaning_of_mapping(mapping: dict[Any, Any], ignored: frozenset[str]) -> dict[Any, Any]:
    kept: dict[Any, Any] = {}
    beside: dict[Any, Any] = {}
    for key, value in mapping.items():
        kind = type(value)
        if type(key) is str:
            if key in ignored:
                continue
            role = role_of(key)
            if role is _PLAIN:
                if kind is str and is_unique_id(value):
                    beside[key] = value
                    continue
            elif role is _VOLATILE or (role is _TIME and is_clock_reading(value)):
                continue
            elif role is _REMARK or (role is _REMARK_ON_COMMAND and "command" in mapping):
                beside[key] = value
                continue
            elif role is _COMMAND and kind is str:
                value = without_spare_spaces(value)
        kept[key] = hide_in_argument(value) if kind is str else value if kind is int else _meaning(value, ignored)
    return kept or beside  # a random id or a remark with nothing else there is what the call is about
