"""The words with which people ask for a reminder: "remind me to", "set an alarm for", "could you ping me", "thanks!".

They say that a reminder is wanted, and are no part of its message. They are rows of words in tables; punctuation, emoji
and letter case between them count for nothing, and "remnid me" is one slip away.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from nudge.text import one_slip


class Force(Enum):
    """How sure it is that a reminder is wanted."""

    CLEAR = "clear"  # remind me: without a time the coach asks for one
    SOFT = "soft"  # ping me, text me: a reminder if there is a time
    TOLD = "told"  # tell me: a reminder if there is a time and "to"


@dataclass(frozen=True, slots=True)
class Asking:
    """Where the words end that ask. `message` is what the reminder says if nothing else is said: "wake up"."""

    end: int
    force: Force = Force.CLEAR
    message: str = ""
    noun: bool = False


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int


Row = tuple[frozenset[str], ...]


def _rows(*spec: str) -> tuple[Row, ...]:
    """Rows of alternatives: "set|add -|a|an reminder" is six ways to say it, a "-" is nothing."""
    return tuple(tuple(frozenset(part.split("|")) for part in one.split()) for one in spec)


_POLITE: Final = _rows(
    "hey|hi|hello|yo|ok|okay|so|also|oh|well|and|then|coach|nudge|just|kindly|quick|alright|right",
    "please|pls|plz|plx|possibly|maybe|perhaps|quickly|actually|btw|sorry|omg",
    "can|could|would|will|can't|couldn't|won't you|u",
    "would|do you|u mind",
    "i want|need|would|wish|like you|u to",
    "i'd|id like|love you|u to",
    "i would like|love you to",
    "you should|must|could",
    "be so kind and|to",
    "if you could|can",
    "good morning|evening|afternoon",
)
_OPENERS: Final = frozenset(
    ["hey", "hi", "hello", "yo", "ok", "okay", "so", "also", "oh", "well", "alright", "um", "uh"]
)
_REMIND: Final = _rows(
    "remind|reminding me|us",
    "remind myself",
    "/remind",
    "i|i'd -|would need|want|like|have to be|get reminded",
)
_SOFT: Final = _rows(
    "ping|pinging|nudge|poke|alert|notify|buzz|text|message|msg|prod|warn|prompt|beep|bug|hassle me",
    "give|send|drop me a|an ping|nudge|shout|buzz|message|note|text|alert|heads-up",
    "let me know",
    "remember to",
)
_TOLD: Final = _rows("tell|telling me", "ask|asking me")
_WAKE: Final = _rows("wake|waking me -|up", "get me up", "wakeup|wake-up call")
_FORGET: Final = _rows(
    "don't|dont|do let me forget|miss",
    "do not let me forget|miss",
    "don't|dont forget",
    "i mustn't|can't|cannot forget",
    "i must not forget",
    "help me -|to remember",
    "make|be sure -|that i",
    "make|be sure -|that i don't|dont forget",
    "i need|have|want to remember",
)
_NOUNS: Final = {
    noun: _rows(
        f"set|add|create|make|schedule|start|put -|up|in -|me|us -|a|an|another|the|my|one -|new|quick|daily {noun}",
        f"i|i'd -|would|will|really need|want|like a|an|another -|new {noun}",
        f"can|could i|we have|get a|an|another {noun}",
        f"give|send me a|an|another {noun}",
        f"-|a|an|new|another {noun}",
    )
    for noun in ("reminder", "alarm", "timer")
}
_SET: Final = {"reminder": "", "alarm": "alarm", "timer": "timer"}
_THANKS: Final = _rows(
    "please|pls|plz|thanks|thx|ty|tnx|cheers|thankyou",
    "thank you -|so|very -|much",
    "thanks a lot|bunch|million",
    "many thanks",
    "thanks so much",
    "if you can|could|would",
    "ok|okay|alright",
    "will|would|can|could you",
)
_MUST: Final = _rows(
    "i need|have|ought|want|got to",
    "i must|should|gotta|will|can",
    "i've got to",
    "gotta|must",
    "got|need|have to",
    "we need|have to",
    "i'm|im|i going|supposed|meant to",
    "i am going|supposed|meant to",
)
_LINKS: Final = _rows("to|that|about|of|2|regarding|re", "that|to i need|have|should|must -|to", "it's|its time to")

_ASKS: Final = (
    (_FORGET, Force.CLEAR, ""),
    (_REMIND, Force.CLEAR, ""),
    (_WAKE, Force.CLEAR, "wake up"),
    (_SOFT, Force.SOFT, ""),
    (_TOLD, Force.TOLD, ""),
)
_MOST_WORDS: Final = 20
_MOST_POLITE: Final = 5

_CHARACTERS: Final = re.compile(r"\S+")
_STRIPPED: Final = '.,:;!?()[]…-–—"“”'


def words_of(text: str, most: int = sys.maxsize) -> list[_Word]:
    """The words of a text without the punctuation around them, the first `most` of them; what is only punctuation or
    emoji is no word."""
    found: list[_Word] = []
    for match in _CHARACTERS.finditer(text):
        if len(found) == most:
            break
        plain = unicodedata.normalize("NFKC", match[0]).replace("’", "'").casefold().strip(_STRIPPED)
        plain = "".join(char for char in plain if not is_symbol(char))
        if plain:
            found.append(_Word("remind" if _is_remind(plain) else plain, match.start(), match.end()))
    return found


def is_symbol(char: str) -> bool:
    """Whether it is part of an emoji."""
    return unicodedata.category(char) in ("So", "Sk", "Mn", "Cf") and not char.isascii()


def _is_remind(word: str) -> bool:
    return word.isalpha() and (word not in ("reminds", "rewind", "remand") and one_slip(word, "remind"))


def asking_at_start(text: str) -> Asking | None:
    """The asking words at the beginning of a text, behind any politeness."""
    words = words_of(text, _MOST_WORDS)
    for _ in range(_MOST_POLITE):
        asking = _asking(words)
        if asking is not None:
            return asking
        count = _matched(words, _POLITE)
        if not count:
            return None
        words = words[count:]
    return None


def _asking(words: list[_Word]) -> Asking | None:
    for table, force, message in _ASKS:
        count = _matched(words, table)
        if count:
            return Asking(words[count - 1].end, force, message)
    if words and words[0].text.startswith("/remind@"):
        return Asking(words[0].end)
    for noun, table in _NOUNS.items():
        count = _matched(words, table)
        if count:
            count += 2 if [word.text for word in words[count : count + 2]] == ["for", "me"] else 0
            return Asking(words[count - 1].end, Force.CLEAR, _SET[noun], noun=True)
    return None


def asks_for_reminder(text: str) -> bool:
    """Whether there are asking words at the beginning, behind a few others, or at the end."""
    words = words_of(text, _MOST_WORDS)
    anywhere = any(_asking(words[start:]) is not None for start in range(len(words)))
    return anywhere or without_asking_at_end(text.rstrip("?! ")) is not None


def without_asking_at_end(text: str) -> str | None:
    """The text before the asking words at its end: "I have to call mum at 6pm, remind me". None if there are none."""
    words = words_of(text)
    for count in range(min(8, len(words) - 1), 1, -1):
        tail = words[-count:]
        first = _after_polite(tail)
        apart = first or text[: tail[0].start].rstrip().endswith((",", ".", ";", "!", "-", "–", "—"))
        if apart and first < len(tail) and _matched(tail[first:], _REMIND) == len(tail) - first:
            before = text[: tail[0].start].rstrip(" ,;.-–—!")
            first_words = words_of(before, _MOST_WORDS)
            must = _matched(first_words, _MUST)
            return before[first_words[must - 1].end :].lstrip() if must else before
    return None


def without_thanks(text: str) -> str:
    """The text without politeness, question marks and emoji at its end."""
    for _ in range(_MOST_POLITE):
        plain = text.rstrip()
        while plain and is_symbol(plain[-1]):
            plain = plain[:-1].rstrip()
        words = words_of(plain)
        counts = range(min(4, len(words) - 1), 0, -1)
        count = next((count for count in counts if _matched(words[-count:], _THANKS) == count), 0)
        if not count and words and _is_greeting(words, plain):
            count = 1
        if not count:
            return plain
        text = plain[: words[-count].start].rstrip(" ,;-–—")
    return text


def without_openers(text: str) -> str:
    """The text without the small words with which people begin.

    >>> without_openers("ok so, in 10 minutes call back")
    'in 10 minutes call back'
    """
    words = words_of(text, _MOST_WORDS)
    at = 0
    while at < min(len(words) - 1, _MOST_POLITE) and words[at].text in _OPENERS:
        at += 1
    return text[words[at].start :] if at else text


def _is_greeting(words: list[_Word], plain: str) -> bool:
    """A name at the end after a comma: "…, coach"."""
    return len(words) > 1 and words[-1].text in ("coach", "nudge") and plain[: words[-1].start].rstrip().endswith(",")


def without_symbols(text: str) -> str:
    """The text without emoji and bullets at its beginning."""
    plain = text.lstrip()
    while plain and (is_symbol(plain[0]) or plain[:2] in ("- ", "* ", "• ")):
        plain = plain[1:].lstrip()
    return plain


def without_link(text: str) -> str:
    """The text without the "to" or "about" between the asking words and the message."""
    words = words_of(text, _MOST_WORDS)
    count = _matched(words, _LINKS)
    return text[words[count - 1].end :].lstrip() if 0 < count < len(words) else text


def without_must(text: str) -> str:
    """The text without the "gotta" or "I need to" before the task."""
    words = words_of(text)
    count = _matched(words, _MUST)
    return text[words[count - 1].end :].lstrip() if 0 < count < len(words) else text


def has_link(text: str) -> bool:
    """Whether the text is "to …", or has "to" after its time: "at 3pm to drink water"."""
    return "to" in (word.text for word in words_of(text)[:-1])


def _matched(words: list[_Word], rows: Iterable[Row]) -> int:
    """How many of the first words one of the rows takes: the most that any of them can."""
    return max((_length(words, 0, row) for row in rows), default=0)


def _length(words: list[_Word], at: int, row: Row) -> int:
    """How far the row reaches from word `at`, counted from the first word; 0 if it does not fit."""
    if not row:
        return at
    taken = _length(words, at + 1, row[1:]) if at < len(words) and words[at].text in row[0] else 0
    return taken or (_length(words, at, row[1:]) if "-" in row[0] else 0)


def _after_polite(words: list[_Word]) -> int:
    at = 0
    for _ in range(_MOST_POLITE):
        at += _matched(words[at:], _POLITE)
    return at
