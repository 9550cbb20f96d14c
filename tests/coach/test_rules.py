"""The coach without a model: the same facts, the same answers, and never a silence where something is due."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nudge.attention.bedtime import BedtimeTone
from nudge.coach.answers import HELP, pick
from nudge.coach.briefings import Briefing
from nudge.coach.conversation import parse_reply
from nudge.coach.facts import CoachFacts, CoachState, DueReminder, Purpose, Turn
from nudge.coach.goals import parse_goals
from nudge.coach.judgment import Action, parse_decision
from nudge.coach.memory import parse_memory, recap
from nudge.coach.rules import BEDTIME, answer
from nudge.instants import DAY, HOUR, MINUTE, Instant, as_instant

GOALS = parse_goals(
    "## North Star\n- Do good work\n## This Quarter\n1. Write daily\n## This Week\n1. Finish the draft\n"
    "## Today\n1. Outline section 3\n2. Reply to Mary\n"
)


def at(day: int, hour: int, minute: int = 0) -> Instant:
    return as_instant(datetime(2026, 2, day, hour, minute, tzinfo=ZoneInfo("America/Toronto")))


def facts(now: Instant, **changes: Any) -> CoachFacts:
    return CoachFacts(now=now, purpose=Purpose.HEARTBEAT, **{"goals": GOALS, **changes})


def heartbeat(now: Instant, **changes: Any) -> dict[str, Any]:
    data = answer(facts(now, **changes))
    assert isinstance(data, dict)
    decision = parse_decision(data, now)
    assert decision.action is not Action.SILENCE
    assert decision.refused == ()
    return data


def remembering(text: str, day: date = date(2026, 2, 18)) -> dict[str, Any]:
    return {"memory": parse_memory(text, day)}


OVERDUE = remembering("## Active Commitments\n- Pay rent (due: 2026-02-10)\n")
REMINDER = DueReminder("r1", "Reply to Mary", at(18, 13, 50))


def test_nothing_to_say_is_silence() -> None:
    assert heartbeat(at(18, 12)) == {"action": "heartbeat_ok", "message": "", "state_updates": {}}


def test_a_due_reminder_is_passed_on() -> None:
    assert heartbeat(at(18, 14), due_reminders=(REMINDER,))["message"] == "Reminder: Reply to Mary"
    two = (REMINDER, DueReminder("r2", "Call", at(18, 14)))
    assert heartbeat(at(18, 14), due_reminders=two)["message"] == "Reminders:\n• Reply to Mary\n• Call"


@pytest.mark.parametrize(
    ("said_at", "speaks"),
    [
        pytest.param(at(18, 13, 55), False, id="since it is due"),
        pytest.param(at(18, 12), True, id="before it was due"),
    ],
)
def test_a_reminder_that_was_passed_on_is_not_repeated(said_at: Instant, speaks: bool) -> None:
    turns = (Turn("assistant", "Reminder: Reply to Mary", said_at),)
    assert (heartbeat(at(18, 14), due_reminders=(REMINDER,), turns=turns)["action"] == "message") is speaks


@pytest.mark.parametrize(
    "state",
    [
        pytest.param(CoachState(quiet_until=at(18, 15)), id="quiet mode"),
        pytest.param(CoachState(last_user_message=at(18, 13, 56)), id="a conversation"),
    ],
)
def test_no_rule_breaks_a_silence(state: CoachState) -> None:
    assert heartbeat(at(18, 14), due_reminders=(REMINDER,), state=state, **OVERDUE)["action"] == "heartbeat_ok"


def test_quiet_hours_are_quiet() -> None:
    assert heartbeat(at(18, 9, 59), due_reminders=(REMINDER,))["action"] == "heartbeat_ok"
    assert heartbeat(at(18, 10), due_reminders=(REMINDER,))["action"] == "message"


@pytest.mark.parametrize(
    ("now", "sent", "tone"),
    [
        pytest.param(at(19, 0), 0, BedtimeTone.CASUAL, id="casual an hour before"),
        pytest.param(at(19, 1), 1, BedtimeTone.DIRECT, id="direct at the bedtime"),
        pytest.param(at(19, 1, 40), 2, BedtimeTone.SERIOUS, id="serious after it"),
        pytest.param(at(19, 1, 45), 3, None, id="never a fourth"),
    ],
)
def test_bedtime_escalates_while_the_person_is_up(now: Instant, sent: int, tone: BedtimeTone | None) -> None:
    last = Instant(now - 40 * MINUTE) if sent else None
    state = CoachState(last_activity=Instant(now - 10 * MINUTE), bedtime_nudges=sent, last_bedtime_nudge=last)
    data = heartbeat(now, state=state)
    if tone is None:
        assert data["action"] == "heartbeat_ok"
        return
    assert data["message"] in [text.format(bedtime="01:00") for text in BEDTIME[tone]]
    assert data["state_updates"] == {"bedtime_nudge_sent": True}


def test_nobody_who_is_away_is_sent_to_bed() -> None:
    assert heartbeat(at(19, 0), state=CoachState(last_activity=at(18, 20)))["action"] == "heartbeat_ok"


def test_who_does_not_want_to_hear_about_sleep_does_not() -> None:
    state = CoachState(last_activity=at(18, 23, 55))
    memory = remembering("## Preferences\n- Don't message about sleep\n")
    assert heartbeat(at(19, 0), state=state, **memory)["action"] == "heartbeat_ok"


def test_an_overdue_commitment_is_asked_about_once_a_day() -> None:
    message = heartbeat(at(18, 12), **OVERDUE)["message"]
    assert "Pay rent" in message
    assert "2026-02-10" in message
    said = (Turn("assistant", message, at(18, 12)),)
    assert heartbeat(at(18, 13), turns=said, **OVERDUE)["action"] == "heartbeat_ok"
    assert heartbeat(at(19, 12, 45), turns=said, **OVERDUE)["action"] == "message"


def test_the_first_task_is_asked_about_in_the_afternoon() -> None:
    assert heartbeat(at(18, 14, 59))["action"] == "heartbeat_ok"
    assert "Outline section 3" in heartbeat(at(18, 15))["message"]
    talked = (Turn("user", "Working on outline section 3 now", at(18, 13)),)
    assert heartbeat(at(18, 15), turns=talked)["action"] == "heartbeat_ok"


def test_enough_is_enough() -> None:
    assert heartbeat(at(18, 15), state=CoachState(proactive_today=4), **OVERDUE)["action"] == "heartbeat_ok"
    assert heartbeat(at(18, 15), state=CoachState(review_in_progress=True), **OVERDUE)["action"] == "heartbeat_ok"


def briefing(kind: Briefing, now: Instant, **changes: Any) -> str:
    text = answer(replace(facts(now, **changes), purpose=Purpose.BRIEFING, briefing=kind))
    assert isinstance(text, str)
    return text


def test_the_morning_names_todays_tasks_and_what_is_due() -> None:
    memory = remembering("## Active Commitments\n- Call the bank (due: 2026-02-18)\n- Pay rent (due: 2026-02-10)\n")
    text = briefing(Briefing.MORNING, at(18, 10), **memory)
    assert "Outline section 3" in text.splitlines()[0]
    assert "Then, if there's time: Reply to Mary." in text
    assert "Due today: Call the bank." in text
    assert "Still open: Pay rent." in text


def test_a_morning_without_a_list_asks_for_one() -> None:
    text = briefing(Briefing.MORNING, at(18, 10), goals=parse_goals("## This Week\n1. Finish the draft\n"))
    assert text.splitlines()[0].count("?") + text.count("Tell me") >= 1
    assert "From this week's list: Finish the draft." in text


def test_the_bedtime_briefing_is_empty_for_somebody_who_is_away() -> None:
    assert briefing(Briefing.BEDTIME, at(19, 0)) == ""
    assert briefing(Briefing.BEDTIME, at(19, 0), state=CoachState(last_activity=at(18, 23, 1))) != ""


def test_the_month_looks_at_the_quarter() -> None:
    assert "Write daily" in briefing(Briefing.MONTHLY, at(1, 19))
    assert briefing(Briefing.MONTHLY, at(1, 19), goals=parse_goals("")).endswith("?")


def talk(text: str, **changes: Any) -> tuple[str, list[dict[str, Any]]]:
    now = at(18, 14)
    data = answer(replace(facts(now, **changes), purpose=Purpose.CONVERSATION, text=text))
    assert isinstance(data, dict)
    reply = parse_reply(data, now, facts(now).targets)
    assert reply.well_formed
    assert not reply.refused
    return data["reply"], data["actions"]


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        pytest.param(
            "Don’t message me about the gym.",
            [{"action": "update_memory", "section": "Preferences", "add": "Don't message about the gym"}],
            id="feedback",
        ),
        pytest.param(
            "stop asking how I feel",
            [{"action": "update_memory", "section": "Preferences", "add": "Don't ask how I feel"}],
            id="feedback in other words",
        ),
        pytest.param(
            "Stop messaging me about sleep!",
            [{"action": "update_memory", "section": "Preferences", "add": "Don't message about sleep"}],
            id="about one thing, not about all",
        ),
        pytest.param(
            "stop reminding me about the pills",
            [{"action": "update_memory", "section": "Preferences", "add": "Don't bring up the pills"}],
            id="what was a reminder's",
        ),
        pytest.param(
            "remember that I work best in the evening",
            [{"action": "update_memory", "section": "Preferences", "add": "I work best in the evening"}],
            id="a fact",
        ),
        pytest.param(
            "I promised to send the slides by Friday",
            [{"action": "update_memory", "section": "Active Commitments", "add": "Send the slides (due: Friday)"}],
            id="a promise",
        ),
        pytest.param(
            "remind me to call Mum at 5pm",
            [{"action": "add_reminder", "text": "call Mum", "when": "2026-02-18T17:00:00"}],
            id="a reminder",
        ),
        pytest.param(
            "Remind me every weekday at 9 to stretch",
            [{"action": "add_reminder", "text": "stretch", "when": "every weekday at 9:00 AM"}],
            id="a reminder that repeats",
        ),
        pytest.param(
            "Can you remind me to call Mum at 5pm?",
            [{"action": "add_reminder", "text": "call Mum", "when": "2026-02-18T17:00:00"}],
            id="a reminder as a question",
        ),
        pytest.param(
            "at 5pm remind me to call Mum",
            [{"action": "add_reminder", "text": "call Mum", "when": "2026-02-18T17:00:00"}],
            id="a reminder with its time first",
        ),
        pytest.param(
            "Set my bedtime to 00:30",
            [{"action": "update_goals", "section": "Schedule Targets", "lines": ["bedtime_target: 00:30"]}],
            id="a target",
        ),
        pytest.param(
            "set my bedtime to 11:30pm",
            [{"action": "update_goals", "section": "Schedule Targets", "lines": ["bedtime_target: 23:30"]}],
            id="a target by twelve hours",
        ),
        pytest.param(
            "my wake time is 12 am",
            [{"action": "update_goals", "section": "Schedule Targets", "lines": ["wake_target: 00:00"]}],
            id="midnight by twelve hours",
        ),
        pytest.param(
            "remove reply from today",
            [{"action": "update_goals", "section": "Today", "lines": ["Outline section 3"]}],
            id="a task is dropped",
        ),
        pytest.param("remove the gym from today", [], id="one that is not there is not"),
        pytest.param(
            "quiet hours 22:00-07:00",
            [{"action": "update_goals", "section": "Schedule Targets", "lines": ["quiet_hours: 22:00-07:00"]}],
            id="quiet hours are a target",
        ),
        pytest.param(
            "change my timezone to Europe/Berlin",
            [{"action": "update_goals", "section": "Schedule Targets", "lines": ["timezone: Europe/Berlin"]}],
            id="the zone",
        ),
        pytest.param(
            "add buy milk to today",
            [
                {
                    "action": "update_goals",
                    "section": "Today",
                    "lines": ["Outline section 3", "Reply to Mary", "Buy milk"],
                }
            ],
            id="a task",
        ),
        pytest.param(
            "done!",
            [{"action": "update_goals", "section": "Today", "lines": ["[x] Outline section 3", "Reply to Mary"]}],
            id="the first one is done",
        ),
        pytest.param(
            "done with reply to mary",
            [{"action": "update_goals", "section": "Today", "lines": ["Outline section 3", "[x] Reply to Mary"]}],
            id="a named one is done",
        ),
        pytest.param(
            "Done 2",
            [{"action": "update_goals", "section": "Today", "lines": ["Outline section 3", "[x] Reply to Mary"]}],
            id="a numbered one is done",
        ),
    ],
)
def test_commands_become_actions(text: str, actions: list[dict[str, Any]]) -> None:
    assert talk(text)[1] == actions


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        pytest.param("help", HELP, id="help"),
        pytest.param("What's next?", "Outline section 3. What's the first small piece of it?", id="what's next"),
        pytest.param("today", "Today: 1. Outline section 3; 2. Reply to Mary", id="today"),
        pytest.param("this week", "This week: 1. Finish the draft", id="this week"),
        pytest.param(
            "my goals",
            "North star: Do good work\nThis quarter: 1. Write daily\nThis week: 1. Finish the draft\n"
            "Today: 1. Outline section 3; 2. Reply to Mary",
            id="goals",
        ),
        pytest.param("commitments", "No open commitments.", id="commitments"),
        pytest.param(
            "what are my reminders?", "You have no reminders. “remind me to … at …” sets one.", id="reminders"
        ),
        pytest.param("remind me in an hour", "Sure. I'll check back in 1h.", id="nothing to be reminded of"),
        pytest.param(
            "busy", "Okay, I'll leave you to it until 4:00 PM. What you set for a time still comes.", id="busy"
        ),
        pytest.param(
            "leave me alone",
            "Okay. I'll be quiet until you write again: no messages, no briefings, and your reminders wait. "
            "Any word from you ends it. After a day I'll ask once whether to go on.",
            id="leave me alone",
        ),
        pytest.param("30 more min", "Sure. I'll check back in 30m.", id="a delay"),
    ],
)
def test_questions_are_answered(text: str, reply: str) -> None:
    assert talk(text) == (reply, [])


@pytest.mark.parametrize(
    ("text", "changes", "reply"),
    [
        pytest.param("next?", {"due_reminders": (REMINDER,)}, "Due now: Reply to Mary", id="what is due comes first"),
        pytest.param(
            "what's next",
            {"goals": parse_goals("## This Week\n1. Finish the draft\n")},
            "Today's list is clear. From this week: Finish the draft.",
            id="then the week",
        ),
        pytest.param(
            "what's next",
            {"goals": parse_goals("")},
            "Nothing is on the lists. What would you like to be next? “add … to today” keeps it.",
            id="then nothing",
        ),
        pytest.param(
            "done", {"goals": parse_goals("")}, "Nothing is open on Today's list. Enjoy that.", id="nothing to finish"
        ),
        pytest.param("today", {"goals": parse_goals("")}, "Today's list is empty.", id="an empty day"),
        pytest.param("week", {"goals": parse_goals("")}, "This week's list is empty.", id="an empty week"),
        pytest.param(
            "goals",
            {"goals": parse_goals("")},
            "No goals yet. Tell me one: “my goal is …”, or “add … to today”.",
            id="no goals at all",
        ),
        pytest.param(
            "commitments",
            remembering("## Active Commitments\n- Pay (due: March 1)\n- Call\n- [x] Sent\n"),
            "• Pay (due: March 1)\n• Call",
            id="open commitments",
        ),
    ],
)
def test_questions_on_other_days(text: str, changes: dict[str, Any], reply: str) -> None:
    assert talk(text, **changes) == (reply, [])


def test_a_long_letter_is_not_taken_for_a_command() -> None:
    assert talk("remember that " + "x" * 600)[1] == []


@pytest.mark.parametrize("text", ["Hi", "thanks!", "Good night", "good morning coach", "done for today"])
def test_small_talk_is_short(text: str) -> None:
    reply, actions = talk(text)
    assert 0 < len(reply) < 60
    assert actions == []
    assert "help" not in reply


def test_a_reminder_without_a_time_is_asked_about() -> None:
    assert talk("remind me to call Mum") == ("When?", [])


def test_what_is_forgotten_is_named() -> None:
    memory = remembering(
        "## Preferences\n- Likes tea\n## Active Commitments\n- Pay rent (set 2026-02-01, due: March 1)\n"
    )
    assert talk("forget that likes tea", **memory)[1] == [
        {"action": "update_memory", "section": "Preferences", "remove": "Likes tea"}
    ]
    assert talk("forget pay rent", **memory)[1] == [
        {"action": "update_memory", "section": "Active Commitments", "remove": "Pay rent (due: March 1)"}
    ]
    assert "don't find" in talk("forget the moon", **memory)[0]


def test_a_full_list_is_not_overfilled() -> None:
    full = parse_goals("## Today\n1. A\n2. B\n3. C\n")
    assert talk("add D to today", goals=full)[1] == []
    finished = parse_goals("## Today\n1. [x] A\n2. B\n3. C\n")
    assert talk("add D to today", goals=finished)[1][0]["lines"] == ["B", "C", "D"]


def test_what_is_not_understood_is_said_honestly() -> None:
    reply, actions = talk("What do you think about Kant?")
    assert actions == []
    assert "help" in reply
    assert (
        "language model" in talk("What do you think about Kant?", degraded=True)[0]
        or "offline" in talk("What do you think about Kant?", degraded=True)[0]
    )


@pytest.mark.parametrize(
    "text", ["remind me to send the keys at 5pm", "quiet for 2h", "done", "remember that I'm rich"]
)
def test_a_forwarded_text_is_not_obeyed(text: str) -> None:
    assert talk(text, forwarded=True)[1] == []


def test_recent_context_rolls() -> None:
    memory = remembering("## Recent Context\nOne. Two. Three. Four. Five.\n")
    data = answer(replace(facts(at(18, 14), **memory), purpose=Purpose.CONVERSATION, text="I finished. Finally!"))
    assert isinstance(data, dict)
    assert data["recent_context"] == "Two. Three. Four. Five. On 2026-02-18 they said “I finished, Finally”."
    assert recap("One. Two.", " ", date(2026, 2, 18)) == "One. Two."


def test_the_same_day_sounds_the_same_and_days_differ() -> None:
    options = ("a", "b", "c", "d")
    days = [date(2026, 2, day) for day in range(1, 29)]
    assert [pick(options, day) for day in days] == [pick(options, day) for day in days]
    assert {pick(options, day) for day in days} == set(options)


@settings(deadline=None)
@given(st.text(max_size=80), st.booleans(), st.booleans())
def test_any_words_get_an_answer_that_can_be_carried_out(text: str, degraded: bool, forwarded: bool) -> None:
    now = at(18, 14)
    given_facts = replace(facts(now), purpose=Purpose.CONVERSATION, text=text, degraded=degraded, forwarded=forwarded)
    data = answer(given_facts)
    assert data == answer(given_facts)
    assert isinstance(data, dict)
    assert parse_reply(data, now, given_facts.targets).well_formed


@settings(deadline=None)
@given(st.integers(0, 3 * 96), st.integers(0, 3), st.booleans())
def test_every_quarter_hour_has_a_decision(quarter: int, nudges: int, active: bool) -> None:
    now = Instant(at(18, 0) + quarter * 15 * MINUTE)
    seen = Instant(now - 10 * MINUTE) if active else Instant(now - DAY)
    state = CoachState(last_activity=seen, bedtime_nudges=nudges, last_bedtime_nudge=Instant(now - HOUR))
    heartbeat(now, state=state, **OVERDUE)
