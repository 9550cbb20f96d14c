"""What a call brought: a digest, enough to see whether it is the same as last time and nothing to leak, and for a
failure how bad it is."""

from __future__ import annotations

import re
from enum import Enum
from typing import Any, Final, NamedTuple

from nudge.progress.loops.signature import (
    canonical,
    digest,
    hide_request_ids,
    hide_temporary_paths,
    hide_unique_ids,
    ignored_in_results,
)


class Unknown(Enum):
    """The result of a call that is not back yet, or that nobody told us."""

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
_WITH_NUMBER = re.compile(r"[\w-]*\d[\w-]*")
_SPACE = re.compile(r"\s+")
_TROUBLE = re.compile(
    r"(?<!\b0 )(?<!\bno )(?<!\bwithout )\b(?:fail(?:ed|ures?|ing|s)?|errors?|exceptions?|traceback|panic(?:ked)?"
    r"|fatal|denied|undefined|not found|cannot|could not|unable)\b",
    re.I,
)


_COUNTED = re.compile(
    r"[0-9](?<![\w.-].)\d{0,5}(?: ?(?:of|/|out of) ?\d{1,6})? "
    r"(?:(?:tests?|cases?|checks?|examples?|specs?|files?|suites?|previous|fatal|type|lint) )?"
    r"(failed|failing|failures?|errors?|problems?|issues?|violations?)\b",
    re.I,
)
_TALLIED = re.compile(r"\b(?:failures|failed|errors|problems)[\\\"']*\s?[:=]\s?(\d{1,6})\b", re.I)
_COUNT = re.compile(r"\d+")
_WORD_BEFORE = re.compile(r"([a-z]+)[ #:=]+$", re.I)
_NUMBERED = """
attempt batch build case check child code exit host http id item job line no node number page part pid port process
request retry row run server shard stage status step task test thread try unit worker
"""
_NUMBERED_THINGS = frozenset(_NUMBERED.split())
_SINGULAR = frozenset({"error", "failure", "problem", "issue", "violation"})
_PLACES = re.compile(r"\bline[ :]+(\d{1,7})\b|\.[a-z]\w{0,5}:(\d{1,7})\b|\((\d{1,7})[,:]\d{1,5}\)", re.I)


class Standing(NamedTuple):
    """How bad a failure is, as far as its text counts: how much is wrong, and how far it came. Less wrong is better,
    and so is further; None where the text does not say."""

    wrong: int | None = None
    line: int | None = None

    def beats(self, earlier: Standing, *, after_change: bool) -> bool:
        """Whether this failure is a better one than an earlier one with the same words.

        Fewer failures always are. A later line is, if something was changed in between: without that, a moving line
        is noise.
        """
        if self.wrong is not None and earlier.wrong is not None and self.wrong != earlier.wrong:
            return self.wrong < earlier.wrong
        return after_change and self.line is not None and earlier.line is not None and self.line > earlier.line


UNSAID: Final = Standing()


def standing(error: Any) -> Standing:
    """What an error counts: "3 failed, 1 error" is 4 wrong, "a.py, line 12" came to line 12.

    Numbers that name a thing ("request 4411 failed", "exit code 1") count nothing. Of several lines the last is taken
    where a traceback lists them, else the first, where a compiler stopped.
    """
    text = _both_ends(_error_text(error))
    counts = "ail" in text or "AIL" in text or "rror" in text or "roblem" in text or "ssue" in text or "iolat" in text
    places = "ine" in text or "." in text or "(" in text
    if not counts and not places:
        return UNSAID
    return Standing(_wrong(text) if counts else None, _line(text) if places else None)


def _wrong(text: str) -> int | None:
    counts = [int(count) for count in _TALLIED.findall(text)] if ":" in text or "=" in text else []
    for match in _COUNTED.finditer(text):
        count = int(_COUNT.match(text, match.start())[0])  # type: ignore[index]
        named = _WORD_BEFORE.search(text[max(0, match.start() - 20) : match.start()])
        if named is not None and named[1].lower() in _NUMBERED_THINGS:
            continue
        if count == 1 or match[1].lower() not in _SINGULAR:
            counts.append(count)
    return sum(counts) if counts else None


def _line(text: str) -> int | None:
    if not _PLACES.search(text):
        return None
    lines = [int(line or place or pair) for line, place, pair in _PLACES.findall(without_clock(text))]
    return (lines[-1] if "File " in text else lines[0]) if lines else None


def result_digest(result: Any) -> str:
    """The same for two results that differ only in clock readings, durations, process ids, random names and addresses.

    Only the two ends of a long text are read this closely; the middle counts as it is, so that the time does not grow
    with the text.
    """
    text = result_text(result)
    if len(text) <= _HEAD + _TAIL:
        return digest(without_clock(text))
    ends = without_clock(f"{text[:_HEAD]}\n{text[-_TAIL:]}")
    return digest(f"{ends}\0{text[_HEAD:-_TAIL]}")


def result_text(result: Any) -> str:
    return result if type(result) is str else canonical(result, _lasting)


def is_failure(error: object) -> bool:
    """Whether an `error` argument says that the call failed: None, False and an empty text do not."""
    return not (error is None or error is False or (isinstance(error, str) and not error))


def error_digest(error: Any) -> str:
    """The same for two errors that differ only in numbers, ids, times, paths and addresses."""
    text = hide_request_ids(hide_unique_ids(_both_ends(_error_text(error))))
    text = _WITH_NUMBER.sub("#", _PATH.sub("/", text))
    return FAILED + digest(_SPACE.sub(" ", text).strip().lower())


def _error_text(error: Any) -> str:
    return f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else result_text(error)


def _both_ends(text: str) -> str:
    return text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]} {text[-_TAIL:]}"


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
