"""The weekly review in the conversation: nine answers, pauses, other talk, and its end after a day."""

from __future__ import annotations

from typing import Any

import pytest

from nudge.coach.review import AGAIN, BACK, Status
from nudge.instants import DAY, HOUR, Instant
from nudge.model import Purpose
from tests.coach.rig import Rig, Scripted, says
from tests.coach.test_commands import History
from tests.times import NOON

ANSWERS = ("Wrote daily", "Slept late", "Half done", "Done", "Nothing", "Past two", "Phone away at midnight", "Mary")
GOALS = '## This Week\n1. Finish the draft\n2. Run twice\n\n## Schedule Targets\n- timezone: "America/Toronto"\n'
MEMORY = "## Preferences\n- Don't message about sleep\n- You can message about sleep after midnight\n"


async def status(rig: Rig) -> Status | None:
    review = await rig.coach.facts.review("coach")
    return review.status if review else None


def test_nine_answers_rewrite_the_week_and_keep_a_summary(coach_everywhere: Any) -> None:
    history = History()
    model = Scripted()

    async def scenario(rig: Rig) -> None:
        rig.write("GOALS.md", GOALS)
        rig.write(
            "MEMORY.md", "## Preferences\n- Don't message about sleep\n- You can message about sleep after midnight\n"
        )
        said = await rig.say("/review")
        assert "1 of 9" in said
        for number, answer in enumerate(ANSWERS, start=2):
            said = await rig.say(answer)
            assert f"{number} of 9" in said
        assert "“Finish the draft”" in rig.channel.texts[2]
        assert history.commits == 0
        said = await rig.say("1. Submit the draft\n2. Call Mary")
        assert "1. Submit the draft\n2. Call Mary" in said
        assert history.commits == 1
        assert rig.document("GOALS.md").startswith("## This Week\n1. Submit the draft\n2. Call Mary\n\n## Schedule")
        memory = rig.document("MEMORY.md")
        assert "2026-W08:" in memory
        assert "Wrote daily" in memory
        assert "- Don't message about sleep" not in memory
        assert await status(rig) is Status.DONE
        assert await rig.store.timers.get("coach", "review-timeout") is None
        assert any("review" in line.kind for line in await rig.store.feed.recent(agent="coach"))

    coach_everywhere(scenario, model, history=history)
    assert {request.purpose for request in model.requests} == {Purpose.REVIEW}


