"""From an update of the Bot API to what the person did, if it was the person.

The allow-list comes first: nothing of an update is kept before its chat is known to be a private one with an allowed
user. An update that is refused or not understood is counted, and its id still moves the offset on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeGuard

from nudge.instants import SECOND, Instant
from nudge.queue.channel import Inbound

ALLOWED_UPDATES = ("message", "edited_message", "callback_query")

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

    KIND = "kind"  # channel posts, membership changes, reactions, …
    NOT_PRIVATE = "not-private"  # groups and channels, whoever writes there
    NOT_ALLOWED = "not-allowed"  # a private chat with somebody else
    NO_CONTENT = "no-content"  # service messages
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class Batch:
    """What one poll brought. `next_offset` is None where no update had a usable id."""

    inbound: tuple[Inbound, ...]
    refused: Counter[Refused]
    next_offset: int | None


def read_batch(result: object, allowed: frozenset[int], now: Instant) -> Batch:
    """All updates of a getUpdates result, oldest first, each id once."""
    updates = result if isinstance(result, list) else [result]
    numbered: dict[int, Mapping[str, Any]] = {}
    refused: Counter[Refused] = Counter()
    for update in updates:
        number = update.get("update_id") if isinstance(update, dict) else None
        if isinstance(update, dict) and _is_number(number):
            numbered[number] = update
        else:
            refused[Refused.MALFORMED] += 1
    inbound = []
    for number in sorted(numbered):
        read = read_update(numbered[number], allowed, now)
        if isinstance(read, Refused):
            refused[read] += 1
        else:
            inbound.append(read)
    return Batch(tuple(inbound), refused, max(numbered) + 1 if numbered else None)


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
        button = _clean(data)
        return Inbound(number, now, "", button=button, message_id=message_id, callback_id=_clean(callback_id))
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
        number,
        Instant(date * SECOND),
        text,
        message_id=message_id,
        forwarded=any(sign in message for sign in _FORWARDED),
        edited=edited,
    )


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
    """The words of a message. What cannot be read is named in brackets, so that a voice message gets an answer."""
    text = message.get("text")
    if isinstance(text, str):
        return _ADDRESSED.sub(r"\1", _clean(text))
    for key, name in _ATTACHMENTS.items():
        if key in message:
            caption = message.get("caption")
            return f"[{name}] {_clean(caption)}" if isinstance(caption, str) and caption else f"[{name}]"
    return None


def _clean(text: str) -> str:
    """Without what no database takes: half a surrogate pair, NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "")


def _is_number(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63
