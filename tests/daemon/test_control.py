"""The control socket: what goes wrong behind it is said in words, and nobody else's folder is trusted."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nudge.daemon.control import control_app, serving
from nudge.daemon.control_client import call, poke
from nudge.errors import DaemonUnreachableError, NotConfiguredError, NudgeError, StoreError


async def nothing() -> None:
    return None


async def away() -> Mapping[str, Any]:
    raise StoreError("The PostgreSQL server does not answer.", next_step="Check that it is running.")


async def test_an_error_behind_the_socket_comes_through_with_its_next_step(tmp_path: Path) -> None:
    path = tmp_path / "control.sock"
    async with serving(control_app(away, nothing, lambda: None), path):
        with pytest.raises(NudgeError, match=r"does not answer\. Check that it is running\.") as caught:
            await asyncio.to_thread(call, path, "GET", "/status")
        assert not isinstance(caught.value, DaemonUnreachableError)  # the daemon is there, its store is not


async def test_a_daemon_that_cannot_look_now_is_still_one(tmp_path: Path) -> None:
    """Whoever adds a reminder must not be told that none runs."""
    path = tmp_path / "control.sock"

    async def refuse() -> None:
        await away()

    assert poke(path) is False
    async with serving(control_app(away, refuse, lambda: None), path):
        assert await asyncio.to_thread(poke, path) is True


@pytest.mark.parametrize("what", ["a folder", "a link"])
async def test_a_folder_that_others_may_have_put_there_is_not_used(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anybody may make a folder of any name in the temporary one, and listen there."""
    everybodys = tmp_path / "tmp"
    everybodys.mkdir()
    everybodys.chmod(0o1777)
    folder = everybodys / "nudge-1-abc"
    if what == "a link":
        (tmp_path / "mine").mkdir(mode=0o755)
        folder.symlink_to(tmp_path / "mine")
    else:
        folder.mkdir(mode=0o755)
    path = folder / "control.sock"
    app = control_app(away, nothing, lambda: None)
    uid = os.getuid()
    async with serving(app, path):
        monkeypatch.setattr(os, "getuid", lambda: uid + 1)
        with pytest.raises(DaemonUnreachableError, match="belongs to another user"):
            await asyncio.to_thread(call, path, "GET", "/status")
    folder.resolve().chmod(0o755)
    with pytest.raises(NotConfiguredError, match="belongs to another user"):
        async with serving(app, path):
            pass
    assert folder.resolve().stat().st_mode & 0o777 == 0o755  # a link must not make us change what it points to
