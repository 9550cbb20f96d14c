"""`nudge work` while no daemon runs: the work is done and shown in this terminal."""

from __future__ import annotations

from nudge.channels.terminal_approver import TerminalApprover
from nudge.cli.context import Context
from nudge.cli.render import note
from nudge.cli.session_watch import Watch
from nudge.clock import SystemClock
from nudge.daemon.foreground import work_here as run_worker
from nudge.progress.extensions import Approver
from nudge.progress.store import Session
from nudge.stores.store import SqlStore


async def work_here(context: Context, agent: str, session_id: str, *, as_json: bool) -> int:
    view = Watch(context.colour, as_json=as_json)
    last: Session | None = None

    async def look(store: SqlStore) -> bool:
        nonlocal last
        last, meter = await view.look(store, agent, session_id)
        view.show(last, meter)
        return last is not None and not last.status.is_open

    def approver_for(session: Session) -> Approver:
        view.clear()
        return TerminalApprover(SystemClock().now)

    over = await run_worker(context.config, agent, look, approver_for)
    if over and last is not None:
        return view.ended(last)
    view.clear()
    note(f"Stopped for now. Session {session_id} continues with the next 'nudge run', or 'nudge work' of any task.")
    return 130
