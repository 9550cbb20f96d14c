"""A heartbeat's judgment: whether a model is asked at all, and what its answer means.

A signature names what a judgment depends on, part by part. While it stays the same no call is made, in waking hours
for three hours at the longest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import time, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Any, NoReturn

from nudge.coach.briefings import WIND_DOWN, bedtime_of, night_of
from nudge.coach.documents import DocumentTexts
from nudge.coach.facts import OK_WORD, CoachState, DueReminder, says_nothing
from nudge.coach.prompts import ago
from nudge.coach.targets import Targets
from nudge.defaults import LONGEST_SILENCE
from nudge.errors import UsageError
from nudge.instants import DAY, HOUR, Instant, parse_rfc3339, to_datetime
from nudge.queue.records import moment, text
from nudge.text import bare, is_blank, short

EVENING = time(17, 0)


@dataclass(frozen=True, slots=True)
class Signature:
    """What a judgment depends on. Equal signatures mean that nothing has changed."""

    documents: str
    reminders: str
    activity: str
    window: str
    state: str

    def changes(self, earlier: Signature) -> tuple[str, ...]:
        """The parts that differ, by name."""
        return tuple(name for name in self.__slots__ if getattr(self, name) != getattr(earlier, name))

    def as_fields(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Judgment:
    """When a model was last asked, and about what."""

    at: Instant
    signature: Signature

    def to_json(self) -> dict[str, Any]:
        return {"at": self.at, **self.signature.as_fields()}

    @classmethod
    def from_json(cls, data: Any) -> Judgment:
        return cls(moment(data["at"]), Signature(**{name: text(data[name]) for name in Signature.__slots__}))


@dataclass(frozen=True, slots=True)
class Ask:
    """Whether to ask now, and the reason as a sentence for the outcome."""

    ask: bool
    reason: str


def signature(
    documents: DocumentTexts, state: CoachState, due: tuple[DueReminder, ...], now: Instant, targets: Targets
) -> Signature:
    """The signature of this moment.

    What the coach did itself (messages sent, the morning brief) is no news to it and not part of the state; the quiet
    mode, a running review and a delay the person asked for are.
    """
    active = state.active(now)
    quiet = state.quiet_until is not None and state.quiet_until > now
    delayed = state.delayed_until is not None and state.delayed_until > now
    return Signature(
        documents=_digest(documents.goals, documents.memory, documents.agents, documents.checklist),
        reminders=_digest(*sorted(f"{one.id} {one.text}" for one in due)),
        activity="active" if active else "away",
        window=window(now, targets, active=active),
        state=f"quiet={quiet} review={state.review_in_progress} delayed={delayed}",
    )


def should_ask(
    last: Judgment | None, current: Signature, now: Instant, targets: Targets, longest: int = LONGEST_SILENCE
) -> Ask:
    """Whether the model is asked. Exactly `longest` (three hours) after the last judgment it is, unless it is quiet; a
    last judgment in the future (the clock was set back) does not count."""
    if last is None:
        return Ask(True, "First judgment.")
    if last.at > now:
        return Ask(True, "The clock was set back since the last judgment.")
    changes = current.changes(last.signature)
    if changes:
        return Ask(True, f"Changed since the last judgment: {', '.join(changes)}.")
    if now - last.at >= longest and not targets.is_quiet(now):
        return Ask(True, f"The last judgment was {ago(last.at, now)}.")
    return Ask(False, f"Nothing has changed since the last judgment {ago(last.at, now)}.")


def first_ask(
    slots: Iterable[Instant], last: Judgment | None, at: Callable[[Instant], Signature], targets: Targets, longest: int
) -> Instant:
    """The first of these times at which the model would be asked if nothing happened until then, else the last one.
    Time alone changes something: the evening comes, a quiet hour ends, the person has been away for an hour."""
    slot = None
    for slot in slots:
        if should_ask(last, at(slot), slot, targets, longest).ask:
            return slot
    assert slot is not None, "there are times to choose from"
    return slot


def window(now: Instant, targets: Targets, *, active: bool) -> str:
    """The part of the person's day, with the day it belongs to: "2026-02-18 evening".

    The hour before bedtime and the time after it are parts of their own only while the person is there; nobody need
    judge the bedtime of somebody who is away.
    """
    wall = to_datetime(now, targets.zone)
    awake_since = timedelta(hours=targets.wake_target.hour, minutes=targets.wake_target.minute)
    day = (wall.replace(tzinfo=None) - awake_since).date()
    if active:
        bedtime = bedtime_of(night_of(now, targets), targets)
        if bedtime <= now < bedtime + 6 * HOUR:
            return f"{day} past bedtime"
        if bedtime - WIND_DOWN <= now < bedtime:
            return f"{day} before bedtime"
    late = wall.time() >= EVENING or wall.date() > day
    return f"{day} {'evening' if late else 'day'}"


def _digest(*parts: str) -> str:
    together = sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        together.update(len(data).to_bytes(8, "big") + data)
    return together.hexdigest()[:16]


LONGEST_MESSAGE = 4_096
"""Characters of one message: what does not fit into one is not a nudge."""
LONGEST_TOPIC = 64
LONGEST_QUIET = DAY

DECISION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": ["message", "heartbeat_ok", "state_update", "read"]},
        "message": {"type": "string"},
        "topic": {"type": "string"},
        "reason": {"type": "string"},
        "critical": {"type": "boolean"},
        "read": {"type": "array", "items": {"type": "string"}},
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

READ_TWICE = "it asked to read twice"
MOST_READ = 3
"""So many tasks of the schedule a run may read in full."""
_KEYS = frozenset({"action", "message", "state_updates", "topic", "critical", "read", "reason"})
_LONGEST_REASON = 300


class Action(StrEnum):
    """What a heartbeat decided."""

    MESSAGE = "message"
    OK = "heartbeat_ok"
    STATE_UPDATE = "state_update"
    READ = "read"
    """It wants to see the whole text of tasks in its schedule first."""
    SILENCE = "silence"
    """The answer was not a decision."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A heartbeat's outcome. `critical` is the model's claim, `refs` names the tasks it wants to read. `refused` says
    which state updates were not taken and why, `reason` why an answer was no decision, `because` why the model decided
    so, in its own words.

    >>> parse_decision("HEARTBEAT_OK, all good!", Instant(0)).action
    <Action.SILENCE: 'silence'>
    """

    action: Action
    message: str = ""
    state_updates: Mapping[str, Any] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    topic: str = ""
    reason: str = ""
    because: str = ""
    critical: bool = False
    refs: tuple[str, ...] = ()

    @property
    def speaks(self) -> bool:
        return self.action is Action.MESSAGE


class _NotADecisionError(Exception):
    pass


def parse_decision(answer: str | Mapping[str, Any], now: Instant) -> Decision:
    """The decision in an answer: the word HEARTBEAT_OK alone, or one JSON object of the agreed form alone. Case,
    marks and what cannot be seen do not count in the word; around the object only spaces do not. It never raises."""
    try:
        if isinstance(answer, str):
            text = answer.strip()
            if says_nothing(text):
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
    given_action = data.get("action")
    word = given_action.strip().casefold() if isinstance(given_action, str) else ""
    action = next((one for one in Action if one == word), Action.SILENCE)
    if action is Action.SILENCE:
        raise _NotADecisionError("action is not message, heartbeat_ok, state_update or read")
    message = _text(data, "message")
    topic = _text(data, "topic")[:LONGEST_TOPIC]
    because = short(_text(data, "reason"), _LONGEST_REASON)
    given = data.get("state_updates")
    if given is not None and not isinstance(given, Mapping):
        raise _NotADecisionError("state_updates is not an object")
    updates, refused = check_state_updates(given or {}, now)
    critical = data.get("critical")
    if critical is not None and not isinstance(critical, bool):
        raise _NotADecisionError("critical is not true or false")
    if action is Action.READ:
        return Decision(action, refs=_refs(data.get("read")))
    if action is Action.OK:
        undone = tuple(f"{name}: nothing was to be done" for name in updates)
        return Decision(action, refused=undone + refused, because=because)
    if action is Action.STATE_UPDATE:
        if not updates and not refused:
            raise _NotADecisionError("state_update without state_updates")
        return Decision(action, state_updates=updates, refused=refused, because=because)
    if is_blank(message):
        raise _NotADecisionError("the message is empty")
    if len(message) > LONGEST_MESSAGE:
        raise _NotADecisionError(f"the message has {len(message)} characters, more than {LONGEST_MESSAGE}")
    if bare(OK_WORD) in bare(message):
        raise _NotADecisionError(f"the message says {OK_WORD}")
    return Decision(action, message, updates, refused, topic, because=because, critical=bool(critical))


def _refs(given: object) -> tuple[str, ...]:
    if not isinstance(given, list | tuple) or not given or not all(isinstance(one, str) for one in given):
        raise _NotADecisionError("read is not a list of what to read")
    return tuple(one.strip() for one in given[:MOST_READ])


def _object(text: str) -> Mapping[str, Any]:
    if is_blank(text):
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
