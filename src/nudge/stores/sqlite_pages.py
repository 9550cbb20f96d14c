"""Read a SQLite file page by page: its tables' trees, its rows, and the write-ahead log that lies over it.

The format is described at sqlite.org/fileformat2.html. Nothing is written.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

_MAGIC = b"SQLite format 3\0"
_PAGE_SIZES = tuple(2**power for power in range(9, 17))
_USUAL_PAGE = 4096
_ROUNDS = 2**20
_LEAF, _INTERIOR = 0x0D, 0x05
_DEEPEST = 40

Value = int | float | str | bytes | None


class BadPageError(Exception):
    """The page does not hold what it should."""


class Log:
    """The frames of a write-ahead log that can be believed: the newest committed content of each page. Newer content of
    the pages in `damaged` was there and cannot be read; with `lost`, nobody knows which pages those are."""

    def __init__(self, content: bytes) -> None:
        self.pages: dict[int, bytes] = {}
        self.page_size = 0
        self.commits_behind_damage = 0
        self.damaged: set[int] = set()
        self.lost = False
        if len(content) < 32:
            return
        self._order = ">" if content[3] & 1 else "<"
        self.page_size = struct.unpack(">I", content[8:12])[0]
        if content[:4] in (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83") and self.page_size in _PAGE_SIZES:
            self._read(content, content[16:24])
        elif len(content) >= 56 + _USUAL_PAGE:  # its head is gone: the first frame says what it belongs to
            self.lost, self._order, self.page_size = True, "<", _USUAL_PAGE
            self._read(content, content[40:48])
        else:
            self.page_size = 0

    def _read(self, content: bytes, salts: bytes) -> None:
        size = self.page_size
        before = struct.unpack(">II", content[24:32])
        waiting: dict[int, bytes] = {}
        broken = self.lost
        for start in range(32, len(content) - size - 23, 24 + size):
            head, page = content[start : start + 24], content[start + 24 : start + 24 + size]
            if head[8:16] != salts:
                if _is_older(head[8:12], salts[:4]):
                    break  # left over from before the last checkpoint
                broken = self.lost = True
                continue
            number, commit = struct.unpack(">II", head[:8])
            claimed = struct.unpack(">II", head[16:24])
            if self._sum(before, head[:8] + page) == claimed:
                waiting[number] = page
                self.damaged.discard(number)
            else:
                broken = True
                self.damaged.add(number)
            before = claimed  # if only the page is bad, the frames behind it are still right
            if commit:
                self.pages |= waiting
                waiting = {}
                self.commits_behind_damage += broken
        if broken:
            self.damaged.update(waiting)  # the frame that would have committed them may be one of the bad ones

    def _sum(self, seed: tuple[int, int], content: bytes) -> tuple[int, int]:
        first, second = seed
        words = struct.unpack(f"{self._order}{len(content) // 4}I", content)
        for one, two in zip(words[::2], words[1::2], strict=True):
            first = (first + one + second) & 0xFFFFFFFF
            second = (second + two + first) & 0xFFFFFFFF
        return first, second


def _is_older(salt: bytes, newest: bytes) -> bool:
    """Whether a frame's salt is one of an earlier round: SQLite counts it up at each."""
    return 0 < (int.from_bytes(newest) - int.from_bytes(salt)) % 2**32 < _ROUNDS


class Pages:
    """The pages of a file, the write-ahead log over them."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file = file
        try:
            log = Log(path.with_name(path.name + "-wal").read_bytes())
        except FileNotFoundError:
            log = Log(b"")
        self._log = log.pages
        self.lost = log.lost or bool(log.damaged)  # a newer page may have led to others
        head = self._file.read(100)
        stated = struct.unpack(">H", head[16:18])[0] if head[:16] == _MAGIC else 0
        stated = 65536 if stated == 1 else stated
        self.size = log.page_size or (stated if stated in _PAGE_SIZES else _USUAL_PAGE)
        in_file = -(-os.fstat(self._file.fileno()).st_size // self.size)
        self.count = max([in_file, *self._log])
        self.free = set(self._freed())

    def __getitem__(self, number: int) -> bytes:
        if not 0 < number <= self.count:
            raise BadPageError
        page = self._log.get(number)
        if page is None:
            self._file.seek((number - 1) * self.size)
            page = self._file.read(self.size)
        if len(page) < self.size:
            raise BadPageError
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
        except BadPageError:
            return


def tree_rows(
    pages: Pages, number: int, seen: set[int], broken: list[int], depth: int = 0
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
            rows = list(leaf_rows(pages, page, start, broken))
        elif kind == _INTERIOR:
            children = list(_children(page, start))
        else:
            raise BadPageError
    except (BadPageError, struct.error):
        broken.append(number)
        return
    seen.add(number)
    if kind == _LEAF:
        yield from rows
        return
    for child in children:
        yield from tree_rows(pages, child, seen, broken, depth + 1)


def _pointers(page: bytes, start: int, head: int) -> tuple[int, ...]:
    count = struct.unpack(">H", page[start + 3 : start + 5])[0]
    first = start + head
    if first + 2 * count > len(page):
        raise BadPageError
    return struct.unpack(f">{count}H", page[first : first + 2 * count])


def _children(page: bytes, start: int) -> Iterator[int]:
    for pointer in _pointers(page, start, 12):
        if pointer + 4 > len(page):
            raise BadPageError
        yield struct.unpack(">I", page[pointer : pointer + 4])[0]
    yield struct.unpack(">I", page[start + 8 : start + 12])[0]


def leaf_rows(pages: Pages, page: bytes, start: int, broken: list[int]) -> Iterator[tuple[int, list[Value]]]:
    """The rows of one page. A row that cannot be read is added to `broken`, and the others still count."""
    if page[start] != _LEAF:
        raise BadPageError
    for pointer in _pointers(page, start, 8):
        try:
            yield _cell(pages, page, pointer)
        except BadPageError:
            broken.append(pointer)


def _cell(pages: Pages, page: bytes, pointer: int) -> tuple[int, list[Value]]:
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
        raise BadPageError
    return (rowid - 2**64 if rowid >= 2**63 else rowid), _record(payload)


def _overflow(pages: Pages, link: bytes, left: int) -> bytes:
    parts: list[bytes] = []
    seen: set[int] = set()
    while left > 0:
        if len(link) < 4:
            raise BadPageError
        number = struct.unpack(">I", link)[0]
        if number in seen:
            raise BadPageError
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
            raise BadPageError
        byte = content[at + step]
        if step == 8:
            return (value << 8) | byte, at + 9
        value = (value << 7) | (byte & 0x7F)
        if not byte & 0x80:
            return value, at + step + 1
    raise BadPageError


_WIDTHS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def _record(payload: bytes) -> list[Value]:
    size, at = _varint(payload, 0)
    if size > len(payload):
        raise BadPageError
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
            raise BadPageError
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
        raise BadPageError from None
