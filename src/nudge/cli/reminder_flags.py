"""The flags of `nudge reminder add` and `nudge reminder edit`, and the definition that they make.

Every setting of a reminder has its flag here because the reminder declares it (`nudge.reminders.reminder`), and every
way to write a schedule because the schedules do (`nudge.schedules.WAYS`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nudge.errors import NotFoundError, UsageError
from nudge.home.folder import Home
from nudge.reminders.fields import Field, FieldError
from nudge.reminders.reminder import CONDITION_FIELDS, SETTINGS
from nudge.reminders.timing import WHEN
from nudge.schedules import WAYS_IN_WORDS

_GROUPS = {
    "what": None,
    "when": f"use exactly one of {WAYS_IN_WORDS}; with --chain, --every is the time between questions",
    "condition": None,
    "how": None,
}
_PARTS = {"schedule": WHEN, "condition": CONDITION_FIELDS}
"""The settings that have fields of their own."""


def fields_with_flags() -> Iterator[tuple[tuple[str, ...], Field]]:
    """Each field that has a flag, with its path in a definition."""
    for setting in SETTINGS:
        for field in _PARTS.get(setting.name, ()):
            yield (setting.name, field.name), field
        if setting.flag is not None:
            yield (setting.name,), setting


def add_flags(parser: argparse.ArgumentParser, *, editing: bool) -> None:
    groups = {name: parser.add_argument_group(name, words) for name, words in _GROUPS.items()}
    for path, field in fields_with_flags():
        assert field.flag is not None
        _add_flag(groups[field.flag.group], ".".join(path), field, editing)
        if path == ("message",):
            groups["what"].add_argument(
                "--template", metavar="FILE", help="take the text from a file, from templates/ or from '-'"
            )


def _add_flag(group: argparse._ArgumentGroup, dest: str, field: Field, editing: bool) -> None:
    flag, kind = field.flag, field.kind
    assert flag is not None
    names = [_flag_of(field), *([flag.short] if flag.short else [])]
    if kind.python is bool:
        both: Any = argparse.BooleanOptionalAction if editing or field.default else "store_true"
        group.add_argument(*names, dest=dest, action=both, default=None, help=flag.help)
        return
    options: dict[str, Any] = {"choices": kind.choices} if kind.choices else {"metavar": flag.metavar}
    group.add_argument(*names, dest=dest, type=kind.python, help=flag.help, **options)


def _flag_of(field: Field) -> str:
    assert field.flag is not None
    return f"--{field.flag.name or field.name.replace('_', '-')}"


def given(args: argparse.Namespace, home: Home, *, editing: bool) -> dict[str, Any]:
    """The definition, or the part of one, that the command line names."""
    found: dict[str, Any] = {}
    for path, field in fields_with_flags():
        value = getattr(args, ".".join(path))
        if value is None:
            continue
        assert field.flag is not None
        if editing and field.flag.clear is not None and str(value) == field.flag.clear:
            value = None
        part = found
        for name in path[:-1]:
            part = part.setdefault(name, {})
        part[path[-1]] = value
    if args.template is not None:
        if "message" in found:
            raise UsageError("Use either --message or --template, not both.", next_step="Leave one of them out.")
        found["message"] = read_template(args.template, home)
    return found


def by_flag(error: FieldError) -> UsageError:
    """The error with the flag that was given in place of the field."""
    names = {path: _flag_of(field) for path, field in fields_with_flags()}
    if not error.wrong or error.path not in names:
        return error
    return UsageError(f"`{names[error.path]}` {error.wrong}.", next_step=error.next_step)


def read_template(name: str, home: Home) -> str:
    """The text of a file, of a template of the home, or of standard input."""
    if name == "-":
        return sys.stdin.read()
    for path in (Path(name), home.path / "templates" / name, home.path / "templates" / f"{name}.md"):
        if path.is_file():
            try:
                return path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                raise UsageError(f"{path} is not UTF-8 text.", next_step="Save it as UTF-8.") from None
    raise NotFoundError(
        f"There is no template {name!r}.", next_step=f"Give a file, or put {name}.md into {home.path / 'templates'}."
    )
