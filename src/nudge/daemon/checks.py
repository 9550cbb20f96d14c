"""One list of checks. `nudge doctor` runs all of them, `nudge config check` those of the configuration, and `nudge run`
the same ones before it starts."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import sys
from collections.abc import Awaitable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from nudge.daemon.config_checks import CONFIG_CHECKS
from nudge.daemon.findings import Check, Finding, Subject
from nudge.daemon.lock import holder_of
from nudge.daemon.rescue import finish_rescue, is_emptied, rescue, sound_copies
from nudge.errors import NudgeError, RetryableError, StoreDamagedError, StoreError
from nudge.home.config import Config
from nudge.home.folder import Home, foreign
from nudge.home.private_files import changeable
from nudge.queue.agents import DEFAULT, Agent
from nudge.stores.open import open_store, sqlite_path

if TYPE_CHECKING:
    from nudge.queue.channel import Channel

T = TypeVar("T")

_RECOVER = "Run 'nudge doctor --fix', or start nudge: the file is kept, and what can be read is recovered."
_LOW_DISK = 200 * 1024 * 1024
_SERVICE_SECONDS = 5.0


def examine(subject: Subject, checks: Sequence[Check]) -> list[Finding]:
    """What all of them find. What two of them say is told once."""
    findings: dict[str, Finding] = {}
    for check in checks:
        for found in _found(check, subject):
            findings.setdefault(found.text, found)
    return list(findings.values())


def _found(check: Check, subject: Subject) -> Iterator[Finding]:
    try:
        yield from check.examine(subject)
    except NudgeError as error:
        yield Finding.of(check.name, error)
    except OSError as error:
        yield Finding(check.name, "error", f"{error.filename}: {error.strerror}.", "Check its owner and permissions.")


def _python(subject: Subject) -> Iterator[Finding]:
    version = ".".join(str(part) for part in sys.version_info[:3])
    yield Finding("python", "ok", f"{version}, SQLite {sqlite3.sqlite_version}")


def _home(subject: Subject) -> Iterator[Finding]:
    home = subject.home
    if not home.exists:
        if subject.fix:
            from nudge.home.create import make_home

            make_home(home)
            yield Finding("home", "ok", f"created {home.path}")
        else:
            yield Finding("home", "error", f"There is no nudge home at {home.path}.", "Run 'nudge init'.")
        return
    if not os.access(home.path, os.W_OK | os.X_OK):
        yield Finding("home", "error", f"{home.path} cannot be written.", "Check its owner and permissions.")
        return
    free = shutil.disk_usage(home.path).free
    text = f"{home.path}, {free // 2**20:,} MiB free"
    yield Finding("home", "ok", text) if free > _LOW_DISK else Finding("home", "warning", text, "Free some space.")
    if home.socket.parent != home.run and home.socket.parent.exists() and foreign(home.socket.parent):
        yield Finding(
            "home", "error", f"{home.socket.parent} belongs to another user.", "Remove it, or use a shorter NUDGE_HOME."
        )


def _permissions(subject: Subject) -> Iterator[Finding]:
    """Who else can read or write. What decides which commands run is refused when it is read; here it is repaired, and
    the rest of the home is looked at."""
    home = subject.home
    for path in (home.env_file, home.run):
        if not path.exists() or not path.stat().st_mode & 0o077:
            continue
        if subject.fix:
            path.chmod(0o700 if path.is_dir() else 0o600)
            yield Finding("permissions", "ok", f"{path} is private again")
        elif path == home.run:
            yield Finding("permissions", "error", f"{path} is open to other users.", "Run 'nudge doctor --fix'.")
    for path in _guarded(home):
        exposed = changeable(path)
        if exposed is None:
            continue
        if subject.fix and path.stat().st_uid == os.getuid():
            path.chmod(path.stat().st_mode & ~0o022)
            yield Finding("permissions", "ok", f"{path} can only be changed by you again")
        elif path.suffix == ".md" and path.parent.name != "routines":
            yield Finding("permissions", "warning", f"{exposed.problem}.", exposed.next_step)
        elif path.is_dir() and path not in (home.path, home.roles):
            yield Finding("permissions", "error", f"{exposed.problem}.", exposed.next_step)


def _guarded(home: Home) -> Iterator[Path]:
    """The folders and files that others must not change."""
    for path in (home.path, home.config, home.env_file, home.roles, home.path / "agents", home.path / "prices.toml"):
        if path.exists():
            yield path
    for pattern in ("roles/*.yaml", "agents/*", "agents/*/*.md", "agents/*/routines", "agents/*/routines/*.md"):
        yield from sorted(path for path in home.path.glob(pattern) if path.exists())


def _routines(subject: Subject) -> Iterator[Finding]:
    """Routines are read again while nudge runs, so a broken one does not keep it from starting."""
    from nudge.home.routines import read_routine, routine_files

    count = 0
    for folder in sorted(subject.home.path.glob("agents/*/routines")):
        for file in routine_files(folder):
            count += 1
            try:
                read_routine(file, str(file))
            except NudgeError as error:
                yield Finding.of("routines", error)
    yield Finding("routines", "ok", f"{count} routines" if count != 1 else "1 routine")


def document_findings(home: Home, coaches: Sequence[str]) -> Iterator[Finding]:
    """What is wrong with the GOALS.md of each coach. It counts only once it is right; until then nudge goes on with
    what it last read."""
    from nudge.coach.goals import parse_goals

    for path in (home.agent(name) / "GOALS.md" for name in coaches):
        try:
            problems = parse_goals(path.read_bytes().decode("utf-8", "surrogateescape")).parsed.problems
        except FileNotFoundError:
            continue
        except OSError as error:
            yield Finding("documents", "warning", f"{path}: {error.strerror}.", "Check its owner and permissions.")
            continue
        for problem in problems:
            yield Finding(
                "documents",
                "warning",
                f"{path}, line {problem.line}: {problem.field}: {problem.message}.",
                "Fix that line. Until then, the last valid targets are used.",
            )


def _documents(subject: Subject) -> Iterator[Finding]:
    from nudge.daemon.world import is_coach

    coaches = [agent.name for agent in _agents(subject) if is_coach(subject.home, agent)]
    findings = list(document_findings(subject.home, coaches or [DEFAULT]))
    yield from findings or [Finding("documents", "ok", "GOALS.md is readable")]


def _agents(subject: Subject) -> list[Agent]:
    """Those in the store; none where there is no store yet, or where it cannot be read."""

    async def read() -> list[Agent]:
        store = await open_store(subject.config.database_url, connections=1)
        try:
            return list(await store.agents.all())
        finally:
            await store.close()

    url = subject.config.database_url
    if url.startswith("sqlite:") and not Path(sqlite_path(url)).exists():
        return []
    try:
        return asyncio.run(read())
    except NudgeError:
        return []  # the check of the database says so


def _services(subject: Subject) -> Iterator[Finding]:
    """Ask the channel's and the model's service whether they accept their configuration. It costs nothing."""
    from nudge.clock import SystemClock
    from nudge.daemon.channel import channel_of

    config = subject.config
    if not subject.readable:
        yield Finding("services", "ok", "not checked: the configuration has errors")
        return
    try:
        channel = channel_of(config, SystemClock())
    except NudgeError:
        pass  # the check of the channel says so
    else:
        yield from _answer(channel.name, _ask_channel(channel))
    if config.provider is None:
        yield Finding("key", "ok", "not checked: no model is in use")
    else:
        yield from _answer("key", ask_model(config))


def _answer(name: str, question: Awaitable[str]) -> Iterator[Finding]:
    async def ask() -> str:
        return await question

    try:
        if said := asyncio.run(ask()):
            yield Finding(name, "ok", said)
    except RetryableError as error:
        text = f"Not checked: {error.message}"
        yield Finding(name, "warning", text, error.next_step or "Check the network, and try again.")
    except NudgeError as error:
        yield Finding.of(name, error)


async def _soon(answer: Awaitable[T]) -> T:
    try:
        async with asyncio.timeout(_SERVICE_SECONDS):
            return await answer
    except TimeoutError:
        raise RetryableError(f"no answer within {_SERVICE_SECONDS:g} s.") from None


async def _ask_channel(channel: Channel) -> str:
    try:
        return await _soon(channel.check())
    finally:
        await channel.close()


async def ask_model(config: Config) -> str:
    """Ask the model's service, for free, whether it accepts the key. Raises RetryableError if nobody answers soon."""
    from nudge.clock import SystemClock
    from nudge.models import open_model

    assert config.provider is not None
    model = open_model(config.provider, config.environment, clock=SystemClock())
    try:
        return await _soon(model.check())
    finally:
        await model.close()


