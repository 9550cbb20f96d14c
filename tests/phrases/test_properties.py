"""What holds for any text and any time."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from dateutil.rrule import rrulestr
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from nudge.errors import InvalidPhraseError
from nudge.instants import SECOND, Instant, from_local, local_date, to_datetime
from nudge.phrases import Understood, dateparser_gate, split_reminder, understand, understand_duration
from nudge.phrases.result import absolute
from nudge.phrases.tokens import VOCABULARY
from nudge.schedules import Rrule

ZONES = ("America/Toronto", "Europe/London", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kathmandu", "UTC")
MARKS = (
    "1", "2", "5", "9", "12", "17", "25", "31", "2026", "2027", "1st", "2nd", "15th", "31st", "3pm", "5:30", "05:30",
    "14:30", "25:00", "am", "pm", "2h", "1h30", "90m", "0", "1.5", "999999999", ",", "&", "@", "-", "2026-12-24",
    "2026-12-24T15:00Z", "0000-00-00", "9999-12-31", "24/12", "1/2", "24.12.", "29.2.2028", "feb", "29", "every", "at",
    "and", "every", "at", "of", "each", "month", "last", "on", "the", "mum", "#",
)  # fmt: skip
BUILT = st.lists(st.sampled_from((*MARKS, *sorted(VOCABULARY))), min_size=1, max_size=7).map(" ".join)
DAYS = (
    "every day", "every weekday", "mon and thu", "every 2nd tuesday", "every last friday", "every 31st", "weekends",
    "on the 1st and 15th of each month", "the last day of every month", "every year on feb 29", "every march 1",
    "every other tuesday", "every 3 days", "every 2 weeks on monday and friday", "every 5 months on the 30th",
)  # fmt: skip
ONE_DAY = ("tomorrow", "friday", "next tuesday", "feb 29", "the 31st", "2099-12-31", "today", "in 3 days", "")
WINDOWED = st.builds(
    "every {} minutes {} from {}:{:02}am to {}:{:02}pm".format,
    st.integers(1, 400),
    st.sampled_from(("", "on weekdays", "on saturdays", "on mondays and thursdays")),
    st.integers(1, 11),
    st.integers(0, 59),
    st.integers(1, 11),
    st.integers(0, 59),
)
CLOCKS = ("", "at 9", "at 00:00", "2:30am", "01:15", "noon", "at 8 and 20", "11:59pm", "in the evening")
RULES = st.tuples(st.sampled_from(DAYS), st.sampled_from(CLOCKS)).map(" ".join)
SAID = st.one_of(RULES, st.tuples(st.sampled_from(ONE_DAY), st.sampled_from(CLOCKS)).map(" ".join))
WORDS = st.one_of(st.text(max_size=30), BUILT, SAID)
NOWS = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1)).map(lambda naive: from_local(naive, UTC))
IN_ZONES = st.sampled_from(ZONES).map(ZoneInfo)

many = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(autouse=True, scope="module")
def _without_dateparser() -> object:
    """The gate has its own tests; loading its languages here would only make these slow."""
    patch = pytest.MonkeyPatch()
    patch.setattr(dateparser_gate, "_parse_from", lambda *_: None)
    yield
    patch.undo()


def understood_or_refused(text: str, now: Instant, zone: ZoneInfo) -> Understood | None:
    try:
        return understand(text, now, zone)
    except InvalidPhraseError as refusal:
        if str(refusal.next_step).count('"') != (4 if getattr(refusal, "options", ()) else 6):
            raise AssertionError("the examples are missing") from refusal
        return None


@many
@given(WORDS, NOWS, IN_ZONES)
@example("", Instant(0), ZoneInfo("UTC"))
@example("9" * 200, Instant(0), ZoneInfo("UTC"))
@example("\ufdfa" * 200, Instant(0), ZoneInfo("UTC"))
@example("quarter to 0 am", Instant(0), ZoneInfo("UTC"))
def test_any_text_is_understood_as_the_future_or_refused(text: str, now: Instant, zone: ZoneInfo) -> None:
    understood = understood_or_refused(text, now, zone)
    if understood is not None:
        assert understood.first > now
        assert understood.once in (None, understood.first)
        assert local_date(understood.first, zone).isoformat() in understood.echo(now, zone)
        assert str(zone) in understood.echo(now, zone)


@many
@given(WORDS, NOWS, IN_ZONES)
def test_any_sentence_is_split_or_refused(text: str, now: Instant, zone: ZoneInfo) -> None:
    try:
        message, understood = split_reminder(text, now, zone)
    except InvalidPhraseError:
        return
    assert message
    assert message in text
    assert understood.first > now


@many
@given(st.one_of(WORDS, WORDS.map(lambda text: f"until {text}")), NOWS, IN_ZONES)
def test_any_duration_is_positive_or_refused(text: str, now: Instant, zone: ZoneInfo) -> None:
    try:
        assert understand_duration(text, now, zone) > 0
    except InvalidPhraseError:
        return


@settings(max_examples=60, deadline=None)
@given(RULES, NOWS)
def test_a_rule_s_first_time_is_the_one_that_dateutil_finds(text: str, now: Instant) -> None:
    understood = understand(text, now, ZoneInfo("UTC"))
    assert understood.rrule is not None
    first = to_datetime(understood.first).replace(tzinfo=None)
    assert rrulestr(understood.rrule, dtstart=first)[0] == first
    if "INTERVAL" not in understood.rrule:
        naive = to_datetime(now).replace(tzinfo=None)
        assert rrulestr(understood.rrule, dtstart=naive.replace(microsecond=0)).after(naive) == first


@many
@given(st.one_of(BUILT, SAID), NOWS, IN_ZONES)
def test_letter_case_and_spaces_change_nothing(text: str, now: Instant, zone: ZoneInfo) -> None:
    assert understood_or_refused(f"  {text.upper()}\t", now, zone) == understood_or_refused(text, now, zone)


@many
@given(st.integers(1, 10**15), NOWS, IN_ZONES)
def test_the_time_that_is_echoed_can_be_typed(ahead: int, now: Instant, zone: ZoneInfo) -> None:
    due = Instant((now + ahead) // SECOND * SECOND + SECOND)
    said = absolute(due, zone)
    assume(said.endswith(("AM", "PM")))  # in the repeated hour of a DST change it carries the zone's short name
    assert understand(said, now, zone).once == due


@many
@given(st.text(alphabet="0123456789:./-hap tz+,", max_size=200), NOWS)
def test_figures_of_any_kind_are_understood_or_refused(text: str, now: Instant) -> None:
    understood = understood_or_refused(text, now, ZoneInfo("America/Toronto"))
    assert understood is None or understood.first > now


@settings(max_examples=100, deadline=None)
@given(st.one_of(RULES, WINDOWED), NOWS, IN_ZONES)
def test_the_words_of_a_rule_read_back_to_the_same_rule(text: str, now: Instant, zone: ZoneInfo) -> None:
    understood = understood_or_refused(text, now, zone)
    assume(understood is not None and understood.rrule is not None)
    assert understood is not None
    again = understand(understood.words, now, zone)
    assert (again.dated_rrule, again.first, again.words) == (understood.dated_rrule, understood.first, understood.words)


@settings(max_examples=60, deadline=None)
@given(WINDOWED, NOWS)
def test_an_interval_inside_hours_is_counted_from_their_beginning_on_each_day(text: str, now: Instant) -> None:
    understood = understood_or_refused(text, now, ZoneInfo("UTC"))
    assume(understood is not None)
    assert understood is not None
    assert understood.rrule is not None
    naive = to_datetime(now).replace(tzinfo=None, microsecond=0)
    found = [one for one, _ in zip(rrulestr(understood.rrule, dtstart=naive), range(40), strict=False)]
    step = int(text.split()[1])
    for one, following in itertools.pairwise(found):
        if one.date() == following.date():
            assert (following - one).total_seconds() == step * 60
    by_rule = Rrule(understood.rrule, "UTC", now)
    assert by_rule.next_after(now, ZoneInfo("UTC")) == understood.first
