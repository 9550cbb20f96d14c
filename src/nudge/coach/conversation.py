"""A turn of the conversation: the person's words, the answer, and everything that follows from it, once.

The answer is thought of outside of any transaction. Then one settlement writes the reply, what was said, the actions
and the documents' new texts; a crash before it leaves the message waiting as it was, and after it nothing is left to do
but to write the files.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from nudge.attention.restraint import recognise
from nudge.coach.actions import RefusedAction, UpdateMemory, read_actions
from nudge.coach.answering import Answering
from nudge.coach.carry_out import NAMES, ActionFailedError, Actions
from nudge.coach.commands import Asked, Command, whole_seconds
from nudge.coach.conversation_prompt import REPLY_SCHEMA, Reply, conversation, parse_reply
from nudge.coach.document_writes import Edit, Pages
from nudge.coach.effects import confirm
from nudge.coach.facts import CoachFacts
from nudge.coach.facts import Purpose as FactsPurpose
from nudge.coach.facts import Turn as Said
from nudge.coach.memory import PREFERENCES, set_recent_context
from nudge.coach.outside import TextHistory
from nudge.coach.person_documents import MEMORY, Desk
from nudge.coach.person_reminders import PersonReminders
from nudge.coach.replies import Replies
from nudge.coach.review_talk import ReviewTalk
from nudge.coach.rules import answer as by_rules
from nudge.coach.small_talk import chat
from nudge.coach.store import CoachStore
from nudge.coach.undo import Deed, Undo
from nudge.errors import LostLeaseError, NotConfiguredError, NudgeError, StoreError, UsageError
from nudge.instants import Instant
from nudge.model import ModelRequest, Purpose, assistant, cached, user
from nudge.queue.agents import IDLE_SINCE
from nudge.queue.dispatch import Firing, Settlement
from nudge.queue.timers import Timer, talk_lane
from nudge.redaction import redact

log = logging.getLogger("nudge.conversation")

KIND = "turn"
"""The note that says when the agent's last turn ended; idle checks read it."""

ANSWER_TOKENS = 1_000
LOOK_BACK = 60

GARBLED = "Sorry, my answer came out garbled, so I changed nothing. Could you say that again?"
SORRY = "Sorry, something went wrong on my side and I couldn't answer that. Nothing was changed."
ONLY_TEXT = "I can only read text so far. Could you write it?"
LEFT_OUT = "(I kept no copy of what looked like a key or a password in your message.)"

_ATTACHMENT = re.compile(r"\[[a-z ]+\]")


@dataclass(frozen=True, slots=True)
class Heard:
    """A message that waits for its answer; the payload of its timer. `number` is its place in the conversation."""

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


def turn_key(number: int) -> str:
    """In the order of their numbers also where two became due in the same microsecond."""
    return f"turn:{number:012}"


