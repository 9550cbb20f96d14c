"""What a call brought, as a digest: enough to see whether it is the same as last time, and nothing to leak."""

from __future__ import annotations

import re
from enum import Enum
from typing import Any, Final

from nudge.progress.loops.signature import (
    canonical,
    digest,
    hide_request_ids,
    hide_temporary_paths,
    hide_unique_ids,
    ignored_in_results,
)


class Unknown(Enum):
    """The result of a call that is not back yet, or that nobody told."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN

FAILED = "!"
"""The first character of the digest of an error."""

_HEAD, _TAIL = 100, 300

# Every alternative begins with a digit, so that the search can skip from digit to digit.
_CLOCK = re.compile(
    r"[0-9](?=[\d x:.mµuns])(?:"
    r"x[0-9a-fA-F]{4,}"  # an address
    r"|\d{3}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|(?<![\w:.].)\d?:\d\d:\d\d(?:[.,]\d+)?"  # not a piece of something longer
    r"|(?<=1)(?<!\w.)[5-9]\d{8}(?:\d{3})?(?:\.\d+)?\b"  # seconds or milliseconds since 1970
    r"|\d*(?:\.\d+)?\s?(?:ms|µs|us|ns)\b"
    r"|\d*\.\d+\s?s(?:ec(?:ond)?s?)?\b"
    r"|(?:(?<=elapsed .)|(?<=elapsed: .)|(?<=took .)|(?<=after .)|(?<= in .))"
    r"\d*\s?(?:s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?)\b"
    r")"
)
_PROCESS = re.compile(r"(\bp?pid[\\\"']*\s*[:= ]\s*)\d+", re.I)
_MEASURED = re.compile(
    r"((?:took|elapsed|duration|latency)(?:[_ ]?(?:ms|s|millis|seconds))?[\\\"']*\s*[:=]\s*)\d+(?:\.\d+)?", re.I
)
_PATH = re.compile(r"[\\/][^\s'\"`,:;()\[\]]+")
_NUMBERED = re.compile(r"[\w-]*\d[\w-]*")
_SPACE = re.compile(r"\s+")
_TROUBLE = re.compile(
    r"(?<!\b0 )(?<!\bno )(?<!\bwithout )\b(?:fail(?:ed|ures?|ing|s)?|errors?|exceptions?|traceback|panic(?:ked)?"
    r"|fatal|denied|undefined|not found|cannot|could not|unable)\b",
    re.I,
)


def result_digest(result: Any) -> str:
    """The same for two results that differ only in clock readings, durations, process ids, random names and addresses.

    Of a long text only the two ends are read this closely; the middle counts as it is, so that the time this takes
    does not grow with the text.
    """
    text = result_text(result)
    if len(text) <= _HEAD + _TAIL:
        return digest(without_clock(text))
    ends = without_clock(f"{text[:_HEAD]}\n{text[-_TAIL:]}")
    return digest(f"{ends}\0{text[_HEAD:-_TAIL]}")


def result_text(result: Any) -> str:
    return result if type(result) is str else canonical(result, _lasting)


def error_digest(error: Any) -> str:
    """The same for two errors that differ only in numbers, ids, times, paths and addresses."""
    text = f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else result_text(error)
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]} {text[-_TAIL:]}"
    text = hide_request_ids(hide_unique_ids(text))
    text = _NUMBERED.sub("#", _PATH.sub("/", text))
    return FAILED + digest(_SPACE.sub(" ", text).strip().lower())


def shows_trouble(result: Any) -> bool:
    """Whether a result speaks of a failure; "0 failed" and "no errors" do not."""
    text = result_text(result)
    return _TROUBLE.search(text[:_HEAD]) is not None or _TROUBLE.search(text[-_TAIL:]) is not None


def without_clock(text: str) -> str:
    """The text without what differs each time: clock readings, durations, process ids, random names, addresses."""
    text = hide_temporary_paths(hide_unique_ids(text))
    if "pid" in text or "PID" in text:
        text = _PROCESS.sub(r"\1#", text)
    if "ook" in text or "lapsed" in text or "uration" in text or "atency" in text:
        text = _MEASURED.sub(r"\1#", text)
    return hide_request_ids(_CLOCK.sub("#", text))


def _lasting(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        return {
            key: _lasting(item) for key, item in value.items() if type(key) is not str or not ignored_in_results(key)
        }
    if kind is list or kind is tuple:
        return [_lasting(item) for item in value]
    return value


BARE_ERRORS = frozenset(
    error_digest(text)
    for text in (
        "",
        "1",
        "error",
        "failed",
        "failure",
        "exit 1",
        "exit code 1",
        "exit code: 1",
        "exit status 1",
        "exited with 1",
        "exited with code 1",
        "command failed",
        "command failed with exit code 1",
        "command exited with code 1",
        "process exited with code 1",
        "returned non-zero exit status 1",
    )
)
"""Errors that say no more than that something failed; the number does not matter."""
