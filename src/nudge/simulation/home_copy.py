"""A home to simulate in: a copy of the person's own, or a fresh one. The original is only ever read.

Copied are the texts that make a coach what it is: configuration, prices, roles, documents, routines, persons. A link is
copied as the file it points to, because whatever is written to the copy must never reach the original. Secrets stay
where they are. A SQLite database is copied as a file with its journal, since opening it in its place could write to it.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from nudge.errors import StoreError
from nudge.home.create import make_home
from nudge.home.folder import Home

_TRIES = 5


@contextmanager
def copied_home(original: Home) -> Iterator[Home]:
    """A home in a temporary folder that goes away again. Where there is no original it is a fresh one."""
    with TemporaryDirectory(prefix="nudge-simulate-") as folder:
        home = Home(Path(folder) / "home")
        if original.exists:
            home.path.mkdir(mode=0o700)
            for source in _texts(original):
                target = home.path / source.relative_to(original.path)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
        else:
            make_home(home)
        yield home


def copied_database(original: Path, folder: Path) -> Path | None:
    """A copy of a SQLite file that opens by itself; None where there is none.

    A daemon may be writing it. A copy in the middle of a checkpoint is torn, so one is taken only if nothing changed
    meanwhile and the copy is sound.
    """
    if not original.is_file():
        return None
    target = folder / "copy.db"
    for _ in range(_TRIES):
        before = _stamps(original)
        for suffix in ("", "-wal"):
            target.with_name(target.name + suffix).unlink(missing_ok=True)
            part = original.with_name(original.name + suffix)
            if part.is_file():
                shutil.copyfile(part, target.with_name(target.name + suffix))
        if _stamps(original) == before and _is_sound(target):
            return target
    raise StoreError(
        f"The database {original} could not be copied: it is being written or it is damaged.",
        next_step="Try again in a moment, or run 'nudge doctor'.",
    )


def _texts(home: Home) -> Iterator[Path]:
    for pattern in (
        "nudge.toml",
        "prices.toml",
        "persons/*.yaml",
        "roles/*.yaml",
        "agents/*/*.md",
        "agents/*/routines/*.md",
    ):
        yield from _files(home.path.glob(pattern))


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    return (path for path in sorted(paths) if path.is_file())


def _stamps(database: Path) -> list[tuple[int, int] | None]:
    found: list[tuple[int, int] | None] = []
    for suffix in ("", "-wal"):
        try:
            status = database.with_name(database.name + suffix).stat()
        except FileNotFoundError:
            found.append(None)
        else:
            found.append((status.st_mtime_ns, status.st_size))
    return found


def _is_sound(database: Path) -> bool:
    try:
        connection = sqlite3.connect(database)
        try:
            return bool(connection.execute("PRAGMA quick_check").fetchone()[0] == "ok")
        finally:
            connection.close()
    except sqlite3.Error:
        return False
