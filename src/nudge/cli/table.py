"""Every command: where it lives and what it is for. Help and completion read this; nothing is imported to list it.

Named tuples: `nudge --help` and `nudge status` would import dataclasses for nothing else, a fifth of their time.
"""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """A leaf: a module of `nudge.cli.commands` with `arguments(parser)` and `run(args)`. Its docstring is the help.

    A module with several commands has `NAME_arguments(parser)` and `NAME(args)` for each of them, and `function` is the
    NAME; then the function's docstring is the help.
    """

    module: str
    summary: str
    function: str = ""


class Group(NamedTuple):
    """Commands under one word. `bare` answers the word alone, or with arguments that name no command of the group."""

    summary: str
    commands: dict[str, Command]
    bare: Command | None = None


SECTIONS: dict[str, dict[str, Command | Group]] = {
    "Start": {
        "init": Command("init", "make a home with commented templates"),
        "run": Command("run", "start the daemon in this terminal"),
        "chat": Command("chat", "talk to the coach in this terminal"),
        "status": Command("status", "what the daemon is doing"),
        "stop": Command("stop", "end the daemon gracefully"),
        "doctor": Command("doctor", "check everything, and mend what can be mended"),
    },
    "Time": {
        "reminder": Group(
            "set and manage reminders",
            {
                "add": Command("reminder_write", "add a reminder, with all options", "add"),
                "list": Command("reminder_look", "list reminders, the next one first", "list_"),
                "show": Command("reminder_look", "show a reminder and how it went", "show"),
                "edit": Command("reminder_write", "change a reminder; its history stays", "edit"),
                "remove": Command("reminder_change", "remove reminders; their history is kept", "remove"),
                "pause": Command("reminder_change", "pause reminders", "pause"),
                "resume": Command("reminder_change", "resume paused reminders", "resume"),
                "complete": Command("reminder_change", "mark reminders as done", "complete"),
                "snooze": Command(
                    "reminder_change", "snooze a reminder; occurrences in the meantime are skipped", "snooze"
                ),
                "test": Command("reminder_look", "check a condition now, without changing anything", "test"),
                "run": Command("reminder_change", "fire a reminder now, in addition to its schedule", "run"),
                "export": Command("reminder_file", "export reminders as JSON", "export"),
                "import": Command("reminder_file", "import reminders from JSON", "import_"),
            },
            bare=Command("reminder_write", 'set one in a sentence: nudge reminder "call mum friday 5pm"', "say"),
        ),
    },
    "Look": {
        "log": Command("log", "what happened: outcomes and activity"),
        "inbox": Command("inbox", "what waits for an agent that you run yourself"),
        "why": Command("why", "why it acted, or didn't"),
        "simulate": Command("simulate", "what it would do in a week, and what that would cost"),
    },
    "Attention": {
        "ping-budget": Command("ping_budget", "how many unasked messages may still reach the person"),
    },
    "Spending": {
        "budget": Group(
            "how much of today's budget is used",
            {
                "history": Command("budget_history", "a bar for each day"),
                "top-up": Command("budget_top_up", "add money; a sleeping agent wakes"),
                "set": Command("budget_set", "another window or renewal date"),
            },
            bare=Command("budget", "the meter, the state, and when it refreshes (--detail: dollars)"),
        ),
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
