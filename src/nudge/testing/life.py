"""The whole daemon on a virtual clock, with fakes around it: live a week in a test, in ten lines."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from importlib import resources
from typing import Any, TypeVar

from nudge.daemon.assemble import Daemon, NoCommands, Options, Ports
from nudge.daemon.working import CommandPorts
from nudge.errors import UsageError
from nudge.home.prices import load_prices
from nudge.instants import Moment, to_datetime, zone_of
from nudge.model import Model
from nudge.queue.channel import Inbound
from nudge.queue.outcomes import Outcome
from nudge.reminders.conditions import Conditions
from nudge.simulation.virtual_time import VirtualClock, run_virtual
from nudge.stores.open import open_store
from nudge.stores.store import SqlStore
from nudge.testing.channel import RecordingChannel
from nudge.testing.worker_fakes import ScriptedCommands
from nudge.worker.command_rules import CommandJob, CommandRan

T = TypeVar("T")

COACH = "coach"
_DOCUMENTS = ("GOALS.md", "MEMORY.md", "AGENTS.md", "HEARTBEAT.md")


class Texts:
    """The person's documents, in memory. `texts` may be changed at any time, as an editor would."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)

    def read(self, agent: str, name: str) -> bytes | None:
        text = self.texts.get(name)
        return None if text is None else text.encode()

    def write(self, agent: str, name: str, content: bytes) -> None:
        self.texts[name] = content.decode()

    def version(self, agent: str, name: str) -> str:
        return str(hash(self.texts[name])) if name in self.texts else ""


class Life:
    """One daemon, one person, one channel. Nothing happens between two calls: `passes` lets time pass."""

    def __init__(
        self,
        clock: VirtualClock,
        store: SqlStore,
        zone: str,
        model: Model | None,
        conditions: Conditions,
        commands: CommandPorts | None,
        options: Any,
    ) -> None:
        self.clock = clock
        self.store = store
        self.channel = RecordingChannel()
        self.documents = Texts(templates(zone))
        self.daemon = Daemon(
            Ports(
                store,
                clock,
                self.channel,
                self.documents,
                load_prices(),
                model=model,
                conditions=conditions,
                is_coach=lambda agent: agent.role == COACH,
                commands=commands,
            ),
            Options(owner="test", timezone=zone, longest_wait=3600, **options),
        )
        self._zone = zone_of(zone)

    @property
    def now(self) -> datetime:
        return to_datetime(self.clock.now(), self._zone)

    @property
    def said(self) -> list[str]:
        """Everything that has reached the person, oldest first."""
        return self.channel.texts

    async def passes(self, span: timedelta | None = None, **units: float) -> list[str]:
        """Let time pass, for example `hours=3`, and return what reached the person meanwhile."""
        before = len(self.channel.texts)
        length = (span or timedelta()) + timedelta(**units)
        await self.clock.sleep(length.total_seconds())
        return self.channel.texts[before:]

    async def say(self, text: str) -> list[str]:
        """The person writes. Returns what is answered within a second."""
        await self._hear(Inbound(self.clock.now(), text))
        return await self.passes(seconds=1)

    async def press(self, button: str) -> list[str]:
        """The person presses a button under the last message, by its label."""
        sent = self.channel.sent[-1]
        buttons = {one.label: one.data for one in sent.buttons}
        if button not in buttons:
            raise UsageError(f"The last message has no button {button!r}.", next_step=f"It has: {', '.join(buttons)}.")
        await self._hear(Inbound(self.clock.now(), "", button=buttons[button], message_id=f"m{sent.id}"))
        return await self.passes(seconds=1)

    async def outcomes(self, limit: int = 50) -> Sequence[Outcome]:
        """How the last occurrences ended, newest first."""
        return await self.store.outcomes.recent(limit=limit)

    async def _hear(self, update: Inbound) -> None:
        await self.daemon.coach.listener.hear(COACH, update)


def live(
    scenario: Callable[[Life], Awaitable[T]],
    start: Moment,
    *,
    zone: str = "UTC",
    model: Model | None = None,
    conditions: Conditions | None = None,
    programs: Mapping[str, ScriptedCommands] | None = None,
    spare_only: bool = False,
    store: str = "sqlite://:memory:",
    **options: Any,
) -> T:
    """Run `scenario(life)` in virtual time and return what it returns.

    Without a model the coach answers by its rules. `programs` do the work of agents, by their role; with `spare_only`,
    from what their plan has to spare. `options` are those of the daemon, such as `capacity=3`.

    >>> from datetime import UTC, datetime
    >>> async def a_reminder(life):
    ...     await life.say("remind me to stretch in 20 minutes")
    ...     return await life.passes(hours=1)
    >>> live(a_reminder, datetime(2026, 2, 18, 12, tzinfo=UTC))
    ['stretch']
    """

    async def main(clock: VirtualClock) -> T:
        opened = await open_store(store)
        try:
            life = Life(
                clock, opened, zone, model, conditions or NoCommands(), _commands(programs or {}, spare_only), options
            )
            await life.daemon.start()
            running = asyncio.create_task(life.daemon.run())
            try:
                return await scenario(life)
            finally:
                life.daemon.stop()
                await running
        finally:
            await opened.close()

    return run_virtual(main, start)


def _commands(programs: Mapping[str, ScriptedCommands], spare_only: bool) -> CommandPorts | None:
    if not programs:
        return None

    class Programs:
        async def run(self, job: CommandJob) -> CommandRan:
            return await next(one for one in programs.values() if one.command == job.command).run(job)

    return CommandPorts(
        lambda role: programs[role].command if role in programs else None, lambda spending: Programs(), spare_only
    )


def templates(zone: str) -> dict[str, str]:
    folder = resources.files("nudge.home") / "templates" / "documents"
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in _DOCUMENTS}
    texts["GOALS.md"] = texts["GOALS.md"].replace('timezone: "America/Toronto"', f'timezone: "{zone}"')
    return texts
