"""Money: micro-dollars as integers. A million of them are one dollar, and sums of them are exact.

One micro-dollar is small enough for the price of a single cached token to show in a total, and 64 bits of them hold
nine million million dollars, so a database column never overflows.

At the edges a number means dollars: `Ledger(5, …)` has five. What comes back is `Money`, which is taken back as it is.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TypeAlias

from nudge.errors import UsageError

Micros: TypeAlias = int
"""An amount of money in micro-dollars."""

DOLLAR = 1_000_000
MOST = 10**12 * DOLLAR
"""More than anybody's budget; still fits a 64-bit column."""

_DOLLARS = re.compile(r"\$?(?:[0-9]{1,30}(?:\.[0-9]+)?|\.[0-9]+)")
_DECIMALS = 6


class Money(int):
    """A whole number of micro-dollars that knows what it counts, so that no public function takes it for dollars.

    >>> cost = Money(3_800)
    >>> cost + cost, as_micros(cost), as_micros(5)
    (7600, 3800, 5000000)
    """

    __slots__ = ()

    def __add__(self, other: int) -> Money:
        return _money(int.__add__(self, other))

    __radd__ = __add__

    def __sub__(self, other: int) -> Money:
        return _money(int.__sub__(self, other))

    def __mul__(self, other: int) -> Money:
        return _money(int.__mul__(self, other))

    __rmul__ = __mul__

    def __floordiv__(self, other: int) -> Money:
        return _money(int.__floordiv__(self, other))


def _money(result: int) -> Money:
    """NotImplemented stays what it is: a fraction or a float knows how to go on with an integer."""
    return Money(result) if type(result) is int else result  # type: ignore[return-value]


Amount: TypeAlias = str | Decimal | int | float
"""What public functions take for money: dollars as text ("$12.50") or as a number, or a `Money` as it came."""


def parse_money(text: str | Decimal) -> Money:
    """The money of an amount in dollars, exactly: "$12.50", "12.5", "0.000001".

    Refused: a negative amount, NaN and infinity, more than six decimals (also where they are zeros: whoever writes
    seven means a finer unit than there is), exponents and thousands separators.

    >>> parse_money("$12.50")
    12500000
    """
    if isinstance(text, Decimal):
        return Money(_micros(text, str(text)))
    if not _DOLLARS.fullmatch(text.strip()):
        raise _refused(text)
    return Money(_micros(Decimal(text.strip().removeprefix("$")), text))


def as_micros(amount: Amount) -> Micros:
    """Micro-dollars of an amount as public functions take it. A number is dollars; a `Money` is what it says.

    A float is read as it is written: 0.1 is ten cents. One that is no short decimal (0.1 + 0.2) is refused.
    """
    if isinstance(amount, Money):
        if not 0 <= amount <= MOST:
            raise _refused(format_money(amount))
        return int(amount)
    if isinstance(amount, bool) or not isinstance(amount, str | Decimal | int | float):
        raise _refused(repr(amount))
    if isinstance(amount, str):
        return int(parse_money(amount))
    return _micros(Decimal(repr(amount)) if isinstance(amount, float) else Decimal(amount), str(amount))


def format_money(amount: Micros) -> str:
    """An amount for operators, exact: at least two decimals, more only where they carry something.

    >>> format_money(12_500_000), format_money(1), format_money(-40_000)
    ('$12.50', '$0.000001', '-$0.04')
    """
    dollars, rest = divmod(abs(int(amount)), DOLLAR)
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
        f"{written!r} is not an amount of dollars: use 0 or more, with at most six decimals.",
        next_step="Write it like 12.50 or $12.50.",
    )
