"""Named SQL: every statement lives in `queries/*.sql` under a `-- name:` line, and is called by that name."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent
_NAME = re.compile(r"^-- name: (\w+)\s*$")
_ONLY = re.compile(r"^-- only: (\w+)\s*$")
_PARAMETER = re.compile(r"(?<![:\w]):([a-z_]+)")


@cache
def blocks() -> dict[str, str]:
    """All statements by name, with `:name` parameters and what each database writes in its own way: `{for_update}`
    where a row that is read must be locked, `{skip_locked}` where one that somebody else has locked is left to them,
    and `{next_revision}` for the number of an outcome's change."""
    found: dict[str, str] = {}
    for file in sorted((_HERE / "queries").glob("*.sql")):
        name, lines = "", list[str]()
        for line in [*file.read_text(encoding="utf-8").splitlines(), "-- name: end"]:
            if match := _NAME.match(line):
                if name:
                    if name in found:
                        raise ValueError(f"the block {name} is written twice")
                    found[name] = "\n".join(lines).strip()
                name, lines = match[1], []
            elif not line.startswith("--"):
                lines.append(line)
    return found


@cache
def sqlite_blocks() -> dict[str, str]:
    """The statements for SQLite, whose writers take turns: there is no row to lock."""
    revision = "(SELECT COALESCE(MAX(revision), 0) + 1 FROM outcomes)"
    return _filled({"for_update": "", "skip_locked": "", "next_revision": revision})


@cache
def psycopg_blocks() -> dict[str, str]:
    """The same statements with psycopg's `%(name)s` parameters."""
    own = {
        "for_update": "FOR UPDATE",
        "skip_locked": "FOR UPDATE SKIP LOCKED",
        "next_revision": "nextval('outcome_revisions')",
    }
    return {name: _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%")) for name, sql in _filled(own).items()}


def _filled(own: dict[str, str]) -> dict[str, str]:
    found = blocks()
    for name, meant in own.items():
        found = {block: sql.replace(f"{{{name}}}", meant) for block, sql in found.items()}
    return found


@cache
def migrations() -> tuple[tuple[int, str, str], ...]:
    """(version, name, script), in order, without gaps."""
    found = [(int(file.name[:4]), file.stem[5:], file) for file in (_HERE / "migrations").glob("*.sql")]
    found.sort()
    if [version for version, _, _ in found] != list(range(1, len(found) + 1)):
        raise ValueError("migrations are not numbered 1, 2, 3, …")
    return tuple((version, name, file.read_text(encoding="utf-8")) for version, name, file in found)


def latest_version() -> int:
    """What this code speaks, without reading the scripts."""
    return max(int(file.name[:4]) for file in (_HERE / "migrations").glob("*.sql"))


def statements(script: str, database: str) -> list[str]:
    """A migration's statements. A statement ends with a semicolon at the end of a line; under a line `-- only: NAME` it
    is for that database."""
    found: list[str] = []
    lines, wanted = list[str](), True
    for line in script.splitlines():
        if match := _ONLY.match(line):
            wanted = match[1] == database
        elif line.strip() and not line.lstrip().startswith("--"):
            lines.append(line.rstrip())
        if lines and lines[-1].endswith(";"):
            if wanted:
                found.append("\n".join(lines).rstrip(";"))
            lines, wanted = [], True
    return found
