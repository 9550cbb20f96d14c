"""A damaged database: keep it, recover what can be read, fill up from the last daily copy, and say what is missing.

The damaged file is moved under a name with the date, never overwritten and never deleted. The recovered one takes its
place only when it is whole: until then it lies beside it as `nudge.db.recovered`, where a start after a crash finds it.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nudge.errors import NudgeError, StoreDamagedError, StoreError, StoreGoneError
from nudge.instants import Instant, to_datetime
from nudge.queue.outcomes import FeedLine
from nudge.reminders.changes import on_free_slot, timer_at
from nudge.reminders.slots import SCHEDULE_ENDED, first_slot
from nudge.stores.open import open_sqlite
from nudge.stores.salvage import fill_up, salvage, tie_together, wal_is_damaged
from nudge.stores.store import SqlStore

log = logging.getLogger("nudge.daemon")

COPIES_KEPT = 3
UNREADABLE = "It was damaged and could not be recovered."

_IN_WORDS = {
    "reminders": "reminders",
    "timers": "times of reminders",
    "conversations": "what we said",
    "conversations_archive": "what we said long ago",
    "attention": "quiet times and the ping budget",
    "spending": "the budget",
    "accounts": "what was spent",
    "usage_log": "what was spent",
    "outbox": "messages on their way",
    "letters": "letters to agents",
    "outcomes": "the log",
    "feed": "the log",
}
"""The tables that a person would miss, the most important first."""


@dataclass(frozen=True)
class Rescue:
    """What a rescue brought. `missing` names what may be lost, `filled` what an older copy had of it."""

    kept: str
    reminders: int
    missing: Sequence[str] = ()
    filled: Sequence[str] = ()
    copy: str = ""

    @property
    def text(self) -> str:
        """For the person."""
        count = f"{self.reminders} reminder{'' if self.reminders == 1 else 's'}"
        parts = [f"⚠️ My database was damaged. I recovered {count}, and they keep running."]
        if not self.missing:
            parts.append("As far as I can tell, nothing you set is missing.")
        elif self.filled:
            parts.append(
                f"I couldn't read some of it and took that from the copy of {self.copy}: {', '.join(self.filled)}."
            )
            parts.append("Changes since then may be missing. Please look through /status.")
        else:
            parts.append(f"Some of this may be missing: {', '.join(self.missing)}. Please look through /status.")
        return " ".join([*parts, f"The damaged file is kept as {self.kept}."])


def set_aside(database: Path, now: Instant, what: str = "damaged") -> Path:
    """Move the database and what belongs to it. Returns where it lies now."""
    stamp = to_datetime(now).strftime("%Y-%m-%dT%H%M%SZ")
    target = database.with_name(f"{database.name}.{what}-{stamp}")
    number = 1
    while target.exists():
        number += 1
        target = database.with_name(f"{database.name}.{what}-{stamp}-{number}")
    for suffix in ("", "-wal", "-shm"):
        part = database.with_name(database.name + suffix)
        if part.exists():
            part.rename(target.with_name(target.name + suffix))
    return target


def rescue(database: Path, copies: Path, now: Instant) -> Rescue:
    """Put a sound database in the place of a damaged one. Raises OSError if the file cannot be read or moved: a file
    that is not ours to read is not damaged."""
    part = database.with_name(f"{database.name}.recovering")
    for suffix in ("", "-journal", "-wal", "-shm"):
        part.with_name(part.name + suffix).unlink(missing_ok=True)
    os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    found = salvage(database, part)
    copy = next(iter(sound_copies(copies)), None) if found.incomplete else None
    filled = fill_up(part, copy, found.incomplete) if copy else {}
    tie_together(part)
    with sqlite3.connect(part) as connection:
        (count,) = connection.execute("SELECT COUNT(*) FROM reminders WHERE status IN ('active', 'paused')").fetchone()
    connection.close()
    _sync(part)
    part.rename(recovered(database))
    kept = set_aside(database, now)
    recovered(database).rename(database)
    _sync(database.parent)
    day = copy.stem.removeprefix("nudge-") if copy else ""
    return Rescue(kept.name, count, _in_words(found.incomplete), _in_words(filled), day)


REPLACED = (
    "⚠️ My database was replaced while I was running. I'm using the new file now, and kept the old one as "
    "nudge.db.replaced-DATE. Please look through /status."
)


async def open_sound(path: Path, copies: Path, now: Instant, trouble: StoreError | None = None) -> tuple[SqlStore, str]:
    """The store in a file, and what the person must know of it. A damaged file is recovered first; `trouble` is what
    made the daemon start again."""
    if isinstance(trouble, StoreGoneError):
        return open_sqlite(str(path)), REPLACED
    finish_rescue(path)
    if not (isinstance(trouble, StoreDamagedError) or is_emptied(path, copies) or wal_is_damaged(path)):
        try:
            return open_sqlite(str(path)), ""
        except StoreDamagedError as error:
            log.error("%s", error.message)
    rescued = rescue(path, copies, now)
    log.error("%s", rescued.text)
    store = open_sqlite(str(path))
    await set_lost_timers(store, now)
    return store, rescued.text


async def tell(store: SqlStore, agent: str, news: str, now: Instant) -> None:
    """Say on the person's channel and in the feed what happened to the database."""
    from nudge.coach.notices import notice_timer

    async with store.transaction():
        await store.feed.add(FeedLine(now, "", "restored", news))
        await store.timers.set(notice_timer(agent, "database", news, now))


