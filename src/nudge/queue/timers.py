"""Timers: the one durable thing that waits, and the lanes they run in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from nudge.instants import SECOND, Instant


@dataclass(frozen=True, slots=True)
class Timer:
    """At `due_at`, do `kind` for `agent`. (agent, key) names it: setting it again moves it.

    `slot_at` is the occurrence it stands for. A deferred or retried timer has a later `due_at` and keeps its slot, so
    that the occurrence still ends in its one outcome. Timers of one `lane` run one after the other; different lanes
    run side by side. The lane is the agent's name unless something must not wait for the agent's turns.
    """

    agent: str
    key: str
    kind: str
    due_at: Instant
    slot_at: Instant
    payload: Mapping[str, Any] = field(default_factory=dict)
    lane: str = ""
    attempts: int = 0

    def __post_init__(self) -> None:
        if not self.lane:
            object.__setattr__(self, "lane", self.agent)

    @classmethod
    def at(
        cls,
        agent: str,
        key: str,
        kind: str,
        due_at: Instant,
        *,
        payload: Mapping[str, Any] | None = None,
        lane: str = "",
    ) -> Timer:
        """A fresh timer: its slot is when it is due."""
        return cls(agent, key, kind, due_at, due_at, payload or {}, lane)

    def deferred(self, until: Instant) -> Timer:
        """The same occurrence, later."""
        return replace(self, due_at=until, attempts=0)

    def next_slot(self, slot_at: Instant, payload: Mapping[str, Any] | None = None) -> Timer:
        """The next occurrence of the same thing."""
        kept = self.payload if payload is None else payload
        return replace(self, due_at=slot_at, slot_at=slot_at, attempts=0, payload=kept)

    def pushed_out(self, now: Instant, seconds: float) -> Timer:
        """The same occurrence after a failure, to be retried that many seconds from now."""
        return replace(self, due_at=Instant(now + round(seconds * SECOND)), attempts=self.attempts + 1)


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to run a lane's timers until `until`. `token` is unlike any other: it fences the writes of a daemon
    that lost the lane."""

    lane: str
    owner: str
    token: str
    until: Instant


def talk_lane(agent: str) -> str:
    """The lane of what the person says: an answer must not wait for what the agent thinks about by itself."""
    return f"{agent}/talk"


LATE_FROM = 5 * SECOND
"""From here on an outcome calls it late and says why. A message says so from a minute on: nobody notices less."""


def late_by(slot_at: Instant, now: Instant) -> int:
    """How late an occurrence is, in microseconds; an early look (a clock that went back) is not late."""
    return max(0, now - slot_at)
