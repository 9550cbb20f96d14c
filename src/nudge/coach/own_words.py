"""Whose idea an action is: the person's, or only a model's.

A model reads the person's words, but also what somebody else wrote: posts that were passed on, quotations, documents.
It may take an order in there for the person's. So code decides what comes of each action a model asks for:

- What our rules read in the person's own words too is theirs, and is done.
- While somebody else's words are in the talk, an action must have its source in what the person says themselves. One
  whose words or whose kind they do not even mention is refused.
- What reaches far (quiet hours, the time zone, an emptied list, a quiet time they did not name) needs their yes.
- A reminder at a time that they did not name is the model's. Its limits are in `nudge.defaults`.
- A reminder is moved, snoozed, cancelled or ticked off where they speak of such a change or of that reminder. A time
  they did not name, and more than two reminders in one message, need their yes.

None of this depends on what the model says about it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from nudge.attention.preferences import stem
from nudge.attention.restraint import RestraintKind, recognise
from nudge.coach.actions import (
    Action,
    AddReminder,
    CancelReminder,
    CompleteReminder,
    MoveReminder,
    RefusedAction,
    ReminderChange,
    SetQuiet,
    SetState,
    SnoozeReminder,
    UpdateGoals,
    UpdateMemory,
    apply_to_goals,
    apply_to_memory,
    read_actions,
)
from nudge.coach.documents import Document, DocumentTexts, is_placeholder
from nudge.coach.facts import CoachFacts, Turn
from nudge.coach.memory import key
from nudge.coach.small_talk import chat
from nudge.coach.targets import SECTION as TARGETS
from nudge.coach.targets import Targets
from nudge.durations import format_duration
from nudge.errors import UsageError
from nudge.instants import DAY, MINUTE, Instant, rfc3339, to_datetime
from nudge.phrases import Understood, times_in
from nudge.queue.records import Record, fields, instant, moment, whole
from nudge.reminders.reminder import Source
from nudge.text import has_quotes, short, without_quotes

MOST_LINES_LOST = 2
"""A reply may take so many lines out of the documents; more needs a yes."""
MOST_REMINDERS_CHANGED = 2
"""The same for reminders that are moved, snoozed, cancelled or ticked off."""
LONG_QUIET = DAY
"""A longer quiet time needs a yes even if the person named it."""
FAR_REACHING_TARGETS = ("quiet_hours", "timezone")

PASSED_ON = "it comes from a text that somebody else wrote. If you want it, tell me in your own words"


def somebody_else_spoke(turns: Iterable[Turn], text: str) -> bool:
    """Whether words of somebody else are in the talk that a model reads. The coach repeats them where it refuses to
    follow them, and then they are there for another day."""
    return has_quotes(text) or any(
        turn.forwarded or has_quotes(turn.text) if turn.role == "user" else PASSED_ON in turn.text for turn in turns
    )


@dataclass(frozen=True, slots=True)
class Weighed:
    """What comes of the actions a model asked for: done now, done after a yes, or not at all."""

    now: tuple[Action, ...] = ()
    after_yes: tuple[Action, ...] = ()
    refused: tuple[RefusedAction, ...] = ()


def weigh(actions: Sequence[Action], facts: CoachFacts, texts: DocumentTexts) -> Weighed:
    """Decide about each action of a model's reply to the person's message."""
    said = without_quotes(facts.text)
    own, _ = read_actions(chat(replace(facts, text=said))[1], facts.now, facts.targets)
    own = (*own, *_restraint(said, facts))
    times = Counter(map(_moment, _times(said, actions, facts)))
    strangers = somebody_else_spoke(facts.read, facts.text)
    done: list[Action] = []
    ask: list[Action] = []
    refused: list[RefusedAction] = []
    for action in actions:
        mine = next((one for one in own if _same(action, one)), None)
        if mine is not None:
            done.append(action)
            if isinstance(action, AddReminder):
                times[_moment(action.understood)] = 0
                own = tuple(one for one in own if one is not mine)  # asked for once, it is one reminder
            continue
        if isinstance(action, AddReminder):
            named = times[_moment(action.understood)] > 0
            times[_moment(action.understood)] = 0  # one time that was named is one reminder
            if not named:
                action = replace(action, source=Source.MODEL)
        if strangers and not _is_in(action, said):
            if _mentions(action, said):
                ask.append(action)
            else:
                refused.append(RefusedAction(action.name, PASSED_ON))
        elif _needs_yes(action, said, facts):
            ask.append(action)
        else:
            done.append(action)
    changed = [one for one in done if isinstance(one, ReminderChange) and one not in own]
    if len(changed) > MOST_REMINDERS_CHANGED:
        done = [one for one in done if one not in changed]
        ask += changed
    if loses_much([one for one in done if not any(_same(one, theirs) for theirs in own)], texts, facts.today):
        much = [one for one in done if _takes_out(one) and not any(_same(one, theirs) for theirs in own)]
        done = [one for one in done if one not in much]
        ask += much
    return Weighed(tuple(done), tuple(ask), tuple(refused))


def _restraint(said: str, facts: CoachFacts) -> tuple[Action, ...]:
    """The quiet time that their own words ask for, or end. It is in force already; the model may say the same."""
    found = recognise(said, facts.now, facts.targets.person)
    if found is None or found.duration is None or found.duration > LONG_QUIET:
        return ()
    return (SetQuiet(None if found.kind is RestraintKind.BACK else Instant(facts.now + found.duration)),)


def loses_much(actions: Sequence[Action], texts: DocumentTexts, today: date) -> bool:
    """Whether these would empty a list, or take more than two lines out of the documents."""
    lost = 0
    for before, after in _edited(actions, texts, today):
        old, new = Document.parse(before), Document.parse(after)
        for section in old.sections:
            had = {_plain(item.text) for item in old.items_of(section) if not is_placeholder(item.text)}
            has = {_plain(item.text) for item in new.items(section.title)}
            lost += len(had - has)
            if had and not has:
                return True
    return lost > MOST_LINES_LOST


def _edited(actions: Sequence[Action], texts: DocumentTexts, today: date) -> Iterable[tuple[str, str]]:
    memory, goals = texts.memory, texts.goals
    for action in actions:
        try:
            if isinstance(action, UpdateMemory):
                memory = apply_to_memory(memory, action, today)
            elif isinstance(action, UpdateGoals):
                goals = apply_to_goals(goals, action)
        except UsageError:
            continue  # it is refused when it is carried out
    return ((texts.memory, memory), (texts.goals, goals))


def _plain(line: str) -> str:
    return key(re.sub(r"^\[[ xX]\]\s*", "", line))


def _takes_out(action: Action) -> bool:
    return isinstance(action, UpdateGoals) or (isinstance(action, UpdateMemory) and bool(action.remove))


def _needs_yes(action: Action, said: str, facts: CoachFacts) -> bool:
    match action:
        case UpdateGoals(section=section, lines=lines) if section == TARGETS:
            return any(line.partition(":")[0].strip() in FAR_REACHING_TARGETS for line in lines)
        case SetQuiet(until=None):
            return True
        case SetQuiet(until=until) if until is not None:
            return until - facts.now > LONG_QUIET or not _named_span(until, said, facts)
        case MoveReminder(understood=understood) if not _named_time(understood, said, facts):
            return True
        case MoveReminder() | SnoozeReminder() | CancelReminder() | CompleteReminder():
            return not (_mentions(action, said) or _names(action.title, said))
    return False


def _named_time(when: Understood, said: str, facts: CoachFacts) -> bool:
    named = (*times_in(said, facts.now, facts.targets.zone), *_after_in(said, facts))
    return any(_moment(one) == _moment(when) for one in named)


def _names(title: str, said: str) -> bool:
    """Whether the person spoke of that reminder: a word of it that says something is in theirs."""
    return bool(_words(title) & _words(said))


_LENGTH = re.compile(
    r"\b(?:in |for )?(?:the next |about |another )?"
    r"((?:half )?(?:an?|\w+) ?(?:m|mins?|minutes?|h|hrs?|hours?|days?|weeks?))\b",
    re.I,
)


def _named_span(until: Instant, said: str, facts: CoachFacts) -> bool:
    """Whether the person named this time or this length, within a minute."""
    spans = (*times_in(said, facts.now, facts.targets.zone), *_after_in(said, facts))
    return any(one.once is not None and abs(one.once - until) <= MINUTE for one in spans)


def _after_in(said: str, facts: CoachFacts) -> tuple[Understood, ...]:
    """Lengths: "for two hours" is as far as "in two hours"."""
    return times_in(_LENGTH.sub(r"in \1", said), facts.now, facts.targets.zone)


def _times(said: str, actions: Sequence[Action], facts: CoachFacts) -> tuple[Understood, ...]:
    if not any(isinstance(action, AddReminder) for action in actions):
        return ()
    return times_in(said, facts.now, facts.targets.zone)


def _moment(when: Understood) -> tuple[object, ...]:
    """The same for two ways of saying the same time: seconds do not count."""
    return (when.once and when.once // MINUTE, when.rrule, when.every)


def _same(one: Action, other: Action) -> bool:
    match one, other:
        case AddReminder(), AddReminder():
            return _moment(one.understood) == _moment(other.understood)
        case UpdateGoals(), UpdateGoals():
            return one.section == other.section and [_value(a) for a in one.lines] == [_value(a) for a in other.lines]
        case SetQuiet(), SetQuiet() if one.until is not None and other.until is not None:
            return abs(one.until - other.until) <= MINUTE
        case UpdateMemory(), UpdateMemory():
            mine, theirs = (one.add or one.remove, other.add or other.remove)
            return one.section == other.section and bool(one.add) == bool(other.add) and key(mine) == key(theirs)
    return one == other


def _value(line: str) -> str:
    return re.sub(r"[\s\"'“”]", "", line).casefold()


_SMALL = frozenset(
    (
        "a", "an", "the", "to", "of", "in", "on", "at", "by", "for", "and", "or", "my", "me", "your", "you", "i", "it",
        "is", "are", "be", "with", "from", "this", "that", "due", "set", "about",
    )
)  # fmt: skip
_KINDS: dict[str, re.Pattern[str]] = {
    AddReminder.name: re.compile(r"\b(?:remind|nudge me|ping me|wake me|tell me|alarm|don't let me forget)", re.I),
    UpdateMemory.name: re.compile(
        r"\b(?:remember|note|forget|keep in mind|memor|preference|promise|commit|stop|don't)", re.I
    ),
    UpdateGoals.name: re.compile(
        r"\b(?:goal|today|week|quarter|list|task|plan|done|finish|add|remove|drop|bedtime|wake|quiet hours|time ?zone)",
        re.I,
    ),
    SetQuiet.name: re.compile(r"\b(?:quiet|mute|silen|leave me|no messages|disturb|busy|focus|speak|talk)", re.I),
    SetState.name: re.compile(r"\b(?:quiet|mute|silen|leave me|bed)", re.I),
    MoveReminder.name: re.compile(
        r"\b(?:move|change|shift|push|postpone|reschedul|instead|later|earlier|rather|make (?:it|that)|i meant)", re.I
    ),
    SnoozeReminder.name: re.compile(
        r"\b(?:snooze|later|again|not now|more min|more hour|in a (?:bit|while)|busy)", re.I
    ),
    CancelReminder.name: re.compile(
        r"\b(?:cancel|delete|remove|drop|stop|forget|never ?mind|don't remind|no longer|not need|scrap|clear)", re.I
    ),
    CompleteReminder.name: re.compile(r"\b(?:done|did|finish|complet|made it|tick|sent|called|paid|have been)", re.I),
}


def _is_in(action: Action, said: str) -> bool:
    """Whether most of what the action says is in the person's own words."""
    wanted = _words(_content(action))
    if not wanted:
        return False
    return 2 * len(wanted & _words(said)) > len(wanted)


