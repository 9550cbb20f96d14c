"""Looks after the database file while the daemon runs: examines it, keeps a copy for each day, and writes it back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from nudge.clock import Clock
from nudge.daemon.rescue import copy_database
from nudge.errors import StoreDamagedError, StoreError
from nudge.home.private_files import make_folder
from nudge.queue.outcomes import FeedLine
from nudge.stores.sqlite import SqliteDatabase
from nudge.stores.sqlite_file import examine_file

log = logging.getLogger("nudge.database")

LOOK_SECONDS = 3600.0
REMOVED = "nudge.db was removed while nudge ran. It was written again; nothing is lost."


class DatabaseKeeper:
    """`on_trouble` is told of a file that is damaged or was replaced: the daemon starts again and recovers it."""

    def __init__(
        self,
        database: SqliteDatabase,
        copies: Path,
        clock: Clock,
        add_line: Callable[[FeedLine], Awaitable[object]],
        on_trouble: Callable[[StoreError], None],
    ) -> None:
        self._path = Path(database.path)
        self._copies = copies
        self._clock = clock
        self._add_line = add_line
        self._on_trouble = on_trouble
        self._news = 0
        self._examined = False
        database.keeps = True
        database.on_trouble = on_trouble
        database.on_put_back = self._was_put_back

    async def run(self) -> None:
        while True:
            await self.look()
            await self._clock.sleep(LOOK_SECONDS)

    async def asked(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """A command found damage, which may not have come this way yet: what is in memory is read no more."""
        self._examined = False
        await self.look()
        return {"ok": True}

    async def look(self) -> None:
        """Examine the whole file at the start and before each copy, in another thread; then make today's copy."""
        try:
            if await asyncio.to_thread(self._examine_and_copy):
                log.info("Copied the database to %s", self._copies)
        except StoreDamagedError as error:
            self._on_trouble(error)
        except (StoreError, OSError) as error:
            log.error("No copy of the database: %s", error)

    def _examine_and_copy(self) -> bool:
        if not self._examined:
            examine_file(str(self._path))
            self._examined = True
        make_folder(self._copies)
        return copy_database(self._path, self._copies, self._clock.now()) is not None

    def _was_put_back(self) -> None:
        log.error(REMOVED)
        asyncio.get_running_loop().create_task(self._tell())

    async def _tell(self) -> None:
        await self._add_line(FeedLine(self._clock.now(), "", "restored", REMOVED))
