"""Due dates as people write them beside a commitment: "Friday", "March 1", "2026-03-01"."""

from __future__ import annotations

import re
from datetime import date, timedelta

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH_NAMES = re.compile(
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
_WEEKDAY_NAMES = re.compile(
    r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
)
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})\b.*")
_MONTH_DAY = re.compile(r"([a-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(\d{4}))?")
_DAY_MONTH = re.compile(r"(\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?([a-z]{3,9})\.?(?:,?\s+(\d{4}))?")


def parse_due(words: str, *, today: date, said_on: date | None = None) -> date | None:
    """The day that is meant, or None where it cannot be told.

    A weekday is the first one after the day it was said; a commitment made on a Friday and due "Friday" is due in a
    week. Where nobody noted when it was said it is the coming one, today included, so that no guess makes it overdue.
    A month and day without a year is the first on or after the day it was said, else the one nearest to today.
    """
    text = " ".join(words.casefold().split()).removeprefix("on ").removeprefix("by ").strip(" .")
    iso = _ISO.fullmatch(text)
    if iso:
        return _date(int(iso[1]), int(iso[2]), int(iso[3]))
    if _WEEKDAY_NAMES.fullmatch(text):
        weekday = _WEEKDAYS.index(text[:3])
        first = said_on + timedelta(days=1) if said_on else today
        return first + timedelta(days=(weekday - first.weekday()) % 7)
    if text in ("today", "tonight", "tomorrow"):
        return said_on and said_on + timedelta(days=text == "tomorrow")
    for pattern, month_group, day_group in ((_MONTH_DAY, 1, 2), (_DAY_MONTH, 2, 1)):
        match = pattern.fullmatch(text)
        if match and _MONTH_NAMES.fullmatch(match[month_group]):
            month = _MONTHS.index(match[month_group][:3]) + 1
            return _in_year(month, int(match[day_group]), match[3], today, said_on)
    return None


def _in_year(month: int, day: int, year: str | None, today: date, said_on: date | None) -> date | None:
    if year:
        return _date(int(year), month, day)
    around = said_on or today
    candidates = [found for offset in (-1, 0, 1) if (found := _date(around.year + offset, month, day))]
    if said_on:
        candidates = [found for found in candidates if found >= said_on]
    return min(candidates, key=lambda found: abs(found - around), default=None)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
