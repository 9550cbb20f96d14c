"""Working agents under faults: a process dies at a store write, before or after a tool or a model call, in the middle
of a snapshot; the model is away; money runs out; somebody touches the files. What comes of it must be what comes of a
calm life.

python -m tests.faults.workers --seed 17      one life, with its trace
python -m tests.faults.workers --count 2000   many, with counts (make soak)
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import logging
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from nudge.daemon.assemble import Daemon, Options, Ports
from nudge.daemon.working import WorkPorts
from nudge.errors import ModelUnavailableError, StoreError
from nudge.home.documents import HomeDocuments
from nudge.home.folder import Home
from nudge.instants import HOUR, MINUTE, SECOND, Instant, to_datetime
from nudge.model import ModelReply, ModelRequest, Role, StopReason, Text, ToolResult, ToolUse
from nudge.progress.run_limits import RunLimits
from nudge.progress.store import Session
from nudge.queue.agents import Agent
from nudge.queue.inbox import Priority
from nudge.simulation.engine import ids_from
from nudge.simulation.virtual_time import VirtualClock, VirtualLoop
from nudge.spending.budgets import Budgets, SpendingPlan
from nudge.spending.money import Money, parse_money
from nudge.stores.sqlite import SqliteDatabase
from nudge.stores.store import SqlStore
from nudge.testing import MemoryBlobs, RecordingChannel
from nudge.tokens import TokenUse
from nudge.worker import scan, snapshots
from nudge.worker.loop import Done, RunOptions
from nudge.worker.sandbox import Ending, Job, Ran
from nudge.worker.sessions import Sessions, Task
from nudge.worker.snapshots import Snapshots
from nudge.worker.toolbox import WorkerTools
from nudge.worker.workspaces import KeptWorkspaces
from tests.faults.invariants import Invariants, Violation
from tests.faults.processes import CURRENT, Crash, Process, check_alive, task_factory
from tests.faults.world import PRICES
from tests.times import NOON

AGENT = "worker"
LASTS = 30 * HOUR
PLENTY = "3000.00"


class Kind(StrEnum):
    """Up to MODEL_HANGS they happen at the n-th of something, the others at a time."""

    WRITE = "crash at a store write"
    TOOL_STARTS = "crash before a tool"
    TOOL_ENDS = "crash after a tool"
    IN_COMMAND = "crash during a command"
    CALL = "crash before a model call"
    ANSWER = "crash after a model call"
    PIECE = "crash before a piece of a snapshot"
    MANIFEST = "crash before a manifest"
    KEPT = "crash after a manifest"
    MODEL_AWAY = "the model is away"
    MODEL_HANGS = "the model hangs"
    KILL = "a kill"
    RESTART = "a restart"
    DISK_FULL = "the disk is full"
    TOP_UP = "a top-up"
    TOUCHED = "somebody changes the workspace while nothing runs"
    DAMAGED = "a piece of an old snapshot is damaged"


_TIMED = (Kind.KILL, Kind.RESTART, Kind.DISK_FULL, Kind.TOP_UP, Kind.TOUCHED, Kind.DAMAGED)
_MOST = {Kind.WRITE: 700, Kind.MODEL_AWAY: 30, Kind.MODEL_HANGS: 30, Kind.IN_COMMAND: 12}


@dataclass(frozen=True, slots=True)
class Fault:
    kind: Kind
    at: int
    length: int

    def __str__(self) -> str:
        when = f"after {self.at / MINUTE:.1f} min" if self.kind in _TIMED else f"number {self.at}"
        return f"{self.kind.value}, {when}, for {self.length / SECOND:.0f} s"


@dataclass(frozen=True, slots=True)
class Scenario:
    """`scripts` has the turns for each task and each part of one. A `tight` pool may end the run early."""

    tasks: tuple[str, ...]
    scripts: dict[str, list[list[tuple[str, dict[str, Any]]]]]
    window: str
    cost: str
    tight: bool


def draw(seed: int) -> tuple[Scenario, list[Fault]]:
    random = Random(f"worker:{seed}")
    tight = random.random() < 0.25
    scripts: dict[str, list[list[tuple[str, dict[str, Any]]]]] = {}
    tasks = tuple(f"Task {number}" for number in range(random.randint(1, 3)))
    for task in tasks:
        turns = [_turn(random, task, number) for number in range(random.randint(3, 12))]
        if random.random() < 0.3:
            parts = [f"Part {number} of {task}" for number in range(random.randint(1, 3))]
            scripts |= {part: [_turn(random, part, n) for n in range(random.randint(1, 4))] for part in parts}
            spawn = [("spawn", {"tasks": parts})]
            turns.insert(random.randrange(len(turns)), spawn)
        scripts[task] = turns
    window = random.choice(("15.00", "40.00", PLENTY))
    scenario = Scenario(tasks, scripts, window, random.choice(("0.20", "0.40")) if tight else "100", tight)
    return scenario, [_fault(random) for _ in range(random.randint(1, 7))]


def _turn(random: Random, task: str, number: int) -> list[tuple[str, dict[str, Any]]]:
    name = f"{task.replace(' ', '-')}-{number}"
    ways: list[list[tuple[str, dict[str, Any]]]] = [
        [("write_file", {"path": f"{name}.txt", "content": f"{name}\n" * random.randint(1, 40)})],
        [("bash", {"command": f"append {name}"})],
        [("bash", {"command": f"append {name}"}), ("read_file", {"path": f"{name.rpartition('-')[0]}.log"})],
        [("bash", {"command": "tidy"}), ("write_file", {"path": f"deep/{name}/a.txt", "content": name})],
        [("list_files", {"path": "."}), ("glob", {"pattern": "**/*.txt"})],
        [("plan", {"steps": [{"step": name}]})],
    ]
    if task.startswith("Part"):
        del ways[3]  # parts run side by side: each has files of its own
    return random.choice(ways)


def _fault(random: Random) -> Fault:
    kind = random.choices(list(Kind), [4 if kind is Kind.WRITE else 1 for kind in Kind])[0]
    length = random.choice((SECOND, 30 * SECOND, 5 * MINUTE, 3 * HOUR))
    if kind in _TIMED:
        return Fault(kind, random.choice((random.randrange(10 * MINUTE), random.randrange(LASTS))), length)
    return Fault(kind, random.randint(1, _MOST.get(kind, 25)), length)


class Life(Process):
    """One run of the daemon that works."""

    async def work(self, make: Callable[[], Daemon]) -> None:
        CURRENT.set(self)
        try:
            self.daemon = make()
            await self.daemon.start()
            await self.daemon.run()
        finally:
            self.ended.set()


class _Errors(logging.Handler):
    def __init__(self, world: World) -> None:
        super().__init__(logging.ERROR)
        self._world = world

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not isinstance(error, StoreError):
            self._world.fail("no unexpected error", repr(error))


@dataclass
class World:
    """One life: a store, a workspace and snapshots that outlive every process."""

    seed: int
    scenario: Scenario
    faults: Sequence[Fault]
    folder: Path
    lines: list[str] = field(default_factory=list)
    happened: list[Fault] = field(default_factory=list)
    violation: Violation | None = None
    counts: Counter[str] = field(default_factory=Counter)
    end: dict[str, Any] = field(default_factory=dict)

    def run(self) -> World:
        log = logging.getLogger("nudge")
        errors = _Errors(self)
        log.addHandler(errors)
        before, log.propagate = log.propagate, False
        inline = (patch.object(module, "in_threads", map) for module in (scan, snapshots))
        try:
            with asyncio.Runner(loop_factory=VirtualLoop) as runner, next(inline), next(inline):
                runner.run(self._live())
        finally:
            log.removeHandler(errors)
            log.propagate = before
        return self

    def fail(self, invariant: str, what: str) -> None:
        if self.violation is None:
            self.violation = Violation(invariant, what, self._now())
            self.trace(f"VIOLATION {self.violation}")

    def trace(self, what: str) -> None:
        process = CURRENT.get()
        self.lines.append(f"{to_datetime(self._now()):%d %H:%M:%S} {process.owner if process else '':<10} {what}")

    def _now(self) -> Instant:
        return self._ended_at if self._ended_at else self.clock.now()

    _ended_at = Instant(0)

    async def _live(self) -> None:
        loop = asyncio.get_running_loop()
        loop.set_task_factory(task_factory)
        loop.set_exception_handler(lambda loop, context: None)
        self.clock = VirtualClock(NOON)
        self.database = SqliteDatabase.open(":memory:")
        self.store = SqlStore(self.database)
        self.workspace = self.folder / "workspace"
        self.workspace.mkdir()
        self.blobs, self.far = _Blobs(self), _Blobs(self)
        self.model = _Model(self)
        self.invariants = Invariants(self.database._connection, self.clock.now, False, self.model.billed)
        self._new_id = ids_from(self.seed)
        self._calm = asyncio.Event()
        self._written: set[str] = set()
        self._pending: dict[Kind, dict[int, Fault]] = {}
        for fault in self.faults:
            self._pending.setdefault(fault.kind, {})[fault.at] = fault
        await self.store.agents.add(Agent(AGENT, AGENT, self.clock.now()))
        sessions = Sessions(self.store, self.clock, self._options())
        for task in self.scenario.tasks:
            await sessions.give(AGENT, Task(task, "terminal", Priority.NORMAL))
        self.database.probe = self._probe
        living = [asyncio.create_task(self._keep_running())]
        living += [asyncio.create_task(self._happen(fault)) for fault in self.faults if fault.kind in _TIMED]
        try:
            await self.clock.sleep((LASTS if self.faults else MINUTE) / SECOND)
            self._calm.set()
            await self._bring_money(1_000)
            for _ in range(200):
                await self.clock.sleep(15 * MINUTE / SECOND)
                if self.violation or not await self._open():
                    break
            self._look(self.invariants._ledger_is_exact)
            await self._at_the_end()
        finally:
            self._ended_at = self.clock.now()
            self.database.probe = None
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()
            await asyncio.sleep(0)
            await asyncio.gather(*living, return_exceptions=True)
            await self.store.close()

    async def _open(self) -> bool:
        unread = await self.store.letters.unread(AGENT, limit=1)
        return bool(unread) or await self.store.sessions.current(AGENT) is not None

    async def _at_the_end(self) -> None:
        """Everything is done, and each task has ended once."""
        if await self._open():
            self.fail("the work is finished", "a task is still open long after the last fault")
        sessions = await self.store.sessions.of_agent(AGENT, 100)
        outcomes = [
            one.reason for one in await self.store.outcomes.recent(agent=AGENT, limit=1000) if one.key == "work"
        ]
        ended = sorted(text for text in outcomes if text.startswith(("Finished", "Stopped", "Failed")))
        if len(ended) != len(self.scenario.tasks):
            self.fail("each task ends once", f"{len(self.scenario.tasks)} tasks, and {ended}")
        self.end = {
            "files": picture(self.workspace),
            "ended": ended,
            "sessions": sorted((one.status.value, one.report) for one in sessions),
        }

    async def _keep_running(self) -> None:
        while True:
            self.counts["processes"] += 1
            self._main = process = Life(f"daemon-{self.counts['processes']}", "home")
            self.trace("starts")
            reset = CURRENT.set(process)
            try:
                task = asyncio.get_running_loop().create_task(process.work(partial(self._daemon, process)))
            finally:
                CURRENT.reset(reset)
            await process.ended.wait()
            await asyncio.gather(task, return_exceptions=True)
            if not process.dead and not task.cancelled() and task.exception() is not None:
                self.trace(f"ends with {task.exception()!r}")
            down, self._down = self._down, SECOND
            await self.clock.wait(self._calm, down / SECOND)
            await self.clock.sleep(1)
            if process.dead:
                await self.store.lanes.release_owner(process.owner)

    _down = SECOND

    def _options(self) -> RunOptions:
        return RunOptions(RunLimits(tokens=None, duration=None, cost=Money(parse_money(self.scenario.cost))))

    def _daemon(self, process: Process) -> Daemon:
        async def inline(work: Callable[[], Any]) -> Any:
            return work()

        kept = Snapshots(self.blobs, AGENT, self.folder / "cache")
        far = Snapshots(self.far, AGENT, self.folder / "far")
        work = WorkPorts(
            works=lambda agent: agent.name == AGENT,
            instructions=lambda agent: "You work.",
            folder_of=lambda agent: self.workspace,
            sandbox_of=lambda agent: _Commands(self),
            workspaces=KeptWorkspaces(
                lambda agent: self.workspace,
                lambda agent: kept,
                self.clock,
                far_of=(lambda agent: far) if self.seed % 5 == 4 else None,
                send_every=3,
                in_thread=inline,
            ),
            options=self._options(),
        )
        ports = Ports(
            self.store, self.clock, RecordingChannel(), HomeDocuments(Home(self.folder)), PRICES,
            model=self.model, is_coach=lambda agent: False, work=work, new_id=self._new_id,
        )  # fmt: skip
        plan = SpendingPlan(parse_money(self.scenario.window))
        daemon = Daemon(ports, Options(process.owner, process.home, longest_wait=600.0, plan=plan))
        assert daemon.working is not None
        loop: Any = daemon.working.worker._loop
        loop._toolbox = _Tools(loop._toolbox, self)
        return daemon

    async def _happen(self, fault: Fault) -> None:
        await asyncio.sleep(fault.at / SECOND)
        if self._calm.is_set():
            return
        self.happened.append(fault)
        self.trace(f"FAULT {fault}")
        match fault.kind:
            case Kind.KILL:
                self._down = fault.length
                self._main.die()
            case Kind.RESTART:
                if self._main.daemon is not None:
                    self._main.daemon.stop()
            case Kind.TOP_UP:
                await self._bring_money(2)
            case Kind.DISK_FULL:
                await self._fill_disk(fault)
            case Kind.TOUCHED:
                await self._touch(fault)
            case _:
                self.blobs.damage_one(fault.at)

    async def _fill_disk(self, fault: Fault) -> None:
        connection = self.database._connection
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        try:
            await self.clock.wait(self._calm, fault.length / SECOND)
        finally:
            connection.execute("PRAGMA max_page_count = 1000000")

    async def _touch(self, fault: Fault) -> None:
        """The process dies, somebody edits, adds and deletes, and it starts again."""
        self._down = fault.length
        self._main.die()
        await asyncio.sleep(0.5)
        if await self.store.sessions.current(AGENT) is None:
            return  # between two tasks the files are the person's
        for path in sorted(self.workspace.rglob("*"))[:1]:
            if path.is_file():
                path.write_text("not mine\n")
        (self.workspace / "stray.txt").write_text("a stray file\n")

    async def _bring_money(self, dollars: int) -> None:
        budgets = Budgets(self.store, SpendingPlan(parse_money(self.scenario.window)))
        try:
            await budgets.top_up(AGENT, dollars, self.clock.now())
        except StoreError:
            return
        if self._main.daemon is not None:
            self._main.daemon.poke()

    def due(self, kind: Kind) -> Fault | None:
        """The fault for this time that something happens, if there is one. Faults end when the calm begins."""
        self.counts[kind.value] += 1
        fault = None if self._calm.is_set() else self._pending.get(kind, {}).get(self.counts[kind.value])
        if fault is not None:
            self.happened.append(fault)
            self.trace(f"FAULT {fault}")
        return fault

    def point(self, kind: Kind) -> None:
        """A place where a process may die."""
        check_alive()
        if (fault := self.due(kind)) is not None:
            process = CURRENT.get()
            assert process is not None
            self._down = fault.length
            process.die()
            raise Crash

    def tool_starts(self, session: Session, use: ToolUse) -> None:
        for row in self.database._connection.execute(
            "SELECT message FROM session_messages WHERE agent = ? AND session = ?", (AGENT, session.id)
        ):
            content = json.loads(row["message"])["content"]
            for block in content if isinstance(content, list) else ():
                if block["type"] == "tool_result" and block["tool_use_id"] == use.id:
                    self.fail("no stored tool call runs again", f"{use.id} of {session.id}")

    def _probe(self, statement: str) -> None:
        process = CURRENT.get()
        if process is not None and process.dead:
            raise Crash
        if statement == "committed":
            tables = {name.partition("_")[0] for name in self._written}
            self._written = set()
            if tables & {"accounts", "holds", "pools"}:
                self._look(self.invariants._ledger_is_exact)
        elif statement != "commit":
            self._written.add(statement)
        if process is not None:
            self.point(Kind.WRITE)

    def _look(self, check: Callable[[], None]) -> None:
        if self.violation is None:
            try:
                check()
            except Violation as violation:
                self.violation = violation
                self.trace(f"VIOLATION {violation}")


class _Tools(WorkerTools):
    def __init__(self, tools: WorkerTools, world: World) -> None:
        self.__dict__.update(tools.__dict__)
        self._world = world

    async def run(self, session: Session, use: ToolUse) -> Done:
        self._world.point(Kind.TOOL_STARTS)
        self._world.tool_starts(session, use)
        done = await super().run(session, use)
        self._world.point(Kind.TOOL_ENDS)
        return done


@dataclass
class _Commands:
    """Commands that show if they ran twice, and can be cut off in the middle."""

    world: World
    name = "toy"
    confines = True

    async def run(self, job: Job) -> Ran:
        verb, _, word = job.command.partition(" ")
        if verb == "append":
            log = job.folder / f"{word.rpartition('-')[0]}.log"
            with log.open("a") as file:
                file.write(f"{word} begins\n")
            await self.world.clock.sleep(5)
            self.world.point(Kind.IN_COMMAND)
            with log.open("a") as file:
                file.write(f"{word} ends\n")
        else:
            await self.world.clock.sleep(2)
            self.world.point(Kind.IN_COMMAND)
            shutil.rmtree(job.folder / "deep", ignore_errors=True)
        return Ran(Ending.EXITED, 0, f"{verb} ok")


class _Blobs(MemoryBlobs):
    def __init__(self, world: World) -> None:
        super().__init__(world.clock.now)
        self._world = world

    def put(self, key: str, content: bytes) -> None:
        if "/manifests/" not in key:
            self._world.point(Kind.PIECE)
        super().put(key, content)

    def put_new(self, key: str, content: bytes) -> bool:
        self._world.point(Kind.MANIFEST)
        made = super().put_new(key, content)
        self._world.point(Kind.KEPT)
        return made

    def damage_one(self, number: int) -> None:
        """An old manifest; one of the last two is needed."""
        manifests = [key for key in self.list(AGENT) if "/manifests/" in key]
        if old := manifests[:-2]:
            content, at = self._contents[old[number % len(old)]]
            self._contents[old[number % len(old)]] = (content[:-1] + b"?", at)


class _Model:
    """Plays the script of the task that the conversation is about."""

    name = "scripted"

    def __init__(self, world: World) -> None:
        self.billed: Counter[str] = Counter()
        self._world = world
        self._away_until = 0.0

    async def complete(self, request: ModelRequest) -> ModelReply:
        world = self._world
        world.point(Kind.CALL)
        now = asyncio.get_running_loop().time()
        if (away := world.due(Kind.MODEL_AWAY)) is not None:
            self._away_until = now + away.length / SECOND
        if now < self._away_until:
            raise ModelUnavailableError("The model is away.", unbilled=True)
        if (hang := world.due(Kind.MODEL_HANGS)) is not None:
            await world.clock.sleep(hang.length / SECOND)
        await world.clock.sleep(4)
        check_alive()
        reply = self._reply(request)
        self.billed[request.attempt_id] += PRICES.cost(request.model, reply.usage)
        world.point(Kind.ANSWER)
        return reply

    async def close(self) -> None:
        return None

    def _reply(self, request: ModelRequest) -> ModelReply:
        task, number = "", 0
        for turn in request.turns:
            if turn.role is Role.ASSISTANT:
                number += 1
            elif not any(isinstance(block, ToolResult) for block in turn.content) and turn.text in self._scripts:
                task, number = turn.text, 0
        usage = TokenUse(400 + 100 * number, min(60, request.max_tokens))
        turns = self._scripts.get(task, [])
        if not request.tools or number > len(turns):
            return ModelReply((Text("Stopping here."),), request.model, usage)
        last = [("report", {"text": f"{task} is done."})]
        calls = turns[number] if number < len(turns) else last
        offered = {tool.name for tool in request.tools}
        uses = tuple(
            ToolUse(f"{task}/{number}/{n}", name, args) for n, (name, args) in enumerate(calls) if name in offered
        )
        if not uses:
            return ModelReply((Text(f"{task} is done."),), request.model, usage)
        return ModelReply(uses, request.model, usage, stop_reason=StopReason.TOOL_USE)

    @property
    def _scripts(self) -> dict[str, list[list[tuple[str, dict[str, Any]]]]]:
        return self._world.scenario.scripts


def picture(top: Path) -> dict[str, str]:
    """Every path of a workspace, with what it is."""
    return {
        str(path.relative_to(top)): "folder"
        if path.is_dir()
        else f"{path.stat().st_mode & 0o777:o} {hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"
        for path in sorted(top.rglob("*"))
    }


def live(seed: int, numbers: Sequence[int] | None = None) -> World:
    """A seed with all of its faults or some of them, compared with a calm life."""
    scenario, faults = draw(seed)
    chosen = faults if numbers is None else [faults[number] for number in numbers]
    with TemporaryDirectory(prefix="nudge-lives-") as folder:
        for name in ("calm", "faults"):
            (Path(folder) / name).mkdir()
        world = World(seed, scenario, chosen, Path(folder) / "faults").run()
        if world.violation is None and not scenario.tight:
            calm = World(seed, scenario, (), Path(folder) / "calm").run()
            for part in ("files", "ended", "sessions"):
                if calm.end[part] != world.end[part]:
                    wrong = f"{part} {world.end[part]} instead of {calm.end[part]}"
                    world.fail("a disturbed life ends as a calm one", wrong)
    return world


def shortest(seed: int) -> str:
    """What a seed breaks, with as few of its faults as are needed."""
    world = live(seed)
    if world.violation is None:
        return ""
    left = list(range(len(draw(seed)[1])))
    for number in list(left):
        without = [one for one in left if one != number]
        tried = live(seed, without)
        if tried.violation is not None and tried.violation.invariant == world.violation.invariant:
            left, world = without, tried
    faults = "\n".join(f"  {number}: {draw(seed)[1][number]}" for number in left)
    trace = "\n".join(f"  {line}" for line in world.lines[-40:])
    return f"seed {seed} breaks: {world.violation}\nfaults:\n{faults}\ntrace:\n{trace}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.workers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--seed", type=int, help="replay this one")
    parser.add_argument("--count", type=int, default=200, help="how many seeds (default 200)")
    parser.add_argument("--start", type=int, default=0, help="the first seed (default 0)")
    args = parser.parse_args()
    if args.seed is not None:
        world = live(args.seed)
        print("\n".join(world.lines))
        print(shortest(args.seed) or "all invariants hold")
        return int(world.violation is not None)
    totals: Counter[str] = Counter()
    for seed in range(args.start, args.start + args.count):
        world = live(seed)
        totals["seeds"] += 1
        totals["processes"] += world.counts["processes"]
        totals["store writes"] += world.counts[Kind.WRITE.value]
        totals.update(f"fault: {fault.kind.value}" for fault in world.happened)
        if world.violation is not None:
            totals["violations"] += 1
            print(shortest(seed), flush=True)
        print(f"\r{totals['seeds']} of {args.count} lives, {totals['violations']} violations", end="", file=sys.stderr)
    print(file=sys.stderr)
    for name, number in sorted(totals.items()):
        print(f"{number:>12,}  {name}")
    print(f"{totals['violations']:>12,}  violations")
    return int(totals["violations"] > 0)


if __name__ == "__main__":
    sys.exit(main())
