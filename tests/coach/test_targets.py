from __future__ import annotations

from dataclasses import replace
from datetime import datetime, time
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nudge.coach.documents import Document
from nudge.coach.targets import Parsed, Targets, choose, parse_targets, set_target
from nudge.errors import UsageError
from nudge.instants import as_instant

DEFAULTS = {
    "bedtime_target": "01:00",
    "wake_target": "10:00",
    "quiet_hours": "02:00-10:00",
    "weekly_review": "Saturday 10:00",
    "timezone": "America/Toronto",
}


def read(body: str, heading: str = "## Schedule Targets\n") -> Parsed:
    return parse_targets(Document.parse("# Goals\n\n" + heading + body))


def test_every_field_has_its_default() -> None:
    assert Targets().as_fields() == DEFAULTS


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param('- bedtime_target: "23:30"', {"bedtime_target": "23:30"}, id="quoted"),
        pytest.param("- bedtime_target: 23:30", {"bedtime_target": "23:30"}, id="without quotes"),
        pytest.param(
            "* wake_target: '7:05' <!-- early -->", {"wake_target": "07:05"}, id="single quotes and a comment"
        ),
        pytest.param("- quiet_hours: 22:00 – 07:00", {"quiet_hours": "22:00-07:00"}, id="a dash with spaces"),
        pytest.param('- weekly_review: "sun 18:30"', {"weekly_review": "Sunday 18:30"}, id="a short weekday"),
        pytest.param("- **timezone**: `Europe/Berlin`", {"timezone": "Europe/Berlin"}, id="marked up"),
        pytest.param("- Wake Target: 06:00", {"wake_target": "06:00"}, id="the name with a space"),
        pytest.param("- bedtime_target: [HH:MM]", {}, id="a placeholder is the default"),
        pytest.param('Words before.\n\n- wake_target: "09:00"', {"wake_target": "09:00"}, id="after a paragraph"),
    ],
)
def test_fields_are_read(line: str, expected: dict[str, str]) -> None:
    parsed = read(line + "\n")
    assert parsed.problems == ()
    assert parsed.targets.as_fields() == {**DEFAULTS, **expected}


@pytest.mark.parametrize(
    ("body", "line", "field", "says"),
    [
        pytest.param(
            '- bedtime_target: "25:00"\n', 4, "bedtime_target", '"25:00" is not a time', id="an hour too many"
        ),
        pytest.param('- bedtime_target: "1am"\n', 4, "bedtime_target", 'like "01:00"', id="a time in words"),
        pytest.param('- wake_target: ""\n', 4, "wake_target", "not a time", id="an empty value"),
        pytest.param('\n- wake_target: "10:00\n', 5, "wake_target", "not a time", id="a quote left open"),
        pytest.param("- wake_target: 10:00\n  or so\n", 4, "wake_target", "not a time", id="a second line"),
        pytest.param("- quiet_hours: 02:00\n", 4, "quiet_hours", "02:00-10:00", id="half a span"),
        pytest.param("- quiet_hours: 02:00-02:00\n", 4, "quiet_hours", "same time", id="an empty span"),
        pytest.param("- weekly_review: 10:00\n", 4, "weekly_review", "weekday", id="no weekday"),
        pytest.param("- timezone: Mars/Olympus\n", 4, "timezone", "America/Toronto", id="an unknown zone"),
        pytest.param("- timezone: ../etc/passwd\n", 4, "timezone", "no time zone", id="a path as a zone"),
        pytest.param("- bed_time: 01:00\n", 4, "bed_time", "unknown field", id="an unknown field"),
        pytest.param("- just words\n", 4, "Schedule Targets", "not a field", id="no field at all"),
        pytest.param("wake_target: 09:00\n", 4, "wake_target", "dash", id="no dash"),
        pytest.param("", 3, "Schedule Targets", "no fields", id="an empty section"),
        pytest.param(
            "- wake_target: 09:00\n- wake_target: 08:00\n", 5, "wake_target", "twice; line 4", id="a field twice"
        ),
        pytest.param(
            "- wake_target: 09:00\n## Schedule Targets\n", 5, "Schedule Targets", "twice; line 3", id="a section twice"
        ),
    ],
)
def test_problems_name_line_and_field(body: str, line: int, field: str, says: str) -> None:
    problems = read(body).problems
    assert [(p.line, p.field) for p in problems] == [(line, field)]
    assert says in str(problems[0])


def test_a_field_that_cannot_be_read_has_its_default_and_the_others_stand() -> None:
    parsed = read("- bedtime_target: soon\n- wake_target: 08:00\n")
    assert parsed.targets == Targets(wake_target=time(8))


