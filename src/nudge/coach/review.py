"""The weekly review: nine questions, one at a time, at the person's pace.

A review can be paused, interrupted by other talk, taken up again the next day and skipped; 24 hours after the last
answer it ends as it is, with a summary of what there is. Every move is a pure step from (review, event, now).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import tzinfo
from enum import Enum, StrEnum
from typing import Any

from nudge.attention.restraint import RestraintKind, recognise
from nudge.instants import DAY, HOUR, Instant, local_date
from nudge.queue.records import Record, moment, text, texts, whole
from nudge.text import short

BACK = "Back to the review."
PAUSED_BY_ITSELF = "I'll pause the review here. Say “continue” when you're ready."
AGAIN = "You've looked back at this week already, so I'll add what you say now."
GO_ON = "Let's go on with this week's review."
FINISH_OR_SKIP = "Want to finish the review or skip it this week?"
PATIENCE = DAY
"""After the last answer; exactly 24 hours later the review is over."""
BREAK = 3 * HOUR
"""A message after midnight is the next day's only after such a break, not in the middle of a talk."""
_LONGEST = 60
_MOST_ASIDES = 3
"""Messages about something else, one after the other, after which the review pauses."""

_NODS = ("Noted.", "Thanks.", "Okay.", "Got it.")


class Status(StrEnum):
    """Where a review stands. The last three are its ends."""

    ASKING = "asking"
    PAUSED = "paused"
    DONE = "done"
    SKIPPED = "skipped"
    INCOMPLETE = "incomplete"


class Offer(StrEnum):
    """What the person was last asked about the review itself."""

    NONE = "none"
    FINISH_OR_SKIP = "finish_or_skip"


