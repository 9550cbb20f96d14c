"""The heartbeat's answer. Whatever is not a well-formed decision is silence, with the reason; it is never sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NoReturn

from nudge.errors import UsageError
from nudge.instants import DAY, Instant, parse_rfc3339

OK_WORD = "HEARTBEAT_OK"
LONGEST_MESSAGE = 4_096
"""Characters of one message: what does not fit into one is not a nudge."""
LONGEST_TOPIC = 64
LONGEST_QUIET = DAY

DECISION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": ["message", "heartbeat_ok", "state_update"]},
        "message": {"type": "string"},
        "topic": {"type": "string"},
        "state_updates": {
            "type": "object",
            "properties": {
                "bedtime_nudge_sent": {"type": "boolean"},
                "morning_brief_sent": {"type": "boolean"},
                "quiet_mode_until": {"type": "string"},
            },
            "additionalProperties": False,
        },
    },
    "required": ["action"],
    "additionalProperties": False,
}
"""The form of a decision, for models that take a JSON schema."""

_KEYS = frozenset({"action", "message", "state_updates", "topic"})


class Action(StrEnum):
    """What a heartbeat decided."""

    MESSAGE = "message"
    OK = "heartbeat_ok"
    STATE_UPDATE = "state_update"
    SILENCE = "silence"
    """The answer was not a decision."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A heartbeat's outcome. `refused` says which state updates were not taken and why, `reason` why an answer was no
    decision.

    >>> parse_decision("HEARTBEAT_OK, all good!", Instant(0)).action
    <Action.SILENCE: 'silence'>
    """

    action: Action
    message: str = ""
    state_updates: Mapping[str, Any] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    topic: str = ""
    reason: str = ""

    @property
    def speaks(self) -> bool:
        return self.action is Action.MESSAGE


class _NotADecisionError(Exception):
    pass


def parse_decision(answer: str | Mapping[str, Any], now: Instant) -> Decision:
    """The decision in an answer: the word HEARTBEAT_OK alone, or one JSON object of the agreed form alone. Spaces and
    line ends around it do not count; any other character does. It never raises."""
    try:
        if isinstance(answer, str):
            text = answer.strip()
            if text == OK_WORD:
                return Decision(Action.OK)
            return _decision(_object(text), now)
        return _decision(answer, now)
    except _NotADecisionError as error:
        return Decision(Action.SILENCE, reason=str(error))


def check_state_updates(updates: object, now: Instant) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Which updates a model may make, and why the others are refused. It may note that it has spoken and make itself
    quieter for at most a day; it may not lift a silence, reset a count or touch anything else."""
    if not isinstance(updates, Mapping):
        return {}, ("state_updates is not an object",)
    taken: dict[str, Any] = {}
    refused: list[str] = []
    for name, value in updates.items():
        if name in ("bedtime_nudge_sent", "morning_brief_sent"):
            if value is True:
                taken[name] = True
            else:
                refused.append(f"{name}: only true can be set")
        elif name == "quiet_mode_until":
            until = _time(value)
            if until is None:
                refused.append(f"{name}: not a time with an offset")
            elif not now < until <= now + LONGEST_QUIET:
                refused.append(f"{name}: {value} is not within the next 24 hours")
            else:
                taken[name] = until
        else:
            refused.append(f"{str(name)[:40]}: not a state that can be set")
    return taken, tuple(refused)


def _decision(data: Mapping[str, Any], now: Instant) -> Decision:
    unknown = sorted(str(key)[:40] for key in data if key not in _KEYS)
    if unknown:
        raise _NotADecisionError(f"unknown keys: {', '.join(unknown)}")
    action = next((one for one in Action if one == data.get("action")), Action.SILENCE)
    if action is Action.SILENCE:
        raise _NotADecisionError("action is not message, heartbeat_ok or state_update")
    message = _text(data, "message")
    topic = _text(data, "topic")[:LONGEST_TOPIC]
    given = data.get("state_updates")
    if given is not None and not isinstance(given, Mapping):
        raise _NotADecisionError("state_updates is not an object")
    updates, refused = check_state_updates(given or {}, now)
    if action is Action.OK:
        return Decision(action, refused=tuple(f"{name}: nothing was to be done" for name in updates) + refused)
    if action is Action.STATE_UPDATE:
        if not updates and not refused:
            raise _NotADecisionError("state_update without state_updates")
        return Decision(action, state_updates=updates, refused=refused)
    if not message:
        raise _NotADecisionError("the message is empty")
    if len(message) > LONGEST_MESSAGE:
        raise _NotADecisionError(f"the message has {len(message)} characters, more than {LONGEST_MESSAGE}")
    if OK_WORD in message:
        raise _NotADecisionError(f"the message says {OK_WORD}")
    return Decision(action, message, updates, refused, topic)


def _object(text: str) -> Mapping[str, Any]:
    if not text:
        raise _NotADecisionError("the answer is empty")
    if text.startswith(OK_WORD):
        raise _NotADecisionError(f"{OK_WORD} is followed by more")
    if not text.startswith("{"):
        raise _NotADecisionError("the answer is neither HEARTBEAT_OK nor JSON")
    try:
        data = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise _NotADecisionError("the JSON is broken") from error
    assert isinstance(data, Mapping)
    return data


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise _NotADecisionError("a key is there twice")
    return data


def _no_constant(name: str) -> NoReturn:
    raise _NotADecisionError(f"{name} is not JSON")


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _NotADecisionError(f"{key} is not a text")
    return value.strip()


def _time(value: object) -> Instant | None:
    if not isinstance(value, str):
        return None
    try:
        return parse_rfc3339(value)
    except (UsageError, OverflowError):
        return None
