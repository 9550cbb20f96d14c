"""What is delivered, and what an agent's answer means."""

from __future__ import annotations

from typing import Any

import pytest

from nudge.errors import UsageError
from nudge.instants import HOUR, MINUTE, SECOND, Instant
from nudge.reminders.conditions import Reply, read_reply
from nudge.reminders.reminder import Source
from nudge.reminders.text import check_template, counted, delivered_text, fill
from tests.reminders.reminder_values import reminder
from tests.times import NOON, toronto

THREE = toronto(2026, 2, 18, 15)

PROMPT = "Check if the staging deploy has finished by looking at the deploy dashboard."
COMPOSED = f"""\
[Reminder: check-deploy]
Before proceeding, evaluate this condition: "{PROMPT}"
If the condition is NOT met, reply with "[skip]" and do nothing else.
If the condition IS met, proceed with the following task:
---
Run the post-deploy smoke tests against staging."""


def asking(mode: str, **fields: Any) -> str:
    made = reminder(
        "Run the post-deploy smoke tests against staging.",
        name=fields.pop("name", "check-deploy"),
        every="5m",
        prompt=PROMPT,
        mode=mode,
    )
    return delivered_text(made, THREE, fields.pop("now", THREE))


def test_a_condition_in_words_is_put_before_the_task() -> None:
    assert asking("each") == COMPOSED


def test_waiting_for_a_condition_says_how_to_end_it() -> None:
    text = asking("once")
    assert text.startswith(COMPOSED + "\n---\n")
    assert '"[condition-met]"' in text[len(COMPOSED) :]


def test_until_turns_the_question_round() -> None:
    lines = asking("until").splitlines()
    assert lines[2] == 'If the condition IS met, reply with "[condition-met]" and do nothing else.'
    assert lines[3] == "If the condition is NOT met, proceed with the following task:"


def test_a_nameless_one_is_called_by_its_id_and_a_late_one_says_so_in_the_task() -> None:
    lines = asking("each", name="", now=Instant(THREE + HOUR)).splitlines()
    assert lines[0] == "[Reminder: r-a1b2c3]"
    assert lines[-1] == "[late: was due 3:00 PM] Run the post-deploy smoke tests against staging."


@pytest.mark.parametrize(
    ("late", "text"),
    [
        pytest.param(0, "Stretch.", id="on time"),
        pytest.param(59 * SECOND, "Stretch.", id="not a minute late"),
        pytest.param(MINUTE, "[late: was due 3:00 PM] Stretch.", id="a minute late"),
    ],
)
def test_what_is_late_is_labelled(late: int, text: str) -> None:
    assert delivered_text(reminder(every="1h"), THREE, Instant(THREE + late)) == text


def test_a_long_text_has_its_label_on_a_line_of_its_own() -> None:
    text = delivered_text(reminder("# Evening\n\nLook at the list.", every="1h"), THREE, Instant(THREE + HOUR))
    assert text == "[late: was due 3:00 PM]\n# Evening\n\nLook at the list."


@pytest.mark.parametrize(("asked", "text"), [(0, "Started? (1/4)"), (1, "Started? (2/4)"), (3, "Started? (4/4)")])
def test_a_chain_shows_where_it_is(asked: int, text: str) -> None:
    chain = reminder("Started?", every="30m", chain=4, asked=asked)
    assert delivered_text(chain, THREE, THREE) == text
    assert delivered_text(chain, THREE, THREE, extra=True) == "Started?"


def test_variables_are_filled_in() -> None:
    made = reminder(
        "{name}: try {fire_count}, due {due}, {late_by} late: {condition_output}",
        name="build",
        every="1h",
        command="true",
        fire_count=2,
    )
    text = delivered_text(made, THREE, Instant(THREE + 95 * MINUTE), output="red\n")
    assert text == "[late: was due 3:00 PM] build: try 3, due 3:00 PM, 1h 35m late: red"
    assert delivered_text(made, THREE, THREE) == "build: try 3, due 3:00 PM, 0m late: "


def test_what_a_command_printed_is_not_filled_in_again() -> None:
    made = reminder("{condition_output} {name}", name="n", every="1h", command="true")
    assert delivered_text(made, THREE, THREE, output="{fire_count} {name}") == "{fire_count} {name} n"


@pytest.mark.parametrize("message", ["{count}", "due {Due}", "a {fire_count} and a {nope}", "{_x}"])
def test_an_unknown_variable_is_refused_with_the_known_ones(message: str) -> None:
    with pytest.raises(UsageError, match="no variable") as error:
        check_template(message)
    assert "{fire_count}" in str(error.value)
    assert "{condition_output}" in str(error.value)


@pytest.mark.parametrize(
    ("message", "filled"),
    [
        ('{"a": {"b": 1}}', '{"a": {"b": 1}}'),
        ("{{name}}", "{name}"),
        ("{{.FireCount}}", "{{.FireCount}}"),
        ("{} { name } {0}", "{} { name } {0}"),
    ],
)
def test_other_braces_are_left_alone(message: str, filled: str) -> None:
    check_template(message)
    assert fill(message, {"name": "x"}) == filled


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("[skip]", Reply.SKIP),
        ("  [SKIP]  ", Reply.SKIP),
        ("**[skip]** not yet", Reply.SKIP),
        ('"[condition-met]"', Reply.MET),
        ("I looked.\n[condition-met]\nThe tests pass.", Reply.MET),
        ("[condition-met] done", Reply.MET),
        ("I will not write [skip] here.", Reply.NONE),
        ("[skip]\n[condition-met]", Reply.NONE),
        ("skip", Reply.NONE),
        ("> [skip]", Reply.NONE),
        ("", Reply.NONE),
    ],
)
def test_a_reply_counts_where_a_line_starts_with_its_mark(text: str, reply: Reply) -> None:
    assert read_reply(text) is reply


def test_a_chat_knows_of_no_variables() -> None:
    said = reminder("buy {name} and {eggs}", in_="1h", source=Source.CHAT)
    assert delivered_text(said, THREE, THREE) == "buy {name} and {eggs}"


def test_a_counter_says_how_often_it_came_unread() -> None:
    assert counted("Check CI.", 1) == "Check CI."
    assert counted("Check CI.", 3) == "Check CI. (×3)"
    assert NOON < THREE
