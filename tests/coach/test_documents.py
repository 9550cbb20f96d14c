"""Edits change the lines concerned and no other byte."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nudge.coach import documents
from nudge.coach.documents import Document, one_line, section_key, without_comments
from nudge.coach.edits import (
    append_to_section,
    remove_items,
    remove_line,
    replace_item,
    replace_prose,
    replace_section_lines,
)
from nudge.errors import UsageError

GOALS = """# Goals

## Today (revisit at morning briefing)
<!-- at most three -->
1. Write the draft
2. Call Mum

```
## Today
1. Decoy
```

## People
Some words.
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("Today", "Today (revisit at morning briefing)", id="without the remark"),
        pytest.param("today:", "Today (revisit at morning briefing)", id="in any case, with a colon"),
        pytest.param("PEOPLE", "People", id="capitals"),
        pytest.param("Tomorrow", None, id="a section that is not there"),
    ],
)
def test_a_section_is_found_by_its_name(name: str, expected: str | None) -> None:
    found = Document.parse(GOALS).section(name)
    assert (found.title if found else None) == expected


def test_a_decoy_in_a_code_fence_is_no_section_and_its_lines_are_no_items() -> None:
    document = Document.parse(GOALS)
    assert len(document.named("Today")) == 1
    assert [item.text for item in document.items("Today")] == ["Write the draft", "Call Mum"]


def test_an_item_may_span_lines_and_carry_comments() -> None:
    document = Document.parse("## A\n- one\n  two <!-- why -->\n  - nested\n- three\nlazy\n")
    assert [(i.text, i.start, i.end) for i in document.items("A")] == [("one two", 1, 4), ("three lazy", 4, 6)]


def test_subsections_belong_to_the_section_but_their_items_do_not() -> None:
    document = Document.parse("## A\n- a\n### B\n- b\n## C\n- c\n")
    section = document.section("A")
    assert section is not None
    assert (section.own_end, section.end) == (2, 4)
    assert [item.text for item in document.items("A")] == ["a"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("## A\n- x\n\n## B\n", "## A\n- x\n- new\n\n## B\n", id="after the last item"),
        pytest.param("## A\r\n* x\r\n", "## A\r\n* x\r\n* new\r\n", id="with CRLF and the list's own marker"),
        pytest.param("## A\n1) x", "## A\n1) x\n2) new", id="counting on, without a line end at the end"),
        pytest.param("## A", "## A\n- new", id="into an empty section at the end of the text"),
        pytest.param("## A\n## B\n", "## A\n- new\n\n## B\n", id="between two headings"),
        pytest.param("## A\n\n## B\n", "## A\n- new\n\n## B\n", id="under a heading with a blank line"),
        pytest.param("## A\nwords\n## B\n", "## A\nwords\n\n- new\n## B\n", id="apart from a paragraph"),
        pytest.param("## A\n```\nopen", "## A\n- new\n\n```\nopen", id="before a fence that is never closed"),
        pytest.param("## A\n<!-- open", "## A\n- new\n\n<!-- open", id="before a comment that is never closed"),
        pytest.param("# T\n", "# T\n\n## A\n- new\n", id="a missing section comes at the end"),
        pytest.param("", "## A\n- new\n", id="an empty text gets the section"),
        pytest.param("# T\n```\n", "## A\n- new\n\n# T\n```\n", id="a missing one before an open fence"),
        pytest.param("\ufeff```\n", "\ufeff## A\n- new\n\n```\n", id="after the byte order mark"),
        pytest.param("## A\n- x\n    - deep\n  more\n", "## A\n- x\n    - deep\n  more\n- new\n", id="after its nest"),
    ],
)
def test_appending(before: str, after: str) -> None:
    assert append_to_section(before, "A", "new") == after


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        pytest.param("## Today", "- ## Today", id="a heading stays inside the item"),
        pytest.param("a\n## Today\r\nb", "- a ## Today b", id="line ends become spaces"),
        pytest.param("- -", "- \\- -", id="what would be a rule is escaped"),
        pytest.param("```", "- ```", id="a fence ends with its item"),
        pytest.param("<!-- x", "- <!-- x", id="a comment ends with its item"),
        pytest.param("+ " * 30 + "x", "- \\" + "+ " * 30 + "x", id="what is nested too deeply would swallow the rest"),
    ],
)
def test_an_entry_cannot_become_anything_but_an_item(entry: str, line: str) -> None:
    text = append_to_section("## A\n\n## B\n- b\n", "A", entry)
    assert text == f"## A\n{line}\n\n## B\n- b\n"
    assert [section.title for section in Document.parse(text).sections] == ["A", "B"]


