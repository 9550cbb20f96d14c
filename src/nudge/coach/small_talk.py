"""Simple talk by rules: the commands and small talk that the coach understands without a language model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from hashlib import sha256
from typing import Any, Final
from zoneinfo import ZoneInfo

from nudge.attention.restraint import RestraintKind, recognise
from nudge.coach.documents import one_line
from nudge.coach.facts import CoachFacts, Turn
from nudge.coach.goals import MOST_GOALS, NORTH_STAR, QUARTER, TODAY, WEEK, Goal
from nudge.coach.intents import DONE, Known, Wish, content, is_time, named, read
from nudge.coach.memory import COMMITMENTS, GOES_BY, PREFERENCES, same, shorten
from nudge.coach.targets import SECTION as TARGETS_SECTION
from nudge.durations import format_duration
from nudge.errors import InvalidPhraseError, UnclearPhraseError
from nudge.instants import HOUR, Instant, from_local, local_date, to_datetime, whole_seconds
from nudge.phrases import Understood, asks_for_reminder, read_answer, read_wish, understand
from nudge.phrases.asking import Force, asking_at_start
from nudge.phrases.places import zone_of_place
from nudge.phrases.wording import Table
from nudge.reminders.text import time_in_words
from nudge.text import short

Answer = tuple[str, list[dict[str, Any]]]
"""What is said, and the actions taken. What an action did is said by whoever carries it out."""


_SIGNS: Final = frozenset(("👍", "👌", "🙏", "❤️", "😊", "🙂", "✅"))
_LONGEST = 500
"""Characters of a message that a rule reads; nobody types a command that long."""
_ATTACHED = re.compile(r"\[[a-z ]+\] ")
"""What comes before the words under a photo or a file, for a mind that makes something of it."""

KIND = (
    "I'm sorry. That sounds heavy. Do you want to tell me what happened?",
    "That sounds hard, and I'm glad you told me. What's weighing on you most?",
    "I'm sorry it's like that right now. Is there someone you could be with today?",
    "That's a lot. Nothing on your lists matters right now. What would help a little?",
)
WELL = ("I'm fine, thanks. How are you?", "All good here. And you?", "Running well. How's your day?")
BYE = ("See you.", "Bye. I'm here when you need me.", "Talk soon. Take care of you.")
NOT_MINE = (
    "I can't do that. I remind, keep lists and help you plan: “help” shows how.",
    "That's not my thing, and I don't have a language model for it. “help” shows what I can do.",
)
WISH = "wish"
"""The action of a wish that the store is needed for."""
THANKS = ("Any time.", "Glad to.", "You're welcome.")
FINE = ("Good.", "Alright.", "👍", "Fine by me.")
HELLO = ("Hey. What's the plan?", "Hi! What are you on?", "Hello. What's next for you?")
NICE = ("Nice.", "Well done.", "Good one.", "Done and done.")
NIGHT = ("Sleep well.", "Good night. See you in the morning.", "Night. Well done today.")
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
HELP = """Just write as you talk. For example:
• remind me to call Mum friday 5pm · every weekday at 9 stretch · what are my reminders?
• move call Mum to saturday · an hour later · cancel the stretch one · snooze 30 min · done · undo
• what's next? · add … to today · I finished … · my goal is … · what are my goals? · remember that … · forget that …
• busy till 5 · leave me alone · I'm back · don't message me about …
• why did you write? · what did you send today? · when will you write next? · status · budget
• review · set my bedtime to 00:30 (also wake time, quiet hours, time zone) · call me …"""


def pick(options: tuple[str, ...], day: date, about: str = "") -> str:
    """One of the options, the same one for the same day and subject."""
    seed = sha256(f"{day.isoformat()} {about}".encode("utf-8", "replace")).digest()
    return options[int.from_bytes(seed[:4], "big") % len(options)]


def chat(facts: CoachFacts) -> Answer:
    """The answer to the person's words; the first rule that understands them answers. What somebody else wrote and the
    person only passed on is not obeyed."""
    words = _words(facts)
    if facts.forwarded:
        return "Thanks for passing that on. What would you like to do with it?", []
    if len(words) > _LONGEST:
        return _lost(facts, "long"), []
    if words in _SIGNS:
        return pick(FINE, facts.today, words), []
    for rule in (_answer_to_wish, _answer_to_question, _correction, _whole_reminder, _intent, _elsewhere):
        answered = rule(facts, words)
        if answered is not None:
            return answered
    if asks_for_reminder(words):
        wish = _remind(facts, words)
        if wish is not None:
            return wish
    for pattern, told in _RULES:
        match = pattern.fullmatch(words)
        if match:
            return told(facts, match)
    restrained = _restraint(facts, words)
    if restrained:
        return restrained, []
    for said, _ in _TALK.read(words):
        if said is NOT_MINE and (facts.broke or facts.degraded):
            break  # a model would have answered: say why it does not
        return pick(said, facts.today, words), []
    wish = _renamed(facts, words) or _remind(facts, words)
    return wish if wish is not None else (_lost(facts, words), [])


_RATHER = re.compile(r"\b(?:again|instead|rather|later)\b", re.IGNORECASE)


def _whole_reminder(facts: CoachFacts, words: str) -> Answer | None:
    """A sentence that begins with "remind me" or the like and says what and when. Anything less may be another wish:
    "remind me again in an hour", "remind me of my goals"."""
    asking = asking_at_start(words)
    if asking is None or asking.force is not Force.CLEAR or (facts.talk.came and _RATHER.search(words)):
        return None
    try:
        wish = read_wish(words, facts.now, facts.targets.zone)
    except InvalidPhraseError:
        return None
    return None if wish is None else _added(facts, *wish)


def _elsewhere(facts: CoachFacts, words: str) -> Answer | None:
    """ "I'm in Tokyo now", "I moved to Berlin", "set my time zone to Lisbon": the person's zone."""
    zone = zone_of_place(words) if _MOVED.match(words) else None
    if zone is None:
        return None
    if zone == facts.targets.timezone:
        return f"I go by {zone} already.", []
    return "", [{"action": "update_goals", "section": TARGETS_SECTION, "lines": [f"timezone: {zone}"]}]


