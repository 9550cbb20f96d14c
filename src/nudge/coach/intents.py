"""What people want from the coach, whatever words they use: one table of intents, read without a model.

An intent has a name, a sentence of help, rows of words (see `nudge.phrases.wording`) and examples, which are its tests
and its help. Slots say what a wish is about; `{what}` must name something that exists, `{when}` a time or a length. A
message that fits no row, or names nothing that exists, is left to others: a wrong deed is worse than a question.

To add one: a row here, and what it does in `nudge.coach.wishes` (or a pure answer in `nudge.coach.small_talk`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any, Final
from zoneinfo import ZoneInfo

from nudge.errors import InvalidPhraseError, UnclearPhraseError
from nudge.instants import MINUTE, Instant, zone_of
from nudge.phrases import understand, understand_duration
from nudge.phrases.wording import Matched, Table
from nudge.queue.records import Record, fields, items, moment, text

_NEVER: Final = Instant(0)


class About(StrEnum):
    """What `{what}` must name."""

    NOTHING = ""
    REMINDER = "reminder"
    TASK = "task"
    ANYTHING = "anything"


@dataclass(frozen=True, slots=True)
class Intent:
    """A `sure` intent is meant even where `{what}` names nothing that exists; any other is then not meant."""

    name: str
    help: str
    rows: tuple[str, ...]
    about: About = About.NOTHING
    sure: bool = False
    fixed: tuple[tuple[str, str], ...] = ()
    """Slots that the wording itself fills."""


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

IT: Final = frozenset(("it", "that", "this", "that one", "this one", "the last one", "the one", "the reminder",
    "that reminder",
              "this reminder", "the last reminder", "them", "the alarm", "that thing"))  # fmt: skip
_ORDINALS: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "1st": 1, "2nd": 2, "3rd": 3}
_SMALL: Final = frozenset(
    (
        "a", "an", "the", "to", "of", "in", "on", "at", "by", "for", "and", "or", "my", "me", "your", "you", "i", "it",
        "is", "are", "be", "with", "from", "this", "that", "about", "one", "reminder", "reminders", "alarm", "thing",
        "task", "number", "today", "please", "up", "out", "again", "anymore", "already", "just", "finally", "now",
    )
)  # fmt: skip
_IRREGULAR: Final = {
    "wrote": "write", "written": "write", "bought": "buy", "sent": "send", "paid": "pay", "ran": "run", "took": "take",
    "taken": "take", "made": "make", "went": "go", "gone": "go", "fed": "feed", "met": "meet", "got": "get",
    "gave": "give", "told": "tell", "swam": "swim", "ate": "eat", "eaten": "eat", "drank": "drink", "slept": "sleep",
    "brought": "bring", "built": "build", "rang": "ring", "drove": "drive", "swept": "sweep", "did": "do",
    "read": "read", "put": "put", "cut": "cut", "spoke": "speak", "saw": "see", "sold": "sell", "wore": "wear",
}  # fmt: skip


@cache
def stem(word: str) -> str:
    """One stem for "book", "booked", "booking" and "books"."""
    word = _IRREGULAR.get(word, word).removesuffix("'s")
    for ending in ("ching", "ing", "ied", "ed", "ies", "es", "s", "e", "y"):
        if len(word) - len(ending) >= 3 and word.endswith(ending):
            word = word[: -len(ending)] + ("ch" if ending == "ching" else "")
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def content(words: str) -> frozenset[str]:
    """The stems of the words that say what something is about."""
    found = re.findall(r"[\w']+", words.casefold().replace("’", "'"))
    return frozenset(stem(word) for word in found if word not in _SMALL)


def named(words: str, things: Sequence[Known], subject: str = "") -> list[Known]:
    """The things that these words may mean: all their content is in it. "It" is the subject, "the second one
    " a place."""
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
def _table() -> Table[Intent]:
    return Table((intent, row) for intent in INTENTS for row in intent.rows)


def read(words: str, talk: Talk, now: Instant = _NEVER, zone: ZoneInfo = _UTC) -> Wish | None:
    """The wish in a message; None if no intent fits, or what it is about does not exist.

    >>> read("pls cancle the stretch one", Talk(reminders=(Known("r-1", "stretch"),))).id
    'r-1'
    """
    if len(words) > _LONGEST:
        return None
    missed: Wish | None = None
    for intent, found in _table().read(words):
        wish = _wish(intent, found, talk, now, zone)
        if wish is not None and wish.slots.get("needs") == "colon" and not _LABEL.match(words):
            continue
        if wish is not None and "missing" not in wish.slots:
            return wish
        missed = missed or wish
    return missed


_LONGEST: Final = 300
_LABEL: Final = re.compile(
    r"\s*(?:today|this week|this quarter|(?:(?:my|a|another) )?(?:new |next )?goal(?: for (?:the|this) quarter)?)\s*:",
    re.IGNORECASE,
)
"""A list and a colon, before what belongs on it."""


