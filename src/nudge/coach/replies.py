"""Answers to the person: never unsolicited, so they are free and go out whatever the hour."""

from __future__ import annotations

from collections.abc import Iterable

from nudge.coach.documents import readable
from nudge.instants import Instant
from nudge.queue.delivery import Delivery
from nudge.queue.outbox import Message
from nudge.redaction import HIDDEN

KIND = "reply"

LONGEST = 12_000
"""Characters of one answer, about three messages: nobody reads more, and a model that runs wild is cut."""

_SHORTEST_SECRET = 6


class Replies:
    def __init__(self, delivery: Delivery, secrets: Iterable[str] = ()) -> None:
        self._delivery = delivery
        self._secrets = sorted({one for one in secrets if len(one) >= _SHORTEST_SECRET}, key=len, reverse=True)

    async def post(self, agent: str, text: str, now: Instant, *, typed: bool = False, kind: str = KIND) -> str:
        """Put an answer into the outbox, inside the caller's transaction; the words as they go out.

        The person waits for it, so it is sent once more where a crash leaves open whether it arrived.
        """
        words = self.clean(text)
        await self._delivery.post(Message(agent, words, kind, now, asked=True, typed=typed))
        return words

    def clean(self, text: str) -> str:
        """Without this home's own secrets, whoever put them there, and never empty."""
        words = readable(text).replace("\0", "").strip()
        for secret in self._secrets:
            words = words.replace(secret, HIDDEN)
        if len(words) > LONGEST:
            words = f"{words[: LONGEST - 1].rstrip()}…"
        return words or "Okay."
