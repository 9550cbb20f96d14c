"""Read rows out of a damaged SQLite file, page by page.

SQLite gives up a whole table, or the whole file, where one page is bad, and its own recovery is not part of the
standard library. Here every page stands for itself: pages are found through the tables' trees, and where a tree is
broken, by the shape of their rows. The write-ahead log lies over the file as SQLite would put it there; a frame that
is damaged is left out, and those behind it still count. Nothing is written to the damaged file.

The format is described at sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import json
import os
import sqlite3
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from nudge.stores.blocks import latest_version, migrations, sqlite_blocks, statements

_MAGIC = b"SQLite format 3\0"
_PAGE_SIZES = tuple(2**power for power in range(9, 17))
_USUAL_PAGE = 4096
_LEAF, _INTERIOR = 0x0D, 0x05
_DEEPEST = 40
_JSON = frozenset({"detail", "payload", "buttons", "receipt", "chain", "schedule", "condition", "state", "messages"})
_SERIAL = "INTEGER PRIMARY KEY AUTOINCREMENT"
_LEFT_OUT = frozenset({"lanes", "schema_migrations"})
"""Who works on what now, and what the new file says of itself."""

Value = int | float | str | bytes | None


@dataclass
class Salvage:
    """What was read: rows by table, and the tables that could not be read completely."""

    rows: dict[str, int] = field(default_factory=dict)
    incomplete: set[str] = field(default_factory=set)


class _BadPageError(Exception):
    """The page does not hold what it should."""


def salvage(damaged: Path, target: Path) -> Salvage:
    """Make the database `target` from what can be read of `damaged` and its write-ahead log. Raises OSError if the file
    cannot be read at all."""
    found = Salvage()
    connection = sqlite3.connect(target, isolation_level=None)
    try:
        with damaged.open("rb") as file:
            _take_over(_Pages(file, damaged), connection, found)
    finally:
        connection.close()
    return found


def _take_over(pages: _Pages, connection: sqlite3.Connection, found: Salvage) -> None:
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
        log = _Log((database.with_name(database.name + "-wal")).read_bytes())
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
    blocks = sqlite_blocks()
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute(blocks["schema_create"])
    for number, name, script in migrations()[:version]:
        for statement in statements(script, "sqlite"):
            connection.execute(statement.replace("{serial}", _SERIAL))
        connection.execute(blocks["schema_record"], {"version": number, "name": name})
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


class _Log:
    """The frames of a write-ahead log that can be believed: the newest committed content of each page."""

    def __init__(self, content: bytes) -> None:
        self.pages: dict[int, bytes] = {}
        self.page_size = 0
        self.commits_behind_damage = 0
        self.damaged: set[int] = set()
        if len(content) < 32 or content[:4] not in (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83"):
            return
        self._order = ">" if content[3] & 1 else "<"
        self.page_size = struct.unpack(">I", content[8:12])[0]
        if self.page_size not in _PAGE_SIZES:
            self.page_size = 0
            return
        self._read(content)

    def _read(self, content: bytes) -> None:
        salts, size = content[16:24], self.page_size
        before = struct.unpack(">II", content[24:32])
        waiting: dict[int, bytes] = {}
        broken = False
        for start in range(32, len(content) - size - 23, 24 + size):
            head, page = content[start : start + 24], content[start + 24 : start + 24 + size]
            if head[8:16] != salts:
                break  # left over from before the last checkpoint
            number, commit = struct.unpack(">II", head[:8])
            claimed = struct.unpack(">II", head[16:24])
            if self._sum(before, head[:8] + page) == claimed:
                waiting[number] = page
            else:
                broken = True
                self.damaged.add(number)
            before = claimed  # if only the page is bad, the frames behind it are still right
            if commit:
                self.pages |= waiting
                waiting = {}
                self.commits_behind_damage += broken

    def _sum(self, seed: tuple[int, int], content: bytes) -> tuple[int, int]:
        first, second = seed
        words = struct.unpack(f"{self._order}{len(content) // 4}I", content)
        for one, two in zip(words[::2], words[1::2], strict=True):
            first = (first + one + second) & 0xFFFFFFFF
            second = (second + two + first) & 0xFFFFFFFF
        return first, second


class _Pages:
    """The pages of a file, the write-ahead log over them."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file = file
        try:
            log = _Log(path.with_name(path.name + "-wal").read_bytes())
        except FileNotFoundError:
            log = _Log(b"")
        self._log = log.pages
        self.doubtful = log.damaged - set(log.pages)
        head = self._file.read(100)
        stated = struct.unpack(">H", head[16:18])[0] if head[:16] == _MAGIC else 0
        stated = 65536 if stated == 1 else stated
        self.size = log.page_size or (stated if stated in _PAGE_SIZES else _USUAL_PAGE)
        in_file = -(-os.fstat(self._file.fileno()).st_size // self.size)
        self.count = max([in_file, *self._log])
        self.free = set(self._freed())

    def __getitem__(self, number: int) -> bytes:
        if not 0 < number <= self.count:
            raise _BadPageError
        page = self._log.get(number)
        if page is None:
            self._file.seek((number - 1) * self.size)
            page = self._file.read(self.size)
        if len(page) < self.size:
            raise _BadPageError
        return page

    def _freed(self) -> Iterator[int]:
        """Pages of rows that were deleted: what they say is over."""
        try:
            trunk = struct.unpack(">I", self[1][32:36])[0] if self[1][:16] == _MAGIC else 0
            seen: set[int] = set()
            while trunk and trunk not in seen:
                seen.add(trunk)
                page = self[trunk]
                following, count = struct.unpack(">II", page[:8])
                yield trunk
                count = min(count, self.size // 4 - 2)
                yield from struct.unpack(f">{count}I", page[8 : 8 + 4 * count])
                trunk = following
        except _BadPageError:
            return


def _version(pages: _Pages) -> int:
    """The version that the tables were made by; the newest where that cannot be read."""
    try:
        root = _roots(pages)["schema_migrations"]
        versions = [rowid for rowid, _ in _tree(pages, root, set(), [])]
        return max(1, min(max(versions), latest_version()))
    except (_BadPageError, KeyError, ValueError):
        return latest_version()


def _roots(pages: _Pages) -> dict[str, int]:
    """The first page of every table that the file still names."""
    found: dict[str, int] = {}
    for _, values in _tree(pages, 1, set(), []):
        match values:
            case ["table", str(name), _, int(root), *_]:
                found[name] = root
    return found


def _rows(pages: _Pages, shapes: Mapping[str, _Shape], found: Salvage) -> Iterator[tuple[str, dict[str, Value]]]:
    """Every row of every table: by the trees, then by the shape of what no tree leads to any more."""
    try:
        roots = _roots(pages)
    except _BadPageError:
        roots = {}
    seen: set[int] = set()
    for table, shape in shapes.items():
        broken: list[int] = []
        if table not in roots:
            found.incomplete.add(table)
            continue
        for rowid, values in _tree(pages, roots[table], seen, broken):
            if shape.fits(values):
                yield table, _named(shape, rowid, values)
            else:
                broken.append(0)
        if broken or seen & pages.doubtful:
            found.incomplete.add(table)
    if not found.incomplete:
        return
    for number in range(2, pages.count + 1):
        if number in seen or number in pages.free:
            continue
        try:
            bad: list[int] = []
            rows = list(_leaf(pages, pages[number], 0, bad))
        except _BadPageError:
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


def _tree(
    pages: _Pages, number: int, seen: set[int], broken: list[int], depth: int = 0
) -> Iterator[tuple[int, list[Value]]]:
    """The rows of a table's tree. Pages that cannot be read are added to `broken`."""
    if number in seen or depth > _DEEPEST:
        broken.append(number)
        return
    try:
        page = pages[number]
        start = 100 if number == 1 else 0
        kind = page[start]
        if kind == _LEAF:
            rows = list(_leaf(pages, page, start, broken))
        elif kind == _INTERIOR:
            children = list(_children(page, start))
        else:
            raise _BadPageError
    except (_BadPageError, struct.error):
        broken.append(number)
        return
    seen.add(number)
    if kind == _LEAF:
        yield from rows
        return
    for child in children:
        yield from _tree(pages, child, seen, broken, depth + 1)


def _pointers(page: bytes, start: int, head: int) -> tuple[int, ...]:
    count = struct.unpack(">H", page[start + 3 : start + 5])[0]
    first = start + head
    if first + 2 * count > len(page):
        raise _BadPageError
    return struct.unpack(f">{count}H", page[first : first + 2 * count])


def _children(page: bytes, start: int) -> Iterator[int]:
    for pointer in _pointers(page, start, 12):
        if pointer + 4 > len(page):
            raise _BadPageError
        yield struct.unpack(">I", page[pointer : pointer + 4])[0]
    yield struct.unpack(">I", page[start + 8 : start + 12])[0]


def _leaf(pages: _Pages, page: bytes, start: int, broken: list[int]) -> Iterator[tuple[int, list[Value]]]:
    """The rows of one page. A row that cannot be read is added to `broken`, and the others still count."""
    if page[start] != _LEAF:
        raise _BadPageError
    for pointer in _pointers(page, start, 8):
        try:
            yield _cell(pages, page, pointer)
        except _BadPageError:
            broken.append(pointer)


def _cell(pages: _Pages, page: bytes, pointer: int) -> tuple[int, list[Value]]:
    usable = len(page)
    length, at = _varint(page, pointer)
    rowid, at = _varint(page, at)
    most = usable - 35
    if length <= most:
        payload = page[at : at + length]
    else:
        least = (usable - 12) * 32 // 255 - 23
        local = least + (length - least) % (usable - 4)
        local = local if local <= most else least
        payload = page[at : at + local] + _overflow(pages, page[at + local : at + local + 4], length - local)
    if len(payload) < length:
        raise _BadPageError
    return (rowid - 2**64 if rowid >= 2**63 else rowid), _record(payload)


def _overflow(pages: _Pages, link: bytes, left: int) -> bytes:
    parts: list[bytes] = []
    seen: set[int] = set()
    while left > 0:
        if len(link) < 4:
            raise _BadPageError
        number = struct.unpack(">I", link)[0]
        if number in seen:
            raise _BadPageError
        seen.add(number)
        page = pages[number]
        parts.append(page[4 : 4 + left])
        left -= len(parts[-1])
        link = page[:4]
    return b"".join(parts)


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = 0
    for step in range(9):
        if at + step >= len(content):
            raise _BadPageError
        byte = content[at + step]
        if step == 8:
            return (value << 8) | byte, at + 9
        value = (value << 7) | (byte & 0x7F)
        if not byte & 0x80:
            return value, at + step + 1
    raise _BadPageError


_WIDTHS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def _record(payload: bytes) -> list[Value]:
    size, at = _varint(payload, 0)
    if size > len(payload):
        raise _BadPageError
    kinds = []
    while at < size:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    values: list[Value] = []
    at = size
    for kind in kinds:
        width = _WIDTHS.get(kind, 8 if kind == 7 else (kind - 12) // 2 if kind >= 12 else 0)
        piece = payload[at : at + width]
        if len(piece) < width or kind in (10, 11):
            raise _BadPageError
        values.append(_value(kind, piece))
        at += width
    return values


def _value(kind: int, piece: bytes) -> Any:
    if kind == 0:
        return None
    if kind in (8, 9):
        return kind - 8
    if kind in _WIDTHS:
        return int.from_bytes(piece, "big", signed=True)
    if kind == 7:
        return struct.unpack(">d", piece)[0]
    if kind % 2 == 0:
        return piece
    try:
        return piece.decode()
    except UnicodeDecodeError:
        raise _BadPageError from None
