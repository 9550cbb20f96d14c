"""The dashboard's client on the socket of a real daemon."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from nudge.errors import DaemonUnreachableError, NudgeError
from nudge.home.folder import Home
from nudge.tui.client import SocketSurface
from tests.cli.cli import Cli

pytestmark = pytest.mark.process


def test_questions_writes_and_events_of_a_running_daemon(tmp_path: Path) -> None:
    cli = Cli(tmp_path / "home")
    cli("init")

    async def look() -> tuple[str, str, str]:
        surface = SocketSurface(Home(cli.home).socket)
        try:
            overview = await surface.ask("read/overview")
            events = surface.events(str(overview["place"]))
            added = await surface.ask("do/add", {"words": "stretch in 20 minutes"})
            with pytest.raises(NudgeError, match="no reminder"):
                await surface.ask("do/pause", {"id": "r-zzzzzz"})
            async with asyncio.timeout(20):
                async for event in events:
                    if event.kind == "reminder":
                        return overview["agents"][0]["name"], str(added["message"]), str(event.data["id"])
        finally:
            await surface.close()
        raise AssertionError

    with cli.start():
        name, message, seen = asyncio.run(look())
        assert (name, message) == ("coach", "stretch")
        assert seen == cli.json("reminder", "list")[0]["id"]

    async def gone() -> None:
        surface = SocketSurface(Home(cli.home).socket)
        with pytest.raises(DaemonUnreachableError):
            await surface.ask("read/overview")
        await surface.close()

    asyncio.run(gone())
