"""A reminder has one shape: what is declared once is a flag, a field of roles and routines, JSON and a column."""

from __future__ import annotations

import argparse
import inspect
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nudge.stores
from nudge.cli.reminder_flags import add_flags, fields_with_flags
from nudge.cli.reminder_flags import given as given_by_flags
from nudge.errors import NudgeError, UsageError
from nudge.home.folder import Home
from nudge.home.roles import load_role
from nudge.home.routines import read_routine
from nudge.instants import HOUR, MINUTE, Instant
from nudge.queue.inbox import Priority
from nudge.reminders.definition import make_reminder, reminder_from_json, reminder_to_json
from nudge.reminders.fields import FieldError, FieldPart, from_columns, to_columns
from nudge.reminders.reminder import FIELDS, SETTINGS, Condition, Late, Mode, Reminder, Source, Status
from nudge.schedules import At, Cron, Every, Idle, Rrule
from tests.times import NOON

GIVEN: dict[str, Any] = {
    "message": "Look at the build.",
    "schedule": {"cron": "0 9 * * 1-5", "tz": "Europe/London", "count": 20, "until": "2099-12-31", "every": "30m"},
    "name": "build",
    "description": "CI",
    "priority": "interrupt",
    "to_person": True,
    "condition": {"command": "make check", "mode": "until", "timeout": "30s"},
    "late": "1h 30m",
    "chain": 4,
    "allow_ping": False,
    "reserve": True,
    "critical": True,
}
"""Every setting there is, each with a value that is not its default."""

MADE = {
    "message": "Look at the build.",
    "name": "build",
    "description": "CI",
    "priority": Priority.INTERRUPT,
    "to_person": True,
    "condition": Condition("make check", None, Mode.UNTIL, 30_000_000),
    "late": Late(90 * MINUTE),
    "chain": 4,
    "allow_ping": False,
    "reserve": True,
    "critical": True,
    "tz": "Europe/London",
    "rhythm": 30 * MINUTE,
}


def made(definition: dict[str, Any]) -> Reminder:
    return make_reminder(definition, agent="coach", now=NOON, zone="America/Toronto")


def test_the_example_names_every_setting_and_none_by_its_default() -> None:
    assert set(GIVEN) == {field.name for field in SETTINGS}
    reminder = made(GIVEN)
    for name, value in MADE.items():
        assert getattr(reminder, name) == value
    for field in SETTINGS:
        assert field.required or getattr(reminder, field.name) != field.default


def flags_for(definition: dict[str, Any]) -> list[str]:
    words: list[str] = []
    for path, field in fields_with_flags():
        value: Any = definition
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        assert field.flag
        flag = field.flag.name or field.name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        elif value is not None:
            words += [f"--{flag}", str(value)]
    return words


def by_flags(words: list[str], *, editing: bool = False) -> dict[str, Any]:
    parser = argparse.ArgumentParser()
    add_flags(parser, editing=editing)
    return given_by_flags(parser.parse_args(words), Home(Path("/nowhere")), editing=editing)


def test_every_setting_is_a_flag() -> None:
    assert by_flags(flags_for(GIVEN)) == GIVEN
    assert by_flags(flags_for(GIVEN), editing=True) == GIVEN
    assert by_flags([]) == {}


def test_an_edit_can_take_a_value_away() -> None:
    assert by_flags(["--chain", "0", "--late", "default", "--no-critical"], editing=True) == {
        "chain": None,
        "late": None,
        "critical": False,
    }


def test_every_flag_has_help_and_a_group() -> None:
    parser = argparse.ArgumentParser()
    add_flags(parser, editing=False)
    for action in parser._actions:
        assert action.help
    assert "use exactly one of at, in, every, rrule, cron or idle" in " ".join(parser.format_help().split())


def yaml_of(definition: dict[str, Any], indent: str) -> str:
    def line(name: str, value: Any) -> str:
        if isinstance(value, dict):
            return f"{name}:" + "".join(f"\n{indent}  {line(one, part)}" for one, part in value.items())
        return f"{name}: {str(value).lower()}" if isinstance(value, bool) else f"{name}: {value!r}"

    return "".join(f"\n{indent}{line(name, value)}" for name, value in definition.items())


def test_every_setting_is_a_field_of_a_role_and_of_a_routine(tmp_path: Path) -> None:
    role, routine = tmp_path / "coach.yaml", tmp_path / "build.md"
    role.write_text(f"name: coach\nreminders:\n  - name: build{yaml_of(without(GIVEN, 'name'), '    ')}\n")
    routine.write_text(f"---{yaml_of(without(GIVEN, 'message'), '')}\n---\n{GIVEN['message']}\n")
    (of_role,) = load_role(role).reminders
    of_routine = read_routine(routine, "routines/build.md")
    assert of_role.definition == of_routine.definition == GIVEN
    assert (of_role.name, of_role.line, of_routine.name) == ("build", 3, "build")


def without(definition: dict[str, Any], name: str) -> dict[str, Any]:
    return {one: value for one, value in definition.items() if one != name}


