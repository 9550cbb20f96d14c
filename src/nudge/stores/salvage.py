"""Read rows out of a damaged SQLite file, page by page.

SQLite gives up a whole table, or the whole file, where one page is bad, and its own recovery is not part of the
standard library. Here every page stands for itself: pages are found through the tables' trees, and where a tree is
broken, by the shape of their rows. The write-ahead log lies over the file as SQLite would put it there; a frame that
is damaged is left out, and those behind it still count. Nothing is written to the damaged file.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nudge.stores.blocks import latest_version, sqlite_blocks
from nudge.stores.sqlite_file import upgrade
from nudge.stores.sqlite_pages import BadPageError, Log, Pages, Value, leaf_rows, tree_rows

_JSON = frozenset({"detail", "payload", "buttons", "receipt", "chain", "schedule", "condition", "state", "messages"})
_LEFT_OUT = frozenset({"lanes", "schema_migrations"})
"""Who works on what now, and what the new file says of itself."""


@dataclass
class Salvage:
    """What was read: rows by table, and the tables that could not be read completely."""

    rows: dict[str, int] = field(default_factory=dict)
    incomplete: set[str] = field(default_factory=set)


def salvage(damaged: Path, target: Path) -> Salvage:
    """Make the database `target` from what can be read of `damaged` and its write-ahead log. Raises OSError if the file
    cannot be read at all."""
    found = Salvage()
    connection = sqlite3.connect(target, isolation_level=None)
    try:
        with damaged.open("rb") as file:
            _take_over(Pages(file, damaged), connection, found)
    finally:
        connection.close()
    return found


def _take_over(pages: Pages, connection: sqlite3.Connection, found: Salvage) -> None:
    version = _version(pages)
    shapes = _make(connection, version)
    connection.execute("BEGIN")
    for table, values in _rows(pages, shapes, found):
        if table not in _LEFT_OUT:
            _insert(connection, shapes[table], values, found)
    found.incomplete -= _LEFT_OUT
    connection.execute("COMMIT")


def fill_up(target: Path, copy: Path, tables: set[str]) -> dict[str, int]:
    """Put rows of an older copy into these tables where their key is not there; how many, by table. A timer whose
    occurrence has ended since is left out."""
    added: dict[str, int] = {}
    connection = sqlite3.connect(target, isolation_level=None)
    try:
        connection.execute("ATTACH DATABASE ? AS old", (str(copy),))
        for table in sorted(tables - _LEFT_OUT):
            names = [row[1] for row in connection.execute(f"PRAGMA old.table_info({table})")]
            known = {row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")}
            shared = ", ".join(name for name in names if name in known)
            if not shared:
                continue
            where = _STILL_OPEN if table == "timers" else ""
            done = connection.execute(
                f"INSERT OR IGNORE INTO main.{table} ({shared}) SELECT {shared} FROM old.{table} AS t {where}"
            )
            if done.rowcount:
                added[table] = done.rowcount
    finally:
        connection.close()
    return added


_STILL_OPEN = """WHERE NOT EXISTS (
    SELECT 1 FROM main.outcomes o
    WHERE o.agent = t.agent AND o.key = t.key AND o.slot_at = t.slot_at AND o.final = 1
) AND (t.kind <> 'reminder' OR EXISTS (
    SELECT 1 FROM main.reminders r WHERE r.id = substr(t.key, 10) AND r.status = 'active'
))"""


def tie_together(target: Path) -> list[str]:
    """Give every row the agent that it belongs to; the names of those that had to be made up."""
    connection = sqlite3.connect(target, isolation_level=None)
    made: list[str] = []
    try:
        for table, _, parent, _ in list(connection.execute("PRAGMA foreign_key_check")):
            if parent == "agents":
                missing = connection.execute(
                    f"SELECT DISTINCT agent FROM {table} WHERE agent NOT IN (SELECT name FROM agents)"
                ).fetchall()
                for (name,) in missing:
                    connection.execute("INSERT INTO agents (name, role, created_at) VALUES (?, ?, 0)", (name, "coach"))
                    made.append(name)
        for table, row, _, _ in list(connection.execute("PRAGMA foreign_key_check")):
            connection.execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))
    finally:
        connection.close()
    return made


def wal_is_damaged(database: Path) -> bool:
    """Whether commits lie behind a bad frame of the write-ahead log. SQLite leaves them out and says nothing. A power
    cut leaves at most one commit there, which nobody was told of."""
    try:
        log = Log((database.with_name(database.name + "-wal")).read_bytes())
    except OSError:
        return False
    return log.commits_behind_damage > 1


@dataclass(frozen=True)
class _Shape:
    """A table: its columns in order, with their kind and whether they may be empty. `number` is the one that SQLite
    keeps as the row's own number."""

    table: str
    columns: Sequence[tuple[str, str, bool]]
    defaults: Mapping[str, Value]
    number: str | None

    def fits(self, values: Sequence[Value]) -> bool:
        return len(values) <= len(self.columns) and all(
            self._right(name, kind, required, value)
            for (name, kind, required), value in zip(self.columns, values, strict=False)
        )

    def _right(self, name: str, kind: str, required: bool, value: Value) -> bool:
        if value is None:
            return not required or name == self.number
        if kind == "TEXT":
            if not isinstance(value, str) or "\0" in value:
                return False
            return name not in _JSON or value[:1] not in ("{", "[") or _is_json(value)
        return isinstance(value, int)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _make(connection: sqlite3.Connection, version: int) -> dict[str, _Shape]:
    """An empty database of that version, and the shapes of its tables."""
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute(sqlite_blocks()["schema_create"])
    upgrade(connection, 0, version)
    connection.execute("PRAGMA journal_mode = DELETE")
    shapes = {}
    for (table,) in list(connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")):
        info = list(connection.execute(f"PRAGMA table_info({table})"))
        numbered: str | None = next((row[1] for row in info if row[5] and row[2] == "INTEGER"), None)
        columns = [(row[1], row[2], bool(row[3]) or bool(row[5])) for row in info]
        defaults = {row[1]: json.loads(str(row[4]).replace("'", '"')) for row in info if row[4] is not None}
        if table != "sqlite_sequence":
            shapes[table] = _Shape(table, columns, defaults, numbered)
    return shapes


def _insert(connection: sqlite3.Connection, shape: _Shape, values: dict[str, Value], found: Salvage) -> None:
    names = ", ".join(values)
    marks = ", ".join("?" * len(values))
    try:
        done = connection.execute(
            f"INSERT OR IGNORE INTO {shape.table} ({names}) VALUES ({marks})", tuple(values.values())
        )
        found.rows[shape.table] = found.rows.get(shape.table, 0) + done.rowcount
    except sqlite3.Error:
        found.incomplete.add(shape.table)


def _version(pages: Pages) -> int:
    """The version that the tables were made by; the newest where that cannot be read."""
    try:
        root = _roots(pages)["schema_migrations"]
        versions = [rowid for rowid, _ in tree_rows(pages, root, set(), [])]
        return max(1, min(max(versions), latest_version()))
    except (BadPageError, KeyError, ValueError):
        return latest_version()


def _roots(pages: Pages) -> dict[str, int]:
    """The first page of every table that the file still names."""
    found: dict[str, int] = {}
    for _, values in tree_rows(pages, 1, set(), []):
        match values:
            case ["table", str(name), _, int(root), *_]:
                found[name] = root
    return found


def _rows(pages: Pages, shapes: Mapping[str, _Shape], found: Salvage) -> Iterator[tuple[str, dict[str, Value]]]:
    """Every row of every table: by the trees, then by the shape of what no tree leads to any more."""
    try:
        roots = _roots(pages)
    except BadPageError:
        roots = {}
    seen: set[int] = set()
    for table, shape in shapes.items():
        broken: list[int] = []
        if table not in roots:
            found.incomplete.add(table)
            continue
        for rowid, values in tree_rows(pages, roots[table], seen, broken):
            if shape.fits(values):
                yield table, _named(shape, rowid, values)
            else:
                broken.append(0)
        if broken or pages.lost:
            found.incomplete.add(table)
    if not found.incomplete:
        return
    for number in range(2, pages.count + 1):
        if number in seen or number in pages.free:
            continue
        try:
            bad: list[int] = []
            rows = list(leaf_rows(pages, pages[number], 0, bad))
        except BadPageError:
            continue
        if bad:
            continue
        fitting = [name for name in found.incomplete if all(_is_whole(shapes[name], values) for _, values in rows)]
        if rows and len(fitting) == 1:
            for rowid, values in rows:
                yield fitting[0], _named(shapes[fitting[0]], rowid, values)


def _is_whole(shape: _Shape, values: Sequence[Value]) -> bool:
    return len(values) == len(shape.columns) and shape.fits(values)


def _named(shape: _Shape, rowid: int, values: Sequence[Value]) -> dict[str, Value]:
    row: dict[str, Value] = dict(shape.defaults)
    row |= {name: value for (name, _, _), value in zip(shape.columns, values, strict=False)}
    if shape.number is not None:
        row[shape.number] = rowid
    return row
