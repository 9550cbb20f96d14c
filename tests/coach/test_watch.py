"""Somebody writes a document: it is noticed within a minute, whoever wrote it and however."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nudge.coach.watch import LOOK_SECONDS, Watch
from nudge.instants import to_datetime
from tests.coach.proactive_world import AGENT, ScriptedSpender, World, in_world
from tests.times import TORONTO, toronto

WEDNESDAY = toronto(2026, 2, 18, 8)
RHYTHM = {"wake_target": "10:00", "quiet_hours": "02:00-08:00"}


def wake_at(world: World, wake: str) -> bytes:
    """The text with that wake target, without writing it."""
    path = world.files.path(AGENT, "GOALS.md")
    return path.read_bytes().replace(b'"10:00"', f'"{wake}"'.encode())


def in_place(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def by_rename(path: Path, content: bytes) -> None:
    """As most editors and git do."""
    beside = path.with_name("GOALS.md.swp")
    beside.write_bytes(content)
    beside.replace(path)


def by_backup(path: Path, content: bytes) -> None:
    """As vim does with backupcopy=no: the old file is moved away first."""
    path.rename(path.with_name("GOALS.md~"))
    path.write_bytes(content)


def with_the_old_time(path: Path, content: bytes) -> None:
    """As rsync -t or a restored backup: the same size and the same time of change."""
    before = path.stat()
    while path.stat().st_ctime_ns == before.st_ctime_ns:  # the file system's clock ticks every few milliseconds
        path.write_bytes(content)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def behind_a_link(path: Path, content: bytes) -> None:
    elsewhere = path.parent.parent / "notes"
    elsewhere.mkdir()
    shutil.move(path, elsewhere / "GOALS.md")
    path.symlink_to(elsewhere / "GOALS.md")
    (elsewhere / "GOALS.md").write_bytes(content)


@pytest.mark.parametrize("write", [in_place, by_rename, by_backup, with_the_old_time, behind_a_link])
def test_a_change_reschedules_within_a_minute(tmp_path: Path, write: Callable[[Path, bytes], None]) -> None:
    async def scenario(world: World) -> None:
        world.goals(**RHYTHM)
        async with world.running(watch=True):
            await world.clock.sleep(3601)
            write(world.files.path(AGENT, "GOALS.md"), wake_at(world, "11:30"))
            await world.clock.sleep(60)
            timer = await world.store.timers.get(AGENT, "briefing:morning")
            assert timer is not None
            assert f"{to_datetime(timer.due_at, TORONTO):%d %H:%M}" == "18 11:30"
        feed = [line.text for line in await world.store.feed.recent() if line.kind == "rescheduled"]
        assert feed == ["The schedule targets in GOALS.md are in force."] * 2  # the first start, and this

    in_world(tmp_path, scenario, WEDNESDAY)


def test_a_document_that_does_not_change_costs_no_timer(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.goals(**RHYTHM)
        async with world.running(watch=True):
            await world.clock.sleep(60)
            fired = world.dispatcher.fired
            await world.clock.sleep(20 * 60)
            assert world.dispatcher.fired == fired

    in_world(tmp_path, scenario, WEDNESDAY)


def test_what_is_written_before_the_first_look_is_not_overlooked(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.goals(**RHYTHM)
        await world.run_for(1)  # checked, and nobody watches yet
        world.goals(**{**RHYTHM, "wake_target": "11:30"})
        pokes: list[int] = []
        watch = Watch(world.store, world.clock, world.desk, lambda: pokes.append(1))
        await watch.look()
        assert pokes == [1]
        assert await world.store.timers.get(AGENT, "documents") is not None

    in_world(tmp_path, scenario, WEDNESDAY)


def test_a_folder_that_cannot_be_looked_at_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(world: World) -> None:
        world.goals(**RHYTHM)
        version = world.files.version

        def refuse(agent: str, name: str) -> str:
            raise PermissionError(13, "Permission denied")

        async with world.running(watch=True):
            await world.clock.sleep(60)
            monkeypatch.setattr(world.files, "version", refuse)
            await world.clock.sleep(60)
            monkeypatch.setattr(world.files, "version", version)
            world.goals(**{**RHYTHM, "wake_target": "11:30"})
            await world.clock.sleep(60)
            assert world.desk.targets(AGENT).as_fields()["wake_target"] == "11:30"

    in_world(tmp_path, scenario, WEDNESDAY)


def test_the_personality_is_read_again_when_it_changes(tmp_path: Path) -> None:
    spender = ScriptedSpender()

    async def scenario(world: World) -> None:
        async with world.running():
            await world.clock.sleep(46 * 60)
            world.write("AGENTS.md", "You are a pirate.")
            world.write("HEARTBEAT.md", "1. Is there rum?")
            await world.clock.sleep(45 * 60)
        first, second = spender.calls
        assert first.system_text.startswith("# Coach")
        assert second.system_text.startswith("You are a pirate.")
        assert "Is there rum?" in second.turns[0].text

    in_world(tmp_path, scenario, toronto(2026, 2, 18, 12), spender=spender)


def test_looking_is_often_enough() -> None:
    assert LOOK_SECONDS <= 30