def test_the_columns_of_the_table_are_the_fields() -> None:
    names = {field.name for field in FIELDS} | {"schedule_words"}
    folder = Path(inspect.getfile(nudge.stores)).parent
    statements = (folder / "queries" / "reminders.sql").read_text()
    inserted = re.search(r"INSERT INTO reminders \((.*?)\)", statements, re.DOTALL)
    assert inserted
    assert set(re.findall(r"\w+", inserted[1])) == names
    saved = re.search(r"-- name: reminders_save\n(.*?)\n\n", statements, re.DOTALL)
    assert saved
    fixed = {"agent", "source", "created_at"}
    assert set(re.findall(r"(\w+) = :", saved[1])) == names - fixed
    state = re.search(r"-- name: reminders_save_state\n(.*?)\n\n", statements, re.DOTALL)
    assert state
    assert set(re.findall(r"(\w+) = :", state[1])) == {
        "id",
        *(one.name for one in FIELDS if one.part is FieldPart.STATE),
    }


instants = st.integers(NOON, NOON + 1000 * HOUR).map(Instant)
texts = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs"), exclude_characters="{}"),
    min_size=1,
    max_size=40,
).map(str.strip)
schedules = st.one_of(
    st.builds(At, instants, st.sampled_from([None, "UTC", "America/Toronto"])),
    st.builds(Every, st.integers(15 * MINUTE, HOUR), instants, st.none() | st.integers(1, 9)),
    st.builds(Idle, st.integers(1_000_000, HOUR)),
    st.just(Cron("0 9 * * 1-5", "Europe/London", anchor=NOON)),
    st.just(Rrule("FREQ=DAILY;BYHOUR=9", None, NOON)),
)
conditions = st.none() | st.builds(Condition, texts.filter(bool), st.none(), st.sampled_from([Mode.EACH, Mode.UNTIL]))
reminders = st.builds(
    Reminder,
    id=st.from_regex(r"\Ar-[0-9a-z]{6}\Z"),
    agent=st.just("coach"),
    message=texts.filter(bool),
    schedule=schedules,
    tz=st.sampled_from(["UTC", "America/Toronto", "Asia/Kathmandu"]),
    created_at=instants,
    name=st.from_regex(r"\A[a-z ]{0,20}\Z").map(str.strip),
    description=texts,
    priority=st.sampled_from(Priority),
    to_person=st.booleans(),
    condition=conditions,
    late=st.none() | st.builds(Late, st.none() | st.just(0) | st.integers(1, HOUR)),
    chain=st.none() | st.integers(1, 100),
    rhythm=st.none() | st.integers(15 * MINUTE, HOUR),
    allow_ping=st.booleans(),
    reserve=st.booleans(),
    critical=st.booleans(),
    source=st.sampled_from(Source),
    ref=texts,
    spec=texts,
    status=st.sampled_from(Status),
    ended_reason=texts,
    asked=st.integers(0, 100),
    fire_count=st.integers(0, 2**62),
    last_fired_at=st.none() | instants,
    acknowledged_at=st.none() | instants,
)


@settings(max_examples=200)
@given(reminders)
def test_json_and_columns_give_back_every_reminder(reminder: Reminder) -> None:
    assert reminder_from_json(reminder_to_json(reminder)) == reminder
    assert Reminder(**from_columns(FIELDS, to_columns(FIELDS, reminder))) == reminder


@pytest.mark.parametrize("missing", [field.name for field in FIELDS])
def test_a_field_that_an_import_leaves_out_is_its_default_or_named(missing: str) -> None:
    whole = replace(made(GIVEN), id="r-a1b2c3")
    field = next(one for one in FIELDS if one.name == missing)
    data = without(reminder_to_json(whole), missing)
    if not field.required:
        assert getattr(reminder_from_json(data), missing) == field.default
        return
    with pytest.raises(FieldError, match=f"'{missing}' is missing") as error:
        reminder_from_json(data)
    assert error.value.path == (missing,)


@pytest.mark.parametrize(
    ("change", "path", "why"),
    [
        ({"schedule": {"every": 5}}, ("schedule", "every"), "'schedule.every' must be text, perhaps in quotes."),
        ({"schedule": {"evry": "5m"}}, ("schedule", "evry"), "'schedule.evry' is not a field."),
        ({"schedule": {"every": "5m", "tz": "Mars"}}, ("schedule", "tz"), "There is no time zone called 'Mars'."),
        ({"schedule": "5m"}, ("schedule",), "'schedule' must have fields of its own."),
        ({"condition": {"command": "x", "mode": "no"}}, ("condition", "mode"), "'condition.mode' must be one of"),
        ({"condition": {}}, ("condition",), "A condition needs a command or a prompt."),
        ({"chain": True}, ("chain",), "'chain' must be a whole number from 1 to 100."),
        ({"late": 5}, ("late",), "'late' must be always, never or a duration such as 2h."),
        ({"reserve": "yes"}, ("reserve",), "'reserve' must be true or false."),
        ({"spec": "x"}, ("spec",), "'spec' is not a field."),
        ({"fire_count": 5}, ("fire_count",), "'fire_count' is not a field."),
    ],
)
def test_a_mistake_is_placed(change: dict[str, Any], path: tuple[str, ...], why: str) -> None:
    with pytest.raises(FieldError) as error:
        made(GIVEN | change)
    assert error.value.path == path
    assert error.value.message.startswith(why)
    assert error.value.next_step


@given(st.dictionaries(st.sampled_from([*GIVEN, "x"]), st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)))  # fmt: skip
def test_whatever_a_definition_holds_it_is_a_reminder_or_a_usage_error(definition: dict[str, Any]) -> None:
    try:
        made(GIVEN | definition)
        reminder_from_json(definition)
    except UsageError:
        pass
    except NudgeError:
        pytest.fail("not a usage error")