_MOVED: Final = re.compile(
    r"(?:(?:hi|hey|ok|so|and|well|actually)[ ,]+)*(?:(?:i'm|im|i am|we're|we are|i've|i have|i|we)\s+(?:(?:now|"
    r"just|back|currently|already|finally)\s+)*(?:in|live|living|based|moved|landed|arrived|flew|staying|home in)\b|"
    r"(?:please )?(?:set|change|switch|move|use)\s+(?:my |the )?(?:time ?zone|zone)\b)",
    re.IGNORECASE,
)


def _intent(facts: CoachFacts, words: str) -> Answer | None:
    goals = facts.goals
    lists = ((TODAY, goals.today), (WEEK, goals.week), (QUARTER, goals.quarter))
    tasks = (Known(section, one.text, rhythm=DONE if one.done else "") for section, some in lists for one in some)
    wish = read(words, replace(facts.talk, tasks=tuple(tasks)), facts.now, facts.targets.zone)
    if wish is None:
        return None
    answer = ANSWERS.get(wish.name)
    if wish.line[0] and wish.name == "done":
        answer = _done
    said, actions = ("", [_as_action(wish)]) if answer is None else answer(facts, wish)
    return "\n".join(part for part in (wish.slip, said) if part), actions


def _as_action(wish: Wish) -> dict[str, Any]:
    """A wish that the store is needed for. Whoever settles the turn carries it out (`nudge.coach.wishes`)."""
    return {"action": WISH, **wish.to_json()}


def _answer_to_wish(facts: CoachFacts, words: str) -> Answer | None:
    """What the coach asked about a wish, answered: which reminder, what time, yes or no. None if this is no answer."""
    talk, asked = facts.talk, facts.talk.asked
    if asked is None:
        return None
    if words.casefold().rstrip("?! ") in _NEVER_MIND:
        return "Okay, I've left it as it was.", []
    slots = {name: value for name, value in asked.slots.items() if name not in ("ask", "several")}
    if talk.missing == "yes":
        return ("", [_as_action(replace(asked, slots=slots | {"yes": "1"}))]) if _YES.fullmatch(words) else None
    if talk.missing == "which":
        found = named(words, talk.reminders)
        return ("", [_as_action(replace(asked, id=found[0].place, slots=slots))]) if len(found) == 1 else None
    for said in (words, f"{slots.get('when', '')} {words}".strip()):
        if is_time(said, facts.now, facts.targets.zone):
            return "", [_as_action(replace(asked, slots=slots | {"when": said}))]
    return None


_YES = re.compile(r"(?:y|yes|yep|yeah|yup|sure|yes,? please|please do|do it|go ahead|all of them)[.! ]*", re.I)
_TAKE_BACK: Final = Table(
    (None, row)
    for row in (
        "not that -|one", "no -|not that -|one", "never mind -|that", "nevermind", "nvm", "forget it|that", "no",
        "nope", "wrong", "wrong one",
        "that is|was wrong", "no -|that is not what i meant", "not what i meant", "i changed my mind", "don't",
        "do not", "no don't",
    )
)  # fmt: skip
_INSTEAD: Final = Table(
    (marked, row)
    for marked, rows in (
        (True, (
            "-|no|nope|wait|oh|ah -|wait|sorry|actually i meant|mean {rest}",
            "-|no|nope|wait|oh|ah -|wait|sorry|actually make it|that {rest}",
            "no|nope|wait -|sorry|actually {rest}", "actually|rather -|make|on|at -|it|that {rest}",
            "{rest} sorry|rather|instead|actually",
            "{rest} i mean|meant", "not that -|one -|but {rest}", "not {old} -|but {rest}",
            "-|no it should be -|at|on|to {rest}",
        )),
        (False, ("{rest}",)),
    )
    for row in rows
)  # fmt: skip
_COMMA = re.compile(r"(?:no|nope|wait|oh|ah)(?: wait| sorry)?,|.*\bi mean", re.IGNORECASE)