def _mentions(action: Action, said: str) -> bool:
    return bool(_KINDS[action.name].search(said.replace("’", "'")))


def _content(action: Action) -> str:
    match action:
        case UpdateMemory():
            return action.add or action.remove
        case UpdateGoals():
            return " ".join(action.lines)
        case AddReminder():
            return action.text
        case MoveReminder() | SnoozeReminder() | CancelReminder() | CompleteReminder():
            return action.title
    return ""


def _words(text: str) -> set[str]:
    return {stem(word) for word in re.findall(r"\w+", text.casefold())} - _SMALL


def question(actions: Sequence[Action], now: Instant, targets: Targets) -> str:
    """What the coach asks before it does these.

    >>> question([UpdateGoals("Today", ())], Instant(0), Targets())
    'Shall I empty Today? Please answer yes or no.'
    """
    wanted = [_would(action, now, targets) for action in actions]
    what = wanted[0] if len(wanted) == 1 else f"{', '.join(wanted[:-1])} and {wanted[-1]}"
    return f"Shall I {what}? Please answer yes or no."


def _would(action: Action, now: Instant, targets: Targets) -> str:
    match action:
        case UpdateGoals(section=section, lines=lines) if section == TARGETS:
            return "set " + ", ".join(short(line) for line in lines)
        case UpdateGoals(section=section, lines=()):
            return f"empty {section}"
        case UpdateGoals(section=section, lines=lines):
            return f"replace {section} with: " + "; ".join(short(line) for line in lines)
        case UpdateMemory(remove=line) if line:
            return f"take “{short(line)}” out of my memory"
        case UpdateMemory(add=line):
            return f"note “{short(line)}” in my memory"
        case AddReminder():
            return f"remind you: {short(action.text)}, {action.understood.echo(now, targets.zone)}"
        case MoveReminder():
            return f"move “{short(action.title)}”: {action.understood.echo(now, targets.zone)}"
        case SnoozeReminder():
            return f"snooze “{short(action.title)}” for {format_duration(action.length)}"
        case CancelReminder():
            return f"cancel “{short(action.title)}”"
        case CompleteReminder():
            return f"mark “{short(action.title)}” as done"
        case SetQuiet(until=None):
            return "end your quiet time now"
        case SetQuiet(until=until) if until is not None:
            return f"send nothing, not even your reminders, until {to_datetime(until, targets.zone):%A %H:%M}"
    return "change my state"


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """What waits for the person's yes: the actions as they were asked for at `at`, after message `number`. Without
    actions the question is whether to write again, after "leave me alone"."""

    number: int
    at: Instant
    actions: tuple[Mapping[str, Any], ...]

    def read(self, targets: Targets) -> tuple[Action, ...]:
        return read_actions(self.actions, self.at, targets)[0]

    def is_open(self, now: Instant) -> bool:
        return now - self.at < ANSWER_WITHIN

    @property
    def asks_to_go_on(self) -> bool:
        return not self.actions

    @property
    def buttons(self) -> tuple[tuple[str, str], ...]:
        return (("Yes", f"yes:{self.number}"), ("No", f"no:{self.number}"))


