"""What the person says about being interrupted, recognised by rule, and what is in force after it.

The model may understand more, but these must work even when it fails: "busy" and "in a meeting until 5" (two hours, or
as long as they say), "leave me alone" and "shut up" (until the person writes again), "30 more min" (check back in 30),
"I'm back". Whole messages are read by rows of words; a clause inside a longer message by patterns.

A phrase counts if a clause begins with it, apart from politeness and adverbs, and if the speaker means themselves and
now. So "business is slow", "I'm not busy", "Mary is busy", "was it a busy day?", "busy tomorrow" and "stop messaging me
about sleep" do not count. When in doubt the rule stays silent: the model reads the message too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from enum import StrEnum
from fractions import Fraction
from functools import cache
from typing import Any

from nudge.attention.quiet import Person
from nudge.errors import InvalidPhraseError, UnclearPhraseError
from nudge.instants import DAY, HOUR, MINUTE, Instant, local_date, start_of_day
from nudge.phrases import understand, understand_duration
from nudge.phrases.wording import Matched, Table
from nudge.queue.records import moment_or_none

BUSY_FOR = 2 * HOUR
LONGEST = 24 * HOUR
"""A longer delay ("5000 more minutes") is not recognised."""

_READ = 1000  # characters; people who want to be left alone say so early


class RestraintKind(StrEnum):
    BUSY = "busy"
    LEFT_ALONE = "left-alone"
    ASK_AGAIN = "ask-again"
    BACK = "back"
    """They may be written to again."""


@dataclass(frozen=True, slots=True)
class Restraint:
    """What the person asked for, and for how many microseconds; None means until they write again."""

    kind: RestraintKind
    duration: int | None = None


def recognise(text: str, now: Instant | None = None, person: Callable[[], Person] | None = None) -> Restraint | None:
    """The restraint a message asks for, or None. With `now` and the `person`, who is looked up only if an end is named,
    that can be a time: "until 5", "till tomorrow" (when their day begins).

    "Leave me alone" beats a delay, and a delay beats "busy". A stated time beats the two hours ("busy for 30 min") and
    gives "leave me alone" an end.

    >>> recognise("Sorry, super busy right now")
    Restraint(kind=<RestraintKind.BUSY: 'busy'>, duration=7200000000)
    >>> recognise("give me 20 more minutes").duration // MINUTE
    20
    >>> recognise("please just leave me alone").duration is None
    True
    >>> recognise("business is slow") is None, recognise("I'm not busy anymore").kind.value
    (True, 'back')
    """
    if len(text) <= _LONGEST_ROW and (found := _by_rows(text, now, person)):
        return found
    clauses = _clauses(text)
    for rule in (_left_alone, _ask_again, _busy):
        for clause in clauses:
            found = rule(clause)
            if found is not None:
                return found
    return None


_LONGEST_ROW = 100
_WRITING = "write|text|message|ping|nudge|disturb|bother|contact|bug|nag|interrupt|talk|call|send"
_ING = "writing|texting|messaging|pinging|nudging|disturbing|bothering|bugging|nagging|talking|spamming|sending"
_ADV = "-|really|very|super|so|pretty|quite|kinda|a|still|now|currently|too|just|totally -|bit|little"
_AT = (
    " "
    " "
    "meeting|call|class|lecture|lesson|seminar|workshop|interview|session|conference|movie|film|cinema|restaurant|gym|exam"
)
_ROWS: tuple[tuple[RestraintKind, int | None, tuple[str, ...]], ...] = (
    (RestraintKind.BACK, 0, (
        "back", "-|i'm back at|from|in -|my|the|a desk|work|office|lunch|meeting|home|keyboard|class",
        "meeting's|call's|class's|meetings|work's over|done|finished|ended",
        "i am -|all|now back -|now|again|at -|my|the -|desk|work",
        "-|i'm not|no|longer -|longer busy|occupied -|anymore|now|any -|more",
        "-|i'm -|all free|available|around -|again|now|with -|the|my -|meeting|call|work|class",
        "-|the|my meeting|call|class|work|lecture|session|exam is|was|got "
            "over|done|finished|ended|cancelled|canceled",
        "meeting over|done|finished|ended",
        "you can|may -|now write|talk|speak|message|text|ping|nudge -|to -|me -|again|now",
        "you are allowed to write|talk|speak -|to -|me -|again", "quiet|mute|silence off|over", "unmute -|me",
        "end -|the quiet|silence|pause", "-|please write|talk|speak|message|text -|to -|me again",
        "i am done with -|the|my meeting|call|class|work", "ok|okay i am done with -|the|my meeting|call|class|work",
        "i am out of -|the|my meeting|call|class",
        "stop being quiet", "wake up again", "resume -|messages|messaging|nudges|pings",
        "start writing|messaging|texting -|me again", "i have|got time -|again|now",
        "not busy -|anymore|now|any -|more", "no longer busy",
    )),
    (RestraintKind.LEFT_ALONE, BUSY_FOR, (
        "quiet", "-|please be|stay|keep|go -|very|really quiet|silent|still",
        "-|some peace|quiet|silence -|and -|quiet|please",
        "give me -|some|a -|little peace|quiet|space|silence -|and -|quiet", "mute",
        "mute yourself|me|it|notifications|everything", "hush", "shush", "shh",
        "do|please|don't|dont -|not disturb -|me", "dnd", "do not disturb -|me -|now|please|right -|now",
        "no messages|pings|nudges|interruptions -|now|right|for|please -|now",
        "hold -|all -|my|the messages|calls|pings", "not in the mood -|to|for -|talk|chat",
        "pause -|all|the|your messages|pings|nudges|notifications", "keep quiet", "quiet mode", "stay quiet",
        "don't|dont {v} -|to -|me now|right -|now", "i need -|some quiet|peace|silence|space",
    )),
    (RestraintKind.BUSY, BUSY_FOR, (
        "not now", "no not now", "-|i can't|cannot -|do -|it|that|this right now", "-|i'm napping|sleeping",
        "-|i'm|gonna|going -|gonna|going|to -|to take|taking|have|having a -|quick|short|little nap|break|shower|bath",
        "-|i'm on a -|quick|short|little break|walk|run|ride", "not right now", "not a good time", "bad time",
        "-|i'm {a} "
            "busy|occupied|focusing|focussing|concentrating|driving|working|studying|teaching|swamped|cooking|running "
            "-|right|at|now|and|with -|now|the|work|it -|moment",
        "-|i'm -|currently|now|still|going|off -|into|to in|at|on|into|to a|an|the|class|work|my "
            "-|quick|long|team|video|phone|zoom|work|important -|phone {x}",
        "-|i'm in class|session|conference|transit", "-|i'm in meetings|calls|classes|lectures|appointments -|all|now",
        "-|i'm out|away|offline|unavailable -|and|so -|don't -|disturb -|me", "-|i'm in focus mode", "-|i'm heads down",
        "-|i need|have|want|got|must -|to focus|concentrate|work -|now|on|for -|this|work|a -|bit|while",
        "-|i can't|cant|cannot talk|chat|answer|reply|write -|now|right|at -|now",
        "-|i'm working -|so|and -|do|don't|dont -|not disturb -|me", "can't now", "cant now",
        "-|i'm on the road|phone|train", "-|i'm with people|friends|family|somebody|someone",
        "let me work|focus|concentrate", "do not|don't interrupt -|me", "later i am busy",
        "focus|focusing -|time|mode|now", "busy -|now|here",
    )),
    (RestraintKind.LEFT_ALONE, None, (
        "stop", "stop it|this|that|now|everything", "stop {w} -|to|with -|me", "shut up", "shut it",
        "shut the fuck|hell up", "go away", "get lost", "piss|fuck|bugger off", "enough", "that is enough",
        "enough -|already|for -|now", "-|just leave me -|the -|fuck|hell alone|be", "leave me in peace",
        "stop messages|messaging|pings|nudges|it -|all", "no more messages|pings|nudges -|at -|all|from -|you",
        "i do not|don't want to hear from you -|anymore|any -|more",
        "don't|dont|do -|not -|ever {v} -|to|with -|me -|anymore|ever|again|any -|more", "let me be", "be gone",
        "stfu", "silence", "you are annoying -|me", "stop bothering|annoying|nagging me -|please",
        "don't talk to me", "quit {w} -|to -|me",
    )),
)  # fmt: skip
"""Whole messages: what they ask for, for how long, in which words."""
_FILLED = (("{v}", _WRITING), ("{w}", _ING), ("{a}", _ADV), ("{x}", _AT))
_ENDS = (
    "until|till|til|before|by {until}", "for -|the|about|at -|next|least {length}", "for the next {length}",
    "the next {length}", "-|for the|this rest of the day", "-|for -|all today", "-|for -|the rest of today",
    "{length}",
    "all day", "for the -|whole day", "until|till i say so|otherwise", "until|till i write -|again|you|back",
    "until|till further notice", "for now",
)  # fmt: skip
_OWN_ENDS = (
    (RestraintKind.LEFT_ALONE, "don't|dont|do -|not {v} -|to -|me -|again|anything before|until|till {until}"),
    (RestraintKind.LEFT_ALONE, "no -|more messages|pings|nudges|interruptions before|until|till {until}"),
    (RestraintKind.LEFT_ALONE, "give me {length} of -|some|total peace|quiet|silence|rest"),
    (RestraintKind.LEFT_ALONE, "-|i need|want {length} of -|some|total peace|quiet|silence|rest"),
    (RestraintKind.LEFT_ALONE, "no -|more messages|pings|nudges|interruptions -|for -|the -|next|about {length}"),
    (RestraintKind.LEFT_ALONE, "no -|more messages|pings|nudges -|for -|the -|rest -|of today"),
    (RestraintKind.LEFT_ALONE, "-|i'm -|going|away on holiday|vacation|leave until|till|til {until}"),
    (RestraintKind.LEFT_ALONE, "-|i'm -|going away|off|travelling|traveling until|till|til {until}"),
    (RestraintKind.BUSY, "i have -|got a meeting|call|class|lecture until|till {until}"),
)  # fmt: skip


@cache
def _table() -> Table[tuple[RestraintKind, int | None]]:
    """Every row alone and with each of its ends; what has a slot for an end has its length from there."""
    found: list[tuple[tuple[RestraintKind, int | None], str]] = []
    for kind, length, rows in _ROWS:
        for row in rows:
            found.append(((kind, length), row))
            if kind is not RestraintKind.BACK:
                found += [((kind, length), f"{row} {end}") for end in _ENDS]
    found += [((kind, None), row) for kind, row in _OWN_ENDS]
    return Table((meaning, _filled(row)) for meaning, row in found)


def _filled(row: str) -> str:
    for mark, words in _FILLED:
        row = row.replace(mark, words)
    return row


def _by_rows(text: str, now: Instant | None, person: Callable[[], Person] | None) -> Restraint | None:
    if text.rstrip().endswith("?"):
        return None
    for (kind, length), matched in _table().read(text):
        if matched.slip and kind is RestraintKind.BACK:
            continue
        found = _with_end(kind, length, matched, text, now, person)
        if found is not None:
            return found
    return None


def _with_end(
    kind: RestraintKind,
    length: int | None,
    matched: Matched,
    text: str,
    now: Instant | None,
    person: Callable[[], Person] | None,
) -> Restraint | None:
    """The restraint, with the end that the words name; None if they name one that cannot be read."""
    said_end = matched.slots.get("until") or matched.slots.get("length")
    whole_day = not said_end and re.search(r"\b(?:to)?day\b", text, re.IGNORECASE) and "busy" not in text.casefold()
    if not said_end and not whole_day:
        return Restraint(kind, length)
    if now is None or person is None:
        return None
    who = person()
    until = next_wake(now, who) if whole_day else _until(matched.slots, now, who)
    return None if until is None or not 0 < until - now <= LONGEST_ROW else Restraint(kind, until - now)


LONGEST_ROW = 7 * DAY
"""Quiet lasts a week at most."""


def _until(slots: Mapping[str, str], now: Instant, person: Person) -> Instant | None:
    if "length" in slots:
        return _after(slots["length"], now, person)
    words = slots["until"]
    if words.casefold() in ("tomorrow", "tomorrow morning", "the morning", "morning"):
        return next_wake(now, person)
    try:
        return understand(words, now, person.zone).once
    except UnclearPhraseError:  # a bare 5 is the next five o'clock
        ends = [end for half in ("am", "pm") if (end := _at(f"{words} {half}", now, person)) is not None]
        return min(ends, default=None)
    except InvalidPhraseError:
        return None


def _at(words: str, now: Instant, person: Person) -> Instant | None:
    try:
        return understand(words, now, person.zone).once
    except InvalidPhraseError:
        return None


def _after(words: str, now: Instant, person: Person) -> Instant | None:
    plain = words.casefold().removeprefix("the next ").removeprefix("next ")
    if plain.removeprefix("the ") in ("rest of the day", "day", "rest of today"):
        return next_wake(now, person)
    try:
        return Instant(now + understand_duration("1 hour" if plain == "hour" else words, now, person.zone))
    except InvalidPhraseError:
        return None


def next_wake(now: Instant, person: Person) -> Instant:
    """When the person's next day begins."""
    day = local_date(now, person.zone) + timedelta(days=1)
    return Instant(start_of_day(day, person.zone) + person.wake * MINUTE)


