"""What the environment, `.env` and `nudge.toml` say, before anybody checks whether it makes sense.

The environment wins over `.env`, which wins over `nudge.toml`. This part is small on purpose: a command that only lists
reminders needs the database's URL and the time zone, and does not pay for validating the rest.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nudge.errors import ConfigError, UsageError
from nudge.home.folder import Home
from nudge.instants import zone_of

_TIMEZONE = re.compile(r"""^[ \t]*[-*+][ \t]+timezone:[ \t]*["']?([A-Za-z][\w+\-/]*)""", re.MULTILINE)

_SHORTEST_KEY = 8  # characters; shorter parts of an address are words, such as "ping"

SECRET_NAMES = (
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "TELEGRAM_BOT_TOKEN",
    "NUDGE_SMTP_URL",
    "NUDGE_DATABASE_URL",
    "NUDGE_HEALTHCHECK_URL",
)
ENV_NAMES = (*SECRET_NAMES, "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "TELEGRAM_API_BASE")


class Settings:
    """Shows nothing of itself: there are keys in it. Not a dataclass, which `nudge reminder list` would load for it."""

    __slots__ = ("environment", "home", "table")

    def __init__(self, home: Home, environment: Mapping[str, str], table: Mapping[str, Any]) -> None:
        self.home = home
        self.environment = environment
        self.table = table

    @classmethod
    def read(cls, home: Home, environment: Mapping[str, str] | None = None) -> Settings:
        """Read all three. A home that does not exist yet is empty, not an error."""
        outside = dict(os.environ if environment is None else environment)
        return cls(home, {**read_env_file(home.env_file), **outside}, read_toml(home.config))

    @property
    def database_url(self) -> str:
        return self.environment.get("NUDGE_DATABASE_URL") or f"sqlite:///{self.home.database}"

    @property
    def timezone(self) -> str:
        """The person's zone: what the coach's GOALS.md says, else `timezone` in nudge.toml, else this machine's."""
        named = self.table.get("timezone")
        configured = named if isinstance(named, str) and named else machine_timezone(self.environment)
        return goals_timezone(self.home.agent("coach") / "GOALS.md") or configured

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must never be shown. Parts that are as good as the whole are secrets as well: the password of a
        URL, the second half of a bot's token, the path of the health check."""
        found = []
        for name in SECRET_NAMES:
            value = self.environment.get(name)
            if not value:
                continue
            found.append(value)
            before_host, at, _ = value.partition("://")[2].rpartition("@")
            if at and ":" in before_host:
                found.append(before_host.split(":", 1)[1])
            if name == "TELEGRAM_BOT_TOKEN":
                found.append(value.partition(":")[2])
            if name == "NUDGE_HEALTHCHECK_URL":
                path = value.partition("://")[2].partition("/")[2]
                found.extend(part for part in re.split(r"[/?&=#]", path) if len(part) >= _SHORTEST_KEY)
        return tuple(one for one in found if one)


def read_toml(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            f"{path} is not valid TOML: {error}.", next_step="Mend that line, then run 'nudge config check'."
        ) from error


def _text(path: Path, *, private: bool = False) -> str:
    """What a file says; nothing where there is none."""
    try:
        mode = path.stat().st_mode
        if private and mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ConfigError(
                f"{path} can be read by other users of this machine (mode {stat.S_IMODE(mode):04o}).",
                next_step=f"Run 'chmod 600 {path}', or 'nudge doctor --fix'.",
            )
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} cannot be read: {error}.", next_step="Check its permissions and encoding."
        ) from error


def read_env_file(path: Path) -> dict[str, str]:
    """KEY=VALUE lines. Refused if other users of the machine can read it: it holds keys."""
    found = {}
    for number, line in enumerate(_text(path, private=True).splitlines(), 1):
        stripped = line.strip().removeprefix("export ").strip()
        if not stripped or stripped.startswith("#"):
            continue
        name, equals, value = stripped.partition("=")
        name = name.strip()
        if not equals or not name.replace("_", "a").isalnum() or name[0].isdigit():
            # The line itself may hold a key, so it is named by its number alone.
            raise ConfigError(f"{path}, line {number}: this is not KEY=VALUE.", next_step="Mend that line.")
        value = value.strip()
        if value[:1] in ("'", '"'):
            inside, closed, behind = value[1:].partition(value[0])
            if not closed or (behind.strip() and not behind.strip().startswith("#")):
                raise ConfigError(f"{path}, line {number}: the quote is not closed.", next_step="Mend that line.")
            value = inside
        else:
            value = value.partition(" #")[0].rstrip()
        found[name] = value
    return found


def goals_timezone(path: Path) -> str:
    """The time zone that GOALS.md names, or nothing. The coach reads the document strictly; for showing times and
    understanding "5pm" it is enough to find the one line, if it holds a zone."""
    try:
        found = _TIMEZONE.search(path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ""
    if found is None:
        return ""
    try:
        zone_of(found[1])
    except UsageError:
        return ""
    return found[1]


def machine_timezone(environment: Mapping[str, str]) -> str:
    """This machine's zone by name; UTC where it has none."""
    named = environment.get("TZ", "").removeprefix(":")
    if named and not named.startswith("/"):
        return named
    try:
        target = str(Path("/etc/localtime").readlink())
        if "zoneinfo/" in target:
            return target.split("zoneinfo/")[-1].removeprefix("posix/")
    except OSError:
        pass
    try:
        return Path("/etc/timezone").read_text(encoding="utf-8").strip() or "UTC"
    except OSError:
        return "UTC"
