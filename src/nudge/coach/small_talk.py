"""What a message means by rules alone: in which order they look, and how corrections and answers are read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from nudge.attention.restraint import RestraintKind, recognise
from nudge.coach.answers import ANSWERS, Answer, Meant, added, as_action, pick, tick
from nudge.coach.context import answer_to_question, answer_to_wish, correction, renamed
from nudge.coach.documents import one_line
from nudge.coach.facts import CoachFacts
from nudge.coach.goals import QUARTER, TODAY, WEEK, Goal
from nudge.coach.intents.intent import Rank
from nudge.coach.intents.reading import DONE, Known, plain_talk, read, small_talk
from nudge.coach.intents.talk import FINE, NOT_MINE
from nudge.coach.offers import offered
from nudge.coach.targets import SECTION as TARGETS_SECTION
from nudge.durations import format_duration
from nudge.errors import InvalidPhraseError, UnclearPhraseError
from nudge.instants import Instant, local_date
from nudge.phrases import Understood, asks_for_reminder, read_wish, times_in
from nudge.phrases.asking import Force, asking_at_start
from nudge.phrases.places import zone_of_place
from nudge.reminders.text import time_in_words

_SIGNS: Final = frozenset(("👍", "👌", "🙏", "❤️", "😊", "🙂", "✅"))
_LONGEST = 500
"""Characters of a message that a rule reads; nobody types a command that long."""
_ATTACHED = re.compile(r"\[[a-z ]+\] ")
"""What comes before the words under a photo or a file, for a mind that makes something of it."""

LOST = (
    "I only follow simple things right now. Say “help” and I'll show you which.",
    "That one is beyond me without a language model. “help” shows what I can do.",
    "I didn't get that. Try “what's next”, “remind me to … at …” or “help”.",
)
LOST_FOR_NOW = (
    "I can't reach my language model at the moment, so I only follow simple things. “help” shows which.",
    "My thinking part is offline for now; reminders and nudges still work. “help” shows what I understand.",
)
BROKE = (
    "I've used up today's budget, so until {when} I only follow simple things. “help” shows which.",
    "My budget is used up until {when}. Reminders and nudges still work, and “help” shows what I understand.",
)
BUSY_MONEY = (
    "The rest of today's budget is tied up in something else I'm doing, so I only follow simple things right now. "
    "Try again in a few minutes."
)


def chat(facts: CoachFacts) -> Answer:
    """The answer to the person's words."""
    meant = understood(facts)
    return meant.said, list(meant.actions)


def understood(facts: CoachFacts) -> Meant:
    """What the person's words mean; the first rule that understands them answers. What somebody else wrote and the
    person only passed on is not obeyed."""
    words = _words(facts)
    if facts.forwarded:
        return Meant("passed-on", "Thanks for passing that on. What would you like to do with it?")
    if len(words) > _LONGEST:
        return Meant("", _lost(facts, "long"))
    if words == "✅" and facts.talk.came:
        words = "done"
    if words in _SIGNS:
        return Meant("fine", pick(FINE, facts.today, words))
    in_context = (answer_to_wish, answer_to_question, correction)
    for rule in (*in_context, _two_reminders, _sentences, _one, _several, renamed, _reminder, offered):
        meant = rule(facts, words)
        if meant is not None:
            return (_several(facts, words) or meant) if _is_doubtful(meant) else meant
    return Meant("", _lost(facts, words))


def _is_doubtful(meant: Meant) -> bool:
    """Whether it is about something that does not exist, or no time was found: several wishes may stand there."""
    missing = any("missing" in one.get("slots", {}) for one in meant.actions)
    return missing or (meant.intent == "remind" and not meant.actions and not meant.said.endswith("?"))


def is_aside(facts: CoachFacts) -> bool:
    """Whether a message in the middle of the weekly review is clearly about something else. "I finished chapter two"
    and "I feel low" are answers there."""
    meant = understood(facts)
    return meant.intent in _ASIDES or (meant.intent == "remind" and asks_for_reminder(_words(facts)))


