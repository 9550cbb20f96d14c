"""A simulated person: when they are awake, what they say, how they answer, and where they are described."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, tzinfo
from importlib import resources
from pathlib import Path
from random import Random
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from nudge.errors import NotFoundError, NudgeError
from nudge.home.folder import Home
from nudge.home.yaml_files import checked, read_mapping
from nudge.instants import MINUTE, Instant, from_local, to_datetime, zone_of

PING = "/ping"
YES_OR_NO = "Please answer yes or no."


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
        return _is_between(hour, self.from_hour, self.to_hour)


def _is_between(hour: int, start: int, end: int) -> bool:
    return hour >= start or hour < end if start > end else start <= hour < end


@dataclass(frozen=True, slots=True)
class Mood:
    """How they answer between two hours of their clock, or to a topic (`morning`, `bedtime`, `heartbeat`, …): with
    another probability and, where `texts` has some, in other words."""

    probability: float
    from_hour: int = 0
    to_hour: int = 24
    weekdays: tuple[int, ...] = (0, 1, 2, 3, 4, 5, 6)
    topics: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    def holds(self, topic: str, local: datetime) -> bool:
        fits = not self.topics or topic in self.topics
        return fits and local.weekday() in self.weekdays and _is_between(local.hour, self.from_hour, self.to_hour)


@dataclass(frozen=True, slots=True)
class Replies:
    """How they answer: to so much of what reaches them, after so many minutes, with one of these texts.

    The first of the `moods` that holds counts instead. `unwelcome` are those of their texts that mean they would rather
    not have been disturbed. `to_questions` answers what asks for a yes or no.
    """

    probability: float = 0.5
    delay_minutes: tuple[int, int] = (1, 30)
    texts: tuple[str, ...] = ("ok",)
    bedtime: tuple[str, ...] = ()
    moods: tuple[Mood, ...] = ()
    unwelcome: tuple[str, ...] = ()
    to_questions: tuple[str, ...] = ("yes",)

    def to(self, topic: str, local: datetime) -> tuple[float, tuple[str, ...]]:
        """How likely they answer, and with what."""
        texts = self.bedtime if topic == "bedtime" and self.bedtime else self.texts
        for mood in self.moods:
            if mood.holds(topic, local):
                return mood.probability, mood.texts or texts
        return self.probability, texts


@dataclass(frozen=True, slots=True)
class Stay:
    """From day `day` of the simulation on (the first is 1) they live by the clock of another zone. With `say`, that is
    what they write when they have arrived."""

    day: int
    timezone: str
    say: str = ""


TASKS = (
    Reaction("Fix the newest bug report.", 3.0, 9, 18),
    Reaction("Bring the documentation up to date.", 1.0, 9, 18),
)
"""What a person hands over whose file names no tasks."""


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
    stays: tuple[Stay, ...] = ()
    tasks: tuple[Reaction, ...] = TASKS
    """What they hand to an agent that works."""

    def zone_on(self, number: int, home: tzinfo) -> tzinfo:
        """Whose clock they live by on a day of the simulation, counted from 1."""
        zone = home
        for stay in self.stays:
            if stay.day <= number:
                zone = zone_of(stay.timezone)
        return zone


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
    acts += _drawn(random, profile.reactions, day, zone, (awake, asleep))
    return sorted(acts, key=lambda act: (act.at, act.text))


def tasks_of(profile: Profile, day: date, zone: tzinfo, seed: int) -> list[Act]:
    """What they hand to a worker on that day, in order."""
    random = Random(f"{seed}:{profile.name}:{day.isoformat()}:tasks")
    acts = _drawn(random, profile.tasks, day, zone, waking_hours(profile, day, zone, seed))
    return sorted(acts, key=lambda act: (act.at, act.text))


def _drawn(
    random: Random, reactions: tuple[Reaction, ...], day: date, zone: tzinfo, span: tuple[Instant, Instant]
) -> list[Act]:
    return [
        Act(at, reaction.say)
        for reaction in reactions
        if day.weekday() in reaction.weekdays
        for at in _moments(random, *span, reaction.per_day)
        if reaction.comes_at(to_datetime(at, zone).hour)
    ]


def waking_hours(profile: Profile, day: date, zone: tzinfo, seed: int) -> tuple[Instant, Instant]:
    random = Random(f"{seed}:{profile.name}:{day.isoformat()}:sleep")
    jitter = profile.jitter_minutes
    wakes = profile.wakes + random.randint(-jitter, jitter)
    sleeps = profile.sleeps + random.randint(-jitter, jitter) + (24 * 60 if profile.sleeps <= profile.wakes else 0)
    return _at(day, wakes, zone), _at(day, sleeps, zone)


def answer_to(profile: Profile, text: str, topic: str, at: Instant, zone: tzinfo, seed: int) -> Act | None:
    """Their answer to a message that reached them, or None. They do not answer while they sleep. It follows from the
    time on their clock, so that a life is the same in every zone."""
    local = to_datetime(at, zone)
    random = Random(f"{seed}:{profile.name}:{local:%Y-%m-%dT%H:%M:%S.%f}:{topic}")
    probability, texts = profile.replies.to(topic, local)
    if text.endswith(YES_OR_NO):
        texts = profile.replies.to_questions
    if random.random() >= probability:
        return None
    low, high = profile.replies.delay_minutes
    then = Instant(at + random.randint(low * 60, max(low, high) * 60) * 1_000_000)
    if not is_awake(profile, then, zone, seed):
        return None
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


DEFAULT = "night-owl"


def _minutes(text: object) -> int:
    match = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", str(text).strip())
    if match is None:
        raise ValueError(f'{text!r} is not a time of day like "07:30"')
    return int(match[1]) * 60 + int(match[2])


TimeOfDay = Annotated[int, BeforeValidator(_minutes)]
Share = Annotated[float, Field(ge=0, le=1)]
Hour = Annotated[int, Field(ge=0, le=24)]
Weekday = Annotated[int, Field(ge=0, le=6)]
Delay = Annotated[int, Field(ge=0, le=24 * 60)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Habit(_Part):
    say: str = Field(min_length=1, max_length=4096)
    per_day: float = Field(ge=0, le=500)
    hours: tuple[Hour, Hour] = (0, 24)
    weekdays: tuple[Weekday, ...] = (0, 1, 2, 3, 4, 5, 6)

    def reaction(self) -> Reaction:
        return Reaction(self.say, self.per_day, *self.hours, self.weekdays)


class MoodFile(_Part):
    probability: Share
    hours: tuple[Hour, Hour] = (0, 24)
    weekdays: tuple[Weekday, ...] = (0, 1, 2, 3, 4, 5, 6)
    topics: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    def mood(self) -> Mood:
        return Mood(self.probability, *self.hours, self.weekdays, self.topics, self.texts)


class Answers(_Part):
    probability: Share = 0.5
    delay_minutes: tuple[Delay, Delay] = (1, 30)
    texts: tuple[str, ...] = ("ok",)
    bedtime: tuple[str, ...] = ()
    moods: tuple[MoodFile, ...] = ()
    unwelcome: tuple[str, ...] = ()
    to_questions: tuple[str, ...] = ("yes",)

    def replies(self) -> Replies:
        moods = tuple(mood.mood() for mood in self.moods)
        return Replies(
            self.probability, self.delay_minutes, self.texts, self.bedtime, moods, self.unwelcome, self.to_questions
        )


def _zone_name(text: object) -> str:
    try:
        return zone_of(str(text)).key
    except NudgeError as error:
        raise ValueError(error.message) from None


class StayFile(_Part):
    day: int = Field(ge=1)
    timezone: Annotated[str, BeforeValidator(_zone_name)]
    say: str = ""


class PersonFile(_Part):
    """A person as a file says it. `talks` and `reactions` work the same way; one is what they come to talk about, the
    other
    how they take being disturbed. `tasks` are for an agent that works."""

    name: str = Field("", max_length=80)
    description: str = ""
    wakes: TimeOfDay = 8 * 60
    sleeps: TimeOfDay = 23 * 60
    jitter_minutes: int = Field(20, ge=0, le=180)
    signals_per_hour: float = Field(1.0, ge=0, le=60)
    talks: tuple[Habit, ...] = ()
    reactions: tuple[Habit, ...] = ()
    replies: Answers = Answers()
    stays: tuple[StayFile, ...] = ()
    tasks: tuple[Habit, ...] | None = None

    def profile(self, otherwise: str) -> Profile:
        """The habits; `otherwise` is the name of somebody whose file names nobody."""
        return Profile(
            self.name or otherwise,
            self.description,
            self.wakes,
            self.sleeps,
            self.jitter_minutes,
            self.signals_per_hour,
            tuple(habit.reaction() for habit in (*self.talks, *self.reactions)),
            self.replies.replies(),
            tuple(Stay(stay.day, stay.timezone, stay.say) for stay in sorted(self.stays, key=lambda stay: stay.day)),
            TASKS if self.tasks is None else tuple(habit.reaction() for habit in self.tasks),
        )


def load_person(name: str, home: Home | None = None) -> Profile:
    """By name (`persons/NAME.yaml` of the home first, then the shipped ones) or by the path of a YAML file."""
    path = Path(name)
    if path.suffix in (".yaml", ".yml"):
        if not path.is_file():
            raise NotFoundError(f"There is no file {name}.", next_step=f"Shipped persons: {', '.join(shipped())}.")
        return _read(path.read_text(encoding="utf-8"), name)
    own = None if home is None else home.path / "persons" / f"{name}.yaml"
    if own is not None and own.is_file():
        return _read(own.read_text(encoding="utf-8"), str(own))
    if name not in shipped():
        raise NotFoundError(
            f"There is no person called {name!r}.",
            next_step=f"Shipped: {', '.join(shipped())}. Your own is a file: --person me.yaml.",
        )
    text = (resources.files("nudge.simulation") / "people" / f"{name}.yaml").read_text(encoding="utf-8")
    return _read(text, f"{name}.yaml")


def shipped() -> list[str]:
    files = (resources.files("nudge.simulation") / "people").iterdir()
    return sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml"))


def _read(text: str, where: str) -> Profile:
    document = read_mapping(text, where, what="a person", starts='wakes: "08:00"')
    return checked(PersonFile, document, where).profile(Path(where).stem)
