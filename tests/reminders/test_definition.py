"""From what somebody typed to a reminder, and changing one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nudge.errors import NudgeError, UsageError
from nudge.instants import DAY, HOUR, MINUTE, SECOND, Instant
from nudge.queue.inbox import Priority
from nudge.reminders.definition import (
    edited,
    make_reminder,
    reminder_from_json,
    reminder_to_json,
    replaced,
    same_timing,
    same_version,
)
from nudge.reminders.reminder import Condition, Late, Mode, Reminder, Source, Status
from nudge.reminders.slots import first_slot
from nudge.reminders.text import echo, schedule_words
from nudge.schedules import At, Cron, Every, Idle, Rrule
from tests.reminders.reminder_values import asked, reminder
from tests.times import NOON, TORONTO, toronto

ZONE = "America/Toronto"


@pytest.mark.parametrize(
    ("fields", "first"),
    [
        pytest.param({"in_": "2h"}, NOON + 2 * HOUR, id="in a duration"),
        pytest.param({"in_": "an hour and a half"}, NOON + 90 * MINUTE, id="in words"),
        pytest.param({"at": "3pm"}, toronto(2026, 2, 18, 15), id="at a time today"),
        pytest.param({"at": "tomorrow 9am"}, toronto(2026, 2, 19, 9), id="at a time tomorrow"),
        pytest.param({"at": "2026-02-20T15:00:00"}, toronto(2026, 2, 20, 15), id="at a wall time of the zone"),
        pytest.param({"at": "2026-02-20T15:00:00Z"}, toronto(2026, 2, 20, 10), id="at a time with its offset"),
        pytest.param({"at": "2026-02-01 15:00"}, toronto(2026, 2, 1, 15), id="at a past time"),
        pytest.param({"at": "3pm", "tz": "Europe/London"}, toronto(2026, 2, 19, 10), id="at a time in another zone"),
        pytest.param({"at": "every weekday at 9"}, toronto(2026, 2, 19, 9), id="at words that recur"),
        pytest.param({"at": "every 30 minutes"}, NOON + 30 * MINUTE, id="at an interval in words"),
        pytest.param({"at": "every other tuesday 10am"}, toronto(2026, 2, 24, 10), id="at every other tuesday"),
        pytest.param({"every": "30m"}, NOON + 30 * MINUTE, id="every 30 minutes"),
        pytest.param({"rrule": "FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0"}, toronto(2026, 2, 19, 9)),
        pytest.param({"rrule": "FREQ=DAILY"}, NOON + DAY, id="a rule without a time keeps that of its making"),
        pytest.param({"cron": "*/15 9-17 * * 1-5"}, NOON + 15 * MINUTE, id="cron"),
        pytest.param({"idle": "5m"}, NOON + 5 * MINUTE, id="idle"),
        pytest.param({"every": "30m", "chain": 4}, NOON + 30 * MINUTE, id="a chain by its rhythm alone"),
        pytest.param({"at": "6pm", "every": "30m", "chain": 4}, toronto(2026, 2, 18, 18), id="a chain from a time"),
        pytest.param({"every": "1h", "until": "2026-02-19"}, NOON + HOUR, id="until the end of a day"),
    ],
)
def test_a_schedule_is_read(fields: dict[str, Any], first: Instant) -> None:
    assert first_slot(reminder(**fields), NOON) == first


def test_a_rule_in_words_keeps_a_first_time_that_a_clock_change_moves() -> None:
    now = toronto(2026, 3, 3, 12)
    made = reminder(at="every other sunday at 2:30am", now=now)
    first = first_slot(made, now)
    assert first == toronto(2026, 3, 8, 3)
    assert made.schedule.next_after(first, TORONTO) == toronto(2026, 3, 22, 2, 30)


@pytest.mark.parametrize("day", ["2026-02-18", "today", "feb 18"])
def test_until_a_day_includes_it(day: str) -> None:
    made = reminder(every="1h", until=day)
    assert isinstance(made.schedule, Every)
    assert made.schedule.until == toronto(2026, 2, 19) - 1


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        pytest.param({}, "No schedule given", id="none"),
        pytest.param({"in_": "1h", "every": "30m"}, "Only one schedule is allowed; got in and every", id="two"),
        pytest.param({"at": "3pm", "cron": "* * * * *"}, "Only one", id="two others"),
        pytest.param({"in_": "1h", "every": "5m", "command": "x", "mode": "each"}, "Only one", id="no rhythm"),
        pytest.param({"every": "1h", "in_": "1h", "rrule": "FREQ=DAILY"}, "Only one", id="three"),
        pytest.param({"at": "banana"}, "can't read", id="words that are no time"),
        pytest.param({"every": "0s"}, "is zero", id="no interval"),
        pytest.param({"every": "1h", "count": 0}, "1 or more", id="no times"),
        pytest.param({"cron": "61 * * * *"}, "cron", id="a bad expression"),
        pytest.param({"rrule": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"}, "never", id="30 February"),
        pytest.param({"in_": "1h", "count": 2}, "does not recur", id="once, twice"),
        pytest.param({"at": "3pm", "until": "friday"}, "Only a recurring", id="once, until"),
        pytest.param({"every": "1h", "tz": "Mars/Olympus"}, "no time zone", id="a zone that is none"),
        pytest.param({"chain": 4}, "time between its questions", id="a chain without a rhythm"),
        pytest.param({"chain": 0, "every": "5m"}, "from 1 to 100", id="an empty chain"),
        pytest.param({"chain": 101, "every": "5m"}, "from 1 to 100", id="an endless chain"),
        pytest.param({"chain": 2, "idle": "5m", "every": "5m"}, "idle", id="an idle chain"),
        pytest.param({"chain": 2, "every": "5m", "command": "x", "mode": "once"}, "once", id="a chain that fires once"),
        pytest.param(
            {"in_": "1h", "every": "0.01s", "command": "x", "mode": "once"}, "between 1 second", id="asked too often"
        ),
        pytest.param({"every": "1h", "mode": "until"}, "needs a command or a prompt", id="a mode alone"),
        pytest.param({"every": "1h", "command": "x", "prompt": "y"}, "not both", id="two conditions"),
        pytest.param(
            {"every": "1h", "command": "x", "mode": "never"}, "one of each, until, once", id="an unknown mode"
        ),
        pytest.param({"every": "1h", "command": " "}, "empty", id="an empty command"),
        pytest.param({"every": "1h", "command": "x", "timeout": "2h"}, "between 0.1s and 1h", id="too long a limit"),
        pytest.param({"every": "1h", "prompt": "x", "timeout": "5s"}, "Only a command", id="a limit for an agent"),
        pytest.param(
            {"every": "1h", "prompt": "x", "to_person": True}, "Only an agent can judge", id="nobody to judge"
        ),
        pytest.param({"every": "1h", "priority": "urgent"}, "one of interrupt, normal, idle", id="an unknown priority"),
        pytest.param({"every": "1h", "late": "maybe"}, "too late", id="an unclear policy"),
        pytest.param({"every": "1h", "name": "r-a1b2c3"}, "looks like an id", id="a name like an id"),
        pytest.param({"every": "1h", "name": "a\nb"}, "must be one line", id="a name of two lines"),
        pytest.param({"every": "1h", "message": "  "}, "'message' is empty", id="nothing to say"),
        pytest.param({"every": "1h", "message": "a\0b"}, "not text", id="a message no database takes"),
        pytest.param({"every": "1h", "message": "x" * 16_001}, "longer than", id="a book"),
        pytest.param({"every": "1h", "message": "{oops}"}, "no variable", id="an unknown variable"),
    ],
)
def test_a_mistake_is_refused_in_words(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why) as error:
        reminder(fields.pop("message", "Stretch."), **fields)
    assert error.value.next_step


def test_a_chat_cannot_set_a_command() -> None:
    with pytest.raises(UsageError, match="chat cannot"):
        reminder(every="1h", command="rm -rf ~", source=Source.CHAT)


def test_the_fields_arrive() -> None:
    made = reminder(
        "Fix it.",
        name=" check ci ",
        description="CI",
        every="30m",
        count=4,
        priority="interrupt",
        command="make test",
        mode="until",
        timeout="30s",
        to_person=True,
        late="10m",
        reserve=True,
        critical=True,
        allow_ping=False,
        ref="routines/ci.md",
        source=Source.FILE,
    )
    assert made.name == "check ci"
    assert made.condition == Condition("make test", None, Mode.UNTIL, 30 * SECOND)
    assert made.schedule == Every(30 * MINUTE, NOON, 4)
    assert (made.priority, made.late, made.tz) == (Priority.INTERRUPT, Late(10 * MINUTE), ZONE)
    assert (made.to_person, made.reserve, made.critical, made.allow_ping) == (True, True, True, False)
    assert (made.source, made.ref, made.status) == (Source.FILE, "routines/ci.md", Status.ACTIVE)
    assert made.spec
    assert reminder("Fix it.", every="30m").spec == ""


def test_a_version_tells_the_schedule_from_the_rest() -> None:
    def version(zone: str = ZONE, now: Instant = NOON, **fields: Any) -> str:
        definition = asked(**{"message": "Stretch.", "name": "s", "every": "30m", **fields})
        return make_reminder(definition, agent="coach", now=now, zone=zone, source=Source.ROLE).spec

    one = version()
    assert version(now=Instant(NOON + DAY)) == one
    assert version(priority="idle", allow_ping=True, late=None) == one  # a default that is written out changes nothing
    other = version(message="Stand up.")
    assert not same_version(one, other)
    assert same_timing(one, other)
    assert not same_timing(one, version(every="40m"))
    assert not same_timing(one, version(zone="UTC"))
    assert same_version(one, version(zone="UTC"))  # the person moved; the file is what it was
    assert version(tz="UTC") == version(tz="UTC", zone="Europe/London")


EVERYTHING = [
    pytest.param({"in_": "1h"}, id="at"),
    pytest.param({"every": "30m", "count": 9, "late": "never"}, id="every"),
    pytest.param({"rrule": "FREQ=DAILY;BYHOUR=9;BYMINUTE=0", "prompt": "Is it done?", "mode": "once"}, id="rrule"),
    pytest.param({"cron": "0 9 * * 1-5", "until": "2026-12-31", "to_person": True, "reserve": True}, id="cron"),
    pytest.param({"idle": "5m", "priority": "normal", "description": "d", "name": "n"}, id="idle"),
    pytest.param({"every": "30m", "chain": 4, "asked": 2, "fire_count": 7, "last_fired_at": NOON}, id="chain"),
    pytest.param({"in_": "1h", "every": "5m", "command": "x", "mode": "once", "timeout": "1m30s"}, id="waiting"),
    pytest.param({"every": "1h", "status": Status.COMPLETED, "ended_reason": "Done.", "acknowledged_at": NOON}),
]


@pytest.mark.parametrize("fields", EVERYTHING)
def test_json_gives_back_what_it_was_given(fields: dict[str, Any]) -> None:
    made = reminder(**fields)
    data = reminder_to_json(made)
    assert reminder_from_json(data) == made
    assert data["created_at"] == "2026-02-18T12:00:00-05:00"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"id": "7"}, "an id such as r-a1b2c3"),
        ({"message": 5}, "'message' must be text"),
        ({"message": "{nope}"}, "no variable"),
        ({"chain": "4"}, "'chain' must be a whole number from 1 to 100"),
        ({"to_person": "yes"}, "'to_person' must be true or false"),
        ({"status": "gone"}, "one of active"),
        ({"schedule": {"kind": "lunar"}}, "no schedule of kind"),
        ({"schedule": "every 30m"}, "'schedule' must be a schedule"),
        ({"condition": {"mode": "each"}}, "command or a prompt"),
        ({"created_at": "2026-02-18"}, "time zone"),
        ({"surprise": 1}, "'surprise' is not a field"),
        ({"tz": "Mars"}, "no time zone"),
        pytest.param(
            {"condition": {"command": "true", "timeout": "99h"}},
            "'condition.timeout' must be between",
            id="a command for days",
        ),
        pytest.param({"chain": 2, "condition": {"command": "true", "mode": "once"}}, "fires once", id="a chain once"),
        pytest.param({"to_person": True, "condition": {"prompt": "done?"}}, "reaches no agent", id="a judge of nobody"),
    ],
)
def test_a_bad_field_of_an_import_is_named(change: dict[str, Any], why: str) -> None:
    with pytest.raises(NudgeError, match=why):
        reminder_from_json(reminder_to_json(reminder(every="1h")) | change)


def test_a_missing_field_of_an_import_is_named() -> None:
    data = reminder_to_json(reminder(every="1h"))
    del data["message"]
    with pytest.raises(UsageError, match="'message' is missing"):
        reminder_from_json(data)


OLD = {"fire_count": 14, "last_fired_at": NOON, "asked": 0}


@pytest.mark.parametrize(
    ("before", "changes", "expected"),
    [
        pytest.param({"every": "1h"}, {"message": "Sit."}, {"message": "Sit."}, id="message"),
        pytest.param({"every": "1h"}, {"name": "n"}, {"name": "n"}, id="name"),
        pytest.param({"every": "1h"}, {"priority": "normal"}, {"priority": Priority.NORMAL}, id="priority"),
        pytest.param({"every": "1h"}, {"late": "always"}, {"late": Late(None)}, id="late"),
        pytest.param({"every": "1h", "late": "never"}, {"late": None}, {"late": None}, id="late as by default"),
        pytest.param({"every": "1h"}, {"to_person": True}, {"to_person": True}, id="to the person"),
        pytest.param({"every": "1h"}, {"every": "2h"}, {"schedule": Every(2 * HOUR, NOON + DAY)}, id="interval"),
        pytest.param({"every": "1h"}, {"in_": "1h"}, {"schedule": At(NOON + DAY + HOUR, ZONE)}, id="another kind"),
        pytest.param({"every": "1h"}, {"idle": "5m"}, {"schedule": Idle(5 * MINUTE)}, id="idle"),
        pytest.param({"every": "1h"}, {"count": 3}, {"schedule": Every(HOUR, NOON, 3)}, id="a count, on its old grid"),
        pytest.param(
            {"rrule": "COUNT=3;FREQ=DAILY;BYHOUR=9;UNTIL=20261231"},
            {"count": 5, "until": "2026-03-01T12:00:00Z"},
            {"schedule": Rrule("FREQ=DAILY;BYHOUR=9;COUNT=5;UNTIL=20260301T120000Z", ZONE, NOON)},
            id="another count and another end of a rule",
        ),
        pytest.param(
            {"cron": "0 9 * * *"},
            {"tz": "UTC"},
            {"schedule": Cron("0 9 * * *", "UTC", anchor=NOON), "tz": "UTC", "follows": False},
            id="zone",
        ),
        pytest.param({"every": "1h"}, {"command": "x"}, {"condition": Condition("x")}, id="a condition"),
        pytest.param(
            {"every": "1h", "command": "x", "mode": "until"},
            {"prompt": "y?"},
            {"condition": Condition(None, "y?", Mode.UNTIL)},
            id="a command becomes a prompt",
        ),
        pytest.param(
            {"every": "1h", "command": "x", "timeout": "1m"},
            {"mode": "once"},
            {"condition": Condition("x", None, Mode.ONCE, MINUTE)},
            id="a mode",
        ),
        pytest.param({"every": "1h", "command": "x"}, {"command": ""}, {"condition": None}, id="no condition"),
        pytest.param(
            {"every": "30m", "chain": 4}, {"every": "10m"}, {"rhythm": 10 * MINUTE, "chain": 4}, id="the rhythm"
        ),
        pytest.param({"every": "30m", "chain": 4}, {"chain": None}, {"chain": None, "rhythm": None}, id="no chain"),
        pytest.param({"in_": "1h"}, {"chain": 3, "every": "5m"}, {"chain": 3, "rhythm": 5 * MINUTE}, id="a chain"),
    ],
)
def test_an_edit_changes_what_it_names_and_nothing_else(
    before: dict[str, Any], changes: dict[str, Any], expected: dict[str, Any]
) -> None:
    old = reminder(**before, **OLD)
    new = edited(old, asked(**changes), Instant(NOON + DAY))
    assert new == replace(old, **expected)


@pytest.mark.parametrize(
    ("before", "changes"),
    [
        ({"every": "1h"}, {"message": "{x}"}),
        ({"every": "1h"}, {"mode": "once"}),
        ({"in_": "1h"}, {"count": 3}),
        ({"every": "1h"}, {"chain": 3}),
        ({"every": "1h"}, {"at": "3pm", "cron": "* * * * *"}),
        ({"every": "1h", "to_person": True}, {"prompt": "x?"}),
        ({"every": "30m", "chain": 2}, {"command": "x", "mode": "once"}),
        ({"every": "1h"}, {"count": 0}),
        ({"every": "1h"}, {"message": " "}),
        ({"every": "1h"}, {"condition": "x"}),
        ({"every": "1h"}, {"surprise": 1}),
        ({"every": "1h"}, {"source": "cli"}),
        ({"every": "1h", "source": Source.ROLE, "name": "a"}, {"name": "b"}),
    ],
)
def test_an_edit_refuses_what_adding_refuses(before: dict[str, Any], changes: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        edited(reminder(**before), asked(**changes), NOON)


def test_a_new_version_keeps_what_the_old_one_has_been_through() -> None:
    old = reminder("Old.", every="30m", chain=4, asked=3, fire_count=9, last_fired_at=NOON, status=Status.PAUSED)
    new = reminder("New.", every="30m", chain=2, now=Instant(NOON + DAY))
    kept = replaced(old, replace(new, id="r-zzzzzz"))
    assert (kept.id, kept.message, kept.fire_count, kept.status) == (old.id, "New.", 9, Status.PAUSED)
    assert (kept.asked, kept.created_at) == (1, NOON)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"in_": "1h"}, "once"),
        ({"every": "30m"}, "every 30m"),
        ({"idle": "5m"}, "idle 5m"),
        ({"every": "30m", "chain": 4}, "once, 4× every 30m"),
        ({"in_": "1h", "command": "x", "mode": "once"}, "once, checked every 1m"),
    ],
)
def test_a_list_shows_few_words(fields: dict[str, Any], words: str) -> None:
    assert schedule_words(reminder(**fields)) == words


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"at": "friday 5pm"}, "Friday 2026-02-20 5:00 PM America/Toronto (in 2 days 5 h)"),
        ({"every": "30m"}, "every 30m, first Wednesday 2026-02-18 12:30 PM America/Toronto (in 30 min)"),
        (
            {"at": "2026-02-18T11:00"},
            "Wednesday 2026-02-18 11:00 AM America/Toronto (already passed, so it fires now)",
        ),
        (
            {"at": "every weekday at 3pm"},
            "weekly on weekdays at 15:00, first Wednesday 2026-02-18 3:00 PM America/Toronto (in 3 h)",
        ),
        ({"idle": "5m"}, "idle 5m: when coach has had nothing to do for that long"),
    ],
)
def test_what_was_understood_is_said_back(fields: dict[str, Any], said: str) -> None:
    made: Reminder = reminder(**fields)
    assert echo(made, first_slot(made, NOON), NOON) == said


def test_a_phrase_that_recurs_is_counted_from_its_first_time() -> None:
    made = reminder(at="every other tuesday 10am", count=3)
    assert isinstance(made.schedule, Rrule)
    first = made.schedule.next_after(NOON, TORONTO)
    assert first == toronto(2026, 2, 24, 10)
    second = made.schedule.next_after(first, TORONTO)
    assert second == toronto(2026, 3, 10, 10)
    assert made.schedule.next_after(toronto(2026, 3, 24, 10), TORONTO) is None
