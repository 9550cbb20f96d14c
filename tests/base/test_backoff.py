"""The retry table, as numbers."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.backoff import (
    LONGEST_ASKED,
    TABLE,
    Policy,
    SetbackError,
    delay,
    gives_up,
    longest,
    parse_retry_after,
    persevere,
    seconds_asked,
)
from nudge.errors import ModelUnavailableError
from nudge.instants import SECOND, Instant

NOW = Instant(1_800_000_000 * SECOND)  # Fri, 15 Jan 2027 08:00:00 GMT
DAY = 86_400.0

ROWS = {
    Policy.MODEL_SERVER: ([5, 15, 45], "gives up"),
    Policy.MODEL_RATE: ([5, 15, 45], "gives up"),
    Policy.MODEL_NETWORK: ([10], "gives up"),
    Policy.MODEL_LOST: ([10], "gives up"),
    Policy.MODEL_REST: ([300], "repeats"),
    Policy.TIMER: ([5, 15, 45, 300, 900, 3600], "repeats"),
    Policy.DELIVERY: ([5, 15, 45, 60], "repeats"),
    Policy.LISTENING: ([1, 2, 5, 15, 30, 60], "repeats"),
    Policy.CONFLICT: ([3], "repeats"),
    Policy.STORE: ([1, 2, 4, 8, 16], "repeats"),
    Policy.MONEY: ([0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1], "repeats"),
    Policy.REPEAT: ([5, 15, 45, 60, 120, 300], "repeats"),
    Policy.COMMAND: ([60, 300, 900, 1800], "repeats"),
    Policy.SPIN: ([3600], "repeats"),
    Policy.LANE: ([30], "repeats"),
}


@pytest.mark.parametrize("policy", Policy)
def test_the_row(policy: Policy) -> None:
    delays, then = ROWS[policy]
    assert [delay(attempt, policy) for attempt in range(len(delays))] == delays
    assert [gives_up(attempt, policy) for attempt in range(len(delays))] == [False] * len(delays)
    if then == "gives up":
        assert gives_up(len(delays), policy)
    else:
        assert delay(10**6, policy) == delays[-1]
        assert not gives_up(10**6, policy)


ASKED = {
    "429 waits as told": (Policy.MODEL_RATE, 0, 7.0, 7.0),
    "429 waits exactly the longest": (Policy.MODEL_RATE, 0, 60.0, 60.0),
    "429 beyond the longest gives up": (Policy.MODEL_RATE, 0, 60.1, None),
    "429 for ever gives up": (Policy.MODEL_RATE, 0, math.inf, None),
    "429 gives up after three, whatever is asked": (Policy.MODEL_RATE, 3, 1.0, None),
    "429 without a time waits like a 5xx": (Policy.MODEL_RATE, 1, None, 15),
    "5xx does not listen": (Policy.MODEL_SERVER, 0, 600.0, 5),
    "a timer waits as told": (Policy.TIMER, 0, 40.0, 40.0),
    "a timer waits an hour at most": (Policy.TIMER, 0, 1e12, 3600),
    "a timer waits an hour for ever": (Policy.TIMER, 0, math.inf, 3600),
    "a timer waits a second at least": (Policy.TIMER, 5, 0.0, 1.0),
    "a negative wish is a second": (Policy.TIMER, 5, -5.0, 1.0),
    "no number is no wish": (Policy.TIMER, 1, math.nan, 15),
    "listening waits five minutes at most": (Policy.LISTENING, 0, 3e7, 300),
    "a rest is a day at most": (Policy.MODEL_REST, 0, 3e7, DAY),
    "the store is not asked": (Policy.STORE, 0, 600.0, 1),
}


@pytest.mark.parametrize("policy, attempt, asked, wait", ASKED.values(), ids=ASKED.keys())
def test_what_the_other_side_asks_for(policy: Policy, attempt: int, asked: float | None, wait: float | None) -> None:
    over = gives_up(attempt, policy, asked)
    assert (None if over else delay(attempt, policy, asked)) == wait


@given(st.integers(0, 100), st.sampled_from(Policy), st.none() | st.floats())
def test_a_wait_is_positive_and_bounded(attempt: int, policy: Policy, asked: float | None) -> None:
    assert min(1, *TABLE[policy].delays) <= delay(attempt, policy, asked) <= longest(policy)


HEADERS = {
    "seconds": ("30", 30.0),
    "seconds with a fraction": ("0.5", 0.5),
    "zero": ("0", 0.0),
    "spaces around": (" 7 ", 7.0),
    "a date ahead": ("Fri, 15 Jan 2027 08:01:30 GMT", 90.0),
    "a date ahead in another zone": ("Fri, 15 Jan 2027 03:01:30 -0500", 90.0),
    "a date of unknown zone is read as UTC": ("Fri, 15 Jan 2027 08:01:30 -0000", 90.0),
    "a date in the past means now": ("Fri, 15 Jan 2027 07:00:00 GMT", 0.0),
    "no header": (None, None),
    "an empty header": ("", None),
    "words": ("soon", None),
    "a negative number": ("-5", None),
    "infinity": ("inf", None),
    "not a number": ("nan", None),
    "digits that are not ours": ("\u0663", None),
    "a number in another notation": ("1e999", None),
    "exactly a day": ("86400", DAY),
    "a year is a day": ("31536000", DAY),
    "an absurd number is a day": ("9" * 60, DAY),
    "a number longer than a header should be": ("9" * 400, None),
    "a date that does not exist": ("Fri, 45 Jan 2027 08:00:00 GMT", None),
    "a date of the year 9999 is a day": ("Fri, 31 Dec 9999 23:59:59 GMT", DAY),
    "the last instant there is, in the west": ("Fri, 31 Dec 9999 23:59:59 -2359", DAY),
    "the first instant there is, in the east": ("Mon, 01 Jan 0001 00:00:00 +2359", 0.0),
    "a year of five digits": ("Fri, 15 Jan 99999 08:00:00 GMT", None),
    "a zone far beyond the earth": ("Fri, 15 Jan 2027 08:00:00 -99999999999999999", None),
    "a time that no clock shows": ("Fri, 15 Jan 2027 99:99:99 GMT", None),
    "nothing but commas": (",,,", None),
}


@pytest.mark.parametrize("header, seconds", HEADERS.values(), ids=HEADERS.keys())
def test_retry_after(header: str | None, seconds: float | None) -> None:
    assert parse_retry_after(header, NOW) == seconds


@given(st.text() | st.from_regex(r"\A\w{3}, \d{1,12} Jan \d{1,12} \d{1,12}:\d{1,12}:\d{1,3} [+-]?\w{1,30}\Z"))
def test_no_header_raises_or_asks_for_more_than_a_day(header: str) -> None:
    seconds = parse_retry_after(header, NOW)
    assert seconds is None or 0 <= seconds <= LONGEST_ASKED


VALUES = {
    "a number": (3, 3.0),
    "a fraction": (0.5, 0.5),
    "zero": (0, 0.0),
    "a year is a day": (31_536_000, DAY),
    "more than a float holds": (10**400, DAY),
    "infinity": (math.inf, DAY),
    "not a number": (math.nan, None),
    "negative": (-1, None),
    "a text": ("7", None),
    "true": (True, None),
    "nothing": (None, None),
}


@pytest.mark.parametrize("value, seconds", VALUES.values(), ids=VALUES.keys())
def test_seconds_asked_in_json(value: object, seconds: float | None) -> None:
    assert seconds_asked(value) == seconds


class Recorder:
    def __init__(self) -> None:
        self.slept: list[float] = []

    def now(self) -> Instant:
        return NOW

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


async def test_each_kind_of_trouble_has_its_own_count() -> None:
    troubles = [Policy.MODEL_NETWORK, Policy.MODEL_SERVER, Policy.MODEL_RATE, Policy.MODEL_SERVER]

    async def attempt() -> str:
        if troubles:
            raise SetbackError(troubles.pop(0), ModelUnavailableError("down"))
        return "up"

    clock = Recorder()
    assert await persevere(attempt, clock) == ("up", 5)
    assert clock.slept == [10, 5, 5, 15]


async def test_what_is_raised_at_the_end_has_no_context() -> None:
    error = ModelUnavailableError("down")

    async def attempt() -> None:
        raise SetbackError(Policy.MODEL_NETWORK, error)

    clock = Recorder()
    with pytest.raises(ModelUnavailableError) as caught:
        await persevere(attempt, clock)
    assert (caught.value, caught.value.__context__, clock.slept) == (error, None, [10.0])


async def test_any_other_error_ends_it_at_once() -> None:
    async def attempt() -> None:
        raise KeyError("bug")

    clock = Recorder()
    with pytest.raises(KeyError):
        await persevere(attempt, clock)
    assert clock.slept == []
