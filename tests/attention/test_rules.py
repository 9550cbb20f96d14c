from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nudge.attention.bucket import PingBudget
from nudge.attention.quiet import QuietHours
from nudge.attention.repeats import RepeatLedger, signature
from nudge.attention.reserve import PING
from nudge.attention.rules import Allow, Attention, Candidate, Decision, Defer, Kind, Refuse, Rule, Takes, decide
from nudge.attention.welcome import Cell, Learned, Place
from nudge.errors import NaiveDatetimeError
from nudge.instants import DAY, HOUR, MINUTE, Instant, parse_rfc3339

TORONTO = ZoneInfo("America/Toronto")
NOW = parse_rfc3339("2026-02-20T23:00:00-05:00")


def later(minutes: float) -> Instant:
    return Instant(NOW + round(minutes * MINUTE))


SAID = signature("2 mails wait")
QUIET = QuietHours(22 * 60, 7 * 60, TORONTO)
QUIET_ENDS = later(8 * 60)

# One state per rule in which only that rule objects, in the order of the gate, and when its window ends.
OBJECTIONS: dict[Rule, tuple[Attention, Instant]] = {
    Rule.QUIET_HOURS: (Attention(quiet_hours=QUIET), QUIET_ENDS),
    Rule.QUIET_MODE: (Attention(quiet_until=later(45)), later(45)),
    Rule.LEFT_ALONE: (Attention(left_alone=True), later(60)),
    Rule.CONVERSATION: (Attention(last_conversation=later(-2)), later(3)),
    Rule.BUSY: (Attention(busy_until=later(100)), later(100)),
    Rule.BUCKET_EMPTY: (Attention(budget=PingBudget.at(NOW, available="0.5")), later(45)),
    Rule.BUCKET_RESERVED: (Attention(budget=PingBudget.at(NOW, available=1), claims=(later(30),)), later(90)),
}
HEARTBEAT = Candidate(Kind.HEARTBEAT)
ASKED = Candidate(Kind.REMINDER, asked_by_person=True)
ALARM = Candidate(Kind.REMINDER, asked_by_person=True, set_for_time=True)
REPLY = Candidate(Kind.REPLY)
CRITICAL = Candidate(Kind.ROUTINE, critical=True)

ids = [rule.value for rule in OBJECTIONS]


@pytest.mark.parametrize(("rule", "case"), OBJECTIONS.items(), ids=ids)
def test_the_agents_own_idea_is_dropped_with_the_reason(rule: Rule, case: tuple[Attention, Instant]) -> None:
    assert decide(case[0], HEARTBEAT, NOW) == Refuse(rule)


@pytest.mark.parametrize(("rule", "case"), OBJECTIONS.items(), ids=ids)
def test_what_the_person_asked_for_waits_for_the_end(rule: Rule, case: tuple[Attention, Instant]) -> None:
    assert decide(case[0], ASKED, NOW) == Defer(case[1], rule)


@pytest.mark.parametrize(("rule", "case"), OBJECTIONS.items(), ids=ids)
def test_a_reply_is_always_free(rule: Rule, case: tuple[Attention, Instant]) -> None:
    assert decide(case[0], REPLY, NOW) == Allow(Takes.NOTHING)
    assert decide(case[0], replace(REPLY, allow_ping=False, run_pings=3), NOW) == Allow(Takes.NOTHING)


@pytest.mark.parametrize(("rule", "case"), OBJECTIONS.items(), ids=ids)
def test_what_was_set_for_a_time_comes_at_that_time(rule: Rule, case: tuple[Attention, Instant]) -> None:
    decision = decide(case[0], replace(ALARM, run_pings=1), NOW)
    if rule in (Rule.QUIET_MODE, Rule.LEFT_ALONE):
        assert decision == Defer(case[1], rule)
    else:
        assert decision == Allow(Takes.NOTHING)


