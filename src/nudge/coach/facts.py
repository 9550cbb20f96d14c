"""What the coach knows at one moment, as plain values: the same context that a prompt puts into words."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING

from nudge.coach.goals import Goals
from nudge.coach.intents.reading import Talk
from nudge.coach.memory import Memory
from nudge.coach.targets import Targets
from nudge.instants import HOUR, Instant, local_date
from nudge.text import bare

if TYPE_CHECKING:
    from nudge.coach.briefings import Briefing


OK_WORD = "HEARTBEAT_OK"
"""What a model answers where nothing should be said."""


def says_nothing(text: str) -> bool:
    """Whether an answer is the word for silence, in any case and with any marks around it.

    >>> says_nothing("**heartbeat_ok**\\u200b"), says_nothing("HEARTBEAT_OK, all good!")
    (True, False)
    """
    return bare(text) == bare(OK_WORD)


class Purpose(StrEnum):
    """Why the coach thinks. The values are those of the model port."""

    HEARTBEAT = "heartbeat"
    CONVERSATION = "conversation"
    BRIEFING = "briefing"


@dataclass(frozen=True, slots=True)
class DueReminder:
    """A reminder whose time has come."""

    id: str
    text: str
    due_at: Instant


@dataclass(frozen=True, slots=True)
class Turn:
    """Something that was said. `role` is "user" (the person) or "assistant" (the coach); `forwarded` marks words that
    the person passed on from somebody else. `kind` is that of the conversation's row, `number` its place there."""

    role: str
    text: str
    at: Instant
    forwarded: bool = False
    kind: str = "conversation"
    number: int = 0

    @property
    def unasked(self) -> bool:
        """Whether the coach said it by itself."""
        return self.role == "assistant" and self.kind not in REPLIES


REPLIES = ("conversation", "review")
"""The kinds of what the coach says because the person wrote."""
PRESSED = "button"
"""The kind of a button that the person pressed."""


@dataclass(frozen=True, slots=True)
class Told:
    """A message that nobody asked for, and what came of it."""

    at: Instant
    kind: str
    text: str
    reaction: str = ""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a friend would have in mind in a talk, besides the talk itself. `earlier` are turns from before it."""

    earlier: tuple[Turn, ...] = ()
    reminders: tuple[str, ...] = ()
    restraint: tuple[str, ...] = ()
    review: str = ""


@dataclass(frozen=True, slots=True)
class CoachState:
    """The state that the store keeps. Daily values are those of the person's day, bedtime values those of the night."""

    last_user_message: Instant | None = None
    last_activity: Instant | None = None
    proactive_today: int = 0
    bedtime_nudges: int = 0
    last_bedtime_nudge: Instant | None = None
    morning_brief_sent: bool = False
    review_in_progress: bool = False
    quiet_until: Instant | None = None
    self_quiet_until: Instant | None = None
    delayed_until: Instant | None = None

    def last_seen(self) -> Instant | None:
        """When the person last wrote or used their phone."""
        seen = [at for at in (self.last_user_message, self.last_activity) if at is not None]
        return max(seen) if seen else None

    def active(self, now: Instant, within: int = HOUR) -> bool:
        """Whether the person was there lately. Exactly an hour ago is inside."""
        seen = self.last_seen()
        return seen is not None and now - seen <= within


@dataclass(frozen=True, slots=True)
class CoachFacts:
    """Everything an answer depends on; two equal facts get equal answers.

    `text` is the person's message (`forwarded` where somebody else wrote it), `briefing` what is due, `task` what a
    background run was set for. `degraded` is true where rules stand in for a model that does not answer, `broke` where
    it is not asked because the day's money does not cover it; `wakes_at` is when there is new money, if known.

    >>> CoachFacts(now=Instant(0), purpose=Purpose.HEARTBEAT).today
    datetime.date(1969, 12, 31)
    """

    now: Instant
    purpose: Purpose
    targets: Targets = field(default_factory=Targets)
    goals: Goals = field(default_factory=Goals)
    memory: Memory = field(default_factory=Memory)
    state: CoachState = field(default_factory=CoachState)
    due_reminders: tuple[DueReminder, ...] = ()
    told_today: tuple[Told, ...] = ()
    surroundings: Surroundings = field(default_factory=Surroundings)
    turns: tuple[Turn, ...] = ()
    talk: Talk = field(default_factory=Talk)
    text: str = ""
    forwarded: bool = False
    briefing: Briefing | None = None
    task: str = ""
    degraded: bool = False
    broke: bool = False
    wakes_at: Instant | None = None

    @property
    def today(self) -> date:
        return local_date(self.now, self.targets.zone)

    @property
    def read(self) -> tuple[Turn, ...]:
        """The turns that a model reads: the talk, and what came before it."""
        return (*self.surroundings.earlier, *self.turns)
