"""The timeline, its folding and its summary, from hand-made events."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from nudge.instants import HOUR, MINUTE, Instant, rfc3339
from nudge.queue.outcomes import Result
from nudge.simulation.summary import is_violation, summarise, summary_json
from nudge.simulation.text import Line, lines_of, plain, summary_lines
from nudge.simulation.timeline import (
    Asked,
    Ended,
    Event,
    Noted,
    Plan,
    Said,
    Sample,
    Sent,
    Signal,
    Timeline,
    clock_changes,
    days_of,
    event_json,
    in_order,
    wall_hour,
)
from nudge.spending.lifecycle import PAUSED, RESUMING, STOPPED
from tests.times import TORONTO, toronto

WEEK = Plan(date(2026, 2, 16), 7, "America/Toronto", person="owl", seed=3, quiet=(2 * 60, 10 * 60))


def at(day: int, hour: int, minute: int = 0) -> Instant:
    return toronto(2026, 2, day, hour, minute)


def ended(when: Instant, result: Result = Result.SUPPRESSED, reason: str = "quiet", **more: object) -> Ended:
    base = Ended(when, "heartbeat", "heartbeat", "heartbeat", when, result, reason)
    return replace(base, **more)  # type: ignore[arg-type]


def sent(when: Instant, **more: object) -> Sent:
    return replace(Sent(when, "heartbeat", "heartbeat", "Hello"), **more)  # type: ignore[arg-type]


def timeline(*events: Event, plan: Plan = WEEK, samples: tuple[Sample, ...] = ()) -> Timeline:
    return Timeline(plan, in_order(events), samples)


def test_a_plan_begins_and_ends_at_midnight_on_the_persons_clock() -> None:
    assert WEEK.start == at(16, 0)
    assert WEEK.end == at(23, 0)
    assert WEEK.quiet_end(at(16, 3)) == at(16, 10)
    assert WEEK.quiet_end(at(16, 10)) is None
    assert replace(WEEK, quiet=None).quiet_end(at(16, 3)) is None


def test_days_hold_their_own_events_and_empty_days_are_there() -> None:
    days = list(days_of(timeline(Said(at(16, 0), "first"), Said(at(17, 23, 59), "last"))))
    assert [len(day.events) for day in days] == [1, 1, 0, 0, 0, 0, 0]
    assert [day.date.day for day in days] == [16, 17, 18, 19, 20, 21, 22]


@pytest.mark.parametrize(
    ("first", "shift", "text", "when"),
    [
        pytest.param(
            date(2026, 3, 8),
            HOUR,
            "The clock goes forward 1 h, to 03:00. This day has 23 hours.",
            "2026-03-08T03:00:00-04:00",
            id="in spring a day has 23 hours",
        ),
        pytest.param(
            date(2026, 11, 1),
            -HOUR,
            "The clock goes back 1 h, to 01:00. This day has 25 hours.",
            "2026-11-01T01:00:00-05:00",
            id="in autumn a day has 25 hours",
        ),
    ],
)
def test_a_change_of_the_clock_is_remarked_upon(first: date, shift: int, text: str, when: str) -> None:
    plan = replace(WEEK, first=first, days=2)
    (note,) = clock_changes(plan)
    assert (note.text, rfc3339(note.at, TORONTO)) == (text, when)
    assert [day.shift for day in days_of(timeline(plan=plan))] == [shift, 0]
    assert clock_changes(WEEK) == []


def test_events_of_one_instant_stay_in_the_order_they_were_seen() -> None:
    one, two = Said(at(16, 9), "b"), Said(at(16, 9), "a")
    assert in_order([Said(at(16, 10), "c"), one, two])[:2] == (one, two)


def test_lines_fold_what_only_repeats() -> None:
    night = [ended(Instant(at(16, 2, 15) + n * 45 * MINUTE)) for n in range(11)]
    (line,) = lines_of(night)
    assert (line.count, line.event.at, line.last_at) == (11, at(16, 2, 15), at(16, 9, 45))


def test_signals_and_calls_are_not_lines_and_do_not_break_a_fold() -> None:
    events: list[Event] = [
        ended(at(16, 3)),
        Signal(at(16, 3, 5)),
        Asked(at(16, 3, 6), "heartbeat", "m", 1, 1, 1),
        ended(at(16, 4)),
        Said(at(16, 5), "hm"),
        ended(at(16, 6)),
    ]
    assert [line.count for line in lines_of(events)] == [2, 1, 1]


def test_another_reason_is_another_line_but_another_distance_is_not() -> None:
    skipped = [
        ended(at(16, 12), Result.SKIPPED, "No condition since 45 min ago", kind="reminder"),
        ended(at(16, 13), Result.SKIPPED, "No condition since 2 h 30 min ago", kind="reminder"),
        ended(at(16, 14), Result.SKIPPED, "No condition since 3 h ago", kind="reminder"),
        ended(at(16, 15), Result.SKIPPED, "something else", kind="reminder"),
    ]
    assert [line.count for line in lines_of(skipped)] == [3, 1]
    assert plain(skipped[0].reason) == plain(skipped[2].reason)


def test_heartbeats_that_came_to_nothing_are_one_line() -> None:
    beats = [
        ended(at(16, 12), Result.FIRED, "Nothing to say. First judgment."),
        ended(at(16, 13), Result.SKIPPED, "Nothing has changed since the last judgment 45 min ago."),
        ended(at(16, 14), Result.SUPPRESSED, "You said you were busy."),
        ended(at(16, 15), Result.SKIPPED, "Nothing has changed since the last judgment 2 h ago."),
    ]
    assert [(line.count, line.silent) for line in lines_of(beats)] == [(3, True), (1, False)]


def test_a_firing_is_not_told_twice() -> None:
    slot = at(16, 10)
    message = sent(at(16, 10), key="briefing:morning", slot_at=slot)
    fired = ended(at(16, 10), Result.FIRED, key="briefing:morning", slot_at=slot)
    silent = ended(at(16, 11), Result.FIRED, "heartbeat_ok")
    assert list(lines_of([fired, message, silent])) == [Line((message,)), Line((silent,))]


@pytest.mark.parametrize(
    ("event", "counts"),
    [
        pytest.param(sent(at(16, 3)), True, id="an idea at night is one"),
        pytest.param(sent(at(16, 3), reply=True), False, id="a reply is none"),
        pytest.param(sent(at(16, 3), exact=True), False, id="what the person set for that time is none"),
        pytest.param(sent(at(16, 2)), True, id="the first quiet minute counts"),
        pytest.param(sent(at(16, 10)), False, id="the end of the quiet hours does not"),
    ],
)
def test_quiet_hour_violations(event: Sent, counts: bool) -> None:
    assert is_violation(event, WEEK) is counts
    assert summarise(timeline(event)).quiet_violations == int(counts)


def test_the_quiet_hours_say_how_much_was_asked_for() -> None:
    told = timeline(sent(at(16, 3), exact=True), sent(at(17, 4), exact=True), sent(at(16, 12), exact=True))
    assert summarise(told).quiet_asked == 2
    assert summary_json(summarise(told))["quiet_hour_messages_asked_for"] == 2
    text = "\n".join(summary_lines(told))
    assert "0 violations (02:00–10:00); 2 messages that you set for that time" in text


def test_the_summary_counts_messages_by_day_hour_and_kind() -> None:
    summary = summarise(
        timeline(
            sent(at(16, 12)),
            sent(at(16, 12, 30), kind="briefing", subject="briefing:morning"),
            sent(at(18, 23, 59), kind="briefing", subject="briefing:bedtime"),
            sent(at(18, 15), reply=True),
            Said(at(18, 15), "hello"),
        )
    )
    assert (summary.messages, summary.replies, summary.said) == (3, 1, 1)
    assert summary.per_day == (2, 0, 1, 0, 0, 0, 0)
    assert (summary.by_hour[12], summary.by_hour[23], sum(summary.by_hour)) == (2, 1, 3)
    assert summary.by_kind == {"briefing": 2, "heartbeat": 1}
    assert summary.messages_a_day == pytest.approx(3 / 7)


def test_rules_calls_and_money() -> None:
    summary = summarise(
        timeline(
            ended(at(16, 12), rule="busy"),
            ended(at(16, 13), rule="busy"),
            ended(at(16, 14), rule="quiet-hours"),
            Asked(at(16, 12), "heartbeat", "haiku", 2_000, 50, 2_250),
            Asked(at(16, 13), "conversation", "sonnet", 4_000, 100, 9_000, free=True),
        )
    )
    assert summary.rules == {"busy": 2, "quiet-hours": 1}
    assert (summary.input_tokens, summary.output_tokens) == (6_000, 150)
    assert (summary.cost, summary.would_cost) == (2_250, 11_250)
    assert (summary.monthly_cost, summary.monthly_would_cost) == (2_250 * 30 // 7, 11_250 * 30 // 7)


def test_a_reserve_is_kept_unless_its_holder_found_the_bucket_empty() -> None:
    def claim(day: int, **more: object) -> Ended:
        return ended(at(day, 21), Result.FIRED, key="reminder:r-1", reserved=True, **more)

    kept, late = claim(16), claim(17)
    empty = replace(late, result=Result.DEFERRED, rule="bucket-empty", final=False, at=at(17, 21))
    quiet = replace(claim(18), result=Result.DEFERRED, rule="quiet-hours", final=False)
    summary = summarise(timeline(kept, empty, replace(late, at=at(17, 22)), quiet))
    assert (summary.reserved, summary.reserve_kept) == (3, 2)


def test_sleep_is_counted_from_pause_to_resumption_or_to_the_end() -> None:
    summary = summarise(
        timeline(
            Noted(at(17, 12), "asleep", PAUSED),
            Noted(at(17, 19), "awake", RESUMING + " Continuing from the list."),
            Noted(at(22, 20), "stopped", STOPPED),
        )
    )
    assert (summary.sleeps, summary.asleep_hours) == (2, 11.0)


def test_samples_give_the_lowest_level_and_the_highest_percent() -> None:
    samples = (
        Sample(at(16, 1), 5_000_000, 5, 0, 100),
        Sample(at(16, 2), 1_300_000, 5, 47, 100),
        Sample(at(17, 2), None, 0, 0, 0),
    )
    summary = summarise(timeline(samples=samples))
    assert (summary.lowest_level, summary.capacity, summary.highest_percent) == (1.3, 5, 47)
    assert summarise(timeline()).lowest_level is None


def test_json_leaves_out_what_says_nothing_and_times_have_an_offset() -> None:
    assert event_json(Said(at(16, 9), "hello"), TORONTO) == {
        "at": "2026-02-16T09:00:00-05:00",
        "what": "said",
        "text": "hello",
    }
    put_off = ended(at(16, 9), Result.DEFERRED, until=at(16, 10), final=False, rule="busy")
    assert event_json(put_off, TORONTO) == {
        "at": "2026-02-16T09:00:00-05:00",
        "what": "deferred",
        "kind": "heartbeat",
        "subject": "heartbeat",
        "slot_at": "2026-02-16T09:00:00-05:00",
        "reason": "quiet",
        "rule": "busy",
        "until": "2026-02-16T10:00:00-05:00",
    }
    assert event_json(sent(at(16, 9), level=4_200_000), TORONTO)["pings_left"] == 4.2
    assert event_json(Signal(at(16, 9)), TORONTO)["what"] == "signal"
    assert event_json(Noted(at(16, 9), "clock", "x"), TORONTO)["kind"] == "clock"
    assert event_json(Asked(at(16, 9), "heartbeat", "m", 3, 2, 1), TORONTO)["input_tokens"] == 3
    assert summary_json(summarise(timeline()))["quiet_hour_violations"] == 0


def test_wall_hours_are_what_the_clock_shows() -> None:
    assert wall_hour(toronto(2026, 3, 8, 13, 30), TORONTO) == 13.5
