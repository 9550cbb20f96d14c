"""Real coding agents through the gateway: a session with tools finishes, and the ledger has what the service billed.

'make test' installs Claude Code and Codex from npm, 'make clients' also opencode and Gemini. Without them the tests say
so and are skipped, unless NUDGE_CLIENTS=needed.
"""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from nudge.gateway.app import GatewayOptions
from nudge.gateway.repeats import Repeats
from nudge.testing import FakeAnthropic, FakeGoogle, FakeResponses, Reply
from tests.gateway.kit import GOOGLE_KEY, KEY, MODEL, OPENAI_KEY, Rig, cost_of, gateway_on

pytestmark = [pytest.mark.process, pytest.mark.slow]

CLIENTS = Path(__file__).parents[1] / "clients"
MORE = ("opencode", "gemini")
TASK = "Run the two commands and tell me what they print."


def program(name: str) -> str:
    path = (CLIENTS / "more" if name in MORE else CLIENTS) / "node_modules" / ".bin" / name
    if not path.exists():
        reason = f"{name} is not installed; run 'make clients' (needs npm)"
        if os.environ.get("NUDGE_CLIENTS") == "needed" and name not in MORE:
            pytest.fail(reason)
        pytest.skip(reason)
    return str(path)


async def run(folder: Path, *command: str, **environment: str) -> tuple[int, str]:
    """Run a program in a home and a folder of its own; its exit code and all it said."""
    (folder / "work").mkdir()
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TERM", "TMPDIR") if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder / "work",
        env={**kept, "HOME": str(folder), **environment},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(120):
            said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, said.decode()


def claude_answers(body: dict[str, Any]) -> Reply | str:
    """Two commands, one after the other, then an answer. What is no such session (a title, a topic) gets a word."""
    shell = next((tool["name"] for tool in body.get("tools", ()) if tool.get("name") in ("Bash", "bash")), None)
    if shell is None:
        return "ok"
    blocks = [block for turn in body["messages"] if isinstance(turn["content"], list) for block in turn["content"]]
    results = [str(block.get("content")) for block in blocks if block.get("type") == "tool_result"]
    if len(results) < 2:
        command = f"echo number-$((20 + {len(results) + 1}))"
        return Reply("Let me see.", tools=[(shell, {"command": command, "description": "Print a number"})])
    assert "number-21" in results[0]
    assert "number-22" in results[1]
    return "They print number-21 and number-22."


def codex_answers(body: dict[str, Any]) -> Reply | str:
    items = body["input"] if isinstance(body["input"], list) else []
    results = [str(item.get("output")) for item in items if str(item.get("type", "")).endswith("_call_output")]
    if not any(tool.get("name") == "exec_command" for tool in body.get("tools", ())):
        return "ok"
    if len(results) < 2:
        command = f"echo number-$((20 + {len(results) + 1}))"
        return Reply("", thinking="Hm. " * 40, tools=[("exec_command", {"cmd": command})])
    assert "number-21" in results[0]
    assert "number-22" in results[1]
    return "They print number-21 and number-22."


async def claude(rig: Rig, folder: Path) -> tuple[int, str]:
    return await run(
        folder,
        program("claude"),
        "-p",
        TASK,
        "--allowedTools",
        "Bash",
        ANTHROPIC_BASE_URL=rig.base(),
        ANTHROPIC_API_KEY=KEY,
    )


async def codex(rig: Rig, folder: Path) -> tuple[int, str]:
    provider = f'{{name="nudge",base_url="{rig.base()}/v1",env_key="OPENAI_API_KEY",wire_api="responses"}}'
    return await run(
        folder,
        program("codex"),
        "exec",
        "--skip-git-repo-check",
        "-c",
        f"model_providers.nudge={provider}",
        "-c",
        'model_provider="nudge"',
        "-s",
        "danger-full-access",
        "-m",
        "gpt-5.3-codex",  # its tools are functions; newer ones are asked to write JavaScript
        TASK,
        OPENAI_API_KEY=OPENAI_KEY,
    )


async def opencode(rig: Rig, folder: Path) -> tuple[int, str]:
    limits = {"limit": {"context": 200_000, "output": 32_000}, "tool_call": True}
    provider = {"options": {"baseURL": f"{rig.base()}/v1", "apiKey": KEY}, "models": {MODEL: {"name": "m", **limits}}}
    config = {"provider": {"anthropic": provider}, "permission": {"bash": "allow"}, "autoupdate": False}
    return await run(
        folder,
        program("opencode"),
        "run",
        "-m",
        f"anthropic/{MODEL}",
        TASK,
        OPENCODE_CONFIG_CONTENT=json.dumps(config),
        OPENCODE_DISABLE_MODELS_FETCH="1",
        OPENCODE_DISABLE_AUTOUPDATE="1",
    )


