"""Which intent a message means, and what it is about.

A message that fits no row, or names nothing that exists, is left to others: a wrong deed is worse than a question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final
from zoneinfo import ZoneInfo

from nudge.attention.restraint import recognise
from nudge.coach.intents.intent import About, Intent, Rank, Way
from nudge.coach.intents.table import INTENTS, on_topic
from nudge.errors import InvalidPhraseError, UnclearPhraseError
from nudge.instants import MINUTE, Instant, to_datetime, zone_of
from nudge.phrases import understand, understand_duration
from nudge.phrases.wording import Matched, Table, content, is_own_word, is_past, stem
from nudge.queue.records import Record, fields, items, moment, text

_NEVER: Final = Instant(0)


@dataclass(frozen=True, slots=True)
class Known:
    """Something a wish may be about: a reminder, or a line of a list. `place` is where it is: an id, or a section."""

    place: str
    text: str
    next_at: Instant | None = None
    rhythm: str = ""

    @property
    def recurs(self) -> bool:
        return self.rhythm not in ("", "once", DONE)


@dataclass(frozen=True, slots=True)
class Wish:
    """An intent with what it is about. `id` is the reminder that `{what}` named, `line` the task's list and text."""

    name: str
    slots: Mapping[str, str] = field(default_factory=dict)
    id: str = ""
    line: tuple[str, str] = ("", "")
    slip: str = ""
    also: tuple[Wish, ...] = ()
    """The same for others: "cancel the stretch one and call Mum"."""

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "slots": dict(self.slots), "id": self.id, "line": list(self.line)}

    @classmethod
    def from_json(cls, data: Any) -> Wish:
        section, line = items(data["line"])
        slots = {text(name): text(value) for name, value in fields(data["slots"]).items()}
        return cls(text(data["name"]), slots, text(data["id"]), (text(section), text(line)))


@dataclass(frozen=True, slots=True)
class Talk:
    """Where a conversation stands. `subject` is the reminder that "it" means, `came` the one that came last and has no
    answer; `last` is what the message before this one changed, `asked` what the coach needs one word more for: the slot
    is `missing`. Both are written with every message, `at` is when."""

    subject: str = ""
    subject_at: Instant = _NEVER
    last: Wish | None = None
    asked: Wish | None = None
    missing: str = ""
    at: Instant = _NEVER
    came: str = ""
    reminders: tuple[Known, ...] = ()
    tasks: tuple[Known, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "subject": self.subject,
            "subject_at": self.subject_at,
            "at": self.at,
            "last": self.last.to_json() if self.last else None,
            "asked": self.asked.to_json() if self.asked else None,
            "missing": self.missing,
        }

    @classmethod
    def from_json(cls, data: Any) -> Talk:
        last, asked = (Wish.from_json(data[name]) if data[name] else None for name in ("last", "asked"))
        subject, missing = text(data["subject"]), text(data["missing"])
        return cls(subject, moment(data["subject_at"]), last, asked, missing, moment(data["at"]))


TALK: Record[Talk] = Record("coach.talk", Talk.from_json, Talk.to_json)
"""Where the conversation stands, from one message to the next."""
DONE: Final = "done"
"""The rhythm of a task that is ticked: it can be named by its place only."""
LISTS: Final = ("today", "week", "this week", "quarter", "this quarter")
ANSWER_WITHIN: Final = 60 * MINUTE

_UTC: Final = zone_of("UTC")

IT: Final = frozenset(
    (
        "it", "that", "this", "that one", "this one", "the last one", "the one", "the reminder", "that reminder",
        "this reminder", "the last reminder", "my last reminder", "last", "latest", "them", "the alarm", "that thing",
    )
)  # fmt: skip
_ORDINALS: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "1st": 1, "2nd": 2, "3rd": 3}


