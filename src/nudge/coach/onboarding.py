"""Getting to know each other: four short questions at the first start, and how people answer them.

Each may be passed on. Whoever asks for something else gets that, and the question once more; whoever does so again is
left in peace. Nothing here reads a clock or a store.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import time
from enum import StrEnum
from typing import Final

from nudge.coach.actions import Action, UpdateGoals, UpdateMemory
from nudge.coach.goals import COMMITMENTS, MOST_GOALS, QUARTER, Goals
from nudge.coach.memory import GOES_BY, PREFERENCES
from nudge.coach.own_words import yes_or_no
from nudge.coach.targets import SECTION as TARGETS_SECTION
from nudge.coach.targets import Targets
from nudge.instants import DAY, Instant
from nudge.phrases.clocks import clock_in
from nudge.phrases.pieces import Clock
from nudge.phrases.places import city_of, zone_of_place
from nudge.queue.records import Record, fields, moment, text

KIND: Final = "first-talk"
"""The kind of a message's timer while one of the questions is open."""
PATIENCE: Final = DAY
"""A question that nobody answered for so long is not open any more."""
LONGEST_NAME: Final = 40
_SLEEP: Final = "Sleep: In bed by"
"""How the template's commitment begins that says the same as the targets."""


class Ask(StrEnum):
    """What is asked, in this order."""

    NAME = "name"
    ZONE = "zone"
    SLEEP = "sleep"
    GOAL = "goal"
    NOTHING = "nothing"
    """It is over, or was put aside."""


@dataclass(frozen=True, slots=True)
class Onboarding:
    """Where it stands. `repeated` says that the question was put again, `answers` are those so far."""

    ask: Ask
    asked_at: Instant
    repeated: bool = False
    answers: Mapping[str, str] = field(default_factory=dict)

    def is_open(self, now: Instant) -> bool:
        return self.ask is not Ask.NOTHING and now - self.asked_at < PATIENCE


ONBOARDING: Record[Onboarding] = Record(
    "onboarding",
    lambda data: Onboarding(
        Ask(data["ask"]),
        moment(data["asked_at"]),
        bool(data["repeated"]),
        {text(name): text(value) for name, value in fields(data["answers"]).items()},
    ),
    lambda one: {
        "ask": one.ask.value,
        "asked_at": one.asked_at,
        "repeated": one.repeated,
        "answers": dict(one.answers),
    },
)


class Reply(StrEnum):
    """What a message is to the question that is open."""

    ANSWER = "answer"
    SKIP = "skip"
    UNCLEAR = "unclear"
    """It is about the question and does not settle it."""
    ELSE = "else"


@dataclass(frozen=True, slots=True)
class Heard:
    """`values` are what it says, by name; `hint` is what to say where it is unclear."""

    reply: Reply
    values: Mapping[str, str] = field(default_factory=dict)
    hint: str = ""


def is_set_up(goals: Goals, preferences: tuple[str, ...]) -> bool:
    """Whether somebody has written into the documents already: then nobody asks how to begin."""
    written = goals.north_star or goals.quarter or goals.week or goals.today or goals.people
    targets = replace(goals.targets, timezone=Targets().timezone)
    return bool(written) or targets != Targets() or any(line.startswith(GOES_BY) for line in preferences)


def begin(now: Instant) -> Onboarding:
    return Onboarding(Ask.NAME, now)


def question(state: Onboarding, targets: Targets, clock: str, *, met: bool = False) -> str:
    """What to ask. `clock` is what the person's clock shows, if the guessed zone is right. `met`: the name is news."""
    hello = f"Nice to meet you, {state.answers['name']}. " if met else ""
    match state.ask:
        case Ask.NAME:
            return (
                "Hi, I'm your coach. Four short questions first; “skip” passes on any of them. What should I call you?"
            )
        case Ask.ZONE if targets.timezone in ("UTC", "Etc/UTC"):
            return f"{hello}Which city are you in, or near? I go by its clock."
        case Ask.ZONE:
            where = city_of(targets.timezone)
            return f"{hello}I think you're on {where} time, so it's {clock} now. Is that right, or which city?"
        case Ask.SLEEP if "bedtime" in state.answers:
            return "And when do you get up?"
        case Ask.SLEEP:
            return "When do you usually go to bed, and when do you get up? Something like “11pm and 7”."
        case Ask.GOAL:
            return "And one thing you'd like to get done in the next few months?"
    return ""


