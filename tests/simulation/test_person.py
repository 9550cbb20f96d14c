from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.errors import ConfigError
from nudge.instants import HOUR, MINUTE, Instant, to_datetime
from nudge.simulation.person import (
    PING,
    Mood,
    Profile,
    Reaction,
    Replies,
    Stay,
    answer_to,
    day_of,
    is_awake,
    load_person,
    waking_hours,
)
from tests.times import TORONTO, toronto

OWL = Profile("owl", wakes=10 * 60, sleeps=2 * 60, jitter_minutes=30, signals_per_hour=2.0)
DAYS = st.dates(date(2026, 1, 1), date(2027, 12, 31))


@given(day=DAYS, seed=st.integers(0, 9))
def test_the_same_seed_gives_the_same_day_inside_waking_hours(day: date, seed: int) -> None:
    acts = day_of(OWL, day, TORONTO, seed)
    assert acts == day_of(OWL, day, TORONTO, seed)
    awake, asleep = waking_hours(OWL, day, TORONTO, seed)
    assert all(awake <= act.at < asleep for act in acts)
    assert acts == sorted(acts, key=lambda act: (act.at, act.text))
    assert 13 * HOUR < asleep - awake < 19 * HOUR


def test_another_seed_is_another_life() -> None:
    assert day_of(OWL, date(2026, 2, 18), TORONTO, 1) != day_of(OWL, date(2026, 2, 18), TORONTO, 2)


def test_signals_come_as_often_as_said() -> None:
    days = [date(2026, 1, 1) + timedelta(days=n) for n in range(100)]
    signals = sum(act.text == PING for day in days for act in day_of(OWL, day, TORONTO, 7))
    assert 2900 < signals < 3500  # 2 an hour over 16 hours


def test_reactions_keep_their_hours_and_weekdays() -> None:
    busy = Profile("b", reactions=(Reaction("busy", 5, 9, 17, (0, 1)),), signals_per_hour=0)
    acts = [
        (day, act)
        for n in range(28)
        for day in [date(2026, 2, 2) + timedelta(days=n)]
        for act in day_of(busy, day, TORONTO, 3)
    ]
    assert acts
    assert {day.weekday() for day, _ in acts} == {0, 1}
    assert all(9 <= to_datetime(act.at, TORONTO).hour < 17 for _, act in acts)


def test_answers_follow_the_habits_and_never_come_from_sleep() -> None:
    keen = Profile("k", wakes=8 * 60, sleeps=23 * 60, jitter_minutes=0, replies=Replies(1.0, (5, 10), ("a",), ("b",)))
    noon = toronto(2026, 2, 18, 12)
    act = answer_to(keen, "hello", "heartbeat", noon, TORONTO, 1)
    assert act
    assert act.text == "a"
    assert 5 * MINUTE <= act.at - noon <= 10 * MINUTE
    night = answer_to(keen, "to bed", "bedtime", noon, TORONTO, 1)
    assert night
    assert night.text == "b"
    assert answer_to(keen, "hello", "heartbeat", toronto(2026, 2, 18, 22, 58), TORONTO, 1) is None
    assert answer_to(Profile("s", replies=Replies(0.0)), "x", "heartbeat", noon, TORONTO, 1) is None


def test_past_midnight_still_belongs_to_the_evening_before() -> None:
    assert is_awake(OWL, toronto(2026, 2, 19, 1), TORONTO, 1)
    assert not is_awake(OWL, toronto(2026, 2, 19, 5), TORONTO, 1)
    assert is_awake(OWL, Instant(toronto(2026, 2, 19, 12)), TORONTO, 1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nam: x", "me.yaml, line 1: nam: "),
        ("wakes: soon", "line 1: wakes: 'soon' is not a time of day"),
        ("wakes: 9", "wakes: 9 is not a time of day"),
        ("name: a\nreactions:\n  - {say: x}", "line 3: reactions.0.per_day: "),
        ("talks: [{per_day: 1}]", "talks.0.say: "),
        ("talks: [{say: '', per_day: 1}]", "talks.0.say: "),
        ("talks: [{say: x, per_day: .nan}]", "talks.0.per_day: "),
        ("talks: [{say: x, per_day: 1e9}]", "talks.0.per_day: "),
        ("talks: [{say: x, per_day: 1, hours: [3]}]", "talks.0.hours"),
        ("talks: [{say: x, per_day: 1, weekdays: [mon]}]", "talks.0.weekdays.0: "),
        ("talks: x", "talks: "),
        ("signals_per_hour: .inf", "signals_per_hour: "),
        ("jitter_minutes: -5", "jitter_minutes: "),
        ("replies: 5", "replies: "),
        ("replies: {delay_minutes: 3}", "replies.delay_minutes: "),
        ("replies: {probability: 7}", "replies.probability: "),
        ("replies: {texts: ok}", "replies.texts: "),
        ("- a", "a person must be a mapping"),
        ("", "a person must be a mapping"),
        ("a: [", "line 1"),
    ],
)
def test_a_broken_file_names_line_and_field(text: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "me.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=re.escape(says)):
        load_person(str(file))


def test_hours_may_go_over_midnight() -> None:
    late = Reaction("awake", 5, 22, 4)
    assert [hour for hour in range(24) if late.comes_at(hour)] == [0, 1, 2, 3, 22, 23]


def test_a_mood_changes_how_they_answer_at_its_hours_and_to_its_topics() -> None:
    replies = Replies(
        0.5, texts=("ok",), moods=(Mood(0.9, topics=("bedtime",), texts=("night",)), Mood(0.1, 22, 6, (0, 1)))
    )
    monday_night, wednesday_noon = datetime(2026, 2, 16, 23, tzinfo=TORONTO), datetime(2026, 2, 18, 12, tzinfo=TORONTO)
    assert replies.to("morning", wednesday_noon) == (0.5, ("ok",))
    assert replies.to("morning", monday_night) == (0.1, ("ok",))
    assert replies.to("bedtime", monday_night) == (0.9, ("night",))


def test_a_traveller_lives_by_the_clock_of_where_they_are() -> None:
    traveller = Profile("t", stays=(Stay(3, "Asia/Tokyo"), Stay(5, "America/Toronto")))
    zones = [str(traveller.zone_on(number, TORONTO)) for number in range(1, 7)]
    assert zones == ["America/Toronto"] * 2 + ["Asia/Tokyo"] * 2 + ["America/Toronto"] * 2


def test_a_stay_in_no_zone_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "me.yaml"
    file.write_text("stays:\n  - {day: 2, timezone: Nowhere/Land}\n")
    with pytest.raises(ConfigError, match="Nowhere/Land"):
        load_person(str(file))