def _wish(intent: Intent, found: Matched, talk: Talk, now: Instant, zone: ZoneInfo) -> Wish | None:
    slots = dict(intent.fixed) | found.slots
    if "verb" in slots:
        slots["what"] = f"{slots.pop('thing')} {slots.pop('verb')}"
    if not all(fits(slots[name], now, zone) for name, fits in _FITS.items() if name in slots):
        return None
    if intent.name == "did" and not any(_past(word) for word in slots["what"].casefold().split()):
        return None
    if intent.name == "again" and not talk.came:
        return None
    slip = f"I read “{found.slip[0]}” as “{found.slip[1]}”." if found.slip else ""
    what = slots.get("what")
    if intent.about is About.NOTHING or what is None:
        return Wish(intent.name, slots, slip=slip)
    name = "done" if intent.name == "did" else intent.name
    if intent.about is About.ANYTHING and (place := place_in_list(what.casefold())):
        found_line = [one for one in talk.tasks if one.place == "Today"][place - 1 : place]
        return Wish(name, slots, line=(found_line[0].place, found_line[0].text)) if found_line else None
    if intent.about is not About.TASK:
        reminders = named(what, talk.reminders, "" if slots.get("by") == "name" else talk.subject)
        if len(reminders) == 1 and name == "later" and reminders[0].place == talk.came:
            return Wish("again", slots, talk.came, slip=slip)  # it has come: later is from now on
        if len(reminders) == 1:
            return Wish(name, slots, reminders[0].place, slip=slip)
        if len(reminders) > 1 and intent.about is About.REMINDER:
            return Wish(name, slots | {"ask": "which", "several": " ".join(one.place for one in reminders)}, slip=slip)
    if intent.about is not About.REMINDER:
        tasks = named(what, talk.tasks)
        if len(tasks) == 1:
            return Wish(name, slots, line=(tasks[0].place, tasks[0].text), slip=slip)
    return Wish(name, slots | {"missing": what}, slip=slip) if intent.sure else None


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
    del now, zone
    parts = words.split()
    return 0 < len(parts) <= 3 and all(part.isalpha() and part[:1].isupper() for part in parts)


def _speaks(words: str, now: Instant, zone: ZoneInfo) -> bool:
    """Whether it is about what the coach says: "why did you write", and not "why did you leave the job"."""
    del now, zone
    return bool(_SPEAKING & {stem(word) for word in words.casefold().split()})


def is_line(words: str, now: Instant, zone: ZoneInfo) -> bool:
    """Something to do: not a time, and not only small words."""
    return bool(content(words)) and not is_time(words, now, zone)


def _is_list(words: str, now: Instant, zone: ZoneInfo) -> bool:
    del now, zone
    return words.casefold() in LISTS


def _past(word: str) -> bool:
    return word in _IRREGULAR or (word.endswith("ed") and len(word) > 4)


_SPEAKING: Final = frozenset(
    stem(word)
    for word in ("write", "text", "message", "ping", "nudge", "send", "say", "tell", "remind", "ask", "quiet",
        "silent", "talk", "said", "wrote", "sent", "told", "bother", "contact", "speak")
)  # fmt: skip
_FITS: Final = {
    "when": is_time, "length": is_length, "name": is_name, "said": _speaks, "line": is_line, "list": _is_list,
}  # fmt: skip
"""What the words in a slot must be."""


_THE = "-|the|my|that|this|your"
_REM = "reminder|reminders|alarm|alarms|remainder"
_MOVE = "move|reschedule|shift|change|push|put|postpone|delay|bump|switch|bring"
_CANCEL = "cancel|delete|remove|drop|scrap|erase|kill|ditch|bin|clear|cancle|unset|discard|axe"
_STOP = "stop|quit"
_WRITE = "writing|messaging|texting|pinging|bugging|bothering|nagging|nudging|spamming|disturbing|talking|reminding"

