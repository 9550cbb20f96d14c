"""A turn of the conversation: the person's message, the answer, and everything that follows from it, once.

The answer is found outside of any transaction. Then one settlement writes the reply, what was said, the actions and
the documents' new texts. A crash before it leaves the message waiting as it was; after it, only the files are missing.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

from nudge.attention.gate import CARE
from nudge.attention.restraint import next_wake
from nudge.clock import Clock
from nudge.coach.actions import RefusedAction
from nudge.coach.changes import ActionFailedError, Changes, Done
from nudge.coach.facts import CoachFacts
from nudge.coach.intents import TALK, Talk, Wish
from nudge.coach.messages import Replies
from nudge.coach.model_talk import ModelTalk
from nudge.coach.own_words import (
    QUESTION,
    OpenQuestion,
    as_asked,
    is_unsure,
    question,
    yes_or_no,
)
from nudge.coach.reply import Reply
from nudge.coach.review import Step
from nudge.coach.review_talk import ReviewTalk
from nudge.coach.rules import answer_to_trouble, in_trouble
from nudge.coach.small_talk import recap
from nudge.coach.store import CoachStore, Saying
from nudge.coach.wishes import Asking
from nudge.instants import Instant
from nudge.queue.agents import IDLE_SINCE
from nudge.queue.firing import Firing, Handler, Settlement
from nudge.queue.timers import Timer, talk_lane
from nudge.text import without_quotes

log = logging.getLogger("nudge.conversation")

KIND = "turn"
LEFT_AS_IT_WAS = "Okay, I left it as it was."
ONLY_TEXT = "I can only read text so far. Could you type it?"
LEFT_OUT = "(Part of your message looked like a key or a password, so I didn't keep it.)"

_ATTACHMENT = re.compile(r"\[[a-z ]+\]")


@dataclass(frozen=True, slots=True)
class Heard:
    """A message that waits for its answer; the payload of its timer. `number` is its place in the conversation,
    `typed` marks what came from a terminal beside the person's own channel, `hidden` that a secret was taken out."""

    number: int
    text: str
    forwarded: bool = False
    typed: bool = False
    hidden: bool = False

    def timer(self, agent: str, now: Instant) -> Timer:
        payload = {
            "number": self.number,
            "text": self.text,
            "forwarded": self.forwarded,
            "typed": self.typed,
            "hidden": self.hidden,
        }
        return Timer.at(agent, turn_key(self.number), KIND, now, payload=payload, lane=talk_lane(agent))

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> Heard:
        return cls(
            int(payload["number"]),
            str(payload["text"]),
            bool(payload["forwarded"]),
            bool(payload["typed"]),
            bool(payload["hidden"]),
        )


TURNS = "turn:"
"""The keys of what waits for its turn in the conversation."""


def turn_key(number: int) -> str:
    """In the order of their numbers also where two became due in the same microsecond."""
    return f"{TURNS}{number:012}"


def as_turn(store: CoachStore, clock: Clock, handler: Handler) -> Handler:
    """The handler, and a note when the agent's turn ended, in the same commit: idle checks count from there."""

    @wraps(handler)
    async def turn(firing: Firing) -> None:
        firing.at_settlement.append(lambda: store.records.set(firing.timer.agent, IDLE_SINCE, clock.now()))
        await handler(firing)

    return turn


CarryOut = Callable[[Asking, Wish], Awaitable[str | None]]
"""Does what is wished; what to say, or None where that is said already."""


