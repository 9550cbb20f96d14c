from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nudge.coach.judgment import DECISION_SCHEMA, Action, Decision, parse_decision
from nudge.instants import HOUR, Instant, parse_rfc3339

NOW = parse_rfc3339("2026-02-18T14:15:00-05:00")


def test_the_word_alone_is_silence_by_choice() -> None:
    assert parse_decision("HEARTBEAT_OK", NOW) == Decision(Action.OK)
    assert parse_decision(" HEARTBEAT_OK\n", NOW) == Decision(Action.OK)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param("", "empty", id="nothing"),
        pytest.param(" \n", "empty", id="only spaces"),
        pytest.param("HEARTBEAT_OK - nothing to do", "followed by more", id="the word with trailing words"),
        pytest.param("All quiet. HEARTBEAT_OK", "neither", id="words before it"),
        pytest.param("Time for bed!", "neither", id="prose"),
        pytest.param('```json\n{"action": "heartbeat_ok"}\n```', "neither", id="JSON in a code fence"),
        pytest.param('{"action": "message", "message": "Hi"', "broken", id="JSON cut off"),
        pytest.param('{"action": "message", "message": "Hi"} ok?', "broken", id="words after the JSON"),
        pytest.param('{"action": "heartbeat_ok"}{"action": "heartbeat_ok"}', "broken", id="two objects"),
        pytest.param('[{"action": "heartbeat_ok"}]', "neither", id="a list"),
        pytest.param("{" * 5000, "broken", id="a deep nest that is never closed"),
        pytest.param('{"action": "message", "message": ""}', "message is empty", id="an empty message"),
        pytest.param('{"action": "message", "message": " \\n"}', "message is empty", id="a blank message"),
        pytest.param('{"action": "message"}', "message is empty", id="no message"),
        pytest.param('{"action": "message", "message": 5}', "not a text", id="a number for a message"),
        pytest.param('{"action": "message", "message": "HEARTBEAT_OK"}', "says HEARTBEAT_OK", id="the word as message"),
        pytest.param('{"action": "shout", "message": "Hi"}', "action is not", id="an unknown action"),
        pytest.param('{"action": "silence"}', "action is not", id="our own word for it"),
        pytest.param('{"action": ["message"], "message": "Hi"}', "action is not", id="a list of actions"),
        pytest.param('{"message": "Hi"}', "action is not", id="no action"),
        pytest.param(
            '{"action": "message", "message": "Hi", "chat_id": 7}', "unknown keys: chat_id", id="a further key"
        ),
        pytest.param('{"action": "message", "action": "message", "message": "Hi"}', "twice", id="a key twice"),
        pytest.param('{"action": "state_update"}', "without", id="a state update without one"),
        pytest.param('{"action": "state_update", "state_updates": []}', "not an object", id="updates as a list"),
        pytest.param('{"action": "message", "message": "Hi", "state_updates": NaN}', "NaN", id="not a number"),
        pytest.param(json.dumps({"action": "message", "message": "x" * 4097}), "4097 characters", id="a long message"),
    ],
)
def test_what_is_not_a_decision_is_silence(answer: str, reason: str) -> None:
    decision = parse_decision(answer, NOW)
    assert decision.action is Action.SILENCE
    assert not decision.speaks
    assert decision.message == ""
    assert reason in decision.reason


def test_a_message_is_taken() -> None:
    decision = parse_decision('{"action": "message", "message": " Bed? ", "state_updates": {}}', NOW)
    assert decision == Decision(Action.MESSAGE, "Bed?")
    assert decision.speaks


def test_a_message_of_4096_characters_is_taken() -> None:
    assert parse_decision({"action": "message", "message": "x" * 4096}, NOW).speaks


def test_a_decision_not_to_speak_sends_nothing_whatever_else_it_says() -> None:
    answer = {"action": "heartbeat_ok", "message": "Go to bed", "state_updates": {"bedtime_nudge_sent": True}}
    decision = parse_decision(answer, NOW)
    assert (decision.action, decision.message, dict(decision.state_updates)) == (Action.OK, "", {})
    assert decision.refused == ("bedtime_nudge_sent: nothing was to be done",)


