"""What people type, one by one: read as they meant it, or asked back; never misread."""

from __future__ import annotations

import pytest

from nudge.errors import InvalidPhraseError, UnclearPhraseError
from nudge.instants import MINUTE, Instant, to_datetime
from nudge.phrases import Understood, read_answer, read_wish, split_reminder, understand
from nudge.phrases.result import absolute
from nudge.reminders.timing import schedule_from
from tests.phrases import utterances
from tests.times import NOON, TORONTO, toronto


def rows(table: str) -> list[tuple[str, ...]]:
    return [tuple(cell.strip() for cell in line.split(" | ")) for line in table.strip().splitlines()]


TABLES = (
    utterances.SPELLED_OUT,
    utterances.PARTS_OF_THE_DAY,
    utterances.DAYS,
    utterances.ENDS_AND_ORDINALS,
    utterances.HOLIDAYS,
    utterances.AGAIN_AND_AGAIN,
    utterances.TYPOS,
    utterances.NUMBERS_THAT_ARE_NO_TIMES,
    utterances.ANY_PHRASING,
    utterances.MORE,
)
ALL = [row for table in TABLES for row in rows(table)]


def times(understood: Understood, count: int) -> list[str]:
    """The first times on the clock, as the stored schedule gives them."""
    schedule, at, found = schedule_from(understood, NOON, TORONTO), NOON, []
    for _ in range(count):
        following = schedule.next_after(at, TORONTO)
        if following is None:
            break
        at = Instant(following)
        found.append(to_datetime(at, TORONTO).strftime("%Y-%m-%d %H:%M"))
    return found


def read(utterance: str, count: int) -> tuple[str, ...]:
    try:
        message, understood = split_reminder(utterance, NOON, TORONTO)
    except UnclearPhraseError as unclear:
        return (f"? {unclear.question}",)
    except InvalidPhraseError as error:
        return (f"! {error}",)
    return (message, *times(understood, count))


@pytest.mark.parametrize("row", ALL, ids=[row[0] for row in ALL])
def test_an_utterance_is_read_or_asked_back(row: tuple[str, ...]) -> None:
    utterance, *expected = row
    assert read(utterance, len(expected) - 1) == tuple(expected)


def test_each_group_counts() -> None:
    assert len(ALL) >= 150
    assert len(NOT_REMINDERS) >= 40


NOT_REMINDERS = utterances.NOT_REMINDERS.strip().splitlines()


@pytest.mark.parametrize("utterance", NOT_REMINDERS)
def test_what_asks_for_nothing_is_no_reminder(utterance: str) -> None:
    assert read_wish(utterance, NOON, TORONTO) is None


@pytest.mark.parametrize("row", rows(utterances.ANY_PHRASING), ids=[row[0] for row in rows(utterances.ANY_PHRASING)])
def test_in_a_chat_any_phrasing_is_a_wish(row: tuple[str, ...]) -> None:
    try:
        wish = read_wish(row[0], NOON, TORONTO) or ("no wish",)
    except UnclearPhraseError as unclear:
        wish = (f"? {unclear.question}",)
    assert wish[0] == row[1]


