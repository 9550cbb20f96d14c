"""One life under faults: processes that come and go over one store, one clock, one channel."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import timedelta
from functools import wraps
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from nudge.attention.quiet import Person
from nudge.coach.heartbeat import Rhythm
from nudge.coach.polling import Polling
from nudge.daemon import rescue
from nudge.daemon.assemble import Daemon, Options, Ports
from nudge.errors import StoreError, StoreGoneError, UsageError
from nudge.home.prices import load_prices
from nudge.instants import MINUTE, SECOND, Instant, to_datetime
from nudge.queue.firing import Firing, Handler, SpinningError
from nudge.queue.outbox import Message
from nudge.queue.timers import Timer
from nudge.reminders.reminder import Source
from nudge.reminders.service import Reminders
from nudge.simulation.engine import ids_from
from nudge.simulation.virtual_time import VirtualClock, VirtualLoop
from nudge.spending.allowance import DayTurn
from nudge.spending.budgets import Budgets, SpendingPlan
from nudge.spending.money import parse_money
from nudge.stores.sqlite import SqliteDatabase
from nudge.stores.store import SqlStore
from tests.faults import scenario as scenarios
from tests.faults.channel import Arrival, Attempt, FaultyChannel
from tests.faults.database_file import LIVES, DatabaseFile
from tests.faults.faults import COUNTED, ON_FILE, Fault, Kind
from tests.faults.invariants import Invariants, Violation
from tests.faults.minds import FaultyConditions, FaultyModel
from tests.faults.processes import CURRENT, Crash, Process, task_factory
from tests.faults.scenario import (
    AGENT,
    API_KEY,
    COMMAND,
    DOCUMENTS,
    PASS_ON,
    PRESS,
    TURN,
    ZONE,
    Scenario,
    calm_until,
    document,
)
from tests.reminders.reminder_values import asked
from tests.times import TORONTO

PRICES = load_prices()
TEXTS = {name: document(name) for name in DOCUMENTS}
LONGEST_WAIT = 600.0
FLOOD = 24
RUN: ContextVar[int] = ContextVar("run", default=0)
"""The run whose code is running: one call of a handler."""
DAY_TURN = DayTurn(offset=timedelta(microseconds=TURN))


class Documents:
    """The person's documents, which outlive every process."""

    def __init__(self, written: Callable[[str, str], None]) -> None:
        self.texts = dict(TEXTS)
        self._versions = dict.fromkeys(TEXTS, 0)
        self._written = written

    def read(self, agent: str, name: str) -> bytes | None:
        return self.texts.get(name)

    def write(self, agent: str, name: str, content: bytes) -> None:
        self.texts[name] = content
        self._versions[name] = self._versions.get(name, 0) + 1
        self._written(name, content.decode())

    def version(self, agent: str, name: str) -> str:
        return str(self._versions.get(name, ""))


class _Errors(logging.Handler):
    """Whatever the daemon logs with a traceback is an error that nobody injected."""

    def __init__(self, world: World) -> None:
        super().__init__(logging.ERROR)
        self._world = world

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        injected = (StoreError, SpinningError)  # a full disk, and a handler of this world
        if error is not None and not isinstance(error, injected):
            self._world.fail(Violation("no unexpected error", repr(error), self._world.clock.now()))


