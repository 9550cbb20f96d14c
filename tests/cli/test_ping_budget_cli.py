from __future__ import annotations

from tests.cli.cli import Cli


def test_status_and_both_ways_to_set_it(home: Cli) -> None:
    assert home("ping-budget").stdout.startswith("Ping budget: 5/5 available (refills 1 every 90 min).\n")
    home("ping-budget", "7")
    assert home.json("ping-budget")["capacity"] == 7
    home("ping-budget", "4", "60")
    shown = home.json("ping-budget")
    assert (shown["capacity"], shown["refill_rate_minutes"], shown["available"]) == (4, 60, 4.0)


def test_nonsense_is_refused_and_changes_nothing(home: Cli) -> None:
    for words in (["0"], ["-3"], ["5", "0"], ["many"]):
        assert "error:" in home("ping-budget", "--", *words, code=2).stderr
    assert home.json("ping-budget")["capacity"] == 5


def test_off_is_said(home: Cli) -> None:
    (home.home / "nudge.toml").write_text('[attention]\nping_budget = "off"\n')
    assert "off" in home("ping-budget").stdout
    assert home.json("ping-budget") == {"ping_budget": "off"}
