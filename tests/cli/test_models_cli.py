"""Another model than Anthropic's, chosen in nudge.toml: a local one, and the mistakes on the way to it."""

from __future__ import annotations

import pytest

from nudge.testing import FakeOpenAI
from tests.cli.cli import Cli

LOCAL = 'model = "openai"\n[spending.models]\ndefault = "qwen3:8b"\n'
FREE = '[models."qwen3:8b"]\ninput = 0\noutput = 0\n'
HELLO = '{"reply": "Hello from your machine.", "actions": [], "recent_context": ""}'


@pytest.mark.process
@pytest.mark.parametrize("lacks", [(), ("json",)], ids=["a model that can", "a model that knows no forms"])
def test_a_local_model_answers_for_free(home: Cli, lacks: tuple[str, ...]) -> None:
    (home.home / "nudge.toml").write_text(LOCAL)
    (home.home / "prices.toml").write_text(FREE)
    with FakeOpenAI(api_key=None, default=HELLO, lacks=lacks) as service:
        (home.home / ".env").write_text(f"OPENAI_BASE_URL={service.base_url}\n")
        (home.home / ".env").chmod(0o600)
        found = {check["check"]: check for check in home.json("doctor")["checks"] if check["level"] != "error"}
        assert f"{service.base_url} answers" in found["key"]["text"]
        with home.start():
            assert "Hello from your machine." in home("chat", stdin="hello\n").stdout
            spent = home.json("budget", "--detail")["detail"]
    [usage] = [row for row in spent["usage"] if row["purpose"] == "conversation"]
    assert (usage["model"], usage["cost"], usage["known_price"]) == ("qwen3:8b", 0, True)
    assert {body["model"] for body in service.requests} == {"qwen3:8b"}


@pytest.mark.parametrize(
    ("toml", "env", "says"),
    [
        pytest.param('model = "openay"\n', "", "openai", id="an unknown provider"),
        pytest.param('model = "openai"\n', "", "no OPENAI_API_KEY or OPENAI_BASE_URL", id="neither key nor url"),
        pytest.param('model = "openai"\n', "OPENAI_API_KEY=sk-x\n", "no default model is set", id="no model named"),
    ],
)
def test_a_mistake_is_found_by_the_check_and_the_start(home: Cli, toml: str, env: str, says: str) -> None:
    (home.home / "nudge.toml").write_text(toml)
    (home.home / ".env").write_text(env)
    for words in (["run"], ["config", "check"]):
        done = home(*words, code=4)
        assert says in done.stdout + done.stderr


def test_the_check_points_out_a_model_without_a_price(home: Cli) -> None:
    (home.home / "nudge.toml").write_text(LOCAL)
    (home.home / ".env").write_text("OPENAI_BASE_URL=https://models.example.com/v1\nOPENAI_API_KEY=sk-x\n")
    warnings = [check for check in home.json("config", "check")["checks"] if check["level"] == "warning"]
    [unpriced] = [check for check in warnings if check["check"] == "prices"]
    assert unpriced["text"] == "qwen3:8b has no price, so its calls are charged at the highest known price."
    assert '[models."qwen3:8b"]' in unpriced["next_step"]


def test_the_check_says_nothing_about_the_price_of_a_model_on_this_machine(home: Cli) -> None:
    (home.home / "nudge.toml").write_text(LOCAL)
    (home.home / ".env").write_text("OPENAI_BASE_URL=http://127.0.0.1:9/v1\n")
    levels = {check["level"] for check in home.json("config", "check")["checks"] if check["check"] == "prices"}
    assert levels == {"ok"}


def test_scoring_a_local_model_costs_nothing(home: Cli) -> None:
    (home.home / "nudge.toml").write_text(LOCAL)
    with FakeOpenAI(api_key=None, default=HELLO) as service:
        (home.home / ".env").write_text(f"OPENAI_BASE_URL={service.base_url}\n")
        rows = home.json("eval", "coach", "--model", "--group", "safety")["rows"]
    assert service.requests
    assert [row["cost_micros"] for row in rows] == [0, 0]
