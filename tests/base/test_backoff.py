"""The retry table, as numbers."""

from __future__ import annotations

import pytest

from nudge.backoff import SetbackError, Trouble, next_wait, parse_retry_after, persevere
from nudge.errors import ModelUnavailableError
from nudge.instants import SECOND, Instant

NOW = Instant(1_800_000_000 * SECOND)  # Fri, 15 Jan 2027 08:00:00 GMT

WAITS = {
    "5xx waits 5 s first": (Trouble.SERVER, 0, None, 5.0),
    "5xx waits 15 s next": (Trouble.SERVER, 1, None, 15.0),
    "5xx waits 45 s at last": (Trouble.SERVER, 2, None, 45.0),
    "5xx gives up then": (Trouble.SERVER, 3, None, None),
    "5xx does not listen to Retry-After": (Trouble.SERVER, 0, 600.0, 5.0),
    "a timeout waits 10 s once": (Trouble.NETWORK, 0, None, 10.0),
    "a timeout gives up then": (Trouble.NETWORK, 1, None, None),
    "429 waits as told": (Trouble.RATE, 0, 7.0, 7.0),
    "429 waits exactly the cap": (Trouble.RATE, 0, 60.0, 60.0),
    "429 beyond the cap is not waited for": (Trouble.RATE, 0, 60.1, None),
    "429 without a time waits like a 5xx": (Trouble.RATE, 1, None, 15.0),
    "429 gives up after three": (Trouble.RATE, 3, 1.0, None),
}


@pytest.mark.parametrize("trouble, retries, told, wait", WAITS.values(), ids=WAITS.keys())
def test_the_next_wait(trouble: Trouble, retries: int, told: float | None, wait: float | None) -> None:
    assert next_wait(trouble, retries, told) == wait


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
    "an absurd number": ("9" * 400, None),
    "a date that does not exist": ("Fri, 45 Jan 2027 08:00:00 GMT", None),
}


@pytest.mark.parametrize("header, seconds", HEADERS.values(), ids=HEADERS.keys())
def test_retry_after(header: str | None, seconds: float | None) -> None:
    assert parse_retry_after(header, NOW) == seconds


class Recorder:
    def __init__(self) -> None:
        self.slept: list[float] = []

    def now(self) -> Instant:
        return NOW

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


async def test_what_is_raised_at_the_end_has_no_context() -> None:
    error = ModelUnavailableError("down")

    async def attempt() -> None:
        raise SetbackError(Trouble.NETWORK, error)

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
