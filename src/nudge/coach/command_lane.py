"""Commands that are answered in turn with the conversation: /sync, /redact, /undo, /review."""

from __future__ import annotations

from nudge.coach.commands import Asked
from nudge.coach.outside import TextHistory
from nudge.coach.redact import DEFAULT, Redaction
from nudge.coach.review_talk import ReviewTalk
from nudge.coach.undo import Undo

NO_HISTORY = "These documents live in no git repository. “git init” in their folder starts one; then /sync works."


class LaneCommands:
    def __init__(self, undo: Undo, redaction: Redaction, review: ReviewTalk, history: TextHistory | None) -> None:
        self._undo = undo
        self._redaction = redaction
        self._review = review
        self._history = history

    async def sync(self, asked: Asked) -> str:
        if self._history is None:
            return NO_HISTORY
        match asked.words.lower().split():
            case []:
                return await self._history.pull(asked.agent)
            case ["push"]:
                return await self._history.push(asked.agent)
            case _:
                return "Say /sync to fetch what changed, or /sync push to send what is here."

    async def redact(self, asked: Asked) -> str:
        words = asked.words or str(DEFAULT)
        if not words.isdigit() or not int(words[:9]) > 0:
            return "How many messages? For example: /redact 4"
        return await self._redaction.last(asked.agent, int(words[:9]), asked.now)

    async def undo(self, asked: Asked) -> str:
        return await self._undo.last(asked.agent, asked.now)

    async def review(self, asked: Asked) -> str | None:
        return await self._review.command(asked.agent, asked.words, asked.now, typed=asked.typed)