def test_a_document_does_not_grow_beyond_its_limit() -> None:
    with pytest.raises(UsageError, match="too long"):
        append_to_section("## A\n" + "- x\n" * 3999, "A", "y")


def test_many_items_are_removed_with_few_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "## A\nwords\n" + "- x\n" * 300 + "---\n"  # with every item gone the rule would underline the words
    items = Document.parse(text).items("A")
    readings: list[str] = []
    parser = documents._parser()
    monkeypatch.setattr(
        documents, "_parser", lambda: SimpleNamespace(parse=lambda t: readings.append(t) or parser.parse(t))
    )
    assert remove_items(text, items) == "## A\nwords\n\n---\n"
    assert len(readings) < 40


def test_an_empty_entry_is_refused() -> None:
    with pytest.raises(UsageError, match="empty"):
        append_to_section("## A\n", "A", " \n")
    with pytest.raises(UsageError, match="empty"):
        replace_prose("## A\n", "A", " \n")


def test_a_list_that_cannot_count_on_repeats_its_number() -> None:
    assert append_to_section("## A\n999999999. x\n", "A", "y") == "## A\n999999999. x\n999999999. y\n"


def test_a_version_of_the_text_has_a_name() -> None:
    assert Document.parse("a").digest == Document.parse("a").digest != Document.parse("b").digest


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("## A\n- x\n- y\n", "## A\n- y\n", id="the line alone"),
        pytest.param("## A\n- X \n  more\n- y\n", "## A\n- X \n  more\n- y\n", id="a longer item is another item"),
        pytest.param("## A\nwords\n- x\n---\n", "## A\nwords\n\n---\n", id="a rule does not become an underline"),
        pytest.param("## A\n```\n- x\n```\n", "## A\n```\n- x\n```\n", id="nothing inside code"),
        pytest.param("## B\n- x\n", "## B\n- x\n", id="nothing in another section"),
        pytest.param("## A\r\n- x\r\n\r\n  more\r\n- y", "## A\r\n- y", id="with its further paragraphs"),
    ],
)
def test_removing(before: str, after: str) -> None:
    assert remove_line(before, "a", "x") == after


@pytest.mark.parametrize(
    ("before", "lines", "after"),
    [
        pytest.param(
            GOALS,
            ["Rest"],
            GOALS.replace("1. Write the draft\n2. Call Mum\n", "1. Rest\n"),
            id="comments, code and other sections stay",
        ),
        pytest.param("## Today\nwords\n", ["a", "b"], "## Today\nwords\n\n1. a\n2. b\n", id="a first list"),
        pytest.param("## Today\n- a\n\n- b\n", [], "## Today\n\n", id="to nothing"),
        pytest.param("## Today\n", [], "## Today\n", id="nothing to nothing"),
        pytest.param("## Today", ["- -"], "## Today\n1. - -", id="structure stays inside the item"),
    ],
)
def test_replacing_the_list_of_a_section(before: str, lines: list[str], after: str) -> None:
    assert replace_section_lines(before, "Today", lines, numbered=True) == after


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        pytest.param("## R\nold\nlines\n\n## C\n", "New.", "## R\nNew.\n\n## C\n", id="a paragraph"),
        pytest.param("## R\n<!-- why -->\nold\n", "New.", "## R\n<!-- why -->\nNew.\n", id="after a comment"),
        pytest.param("## R\n- a\n- b\n", "# New", "## R\n\\# New\n", id="which cannot become a heading"),
        pytest.param("## R\nold", "a\n\n## b", "## R\na ## b", id="on one line"),
        pytest.param("## R\nold\n\n[m]: /m\n", "New.", "## R\nNew.\n\n[m]: /m\n", id="link definitions stay"),
    ],
)
def test_replacing_the_text_of_a_section(before: str, text: str, after: str) -> None:
    assert replace_prose(before, "R", text) == after


