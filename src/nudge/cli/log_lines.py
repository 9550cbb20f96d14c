"""Outcomes and feed lines as lines of one log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nudge.instants import Instant, rfc3339
from nudge.queue.outcomes import FeedLine, Outcome


@dataclass(frozen=True)
class Entry:
    at: Instant
    order: int
    agent: str
    word: str
    text: str
    data: Mapping[str, Any]


def outcome_entry(row: Outcome) -> Entry:
    text = named(row)
    if row.reason:
        text += f": {row.reason}"
    return Entry(row.at, row.id, row.agent, row.result.value, f"{text}  (#{row.id})", outcome_json(row))


def named(row: Outcome) -> str:
    """What it was, once: "heartbeat", "reminder r-a1b2c3", "reminder ci (r-a1b2c3)"."""
    name = row.key.removeprefix(f"{row.kind}:")
    given = row.detail.get("name")
    return row.kind if name == row.kind else f"{row.kind} {given} ({name})" if given else f"{row.kind} {name}"


def outcome_json(row: Outcome) -> dict[str, Any]:
    return {
        "type": "outcome",
        "id": row.id,
        "agent": row.agent,
        "key": row.key,
        "kind": row.kind,
        "due_at": rfc3339(row.slot_at),
        "at": rfc3339(row.at),
        "result": row.result.value,
        "reason": row.reason,
        "final": row.final,
        "detail": dict(row.detail),
    }


def feed_entry(line: FeedLine) -> Entry:
    data = {"type": "feed", "id": line.id, "agent": line.agent, "kind": line.kind, "text": line.text}
    return Entry(line.at, line.id, line.agent or "-", line.kind, line.text, data)
