"""Waiting between attempts: one table, one loop, the injected clock.

The waits are exact and each kind of trouble has a row of its own, so a call that meets a timeout and then a 500 is not
charged twice for either. The loop sleeps through the clock it is given; that is why it is written here: the retry
libraries sleep on the event loop's own time and keep one count for all kinds of failure.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Protocol, TypeVar

from nudge.errors import RetryableError
from nudge.instants import SECOND, Instant, as_instant

T = TypeVar("T")


class RetryClock(Protocol):
    """The part of the Clock port that retrying needs."""

    def now(self) -> Instant: ...

    async def sleep(self, seconds: float) -> None: ...


class Trouble(StrEnum):
    """Why an attempt failed in a way that another attempt may cure."""

    SERVER = "server"  # the service answered 5xx
    RATE = "rate"  # the service answered 429
    NETWORK = "network"  # no answer, or one that is not readable


Rows = Mapping[Trouble, tuple[float, ...]]

MODEL_ROWS: Rows = {
    Trouble.SERVER: (5.0, 15.0, 45.0),
    Trouble.RATE: (5.0, 15.0, 45.0),  # only where the service named no time of its own
    Trouble.NETWORK: (10.0,),
}
LONGEST_WAIT = 60.0


class SetbackError(Exception):
    """One failed attempt. `error` is what the caller gets once the row of `trouble` is used up."""

    def __init__(self, trouble: Trouble, error: RetryableError) -> None:
        super().__init__(trouble.value)
        self.trouble = trouble
        self.error = error


def next_wait(
    trouble: Trouble,
    retries_so_far: int,
    retry_after: float | None,
    *,
    rows: Rows = MODEL_ROWS,
    longest_wait: float = LONGEST_WAIT,
) -> float | None:
    """Seconds until the next attempt, or None to give up.

    A 429's own time replaces the row's; exactly `longest_wait` is still waited, anything beyond it is the caller's to
    rest through.

    >>> [next_wait(Trouble.SERVER, n, None) for n in range(4)]
    [5.0, 15.0, 45.0, None]
    >>> next_wait(Trouble.RATE, 0, 60.0), next_wait(Trouble.RATE, 0, 61.0)
    (60.0, None)
    """
    row = rows[trouble]
    if retries_so_far >= len(row):
        return None
    if trouble is Trouble.RATE and retry_after is not None:
        return retry_after if retry_after <= longest_wait else None
    return row[retries_so_far]


async def persevere(
    attempt: Callable[[], Awaitable[T]],
    clock: RetryClock,
    *,
    rows: Rows = MODEL_ROWS,
    longest_wait: float = LONGEST_WAIT,
) -> tuple[T, int]:
    """The attempt's result and how many attempts it took. Only a SetbackError is tried again."""
    retries = dict.fromkeys(Trouble, 0)
    while True:
        setback: SetbackError
        try:
            return await attempt(), sum(retries.values()) + 1
        except SetbackError as caught:
            setback = caught
        wait = next_wait(
            setback.trouble,
            retries[setback.trouble],
            setback.error.retry_after,
            rows=rows,
            longest_wait=longest_wait,
        )
        if wait is None:
            raise setback.error
        retries[setback.trouble] += 1
        await clock.sleep(wait)


def parse_retry_after(value: str | None, now: Instant) -> float | None:
    """Seconds of a Retry-After header: a number, or an HTTP date (one in the past means now). Anything else is None.

    >>> parse_retry_after("7", Instant(0)), parse_retry_after("soon", Instant(0))
    (7.0, None)
    >>> parse_retry_after("Thu, 01 Jan 1970 00:00:30 GMT", Instant(0))
    30.0
    """
    if value is None:
        return None
    text = value.strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", text):
        return float(text)
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (as_instant(when) - now) / SECOND)