@pytest.mark.parametrize(
    ("updates", "taken", "refused"),
    [
        pytest.param({"bedtime_nudge_sent": True}, {"bedtime_nudge_sent": True}, 0, id="a flag set"),
        pytest.param({"morning_brief_sent": False}, {}, 1, id="a flag taken back"),
        pytest.param({"bedtime_nudge_sent": 1}, {}, 1, id="a number for a flag"),
        pytest.param(
            {"quiet_mode_until": "2026-02-18T15:15:00-05:00"},
            {"quiet_mode_until": NOW + HOUR},
            0,
            id="quiet for an hour",
        ),
        pytest.param({"quiet_mode_until": "2026-02-18T15:15:00"}, {}, 1, id="a time without an offset"),
        pytest.param({"quiet_mode_until": "2026-02-18T14:15:00-05:00"}, {}, 1, id="a time that has passed"),
        pytest.param({"quiet_mode_until": "2027-01-01T00:00:00Z"}, {}, 1, id="quiet for a year"),
        pytest.param({"quiet_mode_until": None}, {}, 1, id="a silence lifted"),
        pytest.param({"quiet_mode_until": "9999-12-31T23:59:59-23:59"}, {}, 1, id="a time beyond all calendars"),
        pytest.param({"today_proactive_count": 0, "allow_from": 7}, {}, 2, id="states that are not the model's"),
    ],
)
def test_only_some_states_can_be_set(updates: dict[str, Any], taken: dict[str, Any], refused: int) -> None:
    decision = parse_decision({"action": "state_update", "state_updates": updates}, NOW)
    assert decision.action is Action.STATE_UPDATE
    assert dict(decision.state_updates) == taken
    assert len(decision.refused) == refused


def test_a_refused_update_does_not_silence_the_message() -> None:
    decision = parse_decision({"action": "message", "message": "Hi", "state_updates": {"x": 1}}, NOW)
    assert (decision.message, decision.refused) == ("Hi", ("x: not a state that can be set",))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(
    st.fixed_dictionaries(
        {}, optional={"action": _JSON | st.sampled_from(["message"]), "message": _JSON, "state_updates": _JSON}
    )
)
def test_only_the_message_of_a_message_is_ever_said(answer: dict[str, Any]) -> None:
    for form in (answer, json.dumps(answer)):
        decision = parse_decision(form, Instant(0))
        if decision.message:
            assert answer["action"] == "message"
            assert decision.message == answer["message"].strip()


@settings(deadline=None)
@given(st.text())
def test_no_text_makes_the_reader_raise(answer: str) -> None:
    assert parse_decision(answer, NOW).message == ""


@pytest.mark.parametrize(
    "answer",
    [
        "heartbeat_ok",
        "Heartbeat_OK.",
        "**HEARTBEAT_OK**",
        "`heartbeat ok`",
        "```\nHEARTBEAT_OK\n```",
        "\u200bHEARTBEAT_OK\ufeff\n",
        "HEARTBEAT\u200b_OK",
        {"action": "HEARTBEAT_OK"},
        {"action": " heartbeat_ok "},
    ],
    ids=repr,
)
def test_the_word_is_silence_however_it_is_written(answer: Any) -> None:
    assert parse_decision(answer, NOW).action is Action.OK


@pytest.mark.parametrize(
    "message",
    ["heartbeat_ok", "**Heartbeat OK**", "\u200b", "\u200b\u2060\ufeff", "\u3164", "\u2800 \u00a0", "\u0301"],
    ids=ascii,
)
def test_a_message_that_says_or_shows_nothing_is_silence(message: str) -> None:
    assert parse_decision({"action": "message", "message": message}, NOW).action is Action.SILENCE


def test_a_message_may_claim_to_be_critical_and_a_run_may_ask_to_read() -> None:
    assert parse_decision({"action": "message", "message": "Fire!", "critical": True}, NOW).critical
    assert parse_decision({"action": "message", "message": "Fire!", "critical": 1}, NOW).action is Action.SILENCE
    asked = parse_decision({"action": "read", "read": ["routines/a.md", " r-000001 ", "c", "d"]}, NOW)
    assert (asked.action, asked.refs) == (Action.READ, ("routines/a.md", "r-000001", "c"))
    for wrong in (None, [], "routines/a.md", [7]):
        assert parse_decision({"action": "read", "read": wrong}, NOW).action is Action.SILENCE


def test_the_schema_names_what_may_be_set() -> None:
    fields = {"action", "message", "topic", "reason", "state_updates", "critical", "read"}
    assert set(DECISION_SCHEMA["properties"]) == fields
    assert set(DECISION_SCHEMA["properties"]["state_updates"]["properties"]) == {
        "bedtime_nudge_sent",
        "morning_brief_sent",
        "quiet_mode_until",
    }