_ASIDES: Final = frozenset(
    (
        "cancel", "cancel-all", "move", "later", "earlier", "undo", "list", "today-left", "when", "on-day", "today",
        "goals", "why", "status", "budget", "ping-budget", "who", "help", "time", "day", "bedtime", "wake", "zone",
        "quiet-hours", "sent", "next-message", "know", "name?", "hello", "how-are-you", "not-mine",
    )
)  # fmt: skip


def _one(facts: CoachFacts, words: str) -> Meant | None:
    """A message with one wish in it."""
    if facts.talk.came and (again := _wish(facts, words)) is not None and again.intent == "again":
        return again
    if (plain := plain_talk(words)) is not None and plain.says is not NOT_MINE:
        return Meant(plain.name, pick(plain.says, facts.today, words))
    for rule in (_whole_reminder, _wish, _elsewhere, _asked_reminder, _noted, _restrained, _small_talk):
        meant = rule(facts, words)
        if meant is not None:
            return meant
    return None


_RATHER = re.compile(r"\b(?:again|instead|rather|later)\b", re.IGNORECASE)


def _whole_reminder(facts: CoachFacts, words: str) -> Meant | None:
    """A sentence that begins with "remind me" or the like and says what and when. Anything less may be another wish:
    "remind me again in an hour", "remind me of my goals"."""
    asking = asking_at_start(words)
    if asking is None or asking.force is not Force.CLEAR or (facts.talk.came and _RATHER.search(words)):
        return None
    return _complete(facts, words)


def _complete(facts: CoachFacts, words: str) -> Meant | None:
    wish = _whole(facts, words)
    return None if wish is None else added(facts, *wish)


def _wish(facts: CoachFacts, words: str, rank: Rank = Rank.WISH) -> Meant | None:
    """An intent of the table."""
    goals = facts.goals
    lists = ((TODAY, goals.today), (WEEK, goals.week), (QUARTER, goals.quarter))
    tasks = (Known(section, one.text, rhythm=DONE if one.done else "") for section, some in lists for one in some)
    wish = read(words, replace(facts.talk, tasks=tuple(tasks)), facts.now, facts.targets.zone, rank)
    if wish is None:
        return None
    said = [wish.slip]
    actions: list[dict[str, Any]] = []
    for one in (wish, *wish.also):
        answer = tick if one.line[0] and one.name == "done" else ANSWERS.get(one.name)
        words_back, done = ("", [as_action(one)]) if answer is None else answer(_after(facts, actions), one)
        said.append(words_back)
        actions += done
    return Meant(wish.name, "\n".join(part for part in said if part), tuple(actions))


def _elsewhere(facts: CoachFacts, words: str) -> Meant | None:
    """ "I'm in Tokyo now", "I moved to Berlin", "set my time zone to Lisbon": the person's zone."""
    zone = zone_of_place(words) if _MOVED.match(words) else None
    if zone is None:
        return None
    if zone == facts.targets.timezone:
        return Meant("target", f"I go by {zone} already.")
    line = f"timezone: {zone}"
    return Meant("target", actions=({"action": "update_goals", "section": TARGETS_SECTION, "lines": [line]},))


_MOVED: Final = re.compile(
    r"(?:(?:hi|hey|ok|so|and|well|actually)[ ,]+)*(?:(?:i'm|im|i am|we're|we are|i've|i have|i|we)\s+(?:(?:now|"
    r"just|back|currently|already|finally)\s+)*(?:in|live|living|based|moved|landed|arrived|flew|staying|home in)\b|"
    r"(?:please )?(?:set|change|switch|move|use)\s+(?:my |the )?(?:time ?zone|zone)\b)",
    re.IGNORECASE,
)


def _asked_reminder(facts: CoachFacts, words: str) -> Meant | None:
    """ "Don't forget that …" is a note, and no reminder."""
    asks = asks_for_reminder(words) and not _FORGET_THAT.match(words)
    return _reminder(facts, words) if asks else None


_FORGET_THAT = re.compile(r"(?:please )?(?:don't|dont|do not) forget that ", re.IGNORECASE)


def _noted(facts: CoachFacts, words: str) -> Meant | None:
    return _wish(facts, words, Rank.NOTE)