def _left_alone(clause: str) -> Restraint | None:
    match = _ALONE.match(clause)
    if match is None or _IN_PART.match(match["tail"]):
        return None
    return Restraint(RestraintKind.LEFT_ALONE, _span(match["tail"]))


def _ask_again(clause: str) -> Restraint | None:
    match = _MORE.match(clause) or _BACK_IN.match(clause)
    return Restraint(RestraintKind.ASK_AGAIN, int(match["amount"])) if match else None


def _busy(clause: str) -> Restraint | None:
    if clause.endswith("?"):
        return None
    match = _BUSY.match(clause)
    if match and not _NOT_NOW.match(match["tail"]):
        return Restraint(RestraintKind.BUSY, _span(match["tail"]) or BUSY_FOR)
    match = _BUSY_SOON.match(clause)
    if match and (span := _span(match["tail"])):
        return Restraint(RestraintKind.BUSY, span)
    return None


def _span(tail: str) -> int | None:
    match = _SPAN.match(tail)
    return int(match["amount"]) if match else None


# Before the phrases are looked for, every amount of time becomes one word, microseconds after an @:
# "30 more min", "another half hour" and "an hour longer" read "more @1800000000" and so on.

_COUNTS = {
    "half an": Fraction(1, 2), "half a": Fraction(1, 2), "half": Fraction(1, 2), "a": Fraction(1), "an": Fraction(1),
    "one": Fraction(1), "one and a half": Fraction(3, 2), "two": Fraction(2), "three": Fraction(3),
    "four": Fraction(4), "five": Fraction(5), "six": Fraction(6), "seven": Fraction(7), "eight": Fraction(8),
    "nine": Fraction(9), "ten": Fraction(10), "fifteen": Fraction(15), "twenty": Fraction(20),
    "twenty five": Fraction(25), "thirty": Fraction(30), "forty": Fraction(40), "forty five": Fraction(45),
    "fifty": Fraction(50), "sixty": Fraction(60), "ninety": Fraction(90),
}  # fmt: skip
_WORDS = "|".join(sorted(_COUNTS, key=len, reverse=True)).replace(" ", "[ -]")
_AMOUNT = re.compile(
    r"(?<![\w.,:@])"
    r"(?P<before>(?:another|an extra|an additional)\s+)?"
    rf"(?:(?P<count>\d{{1,6}}(?:[.,]\d{{1,3}})?(?=[\s-]*(?:more|extra|additional|[mh]))|(?:{_WORDS})(?=[\s-]))[\s-]*)?"
    r"(?P<between>(?:more|extra|additional)[\s-]+)?"
    r"(?P<unit>mins?|minutes?|hrs?|hours?|(?<=\d)[mh]|(?<=\d )[mh])\b\.?"
    r"(?P<half>\s+and a half\b)?"
    r"(?P<after>\s+(?:more|longer|extra)\b)?"
)


