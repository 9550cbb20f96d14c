"""What the person says about being interrupted, recognised by rule, and what is in force after it.

The model may understand more, but these must work even when it fails: "busy" and "focusing" (two hours), "leave me
alone" (until the person writes again), "30 more min" (check back in 30).

A phrase counts if a clause begins with it, apart from politeness and adverbs, and if the speaker means themselves and
now. So "business is slow", "I'm not busy", "Mary is busy", "was it a busy day?", "busy tomorrow" and "stop messaging me
about sleep" do not count. When in doubt the rule stays silent: the model reads the message too.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

from nudge.instants import HOUR, MINUTE, Instant
from nudge.queue.records import moment_or_none

BUSY_FOR = 2 * HOUR
LONGEST = 24 * HOUR
"""A longer delay ("5000 more minutes") is not recognised."""

_READ = 1000  # characters; people who want to be left alone say so early


class RestraintKind(StrEnum):
    BUSY = "busy"
    LEFT_ALONE = "left-alone"
    ASK_AGAIN = "ask-again"


@dataclass(frozen=True, slots=True)
class Restraint:
    """What the person asked for, and for how many microseconds; None means until they write again."""

    kind: RestraintKind
    duration: int | None = None


def recognise(text: str) -> Restraint | None:
    """The restraint a message asks for, or None.

    "Leave me alone" beats a delay, and a delay beats "busy". A stated time beats the two hours ("busy for 30 min") and
    gives "leave me alone" an end.

    >>> recognise("Sorry, super busy right now")
    Restraint(kind=<RestraintKind.BUSY: 'busy'>, duration=7200000000)
    >>> recognise("give me 20 more minutes").duration // MINUTE
    20
    >>> recognise("please just leave me alone").duration is None
    True
    >>> recognise("business is slow") is None, recognise("I'm not busy") is None
    (True, True)
    """
    clauses = _clauses(text)
    for rule in (_left_alone, _ask_again, _busy):
        for clause in clauses:
            found = rule(clause)
            if found is not None:
                return found
    return None


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
    r"|at(?! least))\b"
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
        """Return the requests with quiet until then; None lifts quiet, "busy" and "leave me alone" alike."""
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
