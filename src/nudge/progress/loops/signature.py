"""The signature of a call: two calls with the same signature ask for the same thing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import Enum
from functools import lru_cache
from hashlib import blake2b
from typing import Any


class KeyRole(Enum):
    """What the name of an argument says about its value."""

    PLAIN = 0
    THING = 1  # names a thing: a unique id under it counts
    TIME = 2  # may be a clock reading or a time that was asked for: only a clock reading is ignored
    VOLATILE = 3
    COMMAND = 4  # spaces at its ends and between its words do not matter
    REMARK = 5  # says why the call is made, in other words each time
    REMARK_ON_COMMAND = 6  # the same, but only beside a command


_VOLATILE_NAMES = frozenset(
    {
        "cachebust",
        "cachebuster",
        "callid",
        "clienttime",
        "correlationid",
        "currenttime",
        "generatedat",
        "idempotencykey",
        "invocationid",
        "nonce",
        "now",
        "reqid",
        "requestedat",
        "requestid",
        "requesttime",
        "sentat",
        "spanid",
        "timestamp",
        "timestampms",
        "toolcallid",
        "tooluseid",
        "traceid",
        "ts",
        "xrequestid",
    }
)
_VOLATILE_IN_RESULTS = frozenset(
    {
        "checkedat",
        "completedat",
        "duration",
        "durationms",
        "durationseconds",
        "elapsed",
        "elapsedms",
        "elapsedseconds",
        "endedat",
        "endtime",
        "finishedat",
        "lastchecked",
        "latency",
        "latencyms",
        "pid",
        "ppid",
        "startedat",
        "starttime",
        "took",
        "tookms",
        "updatedat",
    }
)

_ROLES = {
    "time": KeyRole.TIME,
    "command": KeyRole.COMMAND,
    "cmd": KeyRole.COMMAND,
    "explanation": KeyRole.REMARK,
    "justification": KeyRole.REMARK,
    "description": KeyRole.REMARK_ON_COMMAND,
    "purpose": KeyRole.REMARK_ON_COMMAND,
    "reason": KeyRole.REMARK_ON_COMMAND,
}

_NAMES_A_THING = re.compile(
    r"(?:^|[_-])(?i:ids?|refs?)$|[_-](?i:uuid|guid)$|[a-z](?:Ids?|IDs?|Refs?|Uuid|UUID|Guid|GUID)$"
)


def plain_key(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()


@lru_cache(maxsize=1024)
def role_of(key: str) -> KeyRole:
    name = plain_key(key)
    if name in _VOLATILE_NAMES:
        return KeyRole.VOLATILE
    known = _ROLES.get(name)
    if known is not None:
        return known
    return KeyRole.THING if _NAMES_A_THING.search(key) else KeyRole.PLAIN


@lru_cache(maxsize=1024)
def ignored_in_results(key: str) -> bool:
    name = plain_key(key)
    return name in _VOLATILE_NAMES or name in _VOLATILE_IN_RESULTS


_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_UUID_INSIDE = re.compile(
    r"-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]"
)  # starts with one character: fast
_UNIQUE = re.compile(rf"{_UUID.pattern}|[0-9a-fA-F]{{32}}")
_CLOCK = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*")


def is_unique_id(text: str) -> bool:
    return len(text) in (32, 36) and _UNIQUE.fullmatch(text) is not None


def is_clock_reading(value: object) -> bool:
    """A number of seconds or milliseconds since 1970, or a date with a time."""
    if isinstance(value, str):
        return len(value) >= 16 and _CLOCK.fullmatch(value) is not None
    return isinstance(value, int | float) and value >= 1_000_000_000


_TEMPORARY = re.compile(
    r"(?:/private)?(?:/var)?/tmp/[^\s'\"`;|&()<>]+|(?:/private)?/var/folders/[^\s'\"`;|&()<>]+"
    r"|[A-Za-z]:\\[^\s'\"]*?\\Temp\\[^\s'\"]+"
)
_RANDOM_PART = re.compile(
    r"(?<![^/\\])tmp[._-]?[A-Za-z0-9_]{6,}"  # as the usual functions name their folders
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[0-9A-Za-z]{12,}"
    r"|\d{4,}"
)
_REQUEST_ID = re.compile(
    r"((?:request|trace|correlation|idempotency)[-_ ]?(?:id|key)s?[\"']?\s*[:= ]\s*[\"']?)[\w.-]+", re.I
)
_CACHE_BUSTER = re.compile(r"([?&](?:_|t|ts|time|timestamp|nonce|cb|cachebust(?:er)?|rand(?:om)?)=)[^&\s'\"]+", re.I)
_LONGEST_COMMAND = 2_000


def hide_temporary_paths(text: str) -> str:
    if "/tmp/" in text or "/var/folders/" in text or "\\Temp\\" in text:  # noqa: S108
        return _TEMPORARY.sub(lambda path: _RANDOM_PART.sub("*", path[0]), text)
    return text


def hide_request_ids(text: str) -> str:
    """Without ids of requests; a longer text is a content, not a command, and is left as it is."""
    if len(text) > _LONGEST_COMMAND:
        return text
    if "equest" in text or "race" in text or "orrelation" in text or "dempotency" in text:
        text = _REQUEST_ID.sub(r"\1*", text)
    if "=" in text and ("?" in text or "&" in text):
        text = _CACHE_BUSTER.sub(r"\1*", text)
    return text


def hide_unique_ids(text: str) -> str:
    return _UUID.sub("*", text) if "-" in text and _UUID_INSIDE.search(text) else text


def without_spare_spaces(command: str) -> str:
    """A command on one line, one space between its words; where something is quoted, spaces may count and stay."""
    if "'" in command or '"' in command or len(command) > _LONGEST_COMMAND:
        return command.strip()
    lines = command.strip().splitlines()
    return " ".join(lines[0].split()) if len(lines) == 1 else command.strip()


def hide_in_argument(text: str) -> str:
    """An argument without what is random in it; unique ids stay, because they mostly name things."""
    if len(text) < 8:
        return text
    return hide_request_ids(hide_temporary_paths(text))


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
