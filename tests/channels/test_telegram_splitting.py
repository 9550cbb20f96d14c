"""Long texts become messages that Telegram takes and a person can read."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from nudge.channels.telegram.richtext import Entity, RichText, Style, parse_markdown
from nudge.channels.telegram.splitting import LIMIT, is_character_border, split
from nudge.testing.telegram_rules import check_entities, units

CASES = {
    "what fits is one message": ("one two", 7, ["one two"]),
    "one more than fits is two": ("one two!", 7, ["one ", "two!"]),
    "between paragraphs rather than lines": ("aaaa\n\nbb\ncccc", 10, ["aaaa\n\n", "bb\ncccc"]),
    "between lines rather than words": ("aaa bb\nccc ddd", 11, ["aaa bb\n", "ccc ddd"]),
    "between words rather than inside one": ("aaaaa bbbbb", 8, ["aaaaa ", "bbbbb"]),
    "a paragraph end in the first quarter is too early": ("a\n\nbbbb cccc ddd", 14, ["a\n\nbbbb cccc ", "ddd"]),
    "an endless word is cut": ("aaaaaaa", 3, ["aaa", "aaa", "a"]),
    "an emoji of two code units is not cut": ("a😴b", 2, ["a", "😴", "b"]),
    "a skin tone stays with its hand": ("aaa👍🏽", 6, ["aaa", "👍🏽"]),
    "an accent stays with its letter": ("abe\u0301", 3, ["ab", "e\u0301"]),
    "a family stays together": ("aa👩‍👧", 5, ["aa", "👩‍👧"]),
    "a flag stays whole": ("a🇨🇦🇫🇷", 6, ["a🇨🇦", "🇫🇷"]),
    "a character longer than a message is cut after all": ("e" + "\u0301" * 5, 3, ["e\u0301\u0301", "\u0301" * 3]),
    "a carriage return keeps its line feed": ("aaa\r\nb", 4, ["aaa", "\r\nb"]),
}


@pytest.mark.parametrize("text, limit, parts", CASES.values(), ids=CASES.keys())
def test_plain_text_is_cut_where_a_reader_would(text: str, limit: int, parts: list[str]) -> None:
    assert [part.text for part in split(RichText(text), limit)] == parts


def test_exactly_the_limit_is_one_message_and_one_more_is_two() -> None:
    assert len(split(RichText("x" * LIMIT))) == 1
    assert [len(part.text) for part in split(RichText("x" * (LIMIT + 1)))] == [LIMIT, 1]
    assert len(split(RichText("😴" * (LIMIT // 2)))) == 1
    assert len(split(RichText("😴" * (LIMIT // 2) + "x"))) == 2


def test_a_bold_stretch_that_fits_a_message_is_not_cut() -> None:
    rich = parse_markdown("a b **" + "bold words here " * 2 + "end** c")
    parts = split(rich, 38)
    assert [part.text for part in parts] == ["a b ", "bold words here bold words here end c"]
    assert parts[1].entities == (Entity(Style.BOLD, 0, 35),)


def test_a_link_is_not_cut() -> None:
    rich = parse_markdown("some words [a link of words](https://x.org) end")
    parts = split(rich, 20)
    assert [part.text for part in parts] == ["some words ", "a link of words end"]
    assert parts[1].entities == (Entity(Style.LINK, 0, 15, "https://x.org"),)


def test_a_bold_stretch_longer_than_a_message_goes_on_bold() -> None:
    parts = split(parse_markdown("**aaaa bbbb cccc**"), 10)
    assert [(part.text, part.entities) for part in parts] == [
        ("aaaa bbbb ", (Entity(Style.BOLD, 0, 10),)),
        ("cccc", (Entity(Style.BOLD, 0, 4),)),
    ]


def test_a_code_block_is_closed_at_a_line_and_opened_again() -> None:
    parts = split(parse_markdown("```py\nline one\nline two\nline three\n```"), 20)
    assert [(part.text, part.entities) for part in parts] == [
        ("line one\nline two\n", (Entity(Style.PRE, 0, 18, "py"),)),
        ("line three", (Entity(Style.PRE, 0, 10, "py"),)),
    ]


def test_a_code_block_that_fits_goes_whole_into_the_next_message() -> None:
    parts = split(parse_markdown("Here it is:\n```\na = 1\nb = 2\n```"), 15)
    assert [part.text for part in parts] == ["Here it is:\n", "a = 1\nb = 2"]


RICH = st.lists(
    st.sampled_from(
        [
            "word ",
            "**bold words** ",
            "_it_ ",
            "`code` ",
            "[a link](https://x.org) ",
            "\n\n",
            "\n",
            "😴",
            "e\u0301",
            "🇨🇦",
            "```py\nx = 1\ny = 2\n```\n",
            "averyveryverylongwordwithoutend",
            "**" + "long " * 12 + "end** ",
        ]
    ),
    max_size=40,
).map("".join)


@given(st.one_of(RICH, st.text(alphabet="ab \n😴\u0301\u200d🏽🇨🇦*`", max_size=120)), st.integers(8, 80))
@settings(max_examples=300, deadline=None)
def test_parts_fit_and_together_are_the_whole_text(source: str, limit: int) -> None:
    rich = parse_markdown(source)
    parts = split(rich, limit)
    assert "".join(part.text for part in parts) == rich.text
    for part in parts:
        payload = part.payload()
        assert units(part.text) <= limit
        check_entities(payload["text"], payload.get("entities", []))


@given(RICH, st.integers(8, 80))
@settings(max_examples=100, deadline=None)
def test_every_character_keeps_its_style(source: str, limit: int) -> None:
    rich = parse_markdown(source)
    assert [style for part in split(rich, limit) for style in _styles(part)] == _styles(rich)


def _styles(rich: RichText) -> list[set[tuple[Style, str]]]:
    return [
        {(entity.style, entity.value) for entity in rich.entities if entity.start <= at < entity.end}
        for at in range(len(rich.text))
    ]


CHARACTERS = st.lists(
    st.sampled_from(
        ["a", " ", "é", "e\u0301", "👍🏽", "👩‍👧", "🇨🇦", "🇫", "각", "\u1112\u1161\u11ab", "नी", "☺\ufe0f", "\r\n"]
    ),
    min_size=2,
    max_size=12,
).map("".join)


@given(CHARACTERS)
@settings(max_examples=200, deadline=None)
def test_a_border_is_never_inside_a_grapheme_cluster(text: str) -> None:
    borders = {match.start() for match in regex.finditer(r"\X", text)}
    ours = {at for at in range(1, len(text)) if is_character_border(text, at)}
    assert ours <= borders
