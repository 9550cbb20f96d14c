from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.progress import simulate_run
from nudge.errors import UsageError
from nudge.instants import Instant
from nudge.progress.run_budget import RunBudget
from nudge.progress.run_state import TokenAccount
from nudge.tokens import TokenUse

NOW = Instant(0)


def test_a_growing_conversation_counts_each_token_once() -> None:
    budget = RunBudget(max_tokens=100_000)
    budget.record_call(TokenUse(input=3_000, output=200))
    budget.record_call(TokenUse(input=200, cache_read=3_000, cache_write=800, output=100))
    assert budget.incremental_tokens == 3_000 + 200 + 800 + 100
    assert budget.total_tokens == 3_200 + 4_100
    assert budget.usage_fraction == 0.041
    assert budget.remaining_tokens == 95_900


def test_the_four_kinds_of_tokens_are_kept_apart() -> None:
    budget = RunBudget()
    budget.record_call({"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 11})
    budget.record_call({"input_tokens": 1, "output_tokens": 1, "cache_creation_input_tokens": 13})
    account = budget.account
    assert (account.calls, account.input, account.output, account.cache_read, account.cache_write) == (2, 6, 8, 11, 13)


def test_after_compaction_only_what_is_added_counts() -> None:
    budget = RunBudget()
    budget.record_call(TokenUse(input=100_000, output=2_000))
    before = budget.usage_fraction
    budget.update_baseline(8_000)
    assert budget.usage_fraction == before
    budget.record_call(TokenUse(input=8_500, output=100))
    assert budget.incremental_tokens == 102_000 + 500 + 100


def test_a_small_call_beside_the_conversation_does_not_count_the_conversation_again() -> None:
    budget = RunBudget()
    budget.record_call(TokenUse(input=50_000, output=1_000))
    budget.record_call(TokenUse(input=300, output=10), iteration=False)
    budget.record_call(TokenUse(input=51_400, output=100))
    assert budget.incremental_tokens == 51_000 + 10 + 400 + 100
    assert budget.iterations == 2


def test_thinking_that_is_not_sent_back_is_counted_when_written_and_hides_nothing_later() -> None:
    budget = RunBudget()
    budget.record_call(TokenUse(input=1_000, output=5_000), kept_output=200)
    budget.record_call(TokenUse(input=1_000 + 200 + 700, output=50))
    assert budget.incremental_tokens == 6_000 + 700 + 50
    with pytest.raises(UsageError):
        budget.record_call(TokenUse(output=10), kept_output=11)


@pytest.mark.parametrize(
    ("baseline", "charged"),
    [
        pytest.param(0, 3_700, id="no baseline: everything counts"),
        pytest.param(3_000, 700, id="the system prompt is free"),
        pytest.param(3_700, 0, id="the whole first call is free"),
        pytest.param(900_000, 0, id="a baseline beyond the first call frees only that"),
    ],
)
def test_the_baseline_frees_the_opening(baseline: int, charged: int) -> None:
    early, late = RunBudget(), RunBudget()
    early.set_baseline(baseline)
    for budget in (early, late):
        budget.record_call(TokenUse(input=3_500, output=200))
    late.set_baseline(baseline)
    for budget in (early, late):
        assert budget.incremental_tokens == charged
        budget.record_call(TokenUse(input=3_700 + 300, output=100))
        assert budget.incremental_tokens == charged + 400


def test_a_refined_baseline_replaces_the_estimate() -> None:
    budget = RunBudget()
    budget.set_baseline(9_999)
    budget.record_call(TokenUse(input=3_500, output=200))
    budget.set_baseline(3_000)
    assert budget.incremental_tokens == 700


def test_the_order_of_baseline_and_compaction_does_not_matter() -> None:
    results = set()
    for order in permutations(["set", "update"]):
        budget = RunBudget()
        for step in order:
            budget.set_baseline(3_000) if step == "set" else budget.update_baseline(8_000)
        budget.record_call(TokenUse(input=8_500, output=100))
        results.add(budget.incremental_tokens)
    assert results == {600}


def test_compaction_before_the_baseline_is_refined_keeps_the_fraction() -> None:
    budget = RunBudget()
    budget.record_call(TokenUse(input=3_500, output=200))
    budget.update_baseline(1_000)
    budget.set_baseline(3_000)
    budget.record_call(TokenUse(input=1_050, output=10))
    assert budget.incremental_tokens == 700 + 50 + 10


def test_totals_run_on_over_all_runs_while_the_conversation_stays_counted() -> None:
    budget = RunBudget(max_tokens=10_000)
    budget.record_call(TokenUse(input=6_000, output=3_900), cost="0.50")
    assert budget.check(NOW).force_text_only
    budget.begin_run()
    assert (budget.total_tokens, budget.incremental_tokens, budget.cost, budget.iterations) == (0, 0, 0, 0)
    budget.record_call(TokenUse(input=10_000, output=50), cost="0.25")
    assert budget.incremental_tokens == 100 + 50
    assert (budget.total_tokens_all_runs, budget.cost_all_runs) == (9_900 + 10_050, 750_000)


@pytest.mark.parametrize("tokens", [-1, True, 1.5, None], ids=str)
def test_baselines_are_whole_numbers_from_zero(tokens: object) -> None:
    budget = RunBudget()
    with pytest.raises(UsageError):
        budget.set_baseline(tokens)  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        budget.update_baseline(tokens)  # type: ignore[arg-type]


pieces = st.integers(0, 5_000)
steps = st.lists(st.tuples(pieces, pieces, st.integers(0, 4)), min_size=1, max_size=40)


@given(steps, pieces)
def test_the_count_is_exact_through_any_compactions(script: list[tuple[int, int, int]], system: int) -> None:
    account, context, written, paid = TokenAccount(), [system], system, 0
    for result, output, cut in script:
        context.append(result)
        prompt = sum(context)
        account = account.with_call(TokenUse(input=prompt // 3, cache_read=prompt - prompt // 3, output=output))
        context.append(output)
        written += result + output
        paid += prompt + output
        if cut == 0:
            before = account.incremental_tokens
            context = context[-2:]
            account = account.with_context(sum(context))
            assert account.incremental_tokens == before
    assert account.incremental_tokens == written
    assert account.total_tokens == paid


@given(steps, st.lists(st.tuples(st.integers(0, 39), st.booleans(), st.integers(0, 200_000)), max_size=10))
def test_no_compaction_raises_the_fraction_and_nothing_makes_it_negative(
    script: list[tuple[int, int, int]], baselines: list[tuple[int, bool, int]]
) -> None:
    budget = RunBudget()
    for step, (prompt, output, _) in enumerate(script):
        for when, compaction, tokens in baselines:
            if when == step and compaction:
                before = budget.usage_fraction
                budget.update_baseline(tokens)
                assert budget.usage_fraction == before
            elif when == step:
                budget.set_baseline(tokens)
        before = budget.usage_fraction
        budget.record_call(TokenUse(input=prompt, output=output))
        assert 0 <= before <= budget.usage_fraction
        assert budget.incremental_tokens <= budget.total_tokens


@pytest.mark.parametrize("noisy", [False, True], ids=["compacted sizes are known", "compacted sizes are estimated"])
def test_fifty_runs_with_compaction_stop_where_the_tokens_end(noisy: bool) -> None:
    runs = [simulate_run(seed, noisy=noisy) for seed in range(50)]
    assert [run for run in runs if run.premature or run.late] == []
    assert max(run.error for run in runs) <= (0.01 if noisy else 0.0)
    assert sum(run.stopped for run in runs) >= 25, "most limits are reached, or the test shows nothing"
    assert sum(not run.stopped for run in runs) >= 5, "some runs end by themselves, or the test shows nothing"
    assert all(run.compactions for run in runs if run.true > 200_000)
    naive = [run.naive_stop for run in runs if run.naive_stop is not None and run.naive_stop < run.calls / 2]
    assert len(naive) >= 40, "adding up prompts would have stopped most of them in their first half"