def at_time(words: str, things: Sequence[Known], now: Instant, zone: ZoneInfo) -> list[Known]:
    """The things that come at the time these words name: "the 3pm one", "friday's"."""
    found = re.fullmatch(r"(?:the |my |that )?(.+?)(?:'s)?(?: one| reminder| alarm| thing)?", words.strip().casefold())
    if found is None or found[1] == words.strip().casefold() or is_length(found[1], now, zone):
        return []  # "show me friday" is about the day
    try:
        said = understand(found[1], now, zone)
    except InvalidPhraseError:
        return []
    if said.once is None:
        return []
    wanted, clock_only = to_datetime(said.once, zone), _is_clock(found[1], now, zone)
    coming = [(one, to_datetime(one.next_at, zone)) for one in things if one.next_at is not None]
    if clock_only:
        return [one for one, at in coming if at.time() == wanted.time()]
    return [one for one, at in coming if at.date() == wanted.date()]


def named(words: str, things: Sequence[Known], subject: str = "") -> list[Known]:
    """The things that these words may mean: all their content is in it. "It" is the subject, "the second one" a
    place."""
    plain = " ".join(re.findall(r"[\w'-]+", words.casefold()))
    if plain in IT:
        return [one for one in things if subject and one.place == subject]
    if (number := place_in_list(plain)) and number <= len(things):
        return [things[number - 1]]
    still = [one for one in things if one.rhythm != DONE]
    exact = [one for one in still if one.place == plain or one.text.casefold() == plain]
    wanted = content(words)
    return exact or ([one for one in still if wanted <= content(one.text)] if wanted else [])


def place_in_list(plain: str) -> int:
    """ "The second one" and "number 2" are 2; 0 where it is no place."""
    found = re.fullmatch(r"(?:the )?(?:number |no |nr )?(\d{1,2}|[a-z0-9]+)(?: one| reminder| task)?", plain)
    if not found:
        return 0
    return int(found[1]) if found[1].isdigit() else _ORDINALS.get(found[1], 0)


@cache
def _table(rank: Rank) -> Table[tuple[Intent, Way]]:
    """The rows of one rank. Those without a slot come first: they leave nothing open."""
    rows = [((one, way), row) for one in INTENTS if one.rank is rank for way in one.ways for row in way.rows]
    return Table(sorted(rows, key=lambda row: "{" in row[1]))


def read(words: str, talk: Talk, now: Instant = _NEVER, zone: ZoneInfo = _UTC, rank: Rank = Rank.WISH) -> Wish | None:
    """The wish in a message; None if no intent of that rank fits, or what it is about does not exist.

    >>> read("pls cancle the stretch one", Talk(reminders=(Known("r-1", "stretch"),))).id
    'r-1'
    """
    if len(words) > _LONGEST:
        return None
    missed: Wish | None = None
    for (intent, way), found in _table(rank).read(words):
        wish = _wish(intent, way, found, talk, now, zone)
        if wish is not None and wish.slots.get("needs") == "colon" and not _LABEL.match(words):
            continue
        if wish is not None and "missing" not in wish.slots:
            return wish
        missed = missed or wish
    return missed


def small_talk(words: str) -> Iterator[Intent]:
    """The small talk in a message, the likeliest first."""
    return (intent for (intent, _), _ in _table(Rank.TALK).read(words))


def is_small_talk(words: str) -> bool:
    """Whether a message of several words asks for nothing and says nothing to keep: "hi there", "I'm so tired"."""
    return len(words.split()) > 1 and any(found.slip is None for _, found in _table(Rank.TALK).read(words))


def plain_talk(words: str) -> Intent | None:
    """Small talk that is nothing else, word for word: "well done" is no "done"."""
    found = _table(Rank.TALK).exact(words)
    return None if found is None else found[0]


_LONGEST: Final = 300
_LABEL: Final = re.compile(
    r"\s*(?:today|this week|this quarter|(?:(?:my|a|another) )?(?:new |next )?goal(?: for (?:the|this) quarter)?"
    r"|(?:(?:add|note|new|another) )?(?:a |new )?(?:commitment|promise))\s*:",
    re.IGNORECASE,
)
"""A list and a colon, before what belongs on it."""


