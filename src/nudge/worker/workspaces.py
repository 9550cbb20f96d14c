"""The workspaces of agents and what is kept of them: a snapshot with every step that may have changed something.

Copies are small: only what changed is stored. So the workspace of a session that died can be put back to what its last
checkpoint knows, and the step that was under way runs again from there.

Where snapshots are kept far away and no other machine can take a session over, the steps are kept here and every few of
them there: after so many, when a task ends, and before the agent sleeps.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from nudge.clock import Clock
from nudge.errors import NotFoundError, NudgeError
from nudge.progress.store import Session
from nudge.worker.manifest import Changes, DamagedSnapshotError
from nudge.worker.snapshots import KEEP, Snapshots
from nudge.worker.workspace import Workspace

T = TypeVar("T")

log = logging.getLogger("nudge.worker")

PRUNE_EVERY = 10
SEND_EVERY = 10

InThread = Callable[[Callable[[], Any]], Awaitable[Any]]


class KeptWorkspaces:
    """`snapshots_of` gives an agent's snapshots, `folder_of` its workspace. `far_of` gives those that are kept far away
    as well, every `send_every` steps. Work on files is done in a thread."""

    def __init__(
        self,
        folder_of: Callable[[str], Path],
        snapshots_of: Callable[[str], Snapshots],
        clock: Clock,
        *,
        keep: int = KEEP,
        far_of: Callable[[str], Snapshots] | None = None,
        send_every: int = SEND_EVERY,
        in_thread: InThread = asyncio.to_thread,
    ) -> None:
        self._folder_of = folder_of
        self._snapshots_of = snapshots_of
        self._clock = clock
        self._keep = keep
        self._far_of = far_of
        self._send_every = send_every
        self._unsent: dict[str, int] = {}  # by agent: the steps since the last copy far away
        self._in_thread = in_thread
        self._locks: dict[str, asyncio.Lock] = {}

    async def keep(self, session: Session) -> str:
        """Take a snapshot of the workspace; its name. Names sort as their snapshots were made."""
        agent, reason = session.agent, f"session {session.id}"

        made = await self._in_thread(lambda: self._create(self._snapshots_of(agent), agent, reason))
        self._unsent[agent] = self._unsent.get(agent, 0) + 1
        if self._unsent[agent] >= self._send_every:
            await self.send_away(agent)
        return f"{made:08d}"

    async def send_away(self, agent: str) -> None:
        """Copy the workspace far away, if it has changed since the last time. If that fails it is tried again with the
        next step: what is kept here is enough to go on."""
        far_of = self._far_of
        if far_of is None or not self._unsent.get(agent):
            return
        try:
            await self._in_thread(lambda: self._create(far_of(agent), agent, "copy"))
        except (NudgeError, OSError) as error:
            log.warning("The workspace of %s could not be copied: %s", agent, error)
        else:
            self._unsent[agent] = 0

    def _create(self, snapshots: Snapshots, agent: str, reason: str) -> int:
        with self._open(agent) as workspace:
            made = snapshots.create(workspace, self._clock.now(), reason).manifest.number
        if made % PRUNE_EVERY == 0:
            snapshots.prune(self._clock.now(), self._keep)
        return made

    async def put_back(self, agent: str, snapshot: str) -> Sequence[str]:
        """Make the workspace what the snapshot says; the paths that differed. What was there is kept as a snapshot of
        its own. If this one is damaged or lost, the newest sound one before it is used, or the newest far away."""

        def work() -> Sequence[str]:
            near, wanted = self._snapshots_of(agent), int(snapshot)
            numbers = [wanted, *(one for one in near.numbers() if one < wanted)]
            choices = [(near, number) for number in numbers]
            if self._far_of is not None and wanted not in near.numbers():  # what was kept here is lost
                far = self._far_of(agent)
                choices = [*((far, number) for number in far.numbers()), *choices]
            with self._open(agent) as workspace:
                for snapshots, number in choices:
                    try:
                        changes = snapshots.verify(workspace, number).changes
                        if changes:
                            near.create(workspace, self._clock.now(), f"before going back to {number}")
                            snapshots.restore(workspace, number)
                    except (DamagedSnapshotError, NotFoundError):
                        continue
                    return _paths(changes)
            raise DamagedSnapshotError(f"No snapshot of {agent} is intact.", next_step="Run 'nudge snapshot list'.")

        return await self._in_thread(work)  # type: ignore[no-any-return]

    @asynccontextmanager
    async def changing(self, agent: str) -> AsyncIterator[None]:
        async with self._locks.setdefault(agent, asyncio.Lock()):
            yield

    def _open(self, agent: str) -> Workspace:
        folder = self._folder_of(agent)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return Workspace(folder)


def _paths(changes: Changes) -> Sequence[str]:
    return sorted({*changes.added, *changes.removed, *changes.changed})
