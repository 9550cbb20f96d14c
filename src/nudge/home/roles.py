"""Roles: the YAML files that agents are started from."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from nudge.errors import ConfigError, NotFoundError
from nudge.home.folder import Home
from nudge.home.private_files import read_trusted
from nudge.home.yaml_files import checked, read_mapping


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RoleSchedule(_Part):
    """Exactly one of these; the schedule library checks which."""

    at: str | None = None
    in_: str | None = Field(None, alias="in")
    every: str | None = None
    rrule: str | None = None
    cron: str | None = None
    idle: str | None = None
    tz: str | None = None
    count: int | None = Field(None, ge=1)
    until: str | None = None

    @field_validator("at", "until", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        """YAML reads 2026-03-01 as a date, and the schedule library reads text."""
        return value.isoformat() if isinstance(value, date) else value


class RoleCondition(_Part):
    command: str | None = None
    prompt: str | None = None
    mode: Literal["each", "until", "once"] = "each"
    timeout: str | None = None


class RoleReminder(_Part):
    name: str = Field(min_length=1)
    message: str = Field(min_length=1)
    schedule: RoleSchedule
    priority: Literal["interrupt", "normal", "idle"] = "idle"
    condition: RoleCondition | None = None
    to_person: bool = False
    late: str | None = None
    chain: int | None = Field(None, ge=1)


class Role(_Part):
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")
    description: str = ""
    instructions: str = ""
    kind: Literal["coach", "worker"] = "worker"
    reminders: tuple[RoleReminder, ...] = ()

    @field_validator("reminders", mode="before")
    @classmethod
    def _none_yet(cls, value: Any) -> Any:
        """A list with nothing in it yet is nothing to YAML."""
        return () if value is None else value


def load_role(path: Path) -> Role:
    """Read and check one role. An error names file, line and field."""
    try:
        text = read_trusted(path, folders=2)
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: {error.strerror}.", next_step="Check the file.") from None
    return checked(Role, read_mapping(text, str(path), what="a role", starts="name: …"), str(path))


def role_path(home: Home, name: str) -> Path:
    path = home.roles / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in home.roles.glob("*.yaml"))) or "none"
        raise NotFoundError(
            f"There is no role {name!r} in {home.roles}.", next_step=f"Known roles: {known}. Write {path.name} there."
        )
    return path
