from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nudge.attention.restraint import Requests, Restraint, RestraintKind, recognise
from nudge.instants import HOUR, MINUTE, Instant, parse_rfc3339

NOW = parse_rfc3339("2026-02-20T21:00:00Z")
BUSY, ALONE, AGAIN = RestraintKind.BUSY, RestraintKind.LEFT_ALONE, RestraintKind.ASK_AGAIN

ASKED = {
    "busy": (BUSY, 120),
    "Busy!": (BUSY, 120),
    "I'm busy": (BUSY, 120),
    "I’m busy": (BUSY, 120),
    "im busy rn": (BUSY, 120),
    "I am busy": (BUSY, 120),
    "focusing": (BUSY, 120),
    "I am focusing": (BUSY, 120),
    "focussing right now": (BUSY, 120),
    "I'm focusing on the paper": (BUSY, 120),
    "sorry, super busy right now": (BUSY, 120),
    "kinda busy atm": (BUSY, 120),
    "not now, busy": (BUSY, 120),
    "hey I'm a bit busy": (BUSY, 120),
    "too busy to talk": (BUSY, 120),
    "busy with work": (BUSY, 120),
    "busy today": (BUSY, 120),
    "busy all day": (BUSY, 120),
    "I'm busy until 5": (BUSY, 120),
    "I would love to but I'm busy": (BUSY, 120),
    "Not hungry. Focusing.": (BUSY, 120),
    "busy - talk later": (BUSY, 120),
    "need to focus": (BUSY, 120),
    "I'm in focus mode": (BUSY, 120),
    "busy for 30 min": (BUSY, 30),
    "busy for the next hour": (BUSY, 60),
    "I'll be busy for an hour": (BUSY, 60),
    "leave me alone": (ALONE, None),
    "LEAVE ME ALONE!!": (ALONE, None),
    "please just leave me alone": (ALONE, None),
    "can you leave me alone?": (ALONE, None),
    "Why won't you leave me alone": (ALONE, None),
    "I'm busy, leave me alone": (ALONE, None),
    "ok leave me alone until tomorrow": (ALONE, None),
    "stop messaging me": (ALONE, None),
    "leave me alone at least until noon": (ALONE, None),
    "leave me alone for 2 hours": (ALONE, 120),
    "30 more min": (AGAIN, 30),
    "30 more min.": (AGAIN, 30),
    "30m more": (AGAIN, 30),
    "give me 20 more minutes": (AGAIN, 20),
    "give me 20 minutes": (AGAIN, 20),
    "gimme an hour": (AGAIN, 60),
    "another 15 minutes": (AGAIN, 15),
    "another half-hour": (AGAIN, 30),
    "half an hour more": (AGAIN, 30),
    "just one more hour please": (AGAIN, 60),
    "five more minutes": (AGAIN, 5),
    "forty-five more minutes": (AGAIN, 45),
    "1.5 more hours": (AGAIN, 90),
    "an hour and a half more": (AGAIN, 90),
    "I need 30 more minutes to finish this": (AGAIN, 30),
    "can I have 5 more min?": (AGAIN, 5),
    "ask me again in 45 minutes": (AGAIN, 45),
    "check back in 20 min": (AGAIN, 20),
    "in 30 min": (AGAIN, 30),
    "snooze for 10 min": (AGAIN, 10),
    "busy, 30 more min": (AGAIN, 30),
    "24 more hours": (AGAIN, 1440),
    "[photo] leave me alone": (ALONE, None),
}

WORDS = ["please", "just", "busy", "so", "can't", "30", "more", "min", "a", "half", "and", "leave", "me", "?", ","]

NOT_ASKED = [
    "",
    "???",
    "hello",
    "business is slow",
    "the busyness of it all",
    "busy-ness",
    "busybody",
    "I am not that busy",
    "I'm never busy",
    "isn't it a busy day",
    "busy?",
    "are you busy?",
    "Mary is busy",
    "he is too busy to come",
    "the line was busy",
    "busy day today",
    "what a busy week",
    "busy tomorrow",
    "I'm busy on Fridays",
    "I'll be busy later",
    "I was busy yesterday",
    "sorry, I've been busy",
    "if I'm busy just wait",
    "keep me busy",
    "I'm not focusing",
    "having trouble focusing",
    "focusing is hard",
    "what should I be focusing on?",
    "don't leave me alone",
    "never leave me alone",
    "she won't leave me alone",
    "I told him to leave me alone",
    "leave him alone",
    "stop messaging me about sleep",
    "leave me alone about the gym",
    "stop texting me at work",
    "stop pinging me this often",
    "30 more emails",
    "30 more pages",
    "one more episode",
    "more minutes",
    "0 more min",
    "25 more hours",
    "5000 more minutes",
    "more @1800000000",
    "it took 30 more minutes than yesterday",
    "I ran for 20 more minutes",
    "I slept an hour more",
    "the meeting is in 30 min",
    "remind me in 30 min to call mom",
    "30 min",
]