def recovered(database: Path) -> Path:
    return database.with_name(f"{database.name}.recovered")


def finish_rescue(database: Path) -> bool:
    """Complete a rescue that a crash interrupted between its last two steps."""
    if database.exists() or not recovered(database).exists():
        return False
    recovered(database).rename(database)
    return True


def sound_copies(folder: Path) -> list[Path]:
    """The daily copies that can be read, the newest first."""
    return [path for path in sorted(folder.glob("nudge-*.db"), reverse=True) if _is_sound(path)]


def is_emptied(database: Path, copies: Path) -> bool:
    """Whether the file was cut to nothing. SQLite would take it for a new one, and so may we, unless a write-ahead log
    or a copy says that there was more."""
    if not database.exists() or database.stat().st_size:
        return False
    log = database.with_name(database.name + "-wal")
    return (log.exists() and log.stat().st_size > 0) or bool(sound_copies(copies))


def copy_database(database: Path, copies: Path, now: Instant) -> Path | None:
    """Today's copy, without free pages, and the oldest ones removed; None if it was there already."""
    target = copies / f"nudge-{to_datetime(now):%Y-%m-%d}.db"
    if target.exists():
        return None
    part = copies / ".copying"
    part.unlink(missing_ok=True)
    os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    connection = sqlite3.connect(database, timeout=10)
    try:
        connection.execute("VACUUM INTO ?", (str(part),))
    finally:
        connection.close()
    _sync(part)
    part.rename(target)
    for old in sorted(copies.glob("nudge-*.db"), reverse=True)[COPIES_KEPT:]:
        old.unlink()
    return target


async def set_lost_timers(store: SqlStore, now: Instant) -> int:
    """Give every active reminder that lost its timer a new one; how many. A time that passed meanwhile is due now."""
    lost = 0
    for number, has_timer in await store.reminders.active_ids():
        try:
            reminder = await store.reminders.get(number)
        except (LookupError, TypeError, ValueError, NudgeError):
            await store.reminders.end(number, UNREADABLE)
            continue
        if has_timer or reminder is None:
            continue
        lost += 1
        async with store.transaction():
            first = first_slot(reminder, now)
            if first is None:
                await store.reminders.end(number, SCHEDULE_ENDED)
            else:
                await store.timers.set(await on_free_slot(store, timer_at(reminder, first)))
    return lost


def _in_words(tables: Iterable[str]) -> list[str]:
    present = set(tables)
    return list(dict.fromkeys(words for table, words in _IN_WORDS.items() if table in present))


def _is_sound(path: Path) -> bool:
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok") and path.stat().st_size > 0
        finally:
            connection.close()
    except sqlite3.Error:
        return False


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