def _as_word(match: re.Match[str]) -> str:
    more = match["before"] or match["between"] or match["after"]
    count = match["count"]
    if count is None and not match["before"]:
        return match[0]
    if count is None:
        number = Fraction(1)
    else:
        number = _COUNTS.get(count.replace("-", " ")) or Fraction(count.replace(",", "."))
    if match["half"]:
        number += Fraction(1, 2)
    amount = int(number * (HOUR if match["unit"].startswith("h") else MINUTE))
    if not 0 < amount <= LONGEST:
        return match[0]
    return f"{'more ' if more else ''}@{amount}"


def _clauses(text: str) -> list[str]:
    """The clauses of a message, in lower case and with amounts as words. A question keeps its mark."""
    plain = re.sub(r"[@_*~\"“”]+", " ", text[:_READ].lower().replace("’", "'").replace("‘", "'").replace("‑", "-"))
    spaced = re.sub(r"\bthe next (?=hour\b)", "the next one ", re.sub(r"[ \t]+", " ", plain))
    timed = _AMOUNT.sub(_as_word, spaced)
    parts = re.split(r"(?<=\?)|[.!;:,\n\r()\[\]…—–]+|\s-+\s|\s(?=(?:but|so|because|cuz|cos)\s)", timed)
    return [clause for part in parts if (clause := " ".join(part.split()))]


