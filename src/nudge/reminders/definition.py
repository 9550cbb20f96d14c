"""From what somebody asks for to a reminder, and the reminder as JSON.

Flags of a command, fields of a role, front matter of a routine, a chat and an import all come here as one form, a
`Definition`, and leave as one value, a `Reminder`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2s
from typing import Any, Final

from nudge.defaults import SHORTEST_BY_MODEL, SHORTEST_TO_PERSON
from nudge.durations import format_duration
from nudge.errors import UsageError
from nudge.instants import Instant, zone_of
from nudge.redaction import screen
from nudge.reminders.fields import FieldError, FieldPart, read_record, write_record
from nudge.reminders.reminder import FIELDS, SETTINGS, STATE, Condition, Mode, Reminder, Source
from nudge.reminders.slots import shortest_gap
from nudge.reminders.text import check_template, literal
from nudge.reminders.timing import by_wall_clock, read_interval, read_timing, read_until, read_when
from nudge.schedules import WAYS, WAYS_IN_WORDS, AnySchedule

Definition = Mapping[str, Any]
"""What somebody asks for, as plain values by the names of the settings of `Reminder`:

    {"message": "Check CI.", "schedule": {"every": "30m"}, "condition": {"command": "make test", "mode": "until"}}

`schedule` is in words (one of `nudge.schedules.WAYS`, with `tz`, `count` and `until`), or a schedule that was read
already; then `follows` says whether it moves with the person. The other fields are as in JSON.
"""

NEW: Final = "r-000000"
"""The id of a reminder that has none yet."""

UNKNOWN_VERSION: Final = "unknown"
"""The version of a reminder of a role or file that was imported without one."""

_PLAIN: Final = tuple(one for one in SETTINGS if one.name != "schedule")
_EDITED: Final = "edited"


def make_reminder(
    definition: Definition,
    *,
    agent: str,
    now: Instant,
    zone: str,
    source: Source = Source.CLI,
    ref: str = "",
    reminder_id: str = NEW,
) -> Reminder:
    """The reminder that was asked for, or a usage error. `zone` is the person's, for a schedule that names none."""
    values = read_record(
        _PLAIN, {name: value for name, value in definition.items() if name not in ("schedule", "follows")}
    )
    condition: Condition | None = values.get("condition")
    if source.talked:
        if condition is not None and condition.command is not None:
            raise UsageError("A chat cannot set a command.", next_step="Use 'nudge reminder add --condition' instead.")
        values["message"] = literal(values["message"])
    asked = definition.get("schedule")
    if isinstance(asked, AnySchedule):
        when: dict[str, Any] = {}
        tz, schedule, rhythm = asked.shown_in(zone_of(zone)).key, asked, None
        follows = bool(definition.get("follows"))
    else:
        when = {} if asked is None else read_when(asked)
        tz = zone_of(when.get("tz") or zone).key
        schedule, rhythm = read_timing(when, now, tz, chain=values.get("chain"), waits=_waits(condition))
        follows = by_wall_clock(when, now, tz)
    made = Reminder(
        id=reminder_id,
        agent=agent,
        schedule=schedule,
        tz=tz,
        created_at=now,
        follows=follows,
        rhythm=rhythm,
        source=source,
        ref=ref,
        **values,
    )
    if source.follows_a_file:
        made = replace(made, spec=_version(made, when))
    return _checked(made)


def check_shape(definition: Definition) -> None:
    """Refuse fields that are missing, unknown or of the wrong kind. What they mean together is for `make_reminder`,
    which knows the time."""
    read_record(_PLAIN, {name: value for name, value in definition.items() if name != "schedule"})
    if "schedule" not in definition:
        raise FieldError(("schedule",), "is missing", next_step=f"Add it, with one of {WAYS_IN_WORDS}.")
    read_when(definition["schedule"])


def edited(reminder: Reminder, changes: Definition, now: Instant) -> Reminder:
    """The reminder with some of its settings changed. How far it has come stays.

    Of a schedule or a condition only the parts that are named change: another command keeps the mode, another count
    keeps the grid. An empty command or prompt takes the condition away.
    """
    values = read_record(
        [one for one in _PLAIN if one.name != "condition"],
        {name: value for name, value in changes.items() if name not in ("schedule", "condition")},
        partial=True,
    )
    if reminder.source.follows_a_file and values.get("name", reminder.name) != reminder.name:
        raise UsageError(
            f"{reminder.id} gets its name from its {reminder.source.value}.",
            next_step=f"Rename it in {reminder.ref or 'the role'}.",
        )
    if "condition" in changes:
        values["condition"] = _changed_condition(reminder.condition, changes["condition"])
    when = read_when(changes.get("schedule") or {})
    after = _checked(_timed(replace(reminder, **values), when, now))
    if after.spec and _when(after) != _when(reminder):
        after = replace(after, spec=f"{_EDITED}:{after.spec.partition(':')[2]}")
    return after


def replaced(old: Reminder, new: Reminder) -> Reminder:
    """`new` in the place of `old`, from the next version of its file: its settings are the new one's, how far it has
    come is the old one's."""
    kept = {one.name: getattr(old, one.name) for one in STATE}
    kept["asked"] = min(old.asked, (new.chain or 1) - 1)
    return replace(new, id=old.id, created_at=old.created_at, source=old.source, **kept)


def same_version(one: str, other: str) -> bool:
    """Whether two versions ask for the same thing."""
    return one.partition(":")[2] == other.partition(":")[2]


