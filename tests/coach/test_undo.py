"""/undo and /redact: what was done can be taken back, and what was said can be taken out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nudge.coach.changes import NOTHING
from nudge.coach.redact import REDACTED, all_forms, scrub, scrub_all
from nudge.coach.store import Saying
from nudge.home.logs import LogRedaction
from nudge.instants import DAY, HOUR, Instant
from nudge.queue.outcomes import FeedLine, Outcome, Result
from nudge.reminders.reminder import Status
from tests.coach.rig import Rig, Scripted, says, stored_words
from tests.times import NOON


def test_there_is_nothing_to_take_back_at_first(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        assert await rig.say("/undo") == NOTHING

    coach(scenario)


def test_a_document_comes_back_byte_for_byte_but_for_recent_context(coach_everywhere: Any) -> None:
    async def scenario(rig: Rig) -> None:
        await rig.say("hello")
        goals, memory = rig.document("GOALS.md"), rig.document("MEMORY.md")
        await rig.say("add write the intro to today")
        await rig.say("remember that I like tea")
        assert rig.document("GOALS.md") != goals
        assert (await rig.say("/undo")).startswith("Undone: Got it, I've noted that")
        assert (await rig.say("/undo")).startswith("Undone: Today is now: 1. Write the intro")
        assert rig.document("GOALS.md") == goals
        assert without_context(rig.document("MEMORY.md")) == without_context(memory)
        assert "I like tea" in rig.document("MEMORY.md").partition("## Recent Context")[2]
        assert await rig.say("/undo") == NOTHING

    coach_everywhere(scenario)


def without_context(text: str) -> str:
    head, _, tail = text.partition("## Recent Context")
    return head + tail.partition("## Conference")[2]


def test_a_document_that_was_edited_since_is_left_alone(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        await rig.say("add write the intro to today")
        edited = rig.document("GOALS.md") + "\n<!-- mine -->\n"
        rig.write("GOALS.md", edited)
        said = await rig.say("/undo")
        assert "GOALS.md changed in the meantime" in said
        assert rig.document("GOALS.md") == edited

    coach(scenario)


def test_a_reminder_goes_and_an_answered_one_stays(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        await rig.say("/remind stretch in 20 minutes")
        (listed,) = await rig.reminders.list("coach")
        assert await rig.say("/undo") == "Undone: the reminder “stretch”"
        assert (await rig.reminders.get(listed.id)).status is Status.CANCELLED
        await rig.say("remind me to call Mum in 10 minutes")
        await rig.settle(15 * 60)
        await rig.say("/done")
        await rig.say("/undo")
        (mum,) = [one for one in await rig.reminders.list("coach", ended=True) if one.message == "call Mum"]
        assert mum.status == Status.COMPLETED

    coach(scenario)


@pytest.mark.parametrize("text", ["/quiet 3h", "busy", "leave me alone", "30 more min", "quiet for 3h"])
def test_a_pause_is_lifted(coach: Any, text: str) -> None:
    async def scenario(rig: Rig) -> None:
        await rig.say("/quiet 1h")
        await rig.say(text)
        await rig.say("/undo")
        row = await rig.store.attention.get("coach")
        assert row is not None
        assert (row.requests.quiet_until, row.requests.busy_until, row.requests.left_alone) == (
            NOON + HOUR,
            None,
            False,
        )
        assert (await rig.coach.facts.state("coach", NOON)).delayed_until is None
        assert await rig.store.timers.get("coach", "ask-again") is None

    coach(scenario)


def test_what_one_message_did_is_taken_back_together(coach: Any) -> None:
    model = Scripted(
        says(
            "All set.",
            {"action": "update_memory", "section": "Preferences", "add": "Likes tea"},
            {"action": "add_reminder", "text": "call Mum", "when": "in 2h"},
            {"action": "set_quiet", "duration": "1h"},
        )
    )

    async def scenario(rig: Rig) -> None:
        await rig.say("do it all")
        await rig.say("/undo")
        assert "Likes tea" not in rig.document("MEMORY.md")
        assert await rig.reminders.list("coach") == []
        row = await rig.store.attention.get("coach")
        assert row is not None
        assert row.requests.quiet_until is None

    coach(scenario, model)


# /redact


@pytest.mark.parametrize(
    ("text", "forms", "left"),
    [
        pytest.param("my PIN is 4711", ["my PIN is 4711"], REDACTED, id="all of it"),
        pytest.param("It said: my PIN is 4711.", ["my PIN is 4711"], f"It said: {REDACTED}.", id="inside"),
        pytest.param("looked at it", ["ok"], "looked at it", id="a short word inside another stays"),
        pytest.param("ok", ["ok"], REDACTED, id="a short word alone goes"),
        pytest.param("unplanned talk", ["planned"], "unplanned talk", id="not inside a word"),
    ],
)
def test_scrubbing_a_text(text: str, forms: list[str], left: str) -> None:
    assert scrub(text, forms) == left
    assert scrub_all({"a": [text, 1, None]}, forms) == {"a": [left, 1, None]}


def test_a_text_is_looked_for_as_others_show_it() -> None:
    long = "a secret that\nis quite long, so that a log or a feed line cuts it somewhere in the middle"
    forms = all_forms([long])
    assert long in forms
    assert " ".join(long.split()) in forms
    assert " ".join(long.split())[:60].rstrip() in forms


def test_redact_leaves_no_trace_anywhere(coach_everywhere: Any, tmp_path: Path) -> None:
    secret = "the locker combination is 31-7-22"
    logs = tmp_path / "logs"
    logs.mkdir()
    line = json.dumps({"event": f"It said: {secret}", "n": 1}, ensure_ascii=False) + "\n"
    for name in ("nudge.log", "nudge.log.1", "heartbeat.log"):
        (logs / name).write_text(line + '{"event": "another"}\n')

    async def scenario(rig: Rig) -> None:
        await rig.say("hello there")
        await rig.say(f"remember that {secret}")
        await rig.store.feed.add(FeedLine(rig.clock.now(), "coach", "note", f"It said: {secret}"))
        at = rig.clock.now()
        await rig.store.outcomes.record(
            Outcome("coach", "hb", "heartbeat", at, at, Result.FIRED, f"It said: {secret}", {"text": [secret]})
        )
        assert secret in rig.document("MEMORY.md").lower()
        said = await rig.say("/redact 2")
        assert said.startswith("Removed: the last 2 messages, 1 line")
        assert [one.content for one in await rig.store.conversations.recent("coach")][-1] == "hello there"
        kept = [
            rig.document("MEMORY.md"),
            await stored_words(rig),
            str(await rig.store.outbox.recent("coach", limit=100)),
            str(await rig.store.outcomes.recent(agent="coach")),
            str(await rig.store.feed.recent(agent="coach")),
            str(await rig.store.conversations.recent("coach")),
            *(path.read_text() for path in logs.iterdir()),
        ]
        assert [secret in text.lower() for text in kept] == [False] * len(kept)
        assert "hello there" in rig.document("MEMORY.md").partition("## Recent Context")[2]
        assert all(json.loads(one) for path in logs.iterdir() for one in path.read_text().splitlines())
        assert all('"another"' in path.read_text() for path in logs.iterdir())
        assert "Taken back" not in await rig.say("/undo")

    coach_everywhere(scenario, redactor=LogRedaction(logs))


def test_redact_reaches_the_archive_and_the_review(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        old = Instant(NOON - 40 * DAY)
        await rig.store.conversations.add(Saying("coach", old, "user", "an old secret of mine"))
        await rig.store.conversations.archive("coach", Instant(NOON - 30 * DAY))
        await rig.say("/review")
        await rig.say("a secret success of mine")
        await rig.say("/redact 100")
        assert await rig.store.conversations.redact("coach", 100) == []
        review = await rig.coach.facts.review("coach")
        assert review is not None
        assert review.answers == ("",)
        assert "[Nothing yet]" in rig.document("MEMORY.md")

    coach(scenario)


@pytest.mark.parametrize("words", ["0", "x", "-3", "1.5"])
def test_redact_wants_a_number(coach: Any, words: str) -> None:
    async def scenario(rig: Rig) -> None:
        await rig.say("hello")
        assert "How many" in await rig.say(f"/redact {words}")
        assert len(await rig.store.conversations.recent("coach")) == 2

    coach(scenario)


def test_redact_takes_the_last_exchange_unless_told_and_waits_for_a_slow_answer(coach: Any) -> None:
    async def slow() -> dict[str, Any]:
        import asyncio

        await asyncio.sleep(0.5)
        return says("late answer")

    async def scenario(rig: Rig) -> None:
        await rig.hear("first")
        await rig.hear("second")
        await rig.hear("/redact")
        await rig.settle(3)
        assert await rig.store.conversations.recent("coach") != []
        assert rig.channel.texts[-1].startswith("Removed: the last 2 messages")
        assert [one.content for one in await rig.store.conversations.recent("coach")] == ["second", "first"]

    coach(scenario, Scripted(slow, slow))


def test_redact_with_nothing_to_redact(coach: Any) -> None:
    async def scenario(rig: Rig) -> None:
        assert "nothing" in await rig.say("/redact 3")

    coach(scenario)


def test_a_log_that_is_being_written_keeps_its_place(tmp_path: Path) -> None:
    log = tmp_path / "nudge.log"
    with log.open("a") as handler:
        handler.write("before the secret word ends\n")
        handler.flush()
        assert LogRedaction(tmp_path).remove(["the secret word"]) == 1
        handler.write("after\n")
    assert log.read_text() == "before *************** ends\nafter\n"
    assert LogRedaction(tmp_path / "missing").remove(["x"]) == 0
    assert LogRedaction(tmp_path).remove([]) == 0
