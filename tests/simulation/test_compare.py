from __future__ import annotations

import pytest

from nudge.errors import UsageError
from nudge.simulation.compare import AS_CONFIGURED, Row, compare, variants
from nudge.simulation.summary import summarise
from nudge.simulation.text import comparison_lines
from nudge.simulation.timeline import Timeline
from tests.simulation.test_timeline import WEEK, at, sent


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(["ping_budget=off"], [{}, {"ping_budget": "off"}], id="one value is compared with the present"),
        pytest.param(
            ["ping_budget=off/on"], [{"ping_budget": "off"}, {"ping_budget": "on"}], id="two values with each other"
        ),
        pytest.param(
            ["heartbeat=30m/45m/90m"],
            [{"heartbeat": "30m"}, {"heartbeat": "45m"}, {"heartbeat": "90m"}],
            id="three as well",
        ),
        pytest.param(
            ["heartbeat=30m", "change_gate=off"],
            [{}, {"heartbeat": "30m", "change_gate": "off"}],
            id="several keys change together",
        ),
        pytest.param(
            ["heartbeat=30m", "heartbeat=90m"],
            [{"heartbeat": "30m"}, {"heartbeat": "90m"}],
            id="a key given twice has two values",
        ),
        pytest.param(
            ["heartbeat=30m/90m", "change_gate=off"],
            [{"heartbeat": "30m", "change_gate": "off"}, {"heartbeat": "90m", "change_gate": "off"}],
            id="a single value holds in all",
        ),
    ],
)
def test_what_is_compared(words: list[str], expected: list[dict[str, str]]) -> None:
    assert [changes for _, changes in variants(words)] == expected


@pytest.mark.parametrize("word", ["ping_budget", "=off", "ping_budget=", "a=/"])
def test_words_that_compare_nothing_are_refused(word: str) -> None:
    with pytest.raises(UsageError, match="not a setting to compare"):
        variants([word])


def test_too_many_columns_are_refused() -> None:
    with pytest.raises(UsageError, match="8 configurations"):
        variants(["a=1/2", "b=1/2", "c=1/2"])


@pytest.mark.parametrize(
    ("row", "cell", "difference"),
    [
        (Row("n", (4.0, 5.0), 1), "5.0", "+1.0 (+25%)"),
        (Row("n", (4.0, 3.0)), "3", "-1 (-25%)"),
        (Row("n", (0.0, 3.0)), "3", "+3"),
        (Row("n", (4.0, 4.04), 1), "4.0", "="),
        (Row("n", (12345.0, 12345.0)), "12,345", "="),
    ],
)
def test_differences_are_from_the_first_column(row: Row, cell: str, difference: str) -> None:
    assert (row.cell(1), row.difference(1)) == (cell, difference)
    assert row.differs is (difference != "=")


def test_the_table_shows_what_differs_and_names_the_rest() -> None:
    one = summarise(Timeline(WEEK, (sent(at(16, 12)),), ()))
    two = summarise(Timeline(WEEK, (sent(at(16, 12)), sent(at(16, 13)), sent(at(16, 3))), ()))
    rows = compare({AS_CONFIGURED: one, "ping_budget=off": two})
    lines = list(comparison_lines([AS_CONFIGURED, "ping_budget=off"], rows))
    assert lines[0].split() == ["as", "configured", "ping_budget=off"]
    assert any("quiet-hour violations" in line and line.endswith(" 1 +1") for line in lines)
    assert any(line.startswith("The same in all: welcome pings, unwanted pings, replies") for line in lines)
    assert list(comparison_lines(["a", "b"], compare({"a": one, "b": one})))[-1] == "No number differs."


def test_a_bucket_that_is_off_has_no_level() -> None:
    row = Row("lowest bucket level", (2.7, None), 1)
    assert (row.cell(1), row.difference(1), row.differs) == ("off", "≠", True)
    assert not Row("lowest bucket level", (None, None), 1).differs
