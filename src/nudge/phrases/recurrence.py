"""Reading what comes again: "every weekday", "every 2nd tuesday", "on the 1st of each month", "every 30 minutes"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from nudge.instants import DAY, HOUR
from nudge.phrases.clocks import read_duration, read_number_word
from nudge.phrases.days import checked_monthday, read_date, read_holiday, read_ordinal
from nudge.phrases.pieces import Freq, Interval, Rule, Shift
from nudge.phrases.reader import RULE_EXAMPLES, Reader, Refused
from nudge.phrases.result import nth
from nudge.phrases.tokens import (
    DAY_GROUPS,
    DAY_UNITS,
    MONTHS,
    ORDINAL_WORDS,
    PLURAL_WEEKDAYS,
    SHORT_WEEKDAYS,
    WEEKDAYS,
    Kind,
)

Recurring = Rule | Interval

_LONGEST_DAYS: Final = 36_525
_DAYS_OF: Final = {Freq.DAILY: 1, Freq.WEEKLY: 7, Freq.MONTHLY: 31, Freq.YEARLY: 366}
_RHYTHMS: Final = {
    "daily": Freq.DAILY,
    "weekly": Freq.WEEKLY,
    "monthly": Freq.MONTHLY,
    "yearly": Freq.YEARLY,
    "annually": Freq.YEARLY,
}
_A: Final = ("a", "per", "each", "every")
_PARTS: Final = ("morning", "afternoon", "evening", "night", "noon", "midday", "midnight")


def read_recurring(reader: Reader) -> Recurring | None:
    """A rule or an interval. Several weekdays are a rule even without "every"; one weekday alone is one day."""
    start = reader.at
    _refuse_counted(reader)
    if reader.take("every", "each"):
        return _read_after_every(reader, start)
    if reader.take("hourly"):
        return Interval(HOUR)
    if reader.word() == "nightly":
        return _nightly(reader)
    freq = reader.take_from(_RHYTHMS)
    if freq is not None:
        rule = _with_days(reader, freq, 1)
        return None if rule.lacks_days and reader.free else rule  # a weekly report
    if reader.take("biweekly", "fortnightly"):
        raise Refused("say every other friday, with the day you mean", RULE_EXAMPLES)
    reader.take("on")
    weekdays = reader.attempt(_read_several_weekdays)
    if weekdays is not None:
        return Rule(Freq.WEEKLY, weekdays=weekdays)
    return reader.attempt(_read_of_each_month)


def _nightly(reader: Reader) -> Rule:
    """Every night; the word itself stays to be read as the part of the day."""
    reader.tokens = (
        *reader.tokens[: reader.at],
        replace(reader.peek(), text="night"),
        *reader.tokens[reader.at + 1 :],
    )
    return Rule(Freq.DAILY)


def read_times_a_day(reader: Reader) -> int | None:
    """ "twice a day", "3 times per day": how often, and not when."""
    count = _read_times(reader)
    return count if count is not None and reader.take(*_A) and reader.take("day") else None


def _refuse_counted(reader: Reader) -> None:
    """ "twice a week" does not say when."""
    start = reader.at
    counted = _read_times(reader) is not None
    if counted and reader.take(*_A) and reader.word() in (*DAY_UNITS, "month", "year", "hour"):
        raise Refused("say on which days, such as every monday and thursday at 9am", RULE_EXAMPLES)
    reader.at = start


def _read_times(reader: Reader) -> int | None:
    if reader.take("once"):
        return 1
    if reader.take("twice"):
        return 2
    token = reader.take_kind(Kind.NUMBER)
    count = read_number_word(reader) if token is None else int(token.text)
    return count if reader.take("times") else None


def _read_after_every(reader: Reader, start: int) -> Recurring | None:
    if reader.take("other"):
        return _read_every_nth(reader, start, 2)
    for read in (_read_nth_of_month, _read_yearly_date, _read_weekdays):
        rule = reader.attempt(read)
        if rule is not None:
            return rule
    if reader.word() in _PARTS:
        return Rule(Freq.DAILY)
    if reader.word() in MONTHS:
        raise Refused(f"say which day, such as every {reader.word()} 1", RULE_EXAMPLES)
    said_second = reader.word() == "second"
    ordinal = reader.attempt(read_ordinal)
    if ordinal is not None:
        found = _read_every_nth(reader, start, ordinal)
        if found is not None or not said_second:
            return found
        raise Refused("every second what? Say every other day, or every minute", RULE_EXAMPLES)
    shift = read_duration(reader, unit_alone=True)
    return None if shift is None else _from_shift(reader, start, shift)


def _read_every_nth(reader: Reader, start: int, interval: int) -> Recurring | None:
    """ "every other day", "every other tuesday", "every third week on monday"."""
    rule = reader.attempt(_read_weekdays)
    if rule is not None:
        return replace(rule, interval=interval)
    shift = read_duration(reader, unit_alone=True)
    if shift is None:
        return None
    return _from_shift(
        reader, start, Shift(shift.months * interval, shift.days * interval, shift.microseconds * interval)
    )


def _from_shift(reader: Reader, start: int, shift: Shift) -> Recurring:
    """Below a day it is an interval on the clock of instants; days and longer are a rule on the calendar."""
    if not (shift.months or shift.days):
        return _interval(shift)
    if shift.microseconds or (shift.months and shift.days):
        raise Refused("an interval is in days or in hours, not both; say every 36 hours or every 2 days", RULE_EXAMPLES)
    if shift.days and shift.days % 7 == 0 and any("week" in token.text for token in reader.tokens[start : reader.at]):
        return _with_days(reader, Freq.WEEKLY, shift.days // 7)
    if shift.days:
        return _with_days(reader, Freq.DAILY, shift.days)
    if shift.months % 12 == 0:
        return _with_days(reader, Freq.YEARLY, shift.months // 12)
    return _with_days(reader, Freq.MONTHLY, shift.months)


def _interval(shift: Shift) -> Interval:
    if not shift.microseconds:
        raise Refused("0 is not an interval", RULE_EXAMPLES)
    if shift.microseconds > _LONGEST_DAYS * DAY:
        raise Refused("that is more than 100 years", RULE_EXAMPLES)
    return Interval(shift.microseconds)


def _with_days(reader: Reader, freq: Freq, interval: int) -> Rule:
    """The rule of a rhythm, with the days that weeks, months and years need to be one. They may come later."""
    _checked_interval(freq, interval)
    if freq is Freq.DAILY:
        return Rule(freq, interval)
    rule = reader.attempt(lambda inner: _read_days_of(inner, freq))
    return Rule(freq, interval) if rule is None else replace(rule, interval=interval)


def _read_days_of(reader: Reader, freq: Freq) -> Rule | None:
    read: dict[Freq, Callable[[Reader], Rule | None]] = {
        Freq.WEEKLY: _read_weekdays,
        Freq.MONTHLY: _read_days_of_month,
        Freq.YEARLY: _read_yearly_date,
    }
    reader.take("on")
    return read[freq](reader)


def _checked_interval(freq: Freq, interval: int) -> int:
    if not 1 <= interval * _DAYS_OF[freq] <= _LONGEST_DAYS:
        raise Refused(f"an interval of {interval} is 0 or more than 100 years", RULE_EXAMPLES)
    return interval


def _read_weekdays(reader: Reader) -> Rule | None:
    """One weekday or more: "monday", "tuesday and thursday", "weekday", "weekend"."""
    weekdays = reader.attempt(_read_weekday_list)
    return None if weekdays is None else Rule(Freq.WEEKLY, weekdays=weekdays)


def _read_several_weekdays(reader: Reader) -> tuple[int, ...] | None:
    first = reader.word()
    if first in ("weekday", "weekend"):
        return None
    weekdays = _read_weekday_list(reader)
    return weekdays if weekdays is not None and (first in PLURAL_WEEKDAYS or len(weekdays) > 1) else None


def _read_weekday_list(reader: Reader) -> tuple[int, ...] | None:
    group = reader.take_from(DAY_GROUPS)
    if group is not None:
        return group
    first = _read_one_weekday(reader)
    if first is None:
        return None
    last = reader.attempt(_read_range_end)
    if last is not None:
        return tuple(sorted((first + step) % 7 for step in range((last - first) % 7 + 1)))
    found = {first}
    while (following := reader.attempt(_read_following_weekday)) is not None:
        found.add(following)
    return tuple(sorted(found))


def _read_one_weekday(reader: Reader) -> int | None:
    weekday = reader.take_from(WEEKDAYS)
    return reader.take_from(PLURAL_WEEKDAYS) if weekday is None else weekday


def _read_range_end(reader: Reader) -> int | None:
    if not (reader.take_mark("-") or reader.take("to", "through")):
        return None
    return _read_one_weekday(reader)


def _read_following_weekday(reader: Reader) -> int | None:
    """After a comma or "and"; after nothing where they are short: "mon wed fri"."""
    short = reader.word() in SHORT_WEEKDAYS and reader.tokens[reader.at - 1].text in SHORT_WEEKDAYS
    return _read_one_weekday(reader) if reader.joined_by_and() or short else None


def _read_nth_of_month(reader: Reader) -> Rule | None:
    """After "every": "2nd tuesday", "last friday of the month", "15th", "1st and 15th of the month", "last day"."""
    word = reader.word()
    rule = _read_days_of_month(reader)
    if rule is None:
        return None
    of_month = reader.take_row("of", "the", "month") or reader.take_row("of", "each", "month")
    if of_month or reader.take_row("of", "every", "month"):
        return rule
    if rule.nth == 2 and word == "second":
        name = reader.tokens[reader.at - 1].text
        raise Refused(f"say every other {name}, or every 2nd {name} of the month", RULE_EXAMPLES)
    written_out = word in ORDINAL_WORDS
    return None if rule.monthdays and (written_out or reader.word() in ("of", *DAY_UNITS)) else rule


def _read_of_each_month(reader: Reader) -> Rule | None:
    """Without "every" in front: "the 1st of each month", "last friday of every 3 months", as the echo says it."""
    rule = _read_days_of_month(reader)
    if rule is None or not (reader.take_row("of", "each") or reader.take_row("of", "every")):
        return None
    shift = read_duration(reader, unit_alone=True)
    if shift is None or not reader.tokens[reader.at - 1].text.startswith("month") or shift.days or shift.microseconds:
        return None
    reader.take_row("that", "has", "it")
    return replace(rule, interval=_checked_interval(Freq.MONTHLY, shift.months))


def _read_days_of_month(reader: Reader) -> Rule | None:
    reader.take("the")
    if reader.take("last"):
        if reader.take("day"):
            return Rule(Freq.MONTHLY, monthdays=(-1,))
        weekday = reader.take_from(WEEKDAYS)
        return None if weekday is None else Rule(Freq.MONTHLY, weekdays=(weekday,), nth=-1)
    number = read_ordinal(reader)
    if number is None:
        return None
    weekday = reader.take_from(WEEKDAYS)
    if weekday is not None:
        if not 1 <= number <= 4:
            raise Refused(f"not every month has a {nth(number)} one; say the last, or the 1st to 4th", RULE_EXAMPLES)
        return Rule(Freq.MONTHLY, weekdays=(weekday,), nth=number)
    if reader.word() in ("day", "week", "month", "year", "hour", "minute") and reader.word(1) != "of":
        return None
    reader.take("day")
    days = {checked_monthday(number)}
    while (following := reader.attempt(_read_following_ordinal)) is not None:
        days.add(checked_monthday(following))
    return Rule(Freq.MONTHLY, monthdays=tuple(sorted(days)))


def _read_following_ordinal(reader: Reader) -> int | None:
    if not reader.joined_by_and():
        return None
    reader.take("the")
    return read_ordinal(reader)


def _read_yearly_date(reader: Reader) -> Rule | None:
    """ "march 1", "the 14th of february", "dec 25", without a year."""
    if reader.peek().kind not in (Kind.WORD, Kind.NUMBER, Kind.ORDINAL):
        return None
    day = read_holiday(reader) or read_date(reader)
    return None if day is None or day.year is not None else Rule(Freq.YEARLY, month=day.month, monthdays=(day.day,))
