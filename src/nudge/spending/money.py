"""Money: micro-dollars as integers. A million of them are one dollar, and sums of them are exact.

One micro-dollar is small enough for the price of a single cached token to be visible in a total, and 64 bits of them
hold nine million million dollars, so a database column never overflows.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TypeAlias

from nudge.errors import UsageError

Micros: TypeAlias = int
"""An amount of money in micro-dollars."""

Amount: TypeAlias = str | Decimal | int
"""What public functions take for money: dollars as text ("$12.50") or Decimal, or micro-dollars as an integer."""

DOLLAR = 1_000_000
MOST = 10**12 * DOLLAR
"""More than anybody's budget; still fits a 64-bit column."""

_DOLLARS = re.compile(r"\$?(?:[0-9]{1,30}(?:\.[0-9]+)?|\.[0-9]+)")
_DECIMALS = 6


def parse_money(text: str | Decimal) -> Micros:
    """Micro-dollars of an amount in dollars, exactly: "$12.50", "12.5", "0.000001".

    Refused: a negative amount, NaN and infinity, more than six decimals (also where they are zeros: whoever writes
    seven means a finer unit than there is), exponents and thousands separators.

    >>> parse_money("$12.50")
    12500000
    """
    if isinstance(text, Decimal):
        return _micros(text, str(text))
    if not _DOLLARS.fullmatch(text.strip()):
        raise _refused(text)
    return _micros(Decimal(text.strip().removeprefix("$")), text)


def as_micros(amount: Amount) -> Micros:
    """Micro-dollars of an amount as public functions take it. An integer already is micro-dollars.

    A float is refused: 0.1 + 0.2 is no amount of money.
    """
    if isinstance(amount, bool) or not isinstance(amount, str | Decimal | int):
        raise _refused(repr(amount))
    if isinstance(amount, int):
        if not 0 <= amount <= MOST:
            raise _refused(f"{amount} micro-dollars")
        return amount
    return parse_money(amount)


def format_money(amount: Micros) -> str:
    """An amount for operators, exact: at least two decimals, more only where they carry something.

    >>> format_money(12_500_000), format_money(1), format_money(-40_000)
    ('$12.50', '$0.000001', '-$0.04')
    """
    dollars, rest = divmod(abs(amount), DOLLAR)
    decimals = f"{rest:06d}".rstrip("0").ljust(2, "0")
    return f"{'-' if amount < 0 else ''}${dollars}.{decimals}"


def _micros(dollars: Decimal, written: str) -> Micros:
    if not dollars.is_finite() or dollars.is_signed() or dollars.adjusted() > 12:
        raise _refused(written)
    exponent = dollars.as_tuple().exponent
    assert isinstance(exponent, int)
    if exponent < -_DECIMALS:
        raise _refused(written)
    numerator, denominator = dollars.as_integer_ratio()
    micros = numerator * DOLLAR // denominator
    if micros > MOST:
        raise _refused(written)
    return micros


def _refused(written: str) -> UsageError:
    return UsageError(
        f"{written!r} is not an amount of money: it takes dollars from 0 with at most six decimals.",
        next_step="Write it like 12.50 or $12.50.",
    )
