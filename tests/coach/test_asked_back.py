"""A reminder that one word is missing in: the coach asks for it, and the next message is the answer."""

from __future__ import annotations

from typing import Any

import pytest

from tests.coach.rig import Rig

CONVERSATIONS = [
    # what is said and answered in turn, what is set in the end
    ([("bring 2 bottles at 6", "6 am or 6 pm?"), ("pm", "I'll remind you: bring 2 bottles. ")], "bring 2 bottles"),
    (
        [("/remind bring 2 bottles at 6", "6 am or 6 pm?"), ("pm", "I'll remind you: bring 2 bottles. ")],
        "bring 2 bottles",
    ),
    ([("remind me to call mum", "When?"), ("tomorrow 5pm", "I'll remind you: call mum. ")], "call mum"),
    (
        [
            ("remind me to call mum", "When?"),
            ("tomorrow at 5", "5 am or 5 pm?"),
            ("pm", "I'll remind you: call mum. Thursday 2026-02-19 5:00 PM"),
        ],
        "call mum",
    ),
    ([("wake me up tomorrow at 6", "6 am or 6 pm?"), ("am", "I'll remind you: wake up. ")], "wake up"),
    ([("ping me tomorrow at 6pm", "I didn't get"), ("pm", "")], None),
    ([("remind me at 6 to eat", "6 am or 6 pm?"), ("never mind", "Okay, no reminder.")], None),
    ([("remind me at 6 to eat", "6 am or 6 pm?"), ("thanks", "")], None),
    ([("thrusday 5pm call bob", "I read “thrusday” as Thursday.")], "call bob"),
    (
        [("stretch every 50 minutes on weekdays from 9 to 5", "every 50 minutes from 9:00 AM to 5:00 PM on weekdays")],
        "stretch",
    ),
]


@pytest.mark.parametrize(
    ("talk", "set_"), CONVERSATIONS, ids=[" / ".join(said for said, _ in row[0]) for row in CONVERSATIONS]
)
def test_the_next_message_is_the_answer(coach: Any, talk: list[tuple[str, str]], set_: str | None) -> None:
    async def scenario(rig: Rig) -> None:
        for said, says in talk[:-1]:
            assert says in await rig.say(said) or set_ is None
            assert await rig.reminders.list("coach") == []
        assert talk[-1][1] in await rig.say(talk[-1][0])
        assert [one.message for one in await rig.reminders.list("coach")] == ([set_] if set_ else [])

    coach(scenario)
