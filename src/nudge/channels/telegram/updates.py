"""From an update of the Bot API to what the person did, if it was the person, and if it was not handled before.

The allow-list comes first: nothing of an update is kept before its chat is known to be a private one with an allowed
user. An update that is refused or not understood is counted, and the cursor moves past it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeGuard

from nudge.instants import SECOND, Instant
from nudge.queue.channel import Inbound
from nudge.queue.pairing import code_in

ALLOWED_UPDATES = ("message", "edited_message", "callback_query")
QUIET_SECONDS = 6 * 86_400
"""The service continues with other ids after a week without updates; a day less, because clocks differ."""
_CURSOR = re.compile(r"([0-9]{1,19}):([0-9]{1,19}):([0-9]{1,19})")

_QUOTED = ("blockquote", "expandable_blockquote")
_FORWARDED = ("forward_origin", "forward_date", "forward_from", "forward_from_chat", "forward_sender_name", "via_bot")
_ATTACHMENTS = {
    "photo": "photo",
    "voice": "voice message",
    "audio": "audio",
    "video": "video",
    "video_note": "video message",
    "animation": "animation",
    "document": "file",
    "sticker": "sticker",
    "location": "location",
    "contact": "contact",
    "poll": "poll",
}
_ADDRESSED = re.compile(r"^(/\w+)@\w+")


class Refused(StrEnum):
    """Why an update was not handed on."""

    REPEATED = "repeated"  # it was handled before
    KIND = "kind"  # channel posts, membership changes, reactions, …
    NOT_PRIVATE = "not-private"  # groups and channels, whoever writes there
    NOT_ALLOWED = "not-allowed"  # a private chat with somebody else
    NO_CONTENT = "no-content"  # service messages
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a bot's updates are handled. `offset` is the lowest id still wanted, `newest` is when the newest handled
    update was made, in seconds of the service's clock.

    After a week without updates the service may continue with lower ids. So an id below the offset is new if the update
    was made after everything that was handled; otherwise the service, or somebody in between, repeats itself. A pressed
    button has no date: below the offset it is new only after a quiet week.

    >>> Cursor.read("7:901:1790000000", bot=7)
    Cursor(bot=7, offset=901, newest=1790000000)
    >>> Cursor.read("7:901:1790000000", bot=8)
    Cursor(bot=8, offset=0, newest=0)
    """

    bot: int
    offset: int = 0
    newest: int = 0

    @classmethod
    def read(cls, text: str, bot: int) -> Cursor:
        """Another bot's cursor, or a text that is none, means the beginning. Bot 0 is a bot that was not noted."""
        found = _CURSOR.fullmatch(text)
        if found is None or int(found[1]) not in (0, bot):
            return cls(bot)
        return cls(bot, int(found[2]), int(found[3]))

    def __str__(self) -> str:
        return f"{self.bot}:{self.offset}:{self.newest}"

    def after(self, number: int, made: int) -> Cursor:
        return Cursor(self.bot, number + 1, max(self.newest, made))

    def repeats(self, number: int, made: int | None, now: int) -> bool:
        if number >= self.offset:
            return False
        return made <= self.newest if made is not None else 0 <= now - self.newest < QUIET_SECONDS


@dataclass(frozen=True, slots=True)
class Batch:
    """What one poll brought. `cursor` is the one it was read with if nothing in it was new."""

    inbound: tuple[Inbound, ...]
    refused: Counter[Refused]
    cursor: Cursor
    strangers: tuple[tuple[int, str], ...] = ()
    """Who wrote in private without being allowed to, and what, if it may be a pairing code."""


def read_batch(result: object, cursor: Cursor, allowed: frozenset[int], now: Instant) -> Batch:
    """All updates of a getUpdates result, oldest first, each id once."""
    updates = result if isinstance(result, list) else [result]
    numbered: dict[int, Mapping[str, Any]] = {}
    refused: Counter[Refused] = Counter()
    for update in updates:
        number = update.get("update_id") if isinstance(update, dict) else None
        if isinstance(update, dict) and _is_number(number) and number >= 0:
            numbered[number] = update
        else:
            refused[Refused.MALFORMED] += 1
    inbound, strangers = [], []
    position, seconds = cursor, now // SECOND
    for number in sorted(numbered):
        made = _made_at(numbered[number])
        if cursor.repeats(number, made, seconds):
            refused[Refused.REPEATED] += 1
            continue
        position = position.after(number, seconds if made is None else made)
        read = read_update(numbered[number], allowed, now)
        if isinstance(read, Refused):
            refused[read] += 1
            if read is Refused.NOT_ALLOWED and (stranger := _stranger(numbered[number])) is not None:
                strangers.append(stranger)
        else:
            inbound.append(replace(read, cursor=str(position)))
    return Batch(tuple(inbound), refused, position, tuple(strangers))


