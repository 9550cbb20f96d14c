"""The person sits at this terminal: what they type is a message, and what the coach says appears above their line."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING

from nudge.channels.terminal_prompt import Prompt, completions
from nudge.coach.own_words import yes_or_no
from nudge.errors import NudgeError
from nudge.instants import Instant, to_datetime
from nudge.queue.channel import Inbound
from nudge.reminders.text import time_in_words
from nudge.text import short

if TYPE_CHECKING:
    from nudge.daemon.assemble import Daemon

QUIT = ("/quit", "/exit", "/q")
_LOOK_SECONDS = 0.02
_PATIENCE_SECONDS = 60.0
_MOST_NAMES = 50


@dataclass
class Leaving:
    """How the terminal is left: `can_stay` says that the coach reaches the person elsewhere, `stays` that they want it
    to go on in the background."""

    can_stay: bool = False
    stays: bool = False


class TerminalChat:
    def __init__(self, daemon: Daemon, agent: str, prompt: Prompt, leaving: Leaving | None = None) -> None:
        self._daemon = daemon
        self._agent = agent
        self._prompt = prompt
        self._leaving = leaving or Leaving()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._known: tuple[list[str], list[str]] = ([], [])
        self._reader: threading.Thread | None = None

    async def run(self) -> None:
        """Handle line after line until there are no more; then wait for the last answer and end the daemon."""
        if self._prompt.interactive:
            self._daemon.coach.drafts.watch(lambda agent, text: self._prompt.preview(text))
            self._prompt.complete_with(lambda line: completions(line, *self._known))
        await self._look()
        self._start_reading()
        while (line := await self._lines.get()) is not None and line.strip().lower() not in QUIT:
            if line.strip():
                await self._hear(Inbound(self._daemon.clock.now(), line))
            if not self._prompt.interactive:
                await self._answered()  # for a script: one line, its answer, the next line
            await self._look()
        await self._answered()
        if self._prompt.interactive:
            await self._leave()
        self._daemon.stop()

    async def _leave(self) -> None:
        """Say what waits while nobody runs, and offer to go on in the background where that helps."""
        now, zone = self._daemon.clock.now(), self._daemon.documents.targets(self._agent).zone
        coming = [one for one in await self._daemon.coach.reminders.active(self._agent, _MOST_NAMES) if one.next_at]
        self._say(waits_words([(one.name or one.message, one.next_at) for one in coming if one.next_at], now, zone))
        if not self._leaving.can_stay:
            return
        self._say("Shall I keep running in the background and write to you in your chat app? [y/N]")
        if self._reader is None or not self._reader.is_alive():
            self._start_reading()
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                self._leaving.stays = bool(yes_or_no(await self._lines.get() or "no"))
        except TimeoutError:
            return

    def _say(self, text: str) -> None:
        if text:
            self._prompt.write(f"{text}\n")
            self._prompt.flush()

    async def _look(self) -> None:
        """What Tab offers from here on."""
        if self._prompt.interactive:
            self._known = await known_names(self._daemon, self._agent)

    def _start_reading(self) -> None:
        """In a thread that nobody waits for: reading from a terminal cannot be interrupted."""
        loop = asyncio.get_running_loop()
        self._reader = threading.Thread(target=self._read, args=(loop,), name="terminal", daemon=True)
        self._reader.start()

    async def _hear(self, update: Inbound) -> None:
        try:
            await self._daemon.coach.listener.hear(self._agent, update)
        except NudgeError as error:
            self._prompt.write(f"That did not work: {error}\n")
            self._prompt.flush()

    async def _answered(self) -> None:
        while await self._daemon.coach.is_busy(self._agent):
            await self._daemon.clock.sleep(_LOOK_SECONDS)

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        line: str | None = ""
        while line is not None:
            line = self._prompt.read()
            try:
                loop.call_soon_threadsafe(self._lines.put_nowait, line)
            except RuntimeError:
                return  # the loop has ended


async def known_names(daemon: Daemon, agent: str) -> tuple[list[str], list[str]]:
    """The commands, and what reminders and goals are called."""
    commands = [f"/{name}" for name, _ in daemon.coach.menu]
    reminders = [one.name or one.message for one in await daemon.coach.reminders.active(agent, _MOST_NAMES)]
    goals = daemon.documents.goals(agent)
    names = [*reminders, *(goal.text for goal in (*goals.today, *goals.week, *goals.quarter) if not goal.done)]
    return commands, list(dict.fromkeys(names))


def waits_words(coming: Sequence[tuple[str, Instant]], now: Instant, zone: tzinfo) -> str:
    """What does not come while nobody runs; "" if nothing is waiting."""
    if not coming:
        return ""
    title, at = min(coming, key=lambda one: one[1])
    count = "1 reminder waits" if len(coming) == 1 else f"{len(coming)} reminders wait"
    return (
        f"While I'm closed, {count}; the next is “{short(title)}”, {time_in_words(at, now, zone)}. I'd be late with it."
    )


def greeting(daemon: Daemon, agent: str, now: Instant, *, by_rules: bool, asked: bool = False) -> str:
    """The first words: what today is about, and how to continue. Somebody who is `asked` the first questions gets no
    other one."""
    documents = daemon.documents
    hour = to_datetime(now, documents.targets(agent).zone).hour
    hello = "Good morning." if 5 <= hour < 12 else "Good afternoon." if 12 <= hour < 18 else "Good evening."
    tasks = [goal.text for goal in documents.goals(agent).open_today]
    today = f"First on today's list: {tasks[0]}." if tasks else "What's the one thing today is about?"
    how = "I work by simple rules here, without a language model. " if by_rules else ""
    opening = hello if asked else f"{hello} I'm your coach. {today}"
    return f"{opening}\n{how}Just type; /help shows the commands, /quit or Ctrl-D ends."
