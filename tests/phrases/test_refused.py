"""What is refused, and what the refusal says. It is Wednesday 2026-02-18, 2:00 PM in Toronto."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from nudge.errors import InvalidPhraseError, UnclearPhraseError
from nudge.instants import from_local
from nudge.phrases import understand

TORONTO = ZoneInfo("America/Toronto")
NOW = from_local(datetime(2026, 2, 18, 14, 0), TORONTO)

REFUSED = [
    # phrase, what the message says about it
    ("", "empty"),
    ("   ", "empty"),
    ("at 5", "5 am or 5 pm"),
    ("5", "5 am or 5 pm"),
    ("at 5 tomorrow", "5 am or 5 pm"),
    ("5:30", "5:30 am or 5:30 pm"),
    ("every day at 5", "5 am or 5 pm"),
    ("half past 3", "3:30 am or 3:30 pm"),
    ("at 9", "9 pm today or 9 am tomorrow"),
    ("9:30", "9:30 pm today or 9:30 am tomorrow"),
    ("friday 5", "5 am or 5 pm"),
    ("every friday 5", "5 am or 5 pm"),
    ("on the 1st of every year", "missing after"),
    ("15h", "in 15h or 15:00"),
    ("in 45", "45 minutes"),
    ("friday 25", "25"),
    ("13pm", "13pm"),
    ("3.5pm", "missing after"),
    ("0am", "0am"),
    ("25:00", "25:00"),
    ("12:60", "12:60"),
    ("at 24", "24"),
    ("1500", "1500"),
    ("3pm 4pm", "one time"),
    ("3pm or 4pm", "or"),
    ("tomorrow friday", "one day"),
    ("thursday 20 march", "a Friday, not a Thursday"),
    ("thursday 2026-02-20", "a Friday, not a Thursday"),
    ("now", "now"),
    ("asap", "asap"),
    ("soon", "when?"),
    ("later", "when?"),
    ("today", "past"),
    ("this morning", "past"),
    ("today 1pm", "past"),
    ("yesterday", "past"),
    ("yesterday at 5pm", "past"),
    ("last friday", "past"),
    ("2 hours ago", "past"),
    ("2026-02-18 13:59", "past"),
    ("2026-02-18 14:00", "past"),
    ("2025-12-31", "past"),
    ("2026-02-20T15:00:00+30:00", "offset"),
    ("feb 10", "past"),
    ("feb 18", "past"),
    ("feb 30", "no 30"),
    ("2026-02-30", "no 30"),
    ("feb 29 2026", "no 29"),
    ("2026-13-01", "13"),
    ("31/02/2027", "no 31"),
    ("02/03/2026", "2026-02-03 or 2026-03-02"),
    ("3/4", "march 4 or april 3"),
    ("march", "march"),
    ("2027", "2027"),
    ("friday midnight", "friday 11:59pm or saturday 00:00"),
    ("tonight at 3", "tonight"),
    ("tomorrow morning at 3pm", "morning"),
    ("tonight 1am", "tonight"),
    ("in 0 minutes", "0"),
    ("in -5 minutes", "-"),
    ("in 45", "45"),
    ("in 5 business days", "business"),
    ("in 500 years", "100 years"),
    ("in 999999999 years", "100 years"),
    ("3000-01-01", "100 years"),
    ("3pm EST", "est"),
    ("tomorrow 9am UTC", "utc"),
    ("this weekend", "saturday or sunday?"),
    ("morning", "morning"),
    ("twice a day", "what times?"),
    ("three times a week", "on which days"),
    ("every", "every"),
    ("every 0 minutes", "0"),
    ("every week", "which day"),
    ("weekly", "which day"),
    ("every 2 weeks", "which day"),
    ("monthly", "which day"),
    ("every month", "which day"),
    ("every year", "which day"),
    ("biweekly on friday", "every other friday"),
    ("every second tuesday", "every other tuesday"),
    ("every 5th friday of the month", "5th"),
    ("every 32nd", "32"),
    ("every year on feb 30", "no 30"),
    ("every monday at 9am and friday at 5pm", "friday"),
    ("every 30 minutes at 9", "every 30 minutes"),
    ("every weekday at 9 until friday", "until"),
    ("every 3 hours starting at 9am", "starting"),
    ("every weekday except friday", "except"),
    ("every 1000 years on march 1", "1000"),
    ("every january", "january"),
    ("every friday at midnight", "11:59pm"),
    ("every day 9", "say at 9"),
    ("every day at 09:00:30", "whole minutes"),
    ("every 1 day 2 hours", "not both"),
    ("every 999999999 hours", "100 years"),
    ("every second", "second"),
    ("friday every day", "one day"),
    ("2026-02-20T15:00Z 5pm", "one time"),
    ("5pm 2026-02-20T15:00Z", "one time"),
    ("in 2 hours at 5pm", "one time"),
    ("tomorrow in 2 hours", "one time"),
    ("tomorrow morning evening", "one time"),
    ("at 1500", "1500"),
    ("13/13", "no month 13"),
    ("13/14", "13/14"),
    ("1h30", "in 1h30 or 01:30"),
    ("at 12", "12 am or 12 pm"),
    ("0000-01-01", "no year 0"),
    ("last friday of the month", "every last friday"),
    ("call mum", "call"),
    ("3pm #1", "#"),
    ("🙂", "🙂"),
    ("mañana", "mañana"),
    ("mañana a las 10", "mañana"),
    ("domani alle 1", "domani"),
    ("freitag um 5", "freitag"),
    ("il y a 5 jours", "il"),
    ("hoje às 9h foo", "hoje"),
    ("lunes martes 10:00", "lunes"),
    ("morgen um 15 Uhr und 17 Uhr", "morgen"),
    ("marzo 10:00", "marzo"),
    ("friday the 21st", "a Saturday, not a Friday"),
    ("a" * 500, "200"),
    ("3pm " * 60, "200"),
]


def test_a_refusal_is_a_question_that_one_word_answers() -> None:
    with pytest.raises(UnclearPhraseError) as refusal:
        understand("at 5", NOW, TORONTO)
    assert (refusal.value.question, refusal.value.options) == ("5 am or 5 pm?", ("5 am", "5 pm"))
    assert str(refusal.value) == ('I can\'t read “at 5” as a time: 5 am or 5 pm? Say "5 am" or "5 pm".')


@pytest.mark.parametrize(("phrase", "says"), REFUSED, ids=[f"{p[:40]!r} is refused" for p, _ in REFUSED])
def test_a_phrase_is_refused_and_says_why(phrase: str, says: str) -> None:
    with pytest.raises(InvalidPhraseError) as refusal:
        understand(phrase, NOW, TORONTO)
    why = refusal.value.message.partition(" as a time: ")[2]
    assert says.casefold() in why.casefold()
    assert refusal.value.next_step is not None
    examples = refusal.value.next_step.split('"')[1::2]
    assert len(examples) == (2 if getattr(refusal.value, "options", ()) else 3)
    for example in examples if len(examples) == 3 else ():
        understand(example, NOW, TORONTO)
