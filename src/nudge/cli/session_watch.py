"""A session that is followed on a terminal: new lines as they come, and one line below them that says its state."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from nudge.cli.render import json_text, out, shown
from nudge.columns import DEFAULT, cut, width_of
from nudge.palette import LINES, painted, state_words, tone_of
from nudge.progress.store import Session
from nudge.spending.budgets import Budgets
from nudge.stores.store import SqlStore
from nudge.worker.session_view import lines_of, public, status_line

_ERASE = "\r\x1b[K"


class Watch:
    """`look` reads what is new, `show` prints it. On a pipe there is no status line."""

    def __init__(self, colour: bool, *, as_json: bool = False) -> None:
        self._colour = colour
        self._json = as_json
        self._live = sys.stderr.isatty() and not as_json
        self._seen = 0
        self._fresh: Sequence[Mapping[str, Any]] = ()
        self._last = ""

    async def look(self, store: SqlStore, agent: str, session_id: str) -> tuple[Session | None, str]:
        """The session as it stands, None before it has begun, and the meter of its agent."""
        from nudge.clock import SystemClock

        self._fresh = await store.sessions.messages(agent, session_id, after=self._seen)
        self._seen += len(self._fresh)
        session = await store.sessions.get(agent, session_id)
        now = SystemClock().now()
        status = await Budgets(store).status(agent, now) if await store.spending.get(agent) else None
        if status is None:
            return session, ""
        asleep = "" if status.state.may_go_on else f" ({state_words(status.state)})"
        return session, status.meter.text + asleep

    def show(self, session: Session | None, meter: str) -> None:
        self.clear()
        for message in self._fresh:
            if self._json:
                self._print(json_text(dict(message)))
                continue
            for kind, line in lines_of(message):
                out(painted(line, LINES[kind], self._colour), hang=2)
                sys.stdout.flush()
        if self._live and session is not None and session.status.is_open:
            self._last = cut(shown(status_line(session, meter)), (width_of(sys.stderr) or DEFAULT) - 1)
            sys.stderr.write(self._last)
            sys.stderr.flush()

    def ended(self, session: Session) -> int:
        """Say how it ended; the exit code."""
        self.clear()
        if self._json:
            self._print(json_text(public(session)))
        else:
            why = f" {session.reason}" if session.reason else ""
            self._print(painted(f"{session.status.value.capitalize()}.{why}", tone_of(session.status), self._colour))
            self._print(status_line(session))
            if session.report:
                self._print(f"\n{session.report}")
        return {"done": 0, "stopped": 6, "cancelled": 130}.get(session.status.value, 1)

    def clear(self) -> None:
        if self._last:
            sys.stderr.write(_ERASE)
            sys.stderr.flush()
            self._last = ""

    def _print(self, line: str) -> None:
        sys.stdout.write(shown(line) + "\n")
        sys.stdout.flush()
