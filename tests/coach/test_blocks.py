"""Headings are found where CommonMark says they are, and a long text is refused before it is read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nudge.coach.documents import LONGEST, MOST_LINES, Kind, find_blocks, split_lines, too_long
from nudge.errors import UsageError


def headings(text: str) -> list[tuple[int, int, int]]:
    return [(b.start, b.end, b.level) for b in find_blocks(text) if b.kind is Kind.HEADING]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("## Today\n", [(0, 1, 2)], id="an ATX heading"),
        pytest.param("## Today", [(0, 1, 2)], id="without a line end at the end of the text"),
        pytest.param("\ufeff# Goals\n", [(0, 1, 1)], id="after a byte order mark"),
        pytest.param("# A\r\n\r\n## B\r\n", [(0, 1, 1), (2, 3, 2)], id="with CRLF"),
        pytest.param("# A\r## B\r", [(0, 1, 1), (1, 2, 2)], id="with CR alone"),
        pytest.param("   ## Three\n    ## Four\n", [(0, 1, 2)], id="four spaces make it code"),
        pytest.param("#Today\n####### Seven\n\\# Escaped\n", [], id="no space, seven signs, or escaped"),
        pytest.param("```\n## Decoy\n```\n## Real\n", [(3, 4, 2)], id="not inside a backtick fence"),
        pytest.param("~~~~\n## Decoy\n~~~\n## Decoy\n~~~~~\n## Real\n", [(5, 6, 2)], id="a fence needs its length"),
        pytest.param("```\n## Decoy\n~~~\n## Decoy\n", [], id="a fence that is never closed runs to the end"),
        pytest.param("``` a`b\n## Real\n", [(1, 2, 2)], id="backticks in the info text make it no fence"),
        pytest.param("<!-- note\n## Decoy\n-->\n## Real\n", [(3, 4, 2)], id="not inside a comment"),
        pytest.param("<!-- a --> b\n## Real\n", [(1, 2, 2)], id="a comment closed on its line"),
        pytest.param("<div>\n## Decoy\n\n## Real\n", [(3, 4, 2)], id="an HTML block ends at a blank line"),
        pytest.param("<pre>\n\n## Decoy\n</pre>\n## Real\n", [(4, 5, 2)], id="preformatted HTML ends at its tag"),
        pytest.param("Title\n===\nTwo\nlines\n---\n", [(0, 2, 1), (2, 5, 2)], id="setext headings, of several lines"),
        pytest.param("\n---\n- a\n---\n> q\n---\n", [], id="rules are not underlines"),
        pytest.param("- a\n  ## In\n## Out\n", [(2, 3, 2)], id="a heading inside a list item is not a section"),
        pytest.param("- ```\n## Out\n", [(1, 2, 2)], id="a fence ends with the item that holds it"),
        pytest.param("> ```\n## Out\n", [(1, 2, 2)], id="a fence ends with the quotation that holds it"),
        pytest.param("> ## In\n## Out\n", [(1, 2, 2)], id="a quoted heading is not a section"),
        pytest.param("- a\nlazy\n  ## In\n", [], id="a lazy line keeps the item open"),
        pytest.param("- a\n\nover\n  ## Out\n", [(3, 4, 2)], id="text after a blank line closes the item"),
        pytest.param("-\n\n  ## Out\n", [(2, 3, 2)], id="an item that is empty for two lines is over"),
        pytest.param("[a]: /url\n===\n", [], id="a link definition cannot be underlined"),
        pytest.param("[a]: /url 'x\ny'\n[b]: <u v>\nTitle\n===\n", [(3, 5, 1)], id="definitions, then a heading"),
        pytest.param("[a]: /url x\n===\n", [(0, 2, 1)], id="what only looks like a definition"),
    ],
)
def test_headings_are_found_where_the_standard_says(text: str, expected: list[tuple[int, int, int]]) -> None:
    assert headings(text) == expected


def test_the_title_is_read_without_its_signs() -> None:
    blocks = find_blocks("## Today (revisit) ##\n# \n# C#\nTwo\n  lines\n===\n")
    assert [b.title for b in blocks] == ["Today (revisit)", "", "C#", "Two lines"]


def test_a_definition_is_a_block_of_its_own() -> None:
    blocks = find_blocks("[mary]: https://example.org\nSee [mary].\n")
    assert [(block.kind, block.start, block.end) for block in blocks] == [
        (Kind.DEFINITION, 0, 1),
        (Kind.PARAGRAPH, 1, 2),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("x" * LONGEST, None, id="at the limit of characters"),
        pytest.param("x" * (LONGEST + 1), "131,073 characters", id="a character more"),
        pytest.param("x\r\n" * MOST_LINES, None, id="at the limit of lines"),
        pytest.param("x\r\n" * (MOST_LINES + 1), "4,001 lines", id="a line more"),
        pytest.param("\r" * (MOST_LINES + 1), "4,001 lines", id="lines that end in CR"),
        pytest.param("- a line of a list\n" * 700_000, "13,300,000 characters", id="twelve megabytes"),
    ],
)
def test_a_long_text_is_refused_before_it_is_read(text: str, reason: str | None) -> None:
    if reason is None:
        assert too_long(text) is None
        assert find_blocks(text)
    else:
        assert reason in (too_long(text) or "")
        with pytest.raises(UsageError, match=f"too long for a document: it has {reason}"):
            find_blocks(text)


@settings(deadline=None)
@given(st.text(st.sampled_from("#-=`~<>!/ \t\n\r\x0b\x0c\u0085\u2028ab1.)[]:\"'\\*_\ufeff"), max_size=60))
def test_any_text_is_cut_into_blocks_that_do_not_overlap(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    covered = [number for block in find_blocks(text) for number in range(block.start, block.end)]
    assert len(covered) == len(set(covered))
    outside = [line for number, line in enumerate(lines) if number not in covered]
    assert all(not line.strip(" \t\r\n\ufeff") for line in outside)