def _stranger(update: Mapping[str, Any]) -> tuple[int, str] | None:
    """Somebody's own words in their private chat, if they could be a pairing code. Everything else of a stranger's is
    dropped unread."""
    message = update.get("message")
    if not isinstance(message, dict) or any(sign in message for sign in _FORWARDED):
        return None
    user, text = message["from"]["id"], message.get("text")
    alone = user == message["chat"]["id"] and message["from"].get("is_bot") is not True
    return (user, text) if alone and isinstance(text, str) and code_in(text) is not None else None


def read_update(update: Mapping[str, Any], allowed: frozenset[int], now: Instant) -> Inbound | Refused:
    """One update with a usable id. Whatever its shape, it is read or refused; it never raises."""
    kinds = [kind for kind in ALLOWED_UPDATES if kind in update]
    if len(kinds) != 1:
        return Refused.KIND if not kinds else Refused.MALFORMED
    content = update[kinds[0]]
    if not isinstance(content, dict):
        return Refused.MALFORMED
    pressed = kinds[0] == "callback_query"
    carrier = content.get("message") if pressed else content
    refusal = _check_sender(content.get("from"), carrier, allowed)
    if refusal is not None:
        return refusal
    assert isinstance(carrier, dict)
    number = int(update["update_id"])
    message_id = str(carrier["message_id"]) if _is_number(carrier.get("message_id")) else None
    if pressed:
        data, callback_id = content.get("data"), content.get("id")
        if not isinstance(data, str) or not isinstance(callback_id, str):
            return Refused.MALFORMED
        callback_id = _clean(callback_id)
        return Inbound(now, "", _clean(data), message_id, callback_id=callback_id, id=f"{number}/{callback_id}")
    return _read_message(number, content, message_id, edited=kinds[0] == "edited_message")


def _read_message(
    number: int, message: Mapping[str, Any], message_id: str | None, *, edited: bool
) -> Inbound | Refused:
    text = _text_of(message)
    date = message.get("edit_date") if edited else message.get("date")
    if text is None:
        return Refused.NO_CONTENT
    if not _is_number(date) or not 0 <= date < 1 << 40:
        return Refused.MALFORMED
    return Inbound(
        Instant(date * SECOND),
        text,
        message_id=message_id,
        forwarded=any(sign in message for sign in _FORWARDED),
        edited=edited,
        id=f"{number}/{date}",
    )


def _made_at(update: Mapping[str, Any]) -> int | None:
    """When the service made it, in its own seconds. A pressed button does not say."""
    for content in update.values():
        date = content.get("edit_date", content.get("date")) if isinstance(content, dict) else None
        if _is_number(date) and 0 <= date < 1 << 40:
            return date
    return None


def _check_sender(sender: object, carrier: object, allowed: frozenset[int]) -> Refused | None:
    chat = carrier.get("chat") if isinstance(carrier, dict) else None
    if not isinstance(sender, dict) or not isinstance(chat, dict):
        return Refused.MALFORMED
    user, room = sender.get("id"), chat.get("id")
    if not _is_number(user) or not _is_number(room):
        return Refused.MALFORMED
    if chat.get("type") != "private":
        return Refused.NOT_PRIVATE
    if user not in allowed or room != user or sender.get("is_bot") is True:
        return Refused.NOT_ALLOWED
    return None


def _text_of(message: Mapping[str, Any]) -> str | None:
    """The words of a message. An attachment is named in brackets, so that a voice message gets an answer too."""
    text = message.get("text")
    if isinstance(text, str):
        return _ADDRESSED.sub(r"\1", _clean(_with_quotes(text, message.get("entities"))))
    for key, name in _ATTACHMENTS.items():
        if key in message:
            caption = message.get("caption")
            if not isinstance(caption, str) or not caption:
                return f"[{name}]"
            return f"[{name}] {_clean(_with_quotes(caption, message.get('caption_entities')))}"
    return None


def _with_quotes(text: str, entities: object) -> str:
    """The text with each quotation in lines that begin with ">": the service marks them beside the text, by offsets in
    UTF-16 code units. What cannot be read as such a mark changes nothing."""
    marks = [one for one in entities if isinstance(one, dict)] if isinstance(entities, list) else []
    spans = [(one.get("offset"), one.get("length")) for one in marks if one.get("type") in _QUOTED]
    units = text.encode("utf-16-le", "surrogatepass")
    for offset, length in sorted((o, n) for o, n in spans if _is_number(o) and _is_number(n))[::-1]:
        start, end = 2 * offset, 2 * (offset + length)
        if not 0 <= start < end <= len(units):
            continue
        before, quoted, after = (
            part.decode("utf-16-le", "surrogatepass") for part in (units[:start], units[start:end], units[end:])
        )
        lines = "\n".join(f"> {line}" for line in quoted.strip("\n").split("\n"))
        head = before if not before or before.endswith("\n") else f"{before}\n"
        tail = after if not after or after.startswith("\n") else f"\n{after}"
        units = f"{head}{lines}{tail}".encode("utf-16-le", "surrogatepass")
    return units.decode("utf-16-le", "surrogatepass")


def _clean(text: str) -> str:
    """Without what no database takes: half a surrogate pair, NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "")


def _is_number(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63
