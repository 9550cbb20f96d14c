from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.errors import UsageError
from nudge.instants import SECOND, Instant, to_datetime
from nudge.progress.enforcement import EnforcementLevel
from nudge.progress.extensions import ExtensionRequest
from nudge.progress.run_budget import RunBudget
from nudge.progress.run_limits import EconomicsTuning
from nudge.tokens import TokenUse

NOW = Instant(1_772_366_400 * SECOND)


def at(seconds: float) -> Instant:
    return Instant(NOW + round(seconds * SECOND))


def ask(budget: RunBudget, seconds: float = 0, tokens: int = 200_000) -> ExtensionRequest:
    return budget.request_extension(additional_tokens=tokens, reason="Need to complete test suite", now=at(seconds))


def test_the_first_request_is_allowed_right_away() -> None:
    request = ask(RunBudget())
    assert request["can_request"] is True
    assert request["extensions_granted"] == 0
    assert request["max_extensions"] == 3
    assert request.deadline == to_datetime(at(60))
    assert request.id == 1
    assert dict(request)["reason"] == "Need to complete test suite"
    assert "can_request" in list(request)
    with pytest.raises(KeyError):
        request["keys"]


def test_asking_grants_nothing() -> None:
    budget = RunBudget()
    ask(budget)
    assert budget.limits.tokens == 1_000_000
    assert budget.extensions_granted == 0


def test_a_grant_adds_tokens_and_leaves_cost_duration_and_history_alone() -> None:
    budget = RunBudget(max_iterations=50)
    budget.check(at(-10))
    budget.record_call(TokenUse(output=960_000), cost="4.00")
    assert budget.check(NOW).level is EnforcementLevel.HARD
    before = (budget.account, budget.cost, budget.active_time, budget.iterations)
    assert budget.grant(ask(budget), at(5)) is True
    assert (budget.limits.tokens, budget.limits.cost, budget.limits.duration, budget.limits.iterations) == (
        1_200_000,
        10_000_000,
        timedelta(hours=2),
        50,
    )
    assert (budget.account, budget.cost, budget.active_time, budget.iterations) == before
    check = budget.check(NOW)
    assert (check.level, check.reason) == (EnforcementLevel.WARN, "tokens at 80%")
    assert check.nudge is None, "the run was warned at this level before"
    budget.record_call(TokenUse(output=130_000))
    nudge = budget.check(NOW).nudge
    assert nudge is not None, "the level was left by the grant and is entered anew"
    assert nudge.text.startswith("WARNING: Only 9% budget remaining.")


@pytest.mark.parametrize(
    ("answered", "granted"),
    [
        pytest.param(0, True, id="at once"),
        pytest.param(59.999999, True, id="in the last microsecond"),
        pytest.param(60, False, id="exactly at the deadline is too late"),
        pytest.param(61, False, id="after the deadline"),
    ],
)
def test_an_open_request_is_denied_at_its_deadline(answered: float, granted: bool) -> None:
    budget = RunBudget()
    assert budget.grant(ask(budget), at(answered)) is granted
    assert budget.limits.tokens == (1_200_000 if granted else 1_000_000)


def test_one_yes_counts_once() -> None:
    budget = RunBudget()
    request = ask(budget)
    assert [budget.grant(request, at(1)), budget.grant(request, at(2))] == [True, False]
    assert (budget.limits.tokens, budget.extensions_granted) == (1_200_000, 1)


def test_a_no_is_final() -> None:
    budget = RunBudget()
    request = ask(budget)
    budget.deny(request, at(1))
    assert budget.grant(request, at(2)) is False
    assert budget.limits.tokens == 1_000_000


def test_a_late_yes_does_not_answer_a_later_request() -> None:
    budget = RunBudget()
    first = ask(budget)
    second = ask(budget, 180)
    assert second.can_request
    assert budget.grant(first, at(181)) is False
    assert budget.grant(second, at(182)) is True


def test_a_refused_request_cannot_be_granted() -> None:
    budget = RunBudget()
    first = ask(budget)
    refused = ask(budget, 1)
    assert (refused.can_request, refused.deadline) == (False, None)
    assert refused.refused_because == "A request is still open."
    budget.deny(first, at(2))
    assert ask(budget, 122).can_request
    assert budget.grant(refused, at(123)) is False


