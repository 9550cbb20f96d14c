"""No message is long enough to hold up the daemon, which reads it between two timers."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from nudge.coach.onboarding import read_sleep
from nudge.errors import InvalidPhraseError
from nudge.phrases.asking import without_thanks
from nudge.phrases.split import split_reminder
from tests.times import NOON

ZONE = "America/Toronto"


@pytest.mark.parametrize(
    ("read", "text"),
    [
        pytest.param(without_thanks, "pls ", id="thanks without end"),
        pytest.param(lambda text: split_reminder(text, NOON, ZONE), "pls ", id="a reminder with them"),
        pytest.param(lambda text: split_reminder(text, NOON, ZONE), "\u0130", id="letters that become two"),
        pytest.param(lambda text: split_reminder(text, NOON, ZONE), " ", id="spaces"),
        pytest.param(lambda text: split_reminder(f"x{text}", NOON, ZONE), " ", id="spaces after a word"),
        pytest.param(read_sleep, "'", id="quotes in place of a bedtime"),
        pytest.param(read_sleep, "\n", id="empty lines in place of a bedtime"),
    ],
)
def test_a_text_five_times_as_long_takes_about_five_times_as_long(read: Callable[[str], object], text: str) -> None:
    """Twenty-five times would be a square. The processor's time counts, and the best of three."""
    short, long = (_taken(read, (text * size)[:size] + " at 5pm") for size in (2_000, 10_000))
    assert long < 12 * max(short, 0.001)


def _taken(read: Callable[[str], object], said: str) -> float:
    taken = []
    for _ in range(3):
        began = time.process_time()
        with suppress(InvalidPhraseError):
            read(said)
        taken.append(time.process_time() - began)
    return min(taken)