def _restrained(facts: CoachFacts, words: str) -> Meant | None:
    """The state follows from the words themselves, whoever answers; here it is only acknowledged."""
    wish = recognise(words, facts.now, facts.targets.person)
    return None if wish is None else Meant(_RESTRAINTS[wish.kind], _acknowledged(facts, words))


def _small_talk(facts: CoachFacts, words: str) -> Meant | None:
    for intent in small_talk(words):
        if intent.says is NOT_MINE and (facts.broke or facts.degraded):
            break  # a model would have answered: say why it does not
        return Meant(intent.name, pick(intent.says, facts.today, words))
    return None


_RESTRAINTS: Final = {
    RestraintKind.BACK: "back",
    RestraintKind.BUSY: "busy",
    RestraintKind.ASK_AGAIN: "busy",
    RestraintKind.LEFT_ALONE: "leave-alone",
}
_BETWEEN: Final = re.compile(r"\s*(?:[.;!?\n]+|,?\s+(?:and then|and also|and|then|also|plus)\b|,|&)\s*", re.IGNORECASE)
"""What may stand between two wishes in one message."""
_STOP: Final = re.compile(r"\s*(?:[.;!?]+\s|\n)\s*")
"""What ends a sentence: there a message is parted first."""
_MOST_WISHES: Final = 4
_PLEASANT: Final = frozenset(("hello", "thanks", "fine", "bye", "how-are-you"))


def _sentences(facts: CoachFacts, words: str) -> Meant | None:
    """A wish in each sentence of a message."""
    return _together(_split(facts, words, _MOST_WISHES, _STOP))


def _several(facts: CoachFacts, words: str) -> Meant | None:
    """Several wishes in one message. Each must be understood; otherwise nothing happens."""
    return _together(_parts(facts, words, _MOST_WISHES))


def _together(parts: list[Meant] | None) -> Meant | None:
    if parts is None or len(parts) < 2:
        return None
    parts = [one for one in parts if one.intent not in _PLEASANT] or parts[:1]
    actions = tuple(action for one in parts for action in one.actions)
    return Meant(parts[0].intent, "\n".join(one.said for one in parts if one.said), actions)


def _parts(facts: CoachFacts, words: str, most: int) -> list[Meant] | None:
    if most > 1 and (parts := _split(facts, words, most, _STOP)) is not None:
        return parts
    whole = _part(facts, words)
    if whole is not None or most == 1:
        return None if whole is None else [whole]
    return _split(facts, words, most, _BETWEEN)


def _split(facts: CoachFacts, words: str, most: int, at: re.Pattern[str]) -> list[Meant] | None:
    """The wishes before and behind the first place where both sides are understood."""
    for between in at.finditer(words):
        left, right = words[: between.start()].strip(), words[between.end() :].strip()
        if not left or not right or (first := _part(facts, left)) is None:
            continue
        others = _parts(_after(facts, first.actions), right, most - 1)
        if others is not None:
            return [first, *others]
    return None


def _part(facts: CoachFacts, words: str) -> Meant | None:
    """One wish among several: only what is understood without a doubt."""
    for rule in (_whole_reminder, _wish, _noted, _small_talk, _complete):
        meant = rule(facts, words)
        if meant is not None:
            doubtful = any({"missing", "ask"} & one.get("slots", {}).keys() for one in meant.actions)
            return None if doubtful or meant.intent == "not-mine" else meant
    return None


def _after(facts: CoachFacts, actions: Iterable[dict[str, Any]]) -> CoachFacts:
    """The facts as these actions leave the lists: what comes next in the message builds on them."""
    goals = facts.goals
    for action in actions:
        if action["action"] == "update_goals":
            lines = tuple(Goal.read(line) for line in action["lines"])
            match action["section"]:
                case goal_list if goal_list == TODAY:
                    goals = replace(goals, today=lines)
                case goal_list if goal_list == WEEK:
                    goals = replace(goals, week=lines)
                case goal_list if goal_list == QUARTER:
                    goals = replace(goals, quarter=lines)
    return facts if goals is facts.goals else replace(facts, goals=goals)


