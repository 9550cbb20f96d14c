"""A turn of the conversation: the person's message, the answer, and everything that follows from it, once.

The answer is found outside of any transaction. Then one settlement writes the reply, what was said, the actions and
the documents' new texts. A crash before it leaves the message waiting as it was; after it, only the files are missing.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import Any

from nudge.attention.gate import CARE
from nudge.attention.restraint import next_wake, recognise
from nudge.clock import Clock
from nudge.coach.actions import Action, RefusedAction, UpdateMemory, confirm, explain, read_actions
from nudge.coach.answering import RULES, Answering
from nudge.coach.answers import WISH
from nudge.coach.changes import ActionFailedError, Changes, Done
from nudge.coach.documents import readable
from nudge.coach.drafts import Drafts
from nudge.coach.fact_reader import FactReader
from nudge.coach.facts import CoachFacts, says_nothing
from nudge.coach.intents.reading import TALK, Talk, Wish
from nudge.coach.memory import recap, shorten
from nudge.coach.messages import Replies
from nudge.coach.own_words import (
    QUESTION,
    OpenQuestion,
    as_asked,
    is_unsure,
    question,
    weigh,
    yes_or_no,
)
from nudge.coach.review import Step
from nudge.coach.review_talk import ReviewTalk
from nudge.coach.rules import answer_to_trouble, in_trouble
from nudge.coach.small_talk import chat, feedback, is_aside
from nudge.coach.store import CoachStore, Saying
from nudge.coach.talk_prompt import talk_prompt
from nudge.coach.targets import Targets
from nudge.coach.tools import OFFERED, Tools, ToolTurn
from nudge.coach.wishes import Asking
from nudge.errors import LostLeaseError, NudgeError, StoreError
from nudge.instants import Instant
from nudge.model import ModelRequest, Purpose
from nudge.queue.agents import IDLE_SINCE
from nudge.queue.firing import Firing, Handler, Settlement
from nudge.queue.timers import Timer, talk_lane
from nudge.redaction import redact
from nudge.text import is_blank, without_quotes

log = logging.getLogger("nudge.conversation")

KIND = "turn"
ANSWER_TOKENS = 3_000
GARBLED = "Sorry, my answer came out garbled, so I changed nothing. Could you say that again?"
SORRY = "Sorry, something went wrong on my side and I couldn't answer that. Nothing was changed."
LEFT_AS_IT_WAS = "Okay, I left it as it was."
SLOW = 12.0
"""Seconds after which a person who waits for a model is told that it is slow. One that hangs is given up in minutes."""
STILL_WAITING = "My language model is taking its time. I'll answer as soon as it does."
GOING_ON = "Good to hear from you. I write as usual again."
STILL_QUIET = "Okay, I stay quiet, and I won't ask again. Any word from you ends it."
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


@dataclass(frozen=True, slots=True)
class Company:
    """Keeps a person company who waits for a model: tells them when it is slow, unless they see the answer being
    written. The call goes on, and its answer follows."""

    clock: Clock
    replies: Replies
    drafts: Drafts
    poke: Callable[[], None]

    def around(self, handler: Handler) -> Handler:
        @wraps(handler)
        async def turn(firing: Firing) -> None:
            telling = asyncio.create_task(self._tell(firing))
            try:
                await handler(firing)
            finally:
                telling.cancel()
                await asyncio.gather(telling, return_exceptions=True)

        return turn

    async def _tell(self, firing: Firing) -> None:
        await self.clock.sleep(SLOW)
        agent, typed = firing.timer.agent, bool(firing.timer.payload.get("typed"))
        if firing.settling or self.drafts.of(agent):
            return
        async with firing.fenced():
            await self.replies.post(agent, STILL_WAITING, self.clock.now(), typed=typed)
        self.poke()


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
    wishes: tuple[Wish, ...] = ()
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


CarryOut = Callable[[Asking, Wish], Awaitable[str | None]]
"""Does what is wished; what to say, or None where that is said already."""


class ModelTalk:
    def __init__(self, facts: FactReader, answering: Answering, tools: Tools, drafts: Drafts) -> None:
        self._facts = facts
        self._answering = answering
        self._tools = tools
        self._drafts = drafts

    async def facts(self, agent: str, text: str, number: int, now: Instant, *, forwarded: bool) -> CoachFacts:
        """What the answer to a message depends on."""
        pays = self._answering.pays
        return await self._facts.for_message(agent, text, number, now, forwarded=forwarded, for_model=pays)

    async def reply(self, agent: str, facts: CoachFacts, number: int, now: Instant) -> Reply:
        """The reply to the message of that number, and what it asks for. The safety rules have been applied."""
        turns: list[ToolTurn] = []  # one as soon as a model is asked

        def ask() -> ModelRequest:
            turns[:] = [ToolTurn(agent, facts, number)]
            talk = talk_prompt(self._facts.texts(agent), facts)
            return ModelRequest(
                Purpose.CONVERSATION,
                "",
                talk.system,
                talk.turns,
                ANSWER_TOKENS,
                tools=OFFERED,
                attempt_id=f"{agent}:turn:{number}:{now}",
            )

        try:
            answer = await self._answering.answer(
                agent,
                facts,
                ask,
                now,
                waited_for=True,
                use=lambda call: self._tools.use(turns[0], call),
                words=self._drafts.writer(agent) if self._answering.pays else None,
            )
        except (StoreError, LostLeaseError):
            raise
        except NudgeError as error:
            log.error("no answer for %s: %s", agent, error)
            return Reply(f"I can't answer right now. {redact(str(error))}")
        except Exception:
            log.exception("no answer for %s", agent)
            return Reply(SORRY)
        reply = parse_reply(answer.content, facts.now, facts.targets, forwarded=facts.forwarded)
        wishes = _wishes(answer.content) if answer.model == RULES and not facts.forwarded else ()
        if wishes:
            return replace(reply, wishes=wishes, well_formed=True)
        for turn in turns if answer.model != RULES else ():
            planned, refused = tuple(turn.actions), tuple(turn.refused)
            formed = reply.well_formed or bool(planned or refused)
            reply = replace(
                reply,
                actions=(*reply.actions, *planned),
                refused=(*reply.refused, *refused),
                recent_context=reply.recent_context or turn.context,
                well_formed=formed,
            )
        if not reply.well_formed:
            log.warning("the model's answer to %s is not a reply (%s)", agent, answer.stop_reason)
            restrained = not facts.forwarded and recognise(facts.text, facts.now, facts.targets.person) is not None
            return Reply(chat(facts)[0] if restrained else GARBLED)
        if facts.forwarded or answer.model == RULES:
            return reply
        if reply.actions:
            weighed = weigh(reply.actions, facts, self._facts.texts(agent))
            known = {(one.name, one.reason) for one in reply.refused}
            fresh = tuple(one for one in weighed.refused if (one.name, one.reason) not in known)
            reply = replace(reply, actions=weighed.now, refused=(*reply.refused, *fresh), after_yes=weighed.after_yes)
        return _with_feedback(reply, facts)

    def ended(self, agent: str) -> None:
        """The reply is written down, and its draft is over."""
        if self._answering.pays:
            self._drafts.end(agent)


def _wishes(content: Mapping[str, Any] | str) -> tuple[Wish, ...]:
    """The wishes in what the rules answered."""
    found = content.get(WISH) if isinstance(content, Mapping) else None
    return tuple(Wish.from_json(one) for one in found or ())


def _with_feedback(reply: Reply, facts: CoachFacts) -> Reply:
    """ "Don't message me about X" lands in Preferences also where the model only said that it would."""
    if any(isinstance(action, UpdateMemory) for action in reply.actions):
        return reply
    said = replace(facts, text=without_quotes(facts.text))
    actions, _ = read_actions(feedback(said), facts.now, facts.targets)
    return replace(reply, actions=(*reply.actions, *actions))


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
            aside = partial(is_aside, facts)
            step = await self._review.hear(agent, heard.text, now, forwarded=heard.forwarded, aside=aside)
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
        said = yes_or_no(heard.text)
        if asked.asks_to_go_on:
            said = said if said is not None or not is_unsure(heard.text) else True
            return None if said is None else Reply(GOING_ON if said else STILL_QUIET)
        match said:
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
        told = bool(reply.wishes) and not any(parts)
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
        if reply.wishes and not reply.actions:
            said = [await self._wishes(Asking(agent, now, heard.number, heard.typed), wish) for wish in reply.wishes]
            return "\n".join(part for part in (reply.text, *said) if part)
        done = Done()
        if reply.actions:
            done = await self._changes.carry_out(agent, reply.actions, now, said=heard.number)
        if not heard.forwarded:
            await self._keep_talk(agent, facts.talk, done, heard, now)
        for name in done.documents:
            settlement.feed("changed", f"Changed {name} in a conversation.")
        told = replace(reply, actions=done.actions, refused=(*reply.refused, *done.refused))
        shown = told.shown(facts.now, facts.targets, done.unchanged)
        if reply.wishes:
            rest = await self._carry_out(settlement, heard, facts, Reply("", wishes=reply.wishes))
            return "\n\n".join(part for part in (shown, rest) if part)
        return shown or ("" if reply.after_yes else "I couldn't do that.")
