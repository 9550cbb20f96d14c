"""Tokens that prove who an agent's client is. Shown once; the store has their hashes.

A token has 256 random bits, so a plain hash is enough: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

from nudge.instants import Instant
from nudge.queue.records import Record, items, moment, text
from nudge.queue.store import QueueStore

PREFIX = "nudge."
Hashes = tuple[tuple[str, Instant], ...]


def _read(value: object) -> Hashes:
    pairs = [items(pair) for pair in items(value)]
    return tuple((text(pair[0]), moment(pair[1])) for pair in pairs)


TOKENS: Record[Hashes] = Record("gateway.tokens", _read, lambda pairs: [list(pair) for pair in pairs])


async def new_token(store: QueueStore, agent: str, now: Instant) -> str:
    """A token for the agent, besides those it has."""
    token = f"{PREFIX}{agent}.{secrets.token_urlsafe(32)}"
    async with store.transaction():
        known = await store.records.lock_or_add(agent, TOKENS, ())
        await store.records.set(agent, TOKENS, (*known, (_hash(token), now)))
    return token


async def revoke_tokens(store: QueueStore, agent: str) -> int:
    """Forget the agent's tokens; how many there were."""
    async with store.transaction():
        known = await store.records.lock_or_add(agent, TOKENS, ())
        await store.records.set(agent, TOKENS, ())
    return len(known)


async def agent_of(store: QueueStore, token: str) -> str | None:
    """Whose token this is; None if it is nobody's."""
    agent, _, secret = token.removeprefix(PREFIX).partition(".")
    if not token.startswith(PREFIX) or not secret or len(token) > 200 or not token.isascii():
        return None
    known = await store.records.get(agent, TOKENS) or ()
    hashed = _hash(token)
    return agent if any(hmac.compare_digest(one, hashed) for one, _ in known) else None


def is_token(credential: str) -> bool:
    return credential.startswith(PREFIX)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
