"""Actions at their edges: state, doubles, documents that cannot be read or written, reminders of somebody else."""

from __future__ import annotations

from typing import Any

import pytest

from nudge.coach.changes import still_whole
from nudge.coach.person_reminders import PersonReminders
from nudge.errors import NotConfiguredError, NotFoundError
from nudge.instants import HOUR, Instant, rfc3339
from nudge.queue.agents import Agent
from tests.coach.rig import Rig, Scripted, says
from tests.reminders.reminder_values import asked
from tests.times import NOON, TORONTO

TEA = {"action": "update_memory", "section": "Preferences", "add": "Likes tea"}


def test_the_flags_of_the_heartbeat_can_be_set_and_no_silence_shortened(coach: Any) -> None:
    until = rfc3339(Instant(NOON + HOUR), TORONTO)
    updates = {"quiet_mode_until": until, "bedtime_nudge_sent": True}

    async def scenario(rig: Rig) -> None:
        await rig.say("/quiet 3h")
        assert "my own ideas to myself until 13:00." in await rig.say("enough")
        state = await rig.coach.facts.state("coach", NOON)
        assert (state.quiet_until, state.bedtime_nudges) == (NOON + 3 * HOUR, 1)

    coach(scenario, Scripted(says("Fine.", {"action": "set_state", "state_updates": updates})))


def test_the_same_action_twice_is_done_once(coach: Any) -> None:
    reminder = {"action": "add_reminder", "text": "call Mum", "when": "in 2h"}

    async def scenario(rig: Rig) -> None:
        said = await rig.say("twice, please")
        assert said.count("noted that") == 1
        assert len(await rig.reminders.list("coach")) == 1
        assert rig.document("MEMORY.md").count("- Likes tea") == 1

    coach(scenario, Scripted(says("Sure.", TEA, TEA, reminder, reminder)))


def test_what_is_known_already_is_said_to_be(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        await rig.say("I like tea")
        assert "already" in await rig.say("I like tea")
        assert await rig.say("/undo") != "There's nothing to undo."
        assert await rig.say("/undo") == "There's nothing to undo."

    coach(scenario, Scripted(says("Ok.", TEA), says("Ok.", TEA)))


def test_a_document_that_cannot_be_read_refuses_the_edit_and_not_the_answer(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        text = rig.documents.text

        def unreadable(agent: str, name: str) -> str:
            if name == "MEMORY.md":
                raise NotConfiguredError("MEMORY.md of coach cannot be read: Permission denied.")
            return text(agent, name)

        rig.documents.text = unreadable  # type: ignore[method-assign]
        said = await rig.say("I like tea")
        assert said.startswith("Noted.")
        assert "I couldn't change my memory: MEMORY.md of coach cannot be read: Permission denied." in said
        assert "Removed" in await rig.say("/redact")
        await rig.say("/review")
        assert "2 of 9" in await rig.say("It went well")

    coach(scenario, Scripted(says("Noted.", TEA)))


def test_a_section_without_a_place_to_write_refuses_the_edit(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        rig.write("GOALS.md", "```\n## Today\n1. never closed\n")
        before = rig.document("GOALS.md")
        said = await rig.say("plan")
        after = rig.document("GOALS.md")
        assert (after == before) == ("I couldn't change your goals" in said)
        assert "1. never closed" in after

    coach(scenario, Scripted(says("Ok.", {"action": "update_goals", "section": "Today", "lines": ["Write"]})))


@pytest.mark.parametrize(
    ("before", "after", "whole"),
    [
        pytest.param("## A\n- x\n## B\n", "## A\n- y\n## B\n", True, id="a line changed"),
        pytest.param("## A\n", "## A\n## C\n", True, id="a section added"),
        pytest.param("## A\n## B\n", "## A\n", False, id="a section lost"),
        pytest.param("## A\n## B\n", "## B\n## A\n", False, id="sections swapped"),
        pytest.param(
            '## Schedule Targets\n- wake_target: "10:00"\n',
            '## Schedule Targets\n- wake_target: "noon"\n',
            False,
            id="a target broken",
        ),
        pytest.param(
            '## Schedule Targets\n- wake_target: "noon"\n',
            '## Schedule Targets\n- wake_target: "noon"\n## Today\n- x\n',
            True,
            id="one that was broken before",
        ),
    ],
)
def test_an_edit_leaves_the_document_whole(before: str, after: str, whole: bool) -> None:
    assert still_whole("GOALS.md", before, after) is whole


def test_another_agents_reminder_is_not_there(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        await rig.store.agents.add(Agent("worker", "worker", NOON))
        other = (await rig.reminders.add("worker", asked("x", in_="2h", to_person=True), NOON)).reminder
        mine = PersonReminders(rig.reminders)
        for verb in (mine.done, mine.skip):
            with pytest.raises(NotFoundError):
                await verb("coach", other.id, NOON)
        with pytest.raises(NotFoundError):
            await mine.snooze("coach", other.id, HOUR, NOON)
        assert not await mine.forget("coach", other.id, NOON)
        assert await rig.reminders.get(other.id) == other
        assert "couldn't find a reminder" in await rig.say(f"/done {other.id}")

    coach(scenario)


def test_leave_me_alone_with_an_end_keeps_the_later_one(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        await rig.say("/quiet 5h")
        await rig.say("leave me alone for 2 hours")
        row = await rig.store.attention.get("coach")
        assert row is not None
        assert (row.requests.quiet_until, row.requests.left_alone) == (NOON + 5 * HOUR, False)

    coach(scenario)
