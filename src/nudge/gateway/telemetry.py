"""Traces and metrics of the gateway's calls for an OpenTelemetry collector, by the conventions for generative AI.

Off unless the environment names a collector (`OTEL_EXPORTER_OTLP_ENDPOINT`): then nothing of OpenTelemetry is imported.
A span is made when its call has ended, and goes below the client's own if that sent a `traceparent`. The library sends
from threads of its own, so a collector that is away costs no call anything.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING

from nudge.errors import needs_extra
from nudge.instants import SECOND
from nudge.spending.call_log import LoggedCall
from nudge.spending.money import DOLLAR

if TYPE_CHECKING:
    from nudge.gateway.app import Observe

log = logging.getLogger("nudge.gateway")

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
METRIC_SECONDS = 15.0
LAST_SECONDS = 2.0
"""How long a collector may take for a batch, and so how long a gateway that stops waits for it."""

_PROVIDERS = {"messages": "anthropic", "chat": "openai", "responses": "openai", "google": "gcp.gemini"}
_DURATIONS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_TOKENS = tuple(4**power for power in range(14))


@asynccontextmanager
async def observing(environment: Mapping[str, str]) -> AsyncIterator[Observe | None]:
    """What hears of the calls while the block runs; None if nobody wants to know."""
    endpoint = environment.get(ENDPOINT, "").rstrip("/")
    if not endpoint:
        yield None
        return
    try:
        telemetry = Telemetry(endpoint, _headers(environment.get("OTEL_EXPORTER_OTLP_HEADERS", "")))
    except ImportError:
        log.warning("%s", needs_extra(f"{ENDPOINT} is set, but OpenTelemetry is not installed.", "telemetry"))
        yield None
        return
    try:
        yield telemetry
    finally:
        await asyncio.to_thread(telemetry.close)


class Telemetry:
    """Sends what it hears of to a collector, over OTLP/HTTP."""

    def __init__(self, endpoint: str, headers: dict[str, str]) -> None:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        resource = Resource.create({"service.name": "nudge", "service.version": version("nudge")})
        self._traces = TracerProvider(resource=resource, shutdown_on_exit=False)
        spans = OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces", headers=headers, timeout=LAST_SECONDS)
        self._traces.add_span_processor(BatchSpanProcessor(spans))
        points = OTLPMetricExporter(endpoint=f"{endpoint}/v1/metrics", headers=headers, timeout=LAST_SECONDS)
        reader = PeriodicExportingMetricReader(points, export_interval_millis=METRIC_SECONDS * 1000)
        self._metrics = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
        self._tracer = self._traces.get_tracer("nudge.gateway")
        meter = self._metrics.get_meter("nudge.gateway")
        self._duration = meter.create_histogram(
            "gen_ai.client.operation.duration", "s", explicit_bucket_boundaries_advisory=_DURATIONS
        )
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage", "{token}", explicit_bucket_boundaries_advisory=_TOKENS
        )
        self._cost = meter.create_counter("nudge.cost", "USD", "What the calls were charged")
        self._parent = TraceContextTextMapPropagator()

    def __call__(self, call: LoggedCall, headers: Mapping[str, str]) -> None:
        from opentelemetry.trace import SpanKind, Status, StatusCode

        about: dict[str, str | int] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": _PROVIDERS[call.protocol],
            "gen_ai.request.model": call.model,
            "nudge.agent": call.agent,
        }
        failed = {} if call.result == "done" else {"error.type": call.result.replace(" ", "_")}
        dollars = (call.cost or 0) / DOLLAR
        span = self._tracer.start_span(
            f"chat {call.model}",
            self._parent.extract({name: headers[name] for name in ("traceparent", "tracestate") if name in headers}),
            kind=SpanKind.CLIENT,
            start_time=call.at * 1000,
            attributes={
                **about,
                **failed,
                "gen_ai.request.max_tokens": call.granted or call.asked,
                "gen_ai.conversation.id": call.run,
                "http.response.status_code": call.status,
                "nudge.call": call.id,
                "nudge.clamped": call.clamped,
                "nudge.waited": call.waited / SECOND,
                "nudge.cost": dollars,
            },
        )
        if call.use is not None:
            read, written = call.use.cache_read, call.use.cache_write + call.use.cache_write_1h
            span.set_attribute("gen_ai.usage.input_tokens", call.use.prompt)
            span.set_attribute("gen_ai.usage.output_tokens", call.use.output)
            span.set_attribute("gen_ai.usage.cache_read.input_tokens", read)
            span.set_attribute("gen_ai.usage.cache_creation.input_tokens", written)
            self._tokens.record(call.use.prompt, {**about, "gen_ai.token.type": "input"})
            self._tokens.record(call.use.output, {**about, "gen_ai.token.type": "output"})
        if failed:
            span.set_status(Status(StatusCode.ERROR, call.reason or call.result))
        span.end(call.ended_at * 1000)
        self._duration.record(call.lasted / SECOND, {**about, **failed})
        if dollars:
            self._cost.add(dollars, about)

    def close(self) -> None:
        self._traces.force_flush(int(LAST_SECONDS * 1000))
        self._traces.shutdown()
        self._metrics.shutdown(LAST_SECONDS * 1000)


def _headers(text: str) -> dict[str, str]:
    """`name=value` pairs with commas between them, as the variable has them."""
    pairs = (pair.partition("=") for pair in text.split(",") if "=" in pair)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}
