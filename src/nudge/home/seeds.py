"""What the files of a home ask for: the reminders of each agent's role, and its routines."""

from __future__ import annotations

from collections.abc import Hashable
from hashlib import blake2s
from pathlib import Path

from nudge.errors import ConfigError, NudgeError
from nudge.home.folder import Home
from nudge.home.roles import RoleReminder, load_role, role_path
from nudge.home.routines import condition_fields, read_routine, routine_files, timing_fields
from nudge.instants import Instant
from nudge.queue.agents import Agent
from nudge.reminders.reminder import Source
from nudge.reminders.seeding import Problem, Wanted
from nudge.reminders.spec import ReminderSpec, make_reminder


class HomeSeeds:
    def __init__(self, home: Home) -> None:
        self._home = home

    def of_role(self, agent: Agent) -> Wanted:
        where = f"the role {agent.role}"
        try:
            path = role_path(self._home, agent.role)
            role = load_role(path)
        except NudgeError as error:
            version = _version(self._home.roles / f"{agent.role}.yaml")
            return Wanted(Source.ROLE, where, problems=(Problem(str(error), version),), readable=False)
        return Wanted(Source.ROLE, where, tuple(_spec(one) for one in role.reminders))

    def check_role(self, file: Path, now: Instant, zone: str) -> None:
        """Read one role and make each of its reminders. The first mistake is raised."""
        names: set[str] = set()
        for one in load_role(file).reminders:
            where = f"{file}, reminder {one.name}"
            if one.name in names:
                raise ConfigError(f"{where}: two have this name.", next_step="Rename one of them.")
            names.add(one.name)
            try:
                make_reminder(
                    _spec(one), reminder_id="r-000000", agent=file.stem, now=now, zone=zone, source=Source.ROLE
                )
            except NudgeError as error:
                raise ConfigError(f"{where}: {error.message}", next_step=error.next_step) from None

    def of_routines(self, agent: Agent) -> Wanted:
        specs: list[ReminderSpec] = []
        problems: list[Problem] = []
        for file in routine_files(self._folder(agent)):
            ref = f"routines/{file.name}"
            try:
                specs.append(read_routine(file, ref))
            except NudgeError as error:
                problems.append(Problem(str(error), _version(file), ref))
        return Wanted(Source.FILE, f"{agent.name}'s routines", tuple(specs), tuple(problems))

    def stamp(self, agent: Agent) -> Hashable:
        return tuple((file.name, _stamp(file)) for file in routine_files(self._folder(agent)))

    def _folder(self, agent: Agent) -> Path:
        return self._home.agent(agent.name) / "routines"


def _stamp(file: Path) -> str:
    """Changes with every edit; the size as well, for a file system whose clock is coarse."""
    try:
        status = file.stat()
    except OSError:
        return ""
    return f"{status.st_mtime_ns}:{status.st_size}:{status.st_ino}"


def _version(file: Path) -> str:
    """The same as long as the content is: saving a broken file once more is no news."""
    try:
        return blake2s(file.read_bytes(), digest_size=8).hexdigest()
    except OSError:
        return ""


def _spec(reminder: RoleReminder) -> ReminderSpec:
    return ReminderSpec(
        message=reminder.message,
        name=reminder.name,
        priority=reminder.priority,
        to_person=reminder.to_person,
        late=reminder.late,
        chain=reminder.chain,
        **timing_fields(reminder.schedule),
        **condition_fields(reminder.condition),
    )
