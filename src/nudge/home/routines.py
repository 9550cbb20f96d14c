"""Routines: `agents/NAME/routines/*.md`. The front matter says when; the text below it is what the agent gets."""

from __future__ import annotations

import re
from pathlib import Path

from nudge.errors import ConfigError
from nudge.home.private_files import read_trusted
from nudge.home.roles import read_definition
from nudge.home.yaml_files import line_of, read_mapping
from nudge.reminders.seeding import FileReminder

_FENCE = re.compile(r"---[ \t]*\r?\n(?P<matter>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_EXAMPLE = "Start it with '---', 'schedule:', '  cron: \"0 18 * * *\"', '---', then the text."


def routine_files(folder: Path) -> list[Path]:
    """In order of their names, without hidden files, which editors leave behind."""
    try:
        return sorted(file for file in folder.iterdir() if file.suffix == ".md" and not file.name.startswith("."))
    except OSError:
        return []


def read_routine(path: Path, ref: str) -> FileReminder:
    """One routine, named after its file unless it names itself. An error names the file, the line and the field."""
    try:
        text = read_trusted(path, folders=4)
    except FileNotFoundError as error:
        raise ConfigError(f"Cannot read {ref}: {error.strerror}.", next_step="Check the file.") from None
    match = _FENCE.match(text)
    if match is None:
        raise ConfigError(f"{ref} has no front matter.", next_step=_EXAMPLE)
    matter = "\n" + match["matter"]  # the fence is the first line of the file
    document = read_mapping(matter, ref, what="the front matter", starts="schedule:")
    if "message" in document:
        raise ConfigError(
            f"{ref}, line {line_of(document, ('message',))}: a routine's message is the text below its front matter.",
            next_step="Move it there.",
        )
    body = text[match.end() :].strip()
    if not body:
        raise ConfigError(f"{ref} is empty below its front matter.", next_step="Write there what the agent should do.")
    document.setdefault("name", path.stem)
    definition = read_definition(document, (), ref, required=("name",), message=body)
    return FileReminder(definition["name"].strip(), definition, ref, ref)
