"""Outcomes: the one durable row that says how an occurrence ended, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from nudge.instants import Instant, rfc3339


class Result(StrEnum):
    """How an occurrence ended. DEFERRED, and FAILED while it is retried, are not the end yet."""

    FIRED = "fired"
    FIRED_LATE = "fired-late"
    SILENT = "silent"
    SKIPPED = "skipped"
    SUPPRESSED = "suppressed"
    DEFERRED = "deferred"
    MISSED = "missed"
    FAILED = "failed"
    UNKNOWN = "unknown"


MEANING: Mapping[Result, str] = {
    Result.FIRED: "It fired on time.",
    Result.FIRED_LATE: "It fired, later than it was due.",
    Result.SILENT: "It looked and had nothing to say.",
    Result.SKIPPED: "Its condition said no.",
    Result.SUPPRESSED: "A rule held it back for good.",
    Result.DEFERRED: "A rule moved it to a later time.",
    Result.MISSED: "It was too late to be useful.",
    Result.FAILED: "An error stopped it.",
    Result.UNKNOWN: "It was sent, but nudge can't tell whether it arrived.",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """`final` is False while the occurrence may still end otherwise: deferred, or failed and about to be retried.

    The store numbers rows by `id`, and all changes of all rows by `revision`.
    """

    agent: str
    key: str
    kind: str
    slot_at: Instant
    at: Instant
    result: Result
    reason: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)
    final: bool = True
    id: int = 0
    revision: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class FeedLine:
    """One thing that happened, in words for the person."""

    at: Instant
    agent: str
    kind: str
    text: str
    id: int = 0


@dataclass(frozen=True, slots=True)
class HourCount:
    """So many of a kind ended like this in the hour from `since` on; `reason` is why the last of them was held back."""

    since: Instant
    result: Result
    kind: str
    count: int
    reason: str


@dataclass(frozen=True, slots=True)
class StateChange:
    """Something is not as it was: a session, a question, a meter, a bucket or a reminder. How it is now, its own table
    says; `revision` numbers all changes."""

    kind: str
    agent: str
    key: str
    revision: int


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


def feed_json(line: FeedLine) -> dict[str, Any]:
    return {
        "type": "feed",
        "id": line.id,
        "at": rfc3339(line.at),
        "agent": line.agent,
        "kind": line.kind,
        "text": line.text,
    }