ANSWERED = [
    # sentence, answers, message, first time
    ("bring 2 bottles at 6", ("pm",), "bring 2 bottles", "2026-02-18 18:00"),
    ("bring 2 bottles at 6", ("6pm please",), "bring 2 bottles", "2026-02-18 18:00"),
    ("bring 2 bottles at 6", ("morning",), "bring 2 bottles", "2026-02-19 06:00"),
    ("bring 2 bottles at 6", ("18:00",), "bring 2 bottles", "2026-02-18 18:00"),
    ("friday at seven call bob", ("evening",), "call bob", "2026-02-20 19:00"),
    ("call bob at half past six tomorrow", ("am",), "call bob", "2026-02-19 06:30"),
    ("call bob at 9", ("tomorrow",), "call bob", "2026-02-19 09:00"),
    ("call bob at 9", ("pm",), "call bob", "2026-02-18 21:00"),
    ("remind me each sunday at 7 to call mum", ("pm",), "call mum", "2026-02-22 19:00"),
    ("remind me this weekend to clean the car", ("sunday",), "clean the car", "2026-02-22 09:00"),
    ("remind me this weekend at 4pm to clean the car", ("saturday",), "clean the car", "2026-02-21 16:00"),
    ("remind me on easter to buy eggs", ("april 5",), "buy eggs", "2026-04-05 09:00"),
    ("remind me after work to buy milk", ("5:30pm",), "buy milk", "2026-02-18 17:30"),
    ("remind me tomorrow after work to buy milk", ("6", "pm"), "buy milk", "2026-02-19 18:00"),
    ("remind me later today to call the bank", ("4pm",), "call the bank", "2026-02-18 16:00"),
    ("remind me to call mum", ("tomorrow at 6pm",), "call mum", "2026-02-19 18:00"),
    ("remind me to call mum", ("tomorrow at 6", "pm"), "call mum", "2026-02-19 18:00"),
    ("remind me tomorrow at 6pm", ("call mum",), "call mum", "2026-02-19 18:00"),
    ("remind me tomorrow at 6", ("pm", "to call mum"), "call mum", "2026-02-19 18:00"),
    ("dentist 3/4 at 2pm", ("march",), "dentist", "2026-03-04 14:00"),
    ("remind me twice a day to drink water", ("9am and 5pm",), "drink water", "2026-02-18 17:00"),
    ("every 3 months change the filter", ("the 1st",), "change the filter", "2026-03-01 09:00"),
    ("every week at 6pm water the plants", ("monday",), "water the plants", "2026-02-23 18:00"),
]


@pytest.mark.parametrize(
    ("sentence", "answers", "message", "first"), ANSWERED, ids=[f"{row[0]}: {', '.join(row[1])}" for row in ANSWERED]
)
def test_a_one_word_answer_finishes_the_reminder(
    sentence: str, answers: tuple[str, ...], message: str, first: str
) -> None:
    for asked in range(len(answers)):
        with pytest.raises(UnclearPhraseError):
            split_reminder(sentence, NOON, TORONTO, answers[:asked])
    said, understood = split_reminder(sentence, NOON, TORONTO, answers)
    assert (said, times(understood, 1)) == (message, [first])


@pytest.mark.parametrize(
    ("sentence", "typed", "meant"),
    [
        ("thrusday 5pm call bob", "thrusday", "Thursday"),
        ("call bob tomorow 5pm", "tomorow", "tomorrow"),
        ("call bob in 20 minuts", "minuts", "minutes"),
        ("call bob on febuary 20", "febuary", "February"),
    ],
)
def test_a_slip_is_said_back_with_the_time(sentence: str, typed: str, meant: str) -> None:
    message, understood = split_reminder(sentence, NOON, TORONTO)
    assert message == "call bob"
    assert f"I read “{typed}” as {meant}." in understood.echo(NOON, TORONTO)


@pytest.mark.parametrize("sentence", ["eat a sundae friday 5pm", "call frida at 5pm", "a very long walk at 5pm"])
def test_a_word_of_its_own_is_no_slip(sentence: str) -> None:
    message, understood = split_reminder(sentence, NOON, TORONTO)
    assert sentence.startswith(message)
    assert understood.corrections == ()


def test_an_answer_after_midnight_does_not_move_tomorrow() -> None:
    late = toronto(2026, 2, 18, 23, 59)
    wish = read_answer(["call bob tomorrow at 6", "pm"], Instant(late + 5 * MINUTE), TORONTO, asked_at=late)
    assert wish is not None
    assert to_datetime(wish[1].first, TORONTO).strftime("%d %H") == "19 18"


@pytest.mark.parametrize("row", ALL, ids=[row[0] for row in ALL])
def test_the_echo_of_a_reading_reads_back_to_the_same_schedule(row: tuple[str, ...]) -> None:
    try:
        _, understood = split_reminder(row[0], NOON, TORONTO)
    except UnclearPhraseError:
        return
    again = understand(absolute(understood.first, TORONTO) if understood.once else understood.words, NOON, TORONTO)
    assert (again.once, again.rrule, again.every, again.dated_rrule) == (
        understood.once,
        understood.rrule,
        understood.every,
        understood.dated_rrule,
    )
