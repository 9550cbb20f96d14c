"""Hostile texts for the patterns: what is slow on them would stop the whole daemon, which has one thread.

A hang is what is tested, so each text must be done within a span that is a thousand times what it needs.
"""

import signal
from collections.abc import Iterator
from types import FrameType

import pytest

from nudge.attention.restraint import recognise
from nudge.channels.telegram.richtext import parse_markdown
from nudge.channels.telegram.splitting import split
from nudge.coach.documents import Document, section_key, without_comments

_ENOUGH_SECONDS = 20


@pytest.fixture(autouse=True)
def no_hang() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise AssertionError("this text takes for ever")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_ENOUGH_SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def test_words_that_can_be_read_in_two_ways_do_not_double_the_work_each_time() -> None:
    assert recognise("a little bit " * 75 + "tired") is None
    assert recognise("I'm a little bit busy") is not None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("## Today\n- a " + "<!--" * 25_000, id="comments in an item that are never closed"),
        pytest.param("## Today\na " + "<!--" * 25_000, id="comments in a paragraph that are never closed"),
        pytest.param("## Today\n" + "- " * 50_000 + "x", id="a line of nothing but markers"),
        pytest.param("## Today\n" + "> " * 50_000 + "x", id="a line of nothing but quotes"),
        pytest.param("## Today" + " " * 100_000 + "x", id="a heading with a gap"),
    ],
)
def test_a_document_is_read_whatever_is_in_it(text: str) -> None:
    document = Document.parse(text)
    assert document.sections
    assert len(document.items("Today")) <= 1
    assert document.prose("Today") is not None
    assert without_comments(text)


def test_a_section_of_blanks_is_none() -> None:
    assert section_key("a" + "\t" * 100_000 + "b") == "a b"
    assert section_key("Today  (three \n at most) ") == section_key("Today:") == "today"


@pytest.mark.parametrize("unit", ["\U0001f1e9\U0001f1ea", "\u0301", "\u200d", "**a", "~~", "[a](", "`` ", "> - "])
def test_a_message_is_split_whatever_is_in_it(unit: str) -> None:
    text = (unit * 20_000)[:40_000]
    rich = parse_markdown(text)
    assert "".join(part.text for part in split(rich)) == rich.text