INTENTS: Final = (
    # --- what is known about one reminder
    Intent(
        "undo",
        "undo the last thing I changed",
        (
            "undo -|it|that|this|please",
            "undo -|the last -|thing|change|one|action",
            "take -|it|that|this back",
            "take back that|it",
            "revert -|that|it|this",
            "roll -|that|it back",
            "bring it|that back",
            "put it|that back",
            "restore it|that",
            "undo what you -|just did",
            "reverse that|it",
            "that was a|my mistake",
            "that was wrong",
            "wait undo -|that|it",
            "no undo -|that|it",
            "i didn't mean that|it",
            "i did not mean that|it",
            "unundo",
            "no -|wait i didn't",
            "wait i didn't",
            "undo the cancel|move|tick|review|pause|reminder",
            "scratch that",
            "strike that",
            "can you undo that|it|this",
            "go back",
        ),
    ),
    Intent(
        "cancel-all",
        "cancel all reminders, after a yes",
        (
            f"{_CANCEL} all -|of -|my|the -|{_REM}",
            f"{_CANCEL} every {_REM}",
            "delete|remove|cancel|clear everything",
            f"get rid of all -|my|the {_REM}",
            f"no more {_REM} at all",
            f"{_CANCEL} all {_REM}",
        ),
    ),
    Intent(
        "cancel",
        "cancel a reminder",
        (
            f"{_STOP} reminding me to|about|of {{what}}",
            "no need to remind me to|about|of {what}",
            "don't|dont|never remind me to|about|of {what}",
            "do not remind me to|about|of {what}",
            "no more {what} reminders|reminder|alarms",
            "no more reminders|reminder about|to|for {what}",
            "you don't need|have to remind me to|about|of {what}",
            "i don't need|want to be reminded to|about|of {what}",
            f"i don't need|want {_THE} {{what}} {_REM}",
            f"i don't need|want {_THE} {_REM} about|for|to {{what}}",
            "i don't need|want {what}",
            f"get rid of {_THE} {{what}} {_REM}",
            f"get rid of {_THE} {_REM} about|for|to {{what}}",
            "get rid of {what}",
            f"{_CANCEL} {_THE} {_REM} about|for|to|of|called {{what}}",
            f"{_CANCEL} {_THE} {{what}} {_REM}",
            f"turn off {_THE} {{what}} {_REM}",
            "turn off {what}",
            "switch off {what}",
            "call off {what}",
            f"{_CANCEL} {{what}} for good",
            f"{_CANCEL} {{what}}",
        ),
        About.REMINDER,
    ),
    Intent(
        "cancel",
        "cancel a reminder",
        (
            "forget about {what}",
            "forget {what}",
            "never mind about {what}",
            "nevermind about {what}",
            "never mind {what}",
            f"{_STOP} {{what}}",
        ),
        About.REMINDER,
        fixed=(("by", "name"),),
    ),
    Intent(
        "cancel",
        "cancel a reminder",
        (
            f"cancel|delete {_THE} {_REM} about|for|to|of|called {{what}}",
            f"cancel|delete|remove {_THE} {{what}} {_REM}",
            "cancel {what}",
        ),
        About.REMINDER,
        sure=True,
    ),
    Intent(
        "cancel",
        "cancel a reminder",
        (
            f"{_CANCEL} a|an|one|some -|of -|my {_REM}",
            f"{_CANCEL} {_REM}",
            f"{_CANCEL} one",
            "cancel something",
        ),
        fixed=(("ask", "which"),),
    ),
    # --- times of reminders
    Intent(
        "later",
        "move a reminder by some time",
        (
            f"{_MOVE} {{what}} back|forward by {{length}}",
            f"{_MOVE} {{what}} by {{length}}",
            "push|move {what} back {length}",
            "{what} {length} later",
            "make {what} {length} later",
            "make it {length} later for {what}",
            "do {what} {length} later",
            "give me {length} more for {what}",
            "delay|postpone|snooze {what} for {length}",
            "delay|postpone|snooze {what} {length}",
            "snooze {what}",
        ),
        About.REMINDER,
    ),
    Intent(
        "later",
        "move the last reminder by some time",
        (
            "{length} later",
            "make it|that {length} later",
            "push it|that back {length}",
        ),
        fixed=(("what", "it"),),
        about=About.REMINDER,
    ),
    Intent(
        "earlier",
        "move a reminder to an earlier time",
        (
            "{what} {length} earlier",
            "make {what} {length} earlier",
            "move|bring {what} forward {length}",
            "move {what} {length} earlier",
            "move|bring {what} up {length}",
        ),
        About.REMINDER,
    ),
    Intent(
        "move",
        "move a reminder to another time",
        (
            f"{_MOVE} {{what}} to|until|till|for|on|at {{when}} instead|rather",
            f"{_MOVE} {{what}} to|until|till|on|at|for {{when}}",
            "make {what} {when} instead|rather",
            "{what} should be|happen -|at|on|to {when}",
            "{what} at|on {when} instead|rather",
            "do {what} at|on {when} instead|rather",
            "set {what} to|for {when}",
            "make {what} at|on {when}",
            "snooze {what} until|till|to {when}",
            "remind me {when} instead of {what}",
            "i'd rather do|have {what} at|on {when}",
            f"{_MOVE} {_THE} {_REM} for|about {{what}} to {{when}}",
        ),
        About.REMINDER,
    ),
    Intent(
        "move",
        "move a reminder",
        (
            f"{_MOVE} a|one -|of -|my {_REM} to {{when}}",
            f"{_MOVE} a|one {_REM}",
        ),
        fixed=(("ask", "which"),),
    ),
    Intent(
        "move",
        "move a reminder",
        (
            f"move|reschedule|shift|postpone {_THE} {_REM} about|for|to {{what}}",
            "move|reschedule|shift|postpone {what}",
        ),
        About.REMINDER,
        fixed=(("ask", "when"),),
    ),
    # --- lists and questions about reminders
    Intent(
        "list",
        "show your reminders",
        (
            "reminders",
            f"-|show|list|see|give|tell|display|check|read -|me -|all -|of -|my|the|your|active|current {_REM}",
            "what|which are -|all my|the reminders|alarms",
            "what|which reminders|alarms are -|there|set|active|coming|on",
            "what|which reminders|alarms do|have i -|have|got|set",
            "what|which reminders|alarms have i -|set|got",
            "do i have -|any reminders|alarms -|set|today",
            "have i -|got any reminders|alarms -|set",
            "are there any reminders|alarms -|set",
            "what have i asked you to remind me -|of|about",
            "what did i ask you to remind me -|of|about",
            "what are|will you -|going -|to remind|reminding me -|about|of",
            "what's|whats|what is coming -|up|next",
            "what is|are coming up",
            "what's ahead",
            "what's scheduled -|for -|me",
            "my reminders",
            "any reminders|alarms -|set",
            "reminder list",
            "list of reminders",
            "upcoming -|reminders",
            "what do you -|still have for me",
            "what's on the schedule",
            "what will you remind me -|of|about",
            "what have you got -|for -|me",
            "how many reminders -|do -|i -|have",
        ),
    ),
    Intent(
        "today-left",
        "show what is left today",
        (
            "what's|whats|what is left -|for|to -|do -|today",
            "what's|whats|what is left",
            "anything else -|for -|today",
            "-|is -|there anything else -|left -|for -|today",
            "what else -|is -|there|left|on -|for -|today",
            "what|which|any reminders are -|still left -|for -|today",
            "what reminders are left",
            "what|which reminders are -|on|for -|today",
            "what's still to come -|today",
            "what's coming -|up -|later today",
            "any reminders left -|today",
            "reminders -|for today",
            "today's reminders",
        ),
    ),
    Intent("time", "say what time it is", ("what time is it -|now|right -|now",)),
    Intent(
        "when",
        "say when a reminder comes",
        (
            f"when is|are|was|do {_THE} {{what}} {_REM} -|set|due|for|coming",
            "when is|are|do {what} -|set|due|for|coming",
            "when's {what}",
            "when will|do|are you -|going -|to remind|reminding me -|to|about|of {what}",
            "what time is|are|do|for {what} -|set|due|at",
            "what time's {what}",
            "at what time is {what}",
            "when do i -|have|need -|to {what}",
            "when did i set {what}",
            "when am i -|supposed -|to {what}",
            "when does {what} come|fire|start|happen|go",
            "is {what} set",
            "have i set {what}",
            "show me {what}",
            "tell me about {what}",
            "what about {what}",
            "what's {what} about",
        ),
        About.REMINDER,
    ),
    Intent(
        "on-day",
        "show what is on one day",
        (
            "what's|whats|what is on -|for -|on {when}",
            "what's|whats|what is happening|planned|up -|for|on {when}",
            "what do i have -|on|for {when}",
            "what have i -|got -|on|for {when}",
            "anything -|on|for {when}",
            "reminders -|on|for {when}",
            "what reminders -|are|do|have -|there|i -|have -|on|for {when}",
        ),
        fixed=(("needs", "day"),),
    ),
    # --- the day's list
    Intent(
        "next",
        "say what is next",
        (
            "-|so|and what's|whats|what is next -|up|today|on|for -|me",
            "what now",
            "what should|shall|do|can|must i do -|now|next|first|today",
            "what should|do i start with",
            "what next",
            "next",
            "what's my next -|task|thing|step",
            "where do|should i start",
            "what to do -|now|next|first",
            "what's first",
            "what comes first",
            "what's up next",
            "what's the next thing",
            "what am i -|supposed|meant -|to -|be -|do|doing",
            "what was i doing",
            "what should i be doing",
            "what's most important -|now|today",
            "give me something to do",
        ),
    ),
    Intent(
        "today",
        "show today's list",
        (
            "what's|whats|what is on -|my|the|today's list|agenda|plate",
            "what's|whats|what is on -|for -|today",
            "-|show|see|list|tell -|me -|my|the|today's to-do|todo|todos|to-dos|tasks|plan|agenda|list "
            "-|list|for -|today",
            "what do|did i have -|to -|do -|for today",
            "what do i need to do -|today",
            "what have i got -|on -|for today",
            "what's|whats|what is -|my|the plan -|for|today -|today",
            "what are my tasks|todos -|for -|today",
            "-|my|show to do list",
            "-|show today",
            "today",
            "today's list",
            "what have|did i not done|do -|yet",
            "what haven't i done -|yet",
            "what's not done -|yet",
            "what's open",
            "what is|are -|still open",
            "my -|day|plan",
            "how does my day look",
            "what does my day look like",
            "what's on today",
            "what's today -|about",
            "what's my day -|like|looking|look",
        ),
    ),
    Intent(
        "week",
        "show this week's list",
        (
            "week",
            "-|show -|me -|my -|this week",
            "what's -|on -|for this week",
            "what's the plan for the|this week",
            "-|my week's list",
            "what are my goals for -|this|the week",
            "what do i have -|to -|do this week",
            "this week's goals|list",
        ),
    ),
    Intent(
        "commitments",
        "show what you promised",
        (
            "-|show -|me -|my|open commitments|promises",
            "what did|have i promise|promised|commit|committed -|to",
            "my -|open commitments",
            "what do i owe -|people|anyone",
        ),
    ),
    Intent(
        "goals",
        "show your goals",
        (
            "-|show|see|list|tell|read -|me -|all -|of -|my|the|your|current goals|goal",
            "what's|whats|what are|is my|the goals|goal",
            "remind me of|about|what my goals -|are",
            "what am i -|working|aiming -|towards|toward|for|at|on",
            "what do|did i want to achieve|do|reach -|this|the -|quarter|year|month",
            "what are my goals -|for -|this|the -|quarter",
            "what's my north star",
            "my north star",
            "north star",
            "what's on -|for this|the quarter",
            "this quarter",
            "what are we working on|towards",
            "where do i want to go",
            "what matters -|most -|to -|me",
            "how are my goals -|doing",
        ),
    ),
    # --- done
    Intent(
        "done",
        "mark the last reminder, or the first task, as done",
        (
            "done",
            "-|yep|yes|and|now|just -|i|it|that|all -|am|is|have|was -|all|now|just|already|finally "
            "done|finished|completed",
            "-|i -|just|already|have did it|that|this",
            "-|i -|have just did",
            "i've done it|that|this",
            "i've -|just|already -|done|did -|it|that",
            "finished it|that|this",
            "done it|that|this",
            "done and dusted",
            "mission accomplished",
            "check",
            "ticked",
            "completed",
            "complete",
            "just did it|that",
            "all done",
            "it is done",
            "did",
            "finished",
            "i finished",
            "mark it -|as done",
            "already did -|it|that",
            "already done",
            "consider it done",
        ),
    ),
    Intent(
        "done",
        "mark something as done",
        (
            "done with {what}",
            "done {what}",
            "finished -|with {what}",
            "finish|complete {what}",
            "i'm|im|i am -|all|finally|now done|finished|through with {what}",
            "i -|have|finally|just|already finished|completed|did {what}",
            "i've -|just|finally|already finished|completed|done {what}",
            "completed {what}",
            "tick|check|cross|mark|strike off {what}",
            "tick|check|cross|mark|strike {what} off -|my|the -|list|today",
            "mark {what} as -|done|complete|completed|finished",
            "mark {what} done|complete|completed|finished",
            "set {what} to done",
            "{what} is|are|was -|now|all|finally done|finished|complete|completed|over",
            "{what} done|finished|complete|completed",
            "{what} -|is|are|was ✓|check",
            "tick {what}",
            "did {what}",
            "i got {what} done",
            "got {what} done",
            "that's {what} done",
            "{what} -|is|are off the|my list",
        ),
        About.ANYTHING,
    ),
    Intent(
        "did",
        "mark something as done",
        (
            "i|i've|ive|we -|have|just|already|finally|also -|just|already {what}",
            "-|already|just|finally {what}",
            "{what} -|already|now",
            "the {thing} is|are|was -|already|now|finally {verb}",
            "{thing} is|are|was -|already|now|finally {verb}",
        ),
        About.ANYTHING,
    ),
    Intent(
        "skip",
        "skip the last reminder this time",
        (
            "skip -|it|this|that|this one|today",
            "skip this|that one|time",
            "not this time",
            "not today",
            "i'll skip -|it|this|that|one -|today",
            "pass on -|it|this|that",
            "leave it for today",
            "skip it this time",
            "no skip it|that",
        ),
    ),
    Intent(
        "again",
        "bring the last reminder again later",
        (
            "snooze",
            "snooze -|it|this|that -|for|by {length}",
            "snooze -|it|this|that -|until|till|to {when}",
            "snooze it|this|that",
            "remind|ask|ping|tell|nudge|poke me again -|in|at {length}",
            "remind|ask|ping|tell|nudge me -|again at|in {when} instead|rather",
            "-|remind -|me again in {length}",
            "-|not -|yet later -|at|in {when}",
            "-|not yet -|in {length}",
            "give me {length} -|more|longer",
            "{length} more|longer -|please|pls",
            "-|another {length}",
            "in {length}",
            "later at {when}",
            "not yet -|at|until {when}",
            "-|no not now -|at|in {when}",
            "remind me -|again later",
            "ask me -|again later",
            "-|i need {length} more",
            "try again in {length}",
            "come back in|at {length}",
            "wait {length}",
            "remind me at|in {when} again",
            "again at|in {when}",
            "can it wait -|until|till|for {when}",
            "do that -|at|in {when}",
        ),
    ),
    # --- why, status, review
    Intent(
        "why",
        "say why I wrote, or didn't",
        (
            "why",
            "why now",
            "why that|this",
            "why did|do|are|have|would you -|just "
            "-|write|text|message|ping|nudge|send|say|tell|remind|ask|writing|telling|texting|messaging|bothering "
            "-|me -|that|this|about|now|of|it -|this|that|now|it",
            "why did|do you {said}",
            "why are you {said}",
            "why have you {said}",
            "why didn't|don't|haven't|aren't|did|do|have|are you -|not {said}",
            "what was|is that|this -|about|for",
            "what's that|this about|for",
            "how come -|you {said}",
            "explain -|that|this|yourself|it|why",
            "what made you {said}",
            "why so quiet|silent",
            "why the silence|message|reminder|ping",
            "what triggered that|this",
            "for what reason",
            "how so",
            "why not",
            "why was that|this sent",
            "why did that|this|it come",
            "reason",
            "what's the reason -|for -|that|this",
        ),
    ),
    Intent(
        "status",
        "my last decisions, how things are, and your reminders",
        (
            "status",
            "-|what|show|tell|give -|is -|me -|your|the|my|current status",
            "how are things -|with -|you -|running|going",
            "are you -|still working|running|alive|there|ok|okay|on|up|online|awake",
            "how is it running",
            "is everything -|ok|okay|working|fine|running",
            "system status",
            "status report",
            "what's your state",
            "what mode are you in",
            "do you -|still work|run",
            "are you using -|a|an model|ai",
            "which model are|do you -|use|using",
            "what model are|do you -|use|using",
            "are you there",
        ),
    ),
    Intent(
        "review-when",
        "say when the weekly review is",
        (
            "when is|are|do|will|does -|we|the|my|our -|do|have -|next|the|weekly review -|be|happen|due",
            "when's the|my|our -|next|weekly review",
            "what day is the -|weekly review",
            "when do we -|do|have -|the|our -|weekly review",
        ),
    ),
    Intent(
        "review",
        "start or continue the weekly review",
        (
            "-|weekly review",
            "-|start|begin|do|open|launch|run|have|continue|resume|finish|let's|take "
            "-|do|start|begin|continue|with -|the|my|a|our|this -|weekly|week's review -|now|together|then",
            "review -|my|the|this|our week",
            "-|let's|let|can look|looking back -|on|at -|my|the|this -|past|last week",
            "time for|to -|do -|the|my|our|a -|weekly review",
            "i'm|im|i am ready for|to -|do -|the|my|our -|weekly review",
            "do|start|begin -|a|the|my -|weekly|week review -|of|my|the|this -|my|the|this -|week",
            "go over|through my|the week",
            "reflect on -|my|the|this week",
            "look back on -|my|the|this week",
            "weekly reflection|retrospective|check-in",
            "how was my week",
            "do -|my|a week in review",
            "sum up -|my|the|this week",
            "let's talk about -|my|the|this week",
        ),
    ),
    # --- money
    Intent(
        "ping-budget",
        "how many messages I may send unasked",
        (
            "-|my|the|your ping|pings|message|messages budget|left|allowance|limit",
            "how many -|unasked|more messages|pings|nudges may|can|will|do|are|have|could you -|still "
            "-|left|send|write -|me -|today|unasked|left|still",
            "how many messages|pings|nudges are|do|have -|you|i -|still|have -|left -|today",
            "how often may|can|will|do you write|message|text|ping|nudge -|to -|me",
            "ping-budget",
            "how many times may|can|will you write|message|text|ping -|me -|a|per -|day",
        ),
    ),
    Intent(
        "budget",
        "how much of today's budget is left",
        (
            "budget",
            "-|what's|whats|show|tell|what|is|how|check|see -|me -|is|are|about -|the|my|your|our|today's "
            "budget -|like|today|left|looking|status|doing",
            "how much -|money|budget|cash is|do|have|are|did -|you|i|we -|have|still "
            "-|left|spent|spend|used|cost|use -|so -|far -|today|me|of|in|for|this|on|up "
            "-|the|this|today|month|week|day|far|budget -|month|week|budget|day",
            "what do|did|have|does you|it|this -|cost|spend|spent|costs|used -|me -|so -|far "
            "-|today|this|me|already -|month|week|day",
            "how much -|do|does|did|are|is|have|has you|it|this|that -|you "
            "-|cost|costs|spend|spent|expensive|used|charge -|me -|so -|far -|today|this|per|a -|month|week|day",
            "what's|what is the|your|my cost|price|bill|spending|costs|spend -|so -|far -|today|this|month -|month",
            "are|is you|this|it expensive|free|cheap|costly",
            "-|the|my|show|your costs|spending|spend",
            "how expensive are|is you|this|it",
            "what have|did you spent|spend -|so -|far -|this|today|on -|month|week|me|day",
            "how much -|of -|the|my|your -|budget|money is -|left|used|gone|spent -|of|in -|the|my|your -|budget",
            "what did you -|spend|cost -|me -|today|this -|month|week",
            "am i -|over|under|within|on|in -|my|the budget",
            "what's left -|of|in|on -|the|my|your budget",
        ),
    ),
    # --- about itself
    Intent(
        "who",
        "say who I am",
        (
            "who|what are|r you|u",
            "who|what is this|that",
            "who's this|that|there",
            "are you -|a|an|really|actually -|real|a|an "
            "bot|robot|human|person|ai|machine|program|chatbot|real|computer|llm|gpt|chatgpt|claude",
            "am i talking to a|an -|real bot|human|person|robot|machine|ai",
            "what's|whats|what is your name",
            "do you have a name",
            "what should|can|do i call you",
            "tell me about yourself",
            "introduce yourself",
            "who made|built|created you",
            "who am i talking|speaking|writing|chatting -|to|with",
            "what kind of -|bot|thing|coach are you",
            "what exactly are you",
            "your name",
        ),
    ),
    Intent(
        "help",
        "show what you can say",
        (
            "help",
            "-|i|please need|want|get|give|show -|me -|some|more help",
            "help me -|out|please",
            "what can|could|do|does you|i|it|this -|do|say|help|understand|know|ask|offer "
            "-|for|me|with|here|how|to -|me|do",
            "how does|do|can|should this|it|you|i|that -|bot|thing -|work|use|talk|works -|to|this|you|it",
            "commands",
            "-|show|list|what -|me|are -|the|all|your commands|features|options|functions",
            "what do you understand|do|offer",
            "how do|can i -|use|talk|work|speak -|to|with -|this|you|it",
            "/help",
            "instructions",
            "manual",
            "what are you -|good|able|for|capable -|for|to|of|at -|do|doing",
            "what can we do",
            "how can you help -|me",
            "show me what you can do",
            "options",
            "menu",
            "what are my options",
        ),
    ),
    Intent(
        "time",
        "say what time it is",
        (
            "time",
            "what's|whats|what is the time -|now|right|in -|now",
            "what time is it -|now|right|there|here -|now",
            "do you know|have -|what -|the time -|it -|is|it",
            "tell me the time",
            "current time",
            "got the time",
            "what's the current time",
            "what time do you|we have",
            "how late is it",
        ),
    ),
    Intent(
        "day",
        "say what day it is",
        (
            "what|which day -|of -|the -|week is -|it -|today",
            "what's|whats|what is the|today's date|day -|today|of|is -|today|it",
            "-|the|today's date",
            "what date is -|it|today -|today",
            "which day -|is -|it|today",
            "is it -|a weekday|weekend",
            "what weekday is -|it|today",
            "day",
            "what is today",
            "what month is it",
            "what year is it",
            "what week is it",
        ),
    ),
    Intent(
        "bedtime",
        "say when your bedtime is",
        (
            "-|what's|whats|what|when is|'s -|is|are -|my|the bedtime|bedtimes|bed-time|bed "
            "-|time|target|today|tonight",
            "when|what -|time should|do|must|am|is|will|did i -|supposed|meant|want|have|need|going -|to "
            "-|go|be|get|say -|to|in bed|sleep|bedtime -|tonight|today|by",
            "-|my bedtime",
            "what time is -|my bedtime -|tonight",
            "what's my bedtime -|tonight|again|set|target|goal -|to",
            "when is lights out",
            "how late can|may|should i stay up",
        ),
    ),
    Intent(
        "wake",
        "say when your day begins",
        (
            "when|what -|time do|should|must|am|will i -|supposed|have|need|want|going -|to "
            "-|get|wake|be|start|rise -|up",
            "-|what's|whats|what|when is|'s -|my|the wake|wakeup|wake-up|waking -|up -|time|target",
            "when do|does|will you|the|my -|day -|start|begin|write|wake -|in|me|to|up -|the -|me -|morning",
            "when's the morning briefing",
            "when is the morning|daily briefing|message",
            "when does my day|morning start|begin",
        ),
    ),
    Intent(
        "zone",
        "say which time zone I use",
        (
            "-|what|which -|is -|my|the|your timezone|zone -|am|do|is|are -|i|you|we|it|set -|in|on|use|have|to",
            "-|what|which -|is -|my|the|your time zone -|am|do|are|is -|i|you|we|it|set -|in|on|use|have|to",
            "where am|do i|you -|am|think -|i|am -|am",
            "which|what city am i in",
            "what zone am i in",
            "where do you think i am",
        ),
    ),
    Intent(
        "quiet-hours",
        "say when your quiet hours are",
        (
            "-|what|when|what's|which are|is|'s -|my|the|your|our quiet hours|times|time",
            "when are|do|don't|won't|will you -|not|be -|quiet|silent|write|message|text -|at|me -|night",
            "when may|can you -|not write|message|text -|to -|me",
            "-|my|show quiet hours",
        ),
    ),
    Intent(
        "sent",
        "say what I sent today",
        (
            "what did|have|do you -|already|all "
            "-|send|sent|write|written|say|said|message|messaged|text|texted|tell|told -|me|to -|me|so -|far "
            "-|today|this|so|already -|morning|far",
            "how many|much messages|pings|nudges|times did|have|texts you "
            "-|already|send|sent|write|written|message|messaged -|me -|send|sent|today|so|already -|far|today",
            "what was your last message",
            "what did you last|just say|send|write -|to -|me",
            "show|list me -|what -|you -|sent|today's|your messages -|today|of|from -|today",
            "what messages did you send -|me -|today",
            "did|have you -|already write|send|message|text|written|sent|messaged -|me -|anything|something "
            "-|today|yet",
        ),
    ),
    Intent(
        "next-message",
        "say when I write next",
        (
            "when|what -|time will|do|are|is|would|can you|i|we -|going|be -|to "
            "-|write|message|text|hear|ping|contact|talk|speak|send|nudge|say|expect "
            "-|to|from|me|something|anything|a|your -|me|you|message|again|next "
            "-|next|again|message|something|from -|from|you|next",
            "when's|when is your|the next message|ping|nudge|one|reminder|text -|due|coming|from -|from|you",
            "what comes|is|will|are next from you",
            "what's|what is|what will|what do -|are|you -|your|you|the -|next|going|send|write|say "
            "-|message|to|next|me -|send|write|me -|next|from -|you",
            "what comes next -|from -|you",
            "when will|do i hear from you -|again|next",
            "what's next from you",
            "when do you write -|again|next|to -|me",
            "what's the next reminder",
            "which reminder is|comes next",
            "when is my next reminder",
            "next reminder",
        ),
    ),
    Intent(
        "know",
        "say what I know about you",
        (
            "what do|did you -|know|remember|have|think -|about|of|on|noted -|me|us",
            "what's|what is in|on -|your|my memory|file",
            "-|show|what|list|tell|read -|me -|is|what -|your|my|you|the memory|know|remember -|about -|me",
            "what have you -|learned|noted|remembered|stored|learnt -|about -|me",
            "do you remember -|me|anything -|about -|me",
            "what do you remember -|about -|me",
        ),
    ),
    Intent(
        "name?",
        "say what I call you",
        (
            "what's|whats|what is my name",
            "do you know|remember -|what|who -|my|i name|am -|is|i -|am",
            "who am i",
            "what do you call me",
            "what am i called",
            "do you know my name",
            "you know my name",
            "say my name",
        ),
    ),
    Intent(
        "name",
        "call you by your name",
        (
            "call me {name}",
            "-|you -|can|may|could|should|just call me {name}",
            "my name's|names {name}",
            "-|and|so|the|my name is {name}",
            "my name is {name}",
            "i'm|im called|named {name}",
            "i am called|named {name}",
            "i go by {name}",
            "it's {name} by the way",
            "people|everyone|friends call|calls me {name}",
            "hi|hello|hey -|there i'm|im {name}",
            "hi|hello|hey i am {name}",
            "this is {name}",
            "change my name to {name}",
            "from now on call me {name}",
            "please address me as {name}",
            "address me as {name}",
            "refer to me as {name}",
        ),
        fixed=(("needs", "name"),),
    ),
    # --- lists
    Intent(
        "add",
        "put something on a list",
        (
            "-|please add|put|write|note|get|set|include {line} to|on|in|onto|for|into|down -|for -|my|the|this "
            "-|to-do|todo|to -|do list|today|today's|todos|tasks|plan -|list|tasks|plan|for -|today",
            "today i -|will|want|need|have|must|should -|to {line}",
            "i -|also|still need|have|want|must|got -|to {line} today",
            "add|put|new|another {line} as -|a|my task|todo|to-do -|for|today -|today",
            "new|another|add -|a task|todo|to-do -|for -|today -|is|to {line}",
            "task|todo|to-do -|for -|today -|is {line}",
            "on|for my|the list -|for -|today {line}",
            "add|put task|todo {line}",
            "my|the most important -|thing|task -|for -|today is -|to {line}",
            "today is about {line}",
        ),
        fixed=(("list", "today"),),
    ),
    Intent(
        "add",
        "put a goal on this week's list",
        (
            "-|please add|put|write|set|include {line} to|on|in|onto|for|into -|my|the|this|this|our "
            "week|week's|weeks|weekly -|list|goals|goal|plan|tasks",
            "-|my|a|one|the|new goal|goals|task|plan for -|this|the|my week is|are -|to {line}",
            "this week i -|will|want|need|have|must|should|would -|like -|to {line}",
            "goal|goals -|for|of -|this|the week {line}",
            "this week's goal -|is -|to {line}",
            "i want|need|have|plan|must -|to {line} this week",
            "weekly goal -|is -|to {line}",
        ),
        fixed=(("list", "week"),),
    ),
    Intent(
        "add",
        "put a goal on this quarter's list",
        (
            "-|please add|put|write|set|include {line} to|on|in|onto|for|into|as|among -|my|the|this|our|a "
            "quarter|quarter's|quarters|quarterly|goals|goal -|list|goals|goal",
            "-|my|a|one|another|the|main|new|big -|main|big|next|new goal|aim|objective "
            "-|for|this|now -|this|the -|quarter is|will -|be -|to {line}",
            "one of my goals is -|to {line}",
            "add|set a -|new goal to {line}",
            "i want|need|have|plan|intend|mean|would -|like to {line} this|by|over|in quarter|the "
            "-|this|next|end -|of -|the|this -|quarter",
            "this quarter i -|will|want|need|have|must|should|would -|like -|to {line}",
            "quarterly goal -|is -|to {line}",
            "i'm|im working|aiming towards|toward|on|for {line} this quarter",
            "my goals are {line}",
        ),
        fixed=(("list", "quarter"),),
    ),
    Intent("add", "put something on a list", ("{list} {line}",), fixed=(("needs", "colon"),)),
    Intent(
        "add",
        "put a goal on this quarter's list",
        ("-|my|a|new|another|next -|new goal -|for -|the|this -|quarter {line}",),
        fixed=(("list", "quarter"), ("needs", "colon")),
    ),
    Intent(
        "north-star",
        "set your north star",
        ("-|set|change|make|my|the -|my|the -|north star -|is|to|as|will|should -|be|to {line}",),
    ),
    Intent(
        "drop",
        "take something off a list",
        (
            "-|please remove|drop|delete|take|cross|get|strike|scratch|erase {what} from|off|of|out -|of "
            "-|my|the|this|today's|this "
            "-|to-do|todo|week|week's|today|today's|quarter|quarter's|goals|list|plan -|list|goals",
            "-|please remove|drop|delete -|the|my goal|task {what}",
            "i'm|im -|no|not|giving|dropping|abandoning -|longer|up|going -|on|to -|do|doing {what} anymore",
            "{what} is -|no not|no longer a|my|relevant -|goal|task",
            "-|i -|want|to -|to give up -|on {what}",
            "drop|remove {what}",
        ),
        About.TASK,
    ),
)
