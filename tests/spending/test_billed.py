"""Provider's bill ≤ ledger: the whole daemon over HTTP, with services that count what they did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from nudge.coach.conversation import STILL_WAITING
from nudge.home.prices import load_prices
from nudge.models.anthropic import AnthropicModel
from nudge.models.openai import OpenAIModel
from nudge.models.remote import RemoteModel
from nudge.spending.budgets import SpendingPlan
from nudge.spending.routing import Routes
from nudge.testing import Fault, FaultKind, Life, live
from nudge.testing.anthropic_server import FakeAnthropic
from nudge.testing.model_server import ModelServer, Reply
from nudge.testing.openai_server import FakeOpenAI

NOON = datetime(2026, 2, 18, 12, tzinfo=UTC)
PURPOSES = ("heartbeat", "conversation", "briefing", "review", "summary", "work")
ANSWER = "Take a walk."


@dataclass(frozen=True)
class Service:
    """A provider of which the daemon has one model for everything."""

    model: str
    fake: Callable[[], ModelServer]
    open: Callable[[ModelServer, Any], RemoteModel]

    def routes(self) -> Routes:
        return Routes.of({"*": dict.fromkeys(PURPOSES, self.model)})


SERVICES = {
    "anthropic": Service(
        "claude-sonnet-5-5",
        lambda: FakeAnthropic(default=ANSWER),
        lambda fake, clock: AnthropicModel("sk-x", clock=clock, base_url=fake.url, timeout=20),
    ),
    "openai": Service(
        "gpt-5.2",
        lambda: FakeOpenAI("sk-x", default=ANSWER),
        lambda fake, clock: OpenAIModel("sk-x", clock=clock, base_url=f"{fake.url}/v1", timeout=20),
    ),
}


class Late:
    """A model that is made when the virtual clock is there."""

    def __init__(self, make: Callable[[Any], RemoteModel]) -> None:
        self._make = make
        self._made: RemoteModel | None = None
        self.clock: Any = None
        self.name = "late"

    @property
    def made(self) -> RemoteModel:
        self._made = self._made or self._make(self.clock)
        return self._made

    async def complete(self, request: Any) -> Any:
        return await self.made.complete(request)

    def stream(self, request: Any) -> Any:
        return self.made.stream(request)

    async def close(self) -> None:
        await self.made.close()


@dataclass(frozen=True)
class Seen:
    """What became of one message: the answer, what the ledger says and what the service bills, in micro-dollars."""

    said: list[str]
    spent: int
    held: int
    billed: int
    calls: int
    limit: int


def ask(service: Service, faults: list[Fault], *, daily: int = 5_000_000, reply: Any = None, minutes: int = 5) -> Seen:
    """The person writes one message to the daemon while these faults happen."""
    with service.fake() as fake:
        fake.api_key = "sk-x"  # type: ignore[attr-defined]
        if reply is not None:
            fake.reply(reply)
        for fault in faults:
            fake.fail(fault)
        model = Late(lambda clock: service.open(fake, clock))

        async def scenario(life: Life) -> Seen:
            model.clock = life.clock
            heard = [*await life.say("What do you think about Kant?"), *await life.passes(minutes=minutes)]
            said = [text for text in heard if text != STILL_WAITING]
            status = await life.daemon.spending.state("coach", life.now)
            prices = load_prices()
            billed = sum(prices.cost(one.model, one.usage) for one in fake.bill)
            await model.close()
            return Seen(said, status.meter.spent, status.held, billed, len(fake.bill), status.meter.limit)

        plan = SpendingPlan(daily * 30)
        return live(scenario, NOON, model=model, plan=plan, routes=service.routes())


@pytest.fixture(params=SERVICES.values(), ids=SERVICES.keys())
def service(request: pytest.FixtureRequest) -> Service:
    found: Service = request.param
    return found


LOST = {
    "an answer cut in the middle": Fault(FaultKind.TRUNCATE),
    "a dropped connection": Fault(FaultKind.DROP),
    "broken JSON": Fault(FaultKind.BROKEN_JSON),
    "a time-out": Fault(FaultKind.HANG),
    "a gateway's 502": Fault(FaultKind.PAGE, status=502),
}


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("fault", LOST.values(), ids=LOST.keys())
def test_every_attempt_that_may_have_been_billed_is_charged(service: Service, fault: Fault, times: int) -> None:
    seen = ask(service, [fault] * times)
    assert (len(seen.said), seen.held) == (1, 0)
    assert seen.calls == 2
    assert seen.billed <= seen.spent <= seen.limit
    assert (seen.said == ["Take a walk."]) == (times == 1)


def test_another_attempt_is_made_only_with_money_for_it(service: Service) -> None:
    one = ask(service, [LOST["a time-out"]] * 2).spent // 2
    seen = ask(service, [LOST["a dropped connection"]] * 2, daily=one * 6 // 5)
    assert seen.calls == 1, "the second would not fit"
    assert seen.billed <= seen.spent <= seen.limit


FREE = {
    "a 429": ([Fault.status_of(429)], 1),
    "four 429": ([Fault.status_of(429)] * 4, 0),
    "a 429 that asks for an hour": ([Fault.status_of(429, retry_after=3_600)], 0),
    "four 5xx": ([Fault.status_of(500), Fault.status_of(503), Fault.status_of(529), Fault.status_of(502)], 0),
    "a 400": ([Fault.status_of(400, message="prompt is too long")], 0),
    "a 401": ([Fault.status_of(401)], 0),
}


@pytest.mark.parametrize(("faults", "calls"), FREE.values(), ids=FREE.keys())
def test_what_the_service_did_not_do_costs_nothing(service: Service, faults: list[Fault], calls: int) -> None:
    seen = ask(service, faults)
    assert (len(seen.said), seen.calls, seen.held) == (1, calls, 0)
    assert seen.spent == seen.billed


@pytest.mark.parametrize("count", [2**63, 10**30, -1, 1.5, "many", None], ids=str)
def test_a_usage_that_cannot_be_true_keeps_the_answer_and_costs_the_worst_case(service: Service, count: Any) -> None:
    usage = dict.fromkeys(("input_tokens", "output_tokens", "prompt_tokens", "completion_tokens"), count)
    seen = ask(service, [], reply=Reply(ANSWER, usage=usage))
    assert (seen.said, seen.calls, seen.held) == (["Take a walk."], 1, 0)
    assert seen.billed < seen.spent <= seen.limit
