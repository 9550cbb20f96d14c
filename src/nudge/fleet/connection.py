"""The way to the Temporal server. TLS, keys and certificates are as Temporal's own environment variables say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client as Client
from temporalio.common import SearchAttributeKey
from temporalio.envconfig import ClientConfig
from temporalio.runtime import PrometheusConfig, Runtime, TelemetryConfig
from temporalio.service import RPCError

from nudge.errors import NotConfiguredError, NudgeError, UsageError
from nudge.fleet.workflows import SEARCH_ATTRIBUTES

DEFAULT_ADDRESS = "127.0.0.1:7233"


class TemporalAwayError(NudgeError):
    """The Temporal server does not answer."""


@dataclass(frozen=True, slots=True)
class Server:
    """What the command line says; None leaves it to the environment (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, …)."""

    address: str | None = None
    namespace: str | None = None
    metrics: str | None = None


async def connect(server: Server) -> Client:
    try:
        options: dict[str, Any] = dict(ClientConfig.load_client_connect_config())
    except RuntimeError as error:
        raise NotConfiguredError(
            f"Temporal's environment configuration cannot be used: {error}.",
            next_step="Check the TEMPORAL_… variables and the file that TEMPORAL_CONFIG_FILE names.",
        ) from error
    options["target_host"] = server.address or options.get("target_host") or DEFAULT_ADDRESS
    if server.namespace:
        options["namespace"] = server.namespace
    if server.metrics:
        options["runtime"] = _runtime(server.metrics)
    try:
        return await Client.connect(**options)
    except (RuntimeError, RPCError) as error:
        raise TemporalAwayError(
            f"The Temporal server at {options['target_host']} does not answer.",
            next_step="Check --temporal (or TEMPORAL_ADDRESS). Is the server running? 'nudge fleet dev' starts one.",
        ) from error


def _runtime(address: str) -> Runtime:
    try:
        return Runtime(telemetry=TelemetryConfig(metrics=PrometheusConfig(bind_address=address)))
    except (RuntimeError, ValueError) as error:
        raise UsageError(
            f"Metrics cannot be served at {address}: {error}.", next_step="Use --metrics HOST:PORT with a free port."
        ) from error


async def ensure_search_attributes(client: Client) -> None:
    """A workflow that writes an attribute that the namespace does not know would hang."""
    service, namespace = client.operator_service, client.namespace
    try:
        known = await service.list_search_attributes(ListSearchAttributesRequest(namespace=namespace))
        if missing := [key for key in SEARCH_ATTRIBUTES if key.name not in known.custom_attributes]:
            await add_search_attributes(client, missing)
    except RPCError as error:
        names = ", ".join(key.name for key in SEARCH_ATTRIBUTES)
        raise NotConfiguredError(
            f"The namespace {namespace} needs the search attributes {names}, and they cannot be created from here.",
            next_step="Create them once: temporal operator search-attribute create (see docs/fleet.md).",
        ) from error


async def add_search_attributes(client: Client, keys: Sequence[SearchAttributeKey[Any]] = SEARCH_ATTRIBUTES) -> None:
    wanted = {key.name: IndexedValueType.ValueType(key.indexed_value_type) for key in keys}
    asked = AddSearchAttributesRequest(namespace=client.namespace, search_attributes=wanted)
    await client.operator_service.add_search_attributes(asked)
