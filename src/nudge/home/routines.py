"""Routines: `agents/NAME/routines/*.md`. The front matter says when; the text below it is what the agent gets."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from nudge.errors import ConfigError
from nudge.home.private_files import read_trusted
from nudge.home.roles import RoleCondition, RoleSchedule
from nudge.home.yaml_files import checked, read_mapping
from nudge.reminders.spec import ReminderSpec

_FENCE = re.compile(r"---[ \t]*\r?\n(?P<matter>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_EXAMPLE = "Start it with '---', 'schedule:', '  cron: \"0 18 * * *\"', '---', then the text."


class Routine(BaseModel):
    """The front matter. Without a name it is the file's."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schedule: RoleSchedule
    name: str | None = Field(None, min_length=1)
    description: str = ""
    allow_ping: bool = True
    reserve: bool = False
    critical: bool = False
    condition: RoleCondition | None = None
    late: str | None = None
    chain: int | None = Field(None, ge=1)
    priority: Literal["interrupt", "normal", "idle"] = "idle"
    to_person: bool = False


def routine_files(folder: Path) -> list[Path]:
    """In order of their names. Hidden files, as editors leave them, are none."""
    try:
        return sorted(file for file in folder.iterdir() if file.suffix == ".md" and not file.name.startswith("."))
    except OSError:
        return []


def read_routine(path: Path, ref: str) -> ReminderSpec:
    """One routine. An error names the file, the line and the field."""
    try:
        text = read_trusted(path, folders=4)
    except FileNotFoundError as error:
        raise ConfigError(f"{ref}: {error.strerror}.", next_step="Check the file.") from None
    match = _FENCE.match(text)
    if match is None:
        raise ConfigError(f"{ref} has no front matter.", next_step=_EXAMPLE)
    matter = "\n" + match["matter"]  # the fence is the first line of the file
    routine = checked(Routine, read_mapping(matter, ref, what="the front matter", starts="schedule:"), ref)
    body = text[match.end() :].strip()
    if not body:
        raise ConfigError(f"{ref} says nothing below its front matter.", next_step="Write there what is to be done.")
    return _spec(routine, body, routine.name or path.stem, ref)


def _spec(routine: Routine, body: str, name: str, ref: str) -> ReminderSpec:
    return ReminderSpec(
        message=body,
        name=name,
        description=routine.description,
        priority=routine.priority,
        to_person=routine.to_person,
        late=routine.late,
        chain=routine.chain,
        allow_ping=routine.allow_ping,
        reserve=routine.reserve,
        critical=routine.critical,
        ref=ref,
        **timing_fields(routine.schedule),
        **condition_fields(routine.condition),
    )


def timing_fields(schedule: RoleSchedule) -> dict[str, Any]:
    return {name: getattr(schedule, name) for name in RoleSchedule.model_fields}


def condition_fields(condition: RoleCondition | None) -> dict[str, Any]:
    if condition is None:
        return {}
    return {name: getattr(condition, name) for name in RoleCondition.model_fields}