def _wish(intent: Intent, way: Way, found: Matched, talk: Talk, now: Instant, zone: ZoneInfo) -> Wish | None:
    slots = dict(way.fixed) | found.slots
    if "verb" in slots:
        slots["what"] = f"{slots.pop('thing')} {slots.pop('verb')}"
    if not all(fits(slots[name], now, zone) for name, fits in _FITS.items() if name in slots):
        return None
    was_done = bool(slots.pop("tense", ""))
    if was_done and not any(is_past(word) for word in slots["what"].casefold().split()):
        return None
    if intent.name == "again" and not talk.came:
        return None
    if "minutes" in slots:
        slots["length"] = f"{slots.pop('minutes')} minutes"
    if "called" in slots:
        name = slots.pop("called")
        slots["name"] = name if not name.islower() else name.capitalize()
    slip = f"I read “{found.slip[0]}” as “{found.slip[1]}”." if found.slip else ""
    what = slots.get("what")
    if way.about is About.NOTHING or what is None:
        return Wish(intent.name, slots, slip=slip)
    wish = _about(intent.name, way, slots, what, talk)
    if wish is None and was_done:
        wish = _told_more(intent.name, slots, what, talk)
    elif wish is None and way.about is About.REMINDER and (at := at_time(what, talk.reminders, now, zone)):
        several = {"ask": "which", "several": " ".join(one.place for one in at)}
        wish = Wish(intent.name, slots, at[0].place) if len(at) == 1 else Wish(intent.name, slots | several)
    if was_done and len(content(what)) == 1 and not _whole(what, talk):
        return None  # "called" alone may be any call; "stretched" is all of "stretch"
    if wish is None and intent.name in _SEVERAL:
        parts = [_about(intent.name, way, slots | {"what": part}, part, talk) for part in _AND.split(what)]
        wishes = [one for one in parts if one is not None and "ask" not in one.slots and not was_done]
        if len(wishes) == len(parts) > 1:
            wish = replace(wishes[0], also=tuple(wishes[1:]))
    if wish is None:
        return Wish(intent.name, slots | {"missing": what}, slip=slip) if way.sure else None
    return replace(wish, slip=slip)


def _told_more(name: str, slots: dict[str, str], what: str, talk: Talk) -> Wish | None:
    """The one thing that a sentence tells of among more: "called and booked the dentist", "called him already"."""
    words = frozenset(word.replace("'", "") for word in re.findall(r"[\w'’]+", what.casefold().replace("’", "'")))
    said = content(what)
    if words & _NOT_DONE:
        return None
    if words & _SOMEBODY:
        last = [one for one in talk.reminders if talk.subject and one.place == talk.subject]
        verbs = said - {stem(word) for word in _SOMEBODY}
        return Wish(name, slots, last[0].place) if last and verbs and verbs <= content(last[0].text) else None
    known = [one for one in (*talk.reminders, *talk.tasks) if one.rhythm != DONE and len(content(one.text)) > 1]
    told = [one for one in known if content(one.text) <= said and len(said - content(one.text)) <= _MOST_BESIDE]
    wishes = [
        Wish(name, slots, line=(one.place, one.text)) if one in talk.tasks else Wish(name, slots, one.place)
        for one in told
    ]
    return replace(wishes[0], also=tuple(wishes[1:])) if wishes else None


_MOST_BESIDE: Final = 3
_SOMEBODY: Final = frozenset(("him", "her", "them"))
_NOT_DONE: Final = frozenset(
    ("not", "no", "never", "yet", "forgot", "forgotten", "almost", "nearly", "tried", "wanted", "didnt", "havent",
     "hasnt", "dont", "wont", "cant", "couldnt", "wasnt", "isnt", "half", "should", "supposed", "meant", "planned",
     "started", "about", "to", "nobody", "missed", "failed", "hated")
)  # fmt: skip


def _whole(what: str, talk: Talk) -> bool:
    return any(content(what) == content(one.text) for one in (*talk.reminders, *talk.tasks))