def _any(*words: str) -> str:
    return f"(?:{'|'.join(words)})"


def _some(*words: str) -> str:
    return rf"(?:{_any(*words)}\s+)*"


_TIME = r"@(?P<amount>\d+)\b"
_OPENERS = _some(
    "sorry", "hey", "hi", "hello", "no", "nope", "nah", "ok", "okay", "yes", "yeah", "yep", "well", "oh", "ugh", "argh",
    "please", "pls", "plz", "look", "listen", "not now", "later", "can't talk", "cant talk", "can't right now",
    "cant right now", "can't", "cant", "again", "and", "but", "so", "because", "cuz", "cos", "seriously", "honestly",
    "for now", "at the moment", "atm",
)  # fmt: skip
_ADVERBS = _some(
    "really", "very", "super", "so", "pretty", "quite", "kinda", "kind of", "sort of", "a bit", "bit",
    "a little", "a tad", "too", "way too", "extremely", "just", "still", "currently", "now", "rn", "right now",
    "actually", "totally", "rather", "fairly", "also", "both", "deeply", "trying to be",
)  # fmt: skip
_WORK = r"(?:busy|focus{1,2}ing|in focus mode|heads down)(?![-']?\w)"
_MUST_FOCUS = r"(?:i )?(?:need to|have to|gotta|got to|must|am trying to|'m trying to|trying to|let me) focus\b"

