"""What a command works with: the home, its configuration, the store, the time, and whether people watch."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Coroutine
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from nudge.clock import SystemClock
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

            store = open_sqlite(sqlite_path(url))
            try:
                return run_inline(work(store))
            finally:
                run_inline(store.close())
        return _with_server(url, work)

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