def _correction(facts: CoachFacts, words: str) -> Answer | None:
    """A message that puts right what the one before it did: "no, I meant tuesday", "not that one, call Mum"."""
    talk, last = facts.talk, facts.talk.last
    if last is None:
        return None
    if any(not found.slip for _, found in _TAKE_BACK.read(words)):
        return "", [_as_action(Wish("undo"))]
    for marked, rest in _corrected(facts, words):
        if last.name in _TIMED and talk.subject and is_time(rest, facts.now, facts.targets.zone):
            return "", [_as_action(Wish("move", {"when": rest}, talk.subject))]
        others = named(rest, [one for one in talk.reminders if one.place != last.id])
        if marked and last.name in _ON_ONE and len(others) == 1:
            return "", [_as_action(Wish("instead", dict(last.slots) | {"name": last.name}, others[0].place))]
    return None


def _renamed(facts: CoachFacts, words: str) -> Answer | None:
    """Another text for the reminder that was just set: "no, call Rob"."""
    talk, last = facts.talk, facts.talk.last
    if last is None or last.name != "set" or not talk.subject or not _COMMA.match(words):
        return None
    for marked, rest in _corrected(facts, words):
        if marked and content(rest) and not asks_for_reminder(rest):
            return "", [_as_action(Wish("rename", {"text": rest}, talk.subject))]
    return None


def _corrected(facts: CoachFacts, words: str) -> Iterator[tuple[bool, str]]:
    """What a correction puts in place of what was said, and whether it says that it is one."""
    last = facts.talk.last
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
    match = _FEEDBACK.fullmatch(_words(facts))
    return _feedback(facts, match)[1] if match else []


def _words(facts: CoachFacts) -> str:
    words = one_line(facts.text.replace("’", "'").replace("‘", "'")).rstrip(" .!")
    return words[attached.end() :] if (attached := _ATTACHED.match(words)) else words


def recap(before: str, said: str, today: date) -> str:
    """Recent Context by rule: the last sentences of the one before, and what the person said now."""
    if not said.strip():
        return before
    plain = short(said, 120).replace(".", ",").replace("!", ",").replace("?", ",").rstrip(" ,")
    earlier = [part.rstrip(".") + "." for part in before.split(". ") if part][-4:]
    return shorten(" ".join([*earlier, f"On {today.isoformat()} they said “{plain}”."]))


def _restraint(facts: CoachFacts, words: str) -> str:
    """The state follows from the words themselves, whoever answers; here it is only acknowledged."""
    targets = facts.targets
    wish = recognise(words, facts.now, targets.person)
    if wish is None:
        return ""
    if wish.kind is RestraintKind.BACK:
        return "Good, I'm listening. I write as usual again."
    if wish.kind is RestraintKind.LEFT_ALONE and wish.duration is None:
        return (
            "Okay. I'll be quiet until you write again: no messages, no briefings, and your reminders wait. "
            "Any word from you ends it."
        )
    until = time_in_words(Instant(facts.now + (wish.duration or 0)), facts.now, targets.zone)
    return {
        RestraintKind.BUSY: f"Okay, I'll leave you to it until {until}. What you set for a time still comes.",
        RestraintKind.LEFT_ALONE: f"Quiet until {until}. Your reminders wait till then. “I'm back” ends it.",
        RestraintKind.ASK_AGAIN: f"Sure. I'll check back in {format_duration(wish.duration or 0)}.",
    }[wish.kind]


def _remind(facts: CoachFacts, words: str) -> Answer | None:
    """The reminder that the words ask for; a question, if one word is missing. None if they ask for none."""
    try:
        wish = read_wish(words, facts.now, facts.targets.zone)
    except UnclearPhraseError as unclear:
        return _restraint(facts, words) or unclear.question, []
    except InvalidPhraseError as error:
        return _restraint(facts, words) or str(error), []
    return None if wish is None else _added(facts, *wish)


def _added(facts: CoachFacts, text: str, when: Understood) -> Answer:
    return when.taken, [{"action": "add_reminder", "text": text, "when": when.said_again(facts.targets.zone)}]


def _answer_to_question(facts: CoachFacts, words: str) -> Answer | None:
    """The reminder that was asked about, finished by this message; None if none was, or this is no answer."""
    asked = open_question(facts.turns, facts.targets.zone)
    if not asked:
        return None
    if words.casefold().rstrip("?! ") in _NEVER_MIND:
        return "Okay, no reminder.", []
    sentences = [*(turn.text for turn in asked), words]
    try:
        wish = read_answer(sentences, facts.now, facts.targets.zone, asked_at=whole_seconds(asked[0].at))
    except UnclearPhraseError as unclear:
        return unclear.question, []
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


