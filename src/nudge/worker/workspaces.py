"""The workspaces of agents and what is kept of them: a snapshot with every step that may have changed something.

Copies are small: only what changed is stored. So the workspace of a session that died can be put back to what its last
checkpoint knows, and the step that was under way runs again from there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from nudge.clock import Clock
from nudge.progress.store import Session
from nudge.worker.manifest import Changes, DamagedSnapshotError
from nudge.worker.snapshots import KEEP, Snapshots
from nudge.worker.workspace import Workspace

T = TypeVar("T")

PRUNE_EVERY = 10

InThread = Callable[[Callable[[], Any]], Awaitable[Any]]


class KeptWorkspaces:
    """`snapshots_of` gives an agent's snapshots, `folder_of` its workspace. Work on files is done in a thread."""

    def __init__(
        self,
        folder_of: Callable[[str], Path],
        snapshots_of: Callable[[str], Snapshots],
        clock: Clock,
        *,
        keep: int = KEEP,
        in_thread: InThread = asyncio.to_thread,
    ) -> None:
        self._folder_of = folder_of
        self._snapshots_of = snapshots_of
        self._clock = clock
        self._keep = keep
        self._in_thread = in_thread
        self._locks: dict[str, asyncio.Lock] = {}

    async def keep(self, session: Session) -> str:
        """Take a snapshot of the workspace; its name. Names sort as their snapshots were made."""
        agent, reason = session.agent, f"session {session.id}"

        def work() -> int:
            snapshots = self._snapshots_of(agent)
            with self._open(agent) as workspace:
                made = snapshots.create(workspace, self._clock.now(), reason).manifest.number
            if made % PRUNE_EVERY == 0:
                snapshots.prune(self._clock.now(), self._keep)
            return made

        return f"{await self._in_thread(work):08d}"

    async def put_back(self, agent: str, snapshot: str) -> Sequence[str]:
        """Make the workspace what the snapshot says; the paths that differed. What was there is kept as a snapshot of
        its own. If this one is damaged, the newest sound one before it is used."""

        def work() -> Sequence[str]:
            snapshots = self._snapshots_of(agent)
            with self._open(agent) as workspace:
                wanted = int(snapshot)
                for number in [wanted, *(one for one in snapshots.numbers() if one < wanted)]:
                    try:
                        changes = snapshots.verify(workspace, number).changes
                        if changes:
                            snapshots.create(workspace, self._clock.now(), f"before going back to {number}")
                            snapshots.restore(workspace, number)
                    except DamagedSnapshotError:
                        continue
                    return _paths(changes)
            raise DamagedSnapshotError(f"No snapshot of {agent} is sound.", next_step="Run 'nudge snapshot list'.")

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
