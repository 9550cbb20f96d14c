"""When an agent must be woken."""

from __future__ import annotations

import pytest

from nudge.fleet.rules import NEVER, Poke, first_wake, jitter, next_wake, shown_due, together, wake_at
from nudge.instants import DAY, HOUR, MINUTE, SECOND, Instant
from nudge.queue.timers import LATE_FROM

NOW = Instant(1_794_000_000 * SECOND)
LATER = Instant(NOW + HOUR)
SPREAD = 10 * MINUTE


@pytest.mark.parametrize(
    "kind, due, most",
    [
        pytest.param("reminder", LATER, 0, id="what the person asked for comes to the second"),
        pytest.param("turn", LATER, 0, id="an answer does not wait"),
        pytest.param("deliver", LATER, 0, id="nor does a message on its way"),
        pytest.param("heartbeat", LATER, LATE_FROM - 1, id="an own idea stays on time"),
        pytest.param("briefing", LATER, LATE_FROM - 1, id="a briefing stays on time"),
        pytest.param("wake", LATER, SPREAD, id="the day's turn is spread"),
        pytest.param("retention", LATER, SPREAD, id="chores are spread"),
        pytest.param("wake", Instant(NOW - SECOND), 0, id="what is due already is not put off"),
    ],
)
def test_how_much_later_than_due_an_agent_is_woken(kind: str, due: Instant, most: int) -> None:
    delays = [wake_at(f"agent{number}", kind, due, NOW, SPREAD) - due for number in range(200)]
    assert min(delays) >= 0
    assert max(delays) <= most
    if most:
        assert len(set(delays)) > 150, "they are spread"


def test_watching_files_is_no_reason_to_wake() -> None:
    assert next_wake("ada", {"routines": NOW}, NOW) == NEVER
    assert next_wake("ada", {"routines": NOW, "reminder": LATER}, NOW) == LATER
    assert next_wake("ada", {}, NOW) == NEVER


@pytest.mark.parametrize(
    "due, soon",
    [
        pytest.param({"heartbeat": LATER}, False, id="one that has been at work waits for its next due time"),
        pytest.param({}, True, id="one that nobody started is visited soon"),
        pytest.param({"reminder": Instant(NOW + 3 * DAY)}, True, id="nor is a far reminder a sign of work"),
        pytest.param({"routines": NOW}, True, id="nor are watched files"),
    ],
)
def test_when_an_agent_that_joins_is_woken(due: dict[str, Instant], soon: bool) -> None:
    wakes = [first_wake(f"agent{number}", due, NOW, SPREAD, 200) for number in range(200)]
    latest = NOW + 10 * SECOND if soon else LATER + LATE_FROM
    assert NOW <= min(wakes) <= max(wakes) < latest
    assert len(set(wakes)) > 150, "not all at once"


def test_a_jitter_is_stable_and_even() -> None:
    shares = [jitter(f"agent{number}", 100) for number in range(10_000)]
    assert shares == [jitter(f"agent{number}", 100) for number in range(10_000)]
    tens = [sum(10 * ten <= share < 10 * ten + 10 for share in shares) for ten in range(10)]
    assert min(tens) > 900
    assert max(tens) < 1100


def test_pokes_of_an_agent_become_one_wake_at_the_earliest() -> None:
    def poke(agent: str, kind: str, due: Instant, made: int) -> Poke:
        return Poke(agent, kind, due, Instant(made))

    pokes = [
        poke("ada", "reminder", LATER, 3),
        poke("ada", "turn", NOW, 5),
        poke("ada", "turn", LATER, 4),
        poke("bob", "routines", NOW, 9),
    ]
    assert together(pokes, NOW) == {"ada": (NOW, 5)}


def test_the_shown_due_time_changes_once_a_day() -> None:
    start = Instant(NOW // DAY * DAY)
    assert len({shown_due(Instant(start + hour * HOUR)) for hour in range(24)}) == 1
