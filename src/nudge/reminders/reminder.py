"""What a reminder is: the one place where its fields are declared.

To add a field, add it to `Reminder` with its kind and its flag, to the statements in `queries/reminders.sql`, and to a
migration. Flags, roles, routines, JSON and the table of reminders follow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final
from zoneinfo import ZoneInfo

from nudge.durations import format_duration, parse_duration
from nudge.errors import UsageError
from nudge.instants import HOUR, MINUTE, SECOND, Instant, zone_of
from nudge.queue.inbox import Priority
from nudge.reminders.fields import (
    FieldKind,
    FieldPart,
    Flag,
    Length,
    Maybe,
    Switch,
    TextKind,
    Time,
    Whole,
    Word,
    Wrong,
    ZoneName,
    fields_of,
    origin,
    read_record,
    setting,
    state,
    timing,
    write_record,
)
from nudge.schedules import AnySchedule, At, Idle, schedule_from_json

ID: Final = re.compile(r"r-[0-9a-z]{6}")
KIND: Final = "reminder"
"""The kind of a reminder's timer."""

DEFAULT_TIMEOUT: Final = 10 * SECOND
"""How long a condition's command may take."""
LONGEST_TIMEOUT: Final = HOUR
LONGEST_NAME: Final = 80
LONGEST_CHAIN: Final = 100
TOLERANCE: Final = MINUTE
"""From here on it is late: exactly a minute after its time is. Nobody notices less, and a busy machine is no news."""

_UTC: Final = zone_of("UTC")


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
    MODEL = "model"
    """A model set it in a conversation, at a time that the person did not name. Its limits are in
    `nudge.defaults`."""
    IMPORT = "import"

    @property
    def follows_a_file(self) -> bool:
        return self in (Source.ROLE, Source.FILE)

    @property
    def talked(self) -> bool:
        """Whether it comes from a conversation, where nobody writes variables or commands."""
        return self in (Source.CHAT, Source.MODEL)


class Mode(StrEnum):
    """What a condition decides: each occurrence, how long to go on, or what to wait for."""

    EACH = "each"
    UNTIL = "until"
    ONCE = "once"


@dataclass(frozen=True, slots=True)
class Late:
    """How late is too late; None is `always` (never too late), 0 is `never` (only on time).

    >>> str(Late.parse("90 min")), str(Late.parse("always")), Late.parse("never").too_late(59 * 1_000_000)
    ('1h 30m', 'always', False)
    """

    limit_us: int | None

    @classmethod
    def parse(cls, text: str) -> Late:
        word = text.strip().lower()
        if word in ("always", "never"):
            return cls(None if word == "always" else 0)
        try:
            return cls(parse_duration(text))
        except UsageError as error:
            raise UsageError(
                f"{text!r} doesn't say how late is too late.", next_step="Use always, never, or a duration such as 2h."
            ) from error

    def __str__(self) -> str:
        if self.limit_us is None:
            return "always"
        return format_duration(self.limit_us) if self.limit_us else "never"

    def too_late(self, late_us: int) -> bool:
        """Exactly the limit is not too late."""
        if self.limit_us is None:
            return False
        return late_us >= TOLERANCE if self.limit_us == 0 else late_us > self.limit_us


class _LateKind(FieldKind[Late]):
    what = "always, never or a duration such as 2h"

    def read(self, value: Any) -> Late:
        if not isinstance(value, str):
            raise Wrong
        return Late.parse(value)

    def write(self, value: Late, zone: ZoneInfo) -> str:
        return str(value)

    def to_column(self, value: Late) -> str:
        return str(value)

    def from_column(self, value: Any) -> Late:
        return Late.parse(value)


class _PriorityKind(FieldKind[Priority]):
    choices = tuple(one.word for one in Priority)
    what = f"one of {', '.join(choices)}"

    def read(self, value: Any) -> Priority:
        if value not in self.choices:
            raise Wrong
        return Priority.of(value)

    def write(self, value: Priority, zone: ZoneInfo) -> str:
        return value.word

    def to_column(self, value: Priority) -> int:
        return int(value)

    def from_column(self, value: Any) -> Priority:
        return Priority(value)