_BUSY = re.compile(
    rf"^{_OPENERS}(?:(?:(?:i'm|i am|im|am|we're|we are) )?{_ADVERBS}{_WORK}|(?:i'm )?{_MUST_FOCUS})(?P<tail>.*)$"
)
_BUSY_SOON = re.compile(
    rf"^{_OPENERS}(?:i'll|i will|i'm going to|i am going to|i'm gonna|gonna|will) be {_ADVERBS}{_WORK}(?P<tail>.*)$"
)
_SPAN = re.compile(rf"^ (?:now |right now |rn )?(?:for )?(?:the next |another |about |at least |like |more )*{_TIME}")
_NOT_NOW = re.compile(
    r"^ (?:(?:on|this|next|last|every) )*"
    + _any(
        "yesterday", "tomorrow", "tonight", "later", "earlier", "soon", "lately", "recently", "usually", "sometimes",
        "often", "always", "when(?:ever)?", "if", "or", "days?", "(?:mon|tues|wednes|thurs|fri|satur|sun|week)days?",
        "weekends?", "weeks?", "months?", "years?", "mornings?", "afternoons?", "evenings?", "nights?", "times?",
        "season", "schedule", "calendar", "life", "lives", "streets?", "roads?", "places?", "people", "person", "work",
        "bees?", "signal", "line", "man", "woman", "guy", "mom", "dad", "parents?", "is", "was", "are", "isn't",
        "helps", "makes", "gets", "means",
    )
    + r"\b"
)  # fmt: skip

_ASKING_YOU = _some(
    "just", "please", "pls", "now", "kindly", "for once", "would you", "will you", "could you", "can you", "won't you",
    "why won't you", "why can't you", "you should", "you need to", "i want you to", "i need you to", "i'd like you to",
    "i said", "i told you to", "everyone", "everybody",
)  # fmt: skip
_ALONE = re.compile(
    rf"^{_OPENERS}{_ASKING_YOU}"
    r"(?:(?:fucking )?leave me (?:the (?:fuck|hell) )?(?:alone|be)"
    r"|stop (?:messaging|texting|pinging|bugging|bothering|nagging|nudging|spamming|disturbing) me)\b(?P<tail>.*)$"
)

