"""The code that makes a chat the person's: once, for ten minutes, and not by guessing."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from nudge.instants import Instant
from nudge.queue.pairing import HOME, LASTS, MOST_TRIES, OPEN_CODE, Pairing, code_in, shown
from nudge.testing import memory_store
from tests.times import NOON

WRONG = "ZZZZ-ZZZZ"


@pytest.mark.parametrize(
    ("words", "is_one"),
    [
        pytest.param("K7QF-2MXD", True, id="as it is shown"),
        pytest.param(" k7qf2mxd ", True, id="in small letters without the hyphen"),
        pytest.param("/start K7QF2MXD", True, id="by the link"),
        pytest.param("my code is K7QF-2MXD", False, id="with words around it"),
        pytest.param("hello there", False, id="something else"),
        pytest.param("/start", False, id="a bare start"),
    ],
)
def test_a_message_is_a_code_or_it_is_not(words: str, is_one: bool) -> None:
    assert (code_in(words) is not None) == is_one


async def test_whoever_sends_the_code_is_the_person_and_it_works_once() -> None:
    store = memory_store()
    pairing = Pairing(store)
    code = await pairing.open(NOON)
    kept = await store.records.get(HOME, OPEN_CODE)
    assert kept is not None
    assert code not in str(asdict(kept))
    assert await pairing.offer(shown(code), "42", NOON)
    assert (await pairing.paired()).who == "42"  # type: ignore[union-attr]
    assert not await pairing.offer(shown(code), "666", NOON)
    await store.close()


@pytest.mark.parametrize(
    ("later", "accepted"), [(LASTS - 1, True), (LASTS, False), (-1, False)], ids=["in time", "too late", "before it"]
)
async def test_a_code_is_open_for_ten_minutes(later: int, accepted: bool) -> None:
    store = memory_store()
    pairing = Pairing(store)
    code = await pairing.open(NOON)
    assert await pairing.offer(code, "42", Instant(NOON + later)) is accepted
    await store.close()


async def test_guessing_closes_the_code_and_words_do_not() -> None:
    store = memory_store()
    pairing = Pairing(store)
    code = await pairing.open(NOON)
    for _ in range(100):
        assert not await pairing.offer("let me in please", "666", NOON)
    for _ in range(MOST_TRIES):
        assert await pairing.is_open(NOON)
        assert not await pairing.offer(WRONG, "666", NOON)
    assert not await pairing.is_open(NOON)
    assert not await pairing.offer(code, "42", NOON)
    assert await pairing.paired() is None
    await store.close()


async def test_without_an_open_code_nobody_is_let_in() -> None:
    store = memory_store()
    assert not await Pairing(store).offer(WRONG, "666", NOON)
    await store.close()


async def test_a_new_code_takes_the_place_of_the_last() -> None:
    store = memory_store()
    pairing = Pairing(store)
    old, new = await pairing.open(NOON), await pairing.open(NOON)
    assert not await pairing.offer(old, "666", NOON)
    assert await pairing.offer(new, "42", NOON)
    await store.close()
