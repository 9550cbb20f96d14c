"""What people type for one instant. It is Wednesday 2026-02-18, 2:00 PM in Toronto, unless a row says so."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from nudge.errors import NaiveDatetimeError, UsageError
from nudge.instants import SECOND, Instant, from_local, rfc3339, to_datetime
from nudge.phrases import dateparser_gate, split_reminder, understand, understand_duration
from nudge.phrases.tokens import VOCABULARY, Kind, tokenize

TORONTO = ZoneInfo("America/Toronto")
NOW = from_local(datetime(2026, 2, 18, 14, 0), TORONTO)

ONCE = [
    # A clock alone: today, or tomorrow if it has passed.
    ("3pm", "2026-02-18 15:00"),
    ("3 PM", "2026-02-18 15:00"),
    ("3 p.m.", "2026-02-18 15:00"),
    ("3:30pm", "2026-02-18 15:30"),
    ("3.30pm", "2026-02-18 15:30"),
    ("at 3pm", "2026-02-18 15:00"),
    ("3pm!!!", "2026-02-18 15:00"),
    ("at 15:00.", "2026-02-18 15:00"),
    ("@ 3pm", "2026-02-18 15:00"),
    ("by 5pm", "2026-02-18 17:00"),
    ("1pm", "2026-02-19 13:00"),
    ("2pm", "2026-02-19 14:00"),
    ("2:01pm", "2026-02-18 14:01"),
    ("9am", "2026-02-19 09:00"),
    ("09:00", "2026-02-19 09:00"),
    ("05:30", "2026-02-19 05:30"),
    ("14:30", "2026-02-18 14:30"),
    ("14:30:15", "2026-02-18 14:30:15"),
    ("18:00", "2026-02-18 18:00"),
    ("00:15", "2026-02-19 00:15"),
    ("at 17", "2026-02-18 17:00"),
    ("at 0", "2026-02-19 00:00"),
    ("12pm", "2026-02-19 12:00"),
    ("12am", "2026-02-19 00:00"),
    ("noon", "2026-02-19 12:00"),
    ("midday", "2026-02-19 12:00"),
    ("midnight", "2026-02-19 00:00"),
    ("at midnight", "2026-02-19 00:00"),
    ("15h30", "2026-02-18 15:30"),
    ("half past 4pm", "2026-02-18 16:30"),
    ("quarter to 6pm", "2026-02-18 17:45"),
    ("quarter past 18", "2026-02-18 18:15"),
    ("5 in the afternoon", "2026-02-18 17:00"),
    ("9 in the morning", "2026-02-19 09:00"),
    ("at 10 at night", "2026-02-18 22:00"),
    ("9 o'clock in the evening", "2026-02-18 21:00"),
    # Today, tonight, tomorrow.
    ("today 5pm", "2026-02-18 17:00"),
    ("5pm today", "2026-02-18 17:00"),
    ("tonight", "2026-02-18 20:00"),
    ("tonight at 8", "2026-02-18 20:00"),
    ("at 8 tonight", "2026-02-18 20:00"),
    ("tonight at 11:30", "2026-02-18 23:30"),
    ("tonight at midnight", "2026-02-19 00:00"),
    ("this evening", "2026-02-18 18:00"),
    ("this evening at 7", "2026-02-18 19:00"),
    ("this afternoon", "2026-02-18 15:00"),
    ("in the morning", "2026-02-19 09:00"),
    ("in the evening", "2026-02-18 18:00"),
    ("end of day", "2026-02-18 17:00"),
    ("by end of day", "2026-02-18 17:00"),
    ("eod", "2026-02-18 17:00"),
    ("eod friday", "2026-02-20 17:00"),
    ("end of the week", "2026-02-20 17:00"),
    ("end of month", "2026-02-28 17:00"),
    ("tomorrow", "2026-02-19 09:00"),
    ("tomorrow 9am", "2026-02-19 09:00"),
    ("9am tomorrow", "2026-02-19 09:00"),
    ("tomorrow at 9", "2026-02-19 09:00"),
    ("tomorrow at 11", "2026-02-19 11:00"),
    ("Tomorrow, at 15:00", "2026-02-19 15:00"),
    ("tmrw 10am", "2026-02-19 10:00"),
    ("tomorrow morning", "2026-02-19 09:00"),
    ("tomorrow morning at 5", "2026-02-19 05:00"),
    ("tomorrow afternoon", "2026-02-19 15:00"),
    ("tomorrow afternoon at 3", "2026-02-19 15:00"),
    ("tomorrow evening at 7", "2026-02-19 19:00"),
    ("tomorrow night", "2026-02-19 20:00"),
    ("tomorrow at noon", "2026-02-19 12:00"),
    ("day after tomorrow 10:00", "2026-02-20 10:00"),
    ("the day after tomorrow", "2026-02-20 09:00"),
    # Weekdays: the next one still ahead; "next" is the one in next week, which begins on Monday.
    ("friday", "2026-02-20 09:00"),
    ("friday 5pm", "2026-02-20 17:00"),
    ("fri 5pm", "2026-02-20 17:00"),
    ("friday at noon", "2026-02-20 12:00"),
    ("at noon on friday", "2026-02-20 12:00"),
    ("5pm on friday", "2026-02-20 17:00"),
    ("friday, 5 pm", "2026-02-20 17:00"),
    ("by friday", "2026-02-20 09:00"),
    ("friday at 10", "2026-02-20 10:00"),
    ("friday evening", "2026-02-20 18:00"),
    ("this friday", "2026-02-20 09:00"),
    ("monday morning at 8", "2026-02-23 08:00"),
    ("wednesday 3pm", "2026-02-18 15:00"),
    ("wednesday 1pm", "2026-02-25 13:00"),
    ("wednesday", "2026-02-25 09:00"),
    ("wednesday 2pm", "2026-02-25 14:00"),
    ("tuesday", "2026-02-24 09:00"),
    ("next tuesday 14:30", "2026-02-24 14:30"),
    ("next friday", "2026-02-27 09:00"),
    ("next wednesday at 9", "2026-02-25 09:00"),
    ("tuesday next week at 10", "2026-02-24 10:00"),
    ("next week friday 4pm", "2026-02-27 16:00"),
    ("next week", "2026-02-23 09:00"),
    ("next month", "2026-03-01 09:00"),
    ("next year", "2027-01-01 09:00"),
    # From now.
    ("in 2h", "2026-02-18 16:00"),
    ("in 2 hours", "2026-02-18 16:00"),
    ("in two hours", "2026-02-18 16:00"),
    ("2 hours from now", "2026-02-18 16:00"),
    ("2h", "2026-02-18 16:00"),
    ("in 90 minutes", "2026-02-18 15:30"),
    ("in 90min", "2026-02-18 15:30"),
    ("in an hour", "2026-02-18 15:00"),
    ("in an hour and a half", "2026-02-18 15:30"),
    ("in one and a half hours", "2026-02-18 15:30"),
    ("in 1.5 hours", "2026-02-18 15:30"),
    ("in 1h30", "2026-02-18 15:30"),
    ("in 1h30m", "2026-02-18 15:30"),
    ("in 1 hour 15 minutes", "2026-02-18 15:15"),
    ("in 2 hours and 15 min", "2026-02-18 16:15"),
    ("in half an hour", "2026-02-18 14:30"),
    ("in a quarter of an hour", "2026-02-18 14:15"),
    ("in a couple of hours", "2026-02-18 16:00"),
    ("in 45 seconds", "2026-02-18 14:00:45"),
    ("in forty-five minutes", "2026-02-18 14:45"),
    ("in 3 days", "2026-02-21 14:00"),
    ("in 3 days at 9am", "2026-02-21 09:00"),
    ("in a week", "2026-02-25 14:00"),
    ("a week from now", "2026-02-25 14:00"),
    ("in 2 weeks", "2026-03-04 14:00"),
    ("in a month", "2026-03-18 14:00"),
    ("in 6 months", "2026-08-18 14:00"),
    ("in a year", "2027-02-18 14:00"),
    ("30 more min", "2026-02-18 14:30"),
    # Dates.
    ("2026-02-20", "2026-02-20 09:00"),
    ("2026-02-20 15:00", "2026-02-20 15:00"),
    ("2026-02-20 5:00", "2026-02-20 05:00"),
    ("2026-02-20 3pm", "2026-02-20 15:00"),
    ("2026-02-20T15:00:00", "2026-02-20 15:00"),
    ("2026-02-20t15:00", "2026-02-20 15:00"),
    ("2026-02-20T15:00:00Z", "2026-02-20 10:00"),
    ("2026-02-20T15:00:00+01:00", "2026-02-20 09:00"),
    ("2026-02-20 15:00-08:00", "2026-02-20 18:00"),
    ("2026-02-20T15:00:00.250000-05:00", "2026-02-20 15:00:00.250000"),
    ("2026/02/20 15:00", "2026-02-20 15:00"),
    ("feb 20 3pm", "2026-02-20 15:00"),
    ("3pm feb 20", "2026-02-20 15:00"),
    ("feb 20th at 3pm", "2026-02-20 15:00"),
    ("20 feb", "2026-02-20 09:00"),
    ("20th of february at noon", "2026-02-20 12:00"),
    ("the 20th of february", "2026-02-20 09:00"),
    ("march 1", "2026-03-01 09:00"),
    ("1st march 8:30am", "2026-03-01 08:30"),
    ("March 1st, 2027", "2027-03-01 09:00"),
    ("march 1 2027 at 18:00", "2027-03-01 18:00"),
    ("friday march 6 10am", "2026-03-06 10:00"),
    ("friday 20 march", "2026-03-20 09:00"),
    ("fri, 20 Feb 2026 15:00", "2026-02-20 15:00"),
    ("jan 5", "2027-01-05 09:00"),
    ("feb 29 2028", "2028-02-29 09:00"),
    ("feb 29", "2028-02-29 09:00"),
    ("20.02.2026 15:00", "2026-02-20 15:00"),
    ("20/02/2026", "2026-02-20 09:00"),
    ("2/20 3pm", "2026-02-20 15:00"),
    ("3/3", "2026-03-03 09:00"),
    ("the 20th", "2026-02-20 09:00"),
    ("on the 1st", "2026-03-01 09:00"),
    ("on the 18th at 3pm", "2026-02-18 15:00"),
    ("on the 18th", "2026-03-18 09:00"),
    ("the 31st", "2026-03-31 09:00"),
    ("on friday the 20th", "2026-02-20 09:00"),
    ("friday the 20th at 4pm", "2026-02-20 16:00"),
    ("friday the 13th", "2026-03-13 09:00"),
]

FOREIGN = [
    # Through the gate: the clock and the day are both said, or a counted distance.
    ("morgen um 15 Uhr", "2026-02-19 15:00"),
    ("demain à 9h", "2026-02-19 09:00"),
    ("mañana a las 10:00", "2026-02-19 10:00"),
    ("freitag um 17 uhr", "2026-02-20 17:00"),
    ("20 février à 15h30", "2026-02-20 15:30"),
    ("завтра в 10:00", "2026-02-19 10:00"),
    ("dans 2 heures", "2026-02-18 16:00"),
    ("in 3 Tagen", "2026-02-21 14:00"),
    ("mercredi 15:00", "2026-02-18 15:00"),
    ("um 15 Uhr", "2026-02-18 15:00"),
    ("um 9 Uhr", "2026-02-19 09:00"),
    ("heute um 20 Uhr", "2026-02-18 20:00"),
    ("明日 15時", "2026-02-19 15:00"),
    ("venerdì alle 17:00", "2026-02-20 17:00"),
    ("20 février 2027 à 15h", "2027-02-20 15:00"),
]

AT_OTHER_TIMES = [
    # now, phrase, expected, why
    ("2026-02-18T16:00:00-05:00", "3pm", "2026-02-19T15:00:00-05:00", "3pm has passed at 4pm"),
    ("2026-02-18T15:00:00-05:00", "3pm", "2026-02-19T15:00:00-05:00", "exactly 3pm is not in the future"),
    ("2026-02-18T07:00:00-05:00", "at 9", "2026-02-18T09:00:00-05:00", "before nine, at 9 can only be this morning"),
    ("2026-02-18T22:00:00-05:00", "at 9", "2026-02-19T09:00:00-05:00", "after nine at night it can only be tomorrow"),
    ("2026-02-18T21:00:00-05:00", "midnight", "2026-02-19T00:00:00-05:00", "the next midnight"),
    ("2026-02-16T10:00:00-05:00", "tuesday", "2026-02-17T09:00:00-05:00", "Monday: Tuesday is tomorrow"),
    ("2026-02-16T10:00:00-05:00", "next tuesday", "2026-02-24T09:00:00-05:00", "Monday: next Tuesday is in next week"),
    ("2026-02-22T10:00:00-05:00", "next tuesday", "2026-02-24T09:00:00-05:00", "Sunday: next week begins tomorrow"),
    ("2026-02-20T10:00:00-05:00", "friday 5pm", "2026-02-20T17:00:00-05:00", "Friday morning: today counts"),
    ("2026-02-20T18:00:00-05:00", "friday 5pm", "2026-02-27T17:00:00-05:00", "Friday evening: today has passed"),
    ("2026-11-20T10:00:00-05:00", "march 1", "2027-03-01T09:00:00-05:00", "in November, March is next year's"),
    ("2026-12-31T23:00:00-05:00", "tomorrow", "2027-01-01T09:00:00-05:00", "over the year's end"),
    ("2026-01-31T10:00:00-05:00", "in a month", "2026-02-28T10:00:00-05:00", "a month from the 31st is the last day"),
    ("2026-03-07T14:00:00-05:00", "tomorrow 2:30am", "2026-03-08T03:00:00-04:00", "in the gap, with am"),
    ("2026-03-07T14:00:00-05:00", "tomorrow 02:30", "2026-03-08T03:00:00-04:00", "in the gap: the first instant after"),
    ("2026-03-07T14:00:00-05:00", "in 1 day", "2026-03-08T14:00:00-04:00", "a day keeps the wall clock"),
    ("2026-03-07T14:00:00-05:00", "in 24 hours", "2026-03-08T15:00:00-04:00", "24 hours are 24 hours"),
    ("2026-10-31T14:00:00-04:00", "tomorrow 1:30am", "2026-11-01T01:30:00-04:00", "in the fold: the first of the two"),
    ("2026-10-31T14:00:00-04:00", "in 24 hours", "2026-11-01T13:00:00-05:00", "24 hours over the fold"),
    ("2026-11-01T01:45:00-04:00", "1:30am", "2026-11-02T01:30:00-05:00", "the second 1:30 of the fold is not used"),
    ("2026-03-07T14:00:00-05:00", "every day at 2:30am", "2026-03-08T03:00:00-04:00", "a rule that begins in the gap"),
    ("2026-02-28T18:00:00-05:00", "the 31st", "2026-03-31T09:00:00-04:00", "months without a 31st are passed over"),
]


def local(text: str) -> Instant:
    return from_local(datetime.fromisoformat(text), TORONTO)


@pytest.mark.parametrize(("phrase", "expected"), ONCE + FOREIGN, ids=[f"{p} is {e}" for p, e in ONCE + FOREIGN])
def test_a_phrase_means_one_instant(phrase: str, expected: str) -> None:
    understood = understand(phrase, NOW, TORONTO)
    assert (understood.rrule, understood.every) == (None, None)
    assert understood.once is not None
    assert to_datetime(understood.once, TORONTO) == to_datetime(local(expected), TORONTO)


@pytest.mark.parametrize(
    ("now", "phrase", "expected"),
    [row[:3] for row in AT_OTHER_TIMES],
    ids=[f"{row[1]}: {row[3]}" for row in AT_OTHER_TIMES],
)
def test_a_phrase_at_another_time(now: str, phrase: str, expected: str) -> None:
    instant = Instant(int(datetime.fromisoformat(now).timestamp()) * SECOND)
    assert rfc3339(understand(phrase, instant, TORONTO).first, TORONTO) == expected


@pytest.mark.parametrize("phrase", [phrase for phrase, _ in ONCE])
def test_a_phrase_of_our_own_never_reaches_dateparser(phrase: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dateparser_gate, "_parse_from", lambda *_: pytest.fail("asked dateparser"))
    understand(phrase, NOW, TORONTO)
    words = {token.text for token in tokenize(phrase) if token.kind is Kind.WORD}
    assert words <= VOCABULARY | {"t"}


def test_a_moment_is_a_datetime_that_knows_its_zone() -> None:
    now = to_datetime(NOW, TORONTO)
    when = understand("friday 5pm", now, TORONTO)
    assert when == understand("friday 5pm", NOW, TORONTO)
    assert when.first_at(TORONTO) == datetime(2026, 2, 20, 17, tzinfo=TORONTO)
    assert split_reminder("call mum friday 5pm", now, TORONTO) == ("call mum", when)
    assert understand_duration("2h", now, TORONTO) == 2 * 3_600_000_000
    for ask in (understand, split_reminder, understand_duration):
        with pytest.raises(NaiveDatetimeError):
            ask("in 2h", now.replace(tzinfo=None), TORONTO)


def test_a_zone_is_a_zone_or_its_name() -> None:
    name = "America/Toronto"
    by_name, by_zone = understand("friday 5pm", NOW, name), understand("friday 5pm", NOW, TORONTO)
    assert by_name == by_zone
    assert by_name.echo(NOW, name) == by_zone.echo(NOW, TORONTO)
    assert by_name.first_at(name) == by_zone.first_at(TORONTO)
    assert split_reminder("call mum friday 5pm", NOW, name) == split_reminder("call mum friday 5pm", NOW, TORONTO)
    assert understand_duration("until 5pm", NOW, name) == understand_duration("until 5pm", NOW, TORONTO)
    with pytest.raises(UsageError, match="no time zone called 'Toronto'"):
        understand("friday 5pm", NOW, "Toronto")
