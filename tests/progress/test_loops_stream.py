"""Reading a stream: what is prose, what is a block, and that the size of the pieces does not matter."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.progress.loops import LoopDetector, LoopTuning
from nudge.progress.loops.spoken import Part, StreamReader

CHANT = "I will write the schema to the file now. "

TEXTS = st.lists(
    st.sampled_from(
        [
            "So it is. ",
            CHANT,
            "wait ",
            "\n",
            "\n\n",
            "```",
            "~~~",
            "- one\n",
            "| a | b |\n",
            "# top\n",
            "    x\n",
            "。好",
            "`",
            "é" * 90,
        ]
    ),
    max_size=40,
).map("".join)


def parts(text: str) -> list[str]:
    return [part.value for part, _, _ in StreamReader().feed(text)]


@given(TEXTS, st.lists(st.integers(1, 12), min_size=1, max_size=20))
def test_the_same_parts_come_out_whatever_the_pieces(text: str, sizes: list[int]) -> None:
    reader, found, start = StreamReader(), [], 0
    for number in range(len(text)):
        size = sizes[number % len(sizes)]
        found += reader.feed(text[start : start + size])
        start += size
        reader = StreamReader.from_json(json.loads(json.dumps(reader.to_json())))
    assert found == list(StreamReader().feed(text))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("One two. ", ["word", "word", "sentence"]),
        ("One two\n", ["word", "word", "sentence"]),
        ("One (two!) three ", ["word", "word", "sentence", "word"]),
        ("v1.2 is out ", ["word"] * 3),
        ("- one\n- two\nDone ", ["block", "word"]),
        ("1. one\n2) two\nDone ", ["block", "word"]),
        ("| a |\n|---|\nDone ", ["block", "word"]),
        ("# top\nDone ", ["block", "word"]),
        ("> said\nDone ", ["block", "word"]),
        ("-----\nDone ", ["block", "word"]),
        ("    code\nDone ", ["block", "word"]),
        ("- one\n  more of it\nDone ", ["block", "word"]),
        ("  only indented ", ["word", "word"]),
        ("```py\nOne. two\n```\nDone ", ["block", "word"]),
        ("````\n```\nOne.\n````\nDone ", ["block", "word"]),
        ("~~~\n```\n~~~\nDone ", ["block", "word"]),
        ("```x```\nDone ", ["block", "word"]),
        ("Look:\n- one\nDone ", ["word", "sentence", "block", "word"]),
        ("我要写文件。好，", ["word", "sentence", "word"]),
    ],
)
def test_what_a_text_is_cut_into(text: str, expected: list[str]) -> None:
    assert parts(text) == expected


def test_what_is_longer_than_a_word_has_no_letters_and_is_still_told_apart() -> None:
    (_, one, letters), (_, other, _) = StreamReader().feed("A" * 300 + " " + "A" * 299 + "B ")
    assert letters == 0
    assert one != other


def test_blocks_with_other_content_are_other_blocks() -> None:
    blocks = [unit for unit in StreamReader().feed("- a\nX\n- a\nX\n- b\nX\n") if unit[0] is Part.BLOCK]
    assert blocks[0] == blocks[1] != blocks[2]


def flagged(text: str, **tuning: int) -> bool:
    return LoopDetector(tuning=LoopTuning(**tuning)).record_output(text).is_loop


def test_the_fourth_time_is_the_loop() -> None:
    assert not flagged(CHANT * 3)
    assert flagged(CHANT * 4)
    assert flagged(CHANT * 3, output_threshold=3, output_letters=90)


def test_a_loop_inside_a_piece_is_seen_although_the_piece_goes_on() -> None:
    assert flagged(CHANT * 4 + "And then at last something else is said. ")


def test_a_message_ends_the_answer() -> None:
    detector = LoopDetector()
    assert not detector.record_output(CHANT * 3).is_loop
    detector.record_message("That was it.")
    assert not detector.record_output(CHANT * 3).is_loop


def test_too_few_letters_say_nothing() -> None:
    assert not flagged("no " * 59)
    assert flagged("no " * 60)
    assert flagged("no " * 4, output_letters=8)


def test_a_run_of_one_letter_is_data() -> None:
    assert not flagged(("A" * 200 + "\n") * 50)


def test_a_script_without_spaces_is_read_too() -> None:
    assert flagged("我现在要把这个模式写进文件里面。" * 10)