@pytest.mark.parametrize(("text", "expected"), ASKED.items(), ids=ASKED)
def test_what_asks_for_restraint(text: str, expected: tuple[RestraintKind, int | None]) -> None:
    kind, minutes = expected
    assert recognise(text) == Restraint(kind, None if minutes is None else minutes * MINUTE)


@pytest.mark.parametrize("text", NOT_ASKED)
def test_what_does_not(text: str) -> None:
    assert recognise(text) is None


@settings(deadline=None)
@given(st.text(max_size=300) | st.lists(st.sampled_from(WORDS)).map(" ".join))
def test_no_text_breaks_it_and_a_duration_is_at_most_a_day(text: str) -> None:
    found = recognise(text)
    assert found is None or found.duration is None or 0 < found.duration <= 24 * HOUR


def test_a_long_message_is_read_at_its_beginning() -> None:
    assert recognise("x " * 600 + ". leave me alone") is None
    assert recognise("leave me alone. " + "x " * 6000) is not None


def later(minutes: int) -> Instant:
    return Instant(NOW + minutes * MINUTE)


QUIET, FREE = Requests(quiet_until=later(500)), Requests()


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        pytest.param(FREE, "busy", Requests(busy_until=later(120)), id="busy is for two hours"),
        pytest.param(
            Requests(busy_until=later(60)),
            "ok thanks",
            Requests(busy_until=later(60)),
            id="an answer does not end busy",
        ),
        pytest.param(
            Requests(busy_until=later(60)), "busy for 10 min", Requests(busy_until=later(10)), id="busy for less"
        ),
        pytest.param(FREE, "leave me alone", Requests(left_alone=True), id="left alone"),
        pytest.param(Requests(left_alone=True), "hi again", FREE, id="any message ends it"),
        pytest.param(Requests(left_alone=True), "leave me alone!", Requests(left_alone=True), id="unless it says so"),
        pytest.param(
            FREE, "leave me alone for 2 hours", Requests(quiet_until=later(120)), id="left alone for a time is quiet"
        ),
        pytest.param(QUIET, "leave me alone for 2 hours", QUIET, id="a longer quiet stays"),
        pytest.param(FREE, "30 more min", Requests(delayed_until=later(30)), id="a delay"),
        pytest.param(
            Requests(delayed_until=later(30)), "5 more min", Requests(delayed_until=later(5)), id="another delay"
        ),
        pytest.param(Requests(delayed_until=later(30)), "hm", Requests(delayed_until=later(30)), id="no other delay"),
    ],
)
def test_what_a_message_asks_for(before: Requests, text: str, after: Requests) -> None:
    assert before.after(recognise(text), NOW) == after


def test_a_delay_that_is_over_when_it_is_heard_is_none() -> None:
    assert FREE.after(recognise("30 more min"), NOW, now=later(30)) == FREE


@pytest.mark.parametrize(
    ("before", "after", "lifts"),
    [
        pytest.param(FREE, QUIET, False, id="quiet begins"),
        pytest.param(QUIET, QUIET.quiet(None), True, id="quiet is lifted"),
        pytest.param(QUIET, QUIET.quiet(later(499)), True, id="quiet is shortened"),
        pytest.param(QUIET, QUIET.quieter(later(499)), False, id="a model does not shorten it"),
        pytest.param(QUIET, QUIET.quieter(later(501)), False, id="but may lengthen it"),
        pytest.param(Requests(left_alone=True), FREE, True, id="no longer left alone"),
        pytest.param(Requests(busy_until=later(9)), Requests(busy_until=later(8)), True, id="busy for less"),
        pytest.param(Requests(delayed_until=later(9)), FREE, False, id="a delay holds nothing back"),
    ],
)
def test_what_lets_messages_out_sooner(before: Requests, after: Requests, lifts: bool) -> None:
    assert after.lifts(before) is lifts


def test_lifting_quiet_lifts_everything_but_a_delay() -> None:
    everything = Requests(later(1), later(2), True, later(3))
    assert everything.quiet(None) == Requests(delayed_until=later(3))


@pytest.mark.parametrize("text", ["not busy", "I'm not busy", "no longer busy", "I'm back", "the meeting is over"])
def test_back_is_the_end_of_every_restraint(text: str) -> None:
    assert recognise(text) == Restraint(RestraintKind.BACK, 0)
    assert Requests(quiet_until=Instant(NOW + HOUR), busy_until=Instant(NOW + HOUR)).after(recognise(text), NOW) == FREE
