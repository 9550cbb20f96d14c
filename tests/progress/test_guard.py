"""The guard: what it allows, clamps, denies and says, and that its state is all there is to it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nudge import (
    AsyncGuard,
    BudgetEnforcementMode,
    EconomicsTuning,
    EnforcementLevel,
    Guard,
    GuardTuning,
    Ledger,
    LoopTuning,
    Nudge,
    Phase,
    PriceTable,
    RunLimits,
    TokenUse,
    Urgency,
)
from nudge.errors import BudgetExhaustedError, UsageError
from nudge.instants import SECOND, Instant
from nudge.progress.enforcement import CRITICAL
from nudge.progress.extensions import Approval
from nudge.progress.run_calls import CALL_LASTS
from nudge.testing import ScriptedApprover

STRICT, ADVISORY, SOFT = BudgetEnforcementMode
NONE, WARN, RESTRICTED, HARD = EnforcementLevel
START = Instant(1_772_366_400 * SECOND)
PRICES = PriceTable.of({"models": {"m": {"input": "1.00", "output": "2.00"}}})
TOOLS = ["read_file", "grep", "edit_file", "bash", "plan", "report", "weather"]


class Ticking:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.at = START

    def now(self) -> Instant:
        return self.at

    def pass_by(self, seconds: float) -> None:
        self.at = Instant(self.at + round(seconds * SECOND))


def guarded(tokens: int | None = 1_000_000, **more: Any) -> Guard:
    return Guard(tokens, clock=more.pop("clock", None) or Ticking(), **more)


def spend(guard: Guard, tokens: int) -> None:
    """One call whose answer has that many tokens, however it was clamped."""
    call = guard.before_call("m", 0, max(1, tokens))
    assert call, call
    guard.after_call(TokenUse(output=tokens))


def at(percent: float, **more: Any) -> Guard:
    guard = guarded(1_000_000, **more)
    guard.budget.record_call(TokenUse(output=round(percent * 10_000)))
    return guard


class TestCalls:
    @pytest.mark.parametrize(
        ("percent", "level", "text_only", "restricted"),
        [
            pytest.param(0, NONE, False, False, id="nothing used"),
            pytest.param(69.9, NONE, False, False, id="below 70 %"),
            pytest.param(70, WARN, False, False, id="at 70 %"),
            pytest.param(90, RESTRICTED, False, True, id="at 90 %"),
            pytest.param(94.9, RESTRICTED, False, True, id="below 95 %"),
            pytest.param(95, HARD, True, True, id="at 95 %"),
        ],
    )
    def test_the_level_comes_with_the_call(
        self, percent: float, level: EnforcementLevel, text_only: bool, restricted: bool
    ) -> None:
        call = at(percent).before_call("m", 0, 500)
        assert call
        assert (call.level, call.text_only, call.restricted, call.max_tokens) == (level, text_only, restricted, 500)

    def test_at_100_percent_a_call_is_refused_and_the_report_is_still_there(self) -> None:
        guard = at(100)
        refused = guard.before_call("m", 10, 500)
        assert not refused
        assert (refused.reason, refused.can_wrap_up) == ("The run has used up its budget (tokens at 100%).", True)
        guard.wrap_up()
        report = guard.before_call("m", 10, 500)
        assert report
        assert (report.text_only, report.text) == (True, CRITICAL)
        guard.after_call(TokenUse(input=10, output=500))
        again = guard.before_call("m", 10, 500)
        assert not again
        assert not again.can_wrap_up

    @pytest.mark.parametrize("limit", ["cost", "duration", "iterations"])
    def test_whichever_limit_stops_a_run_the_report_is_still_there(self, limit: str) -> None:
        clock = Ticking()
        guard = Guard(None, "1.00", timedelta(seconds=10), 3, prices=PRICES, clock=clock)
        if limit == "cost":
            guard.budget.record_cost("1.50")
        guard.budget.check(clock.now())
        clock.pass_by(11 if limit == "duration" else 0)
        for _ in range(3 if limit == "iterations" else 0):
            guard.budget.record_call(TokenUse())
        refused = guard.before_call("m", 10, 500)
        assert not refused
        assert limit in refused.reason
        guard.wrap_up()
        assert guard.before_call("m", 10, 500)

    def test_a_call_is_clamped_to_what_the_run_has_left_beside_the_report(self) -> None:
        guard = guarded(100_000)
        guard.budget.record_call(TokenUse(output=60_000))
        call = guard.before_call("m", guard.context_tokens + 5_000, 64_000)
        assert call
        assert (call.max_tokens, call.clamped) == (100_000 - 60_000 - 5_000 - 5_000, True)

    def test_calls_under_way_count_with_their_worst_case(self) -> None:
        guard = guarded(100_000)
        first = guard.before_call("m", 10_000, 30_000)
        second = guard.before_call("m", 10_000, 64_000)
        assert first
        assert second
        assert second.max_tokens == 100_000 - 5_000 - 40_000 - 10_000
        guard.after_call(TokenUse(input=100, output=100), call=first)
        guard.after_call(TokenUse(input=100, output=100), call=second.id)
        assert guard.budget.incremental_tokens == 200 + 100

    def test_calls_under_way_clamp_another_but_do_not_close_the_run(self) -> None:
        guard = guarded(100_000)
        first = guard.before_call("m", 0, 95_000)
        second = guard.before_call("m", 0, 32_000, min_tokens=1_000)
        assert first
        assert second
        assert (second.max_tokens, second.text_only) == (1_000, False)
        guard.after_call(TokenUse(output=2_000), call=first)
        third = guard.before_call("m", 0, 32_000)
        assert third
        assert third.max_tokens == 32_000

    def test_a_call_that_is_under_way_when_the_next_run_begins_counts_in_it(self) -> None:
        guard = guarded(100_000)
        call = guard.before_call("m", 0, 500)
        guard.begin_run()
        assert call
        guard.after_call(TokenUse(output=400), call=call)
        assert guard.budget.incremental_tokens == 400

    def test_a_call_that_leaves_nothing_for_the_report_becomes_the_report(self) -> None:
        guard = guarded(100_000)
        guard.budget.record_call(TokenUse(output=80_000))
        call = guard.before_call("m", guard.context_tokens + 16_000, 4_000)
        assert call
        assert (call.text_only, call.max_tokens, call.text) == (True, 4_000, CRITICAL)
        assert guard.phase is Phase.WRAPUP
        assert not guard.before_tool("read_file", {"path": "a"})

    def test_money_is_clamped_too_where_prices_are_known(self) -> None:
        guard = Guard(None, "0.10", prices=PRICES, clock=Ticking())
        call = guard.before_call("m", 10_000, 1_000_000)
        assert call
        # 5 % stay for the report; the input may be a cache write at 1.25 times its price
        assert call.max_tokens == (95_000 - 12_500) // 2
        settled = guard.after_call(TokenUse(input=10_000, output=call.max_tokens))
        assert settled.cost == 10_000 + 2 * call.max_tokens
        assert guard.budget.cost <= 95_000
        following = guard.before_call("m", 10_000, 1_000)
        assert following
        assert following.text_only

    def test_a_reply_without_a_usage_is_counted_at_its_bound(self) -> None:
        guard = guarded(100_000, prices=PRICES)
        guard.before_call("m", 1_000, 500)
        assert guard.after_call(None).cost == 1_000 + 2 * 500
        assert guard.budget.incremental_tokens == 1_500

    @pytest.mark.parametrize(
        "usage",
        [
            pytest.param({"input_tokens": 90, "output_tokens": 10}, id="Anthropic's, as JSON"),
            pytest.param(SimpleNamespace(input_tokens=90, output_tokens=10), id="Anthropic's, as an object"),
            pytest.param({"prompt_tokens": 90, "completion_tokens": 10}, id="OpenAI's, as JSON"),
            pytest.param(SimpleNamespace(prompt_tokens=90, completion_tokens=10), id="OpenAI's, as an object"),
            pytest.param(TokenUse(input=90, output=10), id="our own"),
        ],
    )
    def test_a_usage_is_taken_as_it_came(self, usage: object) -> None:
        guard = guarded()
        guard.before_call("m", 100, 100)
        guard.after_call(usage)
        assert guard.budget.total_tokens == 100

    def test_a_cost_limit_without_anybody_who_knows_costs_is_refused_and_nothing_is_counted(self) -> None:
        guard = guarded(max_cost="1.00")
        call = guard.before_call("m", 10, 10)
        with pytest.raises(UsageError, match="there are no prices"):
            guard.after_call(TokenUse(output=5))
        assert guard.budget.total_tokens == 0
        assert call
        guard.after_call(TokenUse(output=5), cost="0.02", call=call)
        assert guard.budget.cost == 20_000

    def test_which_call_came_back_must_be_clear(self) -> None:
        guard = guarded()
        with pytest.raises(UsageError, match="No such call is open"):
            guard.after_call(TokenUse())
        first, _ = guard.before_call("m", 0, 10), guard.before_call("m", 0, 10)
        with pytest.raises(UsageError, match="2 calls are open"):
            guard.after_call(TokenUse())
        assert first
        guard.after_call(TokenUse(), call=first)
        with pytest.raises(UsageError, match="No such call is open"):
            guard.after_call(TokenUse(), call=first)
        guard.after_call(TokenUse())

    @pytest.mark.parametrize("numbers", [(-1, 10), (10, 0), (True, 10), (1.5, 10), (10, "many")], ids=str)
    def test_a_call_of_nonsense_is_refused(self, numbers: Any) -> None:
        with pytest.raises(UsageError, match="A call cannot have"):
            guarded().before_call("m", *numbers)

    def test_a_call_that_nobody_reports_on_gives_its_tokens_back_and_may_still_come(self) -> None:
        clock = Ticking()
        guard = guarded(100_000, clock=clock)
        lost = guard.before_call("m", 0, 90_000)
        clock.pass_by(CALL_LASTS / SECOND)
        call = guard.before_call("m", 0, 90_000)
        assert lost
        assert call
        assert call.max_tokens == 90_000
        guard.after_call(TokenUse(output=10))
        guard.after_call(TokenUse(output=20), call=lost)
        assert guard.budget.incremental_tokens == 30

    def test_waiting_for_the_model_is_not_the_runs_time(self) -> None:
        clock = Ticking()
        guard = guarded(clock=clock)
        guard.before_call("m", 0, 10)
        clock.pass_by(50)
        guard.after_call(TokenUse(output=10))
        clock.pass_by(7)
        guard.after_tool("bash", {"command": "make"}, result="ok")
        assert guard.budget.active_time == timedelta(seconds=7)

    def test_time_may_be_an_argument(self) -> None:
        guard = Guard(max_duration=timedelta(seconds=10))
        noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
        assert guard.before_call("m", 0, 10, now=noon)
        guard.after_call(TokenUse(), now=noon + timedelta(hours=1))
        assert guard.before_call("m", 0, 10, now=noon + timedelta(hours=1, seconds=9))
        guard.call_failed(now=noon + timedelta(hours=2))
        assert not guard.before_call("m", 0, 10, now=noon + timedelta(hours=2, seconds=1))


class TestModes:
    @pytest.mark.parametrize("mode", [ADVISORY, SOFT])
    def test_a_mode_that_stops_nothing_refuses_clamps_and_denies_nothing(self, mode: BudgetEnforcementMode) -> None:
        guard = Guard(1_000, "0.01", mode=mode, prices=PRICES, clock=Ticking())
        for _ in range(6):
            call = guard.before_call("m", 5_000, 64_000)
            assert call
            assert (call.max_tokens, call.text_only) == (64_000, False)
            guard.after_call(TokenUse(input=5_000, output=500))
            assert guard.before_tool("edit_file", {"path": "a"})
            guard.after_tool("edit_file", {"path": "a"}, result="no change")
            assert guard.offer(TOOLS) == TOOLS
            assert guard.allow_task()

    def test_advisory_warns_and_soft_says_nothing_about_the_budget(self) -> None:
        texts = []
        for mode in (ADVISORY, SOFT):
            guard = at(96, mode=mode)
            call = guard.before_call("m", 0, 10)
            assert call
            texts.append(call.text)
        assert texts == [CRITICAL, ""]


class TestLedger:
    def test_a_call_holds_its_worst_case_and_settles_what_it_used(self) -> None:
        ledger = Ledger("1.00", prices=PRICES)
        guard = guarded(ledger=ledger)
        call = guard.before_call("m", 1_000, 500)
        assert call
        assert ledger.held == 1_250 + 1_000
        settled = guard.after_call(TokenUse(input=1_000, output=100))
        assert (settled.cost, ledger.spent, ledger.held, guard.budget.cost) == (1_200, 1_200, 0, 1_200)

    def test_the_ledger_clamps_further_and_refuses_in_the_end(self) -> None:
        ledger = Ledger("0.01", prices=PRICES)
        guard = guarded(ledger=ledger)
        call = guard.before_call("m", 1_000, 64_000)
        assert call
        assert (call.max_tokens, call.clamped) == ((10_000 - 1_250) // 2, True)
        guard.after_call(TokenUse(input=1_000, output=call.max_tokens))
        refused = guard.before_call("m", 1_000, 64_000)
        assert not refused
        assert "has $0.00025 left" in refused.reason
        assert (ledger.held, guard.budget.iterations) == (0, 1)
        with pytest.raises(UsageError, match="No such call is open"):
            guard.after_call(TokenUse())

    def test_a_nudge_that_came_with_a_refusal_is_not_lost(self) -> None:
        ledger = Ledger("0.000001", prices=PRICES)
        guard = at(70, ledger=ledger)
        assert not guard.before_call("m", 1_000, 100)
        ledger.top_up("1.00")
        call = guard.before_call("m", 1_000, 100)
        assert call
        assert call.text == "Budget at 70%. Be efficient with remaining budget."

    @pytest.mark.parametrize(
        ("error", "charged"),
        [
            pytest.param(None, 0, id="a call that was never sent is free"),
            pytest.param(RuntimeError("no answer"), 2_250, id="one that failed is charged its worst case"),
        ],
    )
    def test_a_failed_call_is_charged_what_the_ledger_says(self, error: Exception | None, charged: int) -> None:
        ledger = Ledger("1.00", prices=PRICES)
        guard = guarded(ledger=ledger)
        guard.before_call("m", 1_000, 500)
        guard.call_failed(error)
        assert (ledger.spent, ledger.held, guard.budget.cost, guard.budget.iterations) == (charged, 0, charged, 0)

    def test_a_cost_beside_a_ledger_is_refused_and_the_call_stays_open(self) -> None:
        ledger = Ledger("1.00", prices=PRICES)
        guard = guarded(ledger=ledger)
        guard.before_call("m", 1_000, 500)
        with pytest.raises(UsageError, match="charges calls by their usage"):
            guard.after_call(TokenUse(input=1_000), cost=0.5)
        guard.after_call(TokenUse(input=1_000))
        assert (ledger.spent, ledger.held) == (1_000, 0)

    def test_a_ledger_that_breaks_leaves_no_call_open(self) -> None:
        class Broken:
            def hold(self, call: object) -> int:
                raise ConnectionError("no database")

            def settle(self, *args: object) -> int:
                raise AssertionError

            release = settle

        guard = guarded(ledger=Broken())
        with pytest.raises(ConnectionError):
            guard.before_call("m", 0, 10)
        with pytest.raises(UsageError, match="No such call is open"):
            guard.after_call(TokenUse())

    def test_a_refusal_says_when_it_may_go_on(self) -> None:
        refresh = datetime(2026, 3, 2, tzinfo=UTC)

        class Asleep:
            def hold(self, call: object) -> int:
                raise BudgetExhaustedError("Asleep.", retry_at=refresh)

            def settle(self, *args: object) -> int:
                raise AssertionError

            release = settle

        refused = guarded(ledger=Asleep()).before_call("m", 0, 10)
        assert not refused
        assert (refused.reason, refused.retry_at) == ("Asleep.", refresh)

    async def test_an_async_guard_waits_in_line_for_money(self) -> None:
        import asyncio

        ledger = Ledger("0.01", prices=PRICES)
        one, other = (AsyncGuard(ledger=ledger, clock=Ticking()) for _ in range(2))
        assert await one.before_call("m", 0, 5_000)
        waiting = asyncio.ensure_future(other.before_call("m", 0, 5_000))
        await asyncio.sleep(0)
        assert not waiting.done()
        await one.after_call(TokenUse(output=100))
        call = await waiting
        assert call
        assert call.max_tokens == (10_000 - 200) // 2
        await other.call_failed()
        assert (ledger.spent, ledger.held) == (200, 0)

    async def test_an_async_guard_gives_the_place_in_line_up_when_it_is_cancelled(self) -> None:
        import asyncio

        ledger = Ledger("0.01", prices=PRICES)
        one, other = (AsyncGuard(ledger=ledger, clock=Ticking()) for _ in range(2))
        await one.before_call("m", 0, 5_000)
        waiting = asyncio.ensure_future(other.before_call("m", 0, 5_000))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        with pytest.raises(UsageError, match="No such call is open"):
            await other.after_call(TokenUse())
        await one.call_failed(RuntimeError("gone"))
        assert (ledger.waiting, ledger.held) == (0, 0)


class TestTools:
    @pytest.mark.parametrize(
        ("percent", "offered"),
        [
            pytest.param(0, TOOLS, id="everything at first"),
            pytest.param(89.9, TOOLS, id="everything below 90 %"),
            pytest.param(90, ["read_file", "grep", "report"], id="reading and finishing from 90 %"),
            pytest.param(95, [], id="nothing from 95 %"),
        ],
    )
    def test_what_may_be_offered_may_be_used(self, percent: float, offered: list[str]) -> None:
        guard = at(percent)
        assert guard.offer(TOOLS) == offered
        assert [tool for tool in TOOLS if guard.before_tool(tool, {})] == offered

    def test_tools_are_taken_as_the_apis_write_them(self) -> None:
        def edit_file() -> None: ...

        tools: list[Any] = [
            {"name": "read_file", "input_schema": {}},
            {"type": "function", "function": {"name": "edit_file"}},
            SimpleNamespace(name="mcp__fs__read_file"),
            edit_file,
        ]
        assert at(90).offer(tools) == [tools[0], tools[2]]
        with pytest.raises(UsageError, match="without a name"):
            guarded().offer([7])

    def test_an_editing_tool_that_only_shows_a_file_reads(self) -> None:
        guard = at(92)
        assert guard.before_tool("str_replace_based_edit_tool", {"command": "view", "path": "a"})
        assert guard.before_tool("str_replace_based_edit_tool", '{"command": "view", "path": "a"}')
        assert not guard.before_tool("str_replace_based_edit_tool", {"command": "create", "path": "a"})

    def test_your_own_tools_have_the_kind_you_say(self) -> None:
        guard = at(92, tuning=GuardTuning(tools={"fetch_*": "read", "bash": "finish"}))
        assert guard.before_tool("fetch_page")
        assert guard.before_tool("bash", {"command": "make"})
        assert not guard.before_tool("weather")

    def test_a_call_that_only_repeats_itself_is_nudged_and_then_denied(self) -> None:
        guard = guarded()
        heard: list[list[str]] = []
        while verdict := guard.before_tool("grep", {"q": "x"}):
            nudges = guard.after_tool("grep", {"q": "x"}, result="no match")
            heard.append([nudge.text.split(".")[0] for nudge in nudges])
            spend(guard, 10)
        assert heard[:2] == [[], []]
        assert heard[2] == [
            "You appear to be repeating the same actions",
            "Doom loop detected: 'grep' called 3 times with identical arguments",
        ]
        assert len(heard) == 4
        assert "This call is refused" in verdict.reason

    def test_identical_calls_of_one_turn_count_once(self) -> None:
        guard = guarded()
        spend(guard, 10)
        for _ in range(6):
            assert guard.before_tool("grep", {"q": "x"})
            assert guard.after_tool("grep", {"q": "x"}, result="no match") == ()

    def test_without_model_calls_every_call_is_a_turn_unless_its_step_says_otherwise(self) -> None:
        guard = guarded()
        assert [bool(guard.after_tool("grep", {"q": "x"}, result="no match")) for _ in range(3)] == [False, False, True]
        guard = guarded()
        assert not any(guard.after_tool("grep", {"q": "x"}, result="no match", step="turn 1") for _ in range(5))

    def test_a_nudge_is_returned_once_and_not_again_with_the_next_call(self) -> None:
        guard = guarded()
        for _ in range(2):
            guard.after_tool("grep", {"q": "x"}, result="no match")
        assert len(guard.after_tool("grep", {"q": "x"}, result="no match")) == 2
        call = guard.before_call("m", 0, 10)
        assert call
        assert call.nudges == ()

    def test_all_that_is_said_before_one_call_shares_one_budget(self) -> None:
        guard = guarded(tuning=GuardTuning(injection_tokens=12))
        for _ in range(2):
            guard.after_tool("grep", {"q": "x"}, result="no match")
        stuck = (Nudge("You appear to be repeating the same actions.", Urgency.WARNING),)
        assert guard.after_tool("grep", {"q": "x"}, result="no match") == stuck
        guard.budget.record_call(TokenUse(output=700_000))
        call = guard.before_call("m", 0, 10)
        assert call
        assert call.text == ""

    def test_a_failed_edit_is_no_edit(self) -> None:
        guard = guarded()
        guard.after_tool("edit_file", {"path": "a", "old": "x"}, error="old text not found")
        assert guard.phase is Phase.EXPLORATION
        guard.after_tool("edit_file", {"path": "a", "old": "y"}, result="1 replacement")
        assert guard.phase is Phase.ACTING

    def test_an_edit_by_a_tool_of_your_own_excuses_looking_again(self) -> None:
        guard = guarded(tuning=GuardTuning(tools={"refactor": "edit"}))
        for number in range(6):
            assert guard.after_tool("refactor", {"n": number}, result="done") is not None
            assert guard.before_tool("bash", {"command": "make"})
            assert guard.after_tool("bash", {"command": "make"}, result="All good") == ()

    def test_repeating_a_message_is_answered(self) -> None:
        guard = guarded()
        heard = [guard.said("I will look at the file now.") for _ in range(3)]
        assert heard[:2] == [(), ()]
        assert "the same message 3 times" in heard[2][0].text

    def test_a_person_starts_everything_over(self) -> None:
        guard = guarded()
        guard.after_tool("edit_file", {"path": "a"}, result="ok")
        for _ in range(5):
            guard.after_tool("grep", {"q": "x"}, result="no match")
        assert not guard.before_tool("grep", {"q": "x"})
        guard.person_spoke()
        assert guard.before_tool("grep", {"q": "x"})
        assert guard.phase is Phase.EXPLORATION

    def test_after_a_compaction_files_may_be_read_again_and_the_usage_does_not_rise(self) -> None:
        guard = guarded()
        spend(guard, 50_000)
        for step in range(5):
            guard.after_tool("read_file", {"path": "a"}, result="text", step=f"turn {step}")
        assert not guard.before_tool("read_file", {"path": "a"})
        guard.compacted(2_000)
        assert guard.before_tool("read_file", {"path": "a"})
        assert (guard.context_tokens, guard.budget.incremental_tokens) == (2_000, 50_000)


class TestPhases:
    def explored(self, **more: Any) -> Guard:
        guard = guarded(100_000, **more)
        guard.offer(TOOLS)
        guard.after_tool("read_file", {"path": "a"}, result="text")
        spend(guard, 30_000)
        return guard

    def test_exploring_ends_with_its_share_for_an_agent_that_can_edit(self) -> None:
        guard = self.explored()
        verdict = guard.before_tool("read_file", {"path": "b"})
        assert verdict.reason.startswith("Exploring has used its share of the budget.")
        assert guard.before_tool("plan")
        assert guard.before_tool("edit_file", {"path": "a"})
        call = guard.before_call("m", 0, 10)
        assert call
        assert call.text == verdict.reason
        guard.after_call(TokenUse(output=10))
        guard.after_tool("edit_file", {"path": "a"}, result="ok")
        assert guard.before_tool("read_file", {"path": "b"}), "after an edit what is left flows on"

    def test_one_token_less_and_it_goes_on(self) -> None:
        guard = guarded(100_000)
        guard.offer(TOOLS)
        spend(guard, 29_999)
        assert guard.before_tool("read_file", {"path": "b"})

    def test_an_agent_that_never_had_a_tool_to_edit_with_may_read_on(self) -> None:
        guard = guarded(100_000)
        guard.offer(["read_file", "web_search"])
        spend(guard, 80_000)
        assert guard.before_tool("read_file", {"path": "b"})

    @pytest.mark.parametrize(
        "more",
        [
            pytest.param({"mode": "advisory"}, id="advisory denies nothing"),
            pytest.param(
                {"tuning": GuardTuning(reserves=(0, 0, 95, 0, 5))}, id="without a share there is none to use up"
            ),
        ],
    )
    def test_where_exploring_has_no_end(self, more: Any) -> None:
        assert self.explored(**more).before_tool("read_file", {"path": "b"})

    def test_acting_is_told_once_when_its_share_is_used(self) -> None:
        guard = guarded(100_000)
        guard.after_tool("edit_file", {"path": "a"}, result="ok")
        texts = []
        for tokens in (79_999, 1, 10, 10):
            call = guard.before_call("m", 0, tokens)
            assert call
            texts.append(call.text)
            guard.after_call(TokenUse(output=tokens))
        assert texts[:2] == ["", "Budget at 79%. Be efficient with remaining budget."]
        assert texts[2].startswith("Editing has used its share of the budget.")
        assert texts[3] == ""

    def test_the_reserves_follow_the_phases(self) -> None:
        guard = guarded(100_000)
        spend(guard, 10_000)
        guard.after_tool("edit_file", {"path": "a"}, result="ok")
        assert guard.reserves is not None
        assert guard.reserves.available == 70_000
        spend(guard, 10_000)
        guard.after_tool("bash", {"command": "make test"}, result="ok")
        assert guard.reserves.spent == (10_000, 0, 10_000, 0, 0)
        assert guard.phase is Phase.VERIFYING


class TestCourse:
    @pytest.mark.parametrize(
        ("percent", "calls", "allowed"),
        [(69, 1, True), (80, 2, False), (80, 20, True), (91, 100, False)],
    )
    def test_another_task_is_allowed_as_by_the_task_gate(self, percent: int, calls: int, allowed: bool) -> None:
        guard = guarded(100_000)
        for _ in range(calls):
            guard.budget.record_call(TokenUse(output=percent * 1_000 // calls))
        assert guard.allow_task() is allowed

    def test_a_run_that_wraps_up_starts_no_task(self) -> None:
        guard = guarded()
        guard.wrap_up()
        assert not guard.allow_task()
        guard.begin_task()
        assert guard.allow_task()

    def test_the_next_run_has_the_whole_budget_and_the_totals_go_on(self) -> None:
        guard = guarded(100_000)
        spend(guard, 60_000)
        guard.wrap_up()
        guard.begin_run()
        assert guard.reserves is not None
        assert (guard.budget.incremental_tokens, guard.reserves.spent) == (0, (0,) * 5)
        assert guard.budget.total_tokens_all_runs == 60_000
        assert guard.before_call("m", guard.context_tokens, 90_000)

    async def test_a_granted_extension_lets_a_run_go_on_that_was_wrapping_up(self) -> None:
        clock = Ticking()
        guard = guarded(100_000, clock=clock)
        guard.budget.record_call(TokenUse(output=92_000))
        guard.before_call("m", guard.context_tokens, 10)
        assert guard.after_call(TokenUse(output=10)).should_ask_extension
        guard.budget.record_call(TokenUse(output=4_000))
        assert guard.before_call("m", guard.context_tokens, 10)
        guard.after_call(TokenUse(output=10))
        assert guard.phase is Phase.WRAPUP
        approver = ScriptedApprover(Approval.GRANTED)
        assert await guard.ask_extension(100_000, "Finish the tests", approver)
        assert guard.level is NONE
        assert guard.before_tool("edit_file", {"path": "a"})
        assert not await guard.ask_extension(100_000, "More", approver), "too soon"
        assert len(approver.asked) == 1

    @pytest.mark.parametrize("answer", [Approval.DENIED, Approval.TIMED_OUT, Approval.UNATTENDED])
    async def test_a_denied_extension_changes_nothing(self, answer: Approval) -> None:
        guard = at(93)
        assert not await guard.ask_extension(100_000, "Finish", ScriptedApprover(answer))
        assert guard.level is RESTRICTED
        assert guard.budget.limits.tokens == 1_000_000

    async def test_waiting_for_the_person_is_not_the_runs_time(self) -> None:
        clock = Ticking()
        guard = guarded(clock=clock)
        guard.allow_task()

        class Slow:
            async def ask(self, request: object) -> Approval:
                clock.pass_by(30)
                return Approval.GRANTED

        assert await guard.ask_extension(10, "more", Slow())
        guard.allow_task()
        assert guard.budget.active_time == timedelta(0)

    def test_it_says_what_it_is(self) -> None:
        guard = guarded(100_000, max_cost="2.00", prices=PRICES)
        spend(guard, 10_000)
        assert repr(guard) == (
            "<Guard in exploration, level NONE: <RunBudget strict: 10,000 of 100,000 tokens, $0.02 of $2.00, 1 call>>"
        )

    def test_limits_may_be_a_value(self) -> None:
        limits = RunLimits(tokens=500, cost=None)
        assert Guard.within(limits, mode="advisory").budget.limits == limits


# What may happen to a guard: a name and two numbers.
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(
            ["call", "fail", "read", "edit", "test", "same", "say", "compact", "person", "wrap", "wait", "ask"]
        ),
        st.integers(0, 40_000),
        st.integers(0, 3),
    ),
    max_size=40,
)


def happen(guard: Guard, clock: Ticking, event: tuple[str, int, int]) -> object:
    """Let one thing happen, and give back what the guard answered, without ids."""
    kind, size, number = event
    match kind:
        case "call" | "fail":
            call = guard.before_call("m", guard.context_tokens + size, 1 + size)
            if not call:
                return call
            answer = (call.max_tokens, call.clamped, call.level, call.nudges)
            if kind == "fail":
                guard.call_failed(None, call=call)
                return answer
            use = TokenUse(input=guard.context_tokens + size * number // 3, output=call.max_tokens * number // 3)
            settled = guard.after_call(use, call=call)
            return answer, settled
        case "read" | "edit" | "test" | "same":
            tool, args = {
                "read": ("read_file", {"path": f"{size}"}),
                "edit": ("edit_file", {"path": "a", "old": size}),
                "test": ("bash", {"command": "pytest"}),
                "same": ("grep", {"q": "x"}),
            }[kind]
            verdict = guard.before_tool(tool, args)
            if not verdict:
                return verdict
            result = {"error": f"{number} failed"} if number == 1 else {"result": f"answer {number}"}
            return guard.after_tool(tool, args, **result)
        case "say":
            return guard.said(f"I will do it {number}.")
        case "compact":
            return guard.compacted(size)
        case "person":
            return guard.person_spoke()
        case "wrap":
            return guard.wrap_up()
        case "wait":
            clock.pass_by(size)
            return guard.allow_task()
        case _:
            request = guard.request_extension(1 + size, "more")
            return guard.grant(request) if number % 2 else guard.deny(request)


def new(clock: Ticking) -> Guard:
    return Guard(100_000, "0.30", timedelta(hours=20), 30, prices=PRICES, clock=clock)


@given(EVENTS)
def test_a_guard_whose_state_was_stored_goes_on_as_if_nothing_had_happened(events: list[tuple[str, int, int]]) -> None:
    clock, other_clock = Ticking(), Ticking()
    whole, stored = new(clock), new(other_clock)
    for event in events:
        state = json.loads(json.dumps(stored.state()))
        stored = Guard.from_state(state, running=True, prices=PRICES, clock=other_clock)
        assert happen(stored, other_clock, event) == happen(whole, clock, event)
    without_ids = [
        json.dumps({**guard.state(), "calls": guard.state()["calls"]["reserves"]}) for guard in (whole, stored)
    ]
    assert without_ids[0] == without_ids[1]


@given(EVENTS)
@settings(max_examples=150)
def test_a_run_never_passes_its_limits_but_for_one_report_and_can_always_make_it(
    events: list[tuple[str, int, int]],
) -> None:
    """Unless somebody extends the run, or a call uses more than its bounds."""
    clock, reports = Ticking(), 0
    guard = new(clock)
    for event in events:
        if event[0] in ("ask", "person", "wrap"):
            continue
        calls = guard.budget.account.calls
        happen(guard, clock, event)
        if guard.phase is Phase.WRAPUP:
            reports += guard.budget.account.calls - calls
        else:
            assert guard.budget.incremental_tokens <= 95_000
            assert guard.budget.cost <= 285_000
    if not reports:
        guard.wrap_up()
        report = guard.before_call("m", guard.context_tokens + 3_000, 1_000)
        assert report
        assert report.text_only
        assert report.max_tokens >= 64


def test_a_restart_drops_what_was_under_way_and_the_time_in_between() -> None:
    clock = Ticking()
    guard = guarded(100_000, clock=clock)
    guard.before_call("m", 0, 90_000)
    state = json.loads(json.dumps(guard.state()))
    clock.pass_by(10_000)
    again = Guard.from_state(state, clock=clock)
    call = again.before_call("m", 0, 90_000)
    assert call
    assert call.max_tokens == 90_000
    again.after_call(TokenUse(output=1))
    clock.pass_by(5)
    again.allow_task()
    assert again.budget.active_time == timedelta(seconds=5)


def test_the_state_is_small() -> None:
    guard = guarded()
    for number in range(300):
        spend(guard, 10)
        guard.said(f"Now number {number}.")
        guard.after_tool("read_file", {"path": f"src/module_{number}.py"}, result="text " * 500)
    assert len(json.dumps(guard.state())) < 20_000


@pytest.mark.parametrize(
    "tuning",
    [
        pytest.param({"reserves": (50, 60)}, id="shares that do not add up"),
        pytest.param({"injection_tokens": -1}, id="less than nothing to say"),
        pytest.param({"tools": {"deploy": "fly"}}, id="a kind that is none"),
    ],
)
def test_a_tuning_that_makes_no_sense_is_refused_at_once(tuning: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        GuardTuning(**tuning)


def test_another_tuning_may_go_on_with_a_state() -> None:
    guard = guarded()
    for _ in range(2):
        guard.after_tool("grep", {"q": "x"}, result="no match")
    patient = Guard.from_state(
        guard.state(),
        tuning=GuardTuning(loops=LoopTuning(threshold=5), economics=EconomicsTuning(max_extensions=0)),
    )
    assert patient.after_tool("grep", {"q": "x"}, result="no match") == ()
    assert guard.after_tool("grep", {"q": "x"}, result="no match") != ()
