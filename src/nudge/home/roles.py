"""Roles: the YAML files that agents are started from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from nudge.durations import parse_duration
from nudge.errors import ConfigError, NotFoundError, NudgeError
from nudge.home.folder import Home
from nudge.home.private_files import State, read_trusted, state_of
from nudge.home.yaml_files import checked, line_of, read_mapping
from nudge.reminders.definition import Definition, check_shape
from nudge.reminders.fields import FieldError
from nudge.spending.money import parse_money
from nudge.worker.command_rules import TIME_LIMIT, Command, command_words


@dataclass(frozen=True, slots=True)
class RoleReminder:
    """One reminder of a role: what it asks for, and the line on which it begins."""

    name: str
    definition: Definition
    line: int


BUILT_IN = "worker"
"""The word in `run` that stands for nudge's own worker."""


@dataclass(frozen=True, slots=True)
class Role:
    """`run` says who does the work of an agent that is no coach: nudge's own worker, a command, or nobody (then
    letters wait in its inbox). `sandbox` is "none" where the built-in worker's commands may reach everything. The
    next fields are about one run of a command: how long it may take, what it may cost, and whether nudge's own keys
    pay for it. `repeats` is what the gateway does about a run that repeats itself; empty is what nudge.toml says."""

    name: str
    description: str
    instructions: str
    kind: Literal["coach", "worker"]
    reminders: tuple[RoleReminder, ...]
    run: str = ""
    sandbox: str = "auto"
    time_limit: str = ""
    budget: str = ""
    own_key: bool = False
    repeats: str = ""

    @property
    def works(self) -> bool:
        """Whether nudge's own worker does its work."""
        return self.kind == "worker" and self.run == BUILT_IN

    @property
    def command(self) -> Command | None:
        """The program that does its work, where a program does."""
        if self.kind != "worker" or self.run in ("", BUILT_IN):
            return None
        return Command(
            command_words(self.run),
            parse_duration(self.time_limit) if self.time_limit else TIME_LIMIT,
            int(parse_money(self.budget)) if self.budget else None,
            self.own_key,
        )


class _File(BaseModel):
    """The fields of a role's file. Those of its reminders are the fields of every reminder."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")
    description: str = ""
    instructions: str = ""
    kind: Literal["coach", "worker"] = "worker"
    run: str = ""
    reminders: tuple[Any, ...] = ()
    sandbox: Literal["auto", "bubblewrap", "landlock", "sandbox-exec", "none"] = "auto"
    time_limit: str = ""
    budget: str = ""
    own_key: bool = False
    repeats: Literal["", "off", "observe", "refuse"] = ""

    @field_validator("budget", mode="before")
    @classmethod
    def _dollars(cls, value: Any) -> Any:
        """YAML reads 2.00 as a number."""
        return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value

    @field_validator("run", "time_limit", "budget")
    @classmethod
    def _readable(cls, value: str, info: ValidationInfo) -> str:
        value = value.strip()
        read: dict[str, Callable[[str], object]] = {
            "run": command_words,
            "time_limit": parse_duration,
            "budget": parse_money,
        }
        try:
            if value:
                read[info.field_name or ""](value)
        except NudgeError as error:
            raise ValueError(error.message.rstrip(".")) from None
        return value

    @field_validator("reminders", mode="before")
    @classmethod
    def _none_yet(cls, value: Any) -> Any:
        """A list with nothing in it yet is nothing to YAML."""
        return () if value is None else value


def load_role(path: Path) -> Role:
    """Read and check one role. An error names file, line and field."""
    state = state_of(path, folders=2)
    return _read(path) if state is None else _kept(path, state)


@lru_cache(maxsize=32)
def _kept(path: Path, state: State) -> Role:
    """Every letter asks whose role is a coach's: a file is read again only after it changed."""
    return _read(path)


def _read(path: Path) -> Role:
    try:
        text = read_trusted(path, folders=2)
    except FileNotFoundError as error:
        raise ConfigError(f"Cannot read {path}: {error.strerror}.", next_step="Check the file.") from None
    return parse_role(text, str(path))


def parse_role(text: str, where: str) -> Role:
    document = read_mapping(text, where, what="a role", starts="name: …")
    file = checked(_File, document, where)
    reminders = tuple(_reminder(document, number, where) for number in range(len(file.reminders)))
    return Role(
        file.name,
        file.description,
        file.instructions,
        file.kind,
        reminders,
        file.run,
        file.sandbox,
        file.time_limit,
        file.budget,
        file.own_key,
        file.repeats,
    )


def _reminder(document: Any, number: int, where: str) -> RoleReminder:
    definition = read_definition(document, ("reminders", number), where, required=("name",))
    line = line_of(document, ("reminders", number))
    return RoleReminder(definition["name"].strip(), definition, line)


def read_definition(
    document: Any, place: tuple[int | str, ...], where: str, *, required: tuple[str, ...] = (), **more: str
) -> Definition:
    """The definition that stands at a place of a document, with `more` added to it. An error names the line."""
    found = document
    for part in place:
        found = found[part]
    try:
        if not isinstance(found, Mapping):
            raise FieldError((), message="A reminder must have fields, such as name, message and schedule.")
        definition = {**{str(name): _plain(value) for name, value in found.items()}, **more}
        for name in required:
            if not definition.get(name):
                raise FieldError((name,), "is missing", next_step="Add it.")
        check_shape(definition)
    except FieldError as error:
        line = line_of(document, (*place, *error.path))
        raise ConfigError(f"{where}, line {line}: {error.message}", next_step=error.next_step) from None
    return definition


def _plain(value: Any) -> Any:
    """A value of YAML as JSON has it. YAML reads 2026-03-01 as a date, and schedules are read from text."""
    if isinstance(value, Mapping):
        return {str(name): one.isoformat() if isinstance(one, date) else one for name, one in value.items()}
    return value.isoformat() if isinstance(value, date) else value


def find_role(home: Home, name: str) -> Role | None:
    """The role of that name; None if it is missing or broken. `nudge doctor` says what is wrong with it."""
    try:
        return load_role(role_path(home, name))
    except NudgeError:
        return None


def role_path(home: Home, name: str) -> Path:
    path = home.roles / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in home.roles.glob("*.yaml"))) or "none"
        raise NotFoundError(
            f"There is no role {name!r} in {home.roles}.",
            next_step=f"Roles there: {known}. To add it, write {path.name}.",
        )
    return path
