from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from nudge.coach.documents import DocumentTexts
from nudge.coach.facts import CoachState, DueReminder
from nudge.coach.judgment import Ask, Judgment, first_ask, should_ask, signature, window
from nudge.coach.targets import Targets
from nudge.instants import DAY, HOUR, MINUTE, SECOND, Instant, as_instant

TARGETS = Targets()
TEXTS = DocumentTexts("goals", "memory", "agents", "checklist")


def at(day: int, hour: int, minute: int = 0) -> Instant:
    return as_instant(datetime(2026, 2, day, hour, minute, tzinfo=ZoneInfo("America/Toronto")))


NOON = at(18, 12)
STATE = CoachState(last_user_message=Instant(NOON - 10 * MINUTE))
LAST = Judgment(NOON, signature(TEXTS, STATE, (), NOON, TARGETS))


def later(minutes: int = 45, texts: DocumentTexts = TEXTS, due: tuple[DueReminder, ...] = (), **state: Any) -> Ask:
    now = Instant(NOON + minutes * MINUTE)
    kept = replace(STATE, last_user_message=Instant(now - 10 * MINUTE))
    return should_ask(LAST, signature(texts, replace(kept, **state), due, now, TARGETS), now, TARGETS)


def test_the_first_judgment_is_asked_for() -> None:
    assert should_ask(None, LAST.signature, NOON, TARGETS).ask


def test_nothing_changed_nothing_asked() -> None:
    answer = later()
    assert not answer.ask
    assert answer.reason == "Nothing has changed since the last judgment 45 min ago."


@pytest.mark.parametrize(
    ("change", "part"),
    [
        pytest.param({"texts": replace(TEXTS, goals="other")}, "documents", id="goals"),
        pytest.param({"texts": replace(TEXTS, memory="other")}, "documents", id="memory"),
        pytest.param({"texts": replace(TEXTS, agents="other")}, "documents", id="personality"),
        pytest.param(
            {"texts": DocumentTexts("goal", "smemory", "agents", "checklist")}, "documents", id="a moved letter"
        ),
        pytest.param({"due": (DueReminder("r", "Call", NOON),)}, "reminders", id="a due reminder"),
        pytest.param({"last_user_message": Instant(NOON - HOUR)}, "activity", id="the person went away"),
        pytest.param({"quiet_until": Instant(NOON + DAY)}, "state", id="quiet mode"),
        pytest.param({"review_in_progress": True}, "state", id="a review"),
        pytest.param({"delayed_until": Instant(NOON + DAY)}, "state", id="a delay"),
    ],
)
def test_a_change_is_asked_about_and_named(change: dict[str, Any], part: str) -> None:
    answer = later(**change)
    assert answer.ask
    assert answer.reason == f"Changed since the last judgment: {part}."


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"proactive_today": 3}, id="messages it sent itself"),
        pytest.param({"morning_brief_sent": True}, id="the brief it sent itself"),
        pytest.param({"quiet_until": Instant(NOON - HOUR)}, id="a quiet time that is over"),
    ],
)
def test_its_own_doing_is_no_news(change: dict[str, Any]) -> None:
    assert not later(**change).ask


def test_in_waking_hours_it_is_silent_for_three_hours_at_the_longest() -> None:
    assert not later(179).ask
    assert later(180).ask


def test_in_quiet_hours_the_silence_may_last_longer() -> None:
    state = CoachState()
    night = at(19, 2, 30)
    last = Judgment(Instant(night - 4 * HOUR), signature(TEXTS, state, (), night, TARGETS))
    assert not should_ask(last, last.signature, night, TARGETS).ask
    assert should_ask(last, last.signature, at(19, 10), TARGETS).ask


def test_a_clock_set_back_does_not_silence_it() -> None:
    assert should_ask(Judgment(Instant(NOON + DAY), LAST.signature), LAST.signature, NOON, TARGETS).ask


@pytest.mark.parametrize(
    ("start", "seen", "longest", "expected"),
    [
        pytest.param(at(18, 12), None, 3 * HOUR, at(18, 15), id="when it has been silent for long enough"),
        pytest.param(at(18, 12), None, DAY, at(18, 17, 15), id="when the evening comes"),
        pytest.param(at(18, 12), at(18, 11, 50), DAY, at(18, 13, 30), id="when the person has been away for an hour"),
        pytest.param(at(18, 21), None, 3 * HOUR, at(19, 0), id="three hours later in the evening too"),
        pytest.param(at(19, 2), None, 3 * HOUR, at(19, 10, 15), id="not in the night"),
    ],
)
def test_when_a_model_would_be_asked_again_if_nothing_happened(
    start: Instant, seen: Instant | None, longest: int, expected: Instant
) -> None:
    state = CoachState(last_user_message=seen)
    last = Judgment(start, signature(TEXTS, state, (), start, TARGETS))
    slots = [Instant(start + number * 45 * MINUTE) for number in range(1, 33)]
    assert first_ask(slots, last, lambda slot: signature(TEXTS, state, (), slot, TARGETS), TARGETS, longest) == expected


@pytest.mark.parametrize(
    ("now", "active", "expected"),
    [
        pytest.param(at(18, 10), False, "2026-02-18 day", id="it begins at the wake target"),
        pytest.param(at(18, 9, 59), False, "2026-02-17 evening", id="before that it is still yesterday"),
        pytest.param(at(18, 17), False, "2026-02-18 evening", id="evening"),
        pytest.param(at(19, 0, 30), False, "2026-02-18 evening", id="away, the night is one"),
        pytest.param(at(19, 0), True, "2026-02-18 before bedtime", id="there, the last hour counts"),
        pytest.param(at(19, 1), True, "2026-02-18 past bedtime", id="there, past bedtime"),
        pytest.param(at(18, 23, 59), True, "2026-02-18 evening", id="there, more than an hour before"),
    ],
)
def test_the_parts_of_a_day(now: Instant, active: bool, expected: str) -> None:
    assert window(now, TARGETS, active=active) == expected


def calls_of_a_day(state: CoachState, start: Instant) -> int:
    last: Judgment | None = Judgment(Instant(start - 45 * MINUTE), signature(TEXTS, state, (), start, TARGETS))
    calls = 0
    for beat in range(32):
        now = Instant(start + beat * 45 * MINUTE)
        if TARGETS.is_quiet(now):
            continue
        current = signature(TEXTS, state, (), now, TARGETS)
        if should_ask(last, current, now, TARGETS).ask:
            calls, last = calls + 1, Judgment(now, current)
    return calls


@pytest.mark.parametrize("offset", range(0, 24 * 60, 77))
def test_a_quiet_day_takes_at_most_seven_judgments(offset: int) -> None:
    state = CoachState(last_user_message=at(17, 21))
    assert calls_of_a_day(state, Instant(at(18, 0) + offset * MINUTE + SECOND)) <= 7