def same_timing(one: str, other: str) -> bool:
    """Whether two versions ask for the same schedule in the same zone. An edited one is like no other."""
    return one.partition(":")[0] == other.partition(":")[0]


def timing_edited(version: str) -> bool:
    return version.startswith(_EDITED)


def reminder_to_json(reminder: Reminder) -> dict[str, Any]:
    return write_record(FIELDS, reminder, reminder.zone)


def reminder_from_json(data: Any) -> Reminder:
    """What `reminder_to_json` wrote. Strict: a field that is missing, unknown or wrong is named."""
    return _checked(Reminder(**read_record(FIELDS, data)))


def _version(reminder: Reminder, when: Mapping[str, Any]) -> str:
    """Two digests, `timing:whole`. A file whose schedule has not changed keeps the grid it had. A schedule without a
    zone follows the person's, so the zone is part of its timing, but moving is no new version of the file."""
    settings = write_record(_PLAIN, reminder, reminder.zone)
    timing = {"schedule": when, "chain": reminder.chain, "zone": reminder.tz}
    return f"{_digest(timing)}:{_digest(settings | {'schedule': when, 'ref': reminder.ref})}"


def _digest(values: Mapping[str, Any]) -> str:
    return blake2s(json.dumps(values, sort_keys=True).encode(), digest_size=8).hexdigest()


def _checked(reminder: Reminder) -> Reminder:
    """Refuse what does not go together, what comes too often, and a message with variables that do not exist. A secret
    in its words is not kept: whoever sets it is told."""
    words = (reminder.name, reminder.message, reminder.description)
    if (screened := tuple(map(screen, words))) != words:
        reminder = replace(reminder, name=screened[0], message=screened[1], description=screened[2])
    check_template(reminder.message)
    _check_pace(reminder)
    condition = reminder.condition
    if reminder.chain is not None and _waits(condition):
        raise UsageError("A chain asks several times, but mode once fires once.", next_step="Leave one of them out.")
    if reminder.to_person and reminder.asks_agent:
        raise UsageError(
            "Only an agent can judge a condition in words, and a reminder straight to the person reaches no agent.",
            next_step="Use a command as its condition, or send it to the agent.",
        )
    return reminder


def _check_pace(reminder: Reminder) -> None:
    """Refuse what would reach the person too often. What they set comes at its time whatever the hour, so this is the
    only limit on it. What has ended reaches nobody."""
    if not reminder.to_person or reminder.status.ended:
        return
    by_model = reminder.source is Source.MODEL
    shortest = SHORTEST_BY_MODEL if by_model else SHORTEST_TO_PERSON
    gap = shortest_gap(reminder)
    if gap is not None and gap < shortest:
        most = format_duration(shortest)
        who = "A reminder that a model sets" if by_model else "A reminder to you"
        raise UsageError(
            f"{who} can come at most every {most}, and this one would come every {format_duration(gap)}.",
            next_step=f"Choose {most} or more.",
        )


def _waits(condition: Condition | None) -> bool:
    return condition is not None and condition.mode is Mode.ONCE


def _changed_condition(condition: Condition | None, given: Any) -> Condition | None:
    """A new command or prompt replaces the old one of either kind; the mode stays unless another is given."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise FieldError(("condition",), "must have fields of its own")
    if "" in (given.get("command"), given.get("prompt")):
        return None
    kept = {} if condition is None else condition.to_json()
    if "command" in given or "prompt" in given:
        kept = {name: value for name, value in kept.items() if name not in ("command", "prompt")}
    if "prompt" in given:
        kept.pop("timeout", None)
    return Condition.read(kept | dict(given))


def _when(reminder: Reminder) -> tuple[object, ...]:
    timing = tuple(getattr(reminder, one.name) for one in FIELDS if one.part is FieldPart.TIMING)
    return (reminder.schedule, reminder.chain, *timing)


def _timed(reminder: Reminder, when: Mapping[str, Any], now: Instant) -> Reminder:
    """The reminder with other words for when it is due. A new schedule counts from now; what is not named stays."""
    tz, chain, waits = when.get("tz", reminder.tz), reminder.chain, _waits(reminder.condition)
    ways = [name for name in WAYS if name in when]
    if ways == ["every"] and (chain is not None or (waits and reminder.one_shot)):
        ways = []
        reminder = replace(reminder, rhythm=read_interval(when["every"]))
    if ways:
        words = dict(when)
        if chain is not None and "every" not in words and reminder.rhythm:
            words["every"] = f"{reminder.rhythm // 1_000_000}s"
        schedule, rhythm = read_timing(words, now, tz, chain=chain, waits=waits)
        follows = by_wall_clock(words, now, tz)
        return replace(reminder, schedule=schedule, rhythm=rhythm, tz=tz, follows=follows, asked=0)
    if chain is not None and reminder.rhythm is None:
        raise UsageError("A chain needs the time between its questions.", next_step="Add every, such as --every 30m.")
    schedule = reminder.schedule if tz == reminder.tz else reminder.schedule.in_zone(tz)
    if "count" in when or "until" in when:
        until = None if "until" not in when else read_until(when["until"], now, zone_of(tz))
        schedule = schedule.limited(when.get("count"), until, now)
    asked = reminder.asked if chain is not None and reminder.asked < chain else 0
    rhythm = reminder.rhythm if chain is not None or waits else None
    follows = reminder.follows and "tz" not in when
    return replace(reminder, schedule=schedule, tz=tz, follows=follows, asked=asked, rhythm=rhythm)
