"""The worker's process: visits agents for their workflows, sends pokes, serves metrics, drains when told to stop."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from secrets import token_hex
from typing import Any

from temporalio.client import Client
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from nudge.clock import Clock, SystemClock
from nudge.coach.polling import Polling
from nudge.daemon.assemble import Daemon, Options, Ports
from nudge.daemon.channel import channel_of, who_talks
from nudge.daemon.visits import Visits
from nudge.daemon.world import options_of, ports_of
from nudge.errors import StoreError
from nudge.fleet.activities import GRACE, Activities
from nudge.fleet.adoption import end_workflow
from nudge.fleet.connection import Server, connect, ensure_search_attributes
from nudge.fleet.metrics import Metrics
from nudge.fleet.pace import PacedModel
from nudge.fleet.pokes import PokeSender
from nudge.fleet.polling import Poller
from nudge.fleet.rules import poller_id, sweep_id, thinking_queue
from nudge.fleet.tables import Fleet, FleetTable, require_server
from nudge.fleet.webhook import Webhook, hearing, pushing
from nudge.fleet.workflows import AgentWorkflow, PollerWorkflow, SweepStart, SweepWorkflow
from nudge.home.config import Config
from nudge.instants import MINUTE, SECOND, Instant
from nudge.queue.channel import PushingChannel
from nudge.queue.dispatch import EarlyWakes
from nudge.stores.open import open_store

log = logging.getLogger("nudge.fleet")

CONCURRENCY = 16
SWEEP_SECONDS = 60.0
CACHED_WORKFLOWS = 200
"""Workflows that stay in a worker's memory. The others sleep on the server alone, and are replayed when they wake; so
our own modules are not imported again for each (that took longer than the replay). Tests replay inside the sandbox."""
STICKY_SECONDS = 1.0
"""How long a dead worker's workflows wait for it before another takes them."""
DRAIN_SECONDS = 20.0
LAST_ANSWERS_SECONDS = 0.5
COUNT_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """With a `webhook` the person's channel pushes, and nobody polls."""

    concurrency: int = CONCURRENCY
    sweep_seconds: float = SWEEP_SECONDS
    webhook: Webhook | None = None


async def serve(config: Config, server: Server, options: WorkerOptions, said: Callable[[str], None]) -> int:
    """Work for the fleet until a signal comes."""
    clock = SystemClock()
    require_server(config.database_url)
    store = await open_store(config.database_url, connections=2 * options.concurrency + 4)
    try:
        fleet = await FleetTable(store).require()
        client = await connect(server)
        await ensure_search_attributes(client)
        ports = paced(ports_of(config, store, clock, channel_of(config, clock)), fleet)
        stop = _signals()
        try:
            settings = sparing(options_of(config, token_hex(8)))
            async with working(Daemon(ports, settings), ports, settings, client, fleet, options):
                said(f"Working for the fleet on {client.service_client.config.target_host}, queue {fleet.task_queue}.")
                await stop.wait()
                said("Draining: finishing what is running.")
        finally:
            await ports.channel.close()
            if ports.model:
                await ports.model.close()
    finally:
        await store.close()
    await clock.sleep(0.5)  # the SDK's threads end on their own time, and a process that ends under them may crash
    return 0


def sparing(options: Options) -> Options:
    """Nobody is woken for a heartbeat that would find nothing changed."""
    return replace(options, rhythm=replace(options.rhythm, sleeps_through=True))


def paced(ports: Ports, fleet: Fleet) -> Ports:
    """With a model that all workers of the fleet ask at a common pace."""
    if ports.model is None or not fleet.calls_per_minute:
        return ports
    return replace(ports, model=PacedModel(ports.model, FleetTable(ports.store), ports.clock, fleet.calls_per_minute))


