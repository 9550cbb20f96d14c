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
        "init": Command("init", "set up a home with commented templates"),
        "run": Command("run", "start the daemon in this terminal"),
        "chat": Command("chat", "talk to the coach in this terminal"),
        "pair": Command("pair", "connect your chat app with a code"),
        "status": Command("status", "show what the daemon is doing, and what is wrong"),
        "web": Command("web", "show the web page of this home"),
        "stop": Command("stop", "stop the daemon gracefully"),
        "doctor": Command("doctor", "check the whole set-up; --fix repairs what it can"),
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
    "Work": {
        "work": Command("work", "have a worker do a task, and watch it"),
        "session": Group(
            "list and manage working sessions",
            {
                "list": Command("session", "list sessions, newest first", "list_"),
                "show": Command("session", "show a session and its report", "show"),
                "watch": Command("session", "follow a session until it ends", "watch"),
                "resume": Command("session", "continue a session that ended early", "resume"),
                "cancel": Command("session", "cancel a session; its work is kept", "cancel"),
                "answer": Command("session", "answer a session's question", "answer"),
            },
        ),
        "snapshot": Group(
            "keep and restore an agent's workspace",
            {
                "list": Command("snapshot", "list snapshots", "list_"),
                "create": Command("snapshot", "make a snapshot now", "create"),
                "verify": Command("snapshot", "compare the workspace with a snapshot", "verify"),
                "restore": Command("snapshot", "restore a snapshot; the current files are kept too", "restore"),
                "diff": Command("snapshot", "show what changed since a snapshot", "diff"),
            },
        ),
    },
    "Look": {
        "tui": Command("tui", "watch and steer everything in this terminal"),
        "log": Command("log", "show what happened"),
        "why": Command("why", "explain why it acted, or didn't"),
        "eval": Group(
            "score how well a model does the coach's job",
            {"coach": Command("evaluate", "60 situations for the coach, scored by rules", "coach")},
        ),
        "simulate": Command("simulate", "preview a week: what it would do and what it would cost"),
    },
    "Attention": {
        "ping-budget": Command("ping_budget", "show how many unasked messages are left"),
        "attention": Group(
            "show what the coach has learned about when to speak",
            {"reset": Command("attention", "forget what was learned, about one topic or all", "reset")},
            bare=Command("attention", "show which messages are welcome at which hour", "show"),
        ),
    },
    "Spending": {
        "budget": Group(
            "show and change the budget",
            {
                "history": Command("budget", "show each day as a bar", "history"),
                "top-up": Command("budget", "add money; a sleeping agent wakes", "top_up"),
                "set": Command("budget", "change the budget or the renewal date", "set_"),
                "wake": Command("budget", "wake an agent whose plan's window is used up", "wake"),
                "hold": Command("budget_outside", "hold money for a call that you make yourself", "hold"),
                "settle": Command("budget_outside", "settle a held call with what it used", "settle"),
                "record": Command("budget_outside", "charge a call that was made without a hold", "record"),
            },
            bare=Command("budget", "show the meter, the state and the next refresh (--detail: dollars)", "meter"),
        ),
    },
    "Your own agents": {
        "exec": Command("exec", "run a command under an agent's budgets"),
        "inbox": Group(
            "read an agent's inbox, and take letters from it",
            {
                "ack": Command("inbox", "mark a letter you took as done", "ack"),
                "nack": Command("inbox", "give back a letter you took", "nack"),
            },
            bare=Command("inbox", "read the inbox of an agent, or --take the next letter", "read"),
        ),
        "notify": Command("notify", "tell the person something, if no rule holds it back"),
        "gateway": Group(
            "let your agents call models through nudge",
            {
                "token": Command("gateway", "print a token for an agent's client, or revoke all", "token"),
                "calls": Command("gateway", "show the last calls: tokens, waits, results", "calls"),
            },
            bare=Command("gateway", "run the gateway in this terminal", "serve"),
        ),
    },
    "Many machines": {
        "fleet": Group(
            "run thousands of agents on Temporal",
            {
                "worker": Command("fleet", "work for the fleet until stopped", "worker"),
                "adopt": Command("fleet", "move this home's agents to the fleet", "adopt"),
                "release": Command("fleet", "hand the agents back to 'nudge run'", "release"),
                "status": Command("fleet", "show the state of the fleet", "status"),
                "agents": Command("fleet", "list agents and when they wake", "agents"),
                "why": Command("fleet", "explain why an agent is awake or asleep", "why"),
                "wake": Command("fleet", "visit an agent now", "wake"),
                "web": Command("fleet", "show the web page of the fleet", "web"),
                "drain": Command("fleet", "pause all agents; --undo resumes them", "drain"),
                "dev": Command("fleet", "try it: servers, workers and agents on this machine", "dev"),
            },
        ),
    },
    "Set up": {
        "agent": Group(
            "list and manage agents",
            {
                "list": Command("agent", "list agents", "list_"),
                "add": Command("agent", "add an agent from a role", "add"),
                "show": Command("agent", "show an agent: role, timers, inbox", "show"),
                "message": Command("agent", "write to an agent", "message"),
                "busy": Command("agent", "mark an agent as busy", "busy"),
                "idle": Command("agent", "mark an agent as idle", "idle"),
                "remove": Command("agent", "remove an agent; its history is kept", "remove"),
            },
        ),
        "config": Group(
            "show and check the configuration",
            {
                "path": Command("config", "show where the files are", "path"),
                "show": Command("config", "show the settings in use, defaults included", "show"),
                "check": Command("config", "check nudge.toml, .env, prices and all roles", "check"),
            },
        ),
        "completion": Command("completion", "print shell completion for bash, zsh or fish"),
        "version": Command("version", "print the version"),
    },
}

COMMANDS: dict[str, Command | Group] = {name: entry for section in SECTIONS.values() for name, entry in section.items()}
