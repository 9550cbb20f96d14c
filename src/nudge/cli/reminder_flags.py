"""The flags that `nudge reminder add` and `nudge reminder edit` share, and the spec that they make."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from nudge.errors import NotFoundError, UsageError
from nudge.home.folder import Home

_TEXTS = ("name", "at", "in_", "every", "rrule", "cron", "idle", "tz", "until", "late", "mode", "timeout", "priority")


def add_flags(parser: argparse.ArgumentParser, *, editing: bool) -> None:
    what = parser.add_argument_group("what")
    what.add_argument("--message", "-m", metavar="TEXT", help="the text; {fire_count}, {name}, {due}, … are filled in")
    what.add_argument("--template", metavar="FILE", help="take the text from a file, from templates/ or from '-'")
    what.add_argument("--name", metavar="NAME", help="what to call it; unique for the agent")
    what.add_argument("--description", metavar="TEXT", help="what it is for, in the forward schedule")
    when = parser.add_argument_group("when", "exactly one of the first six; with --chain, --every is its rhythm")
    when.add_argument("--at", metavar="TIME", help="'3pm', 'tomorrow 9am', 'every weekday at 9', 2026-02-20T15:00")
    when.add_argument("--in", dest="in_", metavar="DURATION", help="once, after this long: 2h, 30m")
    when.add_argument("--every", metavar="DURATION", help="again and again: 30m, 1h")
    when.add_argument("--rrule", metavar="RULE", help="an RFC 5545 rule: 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0'")
    when.add_argument("--cron", metavar="FIELDS", help="five fields: '0 9 * * 1-5'")
    when.add_argument("--idle", metavar="DURATION", help="when the agent has had nothing to do for this long")
    when.add_argument("--tz", metavar="ZONE", help="the time zone, such as Europe/London (default: yours)")
    when.add_argument("--count", type=int, metavar="N", help="end after N times")
    when.add_argument("--until", metavar="TIME", help="end at this time")
    when.add_argument("--chain", type=int, metavar="N", help="ask N times, --every apart, until it is done")
    when.add_argument("--late", metavar="POLICY", help="how late is too late: always, never or a duration")
    condition = parser.add_argument_group("condition")
    condition.add_argument("--condition", dest="command", metavar="COMMAND", help="a shell command; exit 0 is true")
    condition.add_argument("--condition-prompt", dest="prompt", metavar="TEXT", help="in words; the agent judges")
    condition.add_argument("--mode", choices=("each", "until", "once"), help="each (default), until or once")
    condition.add_argument("--timeout", metavar="DURATION", help="the command's time limit (default 10s)")
    how = parser.add_argument_group("how")
    how.add_argument("--priority", choices=("interrupt", "normal", "idle"), help="when the agent reads it (idle)")
    flag: Any = argparse.BooleanOptionalAction if editing else "store_true"
    none = None if editing else False
    how.add_argument("--to-person", action=flag, default=none, help="straight to you, not to the agent")
    how.add_argument("--reserve", action=flag, default=none, help="it has a claim on the ping budget")
    how.add_argument("--critical", action=flag, default=none, help="it may pass busy and an empty ping budget")
    how.add_argument("--allow-ping", action=argparse.BooleanOptionalAction, default=None, help="whether it may ping")


def given(args: argparse.Namespace, home: Home) -> dict[str, Any]:
    """The fields of a spec that the command line names."""
    fields: dict[str, Any] = {}
    names = (*_TEXTS, "description", "count", "chain", "command", "prompt")
    for name in (*names, "to_person", "reserve", "critical", "allow_ping"):
        value = getattr(args, name)
        if value is not None:
            fields[name] = value
    if args.message is not None and args.template is not None:
        raise UsageError("--message and --template are two texts.", next_step="Keep one of them.")
    if args.message is not None:
        fields["message"] = args.message
    if args.template is not None:
        fields["message"] = read_template(args.template, home)
    return fields


def read_template(name: str, home: Home) -> str:
    """The text of a file, of a template of the home, or of standard input."""
    if name == "-":
        return sys.stdin.read()
    for path in (Path(name), home.path / "templates" / name, home.path / "templates" / f"{name}.md"):
        if path.is_file():
            try:
                return path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                raise UsageError(f"{path} is not text in UTF-8.", next_step="Save it as UTF-8.") from None
    raise NotFoundError(
        f"There is no template {name!r}.", next_step=f"Give a file, or put {name}.md into {home.path / 'templates'}."
    )
