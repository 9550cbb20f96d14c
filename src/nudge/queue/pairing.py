"""Pairing: how a person's chat becomes theirs, without looking up a numeric id.

`nudge pair` opens a code. Whoever sends it to the bot within ten minutes is the person. A code works once; after five
wrong ones it is closed, so that nobody can guess (the chance is one in 170 billion). Only a salted hash is stored,
and whoever sends anything else hears nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Protocol

from nudge.instants import MINUTE, Instant
from nudge.queue.records import Record, RecordTable, moment, text, whole

LASTS: Final = 10 * MINUTE
MOST_TRIES: Final = 5
_ALPHABET: Final = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""Without what looks like something else: 0 and O, 1, I and L."""
_LENGTH: Final = 8
_CODE: Final = re.compile(rf"(?:/start\s+)?([{_ALPHABET}]{{4}})[- ]?([{_ALPHABET}]{{4}})", re.IGNORECASE)
HOME: Final = ""
"""Records of the whole home."""


@dataclass(frozen=True, slots=True)
class OpenCode:
    """A code that waits for its person: what it hashes to, since when, and how many wrong ones came."""

    salt: str
    digest: str
    opened_at: Instant
    tries: int = 0

    def is_open(self, now: Instant) -> bool:
        return self.tries < MOST_TRIES and 0 <= now - self.opened_at < LASTS

    def fits(self, code: str) -> bool:
        return hmac.compare_digest(self.digest, _digest(self.salt, code))


OPEN_CODE: Record[OpenCode] = Record(
    "pairing.code",
    lambda data: OpenCode(text(data["salt"]), text(data["digest"]), moment(data["opened_at"]), whole(data["tries"])),
    lambda one: {"salt": one.salt, "digest": one.digest, "opened_at": one.opened_at, "tries": one.tries},
)


@dataclass(frozen=True, slots=True)
class Paired:
    """Who sent the last code, and whether the coach has greeted them."""

    who: str
    greeted: bool = False


PAIRED: Record[Paired] = Record(
    "pairing.paired", lambda data: Paired(text(data["who"]), bool(data["greeted"])), lambda one: asdict(one)
)


def code_in(words: str) -> str | None:
    """The code in a message that is nothing but one; None for anything else.

    >>> code_in("k7qf-2mxd"), code_in("/start K7QF2MXD"), code_in("hello there")
    ('K7QF2MXD', 'K7QF2MXD', None)
    """
    found = _CODE.fullmatch(words.strip())
    return f"{found[1]}{found[2]}".upper() if found else None


def shown(code: str) -> str:
    return f"{code[:4]}-{code[4:]}"


def _digest(salt: str, code: str) -> str:
    return hashlib.scrypt(code.encode(), salt=salt.encode(), n=2**12, r=8, p=1).hex()


def new_code(now: Instant) -> tuple[str, OpenCode]:
    code, salt = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH)), secrets.token_hex(16)
    return code, OpenCode(salt, _digest(salt, code), now)


class PairingStore(Protocol):
    @property
    def records(self) -> RecordTable: ...

    def transaction(self) -> AbstractAsyncContextManager[Any]: ...


class Pairing:
    """One open code for the home; a new one takes the place of the last."""

    def __init__(self, store: PairingStore) -> None:
        self._store = store

    async def open(self, now: Instant) -> str:
        code, opened = new_code(now)
        async with self._store.transaction():
            await self._store.records.delete(HOME, PAIRED)
            await self._store.records.set(HOME, OPEN_CODE, opened)
        return code

    async def offer(self, words: str, who: str, now: Instant) -> bool:
        """Somebody sent this. Whether they are the person now; the code is used up then."""
        code = code_in(words)
        if code is None:
            return False
        async with self._store.transaction():
            opened = await self._store.records.lock(HOME, OPEN_CODE)
            if opened is None or not opened.is_open(now):
                return False
            if not opened.fits(code):
                await self._store.records.set(HOME, OPEN_CODE, replace(opened, tries=opened.tries + 1))
                return False
            await self._store.records.delete(HOME, OPEN_CODE)
            await self._store.records.set(HOME, PAIRED, Paired(who))
        return True

    async def paired(self) -> Paired | None:
        """Who sent the code that was opened last."""
        return await self._store.records.get(HOME, PAIRED)

    async def greeted(self, who: str) -> None:
        await self._store.records.set(HOME, PAIRED, Paired(who, greeted=True))

    async def is_open(self, now: Instant) -> bool:
        opened = await self._store.records.get(HOME, OPEN_CODE)
        return opened is not None and opened.is_open(now)

    async def close(self) -> None:
        await self._store.records.delete(HOME, OPEN_CODE)


@dataclass(frozen=True, slots=True)
class Pairs:
    """What a channel does with strangers: `offer` their words, and say who was `accepted`."""

    offer: Callable[[str, str], Awaitable[bool]]
    accepted: Callable[[str], Awaitable[None]]