_SEVERAL: Final = frozenset(("cancel", "done", "drop", "skip"))
_AND: Final = re.compile(r"\s*(?:,|&|\band\b)\s*(?:the |my |also )*", re.IGNORECASE)


def _about(name: str, way: Way, slots: dict[str, str], what: str, talk: Talk) -> Wish | None:
    """The wish with the one thing that `what` names; None if there is none."""
    if way.about is About.ANYTHING and (place := place_in_list(what.casefold())):
        found_line = [one for one in talk.tasks if one.place == "Today"][place - 1 : place]
        return Wish(name, slots, line=(found_line[0].place, found_line[0].text)) if found_line else None
    if way.about is not About.TASK:
        reminders = named(what, talk.reminders, "" if slots.get("by") == "name" else talk.subject)
        if len(reminders) == 1 and name == "later" and reminders[0].place == talk.came:
            return Wish("again", slots, talk.came)  # it has come: later is from now on
        if len(reminders) == 1:
            return Wish(name, slots, reminders[0].place)
        if len(reminders) > 1 and way.about is About.REMINDER:
            return Wish(name, slots | {"ask": "which", "several": " ".join(one.place for one in reminders)})
    if way.about is not About.REMINDER:
        tasks = named(what, talk.tasks)
        if len(tasks) == 1:
            return Wish(name, slots, line=(tasks[0].place, tasks[0].text))
    return None


def is_time(words: str, now: Instant, zone: ZoneInfo) -> bool:
    """Whether the words are a time, or a time that lacks one word."""
    try:
        understand(words, now, zone)
    except UnclearPhraseError:
        return True
    except InvalidPhraseError:
        return False
    return True


def is_length(words: str, now: Instant, zone: ZoneInfo) -> bool:
    try:
        understand_duration(words, now, zone)
    except InvalidPhraseError:
        return False
    return True


def is_name(words: str, now: Instant, zone: ZoneInfo) -> bool:
    """One to three words that could be somebody's: "call me Sam", and not "call me later" or "I'm tired"."""
    parts = words.split()
    if not 0 < len(parts) <= 3 or not all(part.isalpha() and part[:1].isupper() for part in parts):
        return False
    said = f"I am {words}"
    is_mood = any(not found.slip for _, found in _table(Rank.TALK).read(said))
    return not is_mood and recognise(said) is None and not is_time(words, now, zone)


def _speaks(words: str, now: Instant, zone: ZoneInfo) -> bool:
    """Whether it is about what the coach says: "why did you write", and not "why did you leave the job"."""
    del now, zone
    return bool(_SPEAKING & {stem(word) for word in words.casefold().split()})


def _is_called(words: str, now: Instant, zone: ZoneInfo) -> bool:
    """A name in small letters too, where the words before it leave no doubt: "my name is sam"."""
    word = words.casefold()
    plain = word.isalpha() and len(word) > 1 and not is_own_word(word) and word not in _NO_NAMES
    return is_name(words, now, zone) or (plain and not is_time(words, now, zone))


_NO_NAMES: Final = frozenset(
    ("a", "an", "asap", "back", "crazy", "later", "maybe", "mad", "names", "please", "stupid", "that", "tonight",
     "unknown", "whatever", "when", "whenever")
)  # fmt: skip


def _is_minutes(words: str, now: Instant, zone: ZoneInfo) -> bool:
    """A bare number, said about a reminder: "in 15"."""
    del now, zone
    return words.isdigit() and 1 <= int(words) <= 90


def is_line(words: str, now: Instant, zone: ZoneInfo) -> bool:
    """Something to do: not a time, and not only small words."""
    return bool(content(words)) and not is_time(words, now, zone)


def _is_list(words: str, now: Instant, zone: ZoneInfo) -> bool:
    del now, zone
    return words.casefold() in LISTS


def _is_topic(words: str, now: Instant, zone: ZoneInfo) -> bool:
    """Something that help can be given on."""
    del now, zone
    return bool(on_topic(words))