def test_other_talk_is_answered_and_the_question_comes_again(coach: Any) -> None:
    model = Scripted(says("Two degrees."), says("Still two."))

    async def scenario(rig: Rig) -> None:
        await rig.say("/review")
        said = await rig.say("how cold is it?")
        assert said.startswith(f"Two degrees.\n\n{BACK}")
        assert "1 of 9" in said
        assert "2 of 9" in await rig.say("Wrote daily")
        assert "Paused after 1 of 9" in await rig.say("not now")
        assert "2 of 9" in await rig.say("/review")

    coach(scenario, model)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("cancel the stretch one", "Cancelled: stretch"),
        ("what are my goals", "Finish the draft"),
        ("what time is it", "12:"),
        ("remind me to call bob friday 5pm", "call bob"),
        ("move stretch to 4pm", "Moved: stretch"),
    ],
)
def test_by_rules_something_else_is_done_and_the_question_comes_again(words: str, part: str, coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        rig.write("GOALS.md", GOALS)
        await rig.say("/remind stretch every day at 3pm")
        await rig.say("/review")
        await rig.say("Wrote daily")
        said = await rig.say(words)
        assert part in said
        assert "2 of 9" in said
        assert "3 of 9" in await rig.say("I finished chapter two")

    coach(scenario)


@pytest.mark.parametrize("model", [False, True], ids=["by rules", "with a model"])
def test_a_second_review_in_the_week_adds_and_overwrites_nothing(model: bool, coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        rig.write("GOALS.md", GOALS)
        rig.write("MEMORY.md", MEMORY)
        await rig.say("/review")
        for answer in (*ANSWERS, "1. Submit the draft\n2. Call Mary"):
            await rig.say(answer)
        first = [line for line in rig.document("MEMORY.md").splitlines() if "2026-W08:" in line]
        assert AGAIN in await rig.say("/review")
        for answer in (*("skip" for _ in ANSWERS), "1. Run twice\n2. Sleep\n3. Call Mary"):
            await rig.say(answer)
        assert "1. Submit the draft\n2. Call Mary\n3. Run twice\n" in rig.document("GOALS.md")
        memory = rig.document("MEMORY.md")
        assert all(line in memory for line in first)
        assert "2026-W08 (review 2):" in memory or model

    coach(scenario, Scripted() if model else None)


def test_a_review_that_was_stopped_goes_on_in_the_same_week(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        rig.write("GOALS.md", GOALS)
        rig.write("MEMORY.md", MEMORY)
        await rig.say("/review")
        await rig.say("Wrote daily")
        await rig.say("stop")
        assert "(skipped, 1 of 9) well: Wrote daily" in rig.document("MEMORY.md")
        assert "2 of 9" in await rig.say("/review")
        await rig.say("Slept late")
        await rig.say("stop")
        memory = rig.document("MEMORY.md")
        assert memory.count("2026-W08") == 1
        assert "(skipped, 2 of 9) well: Wrote daily; not: Slept late" in memory

    coach(scenario)


@pytest.mark.parametrize("words", ["focusing", "leave me alone", "20 more minutes"])
def test_a_wish_for_peace_is_no_answer_and_pauses_it(words: str, coach: Any) -> None:
    model = Scripted(says("Of course."))

    async def scenario(rig: Rig) -> None:
        await rig.say("/review")
        assert await rig.say(words) == "Of course."
        assert await status(rig) is Status.PAUSED
        assert "1 of 9" in await rig.say("continue")

    coach(scenario, model)


def test_it_can_be_paused_and_skipped_by_command(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        assert "No review in progress" in await rig.say("/review pause")
        await rig.say("/review")
        assert "Paused" in await rig.say("/review pause")
        assert await status(rig) is Status.PAUSED
        assert "I've ended the review" in await rig.say("/review skip")
        assert await status(rig) is Status.SKIPPED

    coach(scenario)


def test_a_day_after_the_last_answer_it_ends_with_what_there_is(coach_everywhere: Any) -> None:
    async def scenario(rig: Rig) -> None:
        await rig.say("/review")
        await rig.settle(HOUR / 1_000_000)
        await rig.say("Wrote daily")
        sent = len(rig.channel.sent)
        timer = await rig.store.timers.get("coach", "review-timeout")
        assert timer is not None
        assert NOON + DAY < timer.due_at < NOON + DAY + 2 * HOUR
        await rig.settle(24 * 3600 + 60)
        assert await status(rig) is Status.INCOMPLETE
        assert "2026-W08: (incomplete, 1 of 9) well: Wrote daily" in rig.document("MEMORY.md")
        assert not any("review" in text for text in rig.channel.texts[sent:])

    coach_everywhere(scenario)


def test_a_message_after_the_day_finds_the_review_over(coach: Any) -> None:
    model = Scripted(says("Morning!"))

    async def scenario(rig: Rig) -> None:
        await rig.say("/review")
        rig.clock.jump(DAY + HOUR)
        assert await rig.say("good morning") == "Morning!"
        assert await status(rig) is Status.INCOMPLETE

    coach(scenario, model)


def test_a_forwarded_text_is_no_answer(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        await rig.say("/review")
        assert BACK in await rig.say("skip", forwarded=True)
        review = await rig.coach.facts.review("coach")
        assert review is not None
        assert (review.index, review.status) == (0, Status.ASKING)

    coach(scenario)


@pytest.mark.parametrize("again", [False, True])
def test_the_morning_opens_it_once(coach: Any, again: bool) -> None:
    async def scenario(rig: Rig) -> None:
        for _ in range(1 + again):
            async with rig.store.transaction():
                await rig.coach.review.start("coach", rig.clock.now(), "Good morning.")
        await rig.settle()
        assert rig.channel.texts[0].startswith("Good morning.\n\nTime to look back")
        assert all("1 of 9" in text for text in rig.channel.texts)
        (message,) = [one for one in await rig.store.outbox.recent("coach") if "Time to look back" in one.text]
        assert message.kind == "briefing"

    coach(scenario)


def test_a_transaction_that_fails_starts_no_review(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        with pytest.raises(RuntimeError):
            async with rig.store.transaction():
                await rig.coach.review.start("coach", Instant(NOON))
                raise RuntimeError
        assert await status(rig) is None
        assert await rig.store.outbox.recent("coach") == []

    coach(scenario)


def test_a_week_that_cannot_be_written_is_admitted(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        rig.write("GOALS.md", "## This Week\n```\nnever closed\n")
        await rig.say("/review")
        for answer in ANSWERS:
            await rig.say(answer)
        before = rig.document("GOALS.md")
        said = await rig.say("1. One\n2. Two")
        assert rig.document("GOALS.md") == before or "1. One" in rig.document("GOALS.md")
        assert ("could not be written" in said) == (rig.document("GOALS.md") == before)

    coach(scenario)