_IN_PART = re.compile(
    r"^ (?:about|(?:that|this|too) (?:much|often)|every|when(?:ever)?|if|during|after|before|in the|on"
    r"|at(?! least)|tomorrow|this weekend|over the weekend|next)\b"
)
"""Not about this, or not then: a preference, not a request for silence now."""

_ASKING_FOR = _some(
    "i(?: just| still)? need", "i'll need", "i want", "i'd like", "give me", "gimme", "let me have", "let me get",
    "(?:can|could|may) i (?:have|get)", "need", "just", "only", "maybe", "perhaps", "probably", "like", "about",
    "around", "at least", "wait", "hold on", "hang on", "snooze", "for", "in", "make it",
)  # fmt: skip
_GOING_ON = _any(
    "please", "pls", "plz", "ok", "okay", "thanks", "thx", "max", "tops", "or so", "then", "and", "to", "until", "till",
    "before", "on", "with", "at most", "i promise", "promise", "from now", "here", "at work", "now", "for this",
    "of this",
)  # fmt: skip
_MORE = re.compile(rf"^{_OPENERS}{_ASKING_FOR}(?:more |(?<=give me )|(?<=gimme )){_TIME}(?: {_GOING_ON}\b.*)?\??$")
_BACK_IN = re.compile(
    rf"^{_OPENERS}{_ASKING_YOU}(?:maybe )?"
    r"(?:(?:ask|ping|text|message|nudge|remind|poke) me (?:again |back )?|check (?:back|in|again)(?: with me| on me)? "
    r"|try (?:me )?again |come back |snooze (?:me |it |this )?|again )?"
    rf"(?:in|for) (?:about |like |more )?{_TIME}(?: (?:please|pls|again|ok|okay|thanks|maybe|or so|from now))*\??$"
)


@dataclass(frozen=True, slots=True)
class Requests:
    """What the person has asked for about being interrupted. An instant that has passed asks for nothing.

    >>> alone = Requests().after(recognise("leave me alone"), Instant(0))
    >>> alone.left_alone, alone.after(recognise("hi"), Instant(HOUR)).left_alone
    (True, False)
    """

    quiet_until: Instant | None = None
    busy_until: Instant | None = None
    left_alone: bool = False
    delayed_until: Instant | None = None

    def after(self, restraint: Restraint | None, said_at: Instant, now: Instant | None = None) -> Requests:
        """Return the requests after a message of the person, which asks for `restraint` or for none.

        Any message ends "leave me alone", unless it says so again. "Busy" goes on when the person says something else:
        a short answer does not end the work. A delay replaces the one before it; one that is over by `now` is none.
        """
        heard = replace(self, left_alone=False)
        if restraint is None:
            return heard
        if restraint.kind is RestraintKind.BACK:
            return self.quiet(None)
        if restraint.duration is None:
            return replace(heard, left_alone=True)
        until = Instant(said_at + restraint.duration)
        match restraint.kind:
            case RestraintKind.LEFT_ALONE:
                return heard.quieter(until)
            case RestraintKind.BUSY:
                return replace(heard, busy_until=until)
            case RestraintKind.ASK_AGAIN:
                return heard if until <= (said_at if now is None else now) else replace(heard, delayed_until=until)

    def quiet(self, until: Instant | None) -> Requests:
        """Return the requests with quiet until then; None lifts quiet, "busy" and "leave me alone"."""
        if until is None:
            return Requests(delayed_until=self.delayed_until)
        return replace(self, quiet_until=until)

    def quieter(self, until: Instant) -> Requests:
        """Return the requests with quiet until then at least: a longer quiet of the person's stays."""
        return replace(self, quiet_until=until if self.quiet_until is None else max(until, self.quiet_until))

    def lifts(self, before: Requests) -> bool:
        """Whether something that was held back before may go out sooner now."""
        return (
            (before.left_alone and not self.left_alone)
            or _sooner(self.quiet_until, before.quiet_until)
            or _sooner(self.busy_until, before.busy_until)
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Any) -> Requests:
        return cls(
            moment_or_none(data["quiet_until"]),
            moment_or_none(data["busy_until"]),
            bool(data["left_alone"]),
            moment_or_none(data["delayed_until"]),
        )


def _sooner(after: Instant | None, before: Instant | None) -> bool:
    return before is not None and (after is None or after < before)
