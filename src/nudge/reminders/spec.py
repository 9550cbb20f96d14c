"""What somebody asks for, as they wrote it: flags of a command, fields of a role, front matter of a routine, a chat.

One place reads it, so that all of them refuse the same mistakes with the same words.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from hashlib import blake2s
from typing import Any, Final

from nudge.durations import parse_duration
from nudge.errors import UsageError
from nudge.instants import HOUR, SECOND, Instant, zone_of
from nudge.phrases import Understood
from nudge.queue.inbox import Priority
from nudge.reminders.late import Late
from nudge.reminders.reminder import DEFAULT_TIMEOUT, ID, Condition, Mode, Reminder, Source
from nudge.reminders.text import check_template, literal
from nudge.reminders.timing import SCHEDULE_FIELDS, Timing, read_timing, schedule_from

LONGEST_MESSAGE: Final = 16_000
LONGEST_NAME: Final = 80
LONGEST_CHAIN: Final = 100
LONGEST_TIMEOUT: Final = HOUR


@dataclass(frozen=True, slots=True)
class ReminderSpec:
    """Texts as they were typed. Exactly one of the six schedules, but for `every`, which beside `at`, `in_`, `rrule` or
    `cron` gives the rhythm of a chain, and beside `at` or `in_` how often a `once` condition is asked."""

    message: str
    name: str = ""
    description: str = ""
    at: str | None = None
    in_: str | None = None
    every: str | None = None
    rrule: str | None = None
    cron: str | None = None
    idle: str | None = None
    tz: str | None = None
    count: int | None = None
    until: str | None = None
    priority: str = "idle"
    command: str | None = None
    prompt: str | None = None
    mode: str | None = None
    timeout: str | None = None
    to_person: bool = False
    late: str | None = None
    chain: int | None = None
    allow_ping: bool = True
    reserve: bool = False
    critical: bool = False
    ref: str = ""

    def digest(self, zone: str) -> str:
        """Two digests, `schedule:whole`: a file whose schedule has not changed keeps the grid it had. A schedule
        without a zone of its own follows the person's, so that is part of it."""
        fields = asdict(self)
        when = {name: fields[name] for name in (*SCHEDULE_FIELDS, "chain")} | {"zone": self.tz or zone}
        return f"{_digest(when)}:{_digest(fields | when)}"

    def timing(self) -> Timing:
        return Timing(**{name: getattr(self, name) for name in SCHEDULE_FIELDS if name != "tz"})


def _digest(fields: dict[str, Any]) -> str:
    return blake2s(json.dumps(fields, sort_keys=True).encode(), digest_size=8).hexdigest()


def same_schedule(one: str, other: str) -> bool:
    """Whether two digests are of the same schedule."""
    return one.partition(":")[0] == other.partition(":")[0]


def make_reminder(
    spec: ReminderSpec,
    *,
    reminder_id: str,
    agent: str,
    now: Instant,
    zone: str,
    source: Source,
    understood: Understood | None = None,
) -> Reminder:
    """The reminder that was asked for, or a usage error. `zone` is the person's, for what names none itself;
    `understood` is a time that was read already, instead of one in the spec."""
    if source is Source.CHAT and spec.command is not None:
        raise UsageError("A chat cannot set a command.", next_step="Use 'nudge reminder add --condition' instead.")
    tz = zone_of(spec.tz or zone).key
    condition = read_condition(spec)
    check_combination(spec.chain, condition, spec.to_person)
    waits = condition is not None and condition.mode is Mode.ONCE
    if understood is not None:
        schedule, rhythm = schedule_from(understood, now, zone_of(tz)), None
    else:
        schedule, rhythm = read_timing(spec.timing(), now, tz, chain=spec.chain, waits=waits)
    return Reminder(
        id=reminder_id,
        agent=agent,
        message=checked_message(literal(spec.message) if source is Source.CHAT else spec.message),
        schedule=schedule,
        tz=tz,
        created_at=now,
        name=checked_name(spec.name),
        description=checked_text(spec.description, "description", LONGEST_MESSAGE),
        priority=read_priority(spec.priority),
        to_person=spec.to_person,
        condition=condition,
        late=None if spec.late is None else Late.parse(spec.late),
        chain=read_chain(spec.chain),
        rhythm_us=rhythm,
        allow_ping=spec.allow_ping,
        reserve=spec.reserve,
        critical=spec.critical,
        source=source,
        ref=spec.ref,
        spec=spec.digest(zone) if source in (Source.ROLE, Source.FILE) else "",
    )


