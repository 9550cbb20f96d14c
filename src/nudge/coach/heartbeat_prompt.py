"""The heartbeat's question: everything the coach knows, put to a model in one message.

The system part is stable (personality, the rule of the fences, the form of the answer) and comes first, where a prompt
cache can hold it. The message begins with what changes every time and ends with what is asked.
"""

from __future__ import annotations

from dataclasses import dataclass

from nudge.coach.documents import one_line, readable, without_comments
from nudge.coach.facts import CoachState, DueReminder
from nudge.coach.fence import RULE, fence
from nudge.coach.prompt_size import HEARTBEAT_CAP, clip, estimate
from nudge.coach.targets import Targets
from nudge.instants import DAY, HOUR, MINUTE, Instant, to_datetime

ANSWER_RULE = (
    "Answer with exactly HEARTBEAT_OK or with one JSON object of the form you are given, and nothing else: no words "
    "around it, no code fence. Anything else is thrown away. topic may name in a word or two what a message is about; "
    "the same words on the same topic do not go out twice in a day. state_updates may only hold bedtime_nudge_sent: "
    "true, morning_brief_sent: true and quiet_mode_until: a time with its offset, at most a day ahead."
)
_FLOOR = 150
"""Tokens that each text keeps, however long the others are."""


@dataclass(frozen=True, slots=True)
class Documents:
    """The four texts as they are in the files."""

    goals: str = ""
    memory: str = ""
    agents: str = ""
    checklist: str = ""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked: `system` first and unchanged from call to call, then `message`."""

    system: str
    message: str

    @property
    def tokens(self) -> int:
        return estimate(self.system) + estimate(self.message)


def heartbeat_prompt(
    documents: Documents,
    state: CoachState,
    due: tuple[DueReminder, ...],
    now: Instant,
    targets: Targets,
    cap: int = HEARTBEAT_CAP,
) -> Prompt:
    """The question of one heartbeat, within the cap. Comments in the documents are for the person and left out; a text
    that is too long loses its middle, the memory first."""
    texts = {
        "memory": without_comments(documents.memory),
        "goals": without_comments(documents.goals),
        "reminders": "\n".join(_reminder(one, targets) for one in due) or "(none)",
        "checklist": without_comments(documents.checklist),
        "agents": without_comments(documents.agents),
    }
    prompt = _compose(texts, state, now, targets)
    for name in texts:
        if prompt.tokens <= cap:
            break
        spare = estimate(texts[name]) - (prompt.tokens - cap) - 8  # the fences' own tags may grow by a few letters
        texts[name] = clip(texts[name], max(_FLOOR, spare))
        prompt = _compose(texts, state, now, targets)
    return prompt


def _compose(texts: dict[str, str], state: CoachState, now: Instant, targets: Targets) -> Prompt:
    system = "\n\n".join(part for part in (texts["agents"], RULE, ANSWER_RULE) if part)
    return Prompt(
        system,
        f"""Current time: {to_datetime(now, targets.zone):%A} {clock(now, targets)} ({targets.timezone})
Last user message: {_past(state.last_user_message, now, targets)}
Last activity ping: {_past(state.last_activity, now, targets)}
Today's proactive messages sent: {state.proactive_today}
Bedtime nudge sent today: {_yes(state.bedtime_nudges > 0)}
Morning brief sent today: {_yes(state.morning_brief_sent)}
Weekly review in progress: {_yes(state.review_in_progress)}
Quiet mode until: {_until(state.quiet_until, now, targets)}

--- GOALS.md ---
{fence(texts["goals"])}

--- MEMORY.md ---
{fence(texts["memory"])}

--- Due reminders ---
{fence(texts["reminders"])}

--- HEARTBEAT.md (evaluation checklist) ---
{texts["checklist"]}

Based on all context above, decide:
1. Should you send a message right now? If yes, write it.
2. Should you update any state? If yes, specify what.
3. If no action needed, output exactly: HEARTBEAT_OK

Respond in this JSON format:
{{"action": "message"|"heartbeat_ok"|"state_update", "message": "...", "state_updates": {{...}}}}""",
    )


def clock(at: Instant, targets: Targets) -> str:
    """A time as the person's wall clock and calendar show it."""
    return f"{to_datetime(at, targets.zone):%Y-%m-%d %H:%M}"


def ago(at: Instant, now: Instant) -> str:
    """How long ago, in words, rounded down.

    >>> ago(Instant(0), Instant(125 * MINUTE))
    '2 h 5 min ago'
    """
    passed = max(0, now - at)
    if passed < MINUTE:
        return "just now"
    if passed < HOUR:
        return f"{passed // MINUTE} min ago"
    if passed < DAY:
        minutes = passed % HOUR // MINUTE
        return f"{passed // HOUR} h {minutes} min ago" if minutes else f"{passed // HOUR} h ago"
    days = passed // DAY
    return f"{days} day{'s' if days > 1 else ''} ago"


def _past(at: Instant | None, now: Instant, targets: Targets) -> str:
    return "none yet (never)" if at is None else f"{clock(at, targets)} ({ago(at, now)})"


def _until(at: Instant | None, now: Instant, targets: Targets) -> str:
    return "not set" if at is None or at <= now else clock(at, targets)


def _reminder(reminder: DueReminder, targets: Targets) -> str:
    return f"- {one_line(readable(reminder.text))} (due {clock(reminder.due_at, targets)})"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
