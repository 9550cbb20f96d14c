"""Roles: the YAML files that agents are started from."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from nudge.adapters.home import Home
from nudge.errors import ConfigError, NotFoundError


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


def load_role(path: Path) -> Role:
    """Read and check one role. An error names file, line and field."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        with path.open(encoding="utf-8") as file:
            document: Any = YAML(typ="rt").load(file)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise ConfigError(f"{path}, line {line}: {error.problem}.", next_step="Mend the YAML there.") from None
    except RecursionError:
        raise ConfigError(f"{path} is nested too deeply.", next_step="Check the file.") from None
    except (YAMLError, ValueError, OSError) as error:  # a date that is none is a ValueError
        raise ConfigError(f"{path} cannot be read: {error}.", next_step="Check the file.") from None
    if not isinstance(document, dict):
        raise ConfigError(f"{path}: a role is a mapping with a name.", next_step="Start it with 'name: …'.")
    try:
        return Role.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        line = _line_of(document, first["loc"])
        field = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{path}, line {line}: {field}: {first['msg']}.", next_step="Mend that field.") from None


def _line_of(document: Any, location: tuple[int | str, ...]) -> int:
    """Where in the file the field stands, or where the mapping stands that lacks it."""
    position: Any = document
    line: int = position.lc.line
    for part in location:
        try:
            line = position.lc.key(part)[0] if isinstance(part, str) else position.lc.item(part)[0]
            position = position[part]
        except (KeyError, IndexError, AttributeError, TypeError):
            break
    return line + 1


def role_path(home: Home, name: str) -> Path:
    path = home.roles / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in home.roles.glob("*.yaml"))) or "none"
        raise NotFoundError(
            f"There is no role {name!r} in {home.roles}.", next_step=f"Known roles: {known}. Write {path.name} there."
        )
    return path


def load_roles(home: Home) -> dict[str, Role]:
    """All roles of a home by the name of their file."""
    return {file.stem: load_role(file) for file in sorted(home.roles.glob("*.yaml"))}
