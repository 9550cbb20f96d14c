"""The coach's words when no model writes them: warm, direct, short, and not the same every day.

Which of several ways of saying it is taken follows from the day, so the same moment always sounds the same.
"""

from __future__ import annotations

from datetime import date
from hashlib import sha256

from nudge.attention.bedtime import BedtimeTone

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
