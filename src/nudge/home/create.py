"""Create a home: its folders, and the templates of what people write. All of it is its owner's alone."""

from __future__ import annotations

import json
import tomllib
from importlib import resources
from pathlib import Path

from nudge.errors import NotConfiguredError, UsageError
from nudge.home.config import Config
from nudge.home.folder import Home
from nudge.home.private_files import make_folder, replace_file, write_new
from nudge.home.read_config import examine_config
from nudge.home.toml_lines import with_value
from nudge.queue.agents import AGENT_NAME, bad_name

TEMPLATE_ZONE = "America/Toronto"
DOCUMENTS = ("GOALS.md", "MEMORY.md", "AGENTS.md", "HEARTBEAT.md")


def make_home(home: Home) -> list[Path]:
    """Write what is missing, and return the new files. What is there already stays as it is, with its permissions."""
    data = resources.files("nudge.home") / "templates"
    coach = home.agent("coach")
    wanted = [
        (home.config, data / "home" / "nudge.toml"),
        (home.env_file, data / "home" / "env"),
        (home.roles / "coach.yaml", data / "home" / "coach.yaml"),
        *((coach / name, data / "documents" / name) for name in DOCUMENTS),
    ]
    made = []
    try:
        for folder in (home.roles, coach / "routines", home.workspace("coach"), home.logs, home.run):
            make_folder(folder)
        for path, template in wanted:
            if not path.exists():
                text = template.read_text(encoding="utf-8")
                write_new(path, _in_zone(text, home) if path.name == "GOALS.md" else text)
                made.append(path)
    except OSError as error:
        raise NotConfiguredError(
            f"Cannot create a home in {home.path}: {error.strerror or error}.",
            next_step="Check its permissions and the free space, or set NUDGE_HOME to a folder that you can write.",
        ) from error
    return made


def make_worker_role(home: Home) -> None:
    """Write the role of the standard worker, unless there is one."""
    path = home.roles / "worker.yaml"
    if not path.exists():
        make_folder(home.roles)
        template = resources.files("nudge.home") / "templates" / "home" / "worker.yaml"
        write_new(path, template.read_text(encoding="utf-8"))


def make_command_role(
    home: Home, name: str, run: str = "", time_limit: str = "", budget: str = "", *, own_key: bool = False
) -> None:
    """Write the role of an agent whose work a program does: one that nudge starts, or without `run` one of the
    person's own."""
    from nudge.home.roles import parse_role

    if not AGENT_NAME.fullmatch(name):
        raise bad_name(name)
    path = home.roles / f"{name}.yaml"
    fields = {"name": name, "kind": "worker", "run": run, "time_limit": time_limit, "budget": budget}
    lines = [f"{field}: {json.dumps(value, ensure_ascii=False)}" for field, value in fields.items() if value]
    text = "\n".join([*lines, *(["own_key: true"] if own_key else [])]) + "\n"
    parse_role(text, str(path))
    if path.exists():
        raise UsageError(f"There is a role {name!r} already.", next_step=f"Use --role {name}, or edit {path}.")
    make_folder(home.roles)
    write_new(path, text)


def allow_person(config: Config, who: str) -> None:
    """Write to nudge.toml that this user of the chat app is the person: the first in the list, before those who are
    there now."""
    home, user = config.home, int(who)
    after = with_allowed(home, user)
    if after is None:
        raise NotConfiguredError(
            "nudge.toml could not be changed.", next_step=f"Put {user} first in 'allow' under [telegram] there."
        )
    replace_file(home.config, after.encode())


def with_allowed(home: Home, user: int) -> str | None:
    """nudge.toml with this user first in the list, and nothing else changed; None where that cannot be done."""
    before = home.config.read_text(encoding="utf-8") if home.config.exists() else ""
    try:
        said = tomllib.loads(before)
        telegram = said.get("telegram", {})
        wanted = [user, *(one for one in telegram.get("allow", []) if one != user)]
        after = with_value(before, "telegram", "allow", str(wanted))
        fits = tomllib.loads(after) == {**said, "telegram": {**telegram, "allow": wanted}}
    except (tomllib.TOMLDecodeError, AttributeError, TypeError):
        return None
    return after if fits else None


def _in_zone(goals: str, home: Home) -> str:
    """The template with the zone of a nudge.toml that is there already, else with this machine's, the best guess at
    where the person is."""
    config, _ = examine_config(home)
    return goals.replace(f'timezone: "{TEMPLATE_ZONE}"', f'timezone: "{config.timezone.removeprefix("Etc/")}"')
