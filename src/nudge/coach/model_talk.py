"""The answer to a message: a model's, with tools, or the rules'."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nudge.attention.restraint import recognise
from nudge.coach.actions import UpdateMemory, read_actions
from nudge.coach.answering import RULES, Answering
from nudge.coach.drafts import Drafts
from nudge.coach.fact_reader import FactReader
from nudge.coach.facts import CoachFacts
from nudge.coach.intents import Wish
from nudge.coach.own_words import weigh
from nudge.coach.reply import Reply, parse_reply
from nudge.coach.small_talk import WISH, chat, feedback
from nudge.coach.talk_prompt import talk_prompt
from nudge.coach.tools import OFFERED, Tools, ToolTurn
from nudge.errors import LostLeaseError, NudgeError, StoreError
from nudge.instants import Instant
from nudge.model import ModelRequest, Purpose
from nudge.redaction import redact
from nudge.text import without_quotes

log = logging.getLogger("nudge.conversation")

ANSWER_TOKENS = 1_000
GARBLED = "Sorry, my answer came out garbled, so I changed nothing. Could you say that again?"
SORRY = "Sorry, something went wrong on my side and I couldn't answer that. Nothing was changed."


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
        turn = ToolTurn(agent, facts, number)

        def ask() -> ModelRequest:
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
                use=lambda call: self._tools.use(turn, call),
                words=self._drafts.writer(agent),
            )
        except (StoreError, LostLeaseError):
            raise
        except NudgeError as error:
            log.error("no answer for %s: %s", agent, error)
            return Reply(f"I can't answer right now. {redact(str(error))}")
        except Exception:
            log.exception("no answer for %s", agent)
            return Reply(SORRY)
        wish = _wish(answer.content) if answer.model == RULES and not facts.forwarded else None
        if wish is not None:
            return Reply(str(answer.data["reply"]) if answer.data else "", wish=wish)
        reply = parse_reply(answer.content, facts.now, facts.targets, forwarded=facts.forwarded)
        if answer.model != RULES:
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
        self._drafts.end(agent)


def _wish(content: Mapping[str, Any] | str) -> Wish | None:
    """The wish in what the rules answered."""
    found = content.get(WISH) if isinstance(content, Mapping) else None
    return Wish.from_json(found) if found else None


def _with_feedback(reply: Reply, facts: CoachFacts) -> Reply:
    """ "Don't message me about X" lands in Preferences also where the model only said that it would."""
    if any(isinstance(action, UpdateMemory) for action in reply.actions):
        return reply
    said = replace(facts, text=without_quotes(facts.text))
    actions, _ = read_actions(feedback(said), facts.now, facts.targets)
    return replace(reply, actions=(*reply.actions, *actions))
