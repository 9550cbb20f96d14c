"""An agent that somebody runs by hand: reminders wait in its inbox until it takes them."""

from __future__ import annotations

import json

from tests.cli.cli import Cli, until

ROLE = "name: monitor\nkind: worker\ndescription: Watches CI.\n"


def test_letters_wait_and_are_taken_once_in_order(home: Cli) -> None:
    (home.home / "roles" / "monitor.yaml").write_text(ROLE)
    home("agent", "add", "monitor", "--role", "monitor")
    home("reminder", "add", "monitor", "-m", "Check CI", "--in", "1s")
    home("reminder", "add", "monitor", "-m", "Drop everything", "--in", "1s", "--priority", "interrupt")
    with home.start():
        until(lambda: len(home.json("inbox", "monitor")) == 2, "both letters are there")
        assert [one["body"] for one in home.json("inbox", "monitor", "--up-to", "interrupt")] == ["Drop everything"]
        assert home("inbox", "monitor", "--take").stdout == "Drop everything\n"
        (taken,) = json.loads(home("inbox", "monitor", "--take", "--json").stdout)
        assert (taken["body"], taken["priority"], taken["count"]) == ("Check CI", "idle", 1)
        assert home.json("inbox", "monitor", "--take") == []
        home("inbox", "ack", taken["receipt"])
        home("inbox", "ack", "monitor")
    assert "empty" in home("inbox", "monitor").stderr


def test_an_unknown_agent_is_not_found(home: Cli) -> None:
    home("inbox", "nobody", code=3)