def check_combination(chain: int | None, condition: Condition | None, to_person: bool) -> None:
    """Refuse what does not go together."""
    if chain is not None and condition is not None and condition.mode is Mode.ONCE:
        raise UsageError("A chain asks several times, and mode once fires once.", next_step="Leave one of them out.")
    if to_person and condition is not None and condition.prompt is not None:
        raise UsageError(
            "An agent judges a condition in words, and a reminder straight to the person has none.",
            next_step="Use a command as its condition, or send it to the agent.",
        )


def respecified(old: Reminder, new: Reminder) -> Reminder:
    """`new` in the place of `old`: what it says is the new one's, what it has been through is the old one's."""
    return replace(
        new,
        id=old.id,
        created_at=old.created_at,
        source=old.source,
        status=old.status,
        ended_reason=old.ended_reason,
        asked=min(old.asked, (new.chain or 1) - 1),
        fire_count=old.fire_count,
        last_fired_at=old.last_fired_at,
        acknowledged_at=old.acknowledged_at,
    )


def read_condition(spec: ReminderSpec) -> Condition | None:
    if spec.command is None and spec.prompt is None:
        if spec.mode is not None or spec.timeout is not None:
            raise UsageError(
                "A mode and a time limit belong to a condition, and there is none.",
                next_step="Add --condition or --condition-prompt, or leave them out.",
            )
        return None
    if spec.command is not None and spec.prompt is not None:
        raise UsageError("A condition is a command or a prompt, not both.", next_step="Leave one of them out.")
    try:
        mode = Mode(spec.mode or "each")
    except ValueError:
        raise UsageError(f"There is no mode {spec.mode!r}.", next_step="Use each, until or once.") from None
    return Condition(
        None if spec.command is None else checked_text(spec.command, "condition", LONGEST_MESSAGE, empty=False),
        None if spec.prompt is None else checked_text(spec.prompt, "condition", LONGEST_MESSAGE, empty=False),
        mode,
        _timeout(spec),
    )


def _timeout(spec: ReminderSpec) -> int:
    if spec.timeout is None:
        return DEFAULT_TIMEOUT
    if spec.prompt is not None:
        raise UsageError("Only a command has a time limit.", next_step="Leave the time limit out.")
    return read_timeout(spec.timeout)


def read_timeout(text: str) -> int:
    limit = parse_duration(text)
    if not SECOND // 10 <= limit <= LONGEST_TIMEOUT:
        raise UsageError("A command's time limit lies between 0.1s and 1h.", next_step="Write it like 30s.")
    return limit


def read_priority(word: str) -> Priority:
    try:
        return Priority.of(word)
    except KeyError:
        raise UsageError(f"There is no priority {word!r}.", next_step="Use interrupt, normal or idle.") from None


def read_chain(chain: int | None) -> int | None:
    if chain is not None and not 1 <= chain <= LONGEST_CHAIN:
        raise UsageError(f"A chain asks 1 to {LONGEST_CHAIN} times.", next_step="Write it like --chain 4 --every 30m.")
    return chain


def checked_message(message: str) -> str:
    text = checked_text(message, "message", LONGEST_MESSAGE, empty=False)
    check_template(text)
    return text


def checked_name(name: str) -> str:
    text = checked_text(name, "name", LONGEST_NAME)
    if len(text.splitlines()) > 1:
        raise UsageError("A name is one line.", next_step="Put the rest into the message.")
    if ID.fullmatch(text):
        raise UsageError(f"{text!r} looks like an id, not like a name.", next_step="Choose another name.")
    return text


def checked_text(text: str, what: str, longest: int, *, empty: bool = True) -> str:
    """Stripped, neither too long nor unprintable by a database."""
    stripped = text.strip()
    if not stripped and not empty:
        raise UsageError(f"The {what} is empty.", next_step="Say what it should be.")
    if len(stripped) > longest:
        raise UsageError(f"The {what} is longer than {longest:,} characters.", next_step="Shorten it.")
    if "\0" in stripped or any(0xD800 <= ord(char) <= 0xDFFF for char in stripped):
        raise UsageError(f"The {what} holds characters that are no text.", next_step="Take them out.")
    return stripped
