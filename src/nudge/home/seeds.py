"""What the files of a home ask for: the reminders of each agent's role, and its routines."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from hashlib import blake2s
from pathlib import Path

from nudge.errors import ConfigError, NudgeError
from nudge.home.folder import Home
from nudge.home.roles import load_role, role_path
from nudge.home.routines import read_routine, routine_files
from nudge.instants import Instant
from nudge.queue.agents import Agent
from nudge.reminders.definition import make_reminder
from nudge.reminders.reminder import Source
from nudge.reminders.seeding import FileReminder, Problem, Wanted


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
        asked = (FileReminder(one.name, one.definition, f"{where}, reminder {one.name}") for one in role.reminders)
        return Wanted(Source.ROLE, where, tuple(asked))

    def mistakes_of_role(self, file: Path, now: Instant, zone: str) -> Iterator[ConfigError]:
        """What is wrong with one role: the file itself, or those of its reminders that cannot be made."""
        try:
            role = load_role(file)
        except ConfigError as error:
            yield error
            return
        names: set[str] = set()
        for one in role.reminders:
            where = f"{file}, line {one.line}: {one.name}"
            if one.name in names:
                yield ConfigError(f"{where} is used for two reminders.", next_step="Rename one of them.")
            names.add(one.name)
            try:
                make_reminder(one.definition, agent=file.stem, now=now, zone=zone, source=Source.ROLE)
            except NudgeError as error:
                yield ConfigError(f"{where}: {error.message}", next_step=error.next_step)

    def of_routines(self, agent: Agent) -> Wanted:
        asked: list[FileReminder] = []
        problems: list[Problem] = []
        for file in routine_files(self._folder(agent)):
            ref = f"routines/{file.name}"
            try:
                asked.append(read_routine(file, ref))
            except NudgeError as error:
                problems.append(Problem(str(error), _version(file), ref))
        return Wanted(Source.FILE, f"{agent.name}'s routines", tuple(asked), tuple(problems))

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
    """The same as long as the content is: saving a broken file again is no news."""
    try:
        return blake2s(file.read_bytes(), digest_size=8).hexdigest()
    except OSError:
        return ""
