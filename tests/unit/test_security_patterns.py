"""Hostile texts for the patterns: what is slow on them would stop the whole daemon, which has one thread.

A hang is what is tested, so each text must be done within a span that is a thousand times what it needs.
"""

import signal
from collections.abc import Iterator
from types import FrameType

import pytest

from nudge.core.restraint import recognise

_ENOUGH_SECONDS = 20


@pytest.fixture(autouse=True)
def no_hang() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise AssertionError("this text takes for ever")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_ENOUGH_SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def test_words_that_can_be_read_in_two_ways_do_not_double_the_work_each_time() -> None:
    assert recognise("a little bit " * 75 + "tired") is None
    assert recognise("I'm a little bit busy") is not None
