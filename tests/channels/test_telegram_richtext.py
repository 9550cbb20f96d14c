"""Markdown in, text with entities out."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nudge.channels.telegram.richtext import Entity, RichText, Style, parse_markdown
from nudge.testing.telegram_rules import check_entities

B, I, S, C, P, L = Style.BOLD, Style.ITALIC, Style.STRIKE, Style.CODE, Style.PRE, Style.LINK  # noqa: E741

CASES = {
    "plain text stays": ("Bed by one?", "Bed by one?", []),
    "bold": ("go to **bed** now", "go to bed now", [Entity(B, 6, 9)]),
    "bold with underscores": ("__bed__", "bed", [Entity(B, 0, 3)]),
    "italic with a star": ("*soon*", "soon", [Entity(I, 0, 4)]),
    "italic with an underscore": ("_soon_", "soon", [Entity(I, 0, 4)]),
    "strike": ("~~tea~~ water", "tea water", [Entity(S, 0, 3)]),
    "code": ("say `/ping`", "say /ping", [Entity(C, 4, 9)]),
    "code holds markers as they are": ("`**x**`", "**x**", [Entity(C, 0, 5)]),
    "code with a backtick inside": ("``a`b``", "a`b", [Entity(C, 0, 3)]),
    "italic inside bold": ("**a *b* c**", "a b c", [Entity(B, 0, 5), Entity(I, 2, 3)]),
    "bold is cut around code": ("**a `b` c**", "a b c", [Entity(B, 0, 2), Entity(C, 2, 3), Entity(B, 3, 5)]),
    "a link": ("see [the plan](https://x.org/a_b)", "see the plan", [Entity(L, 4, 12, "https://x.org/a_b")]),
    "a bold link": ("**[a](https://x.org)**", "a", [Entity(L, 0, 1, "https://x.org"), Entity(B, 0, 1)]),
    "a link to a script is text": ("[a](javascript:x)", "[a](javascript:x)", []),
    "a heading is bold": ("# Today\n1. Paper", "Today\n1. Paper", [Entity(B, 0, 5)]),
    "a hash without a space is text": ("#today", "#today", []),
    "a bare URL keeps its underscores": ("https://x.org/_a_/b", "https://x.org/_a_/b", []),
    "a bold URL": ("**https://x.org**", "https://x.org", [Entity(B, 0, 13)]),
    "multiplication is not italic": ("2 * 3 * 4", "2 * 3 * 4", []),
    "tight multiplication is not italic": ("2*3*4", "2*3*4", []),
    "snake case is not italic": ("last_user_message", "last_user_message", []),
    "a marker without its partner stays": ("**oh no", "**oh no", []),
    "an empty pair stays": ("****", "****", []),
    "a pair across paragraphs stays": ("*a\n\nb*", "*a\n\nb*", []),
    "a lone marker spoils only its own paragraph": ("*a\n\n*b*", "*a\n\nb", [Entity(I, 4, 5)]),
    "a list keeps its dashes": ("- a\n- *b*", "- a\n- b", [Entity(I, 6, 7)]),
    "an escaped marker is the character": (r"\*not\*", "*not*", []),
    "an escaped backtick opens no code": (r"\`x\`", "`x`", []),
    "angle brackets and ampersands are text": ("a < b && <b>c</b>", "a < b && <b>c</b>", []),
    "fenced code": ("x\n```py\na = 1\n```\ny", "x\na = 1\ny", [Entity(P, 2, 7, "py")]),
    "fenced code without a language": ("```\na\n```", "a", [Entity(P, 0, 1)]),
    "a fence keeps its blank lines and markers": ("```\n\n**a**\n```", "\n**a**", [Entity(P, 0, 6)]),
    "an unclosed fence is code to the end": ("```\na\nb", "a\nb", [Entity(P, 0, 3)]),
    "backticks inside a line open no fence": ("a ``` b", "a ``` b", []),
}


@pytest.mark.parametrize("source, text, entities", CASES.values(), ids=CASES.keys())
def test_markdown_is_read_as_a_person_means_it(source: str, text: str, entities: list[Entity]) -> None:
    assert parse_markdown(source) == RichText(text, tuple(entities))


def test_offsets_are_counted_in_utf_16_code_units() -> None:
    assert parse_markdown("😴 **bed** 🛏").payload() == {
        "text": "😴 bed 🛏",
        "entities": [{"type": "bold", "offset": 3, "length": 3}],
    }


def test_a_link_carries_its_address_and_a_block_its_language() -> None:
    assert parse_markdown("[a](https://x.org)").payload()["entities"][0]["url"] == "https://x.org"
    assert parse_markdown("```py\na\n```").payload()["entities"][0]["language"] == "py"


def test_plain_text_has_no_entities_key() -> None:
    assert parse_markdown("hello").payload() == {"text": "hello"}


MARKUP = st.text(alphabet="ab *_~`[](#)\n\\<&é😴", max_size=60)


@given(st.one_of(MARKUP, st.text(max_size=60)))
@settings(max_examples=300, deadline=None)
def test_whatever_is_written_gives_entities_that_telegram_accepts(source: str) -> None:
    rich = parse_markdown(source.encode("utf-8", "replace").decode())
    payload = rich.payload()
    check_entities(payload["text"], payload.get("entities", []))


@given(st.text(alphabet="abc xyz.,!?-\n😴é", max_size=80))
@settings(max_examples=100, deadline=None)
def test_text_without_markers_is_left_alone(source: str) -> None:
    assert parse_markdown(source) == RichText(source)


def test_many_lone_markers_do_not_take_quadratic_time() -> None:
    """Each kind of marker is searched for a partner once: 20,000 lone ones end in about as many steps."""
    source = "*a " * 20_000
    assert parse_markdown(source).text == source
