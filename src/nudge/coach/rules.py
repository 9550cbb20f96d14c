"""The offline model: the coach by rules alone, over the same facts that a language model reads in words.

It is what answers without a key and when the service is down, so that reminders, briefings and bedtime nudges never
fall silent. Equal facts give equal answers.
"""

from __future__ import annotations

from datetime import time
from typing import Any
from zoneinfo import ZoneInfo

from nudge.attention.bedtime import BedtimeTone
from nudge.attention.preferences import forbids
from nudge.coach.answers import WISH, pick
from nudge.coach.briefings import Briefing, bedtime_nudge, bedtime_of, night_of
from nudge.coach.facts import CoachFacts, Purpose
from nudge.coach.memory import recap
from nudge.coach.small_talk import chat
from nudge.coach.trouble import ALWAYS, CLAUSES, ELSEWHERE, EMERGENCY, LINES, NOT_MEANT, TROUBLE
from nudge.coach.trouble import ANSWER as TROUBLE_ANSWER
from nudge.instants import DAY, HOUR, MINUTE, Instant, to_datetime

CONVERSING = 5 * MINUTE
CONDITION_MARK = "Before proceeding, evaluate this condition:"
MOST_IDEAS = 4
"""Messages a day after which the rules have no more ideas of their own; reminders and bedtime are no ideas."""

BEDTIME = {
    BedtimeTone.CASUAL: (
        "About an hour to bedtime. What's a good place to stop for today?",
        "It's getting late-ish. One last thing, and then wind down?",
        "An hour to go until {bedtime}. What would make it easy to be in bed by then?",
        "Still up? Maybe pick the stopping point now, while it's easy.",
    ),
    BedtimeTone.DIRECT: (
        "{bedtime} was the time you picked for bed. Can this wait until tomorrow?",
        "Past {bedtime} now. Close it here: write one line on where to start tomorrow, and go.",
        "That's bedtime. What's the one thing keeping you up?",
    ),
    BedtimeTone.SERIOUS: (
        "You're well past bedtime. Tomorrow's you pays for this. Put it down now; I won't ask again tonight.",
        "Last one from me tonight: it's past your bedtime, and nothing gets better at this hour. Please go to bed.",
        "This is the point where it starts to cost you tomorrow. Lights out? That's my last word tonight.",
    ),
}
LATE_CASUAL = (
    "Still up? Maybe pick the stopping point now, while it's easy.",
    "It's getting late-ish. One last thing, and then wind down?",
    "Later than you planned, isn't it? What's a good place to stop?",
)
"""The first word of a night that falls after the hour before bedtime has begun."""
MORNING = ("Good morning.", "Morning.", "Morning! New day.", "Good morning. Fresh start.")
FIRST = ("First: {task}.", "The one that matters: {task}.", "If you only do one thing: {task}.", "Start with {task}?")
NO_TASKS = (
    "Nothing is on Today's list yet. What's the one thing that would make today a good day?",
    "Today's list is empty. What's the single most important thing?",
    "What's the plan today? Tell me one thing and I'll keep it in view: “add … to today”.",
)
OVERDUE = (
    "“{what}” was due {due}. Still on? A first step of five minutes, or a new date, both count.",
    "Quick check on “{what}” (due {due}). Do it, move it, or drop it?",
    "“{what}” is still open from {due}. What would get it moving?",
)
AFTERNOON = (
    "How's “{task}” going? If it's stuck, what's the smallest next piece?",
    "“{task}” is still open. Want to give it 20 minutes?",
    "What's in the way of “{task}”? Maybe we can make it smaller.",
)
MONTHLY = (
    "New month. Your quarter says: {goals}. Keep, change or drop one?",
    "First of the month: time for a look at the quarter. {goals}. Which of these still matters most?",
)
NO_QUARTER = (
    "New month, and no goals for the quarter yet. What would you like to be doing regularly by the end of it?",
    "First of the month. What are one to three things you want to keep doing this quarter?",
)

_AFTERNOON = (time(15, 0), time(19, 0))
_ABOUT_SLEEP = "bedtime"