@dataclass(frozen=True, slots=True)
class Review:
    """One week's review. `index` is the question that waits for an answer; `goals` are the week's as it began;
    `touched_at` is when the person last answered or took it up again. `partial` is what they answered so far to a
    question that was asked back about. `asides` counts the messages about something else since the last answer,
    `round` how often this week was looked back at: a second review adds to the first."""

    week: str
    goals: tuple[str, ...]
    touched_at: Instant
    status: Status = Status.ASKING
    index: int = 0
    answers: tuple[str, ...] = ()
    offer: Offer = Offer.NONE
    partial: str = ""
    asides: int = 0
    round: int = 1

    @property
    def in_progress(self) -> bool:
        return self.status in (Status.ASKING, Status.PAUSED)

    @property
    def times_out_at(self) -> Instant | None:
        """When it ends by itself, or None where it has ended."""
        return Instant(self.touched_at + PATIENCE) if self.in_progress else None

    def hears(self, text: str) -> bool:
        """Whether these words are about the review itself: "stop" ends it, and nothing else."""
        asking = self.status is Status.ASKING and self.offer is Offer.NONE
        return asking and reads_as(text) in (Reading.PAUSE, Reading.SKIP, Reading.NEXT)

    def question(self) -> Question:
        return questions(self.goals)[min(self.index, COUNT - 1)]

    def to_json(self) -> dict[str, Any]:
        return {
            "week": self.week,
            "goals": list(self.goals),
            "touched_at": self.touched_at,
            "status": self.status.value,
            "index": self.index,
            "answers": list(self.answers),
            "offer": self.offer.value,
            "partial": self.partial,
            "asides": self.asides,
            "round": self.round,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Review:
        return cls(
            week=text(data["week"]),
            goals=texts(data["goals"]),
            touched_at=moment(data["touched_at"]),
            status=Status(data["status"]),
            index=whole(data["index"]),
            answers=texts(data["answers"]),
            offer=Offer(data["offer"]) if data["offer"] in list(Offer) else Offer.NONE,
            partial=text(data.get("partial", "")),
            asides=whole(data.get("asides", 0)),
            round=whole(data.get("round", 1)),
        )


REVIEW: Record[Review] = Record("review", Review.from_json, Review.to_json)
"""The review of this week, or the last one."""
REVIEW_TIMEOUT = "review-timeout"


@dataclass(frozen=True, slots=True)
class Said:
    """The person wrote something. `unrelated` is what a model thinks of it; None leaves it to the rules."""

    text: str
    unrelated: bool | None = None


class Event(StrEnum):
    """What can happen to a review besides words."""

    PAUSE = "pause"
    RESUME = "resume"
    SKIP = "skip"
    TICK = "tick"


@dataclass(frozen=True, slots=True)
class Resolved:
    """A line of a section of MEMORY.md that goes because another one contradicts it."""

    section: str
    keep: str
    remove: str


@dataclass(frozen=True, slots=True)
class Effects:
    """What a step asks of the documents: This Week rewritten, or only added to, a summary kept, the memory pruned and
    freed of lines that contradict others."""

    this_week: tuple[str, ...] = ()
    adds: bool = False
    summary: str = ""
    prune: bool = False
    resolved: tuple[Resolved, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """A review after an event, and what follows. Where `handled` is false the person's words were not for the review:
    they are answered as in any conversation, and `replies` come after that answer."""

    review: Review
    replies: tuple[str, ...] = ()
    effects: Effects = Effects()
    handled: bool = True


def start(week: str, goals: tuple[str, ...], now: Instant, opening: str = "", before: Review | None = None) -> Step:
    """A review with its first question. `opening` is the morning briefing where both come together. `before` is the
    last review: one of the same week that ended early goes on where it was, and one that is done is added to.

    >>> start("2026-W08", (), Instant(0)).replies[0].splitlines()[-1]
    'What went well this week, and what made it work?'
    """
    review = Review(week, goals[:3], now)
    hello = (
        f"Time to look back at the week: {COUNT} short questions, at your pace. "
        "“skip” passes on one, “later” pauses, “stop” ends it."
    )
    if before is not None and before.week == week and before.status is Status.DONE:
        review, hello = replace(review, round=before.round + 1), AGAIN
    elif before is not None and before.week == week and before.answers:
        going_on = replace(before, status=Status.ASKING, offer=Offer.NONE, asides=0, touched_at=now)
        review, hello = going_on, GO_ON
    return Step(review, ("\n\n".join(part for part in (opening, hello, ask(review)) if part),))


def advance(review: Review, event: Said | Event, now: Instant, zone: tzinfo) -> Step:
    """The step that an event leads to. A review that has ended stays as it is and handles nothing."""
    if not review.in_progress:
        return Step(review, handled=False)
    if now >= review.touched_at + PATIENCE:
        ended = replace(review, status=Status.INCOMPLETE, offer=Offer.NONE)
        return Step(ended, effects=Effects(summary=summary(ended)), handled=False)
    if isinstance(event, Said):
        return _said(review, event, now, zone)
    if event is Event.RESUME:
        return _resume(review, now)
    return {Event.PAUSE: _pause, Event.SKIP: _skip, Event.TICK: Step}[event](review)


def ask_back(review: Review, said: str, question: str, now: Instant) -> Step:
    """The same question once more, in other words; what was said so far is part of the answer."""
    partial = " ".join(said.split())
    waiting = replace(review, status=Status.ASKING, partial=partial, touched_at=now, offer=Offer.NONE)
    return Step(waiting, (question,))


def ask(review: Review) -> str:
    """The question that waits, with its place in the review; a new block is announced."""
    question = review.question()
    asked = questions(review.goals)
    number = min(review.index, COUNT - 1)
    place = f"{number + 1} of {COUNT}"
    if number == 0 or asked[number - 1].block != question.block:
        place = f"{question.block} (part {BLOCKS.index(question.block) + 1} of {len(BLOCKS)}) · {place}"
    return f"{place}\n{question.text}"


def summary(review: Review) -> str:
    """The review on one line of MEMORY.md."""
    asked = questions(review.goals)
    parts = [
        f"{question.label}: {short(answer, _LONGEST)}"
        for question, answer in zip(asked, review.answers, strict=False)
        if answer
    ]
    remark = "" if review.status is Status.DONE else f" ({review.status.value}, {len(review.answers)} of {COUNT})"
    week = review.week if review.round == 1 else f"{review.week} (review {review.round})"
    return f"{week}:{remark} {'; '.join(parts) or 'no answers'}"


def _said(review: Review, event: Said, now: Instant, zone: tzinfo) -> Step:
    reading = reads_as(event.text)
    offered_end = reading is Reading.NO and review.offer is Offer.FINISH_OR_SKIP
    passes_on_it = reading is Reading.NEXT and (review.offer is not Offer.NONE or review.status is Status.PAUSED)
    if reading is Reading.SKIP or offered_end or passes_on_it:
        return _skip(review)
    if reading is Reading.PAUSE or (reading is Reading.NO and review.offer is not Offer.NONE):
        return _pause(review)
    if reading is Reading.RESTRAINT:  # what is said to that is not the review's to say
        return Step(replace(review, status=Status.PAUSED, offer=Offer.NONE), handled=False)
    offered = review.offer is not Offer.NONE
    if reading is Reading.RESUME or (reading is Reading.YES and (offered or review.status is Status.PAUSED)):
        return _resume(review, now)
    next_day = now - review.touched_at >= BREAK and local_date(now, zone) > local_date(review.touched_at, zone)
    unrelated = event.unrelated
    if unrelated is None:  # after a break or an offer only a yes takes it up again
        unrelated = reading is Reading.ELSEWHERE or review.status is Status.PAUSED or next_day or offered
    if not unrelated:
        return _answer(review, event.text, now, passed=reading is Reading.NEXT)
    if offered:
        return Step(replace(review, status=Status.PAUSED), handled=False)  # asked once; nobody is nagged
    if next_day:
        return Step(replace(review, offer=Offer.FINISH_OR_SKIP), (FINISH_OR_SKIP,), handled=False)
    return _aside(review)


def _aside(review: Review) -> Step:
    """Something else is answered, and the open question comes again after it; at the third in a row it waits."""
    if review.status is Status.PAUSED:
        return Step(review, handled=False)
    aside = replace(review, asides=review.asides + 1)
    if aside.asides >= _MOST_ASIDES:
        return Step(replace(aside, status=Status.PAUSED, asides=0), (PAUSED_BY_ITSELF,), handled=False)
    return Step(aside, (f"{BACK}\n{ask(aside)}",), handled=False)


def _answer(review: Review, text: str, now: Instant, *, passed: bool) -> Step:
    answer = "" if passed else " ".join(text.split()) if review.index < COUNT - 1 else text.strip()
    answer = " ".join(part for part in (review.partial, answer) if part) if review.partial else answer
    answered = replace(
        review,
        status=Status.ASKING,
        index=review.index + 1,
        answers=(*review.answers, answer),
        touched_at=now,
        offer=Offer.NONE,
        partial="",
        asides=0,
    )
    if answered.index < COUNT:
        return Step(answered, (f"{_NODS[review.index % len(_NODS)]}\n\n{ask(answered)}",))
    done = replace(answered, status=Status.DONE)
    three = next_three(answer)
    lines = "".join(f"\n{number}. {goal}" for number, goal in enumerate(three, start=1))
    adds = review.round > 1
    put = "I've added these to This Week, as far as there was room" if adds else "I've put these into This Week"
    closing = f"{put}:{lines}" if three else "I've left This Week as it was."
    return Step(
        done,
        (f"That's the review. {closing}\nThe summary is in my memory. Have a good week.",),
        Effects(three, adds, summary(done), prune=True),
    )


def _pause(review: Review) -> Step:
    paused = replace(review, status=Status.PAUSED, offer=Offer.NONE)
    return Step(paused, (f"Paused after {review.index} of {COUNT}. Say “continue” when you're ready.",))


def _resume(review: Review, now: Instant) -> Step:
    resumed = replace(review, status=Status.ASKING, offer=Offer.NONE, touched_at=now, asides=0)
    return Step(resumed, (ask(resumed),))


def _skip(review: Review) -> Step:
    skipped = replace(review, status=Status.SKIPPED, offer=Offer.NONE)
    kept = Effects(summary=summary(skipped)) if any(review.answers) else Effects()
    words = "I've ended the review and kept what you said." if kept.summary else "I've ended the review. No harm done."
    return Step(skipped, (words,), kept)


LOOKING_BACK = "Looking back"
GOALS = "The week's goals"
CHANGE = "What to change"
AHEAD = "Looking ahead"
BLOCKS = (LOOKING_BACK, GOALS, CHANGE, AHEAD)
COUNT = 9


@dataclass(frozen=True, slots=True)
class Question:
    """`label` names the answer in the summary."""

    block: str
    text: str
    label: str


_WITHOUT_GOAL = (
    ("What did you get done that was never on a list?", "done"),
    ("What is still open from this week and still matters?", "open"),
    ("What took more time than it was worth?", "not worth it"),
)


def questions(goals: tuple[str, ...]) -> tuple[Question, ...]:
    """The nine questions. The week's goals are asked about one by one; where there are fewer than three, other
    questions about the week's work take their place.

    >>> questions(("Finish the draft",))[2].text
    'Goal 1, “Finish the draft”: where did it end up, and what moved it or held it up?'
    """
    asked = [
        Question(LOOKING_BACK, "What went well this week, and what made it work?", "well"),
        Question(LOOKING_BACK, "What didn't go the way you wanted, and what got in the way?", "not"),
    ]
    for number, (asks, label) in enumerate(_WITHOUT_GOAL):
        if number < len(goals):
            goal = goals[number]
            asks = f"Goal {number + 1}, “{goal}”: where did it end up, and what moved it or held it up?"
            label = f"“{goal}”"
        asked.append(Question(GOALS, asks, label))
    return (
        *asked,
        Question(
            CHANGE, "How were your nights and mornings? When did you really go to bed, and what decided that?", "sleep"
        ),
        Question(
            CHANGE,
            "What is one small thing you'd like to try differently next week? An experiment, not a rule.",
            "experiment",
        ),
        Question(AHEAD, "Who did you mean to write to or see, and didn't? Who comes first next week?", "people"),
        Question(AHEAD, "What are your three for next week? One a line, each with an end you can see.", "next"),
    )


MOST = 3
_SHORT = 6  # words; "I was focusing on the move all week, so nothing else happened" is an answer

_NUMBERED = re.compile(r"(?:^|(?<=[\s,;]))\(?[1-9][.):]\s+")
_BULLET = re.compile(r"^[-*•+]\s+")
_NOTHING = re.compile(
    r"(?:same(?: as (?:last|this) week)?|none|nothing|no idea|not sure|don'?t know|-+|\.+|n/?a)", re.I
)


class Reading(Enum):
    """How a message reads. Whatever is none of the others is an answer."""

    YES = "yes"
    NO = "no"
    RESUME = "resume"
    PAUSE = "pause"
    SKIP = "skip"
    NEXT = "next"
    RESTRAINT = "restraint"
    ELSEWHERE = "elsewhere"
    ANSWER = "answer"


_PATTERNS = (
    (
        Reading.YES,
        r"y|yes|yep|yeah|yup|sure|ok|okay|please|yes please|sure thing|let'?s do it|let'?s go|go on|go ahead",
    ),
    (Reading.NO, r"n|no|nope|nah|no thanks|no thank you|rather not"),
    (
        Reading.RESUME,
        r"(?:let'?s )?(?:continue|resume|finish)(?: it| (?:the |with the )?review)?(?: now)?|i'?m (?:back|ready)|ready"
        r"|back(?: to (?:the )?review)?",
    ),
    (
        Reading.PAUSE,
        r"pause(?: it| (?:the )?review)?"
        r"|(?:let'?s |can we |could we )?(?:do (?:this|it|that) |continue |finish |go on )?"
        r"(?:later|another time|tomorrow)\??|not now|maybe later|in a (?:bit|minute|while)|brb|hold on|wait"
        r"|(?:i'?m )?busy(?: now| right now)?|can we (?:pause|do (?:this|it) later)\??"
        r"|i need a break|(?:let'?s )?take a break",
    ),
    (
        Reading.SKIP,
        r"(?:please )?(?:stop|end|cancel|quit|abort|drop|enough|that'?s enough|no more questions|i'?m done)"
        r"(?: (?:it|(?:the |this )?review|here|now))?"
        r"|skip (?:it this week|this week|(?:the |this )?review(?: this week)?)",
    ),
    (
        Reading.NEXT,
        r"skip(?: it)?|pass|next|next (?:question|one)|skip (?:this|that|the) (?:one|question)|skip question"
        r"|no answer|don'?t know|no idea|i don'?t know",
    ),
)
_COMPILED = tuple((reply, re.compile(pattern, re.IGNORECASE)) for reply, pattern in _PATTERNS)
_ELSEWHERE = re.compile(r"/\w|remind me\b|what(?:'s| is) next\b", re.IGNORECASE)


def reads_as(text: str) -> Reading:
    """How a message reads. A command, a reminder, a question back or a short wish for peace is not an answer.

    >>> reads_as("Not now!").value, reads_as("Skip this one").value, reads_as("I wrote every day").value
    ('pause', 'next', 'answer')
    """
    words = " ".join(text.replace("’", "'").split())
    bare = words.rstrip(" .!…,")
    for reply, pattern in _COMPILED:
        if pattern.fullmatch(bare):
            return reply
    asked = recognise(words) if len(words.split()) <= _SHORT else None
    if asked is not None and asked.kind is not RestraintKind.BACK:
        return Reading.RESTRAINT
    if not words or _ELSEWHERE.match(words) or (words.endswith("?") and "\n" not in text.strip()):
        return Reading.ELSEWHERE
    return Reading.ANSWER


def next_three(answer: str) -> tuple[str, ...]:
    """The goals in an answer: one a line, or numbered, or between semicolons, or two or three between commas. At most
    three; an answer that names none gives none.

    >>> next_three("1. Finish the draft 2. Call Mum")
    ('Finish the draft', 'Call Mum')
    """
    lines = [line.strip() for line in answer.replace("\r", "\n").split("\n") if line.strip()]
    parts = [part for line in lines for part in _NUMBERED.split(_BULLET.sub("", line))]
    if len(parts) == 1:
        parts = parts[0].split(";")
    if len(parts) == 1 and 2 <= len(commas := re.split(r",\s+(?:and\s+)?", parts[0])) <= MOST:
        parts = commas
    cleaned = [" ".join(_BULLET.sub("", part.strip()).split()).strip(" ,;") for part in parts]
    return tuple(part for part in cleaned if part and not _NOTHING.fullmatch(part.rstrip(".!")))[:MOST]
