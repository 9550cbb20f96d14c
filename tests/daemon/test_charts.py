"""What pages draw over time, and what the control application says for it."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from nudge.attention.bucket import LevelChange, level_line
from nudge.attention.reserve import PING
from nudge.daemon.acting import Acting
from nudge.daemon.reading import Reading
from nudge.instants import HOUR, MINUTE, Instant
from nudge.model import ToolUse
from nudge.spending.plan_windows import PLAN, PlanTold, PlanWindow
from nudge.testing.life import Life, live
from tests.times import NOON
from tests.worker.test_working import Place, place, reply


def at(hours: float) -> Instant:
    return Instant(int(hours * HOUR))


LINES: dict[str, tuple[list[LevelChange], list[tuple[float, float]]]] = {
    "nothing is known": ([], []),
    "a bucket that nobody takes from is a flat line": ([LevelChange(at(0), 5 * PING, 5, 60)], [(1, 5), (9, 5)]),
    "a ping is taken, and comes back in an hour": (
        [LevelChange(at(0), 5 * PING, 5, 60), LevelChange(at(3), 4 * PING, 5, 60)],
        [(1, 5), (3, 5), (3, 4), (4, 5), (9, 5)],
    ),
    "what was taken before the window still counts": ([LevelChange(at(-1), PING, 5, 60)], [(1, 3), (3, 5), (9, 5)]),
    "a smaller bucket holds less": (
        [LevelChange(at(0), 5 * PING, 5, 60), LevelChange(at(2), 2 * PING, 2, 60)],
        [(1, 5), (2, 5), (2, 2), (9, 2)],
    ),
}


@pytest.mark.parametrize("changes, corners", LINES.values(), ids=LINES.keys())
def test_the_level_of_the_bucket_is_a_line(changes: list[LevelChange], corners: list[tuple[float, float]]) -> None:
    line = level_line(changes, at(1), at(9))
    assert [(moment / HOUR, level / PING) for moment, level in line] == corners


@pytest.mark.parametrize(
    "refill", [600, 10], ids=["taken one after the other", "full again each time, so that the level stored is the same"]
)
def test_each_ping_is_a_step_in_the_level_that_is_drawn_and_is_told(refill: int) -> None:
    async def scenario(life: Life) -> Any:
        reading = Reading(life.daemon, "coach").endpoints()["read/attention"]
        await life.passes(minutes=1)
        for hour in range(3):
            before = await life.store.changes.revision()
            await life.store.attention.take_ping("coach", life.clock.now(), life.now.date(), PING)
            told = await life.store.changes.after(before, 10)
            assert "attention" in [one.kind for one in told]
            await life.passes(minutes=30 + hour)
        return await reading({})

    answer = live(scenario, NOON, capacity=3, refill_minutes=refill)
    levels = [round(one["level"], 2) for one in answer["levels"]]
    assert levels[:2] == [3, 3]
    assert levels[-1] == pytest.approx(answer["bucket"]["available"], abs=0.01)
    assert sum(before - after > 0.9 for before, after in pairwise(levels)) == 3


def test_an_edit_is_taken_back_as_it_was() -> None:
    async def scenario(life: Life) -> list[Any]:
        acting, reading = Acting(life.daemon, "coach"), Reading(life.daemon, "coach")
        added = await acting.add({"words": "stretch every weekday at 9am"})

        async def now() -> tuple[str, str, str]:
            one = await reading.reminder({"id": added["id"]})
            return one["message"], one["schedule_words"], one["next_at"]

        before = await now()
        await acting.edit({"id": added["id"], "message": "stand up", "when": "every day at 10am"})
        changed = await now()
        undone = await acting.undo({})
        return [before, changed, await now(), undone["said"]]

    before, changed, after, said = live(scenario, NOON)
    assert changed[0] == "stand up"
    assert changed[1] != before[1]
    assert after == before
    assert "your change of “stretch”" in said


UNDOS: dict[str, tuple[list[str], int, str, tuple[bool, bool]]] = {
    "the last change": (["save", "quiet"], 1, "Undone: Quiet is on. I write as usual again.", (True, False)),
    "an older one, and what came after it stays": (
        ["save", "quiet"],
        0,
        "Undone: your edit of GOALS.md. What was changed since stays: Quiet is on.",
        (False, True),
    ),
    "one that something newer stands on is left alone": (
        ["quiet", "save", "quiet off"],
        0,
        "I left it alone, because the same thing was changed again since: Quiet is off. Undo that first.",
        (True, False),
    ),
    "one that was taken back before, also if a newer one came": (
        ["save", "undo", "quiet"],
        0,
        "That was already undone, or it is too long ago.",
        (False, True),
    ),
}


@pytest.mark.parametrize("does, which, said, left", UNDOS.values(), ids=UNDOS.keys())
def test_an_undo_takes_back_the_change_it_names(
    does: list[str], which: int, said: str, left: tuple[bool, bool]
) -> None:
    async def scenario(life: Life) -> tuple[str, tuple[bool, bool]]:
        acting, reading = Acting(life.daemon, "coach"), Reading(life.daemon, "coach")
        numbers: list[int] = []
        for one in does:
            if one == "save":
                goals = (await reading.documents({}))["goals"]
                answer = await acting.save({"name": "goals", "before": goals, "text": f"{goals}\n- read a book\n"})
            elif one == "undo":
                answer = {"change": numbers[-1], **await acting.undo({"change": numbers[-1]})}
            else:
                answer = await acting.quiet({"for": "off" if one == "quiet off" else "2h"})
            numbers.append(answer["change"])
        undone = await acting.undo({"change": numbers[which]})
        saved = "read a book" in (await reading.documents({}))["goals"]
        attention = await reading.endpoints()["read/attention"]({})
        return undone["said"], (saved, attention["quiet_until"] is not None)

    assert live(scenario, NOON) == (said, left)


def test_plan_windows_are_told_until_they_begin_again() -> None:
    async def scenario(life: Life) -> list[Any]:
        money = Reading(life.daemon, "coach").endpoints()["read/money"]
        soon = Instant(life.clock.now() + 30 * MINUTE)
        await life.store.records.set("coach", PLAN, PlanTold((PlanWindow("5h", 42, soon),)))
        first = await money({})
        await life.passes(hours=1)
        return [first["plan_windows"], (await money({}))["plan_windows"]]

    told, later = live(scenario, NOON)
    assert [(one["title"], one["percent"]) for one in told] == [("5 hours", 42)]
    assert later == []


def test_a_session_is_told_with_its_costs_and_phases(tmp_path: Path) -> None:
    answers = iter(
        [
            reply(ToolUse("t1", "read_file", {"path": "a.txt"})),
            reply(ToolUse("t2", "write_file", {"path": "a.txt", "content": "x"})),
            reply(ToolUse("t3", "bash", {"command": "true"})),
            reply(ToolUse("t4", "report", {"text": "Done."})),
        ]
    )
    (tmp_path / "a.txt").write_text("a")
    told: dict[str, Any] = {}

    async def scenario(here: Place) -> None:
        await here.give("Change a.txt.")
        await here.clock.sleep(120)
        told.update(await Reading(here.daemon, "coach").endpoints()["read/session"]({"id": "s1"}))

    place(scenario, tmp_path, lambda request: next(answers))
    assert [one["phase"] for one in told["phases"]] == ["exploration", "acting", "verifying"]
    kinds = [line["kind"] for line in told["lines"]]
    assert kinds.count("cost") == 4
    assert kinds.index("cost") == kinds.index("call") + 1
    assert all(line["cost"] > 0 for line in told["lines"] if line["kind"] == "cost")
    assert datetime.fromisoformat(told["phases"][0]["since"]) >= datetime(2026, 3, 2, 12, tzinfo=UTC)


def test_reminders_are_known_by_their_words_in_feed_and_search() -> None:
    async def scenario(life: Life) -> set[str]:
        await life.say("remind me to stretch in 20 minutes")
        await life.passes(hours=1)
        reading = Reading(life.daemon, "coach")
        listed = await reading.reminders({"ended": True, "history": 5})
        assert [one["result"] for one in listed["reminders"][0]["history"]] == ["fired"]
        feed, found = await reading.feed({}), await reading.outcomes({"words": "reminder"})
        return {one["title"] for one in [*feed["feed"], *found["outcomes"]] if one.get("kind") == "reminder"}

    assert live(scenario, NOON) == {"stretch"}