def _sandbox(subject: Subject) -> Iterator[Finding]:
    """What the commands of a worker run in, and what that really stops on this machine."""
    from nudge.sandbox.choose import candidates, fix
    from nudge.sandbox.trial import examine as try_out

    problems = []
    for sandbox, problem in candidates():
        if problem:
            problems.append(f"{sandbox.name}: {problem}")
            continue
        found = try_out(sandbox)
        if not found.works:
            problems.append(f"{sandbox.name}: commands do not run in it")
            continue
        if found.possible:
            text = f"{sandbox.name} lets commands {', '.join(found.possible)}."
            yield Finding("sandbox", "warning", text, f"Use another sandbox. {fix()}")
            return
        text = f"{sandbox.name} works; it blocked these attempts: {', '.join(found.stopped)}"
        yield Finding("sandbox", "ok", "; ".join([text, *problems]), fix() if problems else None)
        return
    text = f"No sandbox works, so workers run no commands ({'; '.join(problems)})."
    yield Finding("sandbox", "warning", text, fix())


def _database(subject: Subject) -> Iterator[Finding]:
    url = subject.config.database_url
    if not url.startswith("sqlite:"):

        async def reach() -> int:
            store = await open_store(url, connections=1)
            try:
                return await store.timers.count()
            finally:
                await store.close()

        yield Finding("database", "ok", f"PostgreSQL answers; {asyncio.run(reach()):,} timers")
        return
    database, running = Path(sqlite_path(url)), holder_of(subject.home)
    if not running:
        finish_rescue(database)
    if not database.exists():
        yield _no_database(subject, database, running=running is not None)
        return
    try:
        yield _examine_sqlite(database, subject.home.copies)
    except StoreDamagedError as error:
        if not subject.fix:
            yield Finding.of("database", error)
        elif running:
            yield Finding("database", "error", error.message, "Run 'nudge stop' first, then 'nudge doctor --fix'.")
        else:
            yield Finding("database", "warning", rescue(database, subject.home.copies, subject.now).text)