def answer(facts: CoachFacts) -> dict[str, Any] | str:
    """The answer for the facts' purpose: a decision for a heartbeat, a reply with actions for a conversation, a text
    for a briefing. A briefing with nothing to say is empty.

    >>> from nudge.instants import Instant
    >>> answer(CoachFacts(now=Instant(0), purpose=Purpose.HEARTBEAT))["action"]
    'heartbeat_ok'
    """
    match facts.purpose:
        case Purpose.HEARTBEAT:
            return _heartbeat(facts)
        case Purpose.CONVERSATION:
            reply, actions = chat(facts)
            wishes = [one for one in actions if one["action"] == WISH]
            return {
                "reply": reply,
                "actions": [one for one in actions if one not in wishes],
                WISH: wishes,
                "recent_context": recap(facts.memory.recent_context, facts.text, facts.today),
            }
        case Purpose.BRIEFING:
            return _briefing(facts)


def _heartbeat(facts: CoachFacts) -> dict[str, Any]:
    """The first of: due reminders, bedtime, an overdue commitment, the day's first task. Silence while it is quiet and
    while the person talks to the coach; during a review only reminders."""
    if facts.task:
        return _task(facts.task)
    state = facts.state
    if facts.targets.is_quiet(facts.now) or (state.quiet_until is not None and state.quiet_until > facts.now):
        return _silence()
    if state.last_user_message is not None and facts.now - state.last_user_message < CONVERSING:
        return _silence()
    reminders = _reminders(facts)
    if reminders:
        return _message(reminders)
    if state.review_in_progress:
        return _silence()
    bedtime = _bedtime(facts)
    if bedtime:
        return _message(bedtime, {"bedtime_nudge_sent": True})
    if state.proactive_today >= MOST_IDEAS or _near_bedtime(facts):
        return _silence()
    return _message(idea) if (idea := _overdue(facts) or _afternoon(facts)) else _silence()


def _task(task: str) -> dict[str, Any]:
    """Rules cannot do a task or judge a condition in words; they can pass on what it says. Whether it may be said is
    the gate's to decide."""
    text = task.strip()
    return _message(text) if text and CONDITION_MARK not in text else _silence()


def _briefing(facts: CoachFacts) -> str:
    match facts.briefing:
        case Briefing.BEDTIME:
            return _bedtime(facts)
        case Briefing.MONTHLY:
            goals = "; ".join(_wanted(facts, [goal.text for goal in facts.goals.quarter]))
            return pick(MONTHLY, facts.today).format(goals=goals) if goals else pick(NO_QUARTER, facts.today)
        case Briefing.MORNING | Briefing.WEEKLY_REVIEW:
            return _morning(facts)
        case None:
            return ""


def _morning(facts: CoachFacts) -> str:
    day = facts.today
    lines = [pick(MORNING, day)]
    tasks = _wanted(facts, [goal.text for goal in facts.goals.open_today])
    if tasks:
        lines[0] += " " + pick(FIRST, day).format(task=tasks[0].rstrip("."))
        if tasks[1:]:
            lines.append("Then, if there's time: " + ", ".join(tasks[1:]) + ".")
    else:
        lines[0] += " " + pick(NO_TASKS, day)
        week = _wanted(facts, [goal.text for goal in facts.goals.week if not goal.done])
        if week:
            lines.append("From this week's list: " + ", ".join(week) + ".")
    due = _wanted(facts, [one.text for one in facts.memory.commitments if one.due == day and not one.done])
    if due:
        lines.append("Due today: " + ", ".join(due) + ".")
    overdue = _wanted(facts, [one.text for one in facts.memory.overdue])
    if overdue:
        lines.append("Still open: " + ", ".join(overdue[:3]) + ".")
    return "\n".join(lines)


def _wanted(facts: CoachFacts, lines: list[str]) -> list[str]:
    """Without what the person does not want to hear about."""
    return [line for line in lines if not forbids(facts.memory.preferences, line)]


def _reminders(facts: CoachFacts) -> str:
    due = [one.text for one in facts.due_reminders if not _mentioned(facts, one.text, since=one.due_at)]
    if len(due) == 1:
        return f"Reminder: {due[0]}"
    return "Reminders:\n" + "\n".join(f"• {text}" for text in due) if due else ""