@dataclass
class World:
    seed: int
    scenario: Scenario
    faults: Sequence[Fault]
    lines: list[str] = field(default_factory=list)
    violation: Violation | None = None
    happened: list[Fault] = field(default_factory=list)
    writes: int = 0
    processes: int = 0
    lived: int = 0
    """How much virtual time passed, in microseconds."""
    file: DatabaseFile | None = None

    def run(self) -> None:
        """Live it. What broke is in `violation`."""
        log = logging.getLogger("nudge")
        errors = _Errors(self)
        log.addHandler(errors)
        before, log.propagate = log.propagate, False
        try:
            memory = Path("/dev/shm")  # a file that need not survive this process
            with (
                TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder,
                asyncio.Runner(loop_factory=VirtualLoop) as runner,
            ):
                if any(fault.kind in ON_FILE for fault in self.faults):
                    self.file = DatabaseFile(Path(folder))
                runner.run(self._live())
        finally:
            log.removeHandler(errors)
            log.propagate = before

    def fail(self, violation: Violation) -> None:
        """The first one counts; what follows may only be its consequence."""
        if self.violation is None:
            self.violation = violation
            self.trace(f"VIOLATION {violation}")
            self._over.set()

    def trace(self, what: str) -> None:
        process = CURRENT.get()
        who = process.owner if process else "world"
        self.lines.append(f"{to_datetime(self.clock.now(), TORONTO):%a %H:%M:%S} {who:<9} {what}")

    async def _live(self) -> None:
        loop = asyncio.get_running_loop()
        loop.set_task_factory(task_factory)
        loop.set_exception_handler(lambda loop, context: None)  # tasks of dead processes end as they may
        self._over = asyncio.Event()
        self.clock = VirtualClock(self.scenario.start)
        self.database = SqliteDatabase.open(str(self.file.path) if self.file else ":memory:")
        self.store = SqlStore(self.database)
        self.model = self._model() if self.scenario.paid else None
        self.invariants = Invariants(
            self.database._connection,
            self.clock.now,
            self.scenario.ping_budget,
            self.model.billed if self.model else {},
            goals=TEXTS["GOALS.md"].decode(),
        )
        self.channel = FaultyChannel(
            self.clock, self.store, self._due, self.trace, self._arrived, self._tried, self._crash
        )
        self.conditions = FaultyConditions(self.clock, self._due)
        self.documents = Documents(lambda name, text: self._look(lambda: self.invariants.document(name, text)))
        self.window = self.scenario.window
        self._new_id = ids_from(self.seed)
        self._pending: dict[Kind, dict[int, Fault]] = {}
        self._written: set[str] = set()
        self._calm = asyncio.Event()
        self._starting = asyncio.Lock()
        self._living: set[Process] = set()
        self._news = ""
        for fault in self.faults:
            self._pending.setdefault(fault.kind, {})[fault.at] = fault
        self._note_runs()
        await scenarios.prepare(self.scenario, self.store)
        self._keep_file()
        self.database.probe = self._probe
        living = [asyncio.create_task(self._keep_running())]
        living += [asyncio.create_task(self._speak())]
        living += [asyncio.create_task(self._copy_daily())]
        living += [asyncio.create_task(self._happen(fault)) for fault in self.faults if fault.kind not in COUNTED]
        try:
            await self._wait(self.scenario.lasts)
            self._calm.set()
            self.channel.heal()
            while self.violation is None and self.clock.now() < (end := calm_until(self._calm_since())):
                await self._wait(end - self.clock.now())
            if self.violation is None:
                self._look(self.invariants.at_the_end)
                self._look(lambda: self.invariants.at_rest(self._at_rest()))
        finally:
            self.lived = self._elapsed()
            self.database.probe = None
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()
            await asyncio.sleep(0)
            await asyncio.gather(*living, return_exceptions=True)
            await self.store.close()

    def _note_runs(self) -> None:
        """Commits are shared, so each message is noted with the run that wrote it."""
        put = self.store.outbox.put

        async def noted(message: Message) -> int:
            number = await put(message)
            self.invariants.run_of[number] = RUN.get()
            return number

        self.store.outbox.put = noted  # type: ignore[method-assign]

    def _model(self) -> FaultyModel:
        return FaultyModel(self.clock, self._due, self.trace, self._crash, PRICES, hostile=self.scenario.hostile)

    def _at_rest(self) -> list[tuple[str, bytes]]:
        return [("the database", self.database._connection.serialize()), *self.documents.texts.items()]

    def _calm_since(self) -> Instant:
        if not hasattr(self, "_calm_from"):
            self._calm_from = self.clock.now()
            self.trace("calm")
        return self._calm_from

    async def _wait(self, microseconds: int) -> None:
        await self.clock.wait(self._over, microseconds / SECOND)

    async def _keep_running(self) -> None:
        """A supervisor: whenever the daemon ends, start it again after the time that the fault says."""
        while True:
            self._main = process = self._process()
            self.trace("starts")
            await self._run(process)
            down, self._down = self._down, SECOND
            await self.clock.wait(self._calm, down / SECOND)  # when the calm begins, somebody has come to look
            async with self._starting:  # nobody starts while the file is being recovered
                pass
            if process.dead:
                await self.store.lanes.release_owner(process.owner)  # as the next daemon of the same home does

    _down = SECOND
    _runs = 0

    def _process(self, home: str = "home") -> Process:
        self.processes += 1
        return Process(f"daemon-{self.processes}", home)

    async def _run(self, process: Process) -> None:
        """Until it has ended, by itself or by a crash."""

        def make() -> Daemon:
            return self._daemon(process)

        def poll(daemon: Daemon) -> Polling:
            return Polling(self.channel, daemon.coach, self.clock, AGENT)

        async def started() -> None:
            self._look(lambda: self.invariants.started(process.home))
            if self._news:
                await rescue.tell(self.store, AGENT, self._news, self.clock.now())
                self._news = ""

        async with self._starting:  # nobody starts while the file is being recovered
            self._living.add(process)
        reset = CURRENT.set(process)
        try:
            task = asyncio.get_running_loop().create_task(process.run(make, started, poll))
        finally:
            CURRENT.reset(reset)
        await process.ended.wait()
        self._living.discard(process)
        await asyncio.gather(task, return_exceptions=True)
        if not process.dead and not task.cancelled() and task.exception() is not None:
            error = task.exception()
            self.trace(f"ends with {error!r}")
            self._down = 5 * SECOND

    def _daemon(self, process: Process) -> Daemon:
        scenario = self.scenario
        ports = Ports(
            self.store,
            self.clock,
            self.channel,
            self.documents,
            PRICES,
            model_for=self.model.about if self.model else None,
            conditions=self.conditions,
            new_id=self._new_id,
        )
        options = Options(
            process.owner,
            process.home,
            ZONE,
            LONGEST_WAIT,
            ping_budget=scenario.ping_budget,
            rhythm=Rhythm(scenario.heartbeat, change_gate=not scenario.hostile),
            plan=SpendingPlan(parse_money(self.window)),
            turn=DAY_TURN,
            secrets=(API_KEY,),
        )
        daemon = Daemon(ports, options)
        handlers = daemon.dispatcher.handlers
        handlers["spin"] = self._spin
        handlers.update({kind: self._counted(handler) for kind, handler in handlers.items()})
        return daemon

    def _counted(self, handler: Handler) -> Handler:
        """The handler, with its firings counted by occurrence."""

        @wraps(handler)
        async def count(firing: Firing) -> None:
            self._runs += 1
            reset = RUN.set(self._runs)
            try:
                await handler(firing)
            finally:
                RUN.reset(reset)
                key, slot_at = firing._occurrence or (firing.timer.key, firing.timer.slot_at)
                self._look(lambda: self.invariants.fires(key, slot_at))

        return count

    async def _spin(self, firing: Firing) -> None:
        """A handler with a bug: it comes back at once and gets nothing done, until somebody fixes it."""
        async with firing.settle() as settlement:
            if not self._calm.is_set() and self.violation is None:
                settlement.again(firing.now)

    async def _speak(self) -> None:
        began = self._elapsed()
        for act in self.scenario.acts:
            await asyncio.sleep((act.after - (self._elapsed() - began)) / SECOND)
            self.trace(f"the person: {act.text}")
            if act.text.startswith(COMMAND):
                await self._command(*act.text.removeprefix(COMMAND).split())
            elif act.text.startswith(PRESS):
                self.channel.press(act.text.removeprefix(PRESS))
            elif act.text.startswith(PASS_ON):
                self.channel.say(act.text.removeprefix(PASS_ON), forwarded=True)
            else:
                self.invariants.said[act.text] += 1
                self.channel.say(act.text)

    async def _command(self, verb: str, number: str) -> None:
        """Somebody uses the command line: another process on the same store, which then pokes the daemon."""
        reminders = Reminders(self.store, lambda agent: Person(TORONTO))
        listed = [one.id for one in self.scenario.reminders]
        if not listed:
            return
        reminder_id, now = listed[int(number) % len(listed)], self.clock.now()
        ways: dict[str, Callable[[], Awaitable[object]]] = {
            "pause": lambda: reminders.pause(reminder_id, now),
            "resume": lambda: reminders.resume(reminder_id, now),
            "snooze": lambda: reminders.snooze(reminder_id, 40 * MINUTE, now),
            "edit": lambda: reminders.edit(reminder_id, {"message": f"edited at {now}"}, now),
        }
        await self._by_command(ways[verb])

    def _elapsed(self) -> int:
        return round(asyncio.get_running_loop().time() * SECOND)

    async def _happen(self, fault: Fault) -> None:
        """A fault that comes at a time."""
        await asyncio.sleep(fault.at / SECOND)
        self.trace(f"FAULT {fault}")
        self.happened.append(fault)
        match fault.kind:
            case Kind.CLOCK_BACK:
                self.invariants.clock_went_back = self.invariants.clock_jumped = True
                self.clock.jump(-fault.length)
            case Kind.CLOCK_FORWARD:
                self.invariants.clock_jumped = True
                self.clock.jump(fault.length)
            case Kind.DISK_FULL:
                await self._fill_disk(fault)
            case Kind.SECOND_DAEMON:
                await self._second(fault)
            case Kind.RESTART:
                if self._main.daemon is not None:
                    self._down = fault.length
                    self._main.daemon.stop()
            case Kind.KILL:
                self._down = fault.length
                self._main.die()
            case Kind.TOP_UP | Kind.NEW_WINDOW | Kind.NEW_CONFIG:
                await self._bring_money(fault)
            case Kind.FLOOD_DUE:
                await self._flood()
            case Kind.FLOOD_HEARD:
                for number in range(FLOOD):
                    self.invariants.said[f"one more thing {number}"] += 1
                    self.channel.say(f"one more thing {number}")
            case Kind.SPIN:
                await self._by_command(lambda: self.store.timers.set(Timer.at(AGENT, "spin", "spin", self.clock.now())))
            case Kind.DAMAGED | Kind.REMOVED | Kind.REPLACED:
                await self._spoil(fault)

    async def _by_command(self, write: Callable[[], Awaitable[object]]) -> None:
        """Another process on the same store writes, and then pokes the daemon. A full disk refuses it."""
        with suppress(UsageError, StoreError):
            await write()
        if self._main.daemon is not None:
            self._main.daemon.poke()

    async def _bring_money(self, fault: Fault) -> None:
        budgets, now = Budgets(self.store, SpendingPlan(parse_money(self.window)), DAY_TURN), self.clock.now()
        amount = "6.00" if fault.chance else "0.90"
        match fault.kind:
            case Kind.TOP_UP:
                await self._by_command(lambda: budgets.top_up(AGENT, parse_money(amount), now))
            case Kind.NEW_WINDOW:
                await self._by_command(lambda: budgets.set_window(AGENT, now, budget=parse_money(amount)))
            case _:
                self.window = amount
                if (daemon := self._main.daemon) is not None and not self._main.dead:
                    plan = SpendingPlan(parse_money(amount))
                    await self._by_command(lambda: daemon.spending.reconfigure(plan, daemon.spending.routes, now))

    async def _flood(self) -> None:
        """Somebody imports many reminders for one instant, half of them for the agent."""
        reminders = Reminders(self.store, lambda agent: Person(TORONTO), new_id=self._new_id)
        now = self.clock.now()
        for number in range(FLOOD):
            wanted = asked(f"Flood {number}", in_="60s", to_person=number % 2 == 0)
            await self._by_command(lambda wanted=wanted: reminders.add(AGENT, wanted, now, Source.CLI))

    async def _fill_disk(self, fault: Fault) -> None:
        connection = self.database._connection
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        try:
            await asyncio.sleep(fault.length / SECOND)
        finally:
            connection.execute("PRAGMA max_page_count = 1000000")

    def _keep_file(self) -> None:
        """As the daemon's keeper does: a removed file is written again, a replaced one is left."""

        def put_back() -> None:
            self.trace("the database was written again")
            self.invariants.connection = self.database._connection

        def trouble(error: StoreError) -> None:
            for process in self._living:
                process.die()

        self.database.keeps = True
        self.database.on_put_back = put_back
        self.database.on_trouble = trouble

    async def _copy_daily(self) -> None:
        while self.file is not None:
            if not self.database._is_gone():
                self.file.copy(self.clock.now())
            await asyncio.sleep(3600)

    async def _spoil(self, fault: Fault) -> None:
        """Something happens to the file, and the next daemon begins with what it finds there."""
        assert self.file is not None
        random, trouble = Random(f"{self.seed}:{fault.at}"), None
        async with self._starting:
            running = bool(self._living)
            if fault.kind is Kind.REMOVED and running:
                self.file.remove(log_too=fault.chance)
                await asyncio.sleep(2 * LONGEST_WAIT)
            elif fault.kind is Kind.REPLACED:
                must_go_on = self.file.replace()
                await asyncio.sleep(2 * LONGEST_WAIT if running else 0)
                trouble = StoreGoneError("The file was replaced.")
                if running and self._living:
                    self.fail(Violation("a replaced file is noticed", "the daemon goes on", self.clock.now()))
            self._down = fault.length
            for process in list(self._living):
                process.die()
                await process.ended.wait()
            while self.database._open is not None or self.database._group is not None:
                await asyncio.sleep(0)
            before = {row["id"] for row in self.database._connection.execute(LIVES)}
            if fault.kind is Kind.DAMAGED:
                must_go_on = self.file.damage(self.database, random)
            elif trouble is not None:
                self.database.leave(self.file.folder / f"left-{fault.at}")
            else:
                must_go_on = before
            self.database._connection.close()
            if self.database._readers is not None:
                self.database._readers.close()
            fresh, news = await self.file.open(self.clock.now(), trouble)
            for name in ("_connection", "_readers", "_identity", "_log_identity"):
                setattr(self.database, name, getattr(fresh, name))
            self._news = news or self._news
            self.trace(f"{len(must_go_on)} of {len(before)} reminders must go on; {news or 'nothing is missing'}")
            self._look(lambda: self.invariants.opened(self.database._connection, before, must_go_on, news))

    async def _second(self, fault: Fault) -> None:
        process = self._process(f"home-{self.processes}")
        running = asyncio.create_task(self._run(process))
        await asyncio.sleep(fault.length / SECOND)
        if fault.chance:
            process.die()
        elif process.daemon is not None:
            process.daemon.stop()
        await running

    def _due(self, kind: Kind, number: int) -> Fault | None:
        """Faults end when the calm begins."""
        fault = None if self._calm.is_set() else self._pending.get(kind, {}).get(number)
        if fault is not None and fault not in self.happened:
            self.happened.append(fault)
            self.trace(f"FAULT {fault}")
        return fault

    def _crash(self, kind: Kind, number: int) -> None:
        process = CURRENT.get()
        assert process is not None
        self._down = self._pending[kind][number].length
        process.die()

    def _arrived(self, arrival: Arrival) -> None:
        mark = " (possibly repeated)" if arrival.message.possibly_repeated else ""
        part = f" {arrival.part + 1}/{arrival.parts}" if arrival.parts > 1 else ""
        self.trace(f"arrived: {arrival.message.id}{part} {arrival.row.kind} {arrival.row.text[:50]!r}{mark}")
        self._look(lambda: self.invariants.arrived(arrival))

    def _tried(self, attempt: Attempt) -> None:
        self._look(lambda: self.invariants.attempted(attempt))

    def _probe(self, statement: str) -> None:
        """Every place at which a process can die in the store; and the look at what a commit has changed."""
        process = CURRENT.get()
        if process is not None and process.dead:
            raise Crash
        if statement == "committed":
            written, self._written = self._written, set()
            self._look(lambda: self.invariants.after_commit(written))
        elif statement != "commit":
            self._written.add(statement)
        if process is None:
            return
        self.writes += 1
        if self._due(Kind.WRITE, self.writes) is not None:
            self.trace(f"dies at {statement}")
            self._crash(Kind.WRITE, self.writes)
            raise Crash

    def _look(self, check: Any) -> None:
        if self.violation is None:
            try:
                check()
            except Violation as violation:
                self.fail(violation)


def seeded(seed: int, kinds: Sequence[Kind] = tuple(Kind)) -> tuple[Scenario, list[Fault]]:
    """The life and the faults of a seed."""
    from tests.faults import faults

    random = Random(f"life:{seed}")
    scenario = scenarios.draw(random)
    return scenario, faults.draw(random, scenario.lasts, kinds)
