"""Take texts out of log files in place, while somebody may be writing to them.

The bytes are overwritten where they stand and nothing moves, so a handler that appends at the same moment loses no
line, and a line of JSON stays one.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

_FILLER = b"*"


class LogRedaction:
    """All files of a folder of logs, rotated ones too, and further files that are named."""

    def __init__(self, folder: Path, others: Iterable[Path] = ()) -> None:
        self._folder = folder
        self._others = tuple(others)

    def remove(self, texts: Sequence[str]) -> int:
        patterns = sorted({form for text in texts for form in _encoded(text)}, key=len, reverse=True)
        if not patterns:
            return 0
        wanted = re.compile(b"|".join(re.escape(pattern) for pattern in patterns), re.IGNORECASE)
        return sum(_overwrite(path, wanted) for path in self._files())

    def _files(self) -> list[Path]:
        logs = sorted(self._folder.glob("*.log*")) if self._folder.is_dir() else []
        return [path for path in (*logs, *self._others) if path.is_file()]


def _encoded(text: str) -> set[bytes]:
    """The text as it is, and as the two ways of writing JSON put it."""
    plain = text.encode("utf-8", "replace")
    return {form for form in (plain, *(json.dumps(text, ensure_ascii=a)[1:-1].encode() for a in (False, True))) if form}


def _overwrite(path: Path, wanted: re.Pattern[bytes]) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        content = path.read_bytes()
        found = list(wanted.finditer(content))
        for match in found:
            os.pwrite(descriptor, _FILLER * len(match[0]), match.start())
        if found:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return len(found)