def _bedtime(facts: CoachFacts) -> str:
    tone = bedtime_nudge(facts.now, facts.targets, facts.state).tone
    if tone is None or forbids(facts.memory.preferences, _ABOUT_SLEEP):
        return ""
    night = night_of(facts.now, facts.targets)
    late = tone is BedtimeTone.CASUAL and facts.now > bedtime_of(night, facts.targets) - 45 * MINUTE
    words = LATE_CASUAL if late else BEDTIME[tone]
    return pick(words, night, tone).format(bedtime=f"{facts.targets.bedtime_target:%H:%M}")


def _near_bedtime(facts: CoachFacts) -> bool:
    bedtime = bedtime_of(night_of(facts.now, facts.targets), facts.targets)
    return facts.now >= bedtime - 2 * HOUR


def _overdue(facts: CoachFacts) -> str:
    for one in facts.memory.overdue:
        if not _mentioned(facts, one.text, since=Instant(facts.now - DAY)) and not forbids(
            facts.memory.preferences, one.text
        ):
            return pick(OVERDUE, facts.today, one.text).format(what=one.text, due=one.due_words)
    return ""


def _afternoon(facts: CoachFacts) -> str:
    clock = to_datetime(facts.now, facts.targets.zone).time()
    tasks = facts.goals.open_today
    if not tasks or not _AFTERNOON[0] <= clock < _AFTERNOON[1]:
        return ""
    task = tasks[0].text
    talked_today = any(_about(turn.text, task) for turn in facts.turns if facts.now - turn.at < 6 * HOUR)
    if talked_today or forbids(facts.memory.preferences, task):
        return ""
    return pick(AFTERNOON, facts.today, task).format(task=task)


def _mentioned(facts: CoachFacts, text: str, *, since: Instant) -> bool:
    """Whether the coach has brought it up since then."""
    return any(turn.role == "assistant" and turn.at >= since and _about(turn.text, text) for turn in facts.turns)


def _about(said: str, text: str) -> bool:
    return " ".join(text.casefold().split()) in " ".join(said.casefold().split())


def _silence() -> dict[str, Any]:
    return {"action": "heartbeat_ok", "message": "", "state_updates": {}}


def _message(text: str, updates: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"action": "message", "message": text, "state_updates": updates or {}}


def in_trouble(text: str) -> bool:
    """Whether the words speak of self-harm or danger, in any clause of the message.

    >>> in_trouble("I can't do this, I want to die"), in_trouble("my phone died"), in_trouble("I'm dying of laughter")
    (True, False, False)
    """
    said = text[:2000].replace("’", "'")
    if ALWAYS.search(said):
        return True
    if NOT_MEANT.search(said):
        return False
    clauses = [said, *CLAUSES.split(said)] if len(said) < 200 else CLAUSES.split(said)
    return any(_is_trouble(clause) for clause in clauses if clause.strip())


def _is_trouble(clause: str) -> bool:
    return any(_ends_well(found.slots.get("end", "")) for _, found in TROUBLE.read(clause))


def _ends_well(words: str) -> bool:
    """What may follow in the slot of a row: little, so that "I want to die my hair" is no cry for help."""
    return not words or words.casefold() in (
        "now",
        "today",
        "tonight",
        "already",
        "soon",
        "so much",
        "kill me",
        "hurt me",
    )


def answer_to_trouble(zone: ZoneInfo, line: str = "", emergency: str = "") -> str:
    """What is said. `line` and `emergency` are the person's own, from nudge.toml."""
    return TROUBLE_ANSWER.format(
        line=line or _by_zone(LINES, zone, ELSEWHERE),
        emergency=emergency or _by_zone(EMERGENCY, zone, "your local emergency number"),
    )


def _by_zone(table: dict[str, str], zone: ZoneInfo, otherwise: str) -> str:
    fitting = [start for start in table if zone.key.startswith(start)]
    return table[max(fitting, key=len)] if fitting else otherwise
