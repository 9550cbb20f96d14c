"""Which time zone the person is in, where nobody configured it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from nudge.errors import UsageError
from nudge.instants import zone_of

_TIMEZONE = re.compile(r"""^[ \t]*[-*+][ \t]+timezone:[ \t]*["']?([A-Za-z][\w+\-/]*)""", re.MULTILINE)
_LARGEST = 1_000_000


def goals_timezone(path: Path) -> str:
    """The time zone that GOALS.md names, or nothing. The coach reads the document strictly; for showing times and
    understanding "5pm" it is enough to find the one line, if it holds a zone."""
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""
    found = _TIMEZONE.search(text)
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