def hear(ask: Ask, said: str, answers: Mapping[str, str], targets: Targets, *, understood: bool) -> Heard:
    """What a message says to the question. `understood` means that the coach knows something else to do with it."""
    words = " ".join(said.replace("’", "'").split())
    if _SKIP.fullmatch(words):
        return Heard(Reply.SKIP)
    if ask is Ask.NAME:
        name = read_name(words, understood=understood)
        return Heard(Reply.ANSWER, {"name": name}) if name else Heard(Reply.ELSE)
    if ask is Ask.ZONE:
        return _hear_zone(words, targets, understood=understood)
    if ask is Ask.SLEEP:
        return _hear_sleep(words, answers, understood=understood)
    goal = read_goal(words)
    if not goal or understood or words.endswith("?"):
        return Heard(Reply.ELSE)
    return Heard(Reply.ANSWER, {"goal": goal})


_SKIP: Final = re.compile(
    r"(?:please |just |ok |okay |no,? )*(?:skip|pass|next|later|maybe later|ask (?:me )?later|another time|"
    r"no thanks|no thank you|nothing|none|rather not|(?:i'd |i would )?rather not(?: say)?|"
    r"(?:i )?prefer not to(?: say)?|i (?:don't|do not) know(?: yet)?|don't know|dunno|idk|no idea|"
    r"(?:i'm )?not sure(?: yet)?|"
    r"(?:it|that) (?:varies|depends|changes)(?: a lot)?|no fixed times?|n/a|none of your business|whatever)"
    r"(?: (?:that|this|it|one|this one|that one|please|for now))*[.! ]*",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(
    r"(?:(?:hi|hello|hey|oh|well|sure|ok|okay)[,!.]? +)?(?:(?:you can |you may |please |just )*call me|"
    r"my name(?:'s| is)|(?:people|everyone|friends|they) calls? me|i go by|the name's|name's|"
    r"this is|it's|it is|i'm|i am|im|name:) +(.+)",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"[^\W\d_]+(?:[-' .][^\W\d_]+){0,2}\.?")
_NO_NAME: Final = frozenset(
    (
        "a", "an", "the", "not", "so", "very", "just", "fine", "good", "ok", "okay", "yes", "yep", "yeah", "no",
        "nope", "sure", "hi", "hello", "hey", "thanks", "what", "why", "how", "who", "when", "where", "help",
        "done", "stop", "here", "back", "busy", "tired", "sad", "well", "great", "goals", "status", "budget",
        "reminders", "remind", "add", "show", "tell", "review", "undo", "hm", "hmm", "lol", "test", "it",
        "that", "this", "me", "you",
    )
)  # fmt: skip


def read_name(words: str, *, understood: bool = False) -> str:
    """What somebody wants to be called, or "" if the words are no name.

    >>> read_name("I'm Sam, nice to meet you"), read_name("what's next?")
    ('Sam', '')
    """
    found = _NAMED.fullmatch(words)
    said = re.split(r"[,;!(]| but | and | by the way| please| - |\. ", found[1] if found else words)[0]
    said = "".join(one for one in said if one.isalpha() or one in " -'.").strip(" -'.")
    parts = said.split()
    if not _NAME.fullmatch(said) or len(said) > LONGEST_NAME or words.endswith("?"):
        return ""
    if any(part.casefold() in _NO_NAME for part in parts):
        return ""
    explicit = found is not None and re.search(r"call|name|go by", words[: found.start(1)], re.IGNORECASE)
    if understood and not explicit:
        return ""
    return " ".join(part if any(map(str.isupper, part)) else part.capitalize() for part in parts)


def _hear_zone(words: str, targets: Targets, *, understood: bool) -> Heard:
    guess = {} if targets.timezone in ("UTC", "Etc/UTC") else {"zone": targets.timezone}
    if _RIGHT.fullmatch(words) or yes_or_no(words):
        return Heard(Reply.ANSWER, guess) if guess else Heard(Reply.UNCLEAR, hint=WHICH_CITY)
    if zone := zone_of_place(words):
        return Heard(Reply.ANSWER, {"zone": zone})
    if yes_or_no(words) is False or _WRONG.fullmatch(words):
        return Heard(Reply.UNCLEAR, hint=WHICH_CITY)
    placed = re.search(r"\b(?:live|based|in|near|from)\b", words, re.IGNORECASE) or len(words.split()) <= 2
    if placed and not understood and not words.endswith("?"):
        return Heard(Reply.UNCLEAR, hint="I don't know that place. Which big city shares its clock?")
    return Heard(Reply.ELSE)


WHICH_CITY: Final = "Which city, then, or the nearest big one?"
_RIGHT: Final = re.compile(
    r"(?:yes|yep|yeah|yup|sure|ok|okay|that's|that is|it is|looks|sounds|all|perfectly|correct|right|exactly|spot|on|"
    r"fine|good|true|perfect|i think so|[ ,.!👍✅])+",
    re.IGNORECASE,
)
_WRONG: Final = re.compile(r"(?:no|nope|nah|that's|that is|it's|not|wrong|right|true|correct|[ ,.!])+", re.IGNORECASE)

_BETWEEN: Final = re.compile(
    r"\s*(?:[,;/&+]|\.\s|\s[-–—]\s|(?<=[\dm])\s*[-–—]\s*(?=\d)|\band\b|\bthen\b|\buntil\b|\btill?\b|"
    r"(?<!quarter )(?<!half )\bto\b(?! (?:bed|sleep)\b))\s*",
    re.IGNORECASE,
)
_ISH: Final = re.compile(r"\s*-?ish\b|\bo'?clock\b", re.IGNORECASE)
_UP: Final = re.compile(r"\b(?:up|wake|waking|awake|rise|alarm|out of bed|start|morning)\b", re.IGNORECASE)
_DOWN: Final = re.compile(r"\b(?:bed|bedtime|sleep|asleep|lights|night|down|turn in|crash)\b", re.IGNORECASE)
SHORTEST_NIGHT: Final = 3
LONGEST_NIGHT: Final = 14


def _hear_sleep(words: str, answers: Mapping[str, str], *, understood: bool) -> Heard:
    found = read_sleep(words, answers.get("bedtime", ""))
    if found is None:
        return Heard(Reply.UNCLEAR, hint="I didn't get the times. Could you say it like “23:00 and 7:00”?")
    if not found or (understood and len(found) < 2 and "bedtime" not in answers):
        return Heard(Reply.ELSE)
    return Heard(Reply.ANSWER, found)


def read_sleep(words: str, bedtime: str = "") -> dict[str, str] | None:
    """When somebody goes to bed and gets up, as far as they say it; {} if they speak of no time, None if it is unclear.
    A bare hour is in the evening or after midnight for bed, and in the morning for getting up.

    >>> read_sleep("around midnight, up at 8"), read_sleep("11 to 7"), read_sleep("what's next?")
    ({'bedtime': '00:00', 'wake': '08:00'}, {'bedtime': '23:00', 'wake': '07:00'}, {})
    """
    words = " ".join(words.split())  # the patterns look at every space more than once
    pieces = [(piece, clock_in(piece)) for piece in _BETWEEN.split(_ISH.sub("", words)) if piece]
    timed: list[tuple[str, Clock]] = []
    context = ""
    for piece, clock in pieces:
        context = f"{context} {piece}"
        if clock is not None:
            timed.append((context, clock))
            context = ""
    if not timed or len(timed) > 2:
        return {} if not timed else None
    labels = ["wake" if _UP.search(said) else "bedtime" if _DOWN.search(said) else "" for said, _ in timed]
    if bedtime and labels == [""]:
        labels = ["wake"]
    elif len(labels) == 2:
        labels = ["wake", "bedtime"] if labels[0] == "wake" or labels[1] == "bedtime" else ["bedtime", "wake"]
    elif labels == [""]:
        labels = ["bedtime"]
    read = {label: _at(label, clock) for label, (_, clock) in zip(labels, timed, strict=True)}
    if any(at is None for at in read.values()):
        return None
    told = {label: f"{at:%H:%M}" for label, at in read.items() if at is not None}
    night = {"bedtime": bedtime, **told} if bedtime else told
    return told if len(night) < 2 or _is_a_night(night["bedtime"], night["wake"]) else None


def _at(label: str, clock: Clock) -> time | None:
    """The time that is meant; None where it could be either half of the day."""
    hour = clock.at.hour
    if clock.marked:
        return clock.at
    if label == "wake":
        return clock.at.replace(hour=hour + 12) if 1 <= hour <= 3 else clock.at
    if hour == 6:
        return None
    return clock.at.replace(hour=0 if hour == 12 else hour + 12 if hour >= 7 else hour)


def _is_a_night(bedtime: str, wake: str) -> bool:
    length = (_minutes(wake) - _minutes(bedtime)) % (24 * 60)
    return SHORTEST_NIGHT * 60 <= length <= LONGEST_NIGHT * 60


def _minutes(clock: str) -> int:
    hour, _, minute = clock.partition(":")
    return int(hour) * 60 + int(minute)


_GOAL: Final = re.compile(
    r"(?:(?:well|hm+|ok|okay|so|yes|sure|i guess|probably|maybe)[, ]+)*(?:"
    r"my (?:main |big |one )?goal(?: is|:)?(?: to)? |"
    r"(?:i(?:'d| would) (?:like|love)|i want|i(?:'m| am) (?:trying|hoping|planning)|i (?:hope|plan|need|have)) to |"
    r"to |goal: )?(.+)",
    re.IGNORECASE | re.DOTALL,
)


def read_goal(words: str) -> str:
    """What somebody wants to get done, as a line for their goals.

    >>> read_goal("I'd like to run a 10k by spring.")
    'Run a 10k by spring'
    """
    found = _GOAL.fullmatch(words)
    said = (found[1] if found else words).strip(" .!\"'“”")
    return said[:1].upper() + said[1:200] if len(said) > 2 and re.search(r"[^\W\d_]{2}", said) else ""


def after(state: Onboarding, values: Mapping[str, str], now: Instant) -> Onboarding:
    """The next question, with these answers kept."""
    answers = {**state.answers, **values}
    if state.ask is Ask.SLEEP and "bedtime" in values and "wake" not in answers:
        return Onboarding(Ask.SLEEP, now, answers=answers)
    order = list(Ask)
    return Onboarding(order[order.index(state.ask) + 1], now, answers=answers)


def changes(values: Mapping[str, str], answers: Mapping[str, str], targets: Targets, goals: Goals) -> list[Action]:
    """What an answer changes in the documents."""
    made: list[Action] = []
    if "name" in values:
        made.append(UpdateMemory(PREFERENCES, add=f"{GOES_BY} {values['name']}"))
    lines = []
    if values.get("zone", targets.timezone) != targets.timezone:
        lines.append(f"timezone: {values['zone']}")
    if "bedtime" in values:
        lines.append(f"bedtime_target: {values['bedtime']}")
    if "wake" in values:
        lines.append(f"wake_target: {values['wake']}")
        if bedtime := {**answers, **values}.get("bedtime"):
            lines.append(f"quiet_hours: {quiet_hours(bedtime, values['wake'])}")
            night = f"{_SLEEP} {bedtime}, awake by {values['wake']}"
            promised = tuple(night if line.startswith(_SLEEP) else line for line in goals.commitments)
            if promised != goals.commitments:
                made.append(UpdateGoals(COMMITMENTS, promised))
    if lines:
        made.append(UpdateGoals(TARGETS_SECTION, tuple(lines)))
    if "goal" in values:
        kept = [goal.line() for goal in goals.quarter][: MOST_GOALS - 1]
        made.append(UpdateGoals(QUARTER, (*kept, values["goal"])))
    return made


def with_answers(targets: Targets, answers: Mapping[str, str]) -> Targets:
    """The targets as the answers make them: the file may be written a moment later."""
    told = {"timezone": "zone", "bedtime_target": "bedtime", "wake_target": "wake"}
    fields = targets.as_fields() | {name: answers[one] for name, one in told.items() if one in answers}
    if "bedtime" in answers and "wake" in answers:
        fields["quiet_hours"] = quiet_hours(answers["bedtime"], answers["wake"])
    return Targets.from_fields(fields)


def quiet_hours(bedtime: str, wake: str) -> str:
    """From an hour after bedtime, when the last of the bedtime nudges is over, until the person gets up."""
    start = (_minutes(bedtime) + 60) % (24 * 60)
    return f"{start // 60:02}:{start % 60:02}-{wake}"


def summary(answers: Mapping[str, str], targets: Targets) -> str:
    """The result, shown at the end."""
    name = answers.get("name", "")
    lines = [f"• Time zone: {targets.timezone}"]
    lines.append(
        f"• Bedtime {targets.bedtime_target:%H:%M}, up at {targets.wake_target:%H:%M}; "
        f"nothing unasked from {targets.quiet_start:%H:%M} to {targets.quiet_end:%H:%M}"
    )
    if goal := answers.get("goal"):
        lines.append(f"• Goal: {goal}")
    return "\n".join(
        [
            f"All set, {name}. This is how I have it:" if name else "All set. This is how I have it:",
            *lines,
            "Say “undo” to take the last one back, or change any of it in your own words. What's today about?",
        ]
    )


ASIDE: Final = "We can finish setting up any time: /start asks again."
