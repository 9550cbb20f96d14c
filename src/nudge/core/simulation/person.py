"""A simulated person: when they are awake, when their phone gives a sign, what they say, and how they answer.

Everything they do follows from a seed and the calendar day, so that the same seed gives the same life, and a longer
simulation begins with the same days as a shorter one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, tzinfo
from random import Random
from typing import Any

from nudge.core.instants import MINUTE, Instant, from_local, to_datetime
from nudge.errors import UsageError

PING = "/ping"
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_FIELDS = (
    "name",
    "description",
    "wakes",
    "sleeps",
    "jitter_minutes",
    "signals_per_hour",
    "talks",
    "reactions",
    "replies",
)


@dataclass(frozen=True, slots=True)
class Reaction:
    """Something they say by themselves, so many times a day on average, between two hours of their clock."""

    say: str
    per_day: float
    from_hour: int = 0
    to_hour: int = 24
    weekdays: tuple[int, ...] = (0, 1, 2, 3, 4, 5, 6)


@dataclass(frozen=True, slots=True)
class Replies:
    """How they answer: to so much of what reaches them, after so many minutes, with one of these texts."""

    probability: float = 0.5
    delay_minutes: tuple[int, int] = (1, 30)
    texts: tuple[str, ...] = ("ok",)
    bedtime: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    """A person's habits. `wakes` and `sleeps` are minutes after local midnight; sleeping past midnight is fine."""

    name: str
    description: str = ""
    wakes: int = 8 * 60
    sleeps: int = 23 * 60
    jitter_minutes: int = 20
    signals_per_hour: float = 1.0
    reactions: tuple[Reaction, ...] = ()
    replies: Replies = field(default_factory=Replies)

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Profile:
        """The profile a YAML file says; a usage error names the field."""
        unknown = sorted(set(data) - set(_FIELDS))
        if unknown:
            raise UsageError(f"A person has no field {unknown[0]!r}.", next_step=f"Fields: {', '.join(_FIELDS)}.")
        reactions = [_reaction(one) for one in (*data.get("talks", ()), *data.get("reactions", ()))]
        replies = data.get("replies", {})
        low, high = replies.get("delay_minutes", (1, 30))
        return cls(
            name=str(data.get("name", "")),
            description=str(data.get("description", "")),
            wakes=_minutes(data.get("wakes", "08:00")),
            sleeps=_minutes(data.get("sleeps", "23:00")),
            jitter_minutes=int(data.get("jitter_minutes", 20)),
            signals_per_hour=float(data.get("signals_per_hour", 1.0)),
            reactions=tuple(reactions),
            replies=Replies(
                float(replies.get("probability", 0.5)),
                (int(low), int(high)),
                tuple(str(text) for text in replies.get("texts", ("ok",))),
                tuple(str(text) for text in replies.get("bedtime", ())),
            ),
        )


@dataclass(frozen=True, slots=True)
class Act:
    """They do something: `/ping` is their phone, everything else they write."""

    at: Instant
    text: str


def day_of(profile: Profile, day: date, zone: tzinfo, seed: int) -> list[Act]:
    """What they do on the day that begins when they wake up, in order."""
    random = Random(f"{seed}:{profile.name}:{day.isoformat()}")
    awake, asleep = waking_hours(profile, day, zone, seed)
    acts = [
        Act(at, PING)
        for at in _moments(random, awake, asleep, profile.signals_per_hour * (asleep - awake) / (60 * MINUTE))
    ]
    for reaction in profile.reactions:
        if day.weekday() not in reaction.weekdays:
            continue
        acts += [
            Act(at, reaction.say)
            for at in _moments(random, awake, asleep, reaction.per_day)
            if reaction.from_hour <= to_datetime(at, zone).hour < reaction.to_hour
        ]
    return sorted(acts, key=lambda act: (act.at, act.text))


def waking_hours(profile: Profile, day: date, zone: tzinfo, seed: int) -> tuple[Instant, Instant]:
    random = Random(f"{seed}:{profile.name}:{day.isoformat()}:sleep")
    jitter = profile.jitter_minutes
    wakes = profile.wakes + random.randint(-jitter, jitter)
    sleeps = profile.sleeps + random.randint(-jitter, jitter) + (24 * 60 if profile.sleeps <= profile.wakes else 0)
    return _at(day, wakes, zone), _at(day, sleeps, zone)


def answer_to(profile: Profile, text: str, kind: str, at: Instant, zone: tzinfo, seed: int) -> Act | None:
    """Their answer to a message that reached them, or None. They do not answer while they sleep. It follows from the
    time on their clock, so that a life is the same in every zone."""
    random = Random(f"{seed}:{profile.name}:{to_datetime(at, zone):%Y-%m-%dT%H:%M:%S.%f}:{kind}")
    if random.random() >= profile.replies.probability:
        return None
    low, high = profile.replies.delay_minutes
    then = Instant(at + random.randint(low * 60, max(low, high) * 60) * 1_000_000)
    if not is_awake(profile, then, zone, seed):
        return None
    texts = profile.replies.bedtime if kind == "bedtime" and profile.replies.bedtime else profile.replies.texts
    return Act(then, random.choice(texts)) if texts else None


def is_awake(profile: Profile, at: Instant, zone: tzinfo, seed: int) -> bool:
    today = to_datetime(at, zone).date()
    for day in (today - timedelta(days=1), today):
        awake, asleep = waking_hours(profile, day, zone, seed)
        if awake <= at < asleep:
            return True
    return False


def _moments(random: Random, start: Instant, end: Instant, mean: float) -> list[Instant]:
    """Random moments between two instants, `mean` of them on average (whole seconds)."""
    moments: list[Instant] = []
    if mean <= 0 or end <= start:
        return moments
    at = float(start)
    while True:
        at += random.expovariate(mean / (end - start))
        if at >= end:
            return moments
        moments.append(Instant(int(at) // 1_000_000 * 1_000_000))


def _at(day: date, minutes: int, zone: tzinfo) -> Instant:
    wall = datetime.combine(day, time(0, 0)) + timedelta(minutes=minutes)
    return from_local(wall, zone)


def _minutes(value: object) -> int:
    match = _CLOCK.fullmatch(str(value).strip())
    if match is None:
        raise UsageError(f"{value!r} is not a time of day.", next_step='Write it like "07:30".')
    return int(match[1]) * 60 + int(match[2])


def _reaction(data: Mapping[str, Any]) -> Reaction:
    try:
        hours: Sequence[int] = data.get("hours", (0, 24))
        weekdays = tuple(int(day) for day in data.get("weekdays", range(7)))
        return Reaction(str(data["say"]), float(data["per_day"]), int(hours[0]), int(hours[1]), weekdays)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise UsageError(
            f"A reaction of the person cannot be read: {dict(data)!r}.",
            next_step="Write it like {say: busy, per_day: 0.5, hours: [9, 17]}.",
        ) from error
