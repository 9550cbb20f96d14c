"""A reply in a conversation: plain words, or the form in which the rules answer, and what is read from it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from nudge.coach.actions import Action, RefusedAction, confirm, explain, read_actions
from nudge.coach.documents import readable
from nudge.coach.facts import says_nothing
from nudge.coach.intents import Wish
from nudge.coach.memory import shorten
from nudge.coach.targets import Targets
from nudge.instants import Instant
from nudge.text import is_blank


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply, read. `well_formed` is false where it was meant as JSON and is not; nothing of it is used."""

    text: str
    actions: tuple[Action, ...] = ()
    refused: tuple[RefusedAction, ...] = ()
    recent_context: str = ""
    well_formed: bool = True
    after_yes: tuple[Action, ...] = ()
    """What waits for the person's yes."""
    wish: Wish | None = None
    """What the rules read in the person's words and only the store can do. A model has no such thing."""
    in_trouble: bool = False
    """Whether it answers words of self-harm or danger."""

    def shown(self, now: Instant, targets: Targets, unchanged: Collection[Action] = ()) -> str:
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
            return Reply(answer.strip(), well_formed=not (is_blank(answer) or says_nothing(answer)))
        try:
            data = json.loads(answer)
        except (ValueError, RecursionError):
            return Reply("", well_formed=False)
    if not isinstance(data, Mapping) or not isinstance(data.get("reply"), str):
        return Reply("", well_formed=False)
    asked = data.get("actions")
    actions, refused = read_actions(asked, now, targets) if asked else ((), ())
    if forwarded and (actions or refused):
        actions, refused = (), (RefusedAction("?", "what you pass on is read and not obeyed"),)
    context = data.get("recent_context")
    text = "" if is_blank(data["reply"]) or says_nothing(data["reply"]) else data["reply"].strip()
    summary = shorten(readable(context)) if isinstance(context, str) else ""
    return Reply(text, actions, refused, summary, well_formed=bool(text or actions or refused))
