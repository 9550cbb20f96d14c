"""The questions about a phrase: when is that, how long is that, and does it ask for a reminder.

On the command line every sentence is a reminder. In a chat most are not, so a message is read as one if it asks for it
("remind me", "set an alarm"), or if it is the line of a to-do list with a time ("call mum friday 5pm"). Everything else
is left to others: "bob called at 5pm" is no wish.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from nudge.errors import InvalidPhraseError, UnclearPhraseError
from nudge.instants import Instant, Moment, Zone, as_instant, local_date, start_of_day, zone_of
from nudge.phrases.asking import (
    Asking,
    Force,
    asking_at_start,
    has_link,
    without_asking_at_end,
    without_openers,
    words_of,
)
from nudge.phrases.clocks import read_duration, refuse_lone_number
from nudge.phrases.grammar import read, read_any
from nudge.phrases.pieces import Clock
from nudge.phrases.reader import DURATION_EXAMPLES, Question, Reader, Refused, Unread, refusal, unclear
from nudge.phrases.resolve import HORIZON, resolve, shifted
from nudge.phrases.result import Understood
from nudge.phrases.split import WHAT, WHEN, Sentence, split_reminder, with_lead
from nudge.phrases.tokens import MAX_LENGTH, tokenize

_ACTIONS: Final = frozenset(
    (
        "apply", "ask", "backup", "bake", "bathe", "blink", "boil", "book", "breathe", "bring", "brush", "buy", "call",
        "change", "charge", "check", "clean", "clear", "close", "collect", "confirm", "cook", "cut", "defrost",
        "deliver", "deposit", "do", "download", "drink", "drive", "drop", "eat", "email", "empty", "enrol", "exercise",
        "feed", "fetch", "file", "fill", "finish", "fix", "floss", "fold", "get", "give", "go", "grab", "hand", "hang",
        "hoover", "hydrate", "iron", "join", "jog", "journal", "leave", "lift", "lock", "look", "mail", "make",
        "marinate", "meditate", "meet", "mop", "move", "mow", "nap", "open", "order", "pack", "paint", "park", "pay",
        "phone",
        "pick", "plan", "plant", "play", "post", "practice", "practise", "pray", "preheat", "prep", "prepare", "print",
        "publish", "put", "rake", "read", "refill", "register", "renew", "repair", "reply", "rest", "return", "revise",
        "ring", "run", "sell", "send", "sharpen", "shave", "shop", "sign", "sit", "stand", "start", "stretch", "study",
        "submit", "sweep", "swim", "switch", "take", "test", "text", "throw", "tidy", "train", "transfer", "trim",
        "turn", "unload", "unlock", "upload", "vacuum", "visit", "vote", "wake", "walk", "wash", "watch", "water",
        "wear", "weed", "weigh", "work", "wrap", "write",
    )
)  # fmt: skip
"""Verbs that begin the line of a to-do list."""

_NOT_WISHES: Final = frozenset(
    (
        "i", "i'm", "im", "i've", "i'll", "i'd", "we", "we're", "you", "you're", "u", "he", "she", "it", "it's", "its",
        "they", "there", "this", "that", "these", "those", "what", "what's", "when", "where", "which", "who", "whose",
        "why", "how", "is", "isn't", "are", "aren't", "am", "was", "wasn't", "were", "been", "be", "do", "does", "did",
        "didn't", "has", "had", "have", "can", "could", "should", "would", "may", "might", "shall", "my", "me", "your",
        "thanks", "thank", "good", "nice", "happy", "great", "bad", "see", "bye", "hello", "hi", "hey", "ok", "okay",
        "no", "yes", "not", "never", "don't", "dont", "stop", "shut", "busy", "free", "back", "sorry", "maybe",
        "perhaps", "tomorrow's", "today's", "yesterday", "ago", "because", "if", "reminder", "reminders", "alarm",
        "alarms", "snooze", "mute", "quiet", "undo", "goal", "goals", "list", "show", "delete", "remove", "skip",
        "done",
    )
)  # fmt: skip
_POINTING: Final = frozenset(("my", "your", "this", "that", "it", "its", "these", "those", "there"))
"""What a verb may be about: "take my pills"."""
_MOST_NOUNS: Final = 3
"""Words of a line without a verb: "dentist tomorrow 3pm"."""
_FIGURES: Final = re.compile(r"\d|\b(?:noon|midday|midnight|every|each)\b", re.IGNORECASE)
"""What makes a few nouns a line with a time: "lunch with pete thursday noon", "every monday bins out"."""
_LAST: Final = Clock(time.max, "the end of the day", marked=True)


def understand(text: str, now: Moment, zone: Zone, *, at_end: bool = False) -> Understood:
    """What a phrase for a time means at `now` in `zone`, a zone or its name.

    A time without a day is today's, or tomorrow's if it has passed; a day without a time is at 9:00, or with `at_end`,
    for the last moment of something, at its last. Nothing is ever in the past. Raises `InvalidPhraseError`, which says
    what was not understood, why, and three phrases that work.

    >>> from datetime import datetime
    >>> from zoneinfo import ZoneInfo
    >>> zone = ZoneInfo("America/Toronto")
    >>> now = datetime(2026, 2, 18, 14, 0, tzinfo=zone)
    >>> understand("in an hour and a half", now, zone).echo(now, zone)
    'Wednesday 2026-02-18 3:30 PM America/Toronto (in 1 h 30 min)'
    """
    where = zone_of(zone)
    try:
        reading = read_any(text)
        if at_end and reading.day is not None and reading.lacks_a_clock and reading.part is None:
            reading = replace(reading, clocks=(_LAST,))
        return resolve(reading, as_instant(now), where)
    except Question as question:
        raise unclear(text, "a time", question) from None
    except Refused as refused:
        raise refusal(text, "a time", refused.why, refused.examples) from None
    except Unread as unread:
        raise refusal(text, "a time", unread.why) from None


def understand_duration(text: str, now: Moment, zone: Zone) -> int:
    """How long a phrase says, in microseconds: "30 more min", "an hour and a half", "until 5pm", "today".

    Days and longer follow the calendar of `zone`: "a day" before a DST change is 23 or 25 hours. "today" lasts until
    midnight. Raises `InvalidPhraseError`.
    """
    where = zone_of(zone)
    try:
        length = _duration(text, as_instant(now), where)
        if not 0 < length <= HORIZON:
            raise Refused("that is more than 100 years" if length else "0 is not a duration")
        return length
    except Question as question:
        raise unclear(text, "a duration", question, DURATION_EXAMPLES) from None
    except Refused as refused:
        raise refusal(text, "a duration", refused.why, DURATION_EXAMPLES) from None
    except Unread as unread:
        raise refusal(text, "a duration", unread.why, DURATION_EXAMPLES) from None
    except (OverflowError, ValueError):
        raise refusal(text, "a duration", "that is more than 100 years", DURATION_EXAMPLES) from None


def _duration(text: str, now: Instant, zone: ZoneInfo) -> int:
    if len(text) > MAX_LENGTH:
        raise Refused(f"it is longer than {MAX_LENGTH} characters")
    head, _, rest = text.strip().partition(" ")
    if head.casefold() in ("until", "till", "til"):
        if not rest.strip():
            raise Refused(f'something is missing after "{head}"')
        until = resolve(read_any(rest), now, zone)
        if until.once is None:
            raise Refused("say one time after until")
        return until.once - now
    reader = Reader(tokenize(text))
    if not reader.tokens:
        raise Refused("it is empty")
    reader.take_row("give", "me")
    reader.take("for", "in")
    if reader.take("today") or _rest_of_day(reader):
        length = start_of_day(local_date(now, zone) + timedelta(days=1), zone) - now
    else:
        refuse_lone_number(reader)
        shift = reader.attempt(read_duration)
        if shift is None:
            raise reader.unread()
        length = shifted(shift, now, zone) - now
    reader.take("longer")
    reader.take("please")
    if not reader.done:
        raise reader.unread()
    return length


def _rest_of_day(reader: Reader) -> bool:
    return any(
        reader.take_row(*words.split()) for words in ("the rest of the day", "rest of the day", "the day", "all day")
    )


def read_wish(text: str, now: Moment, zone: Zone, answers: Sequence[str] = ()) -> tuple[str, Understood] | None:
    """The reminder that a message asks for; None if it asks for none.

    Raises `UnclearPhraseError` if it asks for one and a word is missing, and `InvalidPhraseError` if it asks for one
    with a time that cannot be read.

    >>> from datetime import datetime
    >>> from zoneinfo import ZoneInfo
    >>> zone = ZoneInfo("America/Toronto")
    >>> now = datetime(2026, 2, 18, 14, 0, tzinfo=zone)
    >>> read_wish("could you wake me up tomorrow at 7am?", now, zone)[0]
    'wake up'
    >>> read_wish("bob called at 5pm", now, zone) is None
    True
    """
    asking = _asked(text)
    if asking is None or asking.force is not Force.CLEAR:
        return _read_soft(text, asking, now, zone, answers)
    return split_reminder(text, now, zone, answers)


def read_answer(
    sentences: Sequence[str], now: Moment, zone: Zone, *, asked_at: Moment | None = None
) -> tuple[str, Understood] | None:
    """The reminder of a sentence and the answers to the questions about it; None if the last is no answer.

    Days are counted from when the sentence was said: an answer after midnight does not move "tomorrow".
    """
    sentence, *answers = sentences
    said_at = now if asked_at is None else asked_at
    try:
        message, understood = split_reminder(sentence, said_at, zone, answers)
    except UnclearPhraseError:
        raise
    except InvalidPhraseError:
        return None
    return (message, understood) if understood.first > as_instant(now) else None


def _asked(text: str) -> Asking | None:
    """The words that ask: at the beginning, behind the time, or at the end."""
    text = with_lead(text)
    asking = asking_at_start(text)
    if asking is not None:
        return asking
    text = without_openers(text)
    for word in words_of(text, 12)[1:]:
        later = asking_at_start(text[word.start :])
        if later is not None and _is_time(text[: word.start]):
            return later
    return Asking(0) if without_asking_at_end(text.rstrip("?! ")) is not None else None


def _is_time(text: str) -> bool:
    with suppress(Unread, Refused):
        return read(text.strip(" ,;:-")).names_a_time
    return False


def _read_soft(
    text: str, asking: Asking | None, now: Moment, zone: Zone, answers: Sequence[str]
) -> tuple[str, Understood] | None:
    """A message that is a reminder only if it has a time."""
    if asking is not None and asking.force is Force.TOLD and not has_link(text[asking.end :]):
        return None
    if asking is None and not _is_line(text, now, zone):
        return None
    try:
        return split_reminder(text, now, zone, answers)
    except UnclearPhraseError as unclear:
        if unclear.question in (WHEN, WHAT) and not answers:
            return None
        raise
    except InvalidPhraseError:
        return None


def _is_line(text: str, now: Moment, zone: Zone) -> bool:
    """Whether it is a line of a to-do list with a time: a verb first, or a few nouns beside figures."""
    words = [word.text for word in words_of(text)]
    if not words or words[0] in _NOT_WISHES or text.rstrip().endswith("?"):
        return False
    try:
        found = Sentence(text, as_instant(now), zone_of(zone)).read()
    except Refused:
        return False
    task = [word.text for word in words_of(found.message)]
    if not task or any(word in _NOT_WISHES for word in task if task[0] not in _ACTIONS or word not in _POINTING):
        return False
    happened = any(word.endswith(("ed", "'s")) for word in task[1:])
    few = len(task) <= _MOST_NOUNS and not happened and bool(_FIGURES.search(found.said))
    return task[0] in _ACTIONS or few


def is_task(text: str, *, anything: bool = False) -> bool:
    """Whether the words could stand on a to-do list: a verb first, or with `anything` no question and no talk.

    >>> is_task("buy milk"), is_task("milk"), is_task("give me a break"), is_task("milk", anything=True)
    (True, False, False, True)
    """
    words = [word.text for word in words_of(text)]
    if not words or any(word in _NOT_WISHES and word not in _POINTING for word in words):
        return False
    return anything or (len(words) > 1 and words[0] in _ACTIONS)


def message_and_time(text: str, now: Moment, zone: Zone) -> tuple[str, str] | None:
    """The message of a sentence and the words for its time, which may lack one; None if it has not both."""
    try:
        found = Sentence(text, as_instant(now), zone_of(zone)).read()
    except Refused:
        return None
    return (found.message, found.said) if found.message and found.said else None