@pytest.mark.parametrize("heading", ["", "```\n## Schedule Targets\n", "<!--\n## Schedule Targets\n"])
def test_a_section_that_is_missing_or_a_decoy_is_a_problem(heading: str) -> None:
    parsed = read("- wake_target: 08:00\n", heading)
    assert "missing" in parsed.problems[0].message
    assert parsed.targets == Targets()


def test_half_an_edit_never_applies() -> None:
    good = Targets(bedtime_target=time(0, 30))
    broken = read("- bedtime_target: 25:99\n- wake_target: 08:00\n")
    chosen = choose(good, broken)
    assert chosen.targets == good
    assert chosen.notice is not None
    assert "line 4, bedtime_target" in chosen.notice
    assert "last ones that worked" in chosen.notice


def test_without_a_good_version_the_defaults_fill_in() -> None:
    chosen = choose(None, read("- bedtime_target: 25:99\n- wake_target: 08:00\n"))
    assert chosen.targets == Targets(wake_target=time(8))
    assert chosen.notice is not None


def test_a_good_document_is_used_and_says_nothing() -> None:
    chosen = choose(Targets(), read("- wake_target: 08:00\n"))
    assert (chosen.targets.wake_target, chosen.notice) == (time(8), None)


def test_the_version_changes_with_the_section_only() -> None:
    one = parse_targets(Document.parse("## Schedule Targets\n- bed\n## Today\n1. a\n"))
    two = parse_targets(Document.parse("## Schedule Targets\n- bed\n## Today\n1. b\n"))
    three = parse_targets(Document.parse("## Schedule Targets\n- bad\n## Today\n1. b\n"))
    assert one.version == two.version != three.version
    assert parse_targets(Document.parse("a")).version == parse_targets(Document.parse("b")).version


@pytest.mark.parametrize(
    ("quiet", "clock", "expected"),
    [
        pytest.param(("02:00", "10:00"), (2, 0), True, id="the start is inside"),
        pytest.param(("02:00", "10:00"), (9, 59), True, id="a minute before the end"),
        pytest.param(("02:00", "10:00"), (10, 0), False, id="the end is outside"),
        pytest.param(("22:00", "07:00"), (23, 0), True, id="before midnight"),
        pytest.param(("22:00", "07:00"), (3, 0), True, id="after midnight"),
        pytest.param(("22:00", "07:00"), (12, 0), False, id="at noon"),
    ],
)
def test_quiet_hours(quiet: tuple[str, str], clock: tuple[int, int], expected: bool) -> None:
    targets = replace(Targets(), quiet_start=time.fromisoformat(quiet[0]), quiet_end=time.fromisoformat(quiet[1]))
    now = as_instant(datetime(2026, 2, 18, *clock, tzinfo=ZoneInfo("America/Toronto")))
    assert targets.is_quiet(now) is expected


def test_fields_go_both_ways() -> None:
    targets = Targets(time(23, 15), time(6), time(22), time(6), 0, time(19), "Europe/London")
    assert Targets.from_fields(targets.as_fields()) == targets
    assert Targets.from_fields({"wake_target": "never", "no": "such"}) == Targets()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            '## Schedule Targets\r\n- wake_target: "10:00" <!-- x -->\r\n- timezone: "UTC"\r\n',
            '## Schedule Targets\r\n- wake_target: "08:30" <!-- x -->\r\n- timezone: "UTC"\r\n',
            id="only the value changes",
        ),
        pytest.param(
            "## Schedule Targets\n- wake_target: [HH:MM]\n",
            '## Schedule Targets\n- wake_target: "08:30"\n',
            id="a blank",
        ),
        pytest.param(
            '## Schedule Targets\n- timezone: "UTC"\n',
            '## Schedule Targets\n- timezone: "UTC"\n- wake_target: "08:30"\n',
            id="a field that was not there",
        ),
        pytest.param("", '## Schedule Targets\n- wake_target: "08:30"\n', id="a section that was not there"),
        pytest.param(
            "## Schedule Targets\n- wake_target:\n  x\n",
            '## Schedule Targets\n- wake_target: "08:30"\n',
            id="two lines",
        ),
    ],
)
def test_setting_a_field(before: str, after: str) -> None:
    assert set_target(before, "wake_target", "08:30") == after


def test_a_wrong_value_is_not_written() -> None:
    with pytest.raises(UsageError, match="wake_target"):
        set_target("", "wake_target", "dawn")


@settings(deadline=None)
@given(st.text(st.sampled_from('-#: \n"abw_targetimzonqu0123459\u2028`[]<!>')))
def test_no_text_makes_the_reader_raise(text: str) -> None:
    parsed = read(text)
    assert isinstance(parsed.targets.zone, ZoneInfo)
    choose(None, parsed)
