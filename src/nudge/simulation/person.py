"""A simulated person: when they are awake, when their phone gives a sign, what they say, and how they answer.

Everything they do follows from a seed and the calendar day, so that the same seed gives the same life, and a longer
simulation begins with the same days as a shorter one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, tzinfo
from random import Random

from nudge.instants import MINUTE, Instant, from_local, to_datetime

PING = "/ping"


@dataclass(frozen=True, slots=True)
class Reaction:
    """Something they say by themselves, so many times a day on average, between two hours of their clock."""

    say: str
    per_day: float
    from_hour: int = 0
    to_hour: int = 24
    weekdays: tuple[int, ...] = (0, 1, 2, 3, 4, 5, 6)

    def comes_at(self, hour: int) -> bool:
        """Whether it is said in this hour; 22 to 4 is over midnight."""
        if self.from_hour > self.to_hour:
            return hour >= self.from_hour or hour < self.to_hour
        return self.from_hour <= hour < self.to_hour


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
            if reaction.comes_at(to_datetime(at, zone).hour)
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
