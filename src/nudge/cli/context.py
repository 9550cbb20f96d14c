"""What a command works with: the home, its configuration, the store, the time, and whether people watch."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from nudge.clock import SystemClock
from nudge.errors import NudgeError, StoreDamagedError, StoreGoneError
from nudge.home.config import Config
from nudge.home.folder import Home
from nudge.home.read_config import read_config
from nudge.inline import run_inline
from nudge.instants import Instant, zone_of
from nudge.stores.store import SqlStore

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

T = TypeVar("T")


class Context:
    def __init__(self, args: argparse.Namespace, *, require_home: bool = True) -> None:
        self.home = Home.find(given=args.home)
        if require_home:
            self.home.require()
        self.now: Instant = SystemClock().now()

    @cached_property
    def config(self) -> Config:
        """Read at the first use; mistakes in it end the command."""
        return read_config(self.home)

    @cached_property
    def zone(self) -> ZoneInfo:
        return zone_of(self.config.timezone)

    def with_store(self, work: Callable[[SqlStore], Coroutine[Any, Any, T]]) -> T:
        """Run `work(store)` to its end and close the store.

        SQLite answers inline, so its coroutines never wait and need no event loop: that saves its import.
        """
        url = self.config.database_url
        if url.startswith("sqlite:"):
            from nudge.stores.open import open_sqlite, sqlite_path

            path = sqlite_path(url)
            self._refuse_removed(path)
            try:
                store = open_sqlite(path)
                try:
                    return run_inline(work(store))
                finally:
                    run_inline(store.close())
            except StoreDamagedError:
                self._tell_of_damage()
                raise
        return _with_server(url, work)

    def _tell_of_damage(self) -> None:
        """A daemon that runs recovers it at once."""
        from nudge.daemon import control_client

        with suppress(NudgeError):
            control_client.call(self.home.socket, "POST", "/examine", {})

    def _refuse_removed(self, path: str) -> None:
        """A daemon that runs writes its removed database again. Until then nothing may make an empty one in its place:
        what is written there would be lost."""
        if os.path.exists(path):  # noqa: PTH110  (for every command: pathlib would be imported for it)
            return
        from nudge.daemon.lock import holder_of

        if holder_of(self.home) is None:
            return
        self.poke()
        if not os.path.exists(path):  # noqa: PTH110
            raise StoreGoneError(
                f"The database {path} was removed while nudge was running. Nothing was changed.",
                next_step="Try again in a moment. If it does not come back, restart nudge and run 'nudge doctor'.",
            )

    def poke(self) -> bool:
        from nudge.daemon import control_client

        return control_client.poke(self.home.socket)

    @property
    def colour(self) -> bool:
        return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def _with_server(url: str, work: Callable[[SqlStore], Coroutine[Any, Any, T]]) -> T:
    import asyncio

    from nudge.stores.open import open_store

    async def main() -> T:
        store = await open_store(url, connections=2)
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(main())
