"""How JSON writes the fields of a ping budget, and what is refused when it is read back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal, InvalidOperation

from nudge.attention.reserve import PING
from nudge.errors import UsageError


def level_of(available: object) -> int:
    """A decimal number of pings in micro-pings, without a detour through binary fractions."""
    try:
        return int((Decimal(str(available)) * PING).to_integral_value())
    except (InvalidOperation, ValueError, OverflowError) as error:
        raise UsageError(f"{available!r} is not a number of pings.", next_step="Give a number such as 4.6.") from error


def whole_number(data: Mapping[str, object], key: str, default: int) -> int:
    value = data.get(key, default)
    if type(value) is not int:
        raise UsageError(f"The ping budget's {key} is {value!r}.", next_step="Give a whole number.")
    return value


def day_of(data: Mapping[str, object], key: str) -> date | None:
    value = data.get(key)
    try:
        return None if value is None else date.fromisoformat(str(value))
    except ValueError as error:
        raise UsageError(f"The ping budget's {key} is {value!r}.", next_step="Write a date like 2026-02-20.") from error


def iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()
