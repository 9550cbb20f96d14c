"""What a message may wish for without saying so: "I have a meeting at 3pm", "buy milk", "10min tea", "I want to learn
Spanish". The coach asks one short question, and does nothing before the answer."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from nudge.coach.answers import ANSWERS, Meant, added, as_action
from nudge.coach.facts import CoachFacts
from nudge.coach.intents.reading import Wish, is_line
from nudge.errors import InvalidPhraseError, UnclearPhraseError
from nudge.phrases import is_task, message_and_time, understand
from nudge.phrases.wording import Table

OFFER: Final = "offer"
_PLANS: Final = Table(
    (kind, row)
    for kind, rows in (
        ("task", (
            "i -|really|also|still|just need|have|ought|got to {line}", "-|i gotta|must {line}",
            "i -|really|also|still should|must {line}", "i've got to {line}", "i have got to {line}",
            "we need|have to {line}", "-|still need|have|got to {line}", "i -|still haven't {line}",
        )),
        ("date", (
            "i have a|an|my -|new {line}", "i've got a|an|my {line}", "i have got a|an|my {line}", "got a|an {line}",
            "there is a|an {line}", "my {line} is -|at|on {when}",
        )),
        ("goal", (
            "i -|really|also|just want|plan|hope|intend to {line}", "i would -|really like|love to {line}",
            "i'd -|really like|love to {line}", "i wanna {line}", "i am trying to {line}",
        )),
    )
    for row in rows
)  # fmt: skip
_LIST: Final = Table(
    (None, row)
    for row in (
        "-|the|my|today's|on|to -|my|the|today's list|todo|to-do|todos|today",
        "-|just add|put it|that -|on|to -|my|the -|list",
    )
)  # fmt: skip
_YES: Final = Table(
    (None, row)
    for row in (
        "yes|yep|yeah|yup|y|sure|ok|okay|please|definitely|absolutely -|please|do|that|it|sure -|it|that|so",
        "please do", "do it|that", "go ahead", "sounds good", "that works", "why not", "good idea", "remind me",
    )
)  # fmt: skip
_LENGTH: Final = (
    r"(?:\d{1,3}|an?|one|two|three|five|ten|fifteen|twenty|thirty|half an)\s*(?:m|mins?|minutes?|h|hrs?|hours?)"
)
_LENGTH_FIRST: Final = re.compile(rf"(?P<length>{_LENGTH})[\s,]+(?P<what>\S.*)", re.IGNORECASE)
_LENGTH_LAST: Final = re.compile(rf"(?P<what>\S.*?)[\s,]+(?P<length>{_LENGTH})", re.IGNORECASE)
_MOST_WORDS: Final = 14
_MOST_BESIDE_LENGTH: Final = 4


def offered(facts: CoachFacts, words: str) -> Meant | None:
    """What may be wished for, as a question; None if the message is none of that."""
    if words.endswith("?") or not 0 < len(words.split()) <= _MOST_WORDS:
        return None
    for match in (_LENGTH_FIRST.fullmatch(words), _LENGTH_LAST.fullmatch(words)):
        if match and len(match["what"].split()) <= _MOST_BESIDE_LENGTH and is_task(match["what"], anything=True):
            return _timed(facts, f"{match['what']} in {match['length']}")
    for kind, found in _PLANS.read(words):
        line = found.slots["line"]
        if found.slip or not is_line(line, facts.now, facts.targets.zone) or not is_task(line, anything=True):
            continue
        if "when" in found.slots:
            line = f"{line} {found.slots['when']}"
        if (reminder := _timed(facts, line)) is not None:
            return reminder
        if kind != "date":
            return _ask({"list": "quarter", "line": line} if kind == "goal" else {"text": line})
    if "->" in words or "→" in words:
        return _timed(facts, words)
    timed = message_and_time(words, facts.now, facts.targets.zone)
    if not is_task(words if timed is None else timed[0]):
        return None
    return _timed(facts, words) or _ask({"text": words})


def _timed(facts: CoachFacts, words: str) -> Meant | None:
    """A reminder that was not asked for: its text and its time, if it names one or half of one."""
    found = message_and_time(words, facts.now, facts.targets.zone)
    return None if found is None else _ask({"text": found[0], "when": found[1]})


def _ask(slots: dict[str, str]) -> Meant:
    return Meant(OFFER, actions=(as_action(Wish(OFFER, slots)),))


def accepted(facts: CoachFacts, asked: Wish, words: str) -> Meant | None:
    """What the answer to an offer means; None if it is about something else."""
    slots = asked.slots
    if any(not found.slip for _, found in _YES.read(words)):
        if "line" in slots:
            return _on_list(facts, slots["list"], slots["line"])
        if "when" in slots:
            try:
                return _set(facts, slots["text"], slots["when"])
            except InvalidPhraseError as error:  # it has passed in the meantime
                return Meant("remind", str(error))
    if "text" not in slots:
        return None
    if any(not found.slip for _, found in _LIST.read(words)):
        return _on_list(facts, "today", slots["text"])
    for said in (words, f"{slots.get('when', '')} {words}".strip()):
        try:
            return _set(facts, slots["text"], said)
        except UnclearPhraseError:
            return Meant(OFFER, actions=(as_action(replace(asked, slots={**slots, "when": said})),))
        except InvalidPhraseError:
            continue
    return None


def _set(facts: CoachFacts, text: str, when: str) -> Meant:
    return added(facts, text, understand(when, facts.now, facts.targets.zone))


def _on_list(facts: CoachFacts, name: str, line: str) -> Meant:
    said, actions = ANSWERS["add"](facts, Wish("add", {"list": name, "line": line}))
    return Meant("add", said, tuple(actions))


def question(wish: Wish, when: str = "") -> str:
    """What the coach asks about an offer. `when` is its time in words."""
    if "line" in wish.slots:
        return f"Shall I make “{wish.slots['line']}” a goal for this quarter?"
    if when:
        return f"Shall I remind you: {wish.slots['text']}, {when}?"
    return f"When should I remind you: {wish.slots['text']}? Or say “list”, and it goes on today's list."
