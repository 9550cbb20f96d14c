"""A working session as a person reads it: one line for each thing said and done, and its state."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from nudge.instants import rfc3339
from nudge.model import Role, Text, ToolResult, ToolUse, turn_from_json
from nudge.progress.guard import AsyncGuard
from nudge.progress.store import Session, SessionStatus
from nudge.worker.session_rules import NUDGE, wanted_tools

_LONGEST = 110
_TARGETS = ("command", "path", "pattern", "question", "text", "message")

Line = tuple[str, str]
"""What kind of line it is, and its words."""


def lines_of(message: Mapping[str, Any]) -> Iterator[Line]:
    """The lines of one message of a session."""
    turn = turn_from_json(message)
    for block in turn.content:
        match block:
            case Text(text=text) if text.startswith(NUDGE):
                yield "nudge", f"! {_short(text.removeprefix(NUDGE))}"
            case Text(text=text) if turn.role is Role.ASSISTANT:
                yield from (("say", line) for line in text.strip().splitlines() if line.strip())
            case Text(text=text):
                yield "heard", f"> {_short(text)}"
            case ToolUse():
                yield "call", f"→ {call_text(block)}"
            case ToolResult(content=content, is_error=failed):
                yield ("error", f"  ✗ {_short(content)}") if failed else ("ok", f"  ✓ {_short(content)}")


def call_text(use: ToolUse) -> str:
    """A tool call in one line: its name, and what it is about."""
    for name in _TARGETS:
        if isinstance(value := use.input.get(name), str):
            return _short(f"{use.name} {value}")
    rest = json.dumps(dict(use.input), ensure_ascii=False) if use.input else ""
    return _short(f"{use.name} {rest}".strip())


def now_doing(session: Session) -> str:
    """What the session does at this moment, as far as its checkpoint says."""
    if not session.status.is_open:
        return session.status.value
    if session.status is SessionStatus.QUEUED:
        return "waiting for its turn"
    if session.status is SessionStatus.WAITING:
        return "waiting for your answer"
    uses = wanted_tools(session)
    if not uses:
        return "thinking"
    more = f" (+{len(uses) - 1})" if len(uses) > 1 else ""
    return call_text(uses[0]) + more


def progress_of(session: Session) -> dict[str, Any]:
    """Phase, tokens and money of a session's run, for a status line or as JSON."""
    if not session.guard:
        return {"phase": session.phase, "tokens": 0, "max_tokens": None, "cost": 0.0, "level": "NONE", "iterations": 0}
    guard = AsyncGuard.from_state(session.guard)
    budget = guard.budget
    return {
        "phase": guard.phase.value,
        "level": guard.level.name,
        "tokens": budget.incremental_tokens,
        "max_tokens": budget.limits.tokens,
        "cost": int(budget.cost) / 1_000_000,
        "iterations": budget.iterations,
    }


def status_line(session: Session, meter: str = "") -> str:
    """One line for a terminal: phase, tokens, meter, what it does.

    >>> status_line(Session("builder", "s1", phase="acting"), "Budget: 4% used")
    'acting · 0 tokens · Budget: 4% used · thinking'
    """
    progress = progress_of(session)
    tokens = f"{progress['tokens']:,}"
    if progress["max_tokens"]:
        tokens += f" of {progress['max_tokens']:,}"
    parts = [progress["phase"] or "exploration", f"{tokens} tokens", meter, now_doing(session)]
    return " · ".join(part for part in parts if part)


def public(session: Session) -> dict[str, Any]:
    """A session as JSON."""
    return {
        "id": session.id,
        "agent": session.agent,
        "status": session.status.value,
        "task": session.last_task,
        "asked_by": session.asked_by,
        "parent": session.parent or None,
        "doing": now_doing(session),
        "report": session.report or None,
        "reason": session.reason or None,
        "snapshot": session.snapshot or None,
        "started_at": rfc3339(session.started_at),
        "updated_at": rfc3339(session.updated_at),
        **progress_of(session),
    }


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