@pytest.mark.parametrize(("rule", "case"), OBJECTIONS.items(), ids=ids)
def test_critical_passes_the_last_three_only(rule: Rule, case: tuple[Attention, Instant]) -> None:
    state = replace(case[0], budget=case[0].budget or PingBudget.at(NOW))
    decision = decide(state, replace(CRITICAL, run_pings=1), NOW)
    if rule in (Rule.BUSY, Rule.BUCKET_EMPTY, Rule.BUCKET_RESERVED):
        assert decision == Allow(Takes.CRITICAL)
    else:
        assert decision == Refuse(rule)


@pytest.mark.parametrize(("rule", "case"), OBJECTIONS.items(), ids=ids)
@pytest.mark.parametrize("candidate", [HEARTBEAT, ASKED, ALARM, CRITICAL], ids=["idea", "asked", "alarm", "critical"])
def test_silent_beats_everything(rule: Rule, case: tuple[Attention, Instant], candidate: Candidate) -> None:
    assert decide(case[0], replace(candidate, allow_ping=False), NOW) == Refuse(Rule.SILENT)


UNWELCOME = tuple(Cell("sleep", Place(hour), unwelcome=9_000_000, at=NOW) for hour in range(24))


def everything(*without: Rule) -> tuple[Attention, Candidate]:
    """A state and candidate to which every rule objects but those in `without`."""
    off = set(without)
    state = Attention(
        quiet_hours=None if Rule.QUIET_HOURS in off else QUIET,
        quiet_until=None if Rule.QUIET_MODE in off else later(45),
        left_alone=Rule.LEFT_ALONE not in off,
        last_conversation=None if Rule.CONVERSATION in off else later(-2),
        busy_until=None if Rule.BUSY in off else later(100),
        budget=PingBudget.at(NOW, available=1 if Rule.BUCKET_EMPTY in off else 0),
        claims=() if Rule.BUCKET_RESERVED in off else (later(30),),
        repeats=RepeatLedger() if Rule.REPEATED in off else RepeatLedger().remember("sleep", SAID, NOW),
        bedtime_sent=0 if Rule.BEDTIME_LIMIT in off else 3,
        self_quiet_until=None if Rule.SELF_QUIET in off else later(60),
        care_until=None if Rule.CARE in off else later(60),
        preferences=() if Rule.PREFERENCE in off else ("Don't message me about sleep",),
        learned=None if Rule.UNWELCOME in off else Learned(UNWELCOME),
    )
    candidate = Candidate(
        Kind.BEDTIME,
        allow_ping=Rule.SILENT in off,
        run_pings=0 if Rule.ONE_PER_RUN in off else 1,
        topic="sleep",
        signature=SAID,
        about="Time for bed?",
    )
    return state, candidate


def test_the_first_objection_in_the_order_decides() -> None:
    order = []
    lifted: list[Rule] = []
    while isinstance(decision := decide(*everything(*lifted), NOW), Refuse):
        order.append(decision.rule)
        lifted.append(decision.rule)
    assert [rule.value for rule in order] == [
        "silent-task",
        "preference",
        "care",
        "quiet-hours",
        "quiet-mode",
        "left-alone",
        "self-quiet",
        "conversation",
        "repeated",
        "bedtime-limit",
        "one-per-run",
        "busy",
        "unwelcome",
        "bucket-empty",
        "bucket-reserved",
    ]
    assert decision == Allow(Takes.PING, PING)
    assert set(order) == set(Rule)


