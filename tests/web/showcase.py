"""A home with a past: a simulated week, a session of the demo's worker that asks for more budget, and the page on top
of it at one instant. Nothing in it is made up by hand, and it is the same every time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any

from nudge.daemon.acting import Acting
from nudge.daemon.assemble import Daemon, Options, Ports
from nudge.daemon.control import control_app, serving
from nudge.daemon.events import Events
from nudge.daemon.listening import bound, listening
from nudge.daemon.reading import Reading
from nudge.daemon.working import WorkPorts
from nudge.home.create import make_home
from nudge.home.documents import HomeDocuments
from nudge.home.folder import Home
from nudge.home.prices import load_prices
from nudge.home.read_config import read_config
from nudge.home.seeds import HomeSeeds
from nudge.home.yaml_files import read_mapping
from nudge.instants import HOUR, MINUTE, SECOND, Instant
from nudge.models.scripted import ScriptedModel
from nudge.progress.run_limits import RunLimits
from nudge.queue.agents import Agents
from nudge.simulation.engine import ids_from
from nudge.simulation.models import Counter, Rates, by_priced_rules
from nudge.simulation.request import Request, simulations
from nudge.simulation.virtual_time import VirtualClock, run_virtual
from nudge.spending.budgets import SpendingPlan
from nudge.spending.plan_windows import PLAN, PlanTold, PlanWindow
from nudge.stores.open import open_sqlite
from nudge.stores.store import SqlStore
from nudge.testing import MemoryBlobs, RecordingChannel, ScriptedSandbox
from nudge.web.access import Visitors
from nudge.web.app import web_app
from nudge.web.server import own_hosts, simulated
from nudge.worker.loop import RunOptions
from nudge.worker.sandbox import Ending, Ran
from nudge.worker.sessions import Task
from nudge.worker.snapshots import Snapshots
from nudge.worker.workspaces import KeptWorkspaces

WEEK = date(2026, 2, 16)
ZONE = "America/Toronto"
WORKER = "builder"
REMINDERS = (
    "stretch every weekday at 4pm",
    "water the plants every sunday at 5pm",
    "call mum every friday at 6pm",
    "take the bins out every tuesday at 9pm",
    "pay the rent on march 1 at noon",
)
_GIVEN_AT = 14 * HOUR
"""After midnight at the end of the week: the worker gets its task."""
_ANSWERS = (
    Ran(Ending.EXITED, 1, "FF\nRan 2 tests in 0.001s\n\nFAILED (failures=2)\n"),
    Ran(Ending.EXITED, 1, "F.\nRan 2 tests in 0.001s\n\nFAILED (failures=1)\n"),
)


class StandingClock:
    """One instant, for as long as somebody looks."""

    def __init__(self, at: Instant) -> None:
        self.at = at

    def now(self) -> Instant:
        return self.at

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        await event.wait()
        return True


@dataclass(frozen=True)
class Past:
    """A home after its week, and the instant it is shown at."""

    home: Home
    now: Instant


def past(folder: Path) -> Past:
    """Live the week, then the next day until the worker asks for more budget."""
    home = Home(folder / "home")
    make_home(home)
    request = Request(home, 7, WEEK, person="night-owl", seed=8, model="scripted", environment={})
    run_virtual(lambda clock: _write_reminders(home, clock), Instant(_start(request)))
    kept = folder / "week.db"
    with simulations(request) as lives:
        end = lives.run(database=str(kept)).plan.end
    for part in home.path.glob("nudge.db*"):
        part.unlink()
    kept.rename(home.path / "nudge.db")
    (home.path / "workspaces").mkdir()
    now = run_virtual(lambda clock: _work(home, clock), end)
    return Past(home, now)


def _start(request: Request) -> int:
    from nudge.instants import start_of_day, zone_of

    assert request.first is not None
    return start_of_day(request.first, zone_of(ZONE))


async def _write_reminders(home: Home, clock: VirtualClock) -> None:
    store = open_sqlite(str(home.path / "nudge.db"))
    try:
        await Agents(store).ensure_default(clock.now())
        daemon = _daemon(home, store, clock)
        acting = Acting(daemon, "coach")
        for words in REMINDERS:
            await acting.add({"words": words})
    finally:
        await store.close()


def _daemon(home: Home, store: SqlStore, clock: Any) -> Daemon:
    """The home's own daemon, but that its model plays the demo's script and its sandbox runs nothing."""
    config = read_config(home, {})
    text = (resources.files("nudge.cli") / "demo.yaml").read_text(encoding="utf-8")
    script = read_mapping(text, "demo.yaml", what="a script", starts="files: …")
    folder = home.path / "workspaces" / WORKER
    if folder.parent.is_dir() and not folder.is_dir():
        folder.mkdir()
        for name, content in script["files"].items():
            (folder / name).write_text(content, encoding="utf-8")
    snapshots = Snapshots(MemoryBlobs(), WORKER)
    sandbox = ScriptedSandbox(*_ANSWERS)

    async def inline(work: Callable[[], Any]) -> Any:
        return work()

    rates = Rates(load_prices(), config.spending.routes, config.spending.tier)
    answerers = by_priced_rules(Counter(rates, clock.now, lambda asked: None))
    for turn in script["turns"]:
        turn["seconds"] = 40 + 10 * len(str(turn.get("say", ""))) % 70
    ports = Ports(
        store,
        clock,
        RecordingChannel(),
        HomeDocuments(home),
        load_prices(),
        model=ScriptedModel.of(script, sleep=clock.sleep),
        model_for=answerers.model_for,
        rules=answerers.rules,
        seeds=HomeSeeds(home),
        is_coach=lambda agent: agent.name == "coach",
        new_id=ids_from(9),
        work=WorkPorts(
            works=lambda agent: agent.name == WORKER,
            instructions=lambda agent: "You work.",
            folder_of=lambda agent: folder,
            sandbox_of=lambda agent: sandbox,
            workspaces=KeptWorkspaces(lambda agent: folder, lambda agent: snapshots, clock, in_thread=inline),
            options=RunOptions(RunLimits(tokens=9_800)),
        ),
    )
    plan = SpendingPlan.of(30)
    return Daemon(ports, Options(owner="showcase", timezone=ZONE, longest_wait=3600, plan=plan))


async def _work(home: Home, clock: VirtualClock) -> Instant:
    store = open_sqlite(str(home.path / "nudge.db"))
    try:
        daemon = _daemon(home, store, clock)
        await daemon.start()
        (home.path / "roles" / "worker.yaml").write_text(
            (resources.files("nudge.home") / "templates" / "home" / "worker.yaml").read_text(encoding="utf-8")
        )
        await daemon.agents.add(WORKER, "worker", clock.now())
        await daemon.adopt()
        running = asyncio.create_task(daemon.run())
        await clock.sleep(_GIVEN_AT / SECOND)
        assert daemon.working is not None
        daemon.working.sessions._new_id = lambda: "s-cart"
        text = (resources.files("nudge.cli") / "demo.yaml").read_text(encoding="utf-8")
        script = read_mapping(text, "demo.yaml", what="a script", starts="files: …")
        await daemon.working.sessions.give(WORKER, Task(str(script["task"]), "terminal"))
        daemon.poke()
        for _ in range(240):
            await clock.sleep(15)
            if await store.questions.open(clock.now()):
                break
        now = clock.now()
        windows = (
            PlanWindow("5h", 38, Instant(now + 2 * HOUR + 10 * MINUTE)),
            PlanWindow("7d", 61, Instant(now + 70 * HOUR)),
        )
        await store.records.set(WORKER, PLAN, PlanTold(windows))
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return now
    finally:
        await store.close()


@contextmanager
def shown(past: Past) -> Iterator[str]:
    """The page of that home at that instant; gives the link to come in with."""
    ready, links, over = threading.Event(), list[str](), list[Callable[[], object]]()

    async def serve() -> None:
        store = open_sqlite(str(past.home.path / "nudge.db"))
        clock = StandingClock(past.now)
        daemon = _daemon(past.home, store, clock)
        reading = Reading(daemon, "coach")
        events = Events(store, clock, reading.states())
        endpoints = {**reading.endpoints(), **Acting(daemon, "coach").endpoints()}

        async def nothing() -> dict[str, Any]:
            return {}

        async def greet(body: Any) -> dict[str, Any]:
            return {}

        endpoints["greet"] = greet
        app = control_app(nothing, lambda: asyncio.sleep(0), lambda: None, endpoints, events)
        listener = bound("127.0.0.1", 0)
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        over.append(lambda: loop.call_soon_threadsafe(stop.set))
        visitors = Visitors()
        hosts = own_hosts("127.0.0.1", listener.getsockname()[1])
        pages = web_app(past.home.socket, visitors, hosts, lambda query: simulated(past.home, query))
        async with serving(app, past.home.socket), listening(pages, listener, last_seconds=1) as address:
            links.append(f"{address}/enter?token={visitors.new_link()}")
            ready.set()
            await stop.wait()
            events.close()
        await store.close()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(30), "the page did not start"
        yield links[0]
    finally:
        over[0]()
        thread.join(20)