def _two_reminders(facts: CoachFacts, words: str) -> Meant | None:
    """Two reminders in one sentence, each with its own day and time."""
    asking = asking_at_start(words)
    if asking is None or asking.force is not Force.CLEAR:
        return None
    if (whole := _whole(facts, words)) is not None and whole[1].once is None:
        return None  # yoga on tuesdays and thursdays is one
    zone = facts.targets.zone
    for between in _AND_THEN.finditer(words):
        first, rest = _whole(facts, words[: between.start()]), words[between.end() :]
        if first is None or not times_in(rest, facts.now, zone):
            continue
        if first[1].once is None:
            return Meant("remind", "These are two. Could you send me one at a time?")
        day = local_date(first[1].first, zone)  # "friday at 5 call bob and at 6 buy bread": both on friday
        seconds = (f"remind me {day} {rest}", f"remind me to {rest} {day}", f"remind me {rest}", f"remind me to {rest}")
        second = next((found for said in seconds if (found := _whole(facts, said)) is not None), None)
        if second is not None:
            one, other = added(facts, *first), added(facts, *second)
            return Meant("remind", "\n".join(filter(None, (one.said, other.said))), (*one.actions, *other.actions))
    return None


_AND_THEN: Final = re.compile(
    r"(?:,|;|\.)?\s+(?:and|then|and then|also)\s+(?:also\s+|then\s+)*(?:remind me\s+)?(?:to\s+)?|\s*[;]\s*",
    re.IGNORECASE,
)


def _whole(facts: CoachFacts, words: str) -> tuple[str, Understood] | None:
    """A reminder that leaves nothing to ask."""
    try:
        return read_wish(words, facts.now, facts.targets.zone)
    except InvalidPhraseError:
        return None


def _lost(facts: CoachFacts, about: str) -> str:
    """The answer to what no rule understands, with the reason why no model is asked."""
    if not facts.broke:
        return pick(LOST_FOR_NOW if facts.degraded else LOST, facts.today, about)
    if facts.wakes_at is None:
        return BUSY_MONEY
    when = time_in_words(facts.wakes_at, facts.now, facts.targets.zone)
    return pick(BROKE, facts.today, about).format(when=when)


def feedback(facts: CoachFacts) -> list[dict[str, Any]]:
    """What "don't message me about …" asks to be remembered; nothing where the words say something else."""
    meant = _noted(facts, _words(facts))
    return list(meant.actions) if meant is not None and meant.intent == "not-about" else []


def _words(facts: CoachFacts) -> str:
    words = one_line(facts.text.replace("’", "'").replace("‘", "'")).rstrip(" .!")
    return words[attached.end() :] if (attached := _ATTACHED.match(words)) else words


def _acknowledged(facts: CoachFacts, words: str) -> str:
    targets = facts.targets
    wish = recognise(words, facts.now, targets.person)
    if wish is None:
        return ""
    if wish.kind is RestraintKind.BACK:
        return "Good, I'm listening. I write as usual again."
    if wish.kind is RestraintKind.LEFT_ALONE and wish.duration is None:
        return (
            "Okay. I'll be quiet until you write again: no messages, no briefings, and your reminders wait. "
            "Any word from you ends it. After a day I'll ask once whether to go on."
        )
    until = time_in_words(Instant(facts.now + (wish.duration or 0)), facts.now, targets.zone)
    return {
        RestraintKind.BUSY: f"Okay, I'll leave you to it until {until}. What you set for a time still comes.",
        RestraintKind.LEFT_ALONE: f"Quiet until {until}. Your reminders wait till then. “I'm back” ends it.",
        RestraintKind.ASK_AGAIN: f"Sure. I'll check back in {format_duration(wish.duration or 0)}.",
    }[wish.kind]


def _reminder(facts: CoachFacts, words: str) -> Meant | None:
    """The reminder that the words ask for; a question, if one word is missing. None if they ask for none."""
    try:
        wish = read_wish(words, facts.now, facts.targets.zone)
    except UnclearPhraseError as unclear:
        return _restrained(facts, words) or Meant("remind", unclear.question)
    except InvalidPhraseError as error:
        return _restrained(facts, words) or Meant("remind", str(error))
    return None if wish is None else added(facts, *wish)
