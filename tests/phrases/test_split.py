"""Sentences that hold a message and a time. It is Wednesday 2026-02-18, 2:00 PM in Toronto."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from nudge.errors import InvalidPhraseError
from nudge.instants import MINUTE, from_local, to_datetime
from nudge.phrases import split_reminder

TORONTO = ZoneInfo("America/Toronto")
NOW = from_local(datetime(2026, 2, 18, 14, 0), TORONTO)

SENTENCES = [
    # sentence, message, first time
    ("call mum friday 5pm", "call mum", "2026-02-20 17:00"),
    ("call mum friday 5pm!", "call mum", "2026-02-20 17:00"),
    ("Call Mum, tomorrow at noon.", "Call Mum", "2026-02-19 12:00"),
    ("in 20 minutes take the pizza out", "take the pizza out", "2026-02-18 14:20"),
    ("take the pizza out in 20 minutes", "take the pizza out", "2026-02-18 14:20"),
    ("pay rent by friday", "pay rent", "2026-02-20 09:00"),
    ("pay rent on the 1st", "pay rent", "2026-03-01 09:00"),
    ("taxes due april 15", "taxes", "2026-04-15 09:00"),
    ("report due at 5pm", "report", "2026-02-18 17:00"),
    ("call mum @ 5pm", "call mum", "2026-02-18 17:00"),
    ("call mum - 5pm", "call mum", "2026-02-18 17:00"),
    ("remind me to stretch every weekday at 9", "stretch", "2026-02-19 09:00"),
    ("Remind me in 20 minutes to take the Pizza out", "take the Pizza out", "2026-02-18 14:20"),
    ("please remind me tomorrow at 9 to call mum", "call mum", "2026-02-19 09:00"),
    ("remind me at 5pm that the shop closes", "the shop closes", "2026-02-18 17:00"),
    ("every day at 8pm remind me to journal", "journal", "2026-02-18 20:00"),
    ("/remind pay rent by march 1", "pay rent", "2026-03-01 09:00"),
    ("/remind@coach_bot pay rent by march 1", "pay rent", "2026-03-01 09:00"),
    ("tomorrow: call mum", "call mum", "2026-02-19 09:00"),
    ("tomorrow call mum at 5pm", "call mum", "2026-02-19 17:00"),
    ("may 5 dentist 10am", "dentist", "2026-05-05 10:00"),
    ("on the 1st pay rent", "pay rent", "2026-03-01 09:00"),
    ("every weekday at 9 stretch", "stretch", "2026-02-19 09:00"),
    ("stretch every 30 minutes", "stretch", "2026-02-18 14:30"),
    ("pills daily at 8 and 20", "pills", "2026-02-18 20:00"),
    ("gym mon, wed and fri at 18:00", "gym", "2026-02-18 18:00"),
    ("pay rent on the 1st of each month", "pay rent", "2026-03-01 09:00"),
    ("water the plants every 3 days", "water the plants", "2026-02-19 09:00"),
    ("go to bed tonight", "go to bed", "2026-02-18 20:00"),
    # What belongs to the message stays in it.
    ("meditate for 20 minutes tomorrow 9am", "meditate for 20 minutes", "2026-02-19 09:00"),
    ("read chapter 5 tomorrow 9am", "read chapter 5", "2026-02-19 09:00"),
    ("say good morning tomorrow at 9", "say good morning", "2026-02-19 09:00"),
    ("send biweekly report friday 5pm", "send biweekly report", "2026-02-20 17:00"),
    ("weekly report friday 5pm", "weekly report", "2026-02-20 17:00"),
    ("last friday report by tuesday", "last friday report", "2026-02-24 09:00"),
    ("meet at 24 sussex drive tomorrow 9am", "meet at 24 sussex drive", "2026-02-19 09:00"),
    ("march on washington 5pm", "march on washington", "2026-02-18 17:00"),
    ("call in sick at 7am", "call in sick", "2026-02-19 07:00"),
    ("fix bug #123 in 2h", "fix bug #123", "2026-02-18 16:00"),
    ("  in 5 min   two  spaces  kept ", "two  spaces  kept", "2026-02-18 14:05"),
    ("Größe prüfen: 🙂 friday 5pm", "Größe prüfen: 🙂", "2026-02-20 17:00"),
    ("book a table for 4 at 7pm", "book a table for 4", "2026-02-18 19:00"),
    ("fix the feb 30 bug at 5pm", "fix the feb 30 bug", "2026-02-18 17:00"),
    (". tomorrow 5pm", ".", "2026-02-19 17:00"),
    ("pay 12.50 at 5pm", "pay 12.50", "2026-02-18 17:00"),
    ("call 555 1234 at 5pm", "call 555 1234", "2026-02-18 17:00"),
    ("send the daily report at 5pm", "send the daily report", "2026-02-18 17:00"),
    ("rest in the sun a while at 5pm", "rest in the sun a while", "2026-02-18 17:00"),
    ("buy a midnight snack tomorrow", "buy a midnight snack", "2026-02-19 09:00"),
    ("join the 5pm call in 20 minutes", "join the 5pm call", "2026-02-18 14:20"),
    ("call mum seventy five minutes from now", "call mum", "2026-02-18 15:15"),
    ("lunch at 12 noon", "lunch", "2026-02-19 12:00"),
    ("can you remind me to call mum at 5pm?", "call mum", "2026-02-18 17:00"),
    ("Hey, could you please remind me: call mum at 5pm, thanks!", "call mum", "2026-02-18 17:00"),
    # Quotes settle what is the message.
    ('"meeting at 5pm" in 20 minutes', "meeting at 5pm", "2026-02-18 14:20"),
    ('remind me in 20 minutes to "join the meeting at 5pm"', "join the meeting at 5pm", "2026-02-18 14:20"),
    ("“prepare monday standup” at 5pm", "prepare monday standup", "2026-02-18 17:00"),
    ('say "hello" to Ann friday 5pm', 'say "hello" to Ann', "2026-02-20 17:00"),
    ('"call mum friday 5pm"', "call mum", "2026-02-20 17:00"),
    ('remind me to "call mum friday 5pm"', "call mum", "2026-02-20 17:00"),
    # After "by" another language may follow.
    ("pay rent by demain à 9h", "pay rent", "2026-02-19 09:00"),
]

REFUSED = [
    # sentence, what the refusal says
    ("", "no time"),
    ("call mum", "no time"),
    ("remind me to call mum", "When?"),
    ('"call mum"', "no time"),
    ("meditate 20 minutes", "no time"),
    ("read chapter 5", "no time"),
    ("sit in the sun", "no time"),
    ("say good morning", "no time"),
    ("finish the first", "no time"),
    ("stand by me", "no time"),
    ("do it now", "no time"),
    ("tomorrow", "About what?"),
    ("remind me at 5pm", "About what?"),
    ("meet bob at 5", "5 am or 5 pm"),
    ("meet bob at 5 friday", "5 am or 5 pm"),
    ("at 5 call bob tomorrow", "5 am or 5 pm"),
    ("tomorrow call bob at 5", "5 am or 5 pm"),
    ("wake up at 6:30", "6:30 am or 6:30 pm"),
    ("buy milk today", "add a time"),
    ("email ann on feb 30", "no 30"),
    ("pills twice a day", "What times?"),
    ("email about last friday", "past"),
    ("book a table for friday", '"for friday"'),
    ("finish the report before friday", '"before friday"'),
    ("in 20 minutes remind me of the meeting at 5pm", "two times"),
    ("monday meeting prep friday 5pm", "two times"),
    # The time at the end is not the whole of it.
    ("call mum every day except sunday", "“every day” and “sunday” are two times"),
    ("call mum every day starting monday", "two times"),
    ("call mum starting monday", '"starting monday"'),
    ("sit in the sun at 5pm", '"the sun at 5pm"'),
    ("call mum friday or saturday", "“friday” and “saturday” are two times"),
    ("trash tue 8pm and fri 8pm", "“tue 8pm” and “fri 8pm” are two times"),
    ("feed the cat every morning at 7 and every evening at 6", "two times"),
    ("gym 5pm - 6pm", "“5pm” and “6pm” are two times"),
    ("gym 5 to 6pm", '"to 6pm"'),
    ("gym every first and third monday at 9am", '"third monday at 9am"'),
    ("follow up 2 days later at 9am", '"later" does not fit'),
    ("gym 2nd tuesday", '"2nd tuesday"'),
    ("call mum 1 march 27", '"1 march 27"'),
    ("call mum two or three hours from now", '"or three hours'),
    ("call mum one hundred twenty minutes from now", '"hundred twenty'),
    ("email bob about the 5pm", '"the 5pm"'),
    ("5pm or 6pm call mum", "“6pm” and “5pm” are two times"),
    ("every day except sunday call mum", "two times"),
    ("9am to 5pm work", "two times"),
    # What it lacks is inside the message.
    ("dentist the 20th at 5pm", '"20th"'),
    ("dentist 28.2 17:00", '"28.2"'),
    ("dentist 28/02/26 17:00", '"28/02/26"'),
    ("dentist 28 02 2026 17:00", '"28 02 2026"'),
    ("backup nightly at 3am", "nightly"),
    ("dentist fri 20 5pm", '"fri 20"'),
    ("5pm 20.2 dentist", '"20.2"'),
    ("dentist feb 20 with bob at 5pm", '"feb 20"'),
    ("meeting next week with bob at 5pm", '"next week"'),
    ("meeting in 2 days with bob at 5pm", '"in 2 days"'),
    ("meeting every day with bob at 5pm", '"every day"'),
    ("meeting at 3pm with bob tomorrow", '"at 3pm"'),
    ("tomorrow meeting at 3 with bob", '"at 3"'),
    ("call mum on monday about the meeting at 5 pm", '"on monday"'),
]


@pytest.mark.parametrize(("sentence", "message", "first"), SENTENCES, ids=[row[0] for row in SENTENCES])
def test_a_sentence_is_split(sentence: str, message: str, first: str) -> None:
    said, understood = split_reminder(sentence, NOW, TORONTO)
    assert said == message
    assert to_datetime(understood.first, TORONTO).strftime("%Y-%m-%d %H:%M") == first


@pytest.mark.parametrize(("sentence", "says"), REFUSED, ids=[f"{row[0]!r}" for row in REFUSED])
def test_a_sentence_is_refused_with_three_examples_that_work(sentence: str, says: str) -> None:
    with pytest.raises(InvalidPhraseError) as refusal:
        split_reminder(sentence, NOW, TORONTO)
    assert says in refusal.value.message.partition(" as a reminder: ")[2]
    examples = str(refusal.value.next_step).split('"')[1::2]
    assert len(examples) == (2 if getattr(refusal.value, "options", ()) else 3)
    for example in examples if len(examples) == 3 else ():
        split_reminder(example, NOW, TORONTO)


def test_a_long_message_keeps_its_time() -> None:
    message = "write " + "very " * 2_000 + "much"
    said, understood = split_reminder(f"{message} in 5 min", NOW, TORONTO)
    assert (said, understood.once) == (message, NOW + 5 * MINUTE)


def test_every_kind_of_time_comes_out_of_a_sentence() -> None:
    once, rule, interval = (
        split_reminder(f"stretch {time}", NOW, TORONTO)[1] for time in ("in 2h", "every weekday at 9", "every 30 min")
    )
    assert once.once is not None
    assert rule.rrule == "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0"
    assert interval.every == 30 * MINUTE