QUESTION: Record[OpenQuestion] = Record(
    "coach.question",
    lambda data: OpenQuestion(whole(data["number"]), moment(data["at"]), tuple(fields(one) for one in data["actions"])),
    lambda one: {"number": one.number, "at": one.at, "actions": [dict(action) for action in one.actions]},
)
ASKED_TO_GO_ON: Record[Instant] = instant("coach.asked-to-go-on")
"""When the person was asked whether to write again. Once for each "leave me alone"."""
ANSWER_WITHIN = DAY
"""A yes that comes later answers something else."""

_UNSURE = re.compile(r"(?:ok|okay|k|hm+|maybe|fine|alright)[.! ]*", re.I)
_YES = re.compile(
    r"(?:y|yes|yep|yeah|yup|sure|yes,? please|please do|do it|do that|go ahead|yes,? (?:do (?:it|that)|go ahead)"
    r"|ok,? do it|confirm(?:ed)?|(?:yes,? )?(?:go on|carry on|continue|write again))[.! ]*",
    re.I,
)
_NO = re.compile(
    r"(?:n|no|nope|nah|no,? (?:thanks|thank you)|(?:no,? )?not yet|don't|do not|leave it|cancel|stop)[.! ]*", re.I
)


def yes_or_no(text: str) -> bool | None:
    """What a message answers to a question; None if it is about something else.

    >>> yes_or_no("Yes please!"), yes_or_no("no"), yes_or_no("yes, but what about Friday?")
    (True, False, None)
    """
    words = " ".join(text.replace("’", "'").split())
    return True if _YES.fullmatch(words) else False if _NO.fullmatch(words) else None