@pytest.mark.parametrize("answer", ["yes", "no", "silence"])
@pytest.mark.parametrize(
    ("later", "allowed"),
    [
        pytest.param(119.999999, False, id="a microsecond early"),
        pytest.param(120, True, id="exactly 120 seconds later"),
    ],
)
def test_answers_are_120_seconds_apart(answer: str, later: float, allowed: bool) -> None:
    budget = RunBudget()
    request = ask(budget)
    if answer == "yes":
        budget.grant(request, at(10))
    elif answer == "no":
        budget.deny(request, at(10))
    answered = 60 if answer == "silence" else 10
    again = ask(budget, answered + later)
    assert again.can_request is allowed
    assert again.retry_at == (None if allowed else to_datetime(at(answered + 120)))


def test_at_most_three_are_granted_and_a_no_uses_none_of_them() -> None:
    budget = RunBudget()
    moment = 0.0
    for yes in (True, False, True, True):
        request = ask(budget, moment, tokens=100)
        assert request.can_request
        if yes:
            budget.grant(request, at(moment))
        else:
            budget.deny(request, at(moment))
        moment += 120
    last = ask(budget, moment + 10_000)
    assert (last["can_request"], last["extensions_granted"], last["max_extensions"]) == (False, 3, 3)
    assert last.refused_because == "All 3 extensions are used."
    assert budget.limits.tokens == 1_000_300


def test_the_gates_can_be_tuned() -> None:
    tuning = EconomicsTuning(max_extensions=1, extension_cooldown_seconds=5, extension_deadline_seconds=2)
    budget = RunBudget(tuning=tuning)
    assert budget.grant(ask(budget), at(2)) is False
    assert ask(budget, 6.9).can_request is False
    assert budget.grant(ask(budget, 7), at(8)) is True
    assert ask(budget, 100).can_request is False


def test_the_next_run_starts_with_the_limits_of_its_own_but_the_same_count() -> None:
    budget = RunBudget()
    budget.grant(ask(budget), NOW)
    budget.begin_run()
    assert (budget.limits.tokens, budget.extensions_granted) == (1_000_000, 1)
    assert ask(budget, 119).can_request is False


def test_an_open_request_survives_a_checkpoint() -> None:
    budget = RunBudget()
    request = ask(budget)
    copy = RunBudget.from_json(budget.to_json())
    assert copy.grant(request, at(59)) is True
    assert copy.limits.tokens == 1_200_000


def test_waiting_for_the_person_costs_no_time() -> None:
    budget = RunBudget(max_duration=timedelta(seconds=30))
    budget.check(NOW)
    request = ask(budget)
    budget.pause(NOW)
    budget.grant(request, at(50))
    budget.resume(at(50))
    assert budget.check(at(51)).can_continue


@pytest.mark.parametrize("tokens", [0, -1, True, 1.5], ids=str)
def test_an_extension_of_nothing_is_refused(tokens: object) -> None:
    with pytest.raises(UsageError, match="cannot be"):
        RunBudget().request_extension(tokens, "why", now=NOW)  # type: ignore[arg-type]


def test_an_extension_without_a_reason_is_refused() -> None:
    with pytest.raises(UsageError, match="reason"):
        RunBudget().request_extension(5, "  ", now=NOW)


@given(
    st.lists(
        st.tuples(st.integers(0, 200), st.sampled_from(["ask", "grant", "deny"]), st.integers(1, 1_000)), max_size=40
    )
)
def test_whatever_happens_the_limit_is_the_sum_of_what_was_granted(script: list[tuple[int, str, int]]) -> None:
    budget = RunBudget()
    seconds, last, granted, answers = 0, None, [], []
    for pause, action, tokens in script:
        seconds += pause
        if action == "ask":
            request = ask(budget, seconds, tokens)
            if request.can_request:
                assert all(seconds - earlier >= 120 for earlier in answers)
                last, asked_at = request, seconds
        elif last is not None:
            if action == "deny":
                budget.deny(last, at(seconds))
            elif budget.grant(last, at(seconds)):
                assert seconds - asked_at < 60
                granted.append(last.additional_tokens)
            answers.append(min(seconds, asked_at + 60))
            last = None
    assert len(granted) <= 3
    assert budget.extensions_granted == len(granted)
    assert budget.limits.tokens == 1_000_000 + sum(granted)
