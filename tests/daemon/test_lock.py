from __future__ import annotations

import fcntl
import threading
from pathlib import Path

import pytest

from nudge.daemon import lock
from nudge.daemon.lock import HomeLock, holder_of
from nudge.errors import NudgeError
from nudge.home.folder import Home
from tests.times import NOON


def test_a_command_that_looks_who_holds_the_home_keeps_no_daemon_from_starting(tmp_path: Path) -> None:
    home = Home(tmp_path)
    HomeLock.acquire(home, "dead", NOON).release()
    with home.lock.open("r") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)  # as `holder_of` does, for a moment
        threading.Timer(0.1, looking.close).start()
        held = HomeLock.acquire(home, "new", NOON)
    assert held.before
    assert held.before.instance == "dead"
    held.release()


def test_a_second_daemon_is_told_who_holds_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "_PATIENCE_SECONDS", 0.05)
    home = Home(tmp_path)
    first = HomeLock.acquire(home, "first", NOON)
    holder = holder_of(home)
    assert holder
    with pytest.raises(NudgeError, match=f"process {holder.pid}, since 2026"):
        HomeLock.acquire(home, "second", NOON)
    first.release()
    assert holder_of(home) is None


def test_every_holder_of_a_home_has_the_homes_name_and_its_own(tmp_path: Path) -> None:
    home, holders = Home(tmp_path), []
    for name in ("first", "second", "third"):
        held = HomeLock.acquire(home, name, NOON)
        holders.append(held.holder)
        held.release()
    assert [one.instance for one in holders] == ["first", "second", "third"]
    assert len({one.home for one in holders}) == 1
    other = HomeLock.acquire(Home(tmp_path / "other"), "x", NOON)
    other.release()
    assert other.holder.home not in ("", holders[0].home)