def _feedback(facts: CoachFacts, match: re.Match[str]) -> Answer:
    del facts
    verb, rest = match["verb"].casefold(), match["rest"].rstrip(" .!")
    infinitive = {"messaging": "message", "asking": "ask", "texting": "text", "writing": "write"}
    infinitive |= {"nudging": "nudge", "pinging": "ping", "mentioning": "mention", "talking": "talk", "nagging": "nag"}
    what = re.sub(r"^(?:me|to me|with me)\s+", "", rest)
    if verb.startswith("remind"):
        what = re.sub(r"^(?:about|of)\s+", "", what)
        return f"A reminder that you set goes with “/cancel {what}”.", [
            _remember(PREFERENCES, f"Don't bring up {what}")
        ]
    return "", [_remember(PREFERENCES, f"Don't {infinitive.get(verb, verb)} {what}")]


def _note(facts: CoachFacts, match: re.Match[str]) -> Answer:
    del facts
    fact = match["fact"].strip()
    return "", [_remember(PREFERENCES, fact[:1].upper() + fact[1:])]


def _promise(facts: CoachFacts, match: re.Match[str]) -> Answer:
    del facts
    what = match["what"].strip(" .!")
    due = f" (due: {match['due'].strip(' .!')})" if match["due"] else ""
    return "", [_remember(COMMITMENTS, what[:1].upper() + what[1:] + due)]


def _forget(facts: CoachFacts, match: re.Match[str]) -> Answer:
    wanted = match["what"].strip(' .!"“”')
    for section, lines in ((PREFERENCES, facts.memory.preferences), (COMMITMENTS, _commitments(facts))):
        for line in lines:
            if same(line, wanted) or same(line.partition(" (")[0], wanted):
                return "", [{"action": "update_memory", "section": section, "remove": line}]
    return f"I don't find “{wanted}” in my memory. “commitments” and /goals show what I have.", []


def _done(facts: CoachFacts, wish: Wish) -> Answer:
    """Tick a line of a list, or the first one that is open today."""
    section, text = wish.line
    lists = {TODAY: facts.goals.today, WEEK: facts.goals.week, QUARTER: facts.goals.quarter}
    goals = lists[section]
    chosen = next(goal for goal in goals if goal.text == text)
    if chosen.done:
        return f"“{text}” is done already.", []
    left = [goal for goal in goals if not goal.done and goal != chosen]
    then = f"Next: {left[0].text}." if left else "That was the last one for today." if section == TODAY else ""
    lines = [Goal(goal.text, goal.done or goal == chosen).line() for goal in goals]
    praise = pick(NICE, facts.today, chosen.text)
    return f"{praise} {then}".strip(), [{"action": "update_goals", "section": section, "lines": lines}]


def _done_something(facts: CoachFacts, wish: Wish) -> Answer:
    """ "Done" alone: the reminder that came last, if it has no answer yet; otherwise the first task."""
    if wish.id or facts.talk.came:
        return "", [_as_action(replace(wish, id=wish.id or facts.talk.came))]
    if not facts.goals.open_today:
        return "Nothing is open on Today's list. Enjoy that.", []
    return _done(facts, replace(wish, line=(TODAY, facts.goals.open_today[0].text)))


_SECTIONS: Final = {"today": TODAY, "week": WEEK, "this week": WEEK, "quarter": QUARTER, "this quarter": QUARTER}


def _add(facts: CoachFacts, wish: Wish) -> Answer:
    section = _SECTIONS[wish.slots["list"].casefold()]
    goals = {TODAY: facts.goals.today, WEEK: facts.goals.week, QUARTER: facts.goals.quarter}[section]
    what = wish.slots["line"].strip(' .!"“”')
    if any(same(goal.text, what) for goal in goals):
        return f"“{what}” is on {section} already.", []
    if len(goals) >= MOST_GOALS:
        kept = tuple(goal for goal in goals if not goal.done)
        if len(kept) >= MOST_GOALS:
            return f"{section} has three already: {_listed(kept)}. Finish or drop one first?", []
        goals = kept
    lines = [*(goal.line() for goal in goals), what[:1].upper() + what[1:]]
    return "", [{"action": "update_goals", "section": section, "lines": lines}]


def _drop(facts: CoachFacts, wish: Wish) -> Answer:
    section, text = wish.line
    goals = {TODAY: facts.goals.today, WEEK: facts.goals.week, QUARTER: facts.goals.quarter}[section]
    lines = [goal.line() for goal in goals if goal.text != text]
    return "", [{"action": "update_goals", "section": section, "lines": lines}]


def _north_star(facts: CoachFacts, wish: Wish) -> Answer:
    line = wish.slots["line"]
    return "", [{"action": "update_goals", "section": NORTH_STAR, "lines": [line[:1].upper() + line[1:]]}]


def _clock_target(facts: CoachFacts, wish: Wish) -> Answer:
    """Bedtime or the beginning of the day, at a time in words."""
    try:
        at = to_datetime(understand(wish.slots["when"], facts.now, facts.targets.zone).first, facts.targets.zone)
    except UnclearPhraseError as unclear:
        return f"{unclear.question} Please say it with the time, like “bedtime 23:30”.", []
    line = f"{wish.slots['field']}: {at:%H:%M}"
    return "", [{"action": "update_goals", "section": TARGETS_SECTION, "lines": [line]}]