class _ScheduleKind(FieldKind[AnySchedule]):
    """A schedule in its stored form. One in words is read in `definition.py`, which knows the time and the zone."""

    what = "a schedule"

    def read(self, value: Any) -> AnySchedule:
        if not isinstance(value, Mapping):
            raise Wrong
        return schedule_from_json(value)

    def write(self, value: AnySchedule, zone: ZoneInfo) -> dict[str, Any]:
        return value.to_json()

    def to_column(self, value: AnySchedule) -> str:
        return json.dumps(value.to_json(), ensure_ascii=False)

    def from_column(self, value: Any) -> AnySchedule:
        return schedule_from_json(json.loads(value))


def _check_timeout(length: int) -> None:
    if not SECOND // 10 <= length <= LONGEST_TIMEOUT:
        raise Wrong("must be between 0.1s and 1h", "Write it like 30s.")


@dataclass(frozen=True, slots=True)
class Condition:
    """Exactly one of a shell command (exit 0 is true) and a prompt (the agent judges)."""

    command: str | None = field(
        default=None,
        metadata=setting(
            Maybe(TextKind(empty=False)),
            Flag("a shell command; exit 0 means yes", "COMMAND", "condition", name="condition"),
        ),
    )
    prompt: str | None = field(
        default=None,
        metadata=setting(
            Maybe(TextKind(empty=False)),
            Flag("in words; the agent judges", "TEXT", "condition", name="condition-prompt"),
        ),
    )
    mode: Mode = field(
        default=Mode.EACH, metadata=setting(Word(Mode), Flag("each (default), until or once", group="condition"))
    )
    timeout: int = field(
        default=DEFAULT_TIMEOUT,
        metadata=setting(
            Length(_check_timeout), Flag("time limit of the command (default: 10s)", "DURATION", "condition")
        ),
    )

    def __post_init__(self) -> None:
        if (self.command is None) == (self.prompt is None):
            raise UsageError(
                "A condition needs a command or a prompt."
                if self.command is None
                else "A condition is either a command or a prompt, not both.",
                next_step="Give exactly one of the two.",
            )
        if self.prompt is not None and self.timeout != DEFAULT_TIMEOUT:
            raise UsageError("Only a command has a time limit.", next_step="Leave the time limit out.")

    @classmethod
    def read(cls, data: Any) -> Condition:
        """What `to_json` wrote, or what somebody asks for."""
        return cls(**read_record(CONDITION_FIELDS, data))

    def to_json(self) -> dict[str, Any]:
        written = write_record(CONDITION_FIELDS, self, _UTC)
        return {name: value for name, value in written.items() if value is not None}


CONDITION_FIELDS: Final = fields_of(Condition)


class _ConditionKind(FieldKind[Condition]):
    what = "a condition"

    def read(self, value: Any) -> Condition:
        return Condition.read(value)

    def write(self, value: Condition, zone: ZoneInfo) -> dict[str, Any]:
        return value.to_json()

    def to_column(self, value: Condition) -> str:
        return json.dumps(value.to_json(), ensure_ascii=False)

    def from_column(self, value: Any) -> Condition:
        return Condition.read(json.loads(value))


def _check_id(text: str) -> None:
    if not ID.fullmatch(text):
        raise Wrong("must be an id such as r-a1b2c3")


def _check_name(text: str) -> None:
    if len(text.splitlines()) > 1:
        raise Wrong("must be one line", "Put the rest into the message.")
    if ID.fullmatch(text):
        raise UsageError(f"{text!r} looks like an id, not a name.", next_step="Choose another name.")


