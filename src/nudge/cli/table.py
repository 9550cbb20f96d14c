"""Every command: where it lives and what it is for. Help and completion read this; nothing is imported to list it.

Named tuples: `nudge --help` and `nudge status` would import dataclasses for nothing else, a fifth of their time.
"""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """A leaf: a module of `nudge.cli.commands` with `arguments(parser)` and `run(args)`."""

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
        "chat": Command("chat", "talk to the coach in this terminal"),
        "status": Command("status", "what the daemon is doing"),
        "stop": Command("stop", "end the daemon gracefully"),
        "doctor": Command("doctor", "check everything, and mend what can be mended"),
    },
    "Time": {
        "reminder": Group(
            "what is to be said, and when",
            {
                "add": Command("reminder_add", "add one, with all its options"),
                "list": Command("reminder_list", "all of them, the next one first"),
                "show": Command("reminder_show", "one of them, and how it went"),
                "edit": Command("reminder_edit", "change one; what it has been through stays"),
                "remove": Command("reminder_remove", "remove some; their history is kept"),
                "pause": Command("reminder_pause", "let some rest"),
                "resume": Command("reminder_resume", "go on with paused ones"),
                "complete": Command("reminder_complete", "some have served their purpose"),
                "snooze": Command("reminder_snooze", "one again after a while"),
                "test": Command("reminder_test", "ask its condition now, change nothing"),
                "run": Command("reminder_run", "deliver one now, one time more"),
                "export": Command("reminder_export", "write them as JSON"),
                "import": Command("reminder_import", "read them from JSON"),
            },
            bare=Command("reminder_say", 'set one in a sentence: nudge reminder "call mum friday 5pm"'),
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
