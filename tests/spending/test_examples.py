"""The examples of the spending page and of the modules behind it are run, so that they stay true."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "spending.md"
MODULES = [
    "nudge.home.prices",
    "nudge.spending.memory_ledger",
    "nudge.spending.allowance",
    "nudge.progress.compaction",
    "nudge.spending.lifecycle",
    "nudge.spending.budgets",
    "nudge.spending.money",
    "nudge.spending.prices",
    "nudge.spending.routing",
    "nudge.tokens",
]


def test_the_page_is_true() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert (failed, tried > 20) == (0, True)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_are_true(name: str) -> None:
    failed, tried = doctest.testmod(import_module(name))
    assert (failed, tried > 0) == (0, True)
