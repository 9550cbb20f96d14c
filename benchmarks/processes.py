"""What the benchmarks start in a process of its own: `python -m benchmarks.processes WHAT …`.

Each prints one line: "fired" at its first timer, or what it measured as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any


def seed(path: str, count: str) -> None:
    """Timers of the coming year in a thousand lanes, none of them due."""
    from nudge.clock import SystemClock
    from nudge.instants import DAY
    from nudge.queue.agents import Agents
    from nudge.stores.open import open_sqlite

    async def schema() -> None:
        store = open_sqlite(path)
        await Agents(store).ensure_default(SystemClock().now())
        await store.close()

    asyncio.run(schema())
    total, tomorrow = int(count), SystemClock().now() + DAY
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous = OFF")
    with connection:
        connection.executemany(
            "INSERT INTO timers (agent, key, kind, due_at, slot_at, payload, lane, attempts) "
            "VALUES ('coach', ?, 'note', ?, ?, '{}', ?, 0)",
            (
                (f"later:{n:07}", due := tomorrow + n * 7919 % total * 365 * DAY // total, due, f"coach/{n % 1000}")
                for n in range(total)
            ),
        )
    connection.close()


def post(path: str) -> None:
    """One message in the outbox, due now."""
    from nudge.clock import SystemClock
    from nudge.queue.delivery import deliver_timer
    from nudge.queue.outbox import Message
    from nudge.stores.open import open_sqlite

    async def main() -> None:
        store, now = open_sqlite(path), SystemClock().now()
        async with store.transaction():
            await store.outbox.put(Message("coach", "fired", "note", now, asked=True))
            await store.timers.ensure(deliver_timer("coach", now))
        await store.close()

    asyncio.run(main())


def first(path: str) -> None:
    """The queue alone: open the store, fire what is due, stay."""
    from nudge.clock import SystemClock
    from nudge.queue.dispatch import Dispatcher
    from nudge.queue.firing import Firing
    from nudge.queue.outcomes import Result
    from nudge.stores.open import open_sqlite

    async def note(firing: Firing) -> None:
        async with firing.settle() as settlement:
            settlement.outcome(Result.FIRED)
        print("fired", flush=True)

    async def main() -> None:
        await Dispatcher(open_sqlite(path), SystemClock(), {"note": note}, owner="bench").run()

    asyncio.run(main())


def set_due(path: str) -> None:
    """One timer that is due now."""
    from nudge.clock import SystemClock
    from nudge.queue.timers import Timer
    from nudge.stores.open import open_sqlite

    async def main() -> None:
        store = open_sqlite(path)
        await store.timers.set(Timer.at("coach", "due", "note", SystemClock().now()))
        await store.close()

    asyncio.run(main())


def slow_commits(store: Any, milliseconds: str) -> None:
    """Let every commit take so much longer, as a slow disk does."""
    seconds = float(milliseconds) / 1000

    def probe(statement: str) -> None:
        if statement == "commit":
            time.sleep(seconds)

    if seconds:
        store.database.probe = probe


def due(url: str, lanes: str, count: str, slower: str = "0") -> None:
    """`count` timers due at one instant in `lanes` lanes: how long after it each has its outcome, in seconds. A commit
    takes `slower` milliseconds more than the disk needs."""
    from nudge.clock import SystemClock
    from nudge.instants import SECOND, Instant
    from nudge.queue.agents import Agents
    from nudge.queue.dispatch import Dispatcher
    from nudge.queue.firing import Firing, batched
    from nudge.queue.outcomes import Result
    from nudge.queue.timers import Timer
    from nudge.stores.open import open_store

    async def main() -> list[float]:
        clock, lags = SystemClock(), list[float]()
        store = await open_store(url)
        await Agents(store).ensure_default(clock.now())
        at = Instant(clock.now() + SECOND + SECOND // 2)
        run = f"{at}"
        await store.timers.set_many(
            Timer.at("coach", f"due:{run}:{n}", "noop", at, lane=f"coach/{n % int(lanes)}") for n in range(int(count))
        )

        @batched
        async def noop(firing: Firing) -> None:
            async with firing.settle() as settlement:
                settlement.outcome(Result.FIRED)

        async def watch() -> None:
            """A firing counts when its commit is behind it."""
            while len(lags) < int(count):
                await asyncio.sleep(0)
                lags.extend([(clock.now() - at) / SECOND] * (dispatcher.fired - len(lags)))
            dispatcher.stop()

        slow_commits(store, slower)
        dispatcher = Dispatcher(store, clock, {"noop": noop}, owner="bench")
        watching = asyncio.create_task(watch())
        await dispatcher.run()
        await watching
        await store.close()
        return lags

    print(json.dumps(asyncio.run(main())), flush=True)


def reminders_due(folder: str, count: str) -> None:
    """`count` reminders of one agent due at one instant in the whole daemon, and a message of the person in between:
    seconds until the last has fired, until the person has an answer, and of the processor."""
    from dataclasses import replace
    from pathlib import Path

    from nudge.clock import SystemClock
    from nudge.daemon.assemble import Daemon, Options, Ports
    from nudge.daemon.world import is_coach
    from nudge.home.create import make_home
    from nudge.home.documents import HomeDocuments
    from nudge.home.folder import Home
    from nudge.home.prices import load_prices
    from nudge.home.seeds import HomeSeeds
    from nudge.instants import SECOND, Instant
    from nudge.queue.agents import Agent
    from nudge.queue.channel import Inbound
    from nudge.queue.timers import Timer
    from nudge.reminders.definition import make_reminder
    from nudge.reminders.reminder import KIND, Source, key_of
    from nudge.reminders.tables import _params
    from nudge.stores.open import open_sqlite
    from nudge.testing import RecordingChannel

    async def main() -> dict[str, float]:
        clock, channel, home = SystemClock(), RecordingChannel(), Home(Path(folder))
        make_home(home)
        (home.roles / "tester.yaml").write_text("name: tester\nkind: worker\n")
        (home.roles / "tester.yaml").chmod(0o600)
        store, now = open_sqlite(str(home.database)), clock.now()
        ports = Ports(
            store,
            clock,
            channel,
            HomeDocuments(home),
            load_prices(home.path),
            seeds=HomeSeeds(home),
            is_coach=lambda agent: is_coach(home, agent),
        )
        await store.agents.add(Agent("tester", "tester", now))
        daemon = Daemon(ports, Options("bench"))
        await daemon.start()
        definition = {"message": "Look at the queue.", "schedule": {"every": "30m"}}
        model = make_reminder(definition, agent="tester", now=now, zone="UTC", source=Source.CLI)
        reminders = [replace(model, id=f"r-{n:06}") for n in range(int(count))]
        params = _params(model)
        await store.database.run_many("reminders_add", [{**params, "id": one.id} for one in reminders])
        at = Instant(clock.now() - SECOND)
        await store.timers.set_many(Timer.at("tester", key_of(one.id), KIND, at, lane=one.lane) for one in reminders)
        running = asyncio.create_task(daemon.run())
        started, worked = time.perf_counter(), time.process_time()
        await asyncio.sleep(0.2)
        said = time.perf_counter()
        await daemon.coach.listener.hear("coach", Inbound(clock.now(), "hello"))
        daemon.poke()
        answered: float | None = None
        while daemon.dispatcher.fired < int(count) or answered is None:
            await asyncio.sleep(0.01)
            if answered is None and channel.texts:
                answered = time.perf_counter() - said
        taken, cpu = time.perf_counter() - started, time.process_time() - worked
        daemon.stop()
        await running
        await store.close()
        return {"all": taken, "answer": answered, "cpu": cpu}

    print(json.dumps(asyncio.run(main())), flush=True)


def ledger(path: str, tasks: str, pairs: str, slower: str) -> None:
    """Pairs of reserve and settle a second, by so many tasks side by side."""
    from functools import partial

    from benchmarks.spending import CHAIN, NOON, PRICE
    from nudge.instants import Instant
    from nudge.spending.holds import Call, settle
    from nudge.spending.ledger import AccountLedger, Attempt
    from nudge.stores.open import open_sqlite

    async def main() -> float:
        store = open_sqlite(path)
        accounts, call = AccountLedger(store), Call(PRICE, 100, 100)
        for key in CHAIN:
            await store.ledger.open(key, 10**15, agent="bench")
        slow_commits(store, slower)

        async def task(number: int) -> None:
            for n in range(int(pairs) // int(tasks)):
                name = f"attempt {number} {n}"
                await accounts.reserve(Attempt(name, call, "bench"), CHAIN, NOON, expires_at=Instant(NOON + 1))
                await accounts.end(name, partial(settle, actual=50))

        started = time.perf_counter()
        await asyncio.gather(*(task(number) for number in range(int(tasks))))
        taken = time.perf_counter() - started
        await store.close()
        return int(pairs) / taken

    print(json.dumps(asyncio.run(main())), flush=True)


async def apscheduler_noop() -> None:
    """Notes how late it is; with `_at` unset it says that it was called."""
    if _at is None:
        print("fired", flush=True)
    else:
        _lags.append((datetime.now(UTC) - _at).total_seconds())


_at: datetime | None = None
_lags: list[float] = []


def _scheduler(path: str, *, safe: bool = True) -> Any:
    from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
    from apscheduler.schedulers.asyncio import AsyncIOScheduler
    from sqlalchemy import create_engine, event

    engine = create_engine(f"sqlite:///{path}")
    if not safe:
        event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous = OFF"))
    # Without a limit to its lateness, or it drops what it does not start within a second.
    return AsyncIOScheduler(
        jobstores={"default": SQLAlchemyJobStore(engine=engine)},
        job_defaults={"misfire_grace_time": None},
        timezone=UTC,
    )


def _add(path: str, times: list[datetime]) -> None:
    async def main() -> None:
        scheduler = _scheduler(path, safe=False)
        scheduler.start(paused=True)
        for at in times:
            scheduler.add_job("benchmarks.processes:apscheduler_noop", "date", run_date=at)
        scheduler.shutdown(wait=False)

    asyncio.run(main())


def apscheduler_seed(path: str, count: str) -> None:
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    _add(path, [tomorrow + timedelta(seconds=n * 7919 % int(count) * 60) for n in range(int(count))])


def apscheduler_set_due(path: str) -> None:
    _add(path, [datetime.now(UTC)])


def apscheduler_first(path: str) -> None:
    async def main() -> None:
        _scheduler(path).start()
        await asyncio.Event().wait()

    asyncio.run(main())


def apscheduler_due(path: str, count: str) -> None:
    at = datetime.now(UTC) + timedelta(seconds=5)
    _add(path, [at] * int(count))

    async def main() -> list[float]:
        from benchmarks import processes  # the one that the jobs name, not __main__

        processes._at = at
        scheduler = _scheduler(path)
        scheduler.start()
        if datetime.now(UTC) > at:
            raise RuntimeError("adding the jobs took longer than the time until they are due")
        while len(processes._lags) < int(count):
            await asyncio.sleep(0.01)
        scheduler.shutdown(wait=False)
        return processes._lags

    print(json.dumps(asyncio.run(main())), flush=True)


def commits(path: str, count: str, slower: str = "0") -> None:
    """How long SQLite takes to make a small transaction durable here, in seconds."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS t (n INTEGER)")
    taken = []
    for n in range(int(count)):
        started = time.perf_counter()
        if slower != "0":
            time.sleep(float(slower) / 1000)
        connection.execute("INSERT INTO t VALUES (?)", (n,))
        taken.append(time.perf_counter() - started)
    connection.close()
    print(json.dumps(taken), flush=True)


_WHAT: list[Callable[..., None]] = [seed, post, first, set_due, due, commits, reminders_due, ledger]
_WHAT += [apscheduler_seed, apscheduler_set_due, apscheduler_first, apscheduler_due]

if __name__ == "__main__":
    next(one for one in _WHAT if one.__name__ == sys.argv[1])(*sys.argv[2:])
