"""Which person is simulated: one of those that are shipped, one of the home's, or a file that was named."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from nudge.errors import NotFoundError
from nudge.home.folder import Home
from nudge.home.yaml_files import checked, read_mapping
from nudge.simulation.person import Profile, Reaction, Replies

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


class Answers(_Part):
    probability: Share = 0.5
    delay_minutes: tuple[Delay, Delay] = (1, 30)
    texts: tuple[str, ...] = ("ok",)
    bedtime: tuple[str, ...] = ()


class PersonFile(_Part):
    """A person as a file says it. `talks` and `reactions` work alike; one is what they come to talk about, the other
    how they take being disturbed."""

    name: str = Field("", max_length=80)
    description: str = ""
    wakes: TimeOfDay = 8 * 60
    sleeps: TimeOfDay = 23 * 60
    jitter_minutes: int = Field(20, ge=0, le=180)
    signals_per_hour: float = Field(1.0, ge=0, le=60)
    talks: tuple[Habit, ...] = ()
    reactions: tuple[Habit, ...] = ()
    replies: Answers = Answers()

    def profile(self, otherwise: str) -> Profile:
        """The habits; `otherwise` is the name of somebody whose file names nobody."""
        answers = self.replies
        return Profile(
            self.name or otherwise,
            self.description,
            self.wakes,
            self.sleeps,
            self.jitter_minutes,
            self.signals_per_hour,
            tuple(habit.reaction() for habit in (*self.talks, *self.reactions)),
            Replies(answers.probability, answers.delay_minutes, answers.texts, answers.bedtime),
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