def _name(facts: CoachFacts, wish: Wish) -> Answer:
    before = _name_of(facts)
    old = [{"action": "update_memory", "section": PREFERENCES, "remove": f"{GOES_BY} {before}"}] if before else []
    if before == wish.slots["name"]:
        return f"That's what I call you already, {before}.", []
    name = wish.slots["name"]
    return f"Nice to meet you, {name}.", [*old, _remember(PREFERENCES, f"{GOES_BY} {name}")]


def _name_of(facts: CoachFacts) -> str:
    return next((line[len(GOES_BY) + 1 :] for line in facts.memory.preferences if line.startswith(f"{GOES_BY} ")), "")


def _target(facts: CoachFacts, match: re.Match[str]) -> Answer:
    del facts
    field = {
        "bed": "bedtime_target",
        "wak": "wake_target",
        "qui": "quiet_hours",
        "tim": "timezone",
        "wee": "weekly_review",
    }
    name = field[match["field"].casefold()[:3]]
    value = _HALF_DAY.sub(_by_24_hours, match["value"].strip(" .!"))
    return "", [{"action": "update_goals", "section": TARGETS_SECTION, "lines": [f"{name}: {value}"]}]


_HALF_DAY = re.compile(r"\b(\d{1,2})(?::(\d\d))? ?([ap])m\b", re.IGNORECASE)


def _by_24_hours(match: re.Match[str]) -> str:
    hour = int(match[1]) % 12 if 1 <= int(match[1]) <= 12 else 99  # 13 pm is no time of day
    return f"{hour + 12 * (match[3] in 'pP'):02}:{match[2] or '00'}"


def _next(facts: CoachFacts, wish: Wish) -> Answer:
    if facts.due_reminders:
        return f"Due now: {facts.due_reminders[0].text}", []
    if facts.goals.open_today:
        return f"{facts.goals.open_today[0].text}. What's the first small piece of it?", []
    week = [goal.text for goal in facts.goals.week if not goal.done]
    if week:
        return f"Today's list is clear. From this week: {week[0]}.", []
    return "Nothing is on the lists. What would you like to be next? “add … to today” keeps it.", []


def _goals(facts: CoachFacts, wish: Wish) -> Answer:
    goals = facts.goals
    parts = [f"North star: {goals.north_star}"] if goals.north_star else []
    lists = (("This quarter", goals.quarter), ("This week", goals.week), ("Today", goals.today))
    parts.extend(f"{name}: {_listed(some)}" for name, some in lists if some)
    return "\n".join(parts) or "No goals yet. Tell me one: “my goal is …”, or “add … to today”.", []


def _week(facts: CoachFacts, wish: Wish) -> Answer:
    return f"This week: {_listed(facts.goals.week)}" if facts.goals.week else "This week's list is empty.", []


def _today(facts: CoachFacts, wish: Wish) -> Answer:
    said = f"Today: {_listed(facts.goals.today)}" if facts.goals.today else "Today's list is empty."
    coming = _coming(facts, facts.today)
    return f"{said}\n{coming}" if coming else said, []


def _open(facts: CoachFacts, wish: Wish) -> Answer:
    return "\n".join(f"• {line}" for line in _commitments(facts)) or "No open commitments.", []


def _reminders(facts: CoachFacts, wish: Wish) -> Answer:
    listed = [_shown(facts, one) for one in facts.talk.reminders]
    return "\n".join(listed) or "You have no reminders. “remind me to … at …” sets one.", []


def _shown(facts: CoachFacts, one: Known) -> str:
    when = "waiting" if one.next_at is None else time_in_words(one.next_at, facts.now, facts.targets.zone)
    rhythm = f", {one.rhythm}" if one.recurs else ""
    return f"• {short(one.text)} ({when}{rhythm})"


def _coming(facts: CoachFacts, day: date) -> str:
    zone = facts.targets.zone
    return "\n".join(
        _shown(facts, one)
        for one in facts.talk.reminders
        if one.next_at is not None and local_date(one.next_at, zone) == day
    )


def _left_today(facts: CoachFacts, wish: Wish) -> Answer:
    tasks = "; ".join(goal.text for goal in facts.goals.open_today)
    coming = _coming(facts, facts.today)
    parts = (f"Still open: {tasks}." if tasks else "", coming)
    return "\n".join(part for part in parts if part) or "Nothing else today.", []


def _on_day(facts: CoachFacts, wish: Wish) -> Answer:
    try:
        first = understand(wish.slots["when"], facts.now, facts.targets.zone).first
    except InvalidPhraseError:
        return "Which day?", []
    day = local_date(first, facts.targets.zone)
    if day == facts.today:
        return _today(facts, wish)
    return _coming(facts, day) or f"Nothing from me on {day:%A} yet.", []


