"""Each of these is a way in which a proxy is known to lose money, or to keep it from an agent that has it."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from nudge.errors import StoreError
from nudge.gateway.tokens import new_token, revoke_tokens
from nudge.spending.lifecycle import SpendingState
from nudge.testing import FakeAnthropic, FakeResponses, Fault, FaultKind, Loopback
from tests.gateway.kit import HEADERS, KEY, MODEL, OPENAI_KEY, PRICES, Rig, ask, cost_of, gateway_on

TENTH = 3.0
"""A window that gives a tenth of a dollar a day."""


def service(answer: Callable[[dict[str, Any]], Response], path: str = "/v1/messages") -> Loopback:
    """A service that answers exactly so."""

    async def ask(request: Request) -> Response:
        return answer(await request.json())

    return Loopback(Starlette(routes=[Route(path, ask, methods=["POST"])]))


def said(usage: dict[str, Any] | None, model: str = MODEL) -> Response:
    return JSONResponse({"id": "m1", "model": model, "content": [], "usage": usage})


async def post(rig: Rig, body: dict[str, Any], agent: str = "builder", **headers: str) -> httpx2.Response:
    async with httpx2.AsyncClient(timeout=60) as client:
        return await client.post(f"{rig.base(agent)}/v1/messages", json=body, headers={**HEADERS, **headers})


async def test_a_call_is_written_in_two_commits_and_its_log_comes_with_its_cost() -> None:
    with FakeAnthropic() as upstream:
        async with gateway_on(upstream.url) as rig:
            await post(rig, ask())
            await rig.settled()
            written: list[str] = []
            rig.store.database.probe = written.append
            assert (await post(rig, ask())).status_code == 200
            await rig.settled()
            assert written.count("commit") == 2, "one for the hold, one for what it came to"
            assert {"usage_put", "gateway_calls_add"} <= set(written[written.index("commit") + 1 :])
            first, second = await rig.calls()
            assert (first.result, first.cost) == (second.result, second.cost) == ("done", second.cost)


async def test_concurrent_first_requests_do_not_race_past_the_limit() -> None:
    with FakeAnthropic(default="word " * 800) as upstream:
        async with gateway_on(upstream.url, window=TENTH, patience=10) as rig:
            answers = await asyncio.gather(*(post(rig, ask(max_tokens=4_096)) for _ in range(30)))
            statuses = [answer.status_code for answer in answers]
            spent = await rig.spent()
            assert set(statuses) == {200, 402}
            assert spent == cost_of(upstream.served) <= 100_000
            assert spent > 80_000, "held money comes back and is used"


async def test_sessions_of_one_agent_share_its_limit_and_a_run_has_its_own() -> None:
    with FakeAnthropic(default="word " * 800) as upstream:
        async with gateway_on(upstream.url) as rig:
            await rig.spending.open_run("builder", "s1", 0.05)
            runs = [{"x-claude-code-session-id": "s1", "x-claude-code-agent-id": f"a{n}"} for n in range(12)]
            answers = await asyncio.gather(*(post(rig, ask(max_tokens=4_096), **headers) for headers in runs))
            assert {answer.status_code for answer in answers} == {200, 402}
            assert await rig.spent() <= 50_000
            other = await post(rig, ask(max_tokens=4_096), **{"x-claude-code-session-id": "s2"})
            assert other.status_code == 200
            assert {call.run.partition("/")[0] for call in await rig.calls()} == {"s1", "s2"}


@pytest.mark.parametrize(
    ("usage", "charged"),
    [
        pytest.param({"input_tokens": 0, "output_tokens": 0}, 0, id="an explicit zero is zero"),
        pytest.param({"input_tokens": 1_000, "output_tokens": 100}, 3_000, id="plain"),
        pytest.param(
            {"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 10_000}, 1_000, id="cache reads"
        ),
        pytest.param(
            {
                "input_tokens": 0,
                "output_tokens": 0,
                "cache_creation_input_tokens": 3_000,
                "cache_creation": {"ephemeral_5m_input_tokens": 1_000, "ephemeral_1h_input_tokens": 2_000},
            },
            2_500 + 8_000,
            id="writes for five minutes and for an hour",
        ),
        pytest.param(
            {"input_tokens": 0, "output_tokens": 0, "server_tool_use": {"web_search_requests": 3}},
            30_000,
            id="searches by the service",
        ),
    ],
)
async def test_a_usage_is_charged_as_it_is_told(usage: dict[str, Any], charged: int) -> None:
    with service(lambda body: said(usage)) as upstream:
        async with gateway_on(upstream.url) as rig:
            assert (await post(rig, ask())).status_code == 200
            assert await rig.spent() == charged


async def test_a_missing_usage_is_charged_at_the_worst_case() -> None:
    with service(lambda body: said(None)) as upstream:
        async with gateway_on(upstream.url) as rig:
            await post(rig, ask(max_tokens=1_000))
            (call,) = await rig.calls()
            assert await rig.spent() == call.held >= 10_000


async def test_rates_above_the_long_context_threshold_count() -> None:
    usage = {"input_tokens": 150_000, "output_tokens": 1_000}
    with service(lambda body: said(usage, "claude-haiku-5-5")) as upstream:
        async with gateway_on(upstream.url) as rig:
            await post(rig, {**ask("word " * 150_000), "model": "claude-haiku-5-5"})
            assert await rig.spent() == 77_500 != 15_500


async def test_an_unknown_model_costs_the_highest_price_and_is_flagged() -> None:
    with service(lambda body: said({"input_tokens": 1_000, "output_tokens": 0}, "brand-new")) as upstream:
        async with gateway_on(upstream.url) as rig:
            await post(rig, {**ask(), "model": "brand-new"})
            assert await rig.spent() == PRICES.cost("brand-new", {"input_tokens": 1_000, "output_tokens": 0}) == 60_000
            (row,) = await rig.store.usage.recent("builder")
            assert not row.known_price


async def test_large_limits_do_not_block_an_agent_at_half_its_budget() -> None:
    """Coding agents ask for 64,000 tokens and use 2,000: sixteen times what a tenth of a dollar pays for."""
    with FakeAnthropic(default="word " * 300) as upstream:
        async with gateway_on(upstream.url, window=TENTH) as rig:
            while (await post(rig, ask(max_tokens=64_000))).status_code == 200:
                pass
            limits = [body["max_tokens"] for body in upstream.requests]
            assert all(2_048 <= limit < 64_000 for limit in limits)
            assert 0.75 * 100_000 < await rig.spent() <= 100_000
            assert all(call.clamped for call in (await rig.calls())[1:])


async def test_a_database_that_is_away_lets_nothing_through() -> None:
    with FakeAnthropic() as upstream:
        async with gateway_on(upstream.url) as rig:

            def away(name: str) -> None:
                raise StoreError("The disk is gone.")

            rig.store.database.probe = away
            answer = await post(rig, ask())
            assert answer.status_code == 503
            assert upstream.requests == []
            rig.store.database.probe = None
            assert (await post(rig, ask())).status_code == 200


async def test_a_charge_that_cannot_be_written_stays_held() -> None:
    with FakeAnthropic() as upstream:
        async with gateway_on(upstream.url) as rig:
            holds: list[str] = []

            def away_after_the_hold(name: str) -> None:
                holds.append(name)
                if "holds_change" in holds:
                    raise StoreError("The disk is gone.")

            rig.store.database.probe = away_after_the_hold
            await post(rig, ask())
            await rig.settled()
            rig.store.database.probe = None
            assert await rig.held() > 0, "and is charged at its worst case when it expires"


@pytest.mark.parametrize(
    "path", ["v1/messages/batches", "v1/files", "v1/embeddings", "v1/complete", "v1/images/generations"]
)
async def test_a_route_that_nobody_counts_is_refused(path: str) -> None:
    with FakeAnthropic() as upstream:
        async with gateway_on(upstream.url) as rig, httpx2.AsyncClient() as client:
            answer = await client.post(f"{rig.base()}/{path}", json={}, headers=HEADERS)
            assert answer.status_code == 403
            assert "cannot count" in answer.json()["error"]["message"]


async def test_the_day_winds_down_and_ends_as_for_the_coach() -> None:
    usage = {"input_tokens": 0, "output_tokens": 9_100}
    with service(lambda body: said(usage)) as upstream:
        async with gateway_on(upstream.url, window=TENTH) as rig:
            old, new = {"x-claude-code-session-id": "old"}, {"x-claude-code-session-id": "new"}
            assert (await post(rig, ask(max_tokens=9_200), **old)).status_code == 200  # 91 %
            await rig.settled()
            refused = await post(rig, ask(max_tokens=20), **new)
            assert refused.status_code == 402
            assert "winding down" in refused.json()["error"]["message"]
            usage["output_tokens"] = 9
            assert (await post(rig, ask(max_tokens=20), **{**old, "x-claude-code-agent-id": "a"})).status_code == 200
            await rig.settled()
            usage["output_tokens"] = 2_000  # more than was held for it: the service did not keep to the limit
            assert (await post(rig, ask(max_tokens=20), **old)).status_code == 200
            await rig.settled()
            assert (await rig.spending.state("builder", rig.clock.now())).state is SpendingState.BUDGET_EXCEEDED
            assert (await post(rig, ask(max_tokens=20), **old)).status_code == 402
            await rig.spending.budgets.top_up("builder", 10_000_000, rig.clock.now())
            assert (await post(rig, ask(max_tokens=20), **new)).status_code == 200


@pytest.mark.parametrize(
    ("protocol", "told"),
    [
        pytest.param("messages", b"event: error\ndata: ", id="Anthropic"),
        pytest.param("responses", b"event: error\ndata: ", id="OpenAI"),
    ],
)
async def test_streams_in_flight_are_cut_above_110_percent(protocol: str, told: bytes) -> None:
    with FakeAnthropic(default="word " * 100) as one, FakeResponses(default="word " * 100) as other:
        upstream = one if protocol == "messages" else other
        async with gateway_on(one.url, other.base_url, window=TENTH) as rig, httpx2.AsyncClient(timeout=20) as client:
            upstream.fail(Fault(FaultKind.STALL, pieces=5))
            body = {**ask(max_tokens=2_048, stream=True), "input": "hi", "max_output_tokens": 2_048}
            headers = {**HEADERS, "authorization": f"Bearer {OPENAI_KEY}"}

            begun = asyncio.Event()

            async def read() -> bytes:
                got = b""
                url = f"{rig.base()}/v1/{protocol}"
                async with client.stream("POST", url, json=body, headers=headers) as answer:
                    async for piece in answer.aiter_bytes():
                        got += piece
                        begun.set()
                return got

            stream = asyncio.create_task(read())
            await begun.wait()
            async with rig.spending.hold("builder", model=MODEL, input_bound=1, max_tokens=64) as hold:
                hold.settle({"input_tokens": 1, "output_tokens": 12_000})
            got = await stream
            assert told in got
            assert b"nudge budget top-up" in got
            assert await asyncio.to_thread(upstream.wait_for_abandoned, 1)
            assert (await rig.calls())[0].result == "cut"
            assert await rig.held() == 0


async def test_compressed_answers_pass_byte_for_byte_and_are_read() -> None:
    packed = gzip.compress(json.dumps({"model": MODEL, "usage": {"input_tokens": 5, "output_tokens": 10}}).encode())
    seen: list[str] = []

    async def answer(request: Request) -> Response:
        seen.append(request.headers["accept-encoding"])
        return Response(packed, headers={"content-encoding": "gzip", "content-type": "application/json"})

    with Loopback(Starlette(routes=[Route("/v1/messages", answer, methods=["POST"])])) as upstream:
        async with gateway_on(upstream.url) as rig, httpx2.AsyncClient() as client:
            headers = {**HEADERS, "accept-encoding": "gzip, br, zstd"}
            async with client.stream("POST", f"{rig.base()}/v1/messages", json=ask(), headers=headers) as got:
                raw = b"".join([piece async for piece in got.aiter_raw()])
            assert raw == packed
            assert await rig.spent() == 110
            assert seen == ["gzip"]


async def test_compressed_requests_are_read_and_clamped() -> None:
    bodies: list[tuple[str | None, bytes]] = []

    async def answer(request: Request) -> Response:
        bodies.append((request.headers.get("content-encoding"), await request.body()))
        return said({"input_tokens": 1, "output_tokens": 1})

    with Loopback(Starlette(routes=[Route("/v1/messages", answer, methods=["POST"])])) as upstream:
        async with gateway_on(upstream.url, window=TENTH) as rig, httpx2.AsyncClient() as client:
            for limit in (100, 60_000):
                packed = gzip.compress(json.dumps(ask(max_tokens=limit)).encode())
                headers = {**HEADERS, "content-encoding": "gzip"}
                await client.post(f"{rig.base()}/v1/messages", content=packed, headers=headers)
                await rig.settled()
            assert bodies[0][0] == "gzip"
            assert gzip.decompress(bodies[0][1]) == json.dumps(ask(max_tokens=100)).encode()
            assert bodies[1][0] is None
            assert json.loads(bodies[1][1])["max_tokens"] < 60_000


async def test_everything_else_passes_as_it_came() -> None:
    seen: list[tuple[dict[str, str], bytes, str]] = []
    events = [b": a comment\n\n", b'event: ping\ndata: {"type": "ping"}\n\n', b"event: strange\r\nda", b"ta: {\r\n\r\n"]

    async def answer(request: Request) -> Response:
        seen.append((dict(request.headers), await request.body(), str(request.url.query)))

        async def stream() -> AsyncIterator[bytes]:
            for event in events:
                yield event

        return StreamingResponse(
            stream(), media_type="text/event-stream", headers={"anthropic-organization-id": "o1", "x-later": "?"}
        )

    with Loopback(Starlette(routes=[Route("/v1/messages", answer, methods=["POST"])])) as upstream:
        async with gateway_on(upstream.url) as rig, httpx2.AsyncClient() as client:
            body = b'{  "max_tokens":77,"model" :"claude-opus-5-5", "new": [1e400, "\\ud83d"], "messages":[]}'
            headers = {**HEADERS, "anthropic-beta": "tomorrow-2027", "x-nobody-knows": "1", "x-nudge-run": "r"}
            url = f"{rig.base()}/v1/messages?beta=true&x=%20"
            got = await client.post(url, content=body, headers=headers)
            assert got.content == b"".join(events)
            assert (got.headers["anthropic-organization-id"], got.headers["x-later"]) == ("o1", "?")
            (headers_seen, body_seen, query_seen) = seen[0]
            assert body_seen == body
            assert query_seen == "beta=true&x=%20"
            assert headers_seen["anthropic-beta"] == "tomorrow-2027"
            assert headers_seen["x-api-key"] == KEY
            assert headers_seen["x-nobody-knows"] == "1"
            assert "x-nudge-run" not in headers_seen


async def test_a_token_stands_for_the_agent_and_for_our_key() -> None:
    with FakeAnthropic() as upstream:
        async with gateway_on(upstream.url, keys={"anthropic": KEY}, agents=("builder", "other")) as rig:
            now = rig.clock.now()
            token = await new_token(rig.store, "builder", now)
            stored = str(await rig.store.database.all("records_get", {"agent": "builder", "name": "gateway.tokens"}))
            assert token.rpartition(".")[2] not in stored
            async with httpx2.AsyncClient() as client:
                for url, key, status in [
                    (f"{rig.base()}/v1/messages", token, 200),
                    (f"{rig.url}/v1/messages", token, 200),
                    (f"{rig.base('other')}/v1/messages", token, 401),
                    (f"{rig.url}/v1/messages", token + "x", 401),
                    (f"{rig.url}/v1/messages", "nudge.builder.", 401),
                    (f"{rig.url}/v1/messages", "nudge.nobody.abc", 401),
                    (f"{rig.url}/v1/messages", KEY, 401),
                    (f"{rig.base('nobody')}/v1/messages", KEY, 404),
                ]:
                    answer = await client.post(url, json=ask(), headers={**HEADERS, "x-api-key": key})
                    assert answer.status_code == status, (url, key[:20])
                assert await revoke_tokens(rig.store, "builder") == 1
                answer = await client.post(
                    f"{rig.url}/v1/messages", json=ask(), headers={**HEADERS, "x-api-key": token}
                )
                assert answer.status_code == 401, "a token that was revoked is nobody's"
            assert len(upstream.served) == 2


async def test_a_service_that_cannot_be_reached_costs_nothing() -> None:
    async with gateway_on("http://127.0.0.1:9") as rig:
        answer = await post(rig, ask())
        assert answer.status_code == 502
        assert answer.json()["type"] == "error"
        assert await rig.spent() == 0
        assert await rig.held() == 0