def _no_database(subject: Subject, database: Path, *, running: bool) -> Finding:
    if running:
        step = "The daemon writes it again within 30 seconds. If it does not, see its log in logs/."
        return Finding("database", "error", f"{database} was removed while nudge was running.", step)
    if copies := sound_copies(subject.home.copies):
        step = f"To continue with the last copy: cp {copies[0]} {database}"
        return Finding("database", "warning", "none; the next start creates an empty one", step)
    return Finding("database", "ok", "none yet; the first start creates it")


def _examine_sqlite(path: Path, copies: Path) -> Finding:
    from nudge.inline import run_inline
    from nudge.stores.salvage import wal_is_damaged
    from nudge.stores.sqlite import SqliteDatabase
    from nudge.stores.sqlite_file import examine_file
    from nudge.stores.store import SqlStore

    if is_emptied(path, copies):
        raise StoreDamagedError(f"The database {path} is damaged (the file is empty).", next_step=_RECOVER)
    if wal_is_damaged(path):
        raise StoreDamagedError(f"The database {path} is damaged (its write-ahead log).", next_step=_RECOVER)
    database = SqliteDatabase.open(str(path))
    try:
        examine_file(str(path))
        timers = run_inline(SqlStore(database).timers.count())
    finally:
        run_inline(database.close())
    return Finding("database", "ok", f"{path.name}, {path.stat().st_size // 1024:,} KiB, {timers:,} timers, sound")


def _reminders(subject: Subject) -> Iterator[Finding]:
    """What the last start, or the last look at the routines, could not use."""
    url = subject.config.database_url
    if url.startswith("sqlite:") and not Path(sqlite_path(url)).exists():
        return
    from nudge.reminders.reminder import Source
    from nudge.reminders.seeding import PROBLEMS

    async def read() -> list[tuple[str, str]]:
        store = await open_store(url, connections=1)
        try:
            found = []
            for agent in await store.agents.all():
                for source in (Source.ROLE, Source.FILE):
                    problems = await store.records.get(agent.name, PROBLEMS.of(source.value)) or ()
                    found += [(agent.name, problem.text) for problem in problems]
            return found
        finally:
            await store.close()

    try:
        found = asyncio.run(read())
    except StoreError:
        return  # the check of the database says so
    for agent, text in found:
        yield Finding(
            "reminders",
            "error",
            f"{agent}: {text}",
            "Fix the file. Routines are read again within half a minute, roles at the next start.",
        )
    if not found:
        yield Finding("reminders", "ok", "roles and routines are fine")


def _daemon(subject: Subject) -> Iterator[Finding]:
    holder = holder_of(subject.home)
    if holder is None:
        yield Finding("daemon", "ok", "not running; 'nudge run' starts it")
        return
    from nudge.daemon.control_client import call

    status = call(subject.home.socket, "GET", "/status")
    yield Finding("daemon", "ok", f"process {holder.pid} answers, since {holder.since_when}")
    for problem in status.get("problems", ()):
        yield Finding("daemon", problem["level"], problem["text"], problem["next_step"])


CHECKS = (
    Check("python", _python),
    Check("home", _home),
    Check("permissions", _permissions),
    *CONFIG_CHECKS,
    Check("routines", _routines),
    Check("documents", _documents),
    Check("services", _services),
    Check("sandbox", _sandbox),
    Check("database", _database),
    Check("reminders", _reminders),
    Check("daemon", _daemon),
)