class Talk:
    def __init__(
        self,
        store: CoachStore,
        desk: Desk,
        answering: Answering,
        replies: Replies,
        pages: Pages,
        actions: Actions,
        undo: Undo,
        review: ReviewTalk,
        reminders: PersonReminders,
        commands: Mapping[str, Command],
        history: TextHistory | None = None,
    ) -> None:
        self._store = store
        self._desk = desk
        self._answering = answering
        self._replies = replies
        self._pages = pages
        self._actions = actions
        self._undo = undo
        self._review = review
        self._reminders = reminders
        self._commands = commands
        self._history = history

    async def turn(self, firing: Firing) -> None:
        """Handle one message or one command that waits for its turn."""
        agent, now = firing.timer.agent, firing.now
        await self._pages.finish(agent, now)
        if "command" in firing.timer.payload:
            await self._command(firing)
        else:
            heard = Heard.from_payload(firing.timer.payload)
            facts = await self._facts(agent, heard, now)
            reply = await self._reply(agent, heard, facts, now)
            await self._settle(firing, heard, facts, reply)
        await self._pages.finish(agent, now)

    async def _facts(self, agent: str, heard: Heard, now: Instant) -> CoachFacts:
        """What is known, with the talk before this message: later messages wait for their own turn."""
        said = await self._store.conversations.recent(agent, LOOK_BACK)
        before = {one.id for one in said if one.id < heard.number or one.role == "assistant"}
        due = await self._reminders.due(agent, now)
        facts = await self._desk.facts(agent, FactsPurpose.CONVERSATION, whole_seconds(now), due=due, text=heard.text)
        known = {(turn.at, turn.role, turn.text) for turn in facts.turns}
        turns = tuple(
            Said(one.role, one.content, one.at, one.forwarded)
            for one in reversed(said)
            if one.id in before and (one.at, one.role, one.content) in known
        )
        return replace(facts, turns=turns, forwarded=heard.forwarded)

    async def _reply(self, agent: str, heard: Heard, facts: CoachFacts, now: Instant) -> Reply:
        """The answer to a message; to one that is the review's, nothing."""
        outcome = await self._review.hear(agent, heard.text, now, forwarded=heard.forwarded)
        if outcome is not None and outcome.step.effects.prune:
            await self._keep_version(agent)
        if outcome is not None and outcome.step.handled:
            return Reply("")
        if _ATTACHMENT.fullmatch(heard.text):
            return Reply(ONLY_TEXT)
        message = Said("user", heard.text, facts.now, heard.forwarded)
        built = conversation(self._desk.documents(agent), facts.turns, message, facts.targets)
        request = ModelRequest(
            Purpose.CONVERSATION,
            "",
            (cached(built.system),),
            tuple(user(text) if role == "user" else assistant(text) for role, text in built.turns),
            ANSWER_TOKENS,
            schema=REPLY_SCHEMA,
            attempt_id=f"{agent}:{turn_key(heard.number)}:{now}",
        )
        try:
            answer = await self._answering.answer(agent, facts, request, now, waited_for=True)
        except (StoreError, LostLeaseError):
            raise
        except NudgeError as error:
            log.error("no answer for %s: %s", agent, error)
            return Reply(f"I can't answer right now. {redact(str(error))}")
        except Exception:
            log.exception("no answer for %s", agent)
            return Reply(SORRY)
        reply = parse_reply(answer.content, facts.now, facts.targets, forwarded=heard.forwarded)
        if not reply.well_formed:
            log.warning("the model's answer to %s is not a reply (%s)", agent, answer.stop_reason)
            return Reply(chat(facts)[0] if self._is_restraint(heard) else GARBLED)
        return reply if heard.forwarded else _with_feedback(reply, facts)

    async def _settle(self, firing: Firing, heard: Heard, facts: CoachFacts, reply: Reply) -> None:
        """Write it all. An action that turns out to be impossible is left out, and the person is told why."""
        while True:
            try:
                async with firing.settle() as settlement:
                    await self._write(settlement, heard, facts, reply)
            except ActionFailedError as error:
                refused = RefusedAction(NAMES[type(error.action)], error.message)
                others = tuple(action for action in reply.actions if action != error.action)
                reply = replace(reply, actions=others, refused=(*reply.refused, refused))
            else:
                return

    async def _write(self, settlement: Settlement, heard: Heard, facts: CoachFacts, reply: Reply) -> None:
        agent, now = settlement.timer.agent, settlement.now
        parts: list[str] = []
        kind = "conversation"
        outcome = await self._review.hear(agent, heard.text, now, forwarded=heard.forwarded)
        if outcome is not None:
            await self._review.settle(agent, outcome, now, said=heard.number)
        if outcome is not None and outcome.step.handled:
            kind = "review"
        else:
            parts.append(await self._act(settlement, heard, facts, reply))
        if outcome is not None:
            parts += [*outcome.step.replies, f"One thing could not be written: {outcome.lost}" if outcome.lost else ""]
        if heard.hidden:
            parts.append(LEFT_OUT)
        if not heard.forwarded:
            await self._summarise(agent, heard, facts, reply, now)
        words = "\n\n".join(part for part in parts if part)
        shown = await self._replies.post(agent, words, now, typed=heard.typed)
        await self._desk.say(agent, "assistant", shown, now, kind)
        await self._store.records.set(agent, IDLE_SINCE, now)

    async def _act(self, settlement: Settlement, heard: Heard, facts: CoachFacts, reply: Reply) -> str:
        """Carry out what the reply asks for; what to say."""
        agent, now, targets = settlement.timer.agent, settlement.now, facts.targets
        carried = await self._actions.carry_out(agent, reply.actions, now)
        done = [action for action in carried.done if action not in carried.unchanged]
        await self._pages.plan(agent, carried.edits, now)
        words = " ".join(confirm(action, facts.now, targets) for action in done)
        await self._undo.remember(
            agent, Deed(words, carried.edits, carried.reminders, carried.wishes, heard.number, carried.noted)
        )
        for edit in carried.edits:
            settlement.feed("changed", f"{edit.name} was changed in a conversation.")
        told = replace(reply, actions=carried.done, refused=(*reply.refused, *carried.refused))
        return told.words(facts.now, targets, carried.unchanged) or "I couldn't do that."

    async def _summarise(self, agent: str, heard: Heard, facts: CoachFacts, reply: Reply, now: Instant) -> None:
        """Rewrite Recent Context: with the model's summary, else by rule."""
        summary: object = reply.recent_context
        if not summary:
            turns = (Said("user", heard.text, now),)
            summary = by_rules(replace(facts, purpose=FactsPurpose.SUMMARY, turns=turns))
        try:
            text = await self._pages.read(agent, MEMORY)
            changed = set_recent_context(text, str(summary))
        except (UsageError, NotConfiguredError) as error:
            log.warning("Recent Context of %s cannot be written: %s", agent, error)
            return
        await self._pages.plan(agent, [Edit(MEMORY, text, changed)], now)

    async def _command(self, firing: Firing) -> None:
        agent, now, payload = firing.timer.agent, firing.now, firing.timer.payload
        asked = Asked(agent, str(payload["words"]), now, bool(payload["typed"]))
        command = self._commands[payload["command"]]
        try:
            words = await command.answer(asked) if command.slow else None
            async with firing.settle():
                if not command.slow:
                    words = await command.answer(asked)
                if words is not None:
                    await self._replies.post(agent, words, now, typed=asked.typed)
        except (StoreError, LostLeaseError):
            raise
        except NudgeError as error:
            if firing.settled:
                raise
            async with firing.settle():
                await self._replies.post(agent, redact(str(error)), now, typed=asked.typed)

    async def _keep_version(self, agent: str) -> None:
        """Before the memory is pruned its text goes into git, where there is one."""
        if self._history is None:
            return
        try:
            await self._history.commit(agent)
        except NudgeError as error:
            log.warning("the documents of %s were not committed: %s", agent, error)

    @staticmethod
    def _is_restraint(heard: Heard) -> bool:
        return not heard.forwarded and recognise(heard.text) is not None


def _with_feedback(reply: Reply, facts: CoachFacts) -> Reply:
    """ "Don't message me about X" lands in Preferences also where the model only said that it would."""
    if any(isinstance(action, UpdateMemory) for action in reply.actions):
        return reply
    wanted = [one for one in chat(facts)[1] if one["action"] == "update_memory" and one["section"] == PREFERENCES]
    feedback = [one for one in wanted if str(one.get("add", "")).startswith("Don't ")]
    actions, _ = read_actions(feedback, facts.now, facts.targets)
    return replace(reply, actions=(*reply.actions, *actions))