def is_unsure(text: str) -> bool:
    """Whether a message may be a yes, or only a nod: then the question is put again."""
    return bool(_UNSURE.fullmatch(" ".join(text.split())))


def as_asked(action: Action, now: Instant, targets: Targets) -> dict[str, Any]:
    """The action as `read_action` reads it again, at `now`."""
    match action:
        case UpdateMemory(section=section, add=add, remove=remove):
            return {"action": action.name, "section": section, "add": add, "remove": remove}
        case UpdateGoals(section=section, lines=lines):
            return {"action": action.name, "section": section, "lines": list(lines)}
        case AddReminder(text=text, understood=understood):
            return {"action": action.name, "text": text, "when": _when(understood, targets)}
        case MoveReminder(understood=understood):
            return {**_one(action), "when": _when(understood, targets)}
        case SnoozeReminder(length=length):
            return {**_one(action), "duration": f"{max(1, round(length / MINUTE))} minutes"}
        case CancelReminder() | CompleteReminder():
            return _one(action)
        case SetQuiet(until=until):
            span = "off" if until is None else f"{max(1, round((until - now) / MINUTE))} minutes"
            return {"action": action.name, "duration": span}
        case SetState(updates=updates):
            shown = {name: rfc3339(value) if name == "quiet_mode_until" else value for name, value in updates.items()}
            return {"action": action.name, "state_updates": shown}


def _one(action: ReminderChange) -> dict[str, Any]:
    return {"action": action.name, "reminder": action.reminder, "title": action.title}


def _when(understood: Understood, targets: Targets) -> str:
    return understood.said_again(targets.zone)