def _next_message(facts: CoachFacts, wish: Wish) -> Answer:
    zone, targets = facts.targets.zone, facts.targets
    times = [(one.next_at, one.text) for one in facts.talk.reminders if one.next_at is not None]
    morning = from_local(datetime.combine(facts.today + timedelta(days=1), targets.wake_target), zone)
    times += [(morning, "the morning briefing")]
    at, what = min(times)
    also = " Before that only if something comes up." if at - facts.now > 2 * HOUR else ""
    return f"{time_in_words(at, facts.now, zone)}: {short(what)}.{also}", []


def _know(facts: CoachFacts, wish: Wish) -> Answer:
    name = _name_of(facts)
    lines = [line for line in facts.memory.preferences if not line.startswith(GOES_BY)]
    parts = [f"You go by {name}."] if name else []
    if lines:
        parts.append("I remember:\n" + "\n".join(f"• {line}" for line in lines))
    if promised := _commitments(facts):
        parts.append("You promised:\n" + "\n".join(f"• {line}" for line in promised))
    return "\n".join(parts) or "My memory is empty so far. “remember that …” puts something in.", []


def _say(text: str) -> Callable[[CoachFacts, Wish], Answer]:
    """A sentence with what the facts say in its {places}."""

    def say(facts: CoachFacts, wish: Wish) -> Answer:
        targets = facts.targets
        local = to_datetime(facts.now, targets.zone)
        fields = {name: value.replace("-", " to ") for name, value in targets.as_fields().items()}
        day = f"{local:%A}, {local.day} {local:%B %Y}"
        return text.format(**fields | {"time": f"{local:%H:%M}", "day": day, "timezone": targets.timezone}), []

    return say


def _whats_my_name(facts: CoachFacts, wish: Wish) -> Answer:
    name = _name_of(facts)
    return f"You're {name}." if name else "I don't know yet. What should I call you? “call me …”", []


def _help(facts: CoachFacts, wish: Wish) -> Answer:
    return HELP, []


ANSWERS: Final[dict[str, Callable[[CoachFacts, Wish], Answer]]] = {
    "list": _reminders,
    "today-left": _left_today,
    "on-day": _on_day,
    "next": _next,
    "today": _today,
    "week": _week,
    "commitments": _open,
    "goals": _goals,
    "done": _done_something,
    "add": _add,
    "drop": _drop,
    "north-star": _north_star,
    "target": _clock_target,
    "name": _name,
    "name?": _whats_my_name,
    "know": _know,
    "next-message": _next_message,
    "help": _help,
    "who": _say(
        "I'm nudge, your coach: a program, not a person. I remind you, keep your lists and know when to be quiet."
    ),
    "time": _say("It's {time} ({timezone})."),
    "day": _say("It's {day}."),
    "bedtime": _say("Your bedtime is {bedtime_target}. “set my bedtime to …” changes it."),
    "wake": _say("Your day begins at {wake_target}; that's when I write first. “set my wake time to …” changes it."),
    "zone": _say("I go by {timezone}; it's {time} there. “set my time zone to …” changes it."),
    "quiet-hours": _say("Your quiet hours are {quiet_hours}. “set quiet hours to 22:00-08:00” changes them."),
    "review-when": _say("The weekly review is on {weekly_review}. Say “review” to start it now."),
}
"""What the rules answer by themselves. Every other wish needs the store: see `nudge.coach.wishes`."""


def _remember(section: str, line: str) -> dict[str, Any]:
    return {"action": "update_memory", "section": section, "add": line}


def _commitments(facts: CoachFacts) -> list[str]:
    return [
        one.text + (f" (due: {one.due_words})" if one.due_words else "")
        for one in facts.memory.commitments
        if not one.done
    ]


def _listed(goals: tuple[Goal, ...]) -> str:
    return "; ".join(f"{n}. {goal.text}{' ✓' if goal.done else ''}" for n, goal in enumerate(goals, start=1))


def _rules(
    *rows: tuple[str, Callable[[CoachFacts, re.Match[str]], Answer]],
) -> tuple[tuple[re.Pattern[str], Callable[[CoachFacts, re.Match[str]], Answer]], ...]:
    return tuple((re.compile(pattern, re.IGNORECASE | re.DOTALL), rule) for pattern, rule in rows)


_VERBS = (
    r"messag(?:e|ing)|ask(?:ing)?|remind(?:ing)?|nudg(?:e|ing)|ping(?:ing)?|text(?:ing)?|writ(?:e|ing)"
    r"|mention(?:ing)?|talk(?:ing)?|nag(?:ging)?|bring"
)
_BY = r"(?:,? (?:by|due:?|until) (?P<due>.+))?"
_FIELD = r"bed ?time|wak(?:e|ing)(?:[ -]?up)?(?: time)?|quiet hours|time ?zone|weekly review"
_CLOCK = r"\d{1,2}(?::\d\d(?: ?[ap]m)?| ?[ap]m)"
_VALUE = rf"\w+ {_CLOCK}|{_CLOCK}(?:\s*[-–]\s*{_CLOCK})?|\w+/[\w/]+|UTC"

