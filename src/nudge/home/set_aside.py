"""Keep a damaged database: it is moved under a name with the date, never overwritten and never deleted."""

from __future__ import annotations

from pathlib import Path

from nudge.instants import Instant, to_datetime


def set_aside(database: Path, now: Instant) -> Path:
    """Move the database and what belongs to it. Returns where it lies now."""
    stamp = to_datetime(now).strftime("%Y-%m-%dT%H%M%SZ")
    target = database.with_name(f"{database.name}.damaged-{stamp}")
    number = 1
    while target.exists():
        number += 1
        target = database.with_name(f"{database.name}.damaged-{stamp}-{number}")
    for suffix in ("", "-wal", "-shm"):
        part = database.with_name(database.name + suffix)
        if part.exists():
            part.rename(target.with_name(target.name + suffix))
    return target
