"""The two questions about a phrase: when is that, and how long is that."""

from __future__ import annotations

from dataclasses import replace
from datetime import time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from nudge.instants import Instant, Moment, Zone, as_instant, local_date, start_of_day, zone_of
from nudge.phrases.dateparser_gate import translate
from nudge.phrases.durations import read_duration, refuse_lone_number
from nudge.phrases.grammar import Reading, read
from nudge.phrases.pieces import Clock
from nudge.phrases.reader import Reader
from nudge.phrases.refusal import DURATION_EXAMPLES, Refused, Unread, refusal
from nudge.phrases.resolve import HORIZON, resolve, shifted
from nudge.phrases.result import Understood
from nudge.phrases.tokens import MAX_LENGTH, tokenize

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
    except Refused as refused:
        raise refusal(text, "a duration", refused.why, DURATION_EXAMPLES) from None
    except Unread as unread:
        raise refusal(text, "a duration", unread.why, DURATION_EXAMPLES) from None
    except (OverflowError, ValueError):
        raise refusal(text, "a duration", "that is more than 100 years", DURATION_EXAMPLES) from None


def read_any(text: str) -> Reading:
    """The reading of our own grammar, or, where it does not know a word, what the gate lets through."""
    try:
        return read(text)
    except Unread:
        foreign = translate(text)
        if foreign is None:
            raise
        return foreign


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
