"""Reminders that roles and routines ask for."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from nudge.attention.quiet import Person
from nudge.errors import UsageError
from nudge.home.folder import Home
from nudge.home.seeds import HomeSeeds
from nudge.instants import HOUR, MINUTE, SECOND, Instant, parse_rfc3339
from nudge.queue.inbox import Priority
from nudge.reminders.reminder import Late, Reminder, Source, Status
from nudge.reminders.seeding import PROBLEMS
from nudge.simulation.virtual_time import VirtualClock, run_virtual
from nudge.stores.store import SqlStore
from nudge.testing import memory_store
from tests.reminders.world import World
from tests.times import NOON

InStore = Callable[..., Any]

CI = """
  - name: check-ci
    message: "Check the CI pipeline. If there are failures, investigate and fix them."
    schedule:
      every: 30m
    priority: idle
"""
REVIEW = """
  - name: morning-review
    message: "Review all open PRs and summarize their status."
    schedule:
      rrule: "FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0"
    priority: normal
"""
DEPLOY = """
  - name: wait-for-deploy
    message: "Run post-deploy smoke tests against staging."
    schedule:
      every: 5m
    condition:
      prompt: "Check if the staging deploy has completed successfully."
      mode: once
"""


class Files:
    """The files of a home that a scene writes."""

    def __init__(self, path: Path) -> None:
        self.home = Home(path)
        self.home.roles.mkdir(parents=True)
        self._time = 1_700_000_000
        self.role()

    def role(self, *reminders: str) -> None:
        text = "name: coach\nreminders:" + ("".join(reminders) or " []") + "\n"
        (self.home.roles / "coach.yaml").write_text(text)

    def routine(self, name: str, text: str | None) -> None:
        file = self.home.agent("coach") / "routines" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            file.unlink()
            return
        file.write_text(dedent(text).lstrip())
        self._time += 10
        os.utime(file, (self._time, self._time))


def play(tmp_path: Path, scene: Callable[[World, Files], Any]) -> None:
    """On one store: what seeding does to the store is a sequence of what the other tests check on all."""

    async def main(clock: VirtualClock) -> None:
        store = memory_store()
        files = Files(tmp_path / "home")
        world = await World(clock, store, seeds=HomeSeeds(files.home)).prepare()
        await scene(world, files)
        await store.close()

    run_virtual(main, NOON)


async def of_name(world: World, name: str, source: Source = Source.ROLE) -> Reminder:
    (found,) = [one for one in await world.store.reminders.seeded("coach", source) if one.name == name]
    return found


async def seed(world: World) -> None:
    assert world.seeding
    await world.seeding.seed_all(world.now)


async def problems(world: World, source: Source) -> list[str]:
    return [one.text for one in await world.store.records.get("coach", PROBLEMS.of(source.value)) or ()]


def test_a_role_creates_its_reminders_once(in_store: InStore, tmp_path: Path) -> None:
    files = Files(tmp_path / "home")
    files.role(CI, REVIEW, DEPLOY)

    async def scenario(clock: VirtualClock, store: SqlStore) -> None:
        world = await World(clock, store, seeds=HomeSeeds(files.home)).prepare()
        for _ in range(3):
            await seed(world)
        made = sorted(await store.reminders.everything(), key=lambda one: one.name)
        assert [(one.name, one.source, one.status) for one in made] == [
            ("check-ci", Source.ROLE, Status.ACTIVE),
            ("morning-review", Source.ROLE, Status.ACTIVE),
            ("wait-for-deploy", Source.ROLE, Status.ACTIVE),
        ]
        assert await world.next_in(made[0]) == 30 * MINUTE
        assert await world.feed() == []

    in_store(scenario)


def test_a_changed_message_keeps_the_grid_and_the_state(tmp_path: Path) -> None:
    async def scene(world: World, files: Files) -> None:
        files.role(CI)
        await world.run_for(40 * MINUTE)
        files.role(CI.replace("Check the CI pipeline.", "Look at CI."))
        await seed(world)
        after = await of_name(world, "check-ci")
        assert after.message.startswith("Look at CI.")
        assert (after.fire_count, after.last_fired_at) == (1, NOON + 30 * MINUTE)
        assert await world.next_in(after) == HOUR
        assert await world.feed() == ["Updated from the role coach: check-ci."]

    play(tmp_path, scene)


def test_a_changed_schedule_counts_from_now(tmp_path: Path) -> None:
    async def scene(world: World, files: Files) -> None:
        files.role(CI)
        await world.run_for(40 * MINUTE)
        files.role(CI.replace("30m", "20m"))
        await seed(world)
        after = await of_name(world, "check-ci")
        assert (await world.next_in(after), after.fire_count) == (world.now - NOON + 20 * MINUTE, 1)

    play(tmp_path, scene)


def test_one_that_is_no_longer_asked_for_is_paused_and_said_so_and_comes_back(tmp_path: Path) -> None:
    async def scene(world: World, files: Files) -> None:
        files.role(CI, REVIEW)
        await seed(world)
        files.role(REVIEW)
        await seed(world)
        gone = await of_name(world, "check-ci")
        assert gone.status is Status.PAUSED
        assert await world.next_in(gone) is None
        said = f"Paused: check-ci ({gone.id}) is no longer asked for by the role coach."
        assert await world.feed() == [said]
        await seed(world)
        assert await world.feed() == [said]
        files.role(CI, REVIEW)
        await seed(world)
        back = await of_name(world, "check-ci")
        assert (back.id, back.status) == (gone.id, Status.ACTIVE)

    play(tmp_path, scene)


def test_a_removed_one_stays_removed_until_it_is_asked_for_differently(tmp_path: Path) -> None:
    async def scene(world: World, files: Files) -> None:
        files.role(CI)
        await seed(world)
        await world.reminders.remove("check-ci", world.now)
        await seed(world)
        assert (await of_name(world, "check-ci")).status is Status.CANCELLED
        files.role(CI.replace("fix them", "repair them"))
        await seed(world)
        back = await of_name(world, "check-ci")
        assert (back.status, await world.next_in(back)) == (Status.ACTIVE, 30 * MINUTE)

    play(tmp_path, scene)


def test_one_paused_by_hand_stays_paused_and_a_completed_one_completed(tmp_path: Path) -> None:
    async def scene(world: World, files: Files) -> None:
        files.role(CI, DEPLOY)
        await seed(world)
        await world.reminders.pause("check-ci", world.now)
        await world.reminders.complete("wait-for-deploy", world.now)
        files.role(CI.replace("fix them", "repair them"), DEPLOY.replace("smoke", "quick"))
        await seed(world)
        paused, completed = await of_name(world, "check-ci"), await of_name(world, "wait-for-deploy")
        assert (paused.status, "repair" in paused.message) == (Status.PAUSED, True)
        assert (completed.status, "quick" in completed.message) == (Status.COMPLETED, True)
        files.role(DEPLOY.replace("5m", "7m"))
        await seed(world)
        assert (await of_name(world, "wait-for-deploy")).status is Status.ACTIVE

    play(tmp_path, scene)


def test_a_new_version_replaces_every_edit_and_the_old_one_none(tmp_path: Path) -> None:
    async def scene(world: World, files: Files) -> None:
        files.role(CI)
        await seed(world)
        edits = {"message": "Mine.", "schedule": {"every": "2h"}, "priority": "interrupt", "critical": True}
        await world.reminders.edit("check-ci", edits, world.now)
        await seed(world)
        mine = await of_name(world, "check-ci")
        assert (mine.message, mine.critical, await world.next_in(mine)) == ("Mine.", True, 2 * HOUR)
        files.role(CI.replace("fix them", "repair them"))
        await seed(world)
        theirs = await of_name(world, "check-ci")
        assert "repair them" in theirs.message
        assert (theirs.priority, theirs.critical) == (Priority.IDLE, False)
        assert await world.next_in(theirs) == 30 * MINUTE
        assert (await of_name(world, "check-ci")).id == mine.id

    play(tmp_path, scene)


def test_a_name_comes_from_the_file(tmp_path: Path) -> None:
    async def scene(world: World, files: Files) -> None:
        files.role(CI)
        files.routine("chores.md", ROUTINE)
        await seed(world)
        with pytest.raises(UsageError, match="gets its name from its") as error:
            await world.reminders.edit("check-ci", {"name": "ci"}, world.now)
        assert error.value.next_step == "Rename it in the role."
        with pytest.raises(UsageError) as error:
            await world.reminders.edit("chores", {"name": "ci"}, world.now)
        assert error.value.next_step == "Rename it in routines/chores.md."
        await world.reminders.edit("check-ci", {"name": "check-ci", "message": "Same name."}, world.now)

    play(tmp_path, scene)


def test_moving_to_another_zone_moves_what_follows_the_person_and_revives_nothing(tmp_path: Path) -> None:
    async def scene(world: World, files: Files) -> None:
        once = CI.replace("check-ci", "once").replace("every: 30m", "at: 2026-02-18T12:10:00")
        gone = CI.replace("check-ci", "gone").replace("every: 30m", "cron: '0 9 * * *'")
        files.role(REVIEW, once, gone)
        await seed(world)
        await world.reminders.remove("gone", world.now)
        await world.run_for(20 * MINUTE)
        world.person = Person(ZoneInfo("Europe/London"))
        await seed(world)
        review = await of_name(world, "morning-review")
        assert (review.tz, await world.next_in(review)) == (
            "Europe/London",
            parse_rfc3339("2026-02-19T09:00:00Z") - NOON,
        )
        assert (await of_name(world, "once")).status is Status.COMPLETED
        assert (await of_name(world, "gone")).status is Status.CANCELLED

    play(tmp_path, scene)


def test_roles_have_every_setting_that_routines_have(tmp_path: Path) -> None:
    more = "\n    reserve: true\n    critical: true\n    allow_ping: false\n    description: d\n    late: never"

    async def scene(world: World, files: Files) -> None:
        files.role(CI.rstrip() + more)
        files.routine("chores.md", "---\nschedule:\n  every: 30m" + more.replace("\n    ", "\n") + "\n---\nx")
        await seed(world)
        assert await problems(world, Source.ROLE) == []
        for made in (await of_name(world, "check-ci"), await of_name(world, "chores", Source.FILE)):
            assert (made.reserve, made.critical, made.allow_ping, made.description) == (True, True, False, "d")
            assert made.late == Late(0)

    play(tmp_path, scene)


def test_a_name_that_the_person_uses_is_an_error_that_names_both(tmp_path: Path) -> None:
    async def scene(world: World, files: Files) -> None:
        mine = await world.add("mine", name="check-ci", every="1h")
        files.role(CI, REVIEW)
        await seed(world)
        await seed(world)
        (problem,) = await problems(world, Source.ROLE)
        assert "'check-ci' of the role coach" in problem
        assert mine.id in problem
        assert "(from cli)" in problem
        assert await world.feed() == [f"⚠️ {problem}"]
        assert (await of_name(world, "morning-review")).status is Status.ACTIVE
        await world.reminders.remove(mine.id, world.now)
        await seed(world)
        assert (await of_name(world, "check-ci")).status is Status.ACTIVE
        assert await problems(world, Source.ROLE) == []

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name: coach\nreminders: [", "line"),
        ("name: coach\nreminders:\n  - name: x\n", "message"),
        (None, "no role 'coach'"),
    ],
)
def test_a_role_that_cannot_be_read_takes_nothing_away(tmp_path: Path, text: str | None, why: str) -> None:
    async def scene(world: World, files: Files) -> None:
        files.role(CI)
        await seed(world)
        file = files.home.roles / "coach.yaml"
        if text is None:
            file.unlink()
        else:
            file.write_text(text)
        await seed(world)
        await seed(world)
        assert (await of_name(world, "check-ci")).status is Status.ACTIVE
        (line,) = await world.feed()
        assert why in line

    play(tmp_path, scene)


def test_one_bad_reminder_of_a_role_does_not_stop_the_others(tmp_path: Path) -> None:
    async def scene(world: World, files: Files) -> None:
        files.role(CI.replace("every: 30m", "every: 30m\n      cron: '* * * * *'"), REVIEW, REVIEW)
        await seed(world)
        assert [one.name for one in await world.store.reminders.everything()] == ["morning-review"]
        first, second = await problems(world, Source.ROLE)
        assert "check-ci: Only one schedule is allowed; got every and cron" in first
        assert "Two reminders are called 'morning-review'" in second

    play(tmp_path, scene)


ROUTINE = """
    ---
    description: Review open tasks
    schedule:
      cron: "0 18 * * *"
    reserve: true
    late: 1h
    ---

    # Chores

    Look at the list.
