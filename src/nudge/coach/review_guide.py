"""The weekly review with a model: it hears what is an answer, asks back once where that helps, sums up, and finds lines
of MEMORY.md that contradict each other by their meaning.

The state machine (`review`) stays in charge: the model leads within it, and where it fails the rules go on alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nudge.coach.actions import MEMORY_SECTIONS
from nudge.coach.answering import RULES, Answering
from nudge.coach.documents import Document, DocumentTexts, one_line, readable, without_comments
from nudge.coach.fact_reader import FactReader
from nudge.coach.goals import lines_of
from nudge.coach.memory import COMMITMENTS, same, shorten
from nudge.coach.prompts import RULE, clip, fence, remembered, wishes
from nudge.coach.review import Resolved, Review, questions
from nudge.errors import LostLeaseError, NudgeError, StoreError
from nudge.instants import Instant
from nudge.model import ModelRequest, Purpose, cached, user
from nudge.text import is_blank, short

MOST_RESOLVED = 2
"""So many lines a review may take out of the memory because they contradict others."""
LONGEST_QUESTION = 200
_CAP = 1_500
READ_TOKENS = 200
CLOSE_TOKENS = 600

READ_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"is_answer": {"type": "boolean"}, "ask_back": {"type": "string"}},
    "required": ["is_answer", "ask_back"],
    "additionalProperties": False,
}
CLOSE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "summary": {"type": "string"},
        "contradictions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"keep": {"type": "string"}, "remove": {"type": "string"}},
                "required": ["keep", "remove"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["summary", "contradictions"],
    "additionalProperties": False,
}

READ_RULE = """You lead the weekly review. The person was asked the question below and wrote the message below it.
is_answer: whether the message answers the question, however briefly or sadly. Something that happens to them right now
("the kitchen is flooded"), a wish, or a question to you is no answer.
ask_back: usually empty. One short question back, only where the answer is so vague that next week nobody could do
anything with it; never to push, never about feelings they did not mention."""
CLOSE_RULE = """The weekly review is over. Its questions and answers are below, and what you remember of the person.
summary: three or four sentences that will still be useful in a month: what moved, what got in the way, the experiment
for next week. No advice, nothing that was not said.
contradictions: lines of MEMORY.md that cannot both be true now, each copied exactly: the one to keep (the newer one, or
the one that the answers support) and the one to remove. Usually none."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What a model made of a message: whether it is an answer, and what to ask back, if anything."""

    is_answer: bool
    ask_back: str = ""


@dataclass(frozen=True, slots=True)
class Closing:
    summary: str = ""
    resolved: tuple[Resolved, ...] = ()


class ReviewGuide:
    def __init__(self, facts: FactReader, answering: Answering) -> None:
        self._facts = facts
        self._answering = answering

    async def read(self, agent: str, review: Review, text: str, now: Instant) -> Heard | None:
        """What the message is to the open question; None where no model says."""
        question = f"The question:\n{fence(review.question().text)}\n\nTheir message:\n{fence(readable(text))}"
        data = await self._ask(agent, text, READ_RULE, question, READ_SCHEMA, READ_TOKENS, now)
        return None if data is None else heard(data)

    async def close(self, agent: str, review: Review, memory: str, now: Instant) -> Closing:
        """The summary and the contradictions at the end; empty where no model says."""
        asked = zip(questions(review.goals), review.answers, strict=False)
        talk = "\n".join(f"- {question.text}\n  {one_line(answer) or '(passed)'}" for question, answer in asked)
        material = f"The review:\n{fence(clip(talk, _CAP))}\n\n--- MEMORY.md ---\n{fence(clip(_lines(memory), _CAP))}"
        data = await self._ask(agent, "", CLOSE_RULE, material, CLOSE_SCHEMA, CLOSE_TOKENS, now)
        return Closing() if data is None else closing(data, memory)

    async def _ask(
        self, agent: str, text: str, rule: str, message: str, schema: Mapping[str, Any], tokens: int, now: Instant
    ) -> Mapping[str, Any] | None:
        texts: DocumentTexts = self._facts.texts(agent)
        facts = await self._facts.for_message(agent, text, 0, now, forwarded=False)

        def ask() -> ModelRequest:
            system = "\n\n".join((clip(without_comments(texts.agents), _CAP), RULE, rule, wishes(texts.memory)))
            return ModelRequest(
                Purpose.REVIEW,
                "",
                (cached(system.strip()),),
                (user(message),),
                tokens,
                schema=schema,
                attempt_id=f"{agent}:review:{len(message)}:{now}",
            )

        try:
            answer = await self._answering.answer(agent, facts, ask, now, waited_for=True)
        except (StoreError, LostLeaseError):
            raise
        except NudgeError:
            return None
        return None if answer.model == RULES else answer.data


def heard(data: Mapping[str, Any]) -> Heard | None:
    """
    >>> heard({"is_answer": True, "ask_back": "Which part of it?"})
    Heard(is_answer=True, ask_back='Which part of it?')
    >>> heard({"reply": "hm"}) is None
    True
    """
    answer, back = data.get("is_answer"), data.get("ask_back")
    if not isinstance(answer, bool):
        return None
    asked = short(one_line(readable(back)), LONGEST_QUESTION) if isinstance(back, str) and not is_blank(back) else ""
    return Heard(answer, asked if asked.endswith("?") else "")


def closing(data: Mapping[str, Any], memory: str) -> Closing:
    """What may be taken from a model's closing: lines that are there, in one section, two at most. A commitment ends
    when it is kept or dropped, not because a model reads it so."""
    document = Document.parse(memory)
    sections = {section: lines_of(document, section) for section in MEMORY_SECTIONS if section != COMMITMENTS}
    resolved: list[Resolved] = []
    given = data.get("contradictions")
    for one in given if isinstance(given, list) else ():
        keep, remove = (one.get("keep"), one.get("remove")) if isinstance(one, Mapping) else (None, None)
        for section, lines in sections.items():
            kept = next((line for line in lines if isinstance(keep, str) and same(line, keep)), None)
            gone = next((line for line in lines if isinstance(remove, str) and same(line, remove)), None)
            if kept is not None and gone is not None and kept != gone and all(kept != done.remove for done in resolved):
                resolved.append(Resolved(section, kept, gone))
    words = data.get("summary")
    return Closing(shorten(readable(words)) if isinstance(words, str) else "", tuple(resolved[:MOST_RESOLVED]))


def _lines(memory: str) -> str:
    """The memory with its preferences, which may contradict each other too."""
    return "\n\n".join(part for part in (wishes(memory), remembered(memory)) if part)
