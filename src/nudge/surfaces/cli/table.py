"""Every command: where it lives and what it is for. Help and completion read this; nothing is imported to list it.

Named tuples: `nudge --help` and `nudge status` would import dataclasses for nothing else, a fifth of their time.
"""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """A leaf: a module of `nudge.surfaces.cli.commands` with `arguments(parser)` and `run(args)`."""

    module: str
    summary: str


class Group(NamedTuple):
    """Commands under one word. `bare` answers the word alone, or with arguments that name no command of the group."""

    summary: str
    commands: dict[str, Command]
    bare: Command | None = None


SECTIONS: dict[str, dict[str, Command | Group]] = {
    "Start": {
        "init": Command("init", "make a home with commented templates"),
        "run": Command("run", "start the daemon in this terminal"),
        "status": Command("status", "what the daemon is doing"),
        "stop": Command("stop", "end the daemon gracefully"),
        "doctor": Command("doctor", "check everything, and mend what can be mended"),
    },
    "Look": {
        "log": Command("log", "what happened: outcomes and activity"),
        "why": Command("why", "why it acted, or didn't"),
    },
    "Attention": {
        "ping-budget": Command("ping_budget", "how many unasked messages may still reach the person"),
    },
    "Set up": {
        "agent": Group(
            "who there is",
            {
                "list": Command("agent_list", "all agents"),
                "add": Command("agent_add", "add an agent from a role"),
                "show": Command("agent_show", "one agent: role, timers, inbox"),
                "remove": Command("agent_remove", "remove an agent; its history is kept"),
            },
        ),
        "config": Group(
            "the configuration",
            {
                "path": Command("config_path", "where it is"),
                "show": Command("config_show", "what is in force, defaults included"),
                "check": Command("config_check", "check nudge.toml, .env and all roles"),
            },
        ),
        "completion": Command("completion", "shell completion for bash, zsh or fish"),
        "version": Command("version", "which nudge this is"),
    },
}

COMMANDS: dict[str, Command | Group] = {name: entry for section in SECTIONS.values() for name, entry in section.items()}