def _is_day(words: str, now: Instant, zone: ZoneInfo) -> bool:
    """A day that has not begun: tomorrow, sunday, the weekend."""
    plain = words.casefold().removeprefix("the ").removeprefix("this ").removeprefix("my ")
    if plain in ("weekend", "weekends", "sundays", "saturdays", "fridays", "mondays"):
        return True
    if _is_clock(words, now, zone) or is_length(words, now, zone):
        return False
    try:
        said = understand(words, now, zone)
    except InvalidPhraseError:
        return False
    return said.once is None or to_datetime(said.once, zone).date() > to_datetime(now, zone).date()


def _is_word(words: str, now: Instant, zone: ZoneInfo) -> bool:
    del now, zone
    return len(words.split()) == 1


def _is_saying(words: str, now: Instant, zone: ZoneInfo) -> bool:
    del now, zone
    return words.casefold() in SAYING


def _is_subject(words: str, now: Instant, zone: ZoneInfo) -> bool:
    """What not to talk about: "about sleep", "whether I ran"."""
    first = words.casefold().split()[0]
    return first in _SUBJECT and (is_line(words, now, zone) or first not in ("about", "of", "on", "up"))


def _is_field(words: str, now: Instant, zone: ZoneInfo) -> bool:
    del now, zone
    return words.casefold() in FIELDS


def _is_value(words: str, now: Instant, zone: ZoneInfo) -> bool:
    return bool(_VALUE.fullmatch(words)) or _is_clock(words, now, zone)


def _is_clock(words: str, now: Instant, zone: ZoneInfo) -> bool:
    """A time of day and no day: another day fits beside it."""
    try:
        understand(f"2031-05-06 at {words.removeprefix('at ')}", now, zone)
    except InvalidPhraseError:
        return False
    return True


SAYING: Final = {
    form: verb
    for verb in ("message", "ask", "remind", "nudge", "ping", "text", "write", "mention", "talk", "nag", "bring", "bug")
    for form in (verb, f"{verb.removesuffix('e')}ing", f"{verb}{verb[-1]}ing")
}
"""The forms of what the coach is asked not to do."""
_SUBJECT: Final = frozenset(["about", "of", "up", "on", "if", "whether", "how", "what", "why", "when"])
FIELDS: Final = {
    words: field
    for field, some in (
        ("bedtime_target", "bedtime|bed time"),
        ("wake_target", "wake time|wake|wake up|wake-up|wake up time|wake-up time|wakeup time|waking time|wakeup"),
        ("quiet_hours", "quiet hours"),
        ("timezone", "time zone|timezone"),
        ("weekly_review", "weekly review|review|review day"),
    )
    for words in some.split("|")
}
_CLOCK = r"\d{1,2}(?::\d\d(?: ?[ap]m)?| ?[ap]m)"
_VALUE: Final = re.compile(
    rf"\w+ {_CLOCK}|{_CLOCK}(?:\s*[-–]\s*{_CLOCK})?|{_CLOCK} (?:to|until|till) {_CLOCK}|\w+/[\w/]+|UTC", re.IGNORECASE
)
"""What a setting may be: a time, a day and a time, a span, a zone."""
_SPEAKING: Final = frozenset(
    stem(word)
    for word in ("write", "text", "message", "ping", "nudge", "send", "say", "tell", "remind", "ask", "quiet",
        "silent", "talk", "said", "wrote", "sent", "told", "bother", "contact", "speak")
)  # fmt: skip
_FITS: Final[dict[str, Callable[[str, Instant, ZoneInfo], bool]]] = {
    "when": is_time, "length": is_length, "name": is_name, "said": _speaks, "line": is_line, "list": _is_list,
    "topic": _is_topic, "who": _is_word, "saying": _is_saying, "subject": _is_subject, "field": _is_field,
    "value": _is_value, "day": _is_day, "called": _is_called, "minutes": _is_minutes,
}  # fmt: skip
"""What the words in a slot must be."""
