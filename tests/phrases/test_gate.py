"""The gate before dateparser: what it lets through, and every way of guessing that it stops."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from nudge.instants import HOUR
from nudge.phrases import dateparser_gate
from nudge.phrases.dateparser_gate import translate
from nudge.phrases.pieces import InDays, OnDate, OnWeekday, Shift

Parse = Callable[[datetime, str, str], datetime | None]


@pytest.mark.parametrize(
    ("text", "day", "clock"),
    [
        ("morgen um 15 Uhr", InDays(1), "15:00"),
        ("übermorgen 8:30 Uhr", InDays(2), "08:30"),
        ("heute um 20 uhr", InDays(0), "20:00"),
        ("um 15 Uhr", None, "15:00"),
        ("demain à 9h", InDays(1), "09:00"),
        ("vendredi à 9h30", OnWeekday(4), "09:30"),
        ("le 3 mars à 10h", OnDate(3, 3), "10:00"),
        ("20 février 2027 à 15:00", OnDate(2, 20, 2027), "15:00"),
        ("amanhã às 9h", InDays(1), "09:00"),
        ("в пятницу в 10:00", OnWeekday(4), "10:00"),
        ("明日 15時", InDays(1), "15:00"),
        ("내일 9:00", InDays(1), "09:00"),
    ],
)
def test_a_day_and_a_clock_that_are_both_said_pass(text: str, day: object, clock: str) -> None:
    reading = translate(text)
    assert reading is not None
    assert reading.day == day
    assert [at.at.strftime("%H:%M") for at in reading.clocks] == [clock]


@pytest.mark.parametrize(
    ("text", "shift"),
    [
        ("dans 2 heures", Shift(microseconds=2 * HOUR)),
        ("in 3 Tagen", Shift(days=3)),
        ("in 2 Wochen", Shift(days=14)),
        ("через 2 часа", Shift(microseconds=2 * HOUR)),
        ("2時間後", Shift(microseconds=2 * HOUR)),
    ],
)
def test_a_counted_distance_passes(text: str, shift: Shift) -> None:
    reading = translate(text)
    assert reading is not None
    assert reading.shift == shift


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("morgen", "no clock is said"),
        ("mañana a las 10", "dateparser ignores the 10"),
        ("alle 1 domani", "dateparser ignores the 1, and one day looks like it"),
        ("lunes 5 10:00", "the month would be guessed"),
        ("vendredi 20 à 9:00", "the month would be guessed"),
        ("demain 5 à 9:00", "the 5 is ignored"),
        ("marzo 10:00", "the day would be guessed"),
        ("il y a 5 jours", "it is in the past"),
        ("dans 2 mois", "months have no fixed length to check"),
        ("må 15:00", "Monday in Dutch, Tuesday in French"),
        ("man 10:00", "three letters are too little"),
        ("morgen um 15 Uhr und 17 Uhr", "two clocks"),
        ("morgen um 25:00", "no such clock"),
        ("demain 9:00 est", "a time zone"),
        ("jeden Tag um 9 Uhr", "it recurs"),
        ("every morgen 9:00", "it recurs"),
        ("call mum 15:00", "not a word for a day in any language"),
        ("1771600000 Uhr", "a timestamp"),
        ("tomorrow 15:00", "our own grammar has refused these words already"),
        ("morgen " * 20 + "15:00", "too long"),
    ],
)
def test_what_would_be_guessed_does_not_pass(text: str, why: str) -> None:
    assert translate(text) is None, why


def test_english_without_a_foreign_word_never_loads_dateparser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dateparser_gate, "_parse_from", lambda *_: pytest.fail("asked dateparser"))
    for text in ("at 5", "may 5", "march", "call mum", "5", "tomorrow at", "every 3 moons", "3pm est"):
        assert translate(text) is None


def tomorrow_at_nine(base: datetime, text: str, language: str) -> datetime | None:
    return (base + timedelta(days=1)).replace(hour=9, minute=0, second=0)


def friday_at_nine(base: datetime, text: str, language: str) -> datetime | None:
    return (base + timedelta(days=(4 - base.weekday()) % 7)).replace(hour=9, minute=0, second=0)


def the_base_itself_at_nine(base: datetime, text: str, language: str) -> datetime | None:
    return base.replace(month=3, day=base.day, hour=9, minute=0, second=0)


@pytest.mark.parametrize(
    ("text", "parse", "passes"),
    [
        pytest.param("fooo 9:00", tomorrow_at_nine, True, id="the fake is believed where nothing is wrong"),
        pytest.param("fooo 9:01", tomorrow_at_nine, False, id="another clock came back"),
        pytest.param("fooo 7 9:00", tomorrow_at_nine, False, id="a number is not in the answer"),
        pytest.param("fooo 9:00", friday_at_nine, True, id="a weekday is one from any starting point"),
        pytest.param("fooo 7 9:00", friday_at_nine, False, id="a number beside a weekday is not in the answer"),
        pytest.param(
            "fooo 9:00",
            lambda base, text, language: tomorrow_at_nine(base, text, language).replace(tzinfo=UTC),  # type: ignore[union-attr]
            False,
            id="a time zone was read into it",
        ),
        pytest.param(
            "fooo 9:00",
            lambda base, text, language: tomorrow_at_nine(base, text, language) if base.year == 2026 else None,
            False,
            id="it depends on the year it is asked in",
        ),
        pytest.param("fooo 9:00", the_base_itself_at_nine, False, id="the day moves with the starting point"),
        pytest.param(
            "fooo 9:00",
            lambda base, text, language: (base + timedelta(days=len(language) + (language == "de"))).replace(
                hour=9, minute=0, second=0
            ),
            False,
            id="two languages disagree",
        ),
    ],
)
def test_the_gate_against_a_parser_that_guesses(
    text: str, parse: Parse, passes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dateparser

    def fake(text: str, *, languages: list[str], settings: dict[str, datetime]) -> datetime | None:
        return parse(settings["RELATIVE_BASE"], text, languages[0])

    monkeypatch.setattr(dateparser, "parse", fake)
    assert (translate(text) is not None) == passes


def test_a_parser_that_breaks_has_not_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    import dateparser

    def broken(*_: object, **__: object) -> None:
        raise OverflowError("year 99999 is out of range")

    monkeypatch.setattr(dateparser, "parse", broken)
    assert translate("morgen um 15 Uhr") is None
