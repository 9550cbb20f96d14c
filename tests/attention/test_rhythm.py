"""When somebody is up, seen from their signs of life."""

from __future__ import annotations

import pytest

from nudge.attention.rhythm import SeenRhythm, seen_rhythm
from nudge.instants import DAY, HOUR, MINUTE, Instant
from tests.times import TORONTO, toronto

NOW = toronto(2026, 2, 18, 12)


def signs(*hours: int, days: int = 7) -> list[Instant]:
    """One in each of these hours of the last days."""
    start = toronto(2026, 2, 11)
    found = [Instant(start + day * DAY + hour * HOUR + 20 * MINUTE) for day in range(8) for hour in hours]
    return [sign for sign in found if NOW - days * DAY <= sign <= NOW]


BY_DAY, BY_NIGHT = range(7, 23), (*range(16, 24), *range(8))


@pytest.mark.parametrize(
    ("seen", "wake", "bedtime"),
    [
        pytest.param(signs(*BY_DAY), 7, 23, id="up from seven to eleven"),
        pytest.param(signs(*BY_NIGHT), 16, 8, id="a night worker"),
        pytest.param(signs(*(hour for hour in BY_DAY if hour not in (12, 13))), 7, 23, id="lunch is not a night"),
        pytest.param([*signs(*BY_DAY), toronto(2026, 2, 15, 3)], 7, 23, id="one restless night does not count"),
    ],
)
def test_the_longest_stretch_without_signs_is_the_night(seen: list[Instant], wake: int, bedtime: int) -> None:
    found = seen_rhythm(seen, NOW, TORONTO)
    assert found is not None
    assert (found.wake, found.bedtime) == (wake, bedtime)


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param([], id="no signs"),
        pytest.param(signs(*BY_DAY, days=4), id="a few days only"),
        pytest.param(signs(9, 13), id="a phone that is hardly used"),
        pytest.param(signs(*range(24)), id="signs around the clock"),
    ],
)
def test_too_little_says_nothing(seen: list[Instant]) -> None:
    assert seen_rhythm(seen, NOW, TORONTO) is None


@pytest.mark.parametrize(
    ("wake", "bedtime", "shifted"),
    [
        pytest.param(10, 1, False, id="as the targets say"),
        pytest.param(8, 23, False, id="two hours are within the usual"),
        pytest.param(7, 1, True, id="three hours earlier up"),
        pytest.param(10, 22, True, id="three hours earlier to bed"),
        pytest.param(16, 8, True, id="a night worker"),
    ],
)
def test_three_hours_are_a_shift(wake: int, bedtime: int, shifted: bool) -> None:
    assert SeenRhythm(wake, bedtime, ()).shifted_from(10, 1) is shifted
