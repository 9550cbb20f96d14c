"""The coach with any model: one that knows tools, one that refuses them, one that refuses answers of a form."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from nudge.clock import SystemClock
from nudge.coach.heartbeat import Rhythm
from nudge.home.config import Config
from nudge.home.folder import Home
from nudge.home.prices import load_prices
from nudge.instants import DAY
from nudge.models import open_model
from nudge.spending.budgets import SpendingPlan
from nudge.spending.money import DOLLAR
from nudge.spending.routing import Routes
from nudge.testing import FakeAnthropic, FakeOpenAI, Life, Reply, live
from nudge.testing.model_server import ModelServer

START = datetime(2026, 2, 18, 12, tzinfo=UTC)
PURPOSES = ("heartbeat", "conversation", "briefing", "review", "summary", "work")
CALL = {"text": "call Mum", "when": "tomorrow at 17:00"}
IN_WORDS = json.dumps({"tool_calls": [{"name": "add_reminder", "input": CALL}]})


@pytest.mark.parametrize(
    ("provider", "fake", "calls"),
    [
        pytest.param("anthropic", FakeAnthropic, Reply(tools=[("add_reminder", CALL)]), id="anthropic with tools"),
        pytest.param("anthropic", lambda: FakeAnthropic(lacks=["tools"]), IN_WORDS, id="anthropic without tools"),
        pytest.param("openai", FakeOpenAI, Reply(tools=[("add_reminder", CALL)]), id="openai with tools"),
        pytest.param("openai", lambda: FakeOpenAI(lacks=["tools", "json"]), IN_WORDS, id="openai without either"),
    ],
)
def test_every_model_sets_the_reminder_that_was_asked_for(
    provider: str, fake: Callable[[], ModelServer], calls: Any
) -> None:
    with fake() as service:
        base = service.url if provider == "anthropic" else f"{service.url}/v1"
        name = provider.upper()
        settings = {f"{name}_API_KEY": service.api_key, f"{name}_BASE_URL": base}  # type: ignore[attr-defined]
        service.reply(calls)
        service.reply("Mum it is.")
        model = open_model(provider, settings, clock=SystemClock())

        async def scenario(life: Life) -> list[str]:
            try:
                return await life.say("remind me to call Mum tomorrow at 17:00")
            finally:
                await model.close()

        routes = Routes.of({"*": dict.fromkeys(PURPOSES, "some-local-model")})
        plan = SpendingPlan(1_000 * DOLLAR)
        (said,) = live(scenario, START, model=model, routes=routes, rhythm=Rhythm(every=30 * DAY), plan=plan)
    assert said.startswith("Mum it is.\n\nI'll remind you: call Mum.")


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.1:8000", True),
        ("http://[::1]:8000/v1", True),
        ("http://192.168.1.20:1234/v1", True),
        ("http://gpu.local:8000/v1", True),
        ("https://api.openai.com/v1", False),
        ("https://8.8.8.8/v1", False),
        ("", False),
    ],
)
def test_a_model_of_your_own_is_free_and_one_with_a_price_is_not(tmp_path: Path, url: str, local: bool) -> None:
    from dataclasses import replace

    environment = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": url}
    config = Config(home=Home(tmp_path), environment=environment)._replace(model="openai")
    assert config.has_local_model is local
    prices = replace(load_prices(), local=local)
    usage = {"input_tokens": 1_000_000, "output_tokens": 1_000}
    assert (prices.cost("qwen3:8b", usage) == 0) is local
    assert prices.cost("claude-sonnet-5-5", usage) > 0
