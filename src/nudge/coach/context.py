"""What a message means after the one before it: an answer to the coach's question, or a correction."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final
from zoneinfo import ZoneInfo

from nudge.coach.answers import Meant, added, as_action
from nudge.coach.facts import CoachFacts, Turn
from nudge.coach.intents.reading import Wish, is_time, named
from nudge.coach.offers import OFFER, accepted
from nudge.errors import InvalidPhraseError, UnclearPhraseError
from nudge.instants import whole_seconds
from nudge.phrases import asks_for_reminder, read_answer, read_wish
from nudge.phrases.wording import Table, content


def _does(wish: Wish, intent: str = "") -> Meant:
    return Meant(intent or wish.name, actions=(as_action(wish),))


def answer_to_wish(facts: CoachFacts, words: str) -> Meant | None:
    """What the coach asked about a wish, answered: which reminder, what time, yes or no. None if this is no answer."""
    talk, asked = facts.talk, facts.talk.asked
    if asked is None:
        return None
    if words.casefold().rstrip("?! ") in _NEVER_MIND:
        return Meant("fine", "Okay, I've left it as it was.")
    if asked.name == OFFER:
        return accepted(facts, asked, words)
    slots = {name: value for name, value in asked.slots.items() if name not in ("ask", "several")}
    if talk.missing == "yes":
        return _does(replace(asked, slots=slots | {"yes": "1"})) if _YES.fullmatch(words) else None
    if talk.missing == "which":
        found = named(words, talk.reminders)
        return _does(replace(asked, id=found[0].place, slots=slots)) if len(found) == 1 else None
    for said in (words, f"{slots.get('when', '')} {words}".strip()):
        if is_time(said, facts.now, facts.targets.zone):
            return _does(replace(asked, slots=slots | {"when": said}))
    return None


_YES = re.compile(r"(?:y|yes|yep|yeah|yup|sure|yes,? please|please do|do it|go ahead|all of them)[.! ]*", re.I)
_TAKE_BACK: Final = Table(
    (None, row)
    for row in (
        "not that -|one", "no -|not that -|one", "never mind -|that", "nevermind", "nvm", "forget it|that", "no",
        "nope", "wrong", "wrong one",
        "that is|was wrong", "no -|that is not what i meant", "not what i meant", "i changed my mind", "don't",
        "do not", "no don't", "actually don't|no|not", "actually never mind", "on second thought|thoughts no|don't",
    )
)  # fmt: skip
_INSTEAD: Final = Table(
    (marked, row)
    for marked, rows in (
        (True, (
            "-|no|nope|wait|oh|ah|sorry -|wait|sorry|actually i meant|mean|said {rest} not {old}",
            "-|no|nope|wait|oh|ah|sorry -|wait|sorry|actually i meant|mean|said not {old} -|but {rest}",
            "-|no|nope|wait|oh|ah -|wait|sorry|actually i meant|mean {rest}",
            "-|no|nope|wait|oh|ah -|wait|sorry|actually make it|that {rest}",
            "no|nope|oh|hm|oops|sorry -|no|oh wait|sorry|actually|oops {rest} is|would|sounds -|be better",
            "no|nope|oh|hm|oops|sorry -|no|oh wait|sorry|actually|oops {rest}",
            "-|no -|it it|that is|was|should -|be {rest}", "-|no i said|wrote {rest}",
            "-|no {rest} is|would|sounds -|be better", "{rest} not {old}",
            "no|nope|wait|oops|sorry -|sorry|actually {rest}", "actually|rather -|make|on|at -|it|that {rest}",
            "{rest} sorry|rather|instead|actually",
            "{rest} i mean|meant", "not that -|one -|but {rest}", "not {old} -|but {rest}",
            "-|no it should be -|at|on|to {rest}",
        )),
        (False, ("{rest}",)),
    )
    for row in rows
)  # fmt: skip
_COMMA = re.compile(r"(?:no|nope|wait|oh|ah|oops)(?: wait| sorry)?,|.*\bi mean|\*|.*\*$", re.IGNORECASE)


def correction(facts: CoachFacts, words: str) -> Meant | None:
    """A message that puts right what the one before it did: "no, I meant tuesday", "not that one, call Mum"."""
    talk, last = facts.talk, facts.talk.last
    if last is None:
        return None
    if any(not found.slip for _, found in _TAKE_BACK.read(words)):
        return _does(Wish("undo"))
    for marked, rest in _corrected(facts, words):
        if talk.came and (not marked or words.casefold().startswith("not ")):
            continue  # it has come since: "in half an hour" asks for it again
        if not marked and rest.casefold() != words.casefold().removesuffix(" please").rstrip(" ,.!"):
            continue  # "ugh, mondays" is no time to move to
        if last.name in _TIMED and talk.subject and is_time(rest, facts.now, facts.targets.zone):
            return _does(Wish("move", {"when": rest}, talk.subject), "correct")
        others = named(rest, [one for one in talk.reminders if one.place != last.id])
        if marked and last.name in _ON_ONE and len(others) == 1:
            return _does(Wish("instead", dict(last.slots) | {"name": last.name}, others[0].place), "correct")
    return None


def renamed(facts: CoachFacts, words: str) -> Meant | None:
    """Another text for the reminder that was just set: "no, call Rob"."""
    talk, last = facts.talk, facts.talk.last
    if last is None or last.name != "set" or not talk.subject:
        return None
    text = next((one.text for one in talk.reminders if one.place == talk.subject), "")
    old = text.split()
    for _, found in _INSTEAD.read(words):
        wrong = found.slots.get("old", "")
        if wrong and not found.slip and re.search(rf"\b{re.escape(wrong)}\b", text, re.IGNORECASE):
            right = found.slots["rest"].replace("\\", "")
            better = re.sub(rf"\b{re.escape(wrong)}\b", right, text, flags=re.IGNORECASE)
            return _does(Wish("rename", {"text": better}, talk.subject), "correct")
    for marked, rest in _corrected(facts, words) if _COMMA.match(words) else ():
        if marked and content(rest) and not asks_for_reminder(rest):
            if len(rest.split()) == 1 and len(old) > 1:  # "I meant rob": the last word was wrong
                rest = " ".join((*old[:-1], rest))
            return _does(Wish("rename", {"text": rest}, talk.subject), "correct")
    return None


def _corrected(facts: CoachFacts, words: str) -> Iterator[tuple[bool, str]]:
    """What a correction puts in place of what was said, and whether it says that it is one."""
    last = facts.talk.last
    if words.startswith("*") or words.endswith("*"):  # how people mark a word put right
        yield True, words.strip("* ")
    for marked, found in _INSTEAD.read(words):
        wrong = content(found.slots.get("old", "")) - content("" if last is None else last.slots.get("said", ""))
        if not found.slip and not wrong:
            yield marked, found.slots["rest"]


_TIMED = frozenset(("set", "move", "later", "earlier", "again", "rename"))
_ON_ONE = frozenset(("cancel", "move", "later", "earlier", "done", "skip"))


def answer_to_question(facts: CoachFacts, words: str) -> Meant | None:
    """The reminder that was asked about, finished by this message; None if none was, or this is no answer."""
    asked = open_question(facts.turns, facts.targets.zone)
    if not asked:
        return None
    if words.casefold().rstrip("?! ") in _NEVER_MIND:
        return Meant("fine", "Okay, no reminder.")
    sentences = [*(turn.text for turn in asked), words]
    try:
        wish = read_answer(sentences, facts.now, facts.targets.zone, asked_at=whole_seconds(asked[0].at))
    except UnclearPhraseError as unclear:
        return Meant("remind", unclear.question)
    return None if wish is None else added(facts, *wish)


_NEVER_MIND = frozenset(
    ("never mind", "nevermind", "nvm", "forget it", "forget about it", "no", "nothing", "cancel", "stop")
)
_MOST_ANSWERS = 4
"""Messages back in which a question about a reminder is looked for; nobody is asked more often about one."""


def open_question(turns: tuple[Turn, ...], zone: ZoneInfo) -> tuple[Turn, ...]:
    """The sentence about which the coach asked last, and the answers to it so far; nothing if no question is open.

    The conversation itself is the memory: a sentence is read again, and if the coach then asked just what it raises,
    the next message is the answer.
    """
    said = [number for number, turn in enumerate(turns) if turn.role == "user"][-_MOST_ANSWERS:]
    if not said or not any(turn.text.endswith("?") for turn in turns[said[-1] + 1 :]):
        return ()
    for first in range(len(said)):
        chain = tuple(turns[number] for number in said[first:])
        if not any(turn.forwarded for turn in chain) and all(
            _raised(chain[: length + 1], zone) in _replies(turns, number) for length, number in enumerate(said[first:])
        ):
            return chain
    return ()


def _replies(turns: tuple[Turn, ...], number: int) -> set[str]:
    """What the coach said after this turn and before the person's next."""
    found: set[str] = set()
    for turn in turns[number + 1 :]:
        if turn.role == "user":
            break
        found.add(turn.text)
    return found


def _raised(chain: tuple[Turn, ...], zone: ZoneInfo) -> str | None:
    """The question that these sentences raise."""
    at = whole_seconds(chain[0].at)
    try:
        if len(chain) == 1:
            read_wish(chain[0].text, at, zone)
        else:
            read_answer([turn.text for turn in chain], at, zone, asked_at=at)
    except UnclearPhraseError as unclear:
        return unclear.question
    except InvalidPhraseError:
        return None
    return None