_FEEDBACK = re.compile(
    rf"(?:please )?(?:don't|do not|never|stop) (?:ever )?(?P<verb>{_VERBS})\s+"
    r"(?P<rest>(?:(?:me|to me|with me)\s+)?(?:about|of|up|on|if|whether|how|what|why|when)\b.+)",
    re.IGNORECASE | re.DOTALL,
)
_RULES = _rules(
    (_FEEDBACK.pattern, _feedback),
    (r"(?:please )?(?:remember|note|keep in mind)(?: that|:)? (?P<fact>.+)", _note),
    (r"(?:please )?forget (?:that |about )?(?P<what>.+)", _forget),
    (rf"i(?:'ve)? promised(?: \w+)? to (?P<what>.+?){_BY}", _promise),
    (rf"(?:commitment|promise): (?P<what>.+?){_BY}", _promise),
    (
        rf"(?:please )?(?:set |change |move )?(?:my |the )?(?P<field>{_FIELD})(?:[ _]target)?(?: to|:| is| at)? "
        rf"(?P<value>{_VALUE})",
        _target,
    ),
)
_FEEL = (
    "am|feel|feeling -|so|really|very|just|quite|pretty|a|totally|completely|absolutely|still|kinda|such -|bit|little|a"
)
_TALK: Final = Table(
    (said, row)
    for said, rows in (
        (KIND, (
            f"-|and|today i {_FEEL} "
                f"sad|awful|lonely|stressed|anxious|down|overwhelmed|depressed|hopeless|exhausted|terrible|"
                f"miserable|tired|bad|low|upset|unhappy|horrible|worthless|useless|scared|afraid|worried|"
                f"heartbroken|empty|numb|lost|alone|ashamed|guilty|burned|burnt|drained|frustrated|angry|crying|"
                f"blue|rubbish|shit|crap|sick|nervous "
                f"-|today|now|right|lately|again|out|of|these -|now|everything|days|it|all",
            "i feel like -|a|an|i -|am|total|complete "
                "-|a|failure|crap|shit|failure|crying|loser|fraud|giving|nothing|am -|up|failing",
            "i had|have -|had|having a|such -|a|really|very "
                "terrible|horrible|bad|awful|rough|hard|tough|shitty|difficult|sad -|day|time|week|morning|night "
                "-|day|today",
            "-|my|this|the|today day|today|week|morning|it was|is|has|been -|been|really|so|just "
                "horrible|terrible|awful|bad|hard|rough|tough|shit|the -|worst|today",
            "everything is|feels|has|got -|just|going|become|gone -|so|too "
                "much|wrong|hard|terrible|pointless|falling -|for|apart|me",
            "nothing -|ever|is|seems works|goes|helps|working|going|to -|out|right|work|well -|for -|me",
            "my -|dear|best|old {who} died|passed -|away|today|yesterday|last -|night|week|away",
            "-|my|our {who} -|just|has died|dead -|today|yesterday", "we broke|split up",
            "{who} -|just|has broke|left|dumped|split -|up|me -|with -|me",
            "i -|just|got|was|have -|been lost|fired|dumped|laid|rejected -|my|off -|job|off",
            "i cried|cry|wept -|all|a|the|lot|for -|morning|day|night|lot|hours -|today",
            "i can't|cant|cannot do|take|handle|cope|stand -|this|it|with -|anymore|any|this|it -|more",
            "i hate|despise myself|everything|my -|life|job", "i miss {who}",
            "nobody|no likes|loves|cares|understands|one -|likes|loves|cares|understands|about -|me|about -|me",
            "i have no|nobody|noone one|friends|energy|hope|motivation -|to|left -|talk -|to",
            "life is hard|unfair|tough|too -|hard|much",
            "not -|a|doing|feeling good|great|well|so -|day|good|well|today -|today",
            "i am not -|doing|feeling|ok|okay|well|good|fine|great|happy|so -|ok|okay|well|good|great|so "
                "-|good|well|great", "i am struggling -|with|today|a -|lot|everything|this",
            "so sad|lonely|stressed|tired|exhausted", "i am so tired of everything|this|life|it -|all",
            "it is all -|too|just -|much|pointless|too -|much", "i am a failure|mess|loser|disaster|burden",
            "rough|bad|hard|tough|awful|terrible day|week|night|morning",
            "i'm going through a hard|rough|tough|bad|difficult time|patch",
        )),
        (NIGHT, ("good|gn -|night", "goodnight", "night -|night", "-|i'm going|off|heading|gonna -|up to bed|sleep",
            "sleep well|tight", "i am turning in", "done for today|tonight|the -|day", "calling it a day|night",
            "bedtime for me", "i am off to bed|sleep", "time -|for|to bed|sleep")),
        (HELLO, ("hi",
            "hello|hey|hi|yo|hiya|howdy|heya|morning|evening|afternoon|greetings|sup|hallo "
                "-|there|coach|nudge|you|again|everyone|buddy|friend|man|mate",
            "good morning|afternoon|evening|day -|coach|nudge|to|there -|you", "good to see you",
            "i am here|up|awake", "anyone|anybody there|home")),
        (THANKS, (
            "-|ok|okay|great|cool|perfect|nice thanks|thx|ty|cheers|tnx|thank|merci|danke|thankyou "
                "-|a|so|for|you|very|that|to|loads|very -|lot|much|you|helped|everything|that|the|so|very|all "
                "-|much|help|helped|reminder|was|helpful|this|it -|much|helpful",
            "that helped|helps -|a|me|thanks -|lot", "much|really appreciated|appreciate -|it|that",
            "i appreciate -|it|that|you|your -|help",
            "you are|were -|so|very|really|a|the -|great|helpful|kind|nice|best|star|sweet|awesome|good|amazing",
            "good bot|job|coach", "well done", "appreciate it", "bless you")),
        (FINE, (
            "-|that|it|all|i|very|ok|okay|oh|yes|sounds|looks|and|well -|is|am|sounds|looks|really "
                "ok|okay|k|kk|sure|fine|alright|right|yes|yep|yeah|yup|good|great|cool|nice|perfect|awesome|"
                "excellent|understood|noted|agreed|fair|true|exactly|indeed|wow|haha|hahaha|lol|lmao|hehe|ha|"
                "hm|hmm|ah|aha|oh|super|brilliant|lovely|yay|woohoo|interesting|later|soon|absolutely|"
                "definitely|correct "
                "-|one|then|enough|me|it|good|great|thanks|by|with|yes|for -|me", "all right", "got it",
            "will|can do", "on it", "i see", "not yet", "going -|now", "ok going|later|soon|thanks",
            "sounds good|great|fine|like|right -|a -|plan|to|me -|me", "makes sense", "no problem|worries|rush",
            "i know|understand|agree|guess|suppose|think -|so", "never mind", "nevermind", "nvm", "that works",
            "let's|let go|us -|go", "same -|here", "me too", "maybe", "perhaps", "we will see",
            "i will -|try|do|see|think -|it|my|about -|best|it", "doing it -|now", "i am on it", "yes yes", "almost",
            "nearly done", "working on it", "in a -|minute|bit|sec", "one moment|sec|second", "no", "nope", "nah",
            "no thanks", "not really", "nothing", "nothing much",
            "i am fine|good|ok|okay|great|well|happy -|thanks|today", "good luck")),
        (WELL, (
            "how are|r|is|have you|things|u|it|everything|your|life|been "
                "-|doing|going|today|feeling|day|been|keeping|with|all -|today|now|you|so|going|been -|far",
            "how do you do", "what is up", "whats up", "wassup", "sup", "how goes it", "how you doing",
            "you ok|okay|good|alright", "are you ok|okay|good|fine|happy|well|tired",
            "how was your day|night|weekend", "what are you -|up doing|to -|now|up|today",
            "do you sleep|dream|feel|eat|have -|feelings|ever|emotions")),
        (BYE, ("bye -|bye|now|coach|for|then -|now", "goodbye",
            "see you|ya -|later|tomorrow|soon|then|around|next -|week", "cu|cya|ttyl|later|laters",
            "talk -|to -|you|later|soon|tomorrow -|later|soon|tomorrow",
            "until|till tomorrow|later|then|next -|time",
            "have a good|nice|great|lovely day|evening|night|weekend|one|time", "take care", "catch you later",
            "i am off|leaving|out|heading -|now|out|home", "gotta|got|have -|to -|go|run|leave", "brb|afk")),
        (NOT_MINE, ("tell me -|a|another|some -|good|funny|bad joke|jokes|story|something",
            "-|do|got|know|make -|you|me -|know|have|laugh -|a|any joke|jokes",
            "what is|was -|will|the|be -|weather -|be|like|today|tomorrow|outside|going "
                "-|like|today|tomorrow|to -|be -|like", "how is the weather -|today|outside|tomorrow",
            "will|is it -|going|gonna rain|raining|snow|sunny|cold|hot|to -|rain|snow|today|tomorrow|outside "
                "-|today|tomorrow", "who|what won|is|was|wins -|the {who}",
            "what is the capital|meaning|population|price|score|news|stock of|for|today|in|on "
                "-|life|the|a|today|{x}", "what is the capital of {who}", "sing -|me|a|for -|a|me -|song",
            "write -|me a|an|my poem|story|song|essay|letter|email|code|mail -|for|about|to -|me|{x}",
            "write -|me a|an poem|story|song|essay|letter|email about|to|for {who}", "translate {who}",
            "what do you think -|of|about {who}", "recommend|suggest -|me a|some|an {who}",
            "play -|some|a music|song|game", "search|google -|for {who}", "what is the news",
            "do|can|could -|you -|you my homework", "book me a|an {who}", "order -|me a|an|some {who}",
            "call|email|text {who} for me")),
    )
    for row in rows
)  # fmt: skip
"""Words that ask for nothing, and what is said to them. What is sad comes first: nobody gets a thumbs-up for it."""


def is_small_talk(words: str) -> bool:
    """Whether a message of several words asks for nothing and says nothing to keep: "hi there", "I'm so tired"."""
    return len(words.split()) > 1 and any(found.slip is None for _, found in _TALK.read(words))
