"""The person sits at this terminal: what they type is a message, and what the coach says appears above their line."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from nudge.channels.terminal_prompt import Prompt
from nudge.errors import NudgeError
from nudge.instants import Instant, to_datetime
from nudge.queue.channel import Inbound

if TYPE_CHECKING:
    from nudge.daemon.assemble import Daemon

QUIT = ("/quit", "/exit", "/q")
_LOOK_SECONDS = 0.02


class TerminalChat:
    def __init__(self, daemon: Daemon, agent: str, prompt: Prompt) -> None:
        self._daemon = daemon
        self._agent = agent
        self._prompt = prompt
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()

    async def run(self) -> None:
        """Handle line after line until there are no more; then wait for the last answer and end the daemon."""
        loop = asyncio.get_running_loop()
        if self._prompt.interactive:
            self._daemon.coach.drafts.watch(lambda agent, text: self._prompt.preview(text))
        # In a thread that nobody waits for: reading from a terminal cannot be interrupted.
        threading.Thread(target=self._read, args=(loop,), name="terminal", daemon=True).start()
        while (line := await self._lines.get()) is not None and line.strip().lower() not in QUIT:
            if line.strip():
                await self._hear(Inbound(self._daemon.clock.now(), line))
            if not self._prompt.interactive:
                await self._answered()  # for a script: one line, its answer, the next line
        await self._answered()
        self._daemon.stop()

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