@dataclass(frozen=True, slots=True)
class Reminder:
    """What to say, to which agent and when, and how far it has come.

    An edit or a new version of its role leaves its state alone. Its next time is not here; that is its timer.
    """

    id: str = field(metadata=origin(TextKind(check=_check_id)))
    agent: str = field(metadata=origin(TextKind()))
    message: str = field(
        metadata=setting(
            TextKind(empty=False),
            Flag("the text; {fire_count}, {name}, {due}, … are filled in", "TEXT", "what", short="-m"),
        )
    )
    schedule: AnySchedule = field(metadata=setting(_ScheduleKind()))
    tz: str = field(metadata=timing(ZoneName()))
    created_at: Instant = field(metadata=origin(Time()))
    follows: bool = field(default=False, metadata=timing(Switch()))
    """Whether it moves with the person to another zone: set in words of the wall clock, without a zone of its own."""
    name: str = field(
        default="",
        metadata=setting(
            TextKind(LONGEST_NAME, check=_check_name), Flag("what to call it; unique for the agent", "TEXT", "what")
        ),
    )
    description: str = field(
        default="", metadata=setting(TextKind(), Flag("what it is for, in the forward schedule", "TEXT", "what"))
    )
    priority: Priority = field(
        default=Priority.IDLE,
        metadata=setting(_PriorityKind(), Flag("when the agent reads it (default: idle)")),
    )
    to_person: bool = field(
        default=False, metadata=setting(Switch(), Flag("send it straight to you, not to the agent"))
    )
    condition: Condition | None = field(default=None, metadata=setting(Maybe(_ConditionKind(), "")))
    late: Late | None = field(
        default=None,
        metadata=setting(
            Maybe(_LateKind(), ""),
            Flag("how late is too late: always, never or a duration", "POLICY", "when", clear="default"),
        ),
    )
    """None is the default of its kind of schedule."""
    chain: int | None = field(
        default=None,
        metadata=setting(
            Maybe(Whole(1, LONGEST_CHAIN)), Flag("ask N times, --every apart, until it is done", "N", "when", clear="0")
        ),
    )
    """How many times it asks, `rhythm` apart, until somebody says that it is done."""
    rhythm: int | None = field(default=None, metadata=timing(Maybe(Length())))
    """How far apart a chain or a waiting condition asks; None is the default."""
    allow_ping: bool = field(default=True, metadata=setting(Switch(), Flag("whether it may ping you")))
    reserve: bool = field(default=False, metadata=setting(Switch(), Flag("keep a ping for it in the ping budget")))
    critical: bool = field(
        default=False, metadata=setting(Switch(), Flag("send it even if you are busy or the ping budget is empty"))
    )
    source: Source = field(default=Source.CLI, metadata=origin(Word(Source)))
    ref: str = field(default="", metadata=origin(TextKind()))
    """The file of a routine, as people see it."""
    spec: str = field(default="", metadata=origin(TextKind()))
    """Which version of its role or file it is. See `definition.Version`."""
    status: Status = field(default=Status.ACTIVE, metadata=state(Word(Status)))
    ended_reason: str = field(default="", metadata=state(TextKind()))
    asked: int = field(default=0, metadata=state(Whole(0, LONGEST_CHAIN)))
    """Where in its chain it is: so many times asked, and the next timer is the next link. 0 outside a chain."""
    fire_count: int = field(default=0, metadata=state(Whole(0)))
    last_fired_at: Instant | None = field(default=None, metadata=state(Maybe(Time())))
    acknowledged_at: Instant | None = field(default=None, metadata=state(Maybe(Time())))
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
        """Whether it is checked again and again until its condition is met, rather than by its schedule."""
        return self.one_shot and self.condition is not None and self.condition.mode is Mode.ONCE

    @property
    def asks_every(self) -> int:
        """How long after asking it asks again. A command is cheap to run every minute; an agent is not."""
        return self.rhythm or (10 * MINUTE if self.asks_agent else MINUTE)

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


FIELDS: Final = fields_of(Reminder)
SETTINGS: Final = tuple(one for one in FIELDS if one.part is FieldPart.SETTING)
STATE: Final = tuple(one for one in FIELDS if one.part is FieldPart.STATE)


def key_of(reminder_id: str) -> str:
    return f"reminder:{reminder_id}"
