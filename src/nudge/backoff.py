"""How long to wait before the next attempt: one table for everything that retries.

Each kind of trouble has its own row, so a call that meets a timeout and then a 500 is not charged twice for either.
Whoever waits does so on the injected clock. The retry libraries sleep on the event loop's own time and keep one count
for all kinds of failure, which is why this is written here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from enum import StrEnum
from typing import Final, Protocol, TypeVar

from nudge.errors import RetryableError
from nudge.instants import SECOND, Instant, as_instant

T = TypeVar("T")

SHORTEST_ASKED: Final = 1.0
LONGEST_ASKED: Final = 86_400.0
"""A service that asks for a longer pause ("in a year") is tried again after a day."""


class Policy(StrEnum):
    """What is being retried."""

    MODEL_SERVER = "model-server"  # the model's service answered 5xx
    MODEL_RATE = "model-rate"  # it answered 429
    MODEL_NETWORK = "model-network"  # it could not be reached
    MODEL_LOST = "model-lost"  # its answer did not arrive whole: the call may have been billed, and so may the next
    MODEL_REST = "model-rest"  # after the rows above gave up: how long nobody is made to wait for the model
    TIMER = "timer"  # a handler failed
    DELIVERY = "delivery"  # the person's channel is away: what waits for it must go out soon after it is back
    REPEAT = "repeat"  # the same, but the message may have arrived: every attempt may reach the person once more
    LISTENING = "listening"  # the person's channel cannot be read, or an update cannot be handled
    CONFLICT = "conflict"  # somebody else reads the same channel; its patience ends after one long poll
    STORE = "store"  # the database refuses: full disk, server away
    MONEY = "money"  # a call waits for money that another process may give back
    COMMAND = "command"  # an agent's program asked to be started again later
    LANE = "lane"  # an error that nobody expected stopped a lane
    SPIN = "spin"  # a timer fired again and again and got nowhere


@dataclass(frozen=True, slots=True)
class Row:
    """Seconds before each retry. After the last one it gives up, or else repeats the last.

    `heeds` is the longest pause that the other side may ask for (Retry-After); its wish then replaces the delay.
    """

    delays: tuple[float, ...]
    gives_up: bool = False
    heeds: float = 0.0


TABLE: Final[Mapping[Policy, Row]] = {
    Policy.MODEL_SERVER: Row((5, 15, 45), gives_up=True),
    Policy.MODEL_RATE: Row((5, 15, 45), gives_up=True, heeds=60),
    Policy.MODEL_NETWORK: Row((10,), gives_up=True),
    Policy.MODEL_LOST: Row((10,), gives_up=True),
    Policy.MODEL_REST: Row((300,), heeds=LONGEST_ASKED),
    Policy.TIMER: Row((5, 15, 45, 300, 900, 3600), heeds=3600),
    Policy.DELIVERY: Row((5, 15, 45, 60), heeds=3600),
    Policy.REPEAT: Row((5, 15, 45, 60, 120, 300), heeds=3600),
    Policy.LISTENING: Row((1, 2, 5, 15, 30, 60), heeds=300),
    Policy.CONFLICT: Row((3,)),
    Policy.STORE: Row((1, 2, 4, 8, 16)),
    Policy.MONEY: Row((0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1)),
    Policy.COMMAND: Row((60, 300, 900, 1800)),
    Policy.LANE: Row((30,)),
    Policy.SPIN: Row((3600,)),
}


def delay(attempt: int, policy: Policy, asked: float | None = None) -> float:
    """Seconds before the next attempt; `attempt` counts the failures before this one.

    `asked` is the pause that the other side wants. It comes first where the policy listens, within 1 s and the longest
    it heeds; what is not a number counts as nothing.

    >>> [delay(attempt, Policy.DELIVERY) for attempt in range(5)]
    [5, 15, 45, 60, 60]
    >>> delay(0, Policy.DELIVERY, asked=40), delay(0, Policy.DELIVERY, asked=1e9), delay(0, Policy.STORE, asked=40)
    (40, 3600, 1)
    """
    row = TABLE[policy]
    if asked is not None and row.heeds and not math.isnan(asked):
        return min(max(asked, SHORTEST_ASKED), row.heeds)
    return row.delays[min(attempt, len(row.delays) - 1)]


def gives_up(attempt: int, policy: Policy, asked: float | None = None) -> bool:
    """Whether there is no next attempt: the row is used up, or the other side asks for more than can be waited here.

    >>> [gives_up(attempt, Policy.MODEL_NETWORK) for attempt in range(2)]
    [False, True]
    >>> gives_up(0, Policy.MODEL_RATE, asked=60), gives_up(0, Policy.MODEL_RATE, asked=61)
    (False, True)
    """
    row = TABLE[policy]
    if not row.gives_up:
        return False
    too_long = asked is not None and 0 < row.heeds < asked
    return attempt >= len(row.delays) or too_long


def longest(policy: Policy) -> float:
    """No wait by this policy is longer."""
    row = TABLE[policy]
    return max(row.heeds, *row.delays)


class RetryClock(Protocol):
    """The part of the Clock port that retrying needs."""

    def now(self) -> Instant: ...

    async def sleep(self, seconds: float) -> None: ...


class SetbackError(Exception):
    """One failed attempt. The caller gets `error` once the row of `policy` is used up."""

    def __init__(self, policy: Policy, error: RetryableError) -> None:
        super().__init__(policy.value)
        self.policy = policy
        self.error = error


async def persevere(attempt: Callable[[], Awaitable[T]], clock: RetryClock) -> tuple[T, int]:
    """The attempt's result and how many attempts it took. Only a SetbackError is retried."""
    retries = dict.fromkeys(Policy, 0)
    while True:
        setback: SetbackError
        try:
            return await attempt(), sum(retries.values()) + 1
        except SetbackError as caught:
            setback = caught
        before, policy, asked = retries[setback.policy], setback.policy, setback.error.retry_after
        if gives_up(before, policy, asked):
            raise setback.error
        retries[policy] += 1
        await clock.sleep(delay(before, policy, asked))


def parse_retry_after(value: str | None, now: Instant) -> float | None:
    """Seconds of a Retry-After header: a number, or an HTTP date (one in the past means now). At most a day, whatever
    it says; None if it cannot be understood.

    >>> parse_retry_after("7", Instant(0)), parse_retry_after("soon", Instant(0))
    (7.0, None)
    >>> parse_retry_after("Thu, 01 Jan 1970 00:00:30 GMT", Instant(0))
    30.0
    """
    if value is None or len(value) > 100:
        return None
    text = value.strip()
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text, re.ASCII):
        return min(float(text), LONGEST_ASKED)
    from email.utils import parsedate_to_datetime

    try:
        when = parsedate_to_datetime(text)
        if when.tzinfo is None:
            when = when.replace(tzinfo=UTC)
        seconds = (as_instant(when) - now) / SECOND
    except (ValueError, OverflowError, TypeError, IndexError):  # the parser lets each of these through
        return None
    return min(max(0.0, seconds), LONGEST_ASKED)


def seconds_asked(value: object) -> float | None:
    """The same of a JSON value: a number that is one, at most a day.

    >>> seconds_asked(7), seconds_asked(10**400), seconds_asked(-1), seconds_asked("7")
    (7.0, 86400.0, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        return None
    return float(min(value, LONGEST_ASKED))
