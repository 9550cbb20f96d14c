"""What `nudge doctor` looks at. Each check says what it found, and the next step where there is one."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nudge.daemon.lock import holder_of
from nudge.errors import NudgeError, RetryableError, StoreCorruptError, StoreError
from nudge.home.folder import Home
from nudge.home.set_aside import set_aside
from nudge.home.settings import ENV_NAMES, Settings, read_env_file
from nudge.instants import Instant
from nudge.stores.open import sqlite_path

if TYPE_CHECKING:
    from nudge.queue.channel import Channel

Level = Literal["ok", "warning", "error"]
_LOW_DISK = 200 * 1024 * 1024


@dataclass(frozen=True)
class Finding:
    name: str
    level: Level
    text: str
    next_step: str | None = None

    def json(self) -> dict[str, Any]:
        return {"check": self.name, "level": self.level, "text": self.text, "next_step": self.next_step}


Check = Callable[[Home, Instant, bool], Iterator[Finding]]


def examine(home: Home, now: Instant, *, fix: bool = False) -> list[Finding]:
    findings: list[Finding] = []
    for name, check in CHECKS.items():
        try:
            findings += check(home, now, fix)
        except NudgeError as error:
            findings.append(Finding(name, "error", error.message, error.next_step))
        except OSError as error:
            findings.append(Finding(name, "error", f"{error.filename}: {error.strerror}", "Check its permissions."))
    return findings


def _python(home: Home, now: Instant, fix: bool) -> Iterator[Finding]:
    version = ".".join(str(part) for part in sys.version_info[:3])
    yield Finding("python", "ok", f"{version}, SQLite {sqlite3.sqlite_version}")


def _home(home: Home, now: Instant, fix: bool) -> Iterator[Finding]:
    if not home.exists:
        if fix:
            from nudge.home.create import make_home

            make_home(home)
            yield Finding("home", "ok", f"made {home.path}")
        else:
            yield Finding("home", "error", f"there is none at {home.path}", "Run 'nudge init'.")
        return
    if not os.access(home.path, os.W_OK | os.X_OK):
        yield Finding("home", "error", f"{home.path} cannot be written", "Check its owner and permissions.")
        return
    free = shutil.disk_usage(home.path).free
    level: Level = "ok" if free > _LOW_DISK else "warning"
    yield Finding(
        "home", level, f"{home.path}, {free // 2**20:,} MiB free", None if level == "ok" else "Free some space."
    )
    if home.run.exists() and home.run.stat().st_mode & 0o077:
        if fix:
            home.run.chmod(0o700)
            yield Finding("run", "ok", f"{home.run} is private again")
        else:
            yield Finding("run", "error", f"{home.run} is open to other users", "Run 'nudge doctor --fix'.")


def _secrets(home: Home, now: Instant, fix: bool) -> Iterator[Finding]:
    if fix and home.env_file.exists() and home.env_file.stat().st_mode & 0o077:
        home.env_file.chmod(0o600)
        yield Finding("secrets", "ok", f"{home.env_file} is private again")
    environment = Settings.read(home).environment
    for name, without in (
        ("ANTHROPIC_API_KEY", "not set: the coach works by its own rules, offline"),
        ("TELEGRAM_BOT_TOKEN", "not set: the coach lives in the terminal"),
        ("NUDGE_HEALTHCHECK_URL", "not set: nobody notices if nudge dies"),
        ("NUDGE_SMTP_URL", "not set: an exceeded budget is not mailed to anybody"),
    ):
        yield Finding("secrets", "ok", f"{name} {'is set' if environment.get(name) else without}")
    for name in sorted(read_env_file(home.env_file).keys() - set(ENV_NAMES)):
        if close := get_close_matches(name, ENV_NAMES, 1, 0.8):
            yield Finding("secrets", "warning", f"{home.env_file} has {name}, which is not read", f"Write {close[0]}.")


def _config(home: Home, now: Instant, fix: bool) -> Iterator[Finding]:
    from nudge.daemon.set_up import checked

    settings = Settings.read(home)
    checked(settings)
    yield Finding("config", "ok", f"nudge.toml is valid; time zone {settings.timezone}")


def _roles(home: Home, now: Instant, fix: bool) -> Iterator[Finding]:
    from nudge.home.seeds import HomeSeeds

    yield Finding("roles", "ok", ", ".join(HomeSeeds(home).check_roles(now, Settings.read(home).timezone)) or "none")


def _prices(home: Home, now: Instant, fix: bool) -> Iterator[Finding]:
    from nudge.home.prices import load_prices

    section = Settings.read(home).table.get("spending")
    table = load_prices(home.path, weights=section.get("weights") if isinstance(section, dict) else None)
    age = table.age_days(now)
    text = f"{len(table.models)} models, " + ("without a date" if age is None else f"read {age} days ago")
    if table.is_stale(now):
        step = (
            f"Compare with the provider's page, then write what differs and 'read = DATE' into {home.path}/prices.toml."
        )
        yield Finding("prices", "warning", f"{text}: they may have changed", step)
    else:
        yield Finding("prices", "ok", text)


def _services(home: Home, now: Instant, fix: bool) -> Iterator[Finding]:
    """Ask the channel's and the model's service whether they accept their configuration. It costs nothing."""
    import asyncio

    from nudge.clock import SystemClock
    from nudge.daemon.channel import channel_of
    from nudge.daemon.set_up import checked, pays

    settings = Settings.read(home)
    try:
        config = checked(settings)
    except NudgeError:
        return  # the check of the configuration says so
    channel = channel_of(settings, config, SystemClock())
    asking: dict[str, Coroutine[Any, Any, str]] = {channel.name: _ask_channel(channel)}
    if pays(settings, config):
        asking["model"] = _ask_model(settings)
    for name, ask in asking.items():
        try:
            if said := asyncio.run(ask):
                yield Finding(name, "ok", said)
        except RetryableError as error:
            yield Finding(name, "warning", error.message, error.next_step or "Check the network, and try again.")
        except NudgeError as error:
            yield Finding(name, "error", error.message, error.next_step)


async def _ask_channel(channel: Channel) -> str:
    try:
        return await channel.check()
    finally:
        await channel.close()


async def _ask_model(settings: Settings) -> str:
    from nudge.clock import SystemClock
    from nudge.models.anthropic import AnthropicModel

    model = AnthropicModel.from_settings(settings.environment, clock=SystemClock())
    try:
        await model.check_key()
    finally:
        await model.close()
    return "Anthropic takes the key"


def _database(home: Home, now: Instant, fix: bool) -> Iterator[Finding]:
    settings = Settings.read(home)
    if not settings.database_url.startswith("sqlite:"):
        import asyncio

        from nudge.stores.open import open_store

        async def reach() -> int:
            store = await open_store(settings.database_url, connections=1)
            try:
                return await store.timers.count()
            finally:
                await store.close()

        yield Finding("database", "ok", f"PostgreSQL answers; {asyncio.run(reach()):,} timers")
        return
    database = Path(sqlite_path(settings.database_url))
    if not database.exists():
        yield Finding("database", "ok", "not there yet; the first start makes it")
        return
    try:
        yield _examine_sqlite(database)
    except StoreCorruptError as error:
        if not fix:
            yield Finding("database", "error", error.message, error.next_step)
        elif holder_of(home):
            yield Finding("database", "error", error.message, "Run 'nudge stop' first, then 'nudge doctor --fix'.")
        else:
            kept = set_aside(database, now)
            yield Finding("database", "warning", f"damaged; kept as {kept.name}. The next start makes an empty one.")


def _examine_sqlite(path: Path) -> Finding:
    from nudge.inline import run_inline
    from nudge.stores.sqlite import SqliteDatabase
    from nudge.stores.store import SqlStore

    database = SqliteDatabase.open(str(path))
    try:
        database.examine()
        timers = run_inline(SqlStore(database).timers.count())
    finally:
        run_inline(database.close())
    return Finding("database", "ok", f"{path.name}, {path.stat().st_size // 1024:,} KiB, {timers:,} timers, sound")


def _reminders(home: Home, now: Instant, fix: bool) -> Iterator[Finding]:
    """What the last start, or the last look at the routines, could not use. Which is mended in the files."""
    settings = Settings.read(home)
    if settings.database_url.startswith("sqlite:") and not Path(sqlite_path(settings.database_url)).exists():
        return
    import asyncio

    from nudge.reminders.reminder import Source
    from nudge.reminders.seeding import PROBLEMS
    from nudge.stores.open import open_store

    async def read() -> list[tuple[str, str]]:
        store = await open_store(settings.database_url, connections=1)
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
            "Mend the file. Routines are read again within half a minute, roles at the next start.",
        )
    if not found:
        yield Finding("reminders", "ok", "roles and routines are in force")


def _daemon(home: Home, now: Instant, fix: bool) -> Iterator[Finding]:
    holder = holder_of(home)
    if holder is None:
        yield Finding("daemon", "ok", "not running; start it with 'nudge run'")
        return
    from nudge.daemon.control_client import call

    call(home.socket, "GET", "/status")
    yield Finding("daemon", "ok", f"process {holder.pid} answers, since {holder.since}")


CHECKS: dict[str, Check] = {
    "python": _python,
    "home": _home,
    "secrets": _secrets,
    "config": _config,
    "roles": _roles,
    "prices": _prices,
    "services": _services,
    "database": _database,
    "reminders": _reminders,
    "daemon": _daemon,
}
