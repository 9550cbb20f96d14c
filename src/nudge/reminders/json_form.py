"""A reminder as JSON, both ways: what `export` writes and `import` reads, and what `--json` shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nudge.durations import format_duration, parse_duration
from nudge.errors import UsageError
from nudge.instants import Instant, parse_rfc3339, rfc3339, zone_of
from nudge.queue.inbox import Priority
from nudge.reminders.late import Late
from nudge.reminders.reminder import ID, Condition, Mode, Reminder, Source, Status
from nudge.reminders.spec import (
    LONGEST_CHAIN,
    check_combination,
    checked_message,
    checked_name,
    checked_text,
    read_timeout,
)
from nudge.schedules import schedule_from_json

_FLAGS: Final = ("to_person", "allow_ping", "reserve", "critical")
_TIMES: Final = ("last_fired_at", "acknowledged_at")


def reminder_to_json(reminder: Reminder) -> dict[str, Any]:
    zone = zone_of(reminder.tz)
    data: dict[str, Any] = {
        "id": reminder.id,
        "agent": reminder.agent,
        "name": reminder.name,
        "message": reminder.message,
        "description": reminder.description,
        "schedule": reminder.schedule.to_json(),
        "tz": reminder.tz,
        "priority": reminder.priority.word,
        "condition": condition_to_json(reminder.condition),
        "late": None if reminder.late is None else str(reminder.late),
        "chain": reminder.chain,
        "rhythm": None if reminder.rhythm_us is None else format_duration(reminder.rhythm_us),
        "source": reminder.source.value,
        "ref": reminder.ref,
        "created_at": rfc3339(reminder.created_at, zone),
        "status": reminder.status.value,
        "ended_reason": reminder.ended_reason,
        "asked": reminder.asked,
        "fire_count": reminder.fire_count,
    }
    data |= {name: getattr(reminder, name) for name in _FLAGS}
    for name in _TIMES:
        instant = getattr(reminder, name)
        data[name] = None if instant is None else rfc3339(instant, zone)
    return data


def reminder_from_json(data: Mapping[str, Any]) -> Reminder:
    """Strict: a field that is missing, unknown or of another kind is named."""
    fields = _Fields(data)
    made = Reminder(
        id=fields.text("id"),
        agent=fields.text("agent"),
        message=checked_message(fields.text("message")),
        schedule=schedule_from_json(fields.table("schedule")),
        tz=zone_of(fields.text("tz")).key,
        created_at=parse_rfc3339(fields.text("created_at")),
        name=checked_name(fields.text("name", "")),
        description=checked_text(fields.text("description", ""), "description", 16_000),
        priority=Priority.of(fields.one_of("priority", [one.word for one in Priority], "idle")),
        condition=condition_from_json(fields.maybe_table("condition")),
        late=_late(fields.maybe_text("late")),
        chain=fields.maybe_whole("chain", 1, LONGEST_CHAIN),
        rhythm_us=_duration(fields.maybe_text("rhythm")),
        source=Source(fields.one_of("source", [one.value for one in Source], "import")),
        ref=fields.text("ref", ""),
        status=Status(fields.one_of("status", [one.value for one in Status], "active")),
        ended_reason=fields.text("ended_reason", ""),
        asked=fields.maybe_whole("asked", 0, LONGEST_CHAIN) or 0,
        fire_count=fields.maybe_whole("fire_count", 0, 2**62) or 0,
        last_fired_at=_time(fields.maybe_text("last_fired_at")),
        acknowledged_at=_time(fields.maybe_text("acknowledged_at")),
        to_person=fields.flag("to_person", False),
        allow_ping=fields.flag("allow_ping", True),
        reserve=fields.flag("reserve", False),
        critical=fields.flag("critical", False),
    )
    fields.done()
    check_combination(made.chain, made.condition, made.to_person)
    if not ID.fullmatch(made.id):
        raise UsageError(f"{made.id!r} is not a reminder's id.", next_step="Ids look like r-a1b2c3.")
    return made


def condition_to_json(condition: Condition | None) -> dict[str, Any] | None:
    if condition is None:
        return None
    said = {"command": condition.command} if condition.command is not None else {"prompt": condition.prompt}
    return said | {"mode": condition.mode.value, "timeout": format_duration(condition.timeout_us)}


def condition_from_json(data: Mapping[str, Any] | None) -> Condition | None:
    if data is None:
        return None
    fields = _Fields(data, "A condition")
    command, prompt = fields.maybe_text("command"), fields.maybe_text("prompt")
    if (command is None) == (prompt is None):
        raise UsageError("A condition is a command or a prompt.", next_step="Give it exactly one of the two.")
    mode = Mode(fields.one_of("mode", [one.value for one in Mode], "each"))
    timeout = read_timeout(fields.text("timeout", "10s"))
    fields.done()
    return Condition(command, prompt, mode, timeout)


class _Fields:
    def __init__(self, data: Mapping[str, Any], what: str = "A reminder") -> None:
        self._left = dict(data)
        self._what = what

    def text(self, name: str, default: str | None = None) -> str:
        if name not in self._left and default is not None:
            return default
        value = self._take(name)
        if not isinstance(value, str):
            raise self._wrong(name, "a text")
        return checked_text(value, name, 16_000)

    def maybe_text(self, name: str) -> str | None:
        return None if self._absent(name) else self.text(name)

    def table(self, name: str) -> Mapping[str, Any]:
        value = self._take(name)
        if not isinstance(value, dict):
            raise self._wrong(name, "an object")
        return value

    def maybe_table(self, name: str) -> Mapping[str, Any] | None:
        return None if self._absent(name) else self.table(name)

    def maybe_whole(self, name: str, least: int, most: int) -> int | None:
        if self._absent(name):
            return None
        value = self._take(name)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self._wrong(name, f"a whole number from {least} to {most}")
        return value

    def flag(self, name: str, default: bool) -> bool:
        value = self._left.pop(name, default)
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false")
        return value

    def one_of(self, name: str, words: list[str], default: str) -> str:
        value = self.text(name, default)
        if value not in words:
            raise self._wrong(name, f"one of {', '.join(words)}")
        return value

    def done(self) -> None:
        if self._left:
            raise UsageError(
                f"{self._what} has no field {next(iter(self._left))!r}.",
                next_step="Compare with what 'nudge reminder export' writes.",
            )

    def _absent(self, name: str) -> bool:
        if self._left.get(name) is None:
            self._left.pop(name, None)
            return True
        return False

    def _take(self, name: str) -> Any:
        if name not in self._left:
            raise UsageError(
                f"{self._what} needs the field {name!r}.",
                next_step="Compare with what 'nudge reminder export' writes.",
            )
        return self._left.pop(name)

    def _wrong(self, name: str, what: str) -> UsageError:
        return UsageError(f"The field {name!r} is not {what}.", next_step="Mend that field.")


def _late(text: str | None) -> Late | None:
    return None if text is None else Late.parse(text)


def _duration(text: str | None) -> int | None:
    return None if text is None else parse_duration(text)


def _time(text: str | None) -> Instant | None:
    return None if text is None else parse_rfc3339(text)
