from __future__ import annotations

from tests.cli.cli import CliHere


def test_status_and_both_ways_to_set_it(here: CliHere) -> None:
    assert here("ping-budget").stdout.startswith("Ping budget: 5/5 available (refills 1 every 90 min).\n")
    here("ping-budget", "7")
    assert here.json("ping-budget")["capacity"] == 7
    here("ping-budget", "4", "60")
    shown = here.json("ping-budget")
    assert (shown["capacity"], shown["refill_rate_minutes"], shown["available"]) == (4, 60, 4.0)


def test_nonsense_is_refused_and_changes_nothing(here: CliHere) -> None:
    for words in (["0"], ["-3"], ["5", "0"], ["many"]):
        assert "error:" in here("ping-budget", "--", *words, code=2).stderr
    assert here.json("ping-budget")["capacity"] == 5


def test_off_is_said(here: CliHere) -> None:
    (here.home / "nudge.toml").write_text('[attention]\nping_budget = "off"\n')
    assert "off" in here("ping-budget").stdout
    assert here.json("ping-budget") == {"ping_budget": "off"}