_PIECES = [
    "## A",
    "## B",
    "   ## I",
    "### C",
    "- x",
    "- y",
    "  more",
    "1. n",
    "words",
    "---",
    "```",
    "~~~",
    "<!--",
    "-->",
]
_PIECES += ["", "> q", "    code", "<div>", "* z", "===", "\t- t", "é\u2028ü", "\udcff raw", "-    wide", "   ## I"]
_LINES = st.lists(st.sampled_from(_PIECES), max_size=12)


@st.composite
def texts(draw: st.DrawFn) -> str:
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    text = newline.join(draw(_LINES)) + draw(st.sampled_from(["", newline]))
    return draw(st.sampled_from(["", "\ufeff"])) + text


def spliced(before: str, after: str) -> tuple[str, str]:
    """What was taken out and what was put in, at whole lines."""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return before[start : len(before) - end], after[start : len(after) - end]


@settings(max_examples=200, deadline=None)
@given(texts(), st.text(max_size=12).filter(one_line))
def test_appending_only_adds(text: str, entry: str) -> None:
    after = append_to_section(text, "A", entry)
    removed, added = spliced(text, after)
    assert removed == ""
    assert one_line(entry)[:1] in added
    old, new = Document.parse(text), Document.parse(after)
    assert len(new.items("A")) == len(old.items("A")) + 1
    assert new.outline == old.outline or (old.section("A") is None and len(new.outline) == len(old.outline) + 1)
    assert "\r\n" not in text or "\n" not in added.replace("\r\n", "")


@settings(max_examples=200, deadline=None)
@given(texts())
def test_removing_takes_the_item_and_nothing_else(text: str) -> None:
    document = Document.parse(text)
    for item in document.items("A"):
        after = remove_line(text, "A", item.text)
        victim = next(i for i in document.items("A") if i.text.casefold() == item.text.casefold())
        kept = document.slice(0, victim.start), document.slice(victim.end, len(document.lines))
        newline = document.newline
        assert after in [kept[0] + between + kept[1] for between in ("", newline, f"<!-- -->{newline}{newline}")]
        assert Document.parse(after).outline == document.outline


@settings(max_examples=200, deadline=None)
@given(texts(), st.lists(st.text(max_size=8).filter(one_line), max_size=3))
def test_replacing_leaves_every_other_section_byte_for_byte(text: str, entries: list[str]) -> None:
    document = Document.parse(text)
    section = document.section("A")
    after = replace_section_lines(text, "A", entries)
    if section is None:
        return
    assert after.startswith(document.slice(0, section.body).rstrip("\r\n"))
    assert after.endswith(document.slice(section.own_end, len(document.lines)))
    assert Document.parse(after).outline == document.outline
    assert len(Document.parse(after).items("A")) == len(entries)


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_come_back_as_they_were(data: bytes) -> None:
    assert Document.decode(data).encode() == data


def test_one_item_is_rewritten_in_its_own_style() -> None:
    text = "## A\n * x\n * y\n"
    assert replace_item(text, Document.parse(text).items("A")[1], "z") == "## A\n * x\n * z\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("<!-- a -->\n# T\n", "# T", id="a comment of its own"),
        pytest.param("- x <!-- y\n  z -->\n", "- x ", id="inside an item"),
        pytest.param("```\n<!-- a -->\n```", "```\n<!-- a -->\n```", id="kept inside code"),
        pytest.param("# T\n<!-- open\nwords", "# T\n<!-- open\nwords", id="kept where it is never closed"),
        pytest.param("a <!-- b\n\n## H\n\nc --> d", "a <!-- b\n\n## H\n\nc --> d", id="not across blocks"),
    ],
)
def test_comments_are_left_out_for_a_reader(text: str, expected: str) -> None:
    assert without_comments(text) == expected


def test_names_are_compared_by_what_they_say() -> None:
    assert section_key("This Week (revisit at weekly review)") == section_key("this  week:")
