from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.errors import UsageError
from nudge.spending.money import MOST, Amount, Money, as_micros, format_money, parse_money


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("$12.50", 12_500_000, id="dollars with a sign"),
        pytest.param("12.5", 12_500_000, id="one decimal"),
        pytest.param("0.000001", 1, id="the smallest amount"),
        pytest.param("0", 0, id="nothing"),
        pytest.param(".5", 500_000, id="no leading zero"),
        pytest.param("  $3 ", 3_000_000, id="blanks around it"),
        pytest.param("0.1", 100_000, id="a tenth is a tenth"),
        pytest.param("1000000000000", MOST, id="the largest amount"),
        pytest.param(Decimal("4.35"), 4_350_000, id="a decimal"),
        pytest.param(Decimal("1E+3"), 1_000_000_000, id="a decimal with a positive exponent"),
    ],
)
def test_amounts_are_read_exactly(text: str | Decimal, expected: int) -> None:
    assert parse_money(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("0.0000001", id="seven decimals"),
        pytest.param("1.0000000", id="seven decimals though they are zeros"),
        pytest.param("-1", id="negative"),
        pytest.param("$-1", id="negative after the sign"),
        pytest.param("NaN", id="not a number"),
        pytest.param("Infinity", id="infinite"),
        pytest.param("1e3", id="an exponent"),
        pytest.param("1,234.50", id="a thousands separator"),
        pytest.param("12.", id="a point and nothing after it"),
        pytest.param("", id="empty"),
        pytest.param("$", id="a sign alone"),
        pytest.param("١٢", id="digits of another script"),
        pytest.param("1000000000000.000001", id="more than fits"),
        pytest.param("9" * 40, id="absurdly long"),
        pytest.param(Decimal("NaN"), id="decimal not a number"),
        pytest.param(Decimal("-Infinity"), id="decimal infinity"),
        pytest.param(Decimal("-0.01"), id="negative decimal"),
        pytest.param(Decimal("1E-7"), id="decimal below a micro-dollar"),
        pytest.param(Decimal("1E+999999"), id="decimal with a giant exponent"),
    ],
)
def test_what_is_not_an_amount_is_refused(text: str | Decimal) -> None:
    with pytest.raises(UsageError, match="not an amount of dollars"):
        parse_money(text)


@pytest.mark.parametrize(
    "amount", [0.1 + 0.2, float("nan"), True, None, -1, 10**12 + 1, Money(-1), Money(MOST + 1)], ids=repr
)
def test_public_amounts_refuse_what_is_out_of_range_or_no_short_decimal(amount: object) -> None:
    with pytest.raises(UsageError):
        as_micros(amount)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        pytest.param(5, 5_000_000, id="a whole number is dollars"),
        pytest.param(0.1, 100_000, id="a float is read as it is written"),
        pytest.param("5", 5_000_000, id="so is a text"),
        pytest.param(Decimal("0.05"), 50_000, id="and a decimal"),
        pytest.param(Money(5), 5, id="what nudge gave is taken back as it is"),
        pytest.param(Money(7) + 1, 8, id="and what was computed of it"),
        pytest.param(sum([Money(3), Money(4)]), 7, id="sums"),
        pytest.param(2 * Money(50) // 3 - 3, 30, id="and shares"),
    ],
)
def test_a_number_means_dollars_and_money_is_what_it_says(amount: Amount, expected: int) -> None:
    assert as_micros(amount) == expected
    assert type(as_micros(amount)) is int


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        (0, "$0.00"),
        (1, "$0.000001"),
        (10_000, "$0.01"),
        (125_000, "$0.125"),
        (12_500_000, "$12.50"),
        (-40_000, "-$0.04"),
    ],
)
def test_operators_see_exact_dollars(amount: int, expected: str) -> None:
    assert format_money(amount) == expected


@given(st.integers(0, MOST))
def test_what_is_shown_can_be_read_back(amount: int) -> None:
    assert parse_money(format_money(amount)) == amount
