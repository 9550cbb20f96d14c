"""Simple talk by rules: the commands and small talk that the coach understands without a language model."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from hashlib import sha256
from typing import Any
from zoneinfo import ZoneInfo

from nudge.attention.restraint import RestraintKind, recognise
from nudge.coach.documents import one_line
from nudge.coach.facts import CoachFacts, Turn
from nudge.coach.goals import MOST_GOALS, TODAY, WEEK, Goal
from nudge.coach.memory import COMMITMENTS, PREFERENCES, same, shorten
from nudge.coach.targets import SECTION as TARGETS_SECTION
from nudge.durations import format_duration
from nudge.errors import InvalidPhraseError, UnclearPhraseError
from nudge.instants import rfc3339, whole_seconds
from nudge.phrases import Understood, asks_for_reminder, read_answer, read_wish
from nudge.reminders.text import time_in_words
from nudge.text import short

Answer = tuple[str, list[dict[str, Any]]]
"""What is said, and the actions taken. What an action did is said by whoever carries it out."""


_LONGEST = 500
"""Characters of a message that a rule reads; nobody types a command that long."""
_ATTACHED = re.compile(r"\[[a-z ]+\] ")
"""What comes before the words under a photo or a file, for a mind that makes something of it."""

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
HELP = """Here is what I understand without a model:
• what's next · goals · today · this week · commitments
• done (the first task), done 2, done with …
• add … to today · remove … from today · remember that … · forget that … · I promised to … by Friday
• remind me to … at 5pm (tomorrow, in 20 minutes, every weekday at 9) · /cancel … takes one away
• don't message me about …
• quiet for 2h · quiet off · busy · leave me alone · 30 more min
• set my bedtime to 00:30 (also wake time, quiet hours, timezone)"""


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
    answered = _answer_to_question(facts, words)
    if answered is not None:
        return answered
    if asks_for_reminder(words):
        wish = _remind(facts, words)
        if wish is not None:
            return wish
    for pattern, rule in _RULES:
        match = pattern.fullmatch(words)
        if match:
            return rule(facts, match)
    restrained = _restraint(words)
    if restrained:
        return restrained, []
    for pattern, rule in _SMALL_TALK:
        match = pattern.fullmatch(words)
        if match:
            return rule(facts, match)
    wish = _remind(facts, words)
    return wish if wish is not None else (_lost(facts, words), [])


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


def _restraint(words: str) -> str:
    """The state follows from the words themselves, whoever answers; here it is only acknowledged."""
    wish = recognise(words)
    if wish is None:
        return ""
    if wish.kind is RestraintKind.LEFT_ALONE and wish.duration is None:
        return "Okay. I'll be quiet until you write again."
    span = format_duration(wish.duration or 0)
    return {
        RestraintKind.BUSY: f"Okay, I'll leave you to it for {span}.",
        RestraintKind.LEFT_ALONE: f"Okay. Nothing from me for {span}.",
        RestraintKind.ASK_AGAIN: f"Sure. I'll check back in {span}.",
    }[wish.kind]


def _remind(facts: CoachFacts, words: str) -> Answer | None:
    """The reminder that the words ask for; a question, if one word is missing. None if they ask for none."""
    try:
        wish = read_wish(words, facts.now, facts.targets.zone)
    except UnclearPhraseError as unclear:
        return _restraint(words) or unclear.question, []
    except InvalidPhraseError as error:
        return _restraint(words) or str(error), []
    return None if wish is None else _added(facts, *wish)


def _added(facts: CoachFacts, text: str, when: Understood) -> Answer:
    words = when.words if when.once is None else rfc3339(when.once, facts.targets.zone)
    return when.taken, [{"action": "add_reminder", "text": text, "when": words}]


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


def _done(facts: CoachFacts, match: re.Match[str]) -> Answer:
    goals = facts.goals.today
    still = [goal for goal in goals if not goal.done]
    if not still:
        return "Nothing is open on Today's list. Enjoy that.", []
    which = (match["which"] or "").strip(' .!"“”')
    number = int(which) if which.isdigit() and len(which) < 4 else 0
    if number:
        chosen = goals[number - 1] if number <= len(goals) else None
    elif which:
        chosen = next((goal for goal in still if which.casefold() in goal.text.casefold()), None)
    else:
        chosen = still[0]
    if chosen is None:
        return f"I don't see that on Today's list. It says: {_listed(goals)}", []
    left = [goal for goal in still if goal != chosen]
    praise = pick(NICE, facts.today, chosen.text)
    then = f"Next: {left[0].text}." if left else "That was the last one for today."
    lines = [Goal(goal.text, goal.done or goal == chosen).line() for goal in goals]
    return f"{praise} {then}", [{"action": "update_goals", "section": TODAY, "lines": lines}]


def _add(facts: CoachFacts, match: re.Match[str]) -> Answer:
    section, goals = (TODAY, facts.goals.today) if match["list"].casefold() == "today" else (WEEK, facts.goals.week)
    if len(goals) >= MOST_GOALS:
        kept = tuple(goal for goal in goals if not goal.done)
        if len(kept) >= MOST_GOALS:
            return f"{section} has three already: {_listed(kept)}. Finish or drop one first?", []
        goals = kept
    what = match["what"].strip(' .!"“”')
    lines = [*(goal.line() for goal in goals), what[:1].upper() + what[1:]]
    return "", [{"action": "update_goals", "section": section, "lines": lines}]


def _drop(facts: CoachFacts, match: re.Match[str]) -> Answer:
    section, goals = (TODAY, facts.goals.today) if match["list"].casefold() == "today" else (WEEK, facts.goals.week)
    what = match["what"].strip(' .!"“”').casefold()
    gone = [goal for goal in goals if what in goal.text.casefold()]
    if len(gone) != 1:
        return f"I don't see that on the list. It says: {_listed(goals)}" if goals else f"{section} is empty.", []
    return "", [{"action": "update_goals", "section": section, "lines": [g.line() for g in goals if g not in gone]}]


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


def _quiet(facts: CoachFacts, match: re.Match[str]) -> Answer:
    del facts
    return "", [{"action": "set_quiet", "duration": match["how"] or "2h"}]


def _speak(facts: CoachFacts, match: re.Match[str]) -> Answer:
    del facts, match
    return "", [{"action": "set_quiet", "duration": "off"}]


def _next(facts: CoachFacts, match: re.Match[str]) -> Answer:
    del match
    if facts.due_reminders:
        return f"Due now: {facts.due_reminders[0].text}", []
    if facts.goals.open_today:
        return f"{facts.goals.open_today[0].text}. What's the first small piece of it?", []
    week = [goal.text for goal in facts.goals.week if not goal.done]
    if week:
        return f"Today's list is clear. From this week: {week[0]}.", []
    return "Nothing is on the lists. What would you like to be next? “add … to today” keeps it.", []


def _goals(facts: CoachFacts, match: re.Match[str]) -> Answer:
    del match
    goals = facts.goals
    parts = [f"North star: {goals.north_star}"] if goals.north_star else []
    lists = (("This quarter", goals.quarter), ("This week", goals.week), ("Today", goals.today))
    parts.extend(f"{name}: {_listed(some)}" for name, some in lists if some)
    return "\n".join(parts) or "No goals yet. Open GOALS.md, or start with “add … to today”.", []


def _week(facts: CoachFacts, match: re.Match[str]) -> Answer:
    del match
    return f"This week: {_listed(facts.goals.week)}" if facts.goals.week else "This week's list is empty.", []


def _today(facts: CoachFacts, match: re.Match[str]) -> Answer:
    del match
    return f"Today: {_listed(facts.goals.today)}" if facts.goals.today else "Today's list is empty.", []


def _open(facts: CoachFacts, match: re.Match[str]) -> Answer:
    del match
    return "\n".join(f"• {line}" for line in _commitments(facts)) or "No open commitments.", []


def _say(options: tuple[str, ...]) -> Callable[[CoachFacts, re.Match[str]], Answer]:
    return lambda facts, match: (pick(options, facts.today, match[0]), [])


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
_LIST = r"(?:my |the )?(?P<list>today|(?:this )?week)(?:'s)?(?: list)?"
_FIELD = r"bed ?time|wak(?:e|ing)(?:[ -]?up)?(?: time)?|quiet hours|time ?zone|weekly review"
_CLOCK = r"\d{1,2}(?::\d\d(?: ?[ap]m)?| ?[ap]m)"
_VALUE = rf"\w+ {_CLOCK}|{_CLOCK}(?:\s*[-–]\s*{_CLOCK})?|\w+/[\w/]+|UTC"
_SHOW = r"(?:show (?:me )?)?(?:my )?"
_BED = r"good ?night|night|(?:i'm )?(?:going|off) to (?:bed|sleep)|done for (?:today|the day|tonight)"

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
    (rf"(?:{_BED})(?: now)?", _say(NIGHT)),
    (r"(?:i'm |i am |all |it's )?(?:done|finished)(?: (?:with )?(?P<which>.+))?", _done),
    (rf"(?:please )?(?:add|put) (?P<what>.+?) (?:to|on|in|for) {_LIST}", _add),
    (rf"(?:please )?(?:remove|drop|delete|take) (?P<what>.+?) (?:from|off) {_LIST}", _drop),
    (
        rf"(?:please )?(?:set |change |move )?(?:my |the )?(?P<field>{_FIELD})(?:[ _]target)?(?: to|:| is| at)? "
        rf"(?P<value>{_VALUE})",
        _target,
    ),
    (r"(?:quiet|mute) off|unmute|(?:you can |you may )?(?:speak|talk|write)(?: again)?|i'm back", _speak),
    (
        r"(?:be |go |stay )?(?:quiet|mute|silence)(?: (?:me|please))?(?: for)?"
        r"(?: (?P<how>(?:until |till )?.*\d.*|today|an hour|half an hour))?",
        _quiet,
    ),
)
_SMALL_TALK = _rules(
    (r"(?:so,? )?what(?:'s| is) (?:next|now|up next)\?*|next\?*", _next),
    (rf"{_SHOW}goals\?*|what are my goals\?*", _goals),
    (rf"{_SHOW}(?:today|today's list|plan)\?*|what(?:'s| is) (?:the plan|on)(?: for)?(?: today)?\?*", _today),
    (rf"{_SHOW}(?:this )?week\?*", _week),
    (rf"{_SHOW}(?:open )?commitments\?*|what did i promise\?*", _open),
    (
        rf"(?:{_SHOW}|list (?:my )?|what are my )reminders?\?*|(?:cancel|delete|remove) .*\breminders?\b.*",
        lambda facts, match: ("/status lists your reminders, and “/cancel …” takes one away.", []),
    ),
    (
        r"(?P<name>status|undo|redact|review|sync|budget)\?*|(?P<why>why)(?:\?*| (?:did|didn't|do) you .+)",
        lambda facts, match: (f"That is a command here: /{(match['name'] or match['why']).casefold()}", []),
    ),
    (r"/?help\?*|what can (?:you|i) (?:do|say)\?*|commands\?*", lambda facts, match: (HELP, [])),
    (
        r"(?:o?k|okay|k+|sure|fine|alright|all right|yes+|yes yes|yep|yeah|right|good|great|cool|got it|will do|on it"
        r"|soon|later|not now|not yet|going(?: now)?|ok(?:ay)?,? (?:going|later|soon|thanks)|👍|👌)[.! ]*",
        _say(FINE),
    ),
    (r"(?:thanks|thank you|thx|ty|cheers)(?: .{0,30})?", _say(THANKS)),
    (r"(?:hi|hey|hello|yo|hiya|good (?:morning|afternoon|evening)|morning)(?: there| coach| nudge)?", _say(HELLO)),
)
