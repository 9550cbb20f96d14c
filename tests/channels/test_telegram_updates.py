"""Who is heard, and what of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nudge.channels.telegram.updates import QUIET_SECONDS, Cursor, Refused, read_batch, read_update
from nudge.instants import SECOND, Instant
from nudge.queue.channel import Inbound

PERSON = 4242
ALLOWED = frozenset({PERSON})
NOW = Instant(1_900_000_000 * SECOND)
SENT = Instant(1_800_000_000 * SECOND)
PRIVATE = {"id": PERSON, "type": "private"}
START = Cursor(7)
STRANGER = {"from": {"id": 666, "is_bot": False}, "chat": {"id": 666, "type": "private"}}


def message(**changes: Any) -> dict[str, Any]:
    plain = {
        "message_id": 5,
        "from": {"id": PERSON, "is_bot": False},
        "chat": PRIVATE,
        "date": 1_800_000_000,
        "text": "hi",
    }
    return {key: value for key, value in {**plain, **changes}.items() if value is not ...}


def callback(**changes: Any) -> dict[str, Any]:
    return {"id": "cb1", "from": {"id": PERSON}, "message": message(), "data": "done:7", **changes}


def said(text: str, **more: Any) -> Inbound:
    return Inbound(SENT, text, message_id="5", id="9/1800000000", **more)


HEARD = {
    "a private message of the person": ({"message": message()}, said("hi")),
    "an edited message, at the time of the edit": (
        {"edited_message": message(edit_date=1_800_000_060)},
        Inbound(Instant(SENT + 60 * SECOND), "hi", message_id="5", edited=True, id="9/1800000060"),
    ),
    "a pressed button, at the time it is read": (
        {"callback_query": callback()},
        Inbound(NOW, "", button="done:7", message_id="5", callback_id="cb1", id="9/cb1"),
    ),
    "a forwarded message is marked": (
        {"message": message(forward_origin={"type": "user"})},
        said("hi", forwarded=True),
    ),
    "a quotation is marked in the text": (
        {"message": message(text="😀 so:\nobey\nme now", entities=[{"type": "blockquote", "offset": 7, "length": 7}])},
        said("😀 so:\n> obey\n> me\n now"),
    ),
    "a mark that is no quotation changes nothing": (
        {"message": message(text="hi", entities=[{"type": "blockquote", "offset": 7, "length": True}, 7, {}])},
        said("hi"),
    ),
    "an old client's forward is marked too": ({"message": message(forward_date=1)}, said("hi", forwarded=True)),
    "words of an inline bot are marked as somebody else's": (
        {"message": message(via_bot={"id": 3})},
        said("hi", forwarded=True),
    ),
    "a command addressed to the bot": ({"message": message(text="/status@nudge_bot now")}, said("/status now")),
    "a voice message is named": ({"message": message(text=..., voice={})}, said("[voice message]")),
    "a photo keeps its caption": ({"message": message(text=..., photo=[], caption="tea")}, said("[photo] tea")),
    "half a surrogate pair is replaced": ({"message": message(text="a\ud83d")}, said("a?")),
    "NUL is left out": ({"message": message(text="a\0b")}, said("ab")),
}

REFUSED = {
    "a stranger's message": ({"message": message(**STRANGER)}, Refused.NOT_ALLOWED),
    "a stranger's edit": ({"edited_message": message(**STRANGER, edit_date=1)}, Refused.NOT_ALLOWED),
    "a stranger's forward": ({"message": message(**STRANGER, forward_date=1)}, Refused.NOT_ALLOWED),
    "a stranger's press": (
        {"callback_query": callback(**{"from": {"id": 666}, "message": message(**STRANGER)})},
        Refused.NOT_ALLOWED,
    ),
    "a stranger's press under the person's message": (
        {"callback_query": callback(**{"from": {"id": 666}})},
        Refused.NOT_ALLOWED,
    ),
    "the person's id in another chat": ({"message": message(chat={"id": 1, "type": "private"})}, Refused.NOT_ALLOWED),
    "a bot with an allowed id": ({"message": message(**{"from": {"id": PERSON, "is_bot": True}})}, Refused.NOT_ALLOWED),
    "the person in a group": ({"message": message(chat={"id": -1, "type": "group"})}, Refused.NOT_PRIVATE),
    "the person in a supergroup": ({"message": message(chat={"id": -1, "type": "supergroup"})}, Refused.NOT_PRIVATE),
    "an edit in a group": (
        {"edited_message": message(chat={"id": -1, "type": "group"}, edit_date=1)},
        Refused.NOT_PRIVATE,
    ),
    "a group that claims the person's id": (
        {"message": message(chat={"id": PERSON, "type": "group"})},
        Refused.NOT_PRIVATE,
    ),
    "a press in a group": (
        {"callback_query": callback(message=message(chat={"id": -1, "type": "group"}))},
        Refused.NOT_PRIVATE,
    ),
    "a press under an inline message": (
        {"callback_query": {"id": "c", "from": {"id": PERSON}, "inline_message_id": "x", "data": "d"}},
        Refused.MALFORMED,
    ),
    "a channel post": ({"channel_post": message()}, Refused.KIND),
    "an edited channel post": ({"edited_channel_post": message()}, Refused.KIND),
    "a change of membership": ({"my_chat_member": {"from": {"id": PERSON}}}, Refused.KIND),
    "a reaction": ({"message_reaction": {"user": {"id": PERSON}}}, Refused.KIND),
    "a business message": ({"business_message": message()}, Refused.KIND),
    "a kind that does not exist yet": ({"hologram": message()}, Refused.KIND),
    "two kinds at once": ({"message": message(), "edited_message": message()}, Refused.MALFORMED),
    "a service message": ({"message": message(text=..., pinned_message={})}, Refused.NO_CONTENT),
    "a message that is a list": ({"message": []}, Refused.MALFORMED),
    "a sender that is missing": ({"message": message(**{"from": ...})}, Refused.MALFORMED),
    "an id that is a text": ({"message": message(**{"from": {"id": str(PERSON)}})}, Refused.MALFORMED),
    "an id that is a truth value": ({"message": message(**{"from": {"id": True}})}, Refused.MALFORMED),
    "a date that is a text": ({"message": message(date="now")}, Refused.MALFORMED),
    "a date beyond all calendars": ({"message": message(date=1 << 60)}, Refused.MALFORMED),
    "an edit without its date": ({"edited_message": message()}, Refused.MALFORMED),
    "a press without data": ({"callback_query": callback(data=None)}, Refused.MALFORMED),
}


@pytest.mark.parametrize("update, inbound", HEARD.values(), ids=HEARD.keys())
def test_the_person_is_heard(update: dict[str, Any], inbound: Inbound) -> None:
    assert read_update({"update_id": 9, **update}, ALLOWED, NOW) == inbound


@pytest.mark.parametrize("update, reason", REFUSED.values(), ids=REFUSED.keys())
def test_nobody_else_is(update: dict[str, Any], reason: Refused) -> None:
    assert read_update({"update_id": 9, **update}, ALLOWED, NOW) is reason


def test_the_update_at_hand_is_heard_only_because_the_id_is_allowed() -> None:
    assert read_update({"update_id": 9, "message": message()}, frozenset(), NOW) is Refused.NOT_ALLOWED


def test_a_batch_is_ordered_counted_and_moves_past_what_was_refused() -> None:
    batch = read_batch(
        [
            {"update_id": 12, "message": message(text="second")},
            {"update_id": 11, "message": message(text="first")},
            {"update_id": 13, "message": message(**STRANGER)},
            {"update_id": 14, "my_chat_member": {}},
            {"update_id": "15"},
            "not even an object",
        ],
        START,
        ALLOWED,
        NOW,
    )
    assert [(one.text, one.cursor) for one in batch.inbound] == [
        ("first", "7:12:1800000000"),
        ("second", "7:13:1800000000"),
    ]
    assert batch.refused == Counter({Refused.MALFORMED: 2, Refused.NOT_ALLOWED: 1, Refused.KIND: 1})
    assert batch.cursor == Cursor(7, 15, NOW // SECOND)


def test_a_batch_without_any_usable_id_moves_nothing() -> None:
    assert read_batch([{}, None, {"update_id": -1}], START, ALLOWED, NOW).cursor == START
    assert read_batch({"surprise": 1}, START, ALLOWED, NOW).cursor == START


KEPT = Cursor(7, 901, 1_800_000_000)
BELOW = {
    "the same message again": (900, {"message": message()}, True),
    "a message from long ago": (5, {"message": message(date=1_700_000_000)}, True),
    "an edit from before": (899, {"edited_message": message(edit_date=1_799_999_999)}, True),
    "a message made later: ids began again": (5, {"message": message(date=1_800_000_001)}, False),
    "an edit made later": (5, {"edited_message": message(edit_date=1_800_000_001)}, False),
    "a stranger's message made later": (5, {"message": message(**STRANGER, date=1_800_000_001)}, False),
    "the next message, whatever its date": (901, {"message": message(date=1)}, False),
    "a message far ahead": (10**9, {"message": message(date=1)}, False),
    "the next press": (901, {"callback_query": callback()}, False),
    "what does not say when it was made": (5, {"message_reaction": {}}, True),
}


@pytest.mark.parametrize("number, update, repeated", BELOW.values(), ids=BELOW.keys())
def test_an_id_below_the_cursor_is_new_only_if_it_was_made_later(
    number: int, update: dict[str, Any], repeated: bool
) -> None:
    a_day_later = Instant(SENT + 86_400 * SECOND)
    batch = read_batch([{"update_id": number, **update}], KEPT, ALLOWED, a_day_later)
    assert (batch.refused[Refused.REPEATED] == 1) is repeated
    assert (batch.cursor == KEPT) is repeated


@pytest.mark.parametrize("quiet, repeated", [(0, True), (QUIET_SECONDS - 1, True), (QUIET_SECONDS, False), (-1, False)])
def test_a_press_below_the_cursor_is_new_only_after_a_quiet_week(quiet: int, repeated: bool) -> None:
    """It has no date; the service chooses other ids after a week in which nothing came. -1: our clock was set back."""
    now = Instant((KEPT.newest + quiet) * SECOND)
    batch = read_batch([{"update_id": 5, "callback_query": callback()}], KEPT, ALLOWED, now)
    assert (batch.refused[Refused.REPEATED] == 1) is repeated
    assert batch.cursor.offset == (901 if repeated else 6)


def test_after_ids_began_again_the_cursor_follows_them() -> None:
    updates = [{"update_id": number, "message": message(date=1_800_000_000 + number)} for number in (5, 6, 7)]
    first = read_batch(updates[:2], KEPT, ALLOWED, NOW)
    assert [one.cursor for one in first.inbound] == ["7:6:1800000005", "7:7:1800000006"]
    again = read_batch(updates, first.cursor, ALLOWED, NOW)
    assert [one.cursor for one in again.inbound] == ["7:8:1800000007"]


CURSORS = {
    "the beginning": ("", Cursor(7)),
    "one of this bot": ("7:901:1800000000", KEPT),
    "one from before bots were noted": ("0:901:0", Cursor(7, 901, 0)),
    "one of another bot": ("8:901:1800000000", Cursor(7)),
    "one of another channel": ("page=3", Cursor(7)),
    "something negative": ("7:-901:0", Cursor(7)),
    "something absurd": (f"7:{'9' * 400}:0", Cursor(7)),
}


@pytest.mark.parametrize("text, cursor", CURSORS.values(), ids=CURSORS.keys())
def test_a_cursor_is_read_or_is_the_beginning(text: str, cursor: Cursor) -> None:
    assert Cursor.read(text, 7) == cursor


@given(st.integers(0, 10**19 - 1), st.integers(0, 10**19 - 1))
def test_a_cursor_is_read_as_it_was_written(offset: int, newest: int) -> None:
    assert Cursor.read(str(Cursor(7, offset, newest)), 7) == Cursor(7, offset, newest)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just(PERSON)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ["from", "chat", "id", "type", "text", "date", "message", "data", "message_id", "edit_date", "photo"]
            ),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=12,
)


@given(st.sampled_from(["message", "edited_message", "callback_query", "channel_post"]), JSON)
@settings(max_examples=300, deadline=None)
def test_no_shape_of_an_update_raises(kind: str, content: Any) -> None:
    batch = read_batch([{"update_id": 3, kind: content}], START, ALLOWED, NOW)
    assert len(batch.inbound) + batch.refused.total() == 1


@given(st.integers().filter(lambda number: number != PERSON), st.sampled_from(["private", "group", "channel"]))
@settings(max_examples=100, deadline=None)
def test_no_other_id_is_heard_in_any_chat(user: int, chat_type: str) -> None:
    intruder = {"from": {"id": user}, "chat": {"id": user, "type": chat_type}}
    for update in (
        {"message": message(**intruder)},
        {"edited_message": message(**intruder, edit_date=1)},
        {"callback_query": callback(**{"from": {"id": user}})},
    ):
        assert isinstance(read_update({"update_id": 1, **update}, ALLOWED, NOW), Refused)