@asynccontextmanager
async def working(
    daemon: Daemon, ports: Ports, options: Options, client: Client, fleet: Fleet, wanted: WorkerOptions
) -> AsyncIterator[Activities]:
    """A worker that works while the block runs, then drains."""
    clock = ports.clock
    await daemon.spending.budgets.take_over(options.plan, clock.now())
    visits = Visits(daemon, options.owner)
    daemon.spending.on_timers = visits.poke
    runtime = client.service_client.config.runtime
    metrics = Metrics(runtime.metric_meter) if runtime else Metrics()
    table = FleetTable(ports.store)
    activities = Activities(daemon, visits, table, client, fleet.task_queue, fleet.spread, metrics)
    poller = Poller(daemon, ports.channel, await who_talks(daemon, ports), options.owner, visits)
    thinking = Worker(
        client,
        task_queue=thinking_queue(fleet.task_queue),
        activities=[activities.visit],
        max_concurrent_activities=wanted.concurrency,
        graceful_shutdown_timeout=timedelta(seconds=DRAIN_SECONDS),
        identity=f"nudge-{options.owner}",
    )
    worker = Worker(
        client,
        task_queue=fleet.task_queue,
        workflows=[AgentWorkflow, SweepWorkflow, PollerWorkflow],
        activities=[activities.visit, activities.sweep, poller.poll],
        max_concurrent_activities=wanted.concurrency,
        max_cached_workflows=CACHED_WORKFLOWS,
        workflow_runner=SandboxedWorkflowRunner(
            restrictions=SandboxRestrictions.default.with_passthrough_modules("nudge")
        ),
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=STICKY_SECONDS),
        graceful_shutdown_timeout=timedelta(seconds=DRAIN_SECONDS),
        identity=f"nudge-{options.owner}",
    )
    beside = [
        PokeSender(ports.store, clock, client, fleet.task_queue, fleet.spread).run(),
        EarlyWakes(ports.store, clock, visits.poke).run(),
        _count(table, metrics, clock),
    ]
    async with worker, thinking:
        await _ensure(client, fleet, SweepWorkflow.run, sweep_id(fleet.task_queue), SweepStart(wanted.sweep_seconds))
        tasks = [asyncio.create_task(one) for one in beside]
        try:
            async with _ears(daemon, ports, client, fleet, wanted.webhook):
                yield activities
        finally:
            await _drain(visits, clock)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _drain(visits: Visits, clock: Clock) -> None:
    """Let what runs end, and the workflows hear of it here: what a worker that is gone was told is repeated elsewhere
    only after ten seconds."""
    visits.stop()
    end = clock.now() + round(DRAIN_SECONDS * SECOND)
    while visits.busy and clock.now() < end:
        await clock.sleep(0.05)
    await clock.sleep(LAST_ANSWERS_SECONDS)


@asynccontextmanager
async def _ears(
    daemon: Daemon, ports: Ports, client: Client, fleet: Fleet, webhook: Webhook | None
) -> AsyncIterator[None]:
    """Hear the person: by webhook, or else one worker polls, if the channel can be."""
    table, which = FleetTable(ports.store), poller_id(fleet.task_queue)
    if webhook is not None:
        channel = pushing(ports.channel)
        await end_workflow(client, which)
        await table.set_webhook(webhook.url)
        ears = Polling(ports.channel, daemon.coach, ports.clock, await who_talks(daemon, ports))
        async with hearing(webhook, channel, ears.take):
            await ears.offer_commands()
            yield
        return
    if fleet.webhook and isinstance(ports.channel, PushingChannel):
        await ports.channel.unhook()
        await table.set_webhook("")
    if ports.channel.capabilities.listens:
        await _ensure(client, fleet, PollerWorkflow.run, which)
    yield


async def _ensure(client: Client, fleet: Fleet, workflow: Callable[..., Any], which: str, *args: Any) -> None:
    """There is one for all workers of a queue."""
    with suppress(WorkflowAlreadyStartedError):
        await client.start_workflow(workflow, args=args, id=which, task_queue=fleet.task_queue)


async def _count(table: FleetTable, metrics: Metrics, clock: Clock) -> None:
    while True:
        now = clock.now()
        try:
            metrics.looked(
                await table.counts(now, Instant(now - GRACE)),
                now,
                results=await table.results_since(Instant(now - 5 * MINUTE)),
                states=await table.spending_states(),
                holds=await table.holds_open(now),
            )
        except StoreError as error:
            log.debug("Cannot count the fleet: %s", error)
        await clock.sleep(COUNT_SECONDS)


def _signals() -> asyncio.Event:
    """The first signal drains, the second ends at once: that loses no more than a kill does, which is nothing."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def came(which: signal.Signals) -> None:
        if stop.is_set():
            os._exit(128 + which)
        stop.set()

    for which in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(which, came, which)
    return stop
