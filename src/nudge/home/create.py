"""Make a home: its folders, and the templates of what people write."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

from nudge.errors import ConfigError, NotConfiguredError, UsageError
from nudge.home.folder import Home
from nudge.home.settings import Settings, read_toml
from nudge.instants import zone_of

TEMPLATE_ZONE = "America/Toronto"
DOCUMENTS = ("GOALS.md", "MEMORY.md", "AGENTS.md", "HEARTBEAT.md")


def make_home(home: Home) -> list[Path]:
    """Write what is missing; the files made."""
    data = resources.files("nudge.home") / "templates"
    coach = home.agent("coach")
    wanted = [
        (home.config, data / "home" / "nudge.toml", 0o644),
        (home.env_file, data / "home" / "env", 0o600),
        (home.roles / "coach.yaml", data / "home" / "coach.yaml", 0o644),
        *((coach / name, data / "documents" / name, 0o644) for name in DOCUMENTS),
    ]
    made = []
    try:
        home.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        for private in (coach.parent, home.logs, home.run):
            private.mkdir(mode=0o700, exist_ok=True)
        for folder in (home.roles, coach / "routines", home.workspace("coach")):
            folder.mkdir(parents=True, exist_ok=True)
        for path, template, mode in wanted:
            if not path.exists():
                text = template.read_text(encoding="utf-8")
                _write_new(path, _in_zone(text, home) if path.name == "GOALS.md" else text, mode)
                made.append(path)
    except OSError as error:
        raise NotConfiguredError(
            f"A home cannot be made in {home.path}: {error.strerror or error}.",
            next_step="Check its permissions and the free space, or set NUDGE_HOME to a folder that you can write.",
        ) from error
    return made


def _in_zone(goals: str, home: Home) -> str:
    """The template with the zone of a nudge.toml that is there already, else with this machine's, the best guess at
    where the person is."""
    try:
        zone = Settings(home, os.environ, read_toml(home.config)).timezone.removeprefix("Etc/")
        zone_of(zone)
    except (ConfigError, UsageError):
        return goals
    return goals.replace(f'timezone: "{TEMPLATE_ZONE}"', f'timezone: "{zone}"')


def _write_new(path: Path, text: str, mode: int) -> None:
    """Write a file that is not there yet; a secret one is never readable by others, not even for a moment."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        path.unlink()  # half a file would be taken for the person's own next time
        raise
