"""Headings are found where CommonMark says they are; markdown-it-py is the second opinion."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from nudge.coach.blocks import Kind, find_blocks, split_lines

_ORACLE = MarkdownIt("commonmark")


def headings(text: str) -> list[tuple[int, int, int]]:
    return [(b.start, b.end, b.level) for b in find_blocks(text) if b.kind is Kind.HEADING]


def items(text: str) -> list[int]:
    return [b.start for b in find_blocks(text) if b.kind is Kind.ITEM]


def second_opinion(text: str) -> tuple[list[tuple[int, int, int]], list[int]]:
    tokens = [token for token in _ORACLE.parse(text.removeprefix("\ufeff")) if token.map]
    return (
        [(t.map[0], t.map[1], int(t.tag[1])) for t in tokens if t.type == "heading_open" and t.level == 0 if t.map],
        [t.map[0] for t in tokens if t.type == "list_item_open" and t.level == 1 if t.map],
    )


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
        pytest.param("   - a\n    ## lazy\nmore\n---\n", [], id="a lazy line that is indented far is text"),
    ],
)
def test_headings_are_found_where_the_standard_says(text: str, expected: list[tuple[int, int, int]]) -> None:
    assert headings(text) == expected


@pytest.mark.parametrize(
    "definition",
    [
        "[a]: /url",
        "[a]:\n/url",
        "[a]: /url\n'title'",
        "[a]: /url (a title)",
        "[a]: </u r l> 'x'",
        "[a]: /u(r)l",
        "[a]: /u\\(rl",
        "[a\\]b]: /url",
        "[a]: /url 'one\ntwo'",
        "[a]: /one\n[b]: /two",
        "[a]: /url 'not closed",
        "[a]: /url 'x' y",
        "[a]: /u(rl",
        "[a]: u)rl",
        "[a]: <u",
        "[ ]: /url",
        "[a] : /url",
        "[a[b]: /url",
        "[a]: /url\n'x' y",
        '[a]: /url"x"',
    ],
)
def test_link_definitions_are_told_from_titles(definition: str) -> None:
    text = f"{definition}\n===\n"
    assert headings(text) == second_opinion(text)[0]


def test_the_title_is_read_without_its_signs() -> None:
    blocks = find_blocks("## Today (revisit) ##\n# \n# C#\nTwo\n  lines\n===\n")
    assert [b.title for b in blocks] == ["Today (revisit)", "", "C#", "Two lines"]


_PIECES = [
    "## A",
    "# ",
    "#x",
    "  ## B",
    "   ## C",
    "```",
    "~~~",
    "````",
    "```py",
    "``` `x",
    "  ```",
    "   ~~~~",
    "- a",
    "-",
    "- ",
    "* b",
    "1. x",
    "2. y",
    "10) z",
    "  - n",
    "   text",
    "text",
    "===",
    "---",
    "- - -",
    "***",
    "> q",
    ">",
    "> ```",
    "> - x",
    ">## h",
    "- ```",
    "- ## h",
    "- > ## x",
    "<!--",
    "-->",
    "<!-- x -->",
    "<!-- x --> ## y",
    "<div>",
    "</div>",
    "<b>",
    "<pre>",
    "</pre>",
    "<?php",
    "?>",
    "",
    "",
    "  ",
    "= =",
    "==",
    "\\# no",
    "## x ##",
    "## x #\\#",
    "> text",
    "1.",
    "1)  z",
    "+ ",
    "<!X y>",
    "<![CDATA[",
    "]]>",
    "<x-y a=1>",
    "text\x0cmore",
    "\x0c",
    "\xa0",
    "\u2028x",
    "#\xa0x",
    "-\xa0x",
    "  ===",
    "- ---",
    "1234567890. x",
    "\ufeff# x",
]
_INDENTED = [
    "## A",
    "# ",
    "#x",
    "  ## B",
    "    ## C",
    "\t## D",
    "  \t## E",
    "```",
    "~~~",
    "  ~~~~",
    "    ```",
    "\t~~~",
    "text",
    "    text",
    "===",
    "    ===",
    "---",
    "***",
    "",
    "  ",
    "\t",
    "<!--",
    "-->",
    "    <!--",
    "<div>",
    "    </div>",
    "      deep",
    "\t\ttab",
]


def _text(pieces: list[str]) -> st.SearchStrategy[str]:
    return st.builds(
        lambda lines, newline, last: newline.join(lines) + (newline if last else ""),
        st.lists(st.sampled_from(pieces), max_size=9),
        st.sampled_from(["\n", "\r\n", "\r"]),
        st.booleans(),
    )


@settings(max_examples=600, deadline=None)
@given(st.one_of(_text(_PIECES), _text(_INDENTED)))
@example("- ```\n  ## In\n## Out")
@example("1. x\n===\n## A\n")
def test_both_readers_agree(text: str) -> None:
    # Deep indents and containers are not mixed: there markdown-it ends lazy paragraphs that the standard continues.
    assert (headings(text), items(text)) == second_opinion(text)


@settings(deadline=None)
@given(st.text(st.sampled_from("#-=`~<>!/ \t\n\r\x0b\x0c\u0085\u2028ab1.)[]:\"'\\*_\ufeff"), max_size=60))
def test_any_text_is_cut_into_blocks_that_do_not_overlap(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    covered = [number for block in find_blocks(text) for number in range(block.start, block.end)]
    assert len(covered) == len(set(covered))
    outside = [line for number, line in enumerate(lines) if number not in covered]
    assert all(not line.strip(" \t\r\n\ufeff") for line in outside)
