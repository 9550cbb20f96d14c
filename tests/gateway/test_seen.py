"""What others see of the gateway's calls: warnings in the headers that clients know, traces and metrics."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import httpx2
import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nudge.gateway.calls import Protocol
from nudge.gateway.refusals import warnings
from nudge.gateway.telemetry import ENDPOINT, observing
from nudge.instants import HOUR, SECOND, Instant
from nudge.spending.allowance import SpendingDay
from nudge.testing import FakeAnthropic
from nudge.testing.loopback import Loopback
from tests.gateway.kit import HEADERS, ask, gateway_on
from tests.times import NOON

UNIFIED = "anthropic-ratelimit-unified-"
CODEX = "x-codex-primary-"
RESET = str((NOON + 12 * HOUR) // SECOND)


@pytest.mark.parametrize(
    ("protocol", "spent", "answered", "told"),
    [
        pytest.param(Protocol.MESSAGES, 59, "", {}, id="a green day is not mentioned"),
        pytest.param(
            Protocol.MESSAGES,
            60,
            "",
            {"status": "allowed", "reset": RESET, "5h-utilization": "0.60"},
            id="a yellow one is",
        ),
        pytest.param(
            Protocol.MESSAGES,
            93,
            "",
            {"status": "allowed_warning", "5h-utilization": "0.93", "5h-surpassed-threshold": "0.9"},
            id="from 90 % it is a warning",
        ),
        pytest.param(Protocol.MESSAGES, 93, f"{UNIFIED}status", {}, id="the service's own limits stay"),
        pytest.param(
            Protocol.RESPONSES,
            93,
            "",
            {"used-percent": "93", "window-minutes": "1440", "reset-at": RESET},
            id="Codex reads percent",
        ),
        pytest.param(Protocol.RESPONSES, 93, f"{CODEX}used-percent", {}, id="and the service's own first"),
        pytest.param(Protocol.CHAT, 93, "", {}, id="no client of the chat protocol looks for it"),
    ],
)
def test_a_warning_rides_on_the_headers_that_clients_know(
    protocol: Protocol, spent: int, answered: str, told: dict[str, str]
) -> None:
    day = SpendingDay(100, spent, Instant(NOON + 12 * HOUR))
    headers = warnings(protocol, day, NOON, [(answered.encode(), b"x")] if answered else [])
    prefix = UNIFIED if protocol is Protocol.MESSAGES else CODEX
    found = {name.decode().removeprefix(prefix): value.decode() for name, value in headers}
    assert {name: found.get(name) for name in told} == told
    assert bool(found) is bool(told)


async def test_an_answer_late_in_the_day_says_so() -> None:
    with FakeAnthropic() as upstream:
        async with gateway_on(upstream.url, window=3) as rig, httpx2.AsyncClient() as client:
            url = f"{rig.base()}/v1/messages"
            first = await client.post(url, json=ask(), headers=HEADERS)
            assert not [name for name in first.headers if name.startswith(UNIFIED)]
            async with rig.spending.hold("builder", model="claude-sonnet-5-5", input_bound=1, max_tokens=6_500) as hold:
                hold.settle({"input_tokens": 0, "output_tokens": 6_500})
            second = await client.post(url, json=ask(), headers=HEADERS)
            assert second.status_code == 200
            assert second.headers[f"{UNIFIED}status"] == "allowed"
            assert second.headers[f"{UNIFIED}5h-utilization"] == "0.65"


class Collector:
    """An OTLP/HTTP receiver."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.metrics: dict[str, Any] = {}
        self.keys: set[str | None] = set()
        routes = [Route(f"/v1/{kind}", self._take, methods=["POST"]) for kind in ("traces", "metrics")]
        self.app = Starlette(routes=routes)

    async def _take(self, request: Request) -> Response:
        self.keys.add(request.headers.get("x-key"))
        body = await request.body()
        if request.url.path.endswith("traces"):
            told = ExportTraceServiceRequest.FromString(body)
            self.spans += [span for one in told.resource_spans for scope in one.scope_spans for span in scope.spans]
        else:
            points = ExportMetricsServiceRequest.FromString(body)
            scopes = [scope for one in points.resource_metrics for scope in one.scope_metrics]
            self.metrics |= {metric.name: metric for scope in scopes for metric in scope.metrics}
        return Response(b"", media_type="application/x-protobuf")


async def test_calls_become_spans_and_points() -> None:
    collector = Collector()
    with Loopback(collector.app) as there, FakeAnthropic() as upstream:
        environment = {ENDPOINT: there.url, "OTEL_EXPORTER_OTLP_HEADERS": "x-key=k1"}
        async with (
            observing(environment) as observe,
            gateway_on(upstream.url, observe=observe) as rig,
            httpx2.AsyncClient() as client,
        ):
            trace = "0af7651916cd43dd8448eb211c80319c"
            more = {"traceparent": f"00-{trace}-b7ad6b7169203331-01", "x-nudge-run": "s1"}
            answer = await client.post(f"{rig.base()}/v1/messages", json=ask(), headers={**HEADERS, **more})
            assert answer.status_code == 200
            spent = await rig.spent()
    (span,) = collector.spans
    told = {one.key: one.value for one in span.attributes}
    assert span.name == "chat claude-sonnet-5-5"
    assert span.trace_id.hex() == trace
    assert told["gen_ai.provider.name"].string_value == "anthropic"
    assert told["gen_ai.conversation.id"].string_value == "s1"
    assert told["gen_ai.usage.input_tokens"].int_value == answer.json()["usage"]["input_tokens"]
    assert told["gen_ai.usage.output_tokens"].int_value == answer.json()["usage"]["output_tokens"]
    assert round(told["nudge.cost"].double_value * 1_000_000) == spent > 0
    assert {"gen_ai.client.operation.duration", "gen_ai.client.token.usage", "nudge.cost"} <= collector.metrics.keys()
    assert collector.keys == {"k1"}


async def test_a_collector_that_is_away_costs_no_call_anything() -> None:
    with FakeAnthropic() as upstream:
        async with (
            observing({ENDPOINT: "http://127.0.0.1:9"}) as observe,
            gateway_on(upstream.url, observe=observe) as rig,
            httpx2.AsyncClient() as client,
        ):
            answer = await client.post(f"{rig.base()}/v1/messages", json=ask(), headers=HEADERS)
            assert answer.status_code == 200


@pytest.mark.process
def test_without_a_collector_nothing_of_it_is_imported() -> None:
    code = "import sys, nudge.gateway.run; print([n for n in sys.modules if n.startswith('opentelemetry')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
