"""RFC 5545 recurrence text: RRULE with optional DTSTART, EXDATE and RDATE lines, read into plain values.

What the standard leaves out or forbids is refused by name, never guessed at. Everything is limited in size, so reading
a text is cheap whatever is in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final, NoReturn

from nudge.errors import InvalidScheduleError
from nudge.instants import zone_of
from nudge.schedules.days import NthWeekday
from nudge.schedules.periods import Freq
from nudge.schedules.walls import wall_of

LONGEST_TEXT: Final = 8_192
MOST_DATES: Final = 250
WEEKDAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")

_EXAMPLE: Final = "Write it like FREQ=WEEKLY;BYDAY=MO,FR;BYHOUR=9;BYMINUTE=0."
_PROPERTIES: Final = ("RRULE", "DTSTART", "EXDATE", "RDATE")
_PROPERTY: Final = re.compile(r"(RRULE|DTSTART|EXDATE|RDATE|EXRULE|DTEND|DURATION)(?=[:;])", re.ASCII | re.IGNORECASE)
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,9}", re.ASCII)
_WEEKDAY: Final = re.compile(r"([+-]?[0-9]{1,2})?(MO|TU|WE|TH|FR|SA|SU)", re.ASCII)
_STAMP: Final = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})(?:T([0-9]{2})([0-9]{2})([0-9]{2})(Z)?)?", re.ASCII)

_RANGES: Final = {
    "BYMONTH": (1, 12, False),
    "BYWEEKNO": (1, 53, True),
    "BYYEARDAY": (1, 366, True),
    "BYMONTHDAY": (1, 31, True),
    "BYHOUR": (0, 23, False),
    "BYMINUTE": (0, 59, False),
    "BYSECOND": (0, 59, False),
    "BYSETPOS": (1, 366, True),
}
_FORBIDDEN: Final = {
    "BYWEEKNO": tuple(freq for freq in Freq if freq is not Freq.YEARLY),
    "BYYEARDAY": (Freq.MONTHLY, Freq.WEEKLY, Freq.DAILY),
    "BYMONTHDAY": (Freq.WEEKLY,),
}
_SINGLE: Final = ("INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY")
_LONGEST_INTERVAL: Final = {
    Freq.YEARLY: 400,
    Freq.MONTHLY: 4_800,
    Freq.WEEKLY: 20_871,
    Freq.DAILY: 146_097,
    Freq.HOURLY: 146_097 * 24,
    Freq.MINUTELY: 146_097 * 1_440,
    Freq.SECONDLY: 999_999_999,
}


@dataclass(frozen=True, slots=True)
class Stamp:
    """A date or date-time of the text. Without a zone it is local to the rule; a whole day has no time."""

    wall: int
    zone: str | None
    whole_day: bool


@dataclass(frozen=True, slots=True)
class RuleText:
    """The parts of a recurrence, each in order and without repeats; None where the text does not have it."""

    freq: Freq
    interval: int
    count: int | None
    until: Stamp | None
    week_start: int
    months: tuple[int, ...] | None
    week_numbers: tuple[int, ...] | None
    year_days: tuple[int, ...] | None
    month_days: tuple[int, ...] | None
    weekdays: tuple[NthWeekday, ...] | None
    hours: tuple[int, ...] | None
    minutes: tuple[int, ...] | None
    seconds: tuple[int, ...] | None
    positions: tuple[int, ...]
    start: Stamp | None
    excluded: tuple[Stamp, ...]
    extra: tuple[Stamp, ...]

    @property
    def says_which_days(self) -> bool:
        """Whether the days come from the rule; if not, they come from its start."""
        if self.freq >= Freq.DAILY:
            return True
        return any(part is not None for part in (self.week_numbers, self.year_days, self.month_days, self.weekdays))

    @property
    def says_which_times(self) -> bool:
        """Whether the times come from the rule: what is finer than a part it has is zero, `BYHOUR=9` is nine sharp."""
        parts = {
            Freq.HOURLY: (self.hours, self.minutes),
            Freq.MINUTELY: (self.hours, self.minutes, self.seconds),
        }.get(self.freq, (self.hours,))
        return self.freq is Freq.SECONDLY or any(part is not None for part in parts)

    @property
    def depends_on_start(self) -> bool:
        """Whether another start would give other times."""
        return self.interval > 1 or self.count is not None or not self.says_which_days or not self.says_which_times


@lru_cache(maxsize=1024)
def read_rule(text: str) -> RuleText:
    """Read a recurrence; `RRULE:` may be left out where there is nothing else."""
    lines = split_properties(text)
    parts = _parts(lines["RRULE"][0][1])
    freq = _freq(parts)
    start, excluded, extra = (_dates(lines, name) for name in ("DTSTART", "EXDATE", "RDATE"))
    if len(start) > 1:
        refuse("DTSTART names more than one time.", "Keep one DTSTART; further single times go into RDATE.")
    if len(excluded) + len(extra) > MOST_DATES:
        refuse(f"EXDATE and RDATE have more than {MOST_DATES} dates.", "Leave out the past ones.")
    numbers = {name: _numbers(name, value) for name, value in parts.items() if name in _RANGES}
    for name in parts:
        if name not in _RANGES and name not in _SINGLE:
            refuse(f"{name[:20]!r} is not a part of an RRULE.")
        if freq in _FORBIDDEN.get(name, ()):
            other = "MONTHLY" if name == "BYMONTHDAY" else "YEARLY"
            refuse(f"RFC 5545 does not allow {name} with FREQ={freq.name}.", f"Use it with FREQ={other}.")
    return RuleText(
        freq=freq,
        interval=_interval(parts.get("INTERVAL", "1"), freq),
        count=_whole("COUNT", parts["COUNT"]) if "COUNT" in parts else None,
        until=_stamps("UNTIL", "", parts["UNTIL"])[0] if "UNTIL" in parts else None,
        week_start=_week_start(parts["WKST"]) if "WKST" in parts else 0,
        months=numbers.get("BYMONTH"),
        week_numbers=numbers.get("BYWEEKNO"),
        year_days=numbers.get("BYYEARDAY"),
        month_days=numbers.get("BYMONTHDAY"),
        weekdays=_weekdays(parts["BYDAY"], freq) if "BYDAY" in parts else None,
        hours=numbers.get("BYHOUR"),
        minutes=numbers.get("BYMINUTE"),
        seconds=numbers.get("BYSECOND"),
        positions=tuple(sorted(numbers.get("BYSETPOS", ()), key=abs)),
        start=start[0] if start else None,
        excluded=excluded,
        extra=extra,
    )


def split_properties(text: str) -> dict[str, list[tuple[str, str]]]:
    """The (parameters, value) pairs of each property. White space separates properties and means nothing else."""
    if len(text) > LONGEST_TEXT:
        refuse(f"The rule is longer than {LONGEST_TEXT} characters.", "Leave out past dates, or use two rules.")
    lines: dict[str, list[tuple[str, str]]] = {name: [] for name in _PROPERTIES}
    for line in _lines(text):
        head, _, value = line.partition(":") if _PROPERTY.match(line) else ("RRULE", "", line)
        name, _, params = head.partition(";")
        if name.upper() not in lines:
            refuse(f"{name} is not supported.", "Use RRULE, DTSTART, EXDATE and RDATE.")
        lines[name.upper()].append((params, value.upper()))
    if len(lines["RRULE"]) != 1:
        refuse(
            f"There {'is no RRULE' if not lines['RRULE'] else 'is more than one RRULE'} in the text.",
            "Give exactly one RRULE; add a second reminder for a second rule.",
        )
    if len(lines["DTSTART"]) > 1:
        refuse("There is more than one DTSTART in the text.", "Keep one DTSTART line.")
    return lines


def with_limits(text: str, count: int | None, until: str | None, *, instead: bool = False) -> str:
    """The same text with a COUNT and an UNTIL added; one that has its own is refused, or with `instead` loses it."""
    added = {name: value for name, value in (("COUNT", count), ("UNTIL", until)) if value is not None}
    if not added:
        return text
    parts = _parts(split_properties(text)["RRULE"][0][1])
    for name in added:
        if name in parts and not instead:
            refuse(f"The rule already has {name}={parts[name]}.", f"Set {name.lower()} in one place only.")
    tail = "".join(f";{name}={value}" for name, value in added.items())
    lines = [re.sub(rf"\b(?:{'|'.join(added)})=[^;]*;?", "", line, flags=re.IGNORECASE) for line in _lines(text)]
    return "\n".join(line.rstrip(";") + tail if _is_rule(line) else line for line in lines)


def _is_rule(line: str) -> bool:
    match = _PROPERTY.match(line)
    return match is None or match[1].upper() == "RRULE"


def _lines(text: str) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        if lines and not _PROPERTY.match(word):
            lines[-1] += word
        else:
            lines.append(word)
    return lines


def _parts(value: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    for part in value.split(";"):
        if not part:
            continue
        name, equals, values = part.partition("=")
        if not equals or not values:
            refuse(f"{part[:40]!r} is not a NAME=VALUE part of an RRULE.")
        if name in parts:
            refuse(f"{name[:20]} is there twice.", f"Use {name[:20]} once, with commas between its values.")
        parts[name] = values
    if "BYEASTER" in parts:
        refuse("BYEASTER is not in RFC 5545 and is not supported.", "Give the dates with RDATE.")
    return parts


def _freq(parts: dict[str, str]) -> Freq:
    name = parts.pop("FREQ", "")
    if name not in Freq.__members__:
        refuse(
            "The rule has no FREQ." if not name else f"FREQ={name[:20]} is not one of {', '.join(Freq.__members__)}."
        )
    return Freq[name]


def _whole(name: str, value: str) -> int:
    number = int(value) if _NUMBER.fullmatch(value) else 0
    if number < 1:
        refuse(f"{name}={value[:20]} must be a whole number, 1 or more.", f"Write it like {name}=2.")
    return number


def _interval(value: str, freq: Freq) -> int:
    if len(value.lstrip("+0")) > 9 and value.isdecimal():
        refuse(f"INTERVAL={value[:20]} is longer than the calendar.", "Use a smaller INTERVAL.")
    interval = _whole("INTERVAL", value)
    if interval > _LONGEST_INTERVAL[freq]:
        refuse(f"INTERVAL={interval} is longer than 400 years.", "Use a smaller INTERVAL.")
    return interval


def _numbers(name: str, value: str) -> tuple[int, ...]:
    low, high, negative = _RANGES[name]
    found = set()
    for word in value.split(","):
        number = int(word) if _NUMBER.fullmatch(word) else None
        if number is None or not (low <= number <= high or (negative and low <= -number <= high)):
            span = f"{low} to {high}" + (f" or -{high} to -{low}" if negative else "")
            refuse(f"{name}={word[:20]} must be a number from {span}.")
        found.add(number)
    return tuple(sorted(found))


def _weekdays(value: str, freq: Freq) -> tuple[NthWeekday, ...]:
    found = set()
    for word in value.split(","):
        if word in WEEKDAYS:
            found.add((0, WEEKDAYS.index(word)))
            continue
        match = _WEEKDAY.fullmatch(word)
        nth = int(match[1] or "0") if match else 0
        if match is None or (match[1] is not None and not 1 <= abs(nth) <= 53):
            refuse(f"BYDAY={word[:20]} is not a weekday.", "Write it like BYDAY=MO, BYDAY=2TU or BYDAY=-1FR.")
        if nth and freq > Freq.MONTHLY:
            refuse(f"BYDAY={word} counts weekdays of a month.", "Use it with FREQ=MONTHLY or FREQ=YEARLY.")
        found.add((nth, WEEKDAYS.index(match[2])))
    return tuple(sorted(found))


def _week_start(value: str) -> int:
    if value not in WEEKDAYS:
        refuse(f"WKST={value[:20]} is not a weekday.", "Write it like WKST=SU.")
    return WEEKDAYS.index(value)


def _dates(lines: dict[str, list[tuple[str, str]]], name: str) -> tuple[Stamp, ...]:
    return tuple(stamp for params, value in lines[name] for stamp in _stamps(name, params, value))


def _local(match: re.Match[str]) -> datetime | None:
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    try:
        return datetime(year, month, day, hour, minute, second)  # noqa: DTZ001
    except ValueError:
        return None


def _stamps(name: str, params: str, value: str) -> list[Stamp]:
    zone: str | None = None
    for param in filter(None, params.split(";")):
        key, _, setting = param.partition("=")
        if key.upper() == "TZID":
            zone = zone_of(setting.strip('"')).key
        elif (key.upper(), setting.upper()) not in (("VALUE", "DATE"), ("VALUE", "DATE-TIME")):
            refuse(
                f"{name} with {param[:40]} is not supported.",
                f"Write it like {name};TZID=Europe/London:20260102T090000.",
            )
    found = []
    for word in value.split(","):
        match = _STAMP.fullmatch(word)
        local = _local(match) if match else None
        if match is None or local is None:
            refuse(
                f"{word[:20]!r} in {name} is not a date.",
                "Write it like 20260102, 20260102T090000 or 20260102T140000Z.",
            )
        found.append(Stamp(wall_of(local), "UTC" if match[7] else zone, whole_day=match[4] is None))
    return found


def refuse(what: str, next_step: str = _EXAMPLE) -> NoReturn:
    raise InvalidScheduleError(what, next_step=next_step)