"""


def test_a_routine_is_a_file_and_follows_it_while_the_daemon_runs(tmp_path: Path) -> None:
    async def scene(world: World, files: Files) -> None:
        await seed(world)
        daemon = world.daemon(longest_wait=30)
        running = asyncio.create_task(daemon.run())
        files.routine("chores.md", ROUTINE)
        await world.clock.sleep(31)
        made = await of_name(world, "chores", Source.FILE)
        assert (made.message, made.description, made.ref) == (
            "# Chores\n\nLook at the list.",
            "Review open tasks",
            "routines/chores.md",
        )
        assert (made.reserve, str(made.late), made.to_person) == (True, "1h", False)
        assert await world.next_in(made) == 6 * HOUR
        files.routine("chores.md", ROUTINE.replace("18", "19"))
        await world.clock.sleep(31)
        assert await world.next_in(made) == 7 * HOUR
        files.routine("chores.md", None)
        await world.clock.sleep(31)
        assert (await of_name(world, "chores", Source.FILE)).status is Status.PAUSED
        daemon.stop()
        await running
        assert await world.outcomes() == []

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ("no front matter", "has no front matter"),
        ("---\nschedule: [\n---\nx", "line 3"),
        ("---\nschedule:\n  cron: '0 18 * * *'\nrepeat: 3\n---\nx", "line 4: 'repeat' is not a field"),
        ("---\nschedule:\n  cron: '0 99 * * *'\n---\nx", "cron '0 99"),
        ("---\ndescription: d\n---\nx", "'schedule' is missing"),
        ("---\ndescription: d\nschedule: {every: 5}\n---\nx", "line 3: 'schedule.every' must be text"),
        ("---\nschedule:\n  cron: '0 18 * * *'\n---\n  \n", "is empty below"),
        ("---\njust words\n---\nx", "the front matter must be a mapping"),
        ("---\nschedule:\n  cron: '0 18 * * *'\n---\n{nope}", "no variable"),
        ("---\nschedule:\n  every: 5m\n  cron: '0 18 * * *'\n---\nx", "Only one schedule"),
        ("---\nschedule:\n  every: 5m\nmessage: y\n---\nx", "line 4: a routine's message is the text below"),
        ("---\nschedule:\n  every: 5m\nchain: 0\n---\nx", "line 4: 'chain' must be a whole number from 1 to 100"),
        ("---\nschedule:\n  every: 5m\ncondition: yes\n---\nx", "line 4: 'condition' must have fields"),
    ],
)
def test_of_a_broken_routine_the_last_good_one_stays(tmp_path: Path, broken: str, why: str) -> None:
    async def scene(world: World, files: Files) -> None:
        files.routine("chores.md", ROUTINE)
        await world.run_for(SECOND)
        files.routine("chores.md", broken)
        await world.run_for(95 * SECOND)
        assert (await of_name(world, "chores", Source.FILE)).status is Status.ACTIVE
        (line,) = await world.feed()
        assert line.startswith("⚠️ routines/chores.md")
        assert why in line
        files.routine("chores.md", broken)  # saved once more: no news
        await world.run_for(35 * SECOND)
        assert len(await world.feed()) == 1
        files.routine("chores.md", broken + "\n\n{nope}")
        await world.run_for(35 * SECOND)
        assert len(await world.feed()) == 2
        files.routine("chores.md", ROUTINE)
        await world.run_for(35 * SECOND)
        assert await problems(world, Source.FILE) == []

    play(tmp_path, scene)


def test_dates_in_yaml_are_dates(tmp_path: Path) -> None:
    async def scene(world: World, files: Files) -> None:
        files.routine("once.md", "---\nschedule:\n  at: 2026-02-20T15:00:00\n---\nx")
        files.routine("often.md", "---\nschedule:\n  every: 1h\n  until: 2026-03-01\n---\nx")
        await seed(world)
        assert await problems(world, Source.FILE) == []
        assert len(await world.store.reminders.seeded("coach", Source.FILE)) == 2

    play(tmp_path, scene)


def test_hidden_and_other_files_are_no_routines(tmp_path: Path) -> None:
    async def scene(world: World, files: Files) -> None:
        files.routine(".chores.md.swp.md", ROUTINE)
        files.routine("notes.txt", "x")
        await seed(world)
        assert await world.store.reminders.everything() == []
        assert await world.feed() == []

    play(tmp_path, scene)


def test_polling_writes_no_outcomes_and_ends_with_its_agent(tmp_path: Path) -> None:
    async def scene(world: World, files: Files) -> None:
        await world.run_for(5 * MINUTE)
        assert await world.outcomes() == []
        timer = await world.store.timers.get("coach", "routines")
        assert timer
        assert (timer.kind, timer.lane) == ("routines", "coach/routines")
        assert timer.due_at >= Instant(NOON + 5 * MINUTE)
        await world.store.agents.remove("coach", world.now)
        await world.store.timers.set(timer)
        await world.run_for(MINUTE)
        assert await world.store.timers.get("coach", "routines") is None

    play(tmp_path, scene)