class Conversation:
    def __init__(
        self,
        store: CoachStore,
        talk: ModelTalk,
        replies: Replies,
        changes: Changes,
        review: ReviewTalk,
        wishes: CarryOut,
        help_lines: tuple[str, str] = ("", ""),
    ) -> None:
        self._wishes = wishes
        self._help_lines = help_lines
        self._store = store
        self._talk = talk
        self._replies = replies
        self._changes = changes
        self._review = review

    async def turn(self, firing: Firing) -> None:
        """Handle one message."""
        agent, now = firing.timer.agent, firing.now
        heard = Heard.from_payload(firing.timer.payload)
        await self._changes.finish(agent, now)
        facts = await self._talk.facts(agent, heard.text, heard.number, now, forwarded=heard.forwarded)
        step = None
        trouble = not heard.forwarded and in_trouble(without_quotes(heard.text))
        reply = self._care(facts) if trouble else await self._to_question(agent, heard, facts, now)
        if reply is None:
            step = await self._review.hear(agent, heard.text, now, forwarded=heard.forwarded)
            reply = Reply("") if step is not None and step.handled else await self._reply(agent, heard, facts, now)
        await self._settle(firing, heard, facts, reply, step)
        self._talk.ended(agent)
        await self._changes.finish(agent, now)

    def _care(self, facts: CoachFacts) -> Reply:
        """The one answer to somebody in trouble. It comes before any question, the review and a model."""
        return Reply(answer_to_trouble(facts.targets.zone, *self._help_lines), in_trouble=True)

    async def _to_question(self, agent: str, heard: Heard, facts: CoachFacts, now: Instant) -> Reply | None:
        """What follows if the message answers what the coach asked last; None if it is about something else."""
        asked = await self._store.records.get(agent, QUESTION)
        if asked is None or heard.forwarded or not asked.is_open(now):
            return None
        match yes_or_no(heard.text):
            case True:
                return Reply("", asked.read(facts.targets))
            case False:
                return Reply(LEFT_AS_IT_WAS)
        return Reply("", after_yes=asked.read(facts.targets)) if is_unsure(heard.text) else None

    async def _reply(self, agent: str, heard: Heard, facts: CoachFacts, now: Instant) -> Reply:
        if _ATTACHMENT.fullmatch(heard.text):
            return Reply(ONLY_TEXT)
        return await self._talk.reply(agent, facts, heard.number, now)

    async def _settle(self, firing: Firing, heard: Heard, facts: CoachFacts, reply: Reply, step: Step | None) -> None:
        """Write it all. An action that turns out to be impossible is left out, and the person is told why."""
        while True:
            try:
                async with firing.settle() as settlement:
                    await self._write(settlement, heard, facts, reply, step)
            except ActionFailedError as error:
                refused = RefusedAction(error.action.name, error.message)
                others = tuple(action for action in reply.actions if action != error.action)
                reply = replace(reply, actions=others, refused=(*reply.refused, refused))
            else:
                return

    async def _write(
        self, settlement: Settlement, heard: Heard, facts: CoachFacts, reply: Reply, step: Step | None
    ) -> None:
        agent, now = settlement.timer.agent, settlement.now
        lost = "" if step is None else await self._review.settle(agent, step, now, said=heard.number)
        to_review = step is not None and step.handled
        parts = [] if to_review else [await self._carry_out(settlement, heard, facts, reply)]
        told = reply.wish is not None and not any(parts)
        parts += [*step.replies, lost] if step is not None else []
        parts += [LEFT_OUT] if heard.hidden else []
        if reply.in_trouble:
            await self._store.records.set(agent, CARE, next_wake(now, facts.targets.person()))
        if not heard.forwarded:
            recent = reply.recent_context or recap(facts.memory.recent_context, heard.text, facts.today)
            await self._changes.set_recent_context(agent, recent, now)
        asked = await self._ask(agent, heard, facts, reply)
        if asked is not None:
            parts.append(question(reply.after_yes, facts.now, facts.targets))
        text = "\n\n".join(part for part in parts if part)
        if told and not text:
            return  # whoever carried it out has said it
        shown = await self._replies.post(agent, text, now, typed=heard.typed, buttons=asked.buttons if asked else ())
        kind = "review" if to_review else "conversation"
        await self._store.conversations.add(Saying(agent, now, "assistant", shown, kind))

    async def _keep_talk(self, agent: str, talk: Talk, done: Done, heard: Heard, now: Instant) -> None:
        """A reminder that was set is what "it" means next, and what a correction corrects; so is any other change."""
        changed = [one for one in done.actions if one not in done.unchanged]
        last = Wish("set", {"said": heard.text}) if done.reminders else Wish("changed") if changed else None
        subject = done.reminders[-1] if done.reminders else ""
        kept = Talk(subject or talk.subject, now if subject else talk.subject_at, last, at=now)
        await self._store.records.set(agent, TALK, kept)

    async def _ask(self, agent: str, heard: Heard, facts: CoachFacts, reply: Reply) -> OpenQuestion | None:
        """Keep what waits for a yes. Whatever the person says next answers it or ends it; what they pass on does
        neither."""
        if reply.after_yes:
            wanted = tuple(as_asked(action, facts.now, facts.targets) for action in reply.after_yes)
            asked = OpenQuestion(heard.number, facts.now, wanted)
            await self._store.records.set(agent, QUESTION, asked)
            return asked
        if not heard.forwarded:
            await self._store.records.delete(agent, QUESTION)
        return None

    async def _carry_out(self, settlement: Settlement, heard: Heard, facts: CoachFacts, reply: Reply) -> str:
        """Do what the reply asks for; what to say."""
        agent, now = settlement.timer.agent, settlement.now
        if reply.wish is not None:
            said = await self._wishes(Asking(agent, now, heard.number, heard.typed), reply.wish)
            return "\n".join(part for part in (reply.text, said) if part)
        done = Done()
        if reply.actions:
            done = await self._changes.carry_out(agent, reply.actions, now, said=heard.number)
        if not heard.forwarded:
            await self._keep_talk(agent, facts.talk, done, heard, now)
        for name in done.documents:
            settlement.feed("changed", f"Changed {name} in a conversation.")
        told = replace(reply, actions=done.actions, refused=(*reply.refused, *done.refused))
        shown = told.shown(facts.now, facts.targets, done.unchanged)
        return shown or ("" if reply.after_yes else "I couldn't do that.")
