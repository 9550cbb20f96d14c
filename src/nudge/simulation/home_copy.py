"""A home to simulate in: a copy of the person's own, or a fresh one, with what the store takes along.

The original is only ever read."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from nudge.attention.store import AttentionRow
from nudge.attention.welcome import Cell
from nudge.errors import NotFoundError, StoreError
from nudge.home.config import Config
from nudge.home.create import make_home
from nudge.home.folder import Home
from nudge.home.private_files import FILE, make_folder
from nudge.instants import Instant
from nudge.queue.agents import DEFAULT, Agent
from nudge.reminders.changes import timer_at
from nudge.reminders.reminder import Reminder, Status
from nudge.reminders.slots import first_slot
from nudge.simulation.timeline import Plan
from nudge.stores.open import open_sqlite, open_store, sqlite_path
from nudge.stores.store import SqlStore

_TRIES = 5


@contextmanager
def copied_home(original: Home) -> Iterator[Home]:
    """A home in a temporary folder that goes away again. Where there is no original it is a fresh one."""
    with TemporaryDirectory(prefix="nudge-simulate-") as folder:
        home = Home(Path(folder) / "home")
        if original.exists:
            for source in _texts(original):
                target = home.path / source.relative_to(original.path)
                make_folder(target.parent)
                shutil.copyfile(source, target)
                target.chmod(FILE)
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


@dataclass(frozen=True, slots=True)
class Belongings:
    """`agent` is None where the home has no store yet; then it gets the default one."""

    agent: Agent | None = None
    reminders: tuple[Reminder, ...] = ()
    attention: AttentionRow | None = None
    learned: tuple[Cell, ...] = ()


async def read_belongings(config: Config, agent: str, scratch: Path) -> Belongings:
    """Look into the person's store without touching it. A file is copied first; a server is only read."""
    url = config.database_url
    if url.startswith("sqlite:"):
        copy = copied_database(Path(sqlite_path(url)), scratch)
        if copy is None:
            return Belongings()
        store = open_sqlite(str(copy))
    else:
        store = await open_store(url, connections=1, read_only=True)
    try:
        known = await store.agents.all()
        if not known:
            return Belongings()
        found = next((one for one in known if one.name == agent), None)
        if found is None:
            names = ", ".join(one.name for one in known)
            raise NotFoundError(f"There is no agent called {agent!r}.", next_step=f"Agents: {names}.")
        kept = [one for one in await store.reminders.everything(agent) if not one.status.ended]
        learned = await store.welcomes.learned(agent)
        return Belongings(found, tuple(kept), await store.attention.get(agent), tuple(learned.cells))
    finally:
        await store.close()


async def carry_over(belongings: Belongings, store: SqlStore, plan: Plan) -> list[str]:
    """Put them into a fresh store as of the plan's start; what has to be said about it. The size of the bucket stays
    behind where the plan tries another one."""
    if belongings.agent is None:
        return []
    agent, start = belongings.agent, plan.start
    if agent.name != DEFAULT:  # it lives alone: the coach of every home would talk to the same person
        await store.agents.ensure(Agent(DEFAULT, DEFAULT, start))
        await store.agents.remove(DEFAULT, start)
    await store.agents.add(replace(agent, created_at=Instant(min(agent.created_at, start))))
    past = 0
    async with store.transaction():
        for kept in belongings.reminders:
            reminder = replace(kept, schedule=kept.schedule.begun_before(start))
            first = first_slot(reminder, start) if reminder.status is Status.ACTIVE else None
            if reminder.status is Status.ACTIVE and (first is None or first < start):
                past += 1
                continue
            await store.reminders.add(reminder)
            if first is not None:
                await store.timers.set(timer_at(reminder, first))
    for cell in belongings.learned:
        await store.welcomes.put(agent.name, cell)
    changed = {key.rpartition(".")[2] for key in plan.changes}
    if belongings.attention is not None and not changed & {"capacity", "refill_minutes"}:
        budget = belongings.attention.budget
        await store.attention.create(agent.name, budget.capacity, budget.refill_minutes, start, plan.first)
    if not past:
        return []
    some = "1 reminder has" if past == 1 else f"{past} reminders have"
    return [f"{some} no time left on the first day, and {'is' if past == 1 else 'are'} left out."]
