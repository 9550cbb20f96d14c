"""The first questions in the conversation: asked once per home, on whatever surface the person shows up first.

A message that answers is settled here. Any other goes on to the conversation, and the question follows its answer, in
the same commit.
"""

from __future__ import annotations

from dataclasses import replace

from nudge.attention.restraint import recognise
from nudge.coach.changes import Changes
from nudge.coach.context import open_question
from nudge.coach.conversation import Heard as Message
from nudge.coach.fact_reader import FactReader
from nudge.coach.intents.reading import Talk, is_small_talk
from nudge.coach.intents.reading import read as read_wish
from nudge.coach.messages import Replies
from nudge.coach.onboarding import (
    ASIDE,
    ONBOARDING,
    Ask,
    Onboarding,
    Reply,
    after,
    begin,
    changes,
    hear,
    is_set_up,
    question,
    summary,
    with_answers,
)
from nudge.coach.own_words import QUESTION
from nudge.coach.person_documents import PersonDocuments
from nudge.coach.rules import in_trouble
from nudge.coach.store import CoachStore, Saying
from nudge.coach.targets import Targets
from nudge.instants import Instant, to_datetime
from nudge.phrases import asks_for_reminder
from nudge.queue.firing import Firing, Handler
from nudge.text import without_quotes


class OnboardingTalk:
    """`talk` handles the messages that answer nothing here."""

    def __init__(
        self,
        store: CoachStore,
        documents: PersonDocuments,
        facts: FactReader,
        replies: Replies,
        changes: Changes,
        talk: Handler,
    ) -> None:
        self._store = store
        self._documents = documents
        self._facts = facts
        self._replies = replies
        self._changes = changes
        self._talk = talk

    async def greet(self, agent: str, now: Instant, *, typed: bool = False, again: bool = True) -> bool:
        """The person has shown up: begin, if this home is new, or put the open question `again`. Whether one was
        asked. Never for somebody who has been here before."""
        async with self._store.transaction():
            state = await self._store.records.lock(agent, ONBOARDING)
            if state is None:
                if not await self._is_new(agent):
                    return False
                state = begin(now)
            elif not again or not state.is_open(now):
                return False
            await self._ask(agent, replace(state, asked_at=now), now, typed=typed)
        return True

    async def start_over(self, agent: str, now: Instant, *, typed: bool = False) -> bool:
        """Ask what is not answered yet, for whoever put it aside. Whether something is left to ask."""
        state = await self._store.records.get(agent, ONBOARDING)
        if state is None:
            return await self.greet(agent, now, typed=typed)
        left = [ask for ask in (Ask.NAME, Ask.ZONE, Ask.SLEEP, Ask.GOAL) if not _answered(ask, state)]
        if not left:
            return False
        first = state.ask if state.ask in left else left[0]
        await self._ask(agent, Onboarding(first, now, answers=state.answers), now, typed=typed)
        return True

    async def turn(self, firing: Firing) -> None:
        """Handle one message: an answer here, everything else in the conversation."""
        agent, now = firing.timer.agent, firing.now
        state = await self._store.records.get(agent, ONBOARDING)
        message = Message.from_payload(firing.timer.payload)
        if state is None or message.forwarded or not state.is_open(now) or await self._asks(agent, message.number, now):
            await self._talk(firing)
            return
        targets = self._documents.targets(agent)
        said = without_quotes(message.text)
        restrained = recognise(said, now, targets.person) is not None or in_trouble(said)
        understood = restrained or _understood(said, state.ask, now, targets)
        heard = hear(state.ask, said, state.answers, targets, understood=understood)
        if heard.reply is Reply.ELSE or restrained:
            firing.at_settlement.append(lambda: self._put_again(agent, state, message, now, quietly=restrained))
            await self._talk(firing)
            return
        await self._changes.finish(agent, now)
        async with firing.settle():
            if heard.reply is Reply.UNCLEAR:
                await self._say(agent, replace(state, asked_at=now, repeated=True), heard.hint, now, message.typed)
            else:
                done = changes(heard.values, state.answers, targets, self._documents.goals(agent))
                await self._changes.carry_out(agent, done, now, said=message.number)
                met = "name" in heard.values
                await self._ask(agent, after(state, heard.values, now), now, typed=message.typed, met=met)
        await self._changes.finish(agent, now)

    async def _put_again(self, agent: str, state: Onboarding, message: Message, now: Instant, *, quietly: bool) -> None:
        """Once more after something else; then it is put aside, and whoever wants to be left alone is at once."""
        if not quietly and await self._asks(agent, message.number + 1, now):
            return  # what the coach asked back about comes first
        if quietly or state.repeated:
            await self._store.records.set(agent, ONBOARDING, replace(state, ask=Ask.NOTHING, asked_at=now))
            if not quietly:
                await self._post(agent, ASIDE, now, message.typed)
            return
        await self._ask(agent, replace(state, asked_at=now, repeated=True), now, typed=message.typed)

    async def _asks(self, agent: str, number: int, now: Instant) -> bool:
        """Whether the coach waits for the answer to something else."""
        asked = await self._store.records.get(agent, QUESTION)
        if asked is not None and asked.is_open(now):
            return True
        facts = await self._facts.for_message(agent, "", number, now, forwarded=False)
        return facts.talk.asked is not None or bool(open_question(facts.turns, facts.targets.zone))

    async def _ask(self, agent: str, state: Onboarding, now: Instant, *, typed: bool, met: bool = False) -> None:
        targets = with_answers(self._documents.targets(agent), state.answers)
        if state.ask is Ask.NOTHING:
            text = summary(state.answers, targets)
        else:
            text = question(state, targets, f"{to_datetime(now, targets.zone):%H:%M}", met=met)
        await self._say(agent, state, text, now, typed)

    async def _say(self, agent: str, state: Onboarding, text: str, now: Instant, typed: bool) -> None:
        await self._store.records.set(agent, ONBOARDING, state)
        await self._post(agent, text, now, typed)

    async def _post(self, agent: str, text: str, now: Instant, typed: bool) -> None:
        shown = await self._replies.post(agent, text, now, typed=typed)
        await self._store.conversations.add(Saying(agent, now, "assistant", shown, "conversation"))

    async def _is_new(self, agent: str) -> bool:
        if await self._store.conversations.recent(agent, 1) or not self._documents.has_goals(agent):
            return False
        return not is_set_up(self._documents.goals(agent), self._documents.preferences(agent))


def _answered(ask: Ask, state: Onboarding) -> bool:
    return {Ask.NAME: "name", Ask.ZONE: "zone", Ask.SLEEP: "wake", Ask.GOAL: "goal"}[ask] in state.answers


def _understood(said: str, ask: Ask, now: Instant, targets: Targets) -> bool:
    """Whether the coach knows something else to do with it. A name and a goal in words are answers, too."""
    wish = read_wish(said, Talk(), now, targets.zone)
    fits = {Ask.NAME: ("name",), Ask.GOAL: ("add", "north")}.get(ask, ())
    asks = wish is not None and wish.name not in fits
    return asks or asks_for_reminder(said) or is_small_talk(said)
