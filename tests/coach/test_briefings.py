"""Briefings in virtual time: at the person's times, once per period, whatever happens around them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from nudge.attention.restraint import Requests
from nudge.coach.briefings import Briefing
from nudge.errors import BudgetExhaustedError, ModelUnavailableError, NudgeError
from nudge.instants import DAY, HOUR, MINUTE, Instant
from nudge.queue.outcomes import Result
from tests.coach.proactive_world import ScriptedModel, World, in_world
from tests.coach.rig import AGENT
from tests.times import toronto

HOURS = 3600
WEDNESDAY = toronto(2026, 2, 18, 8)
SATURDAY = toronto(2026, 2, 21, 8)
RHYTHM = {"wake_target": "10:00", "bedtime_target": "01:00", "quiet_hours": "02:00-08:00"}


async def briefings(world: World, kind: str) -> list[tuple[str, str]]:
    """(result, reason) of each occurrence of that kind, oldest first."""
    rows = await world.outcomes("briefing")
    return [(row.result.value, row.reason) for row in rows if row.key == f"briefing:{kind}"]


# Morning


def test_the_morning_briefing_comes_at_the_wake_target_once_a_day(tmp_path: Path, store_url: str) -> None:
    async def scenario(world: World) -> None:
        world.goals(**RHYTHM)
        await world.run_for(3 * 24 * HOURS)
        assert world.channel.times() == ["18 10:00", "19 10:00", "20 10:00"]
        assert all("Write the draft" in text for text in world.channel.texts)
        assert await briefings(world, "morning") == [("fired", "The morning briefing.")] * 3
        assert {said.kind for said in await world.store.conversations.recent(AGENT)} == {"briefing"}

    in_world(tmp_path, scenario, WEDNESDAY, url=store_url, model=ScriptedModel())


async def _late(world: World) -> None:
    world.goals(**{**RHYTHM, "wake_target": "11:30"})


async def _early(world: World) -> None:
    world.goals(**{**RHYTHM, "wake_target": "09:30"})


async def _passed(world: World) -> None:
    world.goals(**{**RHYTHM, "wake_target": "08:15"})


async def _west(world: World) -> None:
    world.goals(**RHYTHM, timezone="America/Vancouver")


async def _broken(world: World) -> None:
    world.goals(**{**RHYTHM, "wake_target": "25:99"})


async def _deleted(world: World) -> None:
    world.files.path(AGENT, "GOALS.md").unlink()


@pytest.mark.parametrize(
    ("at", "change", "mornings"),
    [
        pytest.param(1, _late, ["18 11:30", "19 11:30"], id="moved to a later hour before it was told"),
        pytest.param(3, _late, ["18 10:00", "19 11:30"], id="moved to a later hour after it was told: not again today"),
        pytest.param(1, _early, ["18 09:30", "19 09:30"], id="moved to an earlier hour that is still to come"),
        pytest.param(1, _passed, ["18 09:00", "19 08:15"], id="moved to an hour that is over: told now, not lost"),
        pytest.param(3, _passed, ["18 10:00", "19 08:15"], id="moved to an hour that is over after it was told"),
        pytest.param(1, _west, ["18 13:00", "19 13:00"], id="moved to another time zone"),
        pytest.param(1, _broken, ["18 10:00", "19 10:00"], id="an edit that cannot be read changes nothing"),
        pytest.param(1, _deleted, ["18 10:00", "19 10:00"], id="a file that is gone changes nothing"),
    ],
)
def test_targets_that_change_in_the_middle_of_the_day(
    tmp_path: Path, at: int, change: Callable[[World], Awaitable[None]], mornings: list[str]
) -> None:
    async def scenario(world: World) -> None:
        world.goals(**RHYTHM)
        async with world.running(watch=True):
            await world.clock.sleep(at * HOURS - 5)
            await change(world)
            await world.clock.sleep(36 * HOURS)
        rows = [row for row in await world.outcomes("briefing") if row.key == "briefing:morning"]
        assert [row.result for row in rows if row.result not in (Result.FIRED, Result.FIRED_LATE)] == []
        told = [
            moment
            for moment, text in zip(world.channel.times(), world.channel.texts, strict=True)
            if not text.startswith(("I can't", "You're on Vancouver time now"))
        ]
        assert told == mornings

    in_world(tmp_path, scenario, WEDNESDAY, model=ScriptedModel())


def test_a_restart_keeps_the_targets_that_worked_while_the_file_is_broken(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.goals(**{**RHYTHM, "wake_target": "09:00"})
        await world.run_for(60)
        await _broken(world)
        world.assemble()
        await world.run_for(3 * HOURS)
        assert [moment for moment in world.channel.times() if moment == "18 09:00"] == ["18 09:00"]
        assert world.documents.targets(AGENT).as_fields()["wake_target"] == "09:00"

    in_world(tmp_path, scenario, WEDNESDAY)


# Notices about the document


def notices(world: World) -> list[str]:
    return [text for text in world.channel.texts if text.startswith("I can't")]


def test_one_notice_per_broken_version(tmp_path: Path, store_url: str) -> None:
    async def scenario(world: World) -> None:
        world.goals(**RHYTHM)
        async with world.running(watch=True):
            await world.clock.sleep(3 * HOURS)
            for wake in ("25:99", "25:99", "soon", "25:99"):
                world.goals(**{**RHYTHM, "wake_target": wake})
                await world.clock.sleep(20 * 60)
        world.assemble()
        async with world.running(watch=True):
            for wake in ("25:99", "10:00", "25:99"):
                world.goals(**{**RHYTHM, "wake_target": wake})
                await world.clock.sleep(20 * 60)
        first, second, again = notices(world)
        assert 'wake_target: "25:99" is not a time of day' in first
        assert "I'm using the last ones that worked: bedtime_target 01:00, wake_target 10:00" in first
        assert '"soon" is not a time of day' in second
        assert again == first  # it had been mended in between

    in_world(tmp_path, scenario, WEDNESDAY, url=store_url)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(_deleted, "I can't use GOALS.md: it is gone.", id="deleted"),
        pytest.param(
            lambda world: _replace_by_folder(world), "I can't use GOALS.md: I'm not allowed to read it", id="unreadable"
        ),
    ],
)
def test_a_document_that_went_away_is_brought_up_once(
    tmp_path: Path, change: Callable[[World], Awaitable[None]], words: str
) -> None:
    async def scenario(world: World) -> None:
        world.goals(**RHYTHM)
        async with world.running(watch=True):
            await world.clock.sleep(3 * HOURS)
            await change(world)
            await world.clock.sleep(3 * HOURS)
        (notice,) = notices(world)
        assert notice.startswith(words)
        assert "wake_target 10:00" in notice

    in_world(tmp_path, scenario, WEDNESDAY)


async def _replace_by_folder(world: World) -> None:
    path = world.files.path(AGENT, "GOALS.md")
    path.unlink()
    path.mkdir()


def test_a_home_that_never_had_goals_is_not_told_that_they_are_gone(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        await _deleted(world)
        await world.run_for(60)
        world.assemble()
        await world.run_for(3 * HOURS)
        assert notices(world) == []
        assert world.channel.times() == ["18 10:00"]

    in_world(tmp_path, scenario, WEDNESDAY)


def test_an_editor_that_saves_in_two_steps_is_not_complained_about(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.goals(**RHYTHM)
        async with world.running(watch=True):
            await world.clock.sleep(60)
            world.write("GOALS.md", "")  # truncated, and written a moment later
            await world.clock.sleep(11)
            assert await world.store.timers.get(AGENT, "notice:targets") is not None
            world.goals(**{**RHYTHM, "wake_target": "09:00"})
            await world.clock.sleep(2 * HOURS)
        assert notices(world) == []
        assert world.channel.times() == ["18 09:00"]

    in_world(tmp_path, scenario, WEDNESDAY)


def test_a_notice_waits_for_the_end_of_the_quiet_hours_and_is_forgotten_if_it_is_mended(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.goals(**RHYTHM)
        async with world.running(watch=True):
            await world.clock.sleep(60)
            await _broken(world)
            await world.clock.sleep(4 * HOURS)
            world.goals(**RHYTHM)
            await world.clock.sleep(20 * HOURS)
            await _broken(world)
            await world.clock.sleep(20 * HOURS)
        assert [world.channel.times()[n] for n, text in enumerate(world.channel.texts) if "can't" in text] == [
            "19 08:00"
        ]

    in_world(tmp_path, scenario, toronto(2026, 2, 18, 3))


# Bedtime


async def stay_up(world: World, until: Instant) -> None:
    """Use the phone every ten minutes."""
    while world.clock.now() < until:
        await world.active()
        await world.clock.sleep(600)


@pytest.mark.parametrize(
    ("bedtime", "nudges"),
    [
        pytest.param("01:00", ["19 00:00", "19 01:00", "19 01:30"], id="a bedtime after midnight"),
        pytest.param("00:30", ["18 23:30", "19 00:30", "19 01:00"], id="a night across midnight"),
        pytest.param("00:00", ["18 23:00", "19 00:00", "19 00:30"], id="a bedtime that is the turn of the day"),
        pytest.param("22:00", ["18 21:00", "18 22:00", "18 22:30"], id="a bedtime in the evening"),
    ],
)
def test_bedtime_is_casual_then_direct_then_serious_and_never_a_fourth_time(
    tmp_path: Path, bedtime: str, nudges: list[str]
) -> None:
    async def scenario(world: World) -> None:
        world.goals(bedtime_target=bedtime, wake_target="10:00", quiet_hours="08:00-10:00")
        async with world.running():
            await stay_up(world, toronto(2026, 2, 19, 8))
        assert world.channel.times() == nudges
        fired = [row.reason for row in await world.outcomes("briefing") if row.result is Result.FIRED]
        assert fired == ["Bedtime, casual.", "Bedtime, direct.", "Bedtime, serious."]
        assert (await world.coach.facts.state(AGENT, world.clock.now())).bedtime_nudges == 3

    in_world(tmp_path, scenario, toronto(2026, 2, 18, 20, 5), model=ScriptedModel())


def test_a_model_writes_the_bedtime_message_in_the_nights_tone(tmp_path: Path) -> None:
    spender = ScriptedModel("Nearly there?", "HEARTBEAT_OK", "It is time.", "HEARTBEAT_OK")

    async def scenario(world: World) -> None:
        world.goals(**RHYTHM)
        async with world.running():
            await stay_up(world, toronto(2026, 2, 19, 1, 10))
        assert world.channel.texts == ["Nearly there?", "It is time."]
        asked = [call.turns[0].text for call in spender.calls if call.purpose == "briefing"]
        assert ["casual" in asked[0], "direct" in asked[1]] == [True, True]

    in_world(tmp_path, scenario, toronto(2026, 2, 18, 23, 40), model=spender)


@pytest.mark.parametrize(
    ("last_seen", "nudges"),
    [
        pytest.param((23, 0), ["19 00:00"], id="exactly an hour ago is inside"),
        pytest.param((22, 59), [], id="a minute more is not"),
        pytest.param((0, 40), ["19 00:45", "19 01:15"], id="back at 00:40: the night still begins casually"),
        pytest.param((1, 58), ["19 02:00"], id="back just before the last call"),
    ],
)
def test_only_somebody_who_was_there_in_the_last_hour_hears_about_bedtime(
    tmp_path: Path, last_seen: tuple[int, int], nudges: list[str]
) -> None:
    async def scenario(world: World) -> None:
        world.goals(bedtime_target="01:00", wake_target="10:00", quiet_hours="09:00-10:00")
        seen = toronto(2026, 2, 18 + (last_seen[0] < 12), *last_seen)
        async with world.running():
            await world.clock.sleep((seen - world.clock.now()) / 1e6)
            await world.active()
            await world.clock.sleep(5 * HOURS)
        assert world.channel.times() == nudges

    in_world(tmp_path, scenario, toronto(2026, 2, 18, 22), model=ScriptedModel())


def test_a_new_night_begins_casually_again(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.goals(**RHYTHM)
        async with world.running():
            await stay_up(world, toronto(2026, 2, 20, 2))
        told = [row.reason for row in await world.outcomes("briefing") if row.result is Result.FIRED]
        night = ["Bedtime, casual.", "Bedtime, direct.", "Bedtime, serious."]
        assert told == [*night, "The morning briefing.", *night]

    in_world(tmp_path, scenario, toronto(2026, 2, 18, 23), model=ScriptedModel())


def test_looking_at_the_documents_at_night_neither_loses_nor_repeats_a_nudge(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.goals(**RHYTHM)
        async with world.running(watch=True):
            await world.active()
            for minute in range(6, 150, 7):
                await world.clock.sleep(7 * 60)
                await world.active()
                world.write("MEMORY.md", f"## Recent Context\n\nMinute {minute}.\n")
        assert world.channel.times() == ["19 00:00", "19 01:00", "19 01:30"]

    in_world(tmp_path, scenario, toronto(2026, 2, 18, 23, 50), model=ScriptedModel())


def test_a_bedtime_that_is_moved_earlier_at_night_is_noticed(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.goals(**RHYTHM)
        async with world.running(watch=True):
            await world.clock.sleep(60)
            world.goals(**{**RHYTHM, "bedtime_target": "23:30"})
            await stay_up(world, toronto(2026, 2, 19, 2))
        assert world.channel.times() == ["18 23:01", "18 23:31", "19 00:01"]

    in_world(tmp_path, scenario, toronto(2026, 2, 18, 23), model=ScriptedModel())


def test_quiet_hours_end_the_night(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.goals(bedtime_target="01:00", wake_target="10:00", quiet_hours="01:00-10:00")
        async with world.running():
            await stay_up(world, toronto(2026, 2, 19, 5))
        assert world.channel.times() == ["19 00:00"]
        rows = await world.outcomes("briefing")
        assert {row.detail["rule"] for row in rows if row.result is Result.SUPPRESSED} == {"quiet-hours"}

    spender = ScriptedModel("Bed?")
    in_world(tmp_path, scenario, toronto(2026, 2, 18, 23, 55), model=spender)
    assert spender.purposes().count("briefing") == 1  # nobody asks a model for words that may not be said


def test_a_night_that_was_slept_through_by_the_machine_begins_where_it_is(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.goals(bedtime_target="01:00", wake_target="10:00", quiet_hours="09:00-10:00")
        await world.run_for(60)
        world.clock.jump(100 * MINUTE)  # to 01:31
        world.assemble()
        async with world.running():
            await stay_up(world, toronto(2026, 2, 19, 4))
        assert world.channel.times() == ["19 01:31"]

    in_world(tmp_path, scenario, toronto(2026, 2, 18, 23, 50), model=ScriptedModel())


# The weekly review


@pytest.mark.parametrize(
    ("review", "times", "opening", "mornings"),
    [
        pytest.param("10:00", ["21 10:00"], True, ["skipped"], id="at the same time: one message"),
        pytest.param("10:30", ["21 10:30"], True, ["skipped"], id="half an hour after waking: still one message"),
        pytest.param("10:31", ["21 10:00", "21 10:31"], False, ["fired"], id="a minute more: two"),
        pytest.param("14:00", ["21 10:00", "21 14:00"], False, ["fired"], id="in the afternoon"),
    ],
)
def test_the_weekly_review_opens_the_day_where_both_come_together(
    tmp_path: Path, review: str, times: list[str], opening: bool, mornings: list[str]
) -> None:
    spender = ScriptedModel("Good morning from the model.")

    async def scenario(world: World) -> None:
        world.goals(**RHYTHM, weekly_review=f"Saturday {review}")
        await world.run_for(8 * HOURS)
        assert world.channel.times() == times
        assert [bool(words) for _, words in world.reviews] == [opening]
        assert [result for result, _ in await briefings(world, "morning")] == mornings
        assert await world.store.periods.taken(AGENT, Briefing.MORNING, "2026-02-21") is not None
        assert await world.store.periods.taken(AGENT, Briefing.WEEKLY_REVIEW, "2026-W08") is not None

    in_world(tmp_path, scenario, SATURDAY, model=spender)
    assert spender.purposes().count("briefing") == 1


def test_a_review_that_was_had_already_does_not_swallow_the_morning(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.goals(**RHYTHM, weekly_review="Saturday 10:00")
        await world.store.periods.claim(AGENT, Briefing.WEEKLY_REVIEW, "2026-W08", world.clock.now())
        await world.run_for(4 * HOURS)
        assert (world.channel.times(), world.reviews) == (["21 10:00"], [])

    in_world(tmp_path, scenario, SATURDAY)


def test_a_morning_that_was_told_already_is_not_told_by_the_review_again(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.goals(**RHYTHM, weekly_review="Saturday 14:00")
        async with world.running(watch=True):
            await world.clock.sleep(2 * HOURS + 60)
            world.goals(**RHYTHM, weekly_review="Saturday 10:15")
            await world.clock.sleep(2 * HOURS)
        assert world.channel.times() == ["21 10:00", "21 10:15"]
        assert [words for _, words in world.reviews] == [""]

    in_world(tmp_path, scenario, SATURDAY)


def test_a_review_in_a_quiet_morning_comes_when_it_is_over(tmp_path: Path) -> None:
    spender = ScriptedModel("Good morning.")

    async def scenario(world: World) -> None:
        world.goals(**RHYTHM, weekly_review="Saturday 10:00")
        await world.store.attention.set_requests(AGENT, Requests(quiet_until=toronto(2026, 2, 21, 12)))
        await world.run_for(6 * HOURS)
        assert world.channel.times() == ["21 12:00"]
        assert [words for _, words in world.reviews] == ["Good morning."]
        assert await briefings(world, "weekly_review") == [("fired-late", "The weekly review.")]

    in_world(tmp_path, scenario, SATURDAY, model=spender)


def test_a_review_begins_once_a_week(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.goals(**RHYTHM, weekly_review="Saturday 10:00")
        async with world.running(watch=True):
            await world.clock.sleep(5 * HOURS)
            world.goals(**RHYTHM, weekly_review="Sunday 10:00")  # this week has had its review
            await world.clock.sleep(60)
        world.assemble()
        await world.run_for(9 * 24 * HOURS)
        assert [(at - SATURDAY) // DAY for at, _ in world.reviews] == [0, 8]

    in_world(tmp_path, scenario, SATURDAY)


# The month


def test_the_monthly_check_comes_on_the_first_at_seven_in_the_evening(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.goals(**RHYTHM, weekly_review="Monday 10:00")
        await world.run_for(33 * 24 * HOURS)
        monthly = [row for row in await world.outcomes("briefing") if row.key == "briefing:monthly"]
        assert [row.slot_at for row in monthly] == [toronto(2026, 3, 1, 19), toronto(2026, 4, 1, 19)]
        assert {row.result for row in monthly} == {Result.FIRED}

    in_world(tmp_path, scenario, toronto(2026, 2, 28, 12), model=ScriptedModel())


# Days on which the clock changes


@pytest.mark.parametrize(
    ("day", "wake", "told"),
    [
        pytest.param((2026, 3, 7), "02:30", ["08 03:00", "09 02:30"], id="a wake time in the gap"),
        pytest.param((2026, 10, 31), "01:30", ["01 01:30", "02 01:30"], id="a wake time that comes twice"),
        pytest.param((2026, 3, 7), "10:00", ["08 10:00", "09 10:00"], id="a short night"),
    ],
)
def test_on_days_of_23_and_25_hours_there_is_one_morning(
    tmp_path: Path, day: tuple[int, int, int], wake: str, told: list[str]
) -> None:
    async def scenario(world: World) -> None:
        world.goals(wake_target=wake, bedtime_target="22:00", quiet_hours="20:00-20:01", weekly_review="Thursday 12:00")
        await world.run_for(47 * HOURS)
        mornings = [
            moment
            for moment, text in zip(world.channel.times(), world.channel.texts, strict=True)
            if "Write the draft" in text
        ]
        assert mornings == told

    in_world(tmp_path, scenario, toronto(*day, 12), model=ScriptedModel())


def test_bedtime_is_a_real_hour_away_in_the_night_of_the_change(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.goals(
            bedtime_target="03:30", wake_target="11:00", quiet_hours="10:00-11:00", weekly_review="Friday 12:00"
        )
        async with world.running():
            await stay_up(world, toronto(2026, 3, 8, 6))
        # 01:30 EST is an hour before 03:30 EDT
        assert world.channel.times() == ["08 01:30", "08 03:30", "08 04:00"]

    in_world(tmp_path, scenario, toronto(2026, 3, 8, 1), model=ScriptedModel())


# When nobody could tell it in time


@pytest.mark.parametrize(
    ("hours", "result", "told"),
    [
        pytest.param(3, "fired-late", ["18 11:00", "19 10:00"], id="back an hour later: told late"),
        pytest.param(8, "fired-late", ["18 16:00", "19 10:00"], id="exactly six hours late is inside"),
        pytest.param(9, "missed", ["19 10:00"], id="seven hours later it is of no use"),
        pytest.param(50, "missed", ["20 10:00"], id="two days later, on time for that morning's"),
        pytest.param(53, "missed", ["20 13:00", "21 10:00"], id="two days later, three hours late for that morning's"),
        pytest.param(57, "missed", ["21 10:00"], id="two days later, too late for that morning's too"),
    ],
)
def test_downtime_over_a_briefing(tmp_path: Path, hours: int, result: str, told: list[str]) -> None:
    async def scenario(world: World) -> None:
        world.goals(**{**RHYTHM, "quiet_hours": "03:00-03:01"})
        await world.start()
        async with world.running():
            await world.clock.sleep(1)
        world.clock.jump(hours * HOUR - 1_000_000)
        world.assemble()
        await world.run_for(24 * HOURS)
        assert world.channel.times() == told
        (first, reason), *_ = await briefings(world, "morning")
        assert first == result
        if result == "missed":
            assert reason == "More than 6 hours late."
            feed = [line.text for line in await world.store.feed.recent() if line.kind == "missed"]
            assert feed[-1] == "Missed the morning briefing."

    in_world(tmp_path, scenario, WEDNESDAY, model=ScriptedModel())


@pytest.mark.parametrize(
    ("until", "told", "result"),
    [
        pytest.param((10, 3), ["18 10:03"], "fired-late", id="a conversation: five minutes after the last word"),
        pytest.param((15, 0), ["18 15:00"], "fired-late", id="quiet until three in the afternoon"),
        pytest.param((17, 0), [], "missed", id="quiet until five: too late for a good morning"),
    ],
)
def test_a_briefing_that_may_not_come_now_is_put_off_and_costs_nothing(
    tmp_path: Path, until: tuple[int, int], told: list[str], result: str
) -> None:
    spender = ScriptedModel()

    async def scenario(world: World) -> None:
        world.goals(**RHYTHM)
        end = toronto(2026, 2, 18, *until)
        if until[0] == 10:
            await world.store.attention.conversation(AGENT, Instant(end - 5 * MINUTE))
        else:
            await world.store.attention.set_requests(AGENT, Requests(quiet_until=end))
        await world.run_for(10 * HOURS)
        assert world.channel.times() == told
        assert [one for one, _ in await briefings(world, "morning")] == [result]

    in_world(tmp_path, scenario, WEDNESDAY, model=spender)
    assert spender.purposes().count("briefing") == len(told)


def test_left_alone_for_hours_no_model_is_asked_for_words(tmp_path: Path) -> None:
    spender = ScriptedModel()

    async def scenario(world: World) -> None:
        world.goals(**RHYTHM)
        await world.store.attention.set_requests(AGENT, Requests(left_alone=True))
        async with world.running():
            await world.clock.sleep(5 * HOURS + 60)
            assert spender.calls == []
            async with world.store.transaction():
                await world.store.attention.set_requests(AGENT, Requests())
                await world.store.attention.conversation(AGENT, world.clock.now())
            await world.clock.sleep(1 * HOURS)
        assert world.channel.times() == ["18 14:00"]

    in_world(tmp_path, scenario, WEDNESDAY, model=spender)


# Which mind writes it


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(ModelUnavailableError("away", unbilled=True), id="the service is away"),
        pytest.param(BudgetExhaustedError("spent"), id="the money is spent"),
        pytest.param(NudgeError("the credit balance is too low"), id="the question is not taken"),
        pytest.param("\u200b\ufeff", id="the model says what nobody can see"),
        pytest.param("x" * 5000, id="the model runs wild"),
        pytest.param("  \n", id="the model says nothing"),
    ],
)
def test_a_briefing_is_never_lost_to_a_model(tmp_path: Path, answer: Any) -> None:
    async def scenario(world: World) -> None:
        world.goals(**RHYTHM)
        await world.run_for(2 * HOURS + 1)
        (text,) = world.channel.texts
        assert "Write the draft" in text

    in_world(tmp_path, scenario, WEDNESDAY, model=ScriptedModel(answer))


@pytest.mark.parametrize("answer", ["HEARTBEAT_OK", "heartbeat_ok.", "**Heartbeat_OK**"])
def test_a_model_may_say_that_there_is_nothing_to_say(tmp_path: Path, answer: str) -> None:
    async def scenario(world: World) -> None:
        world.goals(**RHYTHM)
        await world.run_for(2 * HOURS + 1)
        assert world.channel.texts == []
        (row,) = await world.outcomes("briefing")
        assert (row.result, row.reason) == (Result.SKIPPED, "Nothing to say.")
        (asked,) = [call for call in spender.calls if call.purpose == "briefing"]
        assert "answer exactly HEARTBEAT_OK" in asked.system_text

    spender = ScriptedModel(answer)
    in_world(tmp_path, scenario, WEDNESDAY, model=spender)


def test_somebody_who_took_the_turn_meanwhile_makes_it_look_again(tmp_path: Path) -> None:
    spender = ScriptedModel("Good morning.")

    async def scenario(world: World) -> None:
        world.goals(**RHYTHM)

        async def another_daemon() -> None:
            await world.store.periods.claim(AGENT, Briefing.MORNING, "2026-02-18", world.clock.now())

        spender.before_answer = another_daemon
        await world.run_for(2 * HOURS + 30)
        assert world.channel.texts == []
        assert await briefings(world, "morning") == [("skipped", "Already sent for this period.")]
        assert (await world.gate.row(AGENT, world.clock.now())).budget.daily_used == 0

    in_world(tmp_path, scenario, WEDNESDAY, model=spender)
