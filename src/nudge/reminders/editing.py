"""Editing a reminder: some of its fields as somebody typed them, the others as they were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from nudge.errors import UsageError
from nudge.instants import Instant, zone_of
from nudge.reminders.late import Late
from nudge.reminders.reminder import Condition, Mode, Reminder
from nudge.reminders.spec import (
    ReminderSpec,
    check_combination,
    checked_message,
    checked_name,
    checked_text,
    read_chain,
    read_condition,
    read_priority,
)
from nudge.reminders.timing import Timing, read_interval, read_timing, read_until

_KINDS: Final = ("at", "in_", "every", "rrule", "cron", "idle")
_PLAIN: Final = ("to_person", "allow_ping", "reserve", "critical")


def edited(reminder: Reminder, changes: Mapping[str, Any], now: Instant) -> Reminder:
    """The reminder with these fields of a `ReminderSpec` set. What it has been through stays as it is.

    `chain` 0 ends being a chain, an empty `command` or `prompt` takes the condition away, `late` "default" its limit.
    """
    changed = replace(reminder, **{name: changes[name] for name in _PLAIN if name in changes})
    if "message" in changes:
        changed = replace(changed, message=checked_message(changes["message"]))
    if "name" in changes:
        changed = replace(changed, name=checked_name(changes["name"]))
    if "description" in changes:
        changed = replace(changed, description=checked_text(changes["description"], "description", 16_000))
    if "priority" in changes:
        changed = replace(changed, priority=read_priority(changes["priority"]))
    if "late" in changes:
        changed = replace(changed, late=None if changes["late"] == "default" else Late.parse(changes["late"]))
    changed = replace(changed, condition=_condition(reminder.condition, changes))
    changed = _timed(changed, changes, now)
    check_combination(changed.chain, changed.condition, changed.to_person)
    return changed


def _condition(condition: Condition | None, changes: Mapping[str, Any]) -> Condition | None:
    names = ("command", "prompt", "mode", "timeout")
    if not any(name in changes for name in names):
        return condition
    if changes.get("command") == "" or changes.get("prompt") == "":
        return None
    given = {name: changes[name] for name in names if name in changes}
    made = read_condition(ReminderSpec("x", **_kept(condition, given)))
    if made is not None and condition is not None and "timeout" not in given and made.command is not None:
        return replace(made, timeout_us=condition.timeout_us)
    return made


def _kept(condition: Condition | None, given: dict[str, Any]) -> dict[str, Any]:
    """A new command or prompt replaces the old one of either kind; the mode stays unless another is given."""
    if condition is None:
        return given
    if "command" not in given and "prompt" not in given:
        given = given | ({"command": condition.command} if condition.command else {"prompt": condition.prompt})
    return {"mode": condition.mode.value} | given


def _timed(reminder: Reminder, changes: Mapping[str, Any], now: Instant) -> Reminder:
    tz = zone_of(changes["tz"]).key if "tz" in changes else reminder.tz
    chain = read_chain(changes["chain"] or None) if "chain" in changes else reminder.chain
    kinds = [name for name in _KINDS if name in changes]
    waits = reminder.condition is not None and reminder.condition.mode is Mode.ONCE
    limits = {name: changes[name] for name in ("count", "until") if name in changes}
    if kinds == ["every"] and (chain is not None or (waits and reminder.one_shot)):
        kinds = []
        reminder = replace(reminder, rhythm_us=read_interval(changes["every"]))
    if kinds:
        words = {name: changes[name] for name in kinds} | limits
        if chain is not None and "every" not in words and reminder.rhythm_us:
            words["every"] = f"{reminder.rhythm_us // 1_000_000}s"
        schedule, rhythm = read_timing(Timing(**words), now, tz, chain=chain, waits=waits)
        return replace(reminder, schedule=schedule, rhythm_us=rhythm, tz=tz, chain=chain, asked=0)
    if chain is not None and reminder.rhythm_us is None:
        raise UsageError("A chain needs the time between its links.", next_step="Add --every, such as --every 30m.")
    schedule = reminder.schedule.in_zone(tz) if tz != reminder.tz else reminder.schedule
    if limits:
        until = None if "until" not in limits else read_until(limits["until"], now, zone_of(tz))
        schedule = schedule.limited(limits.get("count"), until, now)
    asked = reminder.asked if chain is not None and reminder.asked < chain else 0
    rhythm = reminder.rhythm_us if chain is not None or waits else None
    return replace(reminder, schedule=schedule, tz=tz, chain=chain, asked=asked, rhythm_us=rhythm)