@pytest.mark.parametrize(
    ("state", "decision"),
    [
        pytest.param(Attention(quiet_until=NOW), Allow(), id="quiet mode ends at its end"),
        pytest.param(Attention(busy_until=NOW), Allow(), id="busy ends at its end"),
        pytest.param(Attention(last_conversation=later(-5)), Allow(), id="exactly 5 minutes is no conversation"),
        pytest.param(
            Attention(last_conversation=Instant(later(-5) + 1)),
            Refuse(Rule.CONVERSATION),
            id="a moment less than 5 minutes is one",
        ),
        pytest.param(Attention(last_conversation=NOW), Refuse(Rule.CONVERSATION), id="this very moment"),
        pytest.param(
            Attention(last_conversation=later(2)), Refuse(Rule.CONVERSATION), id="a clock that went back a little"
        ),
        pytest.param(Attention(last_conversation=later(600)), Allow(), id="a clock that was wrong by hours"),
        pytest.param(Attention(quiet_hours=QuietHours(0, 0, TORONTO)), Allow(), id="no quiet hours at all"),
        pytest.param(
            Attention(quiet_hours=QuietHours(9 * 60, 23 * 60, TORONTO)), Allow(), id="the end of quiet hours is outside"
        ),
        pytest.param(Attention(budget=None), Allow(Takes.NOTHING), id="the ping budget is off"),
        pytest.param(Attention(budget=PingBudget.at(NOW)), Allow(Takes.PING, PING), id="a full bucket"),
        pytest.param(
            Attention(budget=PingBudget.at(NOW, available=2), claims=(later(30), later(-30))),
            Allow(Takes.PING, PING + PING * 2 // 3 + 1),
            id="what the debit must find is named, the claim's need rounded up",
        ),
    ],
)
def test_edges(state: Attention, decision: Decision) -> None:
    assert decide(state, HEARTBEAT, NOW) == decision


def test_the_bucket_is_judged_at_now() -> None:
    budget = PingBudget.at(later(-90), available=0)
    assert decide(Attention(budget=budget), HEARTBEAT, NOW) == Allow(Takes.PING, PING)


def test_a_routine_with_a_claim_takes_what_was_kept() -> None:
    state = Attention(budget=PingBudget.at(NOW, available=1), claims=(NOW, later(30), later(60)))
    assert decide(state, Candidate(Kind.ROUTINE, has_claim=True), NOW) == Allow(Takes.PING, PING)
    assert decide(state, Candidate(Kind.ROUTINE), NOW) == Refuse(Rule.BUCKET_RESERVED)
    empty = replace(state, budget=PingBudget.at(NOW, available="0.5"))
    waiting = Candidate(Kind.ROUTINE, has_claim=True, asked_by_person=True)
    assert decide(empty, waiting, NOW) == Defer(later(45), Rule.BUCKET_EMPTY)


def test_one_ping_per_run() -> None:
    state = Attention(budget=PingBudget.at(NOW))
    assert decide(state, replace(HEARTBEAT, run_pings=1), NOW) == Refuse(Rule.ONE_PER_RUN)
    assert decide(state, replace(ASKED, run_pings=1), NOW) == Defer(later(1), Rule.ONE_PER_RUN)


@pytest.mark.parametrize(
    ("sent", "decision"),
    [(0, Allow()), (2, Allow()), (3, Refuse(Rule.BEDTIME_LIMIT)), (4, Refuse(Rule.BEDTIME_LIMIT))],
)
def test_three_bedtime_messages_a_night_critical_or_not(sent: int, decision: Decision) -> None:
    state = Attention(bedtime_sent=sent)
    assert decide(state, Candidate(Kind.BEDTIME), NOW) == decision
    assert decide(state, Candidate(Kind.BEDTIME, critical=True), NOW) == decision
    assert decide(state, HEARTBEAT, NOW) == Allow()


REPEATED = Candidate(Kind.HEARTBEAT, topic="inbox", signature=signature("5 mails wait"))


@pytest.mark.parametrize(
    ("candidate", "decision"),
    [
        pytest.param(REPEATED, Refuse(Rule.REPEATED), id="the same with another number"),
        pytest.param(replace(REPEATED, critical=True), Refuse(Rule.REPEATED), id="critical is no licence to repeat"),
        pytest.param(replace(REPEATED, signature=signature("Mary wrote")), Allow(), id="a changed state"),
        pytest.param(replace(REPEATED, topic="chores"), Allow(), id="another topic"),
        pytest.param(replace(REPEATED, chain=True), Allow(), id="an explicit chain"),
        pytest.param(replace(REPEATED, asked_by_person=True), Allow(), id="the person asked for it"),
        pytest.param(replace(REPEATED, due_at=Instant(NOW + 23 * HOUR)), Allow(), id="a slot a day after the last"),
        pytest.param(replace(REPEATED, topic=None), Allow(), id="no topic"),
        pytest.param(replace(REPEATED, signature=None), Allow(), id="no signature"),
    ],
)
def test_repeated_nudges(candidate: Candidate, decision: Decision) -> None:
    state = Attention(repeats=RepeatLedger().remember("inbox", SAID, later(-60)))
    assert decide(state, candidate, NOW) == decision


def test_every_rule_has_a_stable_name_and_a_sentence() -> None:
    for rule in Rule:
        assert Rule(rule.value) is rule  # type: ignore[call-arg]
        assert rule.sentence[0].isupper()
        assert rule.sentence.endswith(".")
    assert len({rule.sentence for rule in Rule}) == len(Rule)


def test_now_may_be_a_datetime_with_a_zone_and_no_other() -> None:
    state = Attention(busy_until=later(1))
    assert decide(state, HEARTBEAT, datetime(2026, 2, 21, 4, 0, 30, tzinfo=UTC)) == Refuse(Rule.BUSY)
    assert decide(state, HEARTBEAT, datetime(2026, 2, 21, 4, 1, tzinfo=UTC)) == Allow()
    with pytest.raises(NaiveDatetimeError):
        decide(state, HEARTBEAT, datetime(2026, 2, 21, 4))


instants = st.integers(-10 * HOUR, 10 * HOUR).map(lambda offset: Instant(NOW + offset))
states = st.builds(
    Attention,
    quiet_hours=st.none() | st.builds(QuietHours, st.integers(0, 1439), st.integers(0, 1439), st.just(TORONTO)),
    quiet_until=st.none() | instants,
    left_alone=st.booleans(),
    last_conversation=st.none() | instants,
    busy_until=st.none() | instants,
    budget=st.none() | st.builds(PingBudget, level=st.integers(0, 5 * PING), last_refill=instants),
    claims=st.lists(instants, max_size=4).map(sorted).map(tuple),
    bedtime_sent=st.integers(0, 4),
)
candidates = st.builds(
    Candidate,
    kind=st.sampled_from(Kind),
    asked_by_person=st.booleans(),
    set_for_time=st.booleans(),
    allow_ping=st.booleans(),
    critical=st.booleans(),
    run_pings=st.integers(0, 2),
    has_claim=st.booleans(),
)


@settings(max_examples=300, deadline=None)
@given(states, candidates)
def test_whatever_the_state(state: Attention, candidate: Candidate) -> None:
    decision = decide(state, candidate, NOW)
    match decision:
        case Defer(until, _):
            assert NOW < until <= NOW + 2 * DAY
            assert candidate.asked_by_person or candidate.set_for_time
        case Refuse(rule):
            asked = candidate.asked_by_person or candidate.set_for_time
            assert not asked or rule in (Rule.SILENT, Rule.BEDTIME_LIMIT)
        case Allow(Takes.PING, at_least):
            assert state.budget is not None
            use = state.budget.try_use(NOW, claims=() if candidate.has_claim else state.claims)
            assert use.granted
            assert state.budget.level_at(NOW) >= at_least >= PING
        case Allow(takes, at_least):
            assert at_least == 0
            assert (takes is Takes.CRITICAL) <= candidate.critical


@settings(max_examples=100, deadline=None)
@given(states, candidates)
def test_what_waits_gets_through_in_the_end(state: Attention, candidate: Candidate) -> None:
    """Asking again at the end of each window comes to an end, once the person is no longer left alone."""
    quiet_free = replace(state, left_alone=False)
    asked = replace(candidate, asked_by_person=True, allow_ping=True, run_pings=0, kind=Kind.REMINDER)
    now = NOW
    for _ in range(12):
        decision = decide(quiet_free, asked, now)
        if isinstance(decision, Allow):
            return
        assert isinstance(decision, Defer)
        now = decision.until
    pytest.fail(f"still waiting: {decision}")
