"""What the rules answer by themselves: questions about lists, times and settings, and what to note. One per intent.

Everything here is a function of the facts. A wish that the store is needed for is in `nudge.coach.wishes`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from hashlib import sha256
from typing import Any, Final

from nudge.coach.facts import CoachFacts
from nudge.coach.goals import MOST_GOALS, NORTH_STAR, QUARTER, TODAY, WEEK, Goal
from nudge.coach.intents.reading import FIELDS, SAYING, Known, Wish
from nudge.coach.intents.table import help_on
from nudge.coach.memory import COMMITMENTS, GOES_BY, PREFERENCES, same
from nudge.coach.targets import SECTION as TARGETS_SECTION
from nudge.errors import InvalidPhraseError, UnclearPhraseError
from nudge.instants import HOUR, from_local, local_date, to_datetime
from nudge.phrases import Understood, understand
from nudge.reminders.text import time_in_words
from nudge.text import short

Answer = tuple[str, list[dict[str, Any]]]
"""What is said, and the actions taken. What an action did is said by whoever carries it out."""


@dataclass(frozen=True, slots=True)
class Meant:
    """What a message means: the name of an intent ("" if none fits), what is said, and the actions taken. What an
    action did is said by whoever carries it out."""

    intent: str
    said: str = ""
    actions: tuple[dict[str, Any], ...] = ()


WISH = "wish"
"""The action of a wish that the store is needed for."""
NICE = ("Nice.", "Well done.", "Good one.", "Done and done.")
HELP = """Just write as you talk. For example:
• remind me to call Mum friday 5pm · every weekday at 9 stretch · what are my reminders?
• move call Mum to saturday · an hour later · cancel the stretch one · snooze 30 min · done · undo
• what's next? · add … to today · I finished … · my goal is … · what are my goals? · remember that … · forget that …
• busy till 5 · leave me alone · I'm back · don't message me about …
• why did you write? · what did you send today? · when will you write next? · status · budget
• review · set my bedtime to 00:30 (also wake time, quiet hours, time zone) · call me …
“help snooze” shows more about one thing."""


def pick(options: tuple[str, ...], day: date, about: str = "") -> str:
    """One of the options, the same one for the same day and subject."""
    seed = sha256(f"{day.isoformat()} {about}".encode("utf-8", "replace")).digest()
    return options[int.from_bytes(seed[:4], "big") % len(options)]


def as_action(wish: Wish) -> dict[str, Any]:
    """A wish that the store is needed for. Whoever settles the turn carries it out (`nudge.coach.wishes`)."""
    return {"action": WISH, **wish.to_json()}


def added(facts: CoachFacts, text: str, when: Understood) -> Meant:
    again = when.said_again(facts.targets.zone)
    return Meant("remind", when.taken, ({"action": "add_reminder", "text": text, "when": again},))


def _not_about(facts: CoachFacts, wish: Wish) -> Answer:
    del facts
    verb, what = SAYING[wish.slots["saying"].casefold()], wish.slots["subject"]
    if verb == "remind":
        about = re.sub(r"^(?:about|of)\s+", "", what)
        kept = [_remember(PREFERENCES, f"Don't bring up {about}")]
        return f"What you set yourself still comes; “cancel {about}” ends such a reminder.", kept
    return "", [_remember(PREFERENCES, f"Don't {verb} {what}")]


def _note(facts: CoachFacts, wish: Wish) -> Answer:
    del facts
    fact = wish.slots["fact"]
    return "", [_remember(PREFERENCES, fact[:1].upper() + fact[1:])]


def _promise(facts: CoachFacts, wish: Wish) -> Answer:
    del facts
    what, due = wish.slots["fact"], wish.slots.get("due", "")
    return "", [_remember(COMMITMENTS, what[:1].upper() + what[1:] + (f" (due: {due})" if due else ""))]


def _forget(facts: CoachFacts, wish: Wish) -> Answer:
    wanted = wish.slots["fact"]
    for section, lines in ((PREFERENCES, facts.memory.preferences), (COMMITMENTS, _commitments(facts))):
        for line in lines:
            if same(line, wanted) or same(line.partition(" (")[0], wanted):
                return "", [{"action": "update_memory", "section": section, "remove": line}]
    return f"I don't find “{wanted}” in my memory. “what do you know about me?” shows what I have.", []


def tick(facts: CoachFacts, wish: Wish) -> Answer:
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
    last = facts.talk.subject if "it" in wish.slots and facts.talk.last is not None else ""
    if wish.id or facts.talk.came or last:
        return "", [as_action(replace(wish, id=wish.id or facts.talk.came or last))]
    if not facts.goals.open_today:
        return "Nothing is open on Today's list. Enjoy that.", []
    return tick(facts, replace(wish, line=(TODAY, facts.goals.open_today[0].text)))


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


def _name(facts: CoachFacts, wish: Wish) -> Answer:
    before = _name_of(facts)
    old = [{"action": "update_memory", "section": PREFERENCES, "remove": f"{GOES_BY} {before}"}] if before else []
    if before == wish.slots["name"]:
        return f"That's what I call you already, {before}.", []
    name = wish.slots["name"]
    return f"Nice to meet you, {name}.", [*old, _remember(PREFERENCES, f"{GOES_BY} {name}")]


def _name_of(facts: CoachFacts) -> str:
    return next((line[len(GOES_BY) + 1 :] for line in facts.memory.preferences if line.startswith(f"{GOES_BY} ")), "")


def _target(facts: CoachFacts, wish: Wish) -> Answer:
    """Bedtime, the beginning of the day, quiet hours, the zone or the day of the review."""
    value = _SPAN.sub("-", _HALF_DAY.sub(_by_24_hours, wish.slots["value"]))
    if re.fullmatch(r"(?:at )?\d{1,2}", value):  # "I get up at 6"
        value = _usual_hour(int(value.removeprefix("at ")), FIELDS[wish.slots["field"].casefold()])
    if not re.search(r"\d|/|UTC", value, re.IGNORECASE):  # a time of day in words
        try:
            said = understand(value, facts.now, facts.targets.zone)
        except UnclearPhraseError as unclear:
            return f"{unclear.question} Please say it with the time, like “bedtime 23:30”.", []
        value = f"{to_datetime(said.first, facts.targets.zone):%H:%M}"
    line = f"{FIELDS[wish.slots['field'].casefold()]}: {value}"
    return "", [{"action": "update_goals", "section": TARGETS_SECTION, "lines": [line]}]


def _usual_hour(hour: int, field: str) -> str:
    """The hour of a bare number: people get up before noon, and go to bed in the evening or in the night."""
    if field == "bedtime_target" and 7 <= hour <= 12:
        hour = (hour + 12) % 24
    return f"{hour:02}:00"


_SPAN = re.compile(r"\s+(?:to|until|till)\s+", re.IGNORECASE)
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
    said = f"This week: {_listed(facts.goals.week)}" if facts.goals.week else "This week's list is empty."
    days = [facts.today + timedelta(days=ahead) for ahead in range(7 - facts.today.weekday())]
    return "\n".join([said, *(coming for day in days if (coming := _coming(facts, day)))]), []


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
    return "", [as_action(replace(wish, slots={"day": day.isoformat()}))]


def _date_of(facts: CoachFacts, wish: Wish) -> Answer:
    try:
        at = to_datetime(understand(wish.slots["when"], facts.now, facts.targets.zone).first, facts.targets.zone)
    except InvalidPhraseError:
        return "Which day do you mean?", []
    return f"That's {at:%A}, {at.day} {at:%B %Y}.", []


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
    return help_on(wish.slots["topic"]) if "topic" in wish.slots else HELP, []


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
    "target": _target,
    "remember": _note,
    "forget": _forget,
    "promise": _promise,
    "not-about": _not_about,
    "name": _name,
    "name?": _whats_my_name,
    "know": _know,
    "next-message": _next_message,
    "help": _help,
    "who": _say(
        "I'm nudge, your coach: a program, not a person. I remind you, keep your lists and know when to be quiet."
    ),
    "privacy": _say(
        "What you write stays in the files and the database on the machine I run on, and with the chat app you use. "
        "I answer by rules here; if a language model is set up, it reads our talk too. “what do you know about me?” "
        "shows what I noted."
    ),
    "fewer": _say(
        "Sorry, that's annoying. Want quiet for today? Say “quiet today”. “don't message me about …” stops one "
        "subject, and “leave me alone” stops everything."
    ),
    "quiet-later": _say(
        "I can't plan quiet ahead yet. Tell me “quiet until monday” when it starts, and I'll stick to it."
    ),
    "date-of": _date_of,
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