def gemini_answers(body: dict[str, Any]) -> Reply | str:
    tools = [one["name"] for tool in body.get("tools", ()) for one in tool.get("functionDeclarations", ())]
    if "run_shell_command" not in tools:
        return "ok"
    parts = [part for content in body["contents"] for part in content["parts"]]
    results = [str(part["functionResponse"]) for part in parts if "functionResponse" in part]
    if len(results) < 2:
        command = f"printf 'number-%d' {21 + len(results)}"  # it refuses to run $(…)
        return Reply("Let me see.", thinking="Hm. " * 40, tools=[("run_shell_command", {"command": command})])
    assert "number-21" in results[0]
    assert "number-22" in results[1]
    return "They print number-21 and number-22."


async def gemini(rig: Rig, folder: Path) -> tuple[int, str]:
    (folder / ".gemini").mkdir()
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True},
    }
    (folder / ".gemini" / "settings.json").write_text(json.dumps(settings))
    return await run(
        folder,
        program("gemini"),
        *("-m", "gemini-2.5-flash", "--skip-trust", "--yolo", "-p", TASK),
        GOOGLE_GEMINI_BASE_URL=f"{rig.base()}/runs/session-1",
        GEMINI_API_KEY=GOOGLE_KEY,
    )


DRIVEN = [
    pytest.param(claude, id="Claude Code"),
    pytest.param(codex, id="Codex"),
    pytest.param(opencode, id="opencode"),
    pytest.param(gemini, id="Gemini"),
]


@pytest.mark.parametrize("client", DRIVEN)
async def test_a_session_with_tools_finishes_and_costs_what_the_service_billed(client: Any, tmp_path: Path) -> None:
    with (
        FakeAnthropic(answer=claude_answers) as one,
        FakeResponses(answer=codex_answers) as other,
        FakeGoogle(answer=gemini_answers) as third,
    ):
        service = {codex: other, gemini: third}.get(client, one)
        async with gateway_on(one.url, other.base_url, third.url) as rig:
            code, said = await client(rig, tmp_path)
            assert (code, "They print number-21 and number-22." in said) == (0, True), said
            assert len(service.served) >= 3
            assert await rig.spent() == cost_of(service.served) > 0
            assert await rig.held() == 0
            calls = await rig.calls()
            assert {call.result for call in calls} == {"done"}
            assert len({call.run.partition("/")[0] for call in calls}) == 1
            assert all(call.run for call in calls), "the session names the run"


@pytest.mark.parametrize("client", DRIVEN)
async def test_a_refusal_is_shown_at_once_and_not_hammered(client: Any, tmp_path: Path) -> None:
    with FakeAnthropic() as one, FakeResponses() as other, FakeGoogle() as third:
        async with gateway_on(one.url, other.base_url, third.url, window=0) as rig:
            code, said = await client(rig, tmp_path)
            assert code != 0
            assert "nudge budget top-up" in said
            made = 2 if client is opencode else 1  # it asks for a title beside its answer
            assert [call.result for call in await rig.calls()] == ["refused"] * made
            assert one.served == other.served == third.served == []


async def test_claude_code_that_repeats_itself_is_stopped_with_the_reason(tmp_path: Path) -> None:
    def again(body: dict[str, Any]) -> Reply | str:
        tools = [tool.get("name") for tool in body.get("tools", ())]
        return Reply("", tools=[("Bash", {"command": "echo one", "description": "Print"})]) if "Bash" in tools else "ok"

    options = GatewayOptions(repeats=lambda agent: Repeats.REFUSE)
    with FakeAnthropic(answer=again) as service:
        async with gateway_on(service.url, options=options) as rig:
            code, said = await claude(rig, tmp_path)
            assert code != 0
            assert "Doom loop detected: 'Bash' called 5 times with identical arguments" in said
            results = [call.result for call in await rig.calls()]
            assert results.count("repeats itself") == 1, "it is shown at once and not tried again"
            lines = await rig.store.feed.recent(agent="builder", limit=10)
            assert {line.kind for line in lines} == {"repeats"}
