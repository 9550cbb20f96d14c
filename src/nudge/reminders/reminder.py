"""What a reminder is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from zoneinfo import ZoneInfo

from nudge.instants import MINUTE, SECOND, Instant, zone_of
from nudge.queue.inbox import Priority
from nudge.reminders.late import Late
from nudge.schedules import AnySchedule, At, Idle

ID: Final = re.compile(r"r-[0-9a-z]{6}")
KIND: Final = "reminder"
"""The kind of a reminder's timer."""

DEFAULT_TIMEOUT: Final = 10 * SECOND
"""How long a condition's command may take."""


class Status(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    COMPLETED = "completed"

    @property
    def ended(self) -> bool:
        return self in (Status.CANCELLED, Status.COMPLETED)


class Source(StrEnum):
    """Where it comes from. What a role or a routine's file asks for follows that file."""

    CLI = "cli"
    ROLE = "role"
    FILE = "file"
    CHAT = "chat"
    IMPORT = "import"


class Mode(StrEnum):
    """What a condition decides: each instance, how long to go on, or what to wait for."""

    EACH = "each"
    UNTIL = "until"
    ONCE = "once"


@dataclass(frozen=True, slots=True)
class Condition:
    """Exactly one of a shell command (exit 0 is true) and a prompt (the agent judges)."""

    command: str | None = None
    prompt: str | None = None
    mode: Mode = Mode.EACH
    timeout_us: int = DEFAULT_TIMEOUT

    def __post_init__(self) -> None:
        if (self.command is None) == (self.prompt is None):
            raise ValueError("a condition is a command or a prompt, not both and not neither")


@dataclass(frozen=True, slots=True)
class Reminder:
    """What to say to whom and when, and how far it has come.

    The last five fields are its state at run time: an edit or a new version of its role leaves them alone. Its next
    time is not among them; that is its timer.
    """

    id: str
    agent: str
    message: str
    schedule: AnySchedule
    tz: str
    created_at: Instant
    name: str = ""
    description: str = ""
    priority: Priority = Priority.IDLE
    to_person: bool = False
    condition: Condition | None = None
    late: Late | None = None
    """None is the default of its kind of schedule."""
    chain: int | None = None
    """How many times it asks, `rhythm_us` apart, until somebody says that it is done."""
    rhythm_us: int | None = None
    allow_ping: bool = True
    reserve: bool = False
    critical: bool = False
    source: Source = Source.CLI
    ref: str = ""
    """The file of a routine, as people see it."""
    spec: str = ""
    """A digest of what its role or file asked for."""
    status: Status = Status.ACTIVE
    ended_reason: str = ""
    asked: int = 0
    """Where in its chain it is: so many times asked, and the next timer is the next link. 0 outside a chain."""
    fire_count: int = 0
    last_fired_at: Instant | None = None
    acknowledged_at: Instant | None = None
    """When the person last said done, skip or snooze."""

    @property
    def title(self) -> str:
        """What to call it in a sentence."""
        return self.name or self.id

    @property
    def zone(self) -> ZoneInfo:
        return zone_of(self.tz)

    @property
    def one_shot(self) -> bool:
        return isinstance(self.schedule, At)

    @property
    def idle(self) -> bool:
        return isinstance(self.schedule, Idle)

    @property
    def asks_agent(self) -> bool:
        """Whether the agent judges its condition."""
        return self.condition is not None and self.condition.prompt is not None

    @property
    def waits_for_condition(self) -> bool:
        """Whether it is asked again and again until its condition is met, rather than by its schedule."""
        return self.one_shot and self.condition is not None and self.condition.mode is Mode.ONCE

    @property
    def rhythm(self) -> int:
        """How long after asking it asks again. A command is cheap to ask every minute; an agent is not."""
        return self.rhythm_us or (10 * MINUTE if self.asks_agent else MINUTE)

    @property
    def key(self) -> str:
        """The key of its timer and of its outcomes."""
        return key_of(self.id)

    @property
    def lane(self) -> str:
        """Not the agent's own lane: a running turn must not delay it. A command gets one to itself, so that a hanging
        one delays no other reminder."""
        has_command = self.condition is not None and self.condition.command is not None
        return f"{self.agent}/r/{self.id}" if has_command else f"{self.agent}/reminders"


def key_of(reminder_id: str) -> str:
    return f"reminder:{reminder_id}"
