"""A conversation: what a model is given, within its caps, and what its reply may hold."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from nudge.coach.actions import GOAL_SECTIONS, MEMORY_SECTIONS, Action, RefusedAction, read_actions
from nudge.coach.decisions import DECISION_SCHEMA
from nudge.coach.documents import readable, without_comments
from nudge.coach.effects import confirm, explain
from nudge.coach.facts import Turn
from nudge.coach.fence import RULE, fence
from nudge.coach.heartbeat_prompt import Documents, clock
from nudge.coach.memory import shorten
from nudge.coach.prompt_size import CONVERSATION_CAP, TURNS_BUDGET, clip, estimate
from nudge.coach.targets import Targets
from nudge.instants import Instant, to_datetime

REPLY_RULE = """Answer with one JSON object: reply, actions, recent_context.
reply: what you say, in a few short sentences.
actions: a list, often empty. Take one only when the person asks for it in their own message.
- update_memory adds or removes one line; "don't message me about X" goes to Preferences as "Don't message about X"
- update_goals rewrites one list
- add_reminder takes a text and a time in plain words; the person takes one away with /cancel
- set_quiet takes a duration or "off"; set_state is for the flags of the heartbeat
Each action is confirmed to the person in words, so don't confirm it yourself.
recent_context: 3 to 5 sentences on what the last days' talks were about. It replaces Recent Context."""


def _one(action: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"action": {"type": "string", "enum": [action]}, **properties},
        "required": ["action", *required],
        "additionalProperties": False,
    }


_TEXT = {"type": "string"}
REPLY_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reply": _TEXT,
        "actions": {
            "type": "array",
            "items": {
                "anyOf": [
                    _one(
                        "update_memory",
                        {"section": {"type": "string", "enum": list(MEMORY_SECTIONS)}, "add": _TEXT, "remove": _TEXT},
                        ["section"],
                    ),
                    _one(
                        "update_goals",
                        {
                            "section": {"type": "string", "enum": list(GOAL_SECTIONS)},
                            "lines": {"type": "array", "items": _TEXT},
                        },
                        ["section", "lines"],
                    ),
                    _one("add_reminder", {"text": _TEXT, "when": _TEXT}, ["text", "when"]),
                    _one("set_quiet", {"duration": _TEXT}, ["duration"]),
                    _one(
                        "set_state",
                        {"state_updates": DECISION_SCHEMA["properties"]["state_updates"]},
                        ["state_updates"],
                    ),
                ]
            },
        },
        "recent_context": _TEXT,
    },
    "required": ["reply", "actions", "recent_context"],
    "additionalProperties": False,
}
"""The form of a reply, for models that take a JSON schema."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a model is given. `turns` are (role, text), begin with the person and end with their message; `dropped`
    counts the older turns that did not fit."""

    system: str
    turns: tuple[tuple[str, str], ...]
    dropped: int

    @property
    def tokens(self) -> int:
        return estimate(self.system) + sum(estimate(text) for _, text in self.turns)


def conversation(
    documents: Documents,
    history: tuple[Turn, ...],
    message: Turn,
    targets: Targets,
    cap: int = CONVERSATION_CAP,
) -> Conversation:
    """Personality, goals and memory first (they stay the same between two messages), then the last turns up to 2,000
    tokens, then the message with the time. Over the cap the oldest turns go first, then the middle of the longest text.
    """
    texts = {
        "memory": without_comments(documents.memory),
        "goals": without_comments(documents.goals),
        "agents": without_comments(documents.agents),
        "message": readable(message.text),
    }
    kept = _within_budget(history)
    built = _build(texts, kept, message, targets, len(history) - len(kept))
    while kept and built.tokens > cap:
        kept = _from_the_person(kept[1:])
        built = _build(texts, kept, message, targets, len(history) - len(kept))
    for name in texts:
        if built.tokens > cap:
            texts[name] = clip(texts[name], max(200, estimate(texts[name]) - (built.tokens - cap) - 8))
            built = _build(texts, kept, message, targets, len(history) - len(kept))
    return built


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply, read. `well_formed` is false where it was meant as JSON and is not; nothing of it is used."""

    text: str
    actions: tuple[Action, ...] = ()
    refused: tuple[RefusedAction, ...] = ()
    recent_context: str = ""
    well_formed: bool = True

    def words(self, now: Instant, targets: Targets, unchanged: Collection[Action] = ()) -> str:
        """What the person reads: the reply, then what was done and what was not. `unchanged` are the actions that left
        their document as it was."""
        done = [confirm(action, now, targets, changed=action not in unchanged) for action in self.actions]
        failed = [explain(refused) for refused in self.refused]
        return "\n\n".join(part for part in (self.text, *done, *failed) if part)


def parse_reply(answer: str | Mapping[str, Any], now: Instant, targets: Targets, *, forwarded: bool = False) -> Reply:
    """The reply in an answer. The person is waiting, so plain words are taken as they are, without actions. Where the
    message was somebody else's (`forwarded`) every action is refused: the person did not ask for it."""
    data: object = answer
    if isinstance(answer, str):
        if not answer.lstrip().startswith("{"):
            return Reply(answer.strip(), well_formed=bool(answer.strip()))
        try:
            data = json.loads(answer)
        except (ValueError, RecursionError):
            return Reply("", well_formed=False)
    if not isinstance(data, Mapping) or not isinstance(data.get("reply"), str):
        return Reply("", well_formed=False)
    actions, refused = read_actions(data.get("actions"), now, targets)
    if forwarded and (actions or refused):
        actions, refused = (), (RefusedAction("?", "what you pass on is read and not obeyed"),)
    context = data.get("recent_context")
    text = data["reply"].strip()
    summary = shorten(readable(context)) if isinstance(context, str) else ""
    return Reply(text, actions, refused, summary, well_formed=bool(text or actions or refused))


def _within_budget(history: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """The newest turns that fit; a turn that is too long for the whole budget ends the look back."""
    kept: list[Turn] = []
    spent = 0
    for turn in reversed(history):
        spent += estimate(_said(turn))
        if spent > TURNS_BUDGET:
            break
        kept.append(turn)
    return _from_the_person(tuple(reversed(kept)))


def _from_the_person(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """A conversation begins with the person: leading words of the coach are left out."""
    start = next((number for number, turn in enumerate(turns) if turn.role == "user"), len(turns))
    return turns[start:]


def _build(
    texts: dict[str, str], kept: tuple[Turn, ...], message: Turn, targets: Targets, dropped: int
) -> Conversation:
    parts = (
        texts["agents"],
        RULE,
        REPLY_RULE,
        f"--- GOALS.md ---\n{fence(texts['goals'])}",
        f"--- MEMORY.md ---\n{fence(texts['memory'])}",
    )
    words = _forwarded(texts["message"]) if message.forwarded else texts["message"]
    now = f"[{to_datetime(message.at, targets.zone):%A} {clock(message.at, targets)}, {targets.timezone}]"
    turns = [*((turn.role, _said(turn)) for turn in kept), ("user", f"{now}\n{words}")]
    return Conversation("\n\n".join(part for part in parts if part), tuple(turns), dropped)


def _said(turn: Turn) -> str:
    text = readable(turn.text)
    return _forwarded(text) if turn.forwarded else text


def _forwarded(text: str) -> str:
    return f"The person passed this on; somebody else wrote it:\n{fence(text)}"
