"""What a message means by rules alone: in which order they look, and how corrections and answers are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final
from zoneinfo import ZoneInfo

from nudge.attention.restraint import RestraintKind, recognise
from nudge.coach.answers import ANSWERS, Answer, as_action, pick, tick
from nudge.coach.documents import one_line
from nudge.coach.facts import CoachFacts, Turn
from nudge.coach.goals import QUARTER, TODAY, WEEK, Goal
from nudge.coach.intents.intent import Rank
from nudge.coach.intents.reading import DONE, Known, Wish, is_time, named, plain_talk, read, small_talk
from nudge.coach.intents.talk import FINE, NOT_MINE
from nudge.coach.targets import SECTION as TARGETS_SECTION
from nudge.durations import format_duration
from nudge.errors import InvalidPhraseError, UnclearPhraseError
from nudge.instants import Instant, local_date, whole_seconds
from nudge.phrases import Understood, asks_for_reminder, read_answer, read_wish
from nudge.phrases.asking import Force, asking_at_start
from nudge.phrases.places import zone_of_place
from nudge.phrases.wording import Table, content
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


@dataclass(frozen=True, slots=True)
class Meant:
    """What a message means: the name of an intent ("" if none fits), what is said, and the actions taken. What an
    action did is said by whoever carries it out."""

    intent: str
    said: str = ""
    actions: tuple[dict[str, Any], ...] = ()


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
    in_context = (_answer_to_wish, _answer_to_question, _correction)
    for rule in (*in_context, _two_reminders, _one, _several, _renamed, _reminder):
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
    try:
        wish = read_wish(words, facts.now, facts.targets.zone)
    except InvalidPhraseError:
        return None
    return None if wish is None else _added(facts, *wish)


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
_MOST_WISHES: Final = 4
_PLEASANT: Final = frozenset(("hello", "thanks", "fine", "bye", "how-are-you"))


def _several(facts: CoachFacts, words: str) -> Meant | None:
    """Several wishes in one message. Each must be understood; otherwise nothing happens."""
    parts = _parts(facts, words, _MOST_WISHES)
    if parts is None or len(parts) < 2:
        return None
    parts = [one for one in parts if one.intent not in _PLEASANT] or parts[:1]
    actions = tuple(action for one in parts for action in one.actions)
    return Meant(parts[0].intent, "\n".join(one.said for one in parts if one.said), actions)


def _parts(facts: CoachFacts, words: str, most: int) -> list[Meant] | None:
    whole = _part(facts, words)
    if whole is not None or most == 1:
        return None if whole is None else [whole]
    for between in _BETWEEN.finditer(words):
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
    zone = facts.targets.zone
    for between in re.finditer(r",? and (?:also )?(?:remind me )?(?:to )?", words, re.IGNORECASE):
        first, second = words[: between.start()], f"remind me to {words[between.end() :]}"
        one, other = _complete(facts, first), _complete(facts, second)
        if one is None or other is None:
            continue
        times = [read_wish(part, facts.now, zone) for part in (first, second)]
        days = [local_date(when.first, zone) for _, when in filter(None, times)]
        if days[0] != days[1] or days[0] == facts.today:  # "friday at 5 call bob and at 6 buy bread" is not said fully
            return Meant("remind", "\n".join(filter(None, (one.said, other.said))), (*one.actions, *other.actions))
    return None


def _does(wish: Wish, intent: str = "") -> Meant:
    return Meant(intent or wish.name, actions=(as_action(wish),))


def _answer_to_wish(facts: CoachFacts, words: str) -> Meant | None:
    """What the coach asked about a wish, answered: which reminder, what time, yes or no. None if this is no answer."""
    talk, asked = facts.talk, facts.talk.asked
    if asked is None:
        return None
    if words.casefold().rstrip("?! ") in _NEVER_MIND:
        return Meant("fine", "Okay, I've left it as it was.")
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


def _correction(facts: CoachFacts, words: str) -> Meant | None:
    """A message that puts right what the one before it did: "no, I meant tuesday", "not that one, call Mum"."""
    talk, last = facts.talk, facts.talk.last
    if last is None:
        return None
    if any(not found.slip for _, found in _TAKE_BACK.read(words)):
        return _does(Wish("undo"))
    for marked, rest in _corrected(facts, words):
        if last.name in _TIMED and talk.subject and is_time(rest, facts.now, facts.targets.zone):
            return _does(Wish("move", {"when": rest}, talk.subject), "correct")
        others = named(rest, [one for one in talk.reminders if one.place != last.id])
        if marked and last.name in _ON_ONE and len(others) == 1:
            return _does(Wish("instead", dict(last.slots) | {"name": last.name}, others[0].place), "correct")
    return None


def _renamed(facts: CoachFacts, words: str) -> Meant | None:
    """Another text for the reminder that was just set: "no, call Rob"."""
    talk, last = facts.talk, facts.talk.last
    if last is None or last.name != "set" or not talk.subject or not _COMMA.match(words):
        return None
    old = next((one.text for one in talk.reminders if one.place == talk.subject), "").split()
    for marked, rest in _corrected(facts, words):
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
    return None if wish is None else _added(facts, *wish)


def _added(facts: CoachFacts, text: str, when: Understood) -> Meant:
    again = when.said_again(facts.targets.zone)
    return Meant("remind", when.taken, ({"action": "add_reminder", "text": text, "when": again},))


def _answer_to_question(facts: CoachFacts, words: str) -> Meant | None:
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
    return None if wish is None else _added(facts, *wish)


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
