from __future__ import annotations

from nudge.attention.welcome import Cell, Place
from nudge.clock import SystemClock
from nudge.inline import run_inline
from nudge.stores.open import open_sqlite
from tests.cli.cli import CliHere


def learned(here: CliHere, *cells: tuple[str, int, int, int]) -> None:
    """Put (topic, hour, welcome, unwelcome) into the home's store, as of now."""
    store = open_sqlite(str(here.home / "nudge.db"))
    for topic, hour, welcome, unwelcome in cells:
        cell = Cell(topic, Place(hour), welcome * 1_000_000, unwelcome * 1_000_000, SystemClock().now())
        run_inline(store.welcomes.put("coach", cell))
    run_inline(store.close())


def test_the_picture_shows_topics_by_hour_and_fits_the_terminal(here: CliHere) -> None:
    assert "Nothing learned yet" in here("attention").stdout
    learned(here, ("morning", 10, 0, 9), ("morning", 19, 6, 0), ("bedtime", 0, 0, 9))
    lines = here("attention").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    weekdays = next(line for line in lines if line.startswith("morning"))
    hours = weekdays[21:].split(" ")
    assert len(hours) == 24
    assert hours[10] == "▁"
    assert hours[14] == "·"
    assert hours[19] in "▆▇"
    assert any(line.startswith("bedtime") and "0.0 of 9.0 pings welcome; silent until" in line for line in lines)
    shown = here.json("attention")
    assert [topic["topic"] for topic in shown["topics"]] == ["bedtime", "morning"]
    assert [hour["share"] for hour in shown["topics"][1]["hours"]] == [0.123, 0.871]


def test_a_topic_or_everything_is_forgotten(here: CliHere) -> None:
    here("status", code=None)
    here("attention")
    learned(here, ("morning", 10, 0, 9), ("bedtime", 0, 0, 9))
    refused = here("attention", "reset", "lunch", code=3).stderr
    assert "Nothing was learned about 'lunch'." in refused
    assert "bedtime, morning" in refused
    assert here("attention", "reset", "morning").stderr == "Forgotten: morning.\n"
    assert [topic["topic"] for topic in here.json("attention")["topics"]] == ["bedtime"]
    assert here("attention", "reset").stderr == "Forgotten: bedtime.\n"
    assert here("attention", "reset").stderr == "There was nothing to forget.\n"
