"""Whether a model need be asked at all: a heartbeat at which nothing has changed is answered as the last one was.

A signature names what a judgment depends on, part by part. While it stays the same no call is made, in waking hours
for three hours at the longest.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time, timedelta
from hashlib import sha256
from typing import Any

from nudge.coach.briefings import WIND_DOWN, bedtime_of, night_of
from nudge.coach.facts import CoachState, DueReminder
from nudge.coach.heartbeat_prompt import Documents, ago
from nudge.coach.targets import Targets
from nudge.defaults import LONGEST_SILENCE
from nudge.instants import HOUR, Instant, to_datetime
from nudge.queue.records import moment, text

EVENING = time(17, 0)


@dataclass(frozen=True, slots=True)
class Signature:
    """What a judgment depends on. Equal signatures mean that nothing has changed."""

    documents: str
    reminders: str
    activity: str
    window: str
    state: str

    def changes(self, earlier: Signature) -> tuple[str, ...]:
        """The parts that differ, by name."""
        return tuple(name for name in self.__slots__ if getattr(self, name) != getattr(earlier, name))

    def as_fields(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Judgment:
    """When a model was last asked, and about what."""

    at: Instant
    signature: Signature

    def to_json(self) -> dict[str, Any]:
        return {"at": self.at, **self.signature.as_fields()}

    @classmethod
    def from_json(cls, data: Any) -> Judgment:
        return cls(moment(data["at"]), Signature(**{name: text(data[name]) for name in Signature.__slots__}))


@dataclass(frozen=True, slots=True)
class Ask:
    """Whether to ask now, and the reason in words for the outcome."""

    ask: bool
    reason: str


def signature(
    documents: Documents, state: CoachState, due: tuple[DueReminder, ...], now: Instant, targets: Targets
) -> Signature:
    """The signature of this moment.

    What the coach did itself (messages sent, the morning brief) is no news to it and not part of the state; the quiet
    mode, a running review and a delay the person asked for are.
    """
    active = state.active(now)
    quiet = state.quiet_until is not None and state.quiet_until > now
    delayed = state.delayed_until is not None and state.delayed_until > now
    return Signature(
        documents=_digest(documents.goals, documents.memory, documents.agents, documents.checklist),
        reminders=_digest(*sorted(f"{one.id} {one.text}" for one in due)),
        activity="active" if active else "away",
        window=window(now, targets, active=active),
        state=f"quiet={quiet} review={state.review_in_progress} delayed={delayed}",
    )


def should_ask(
    last: Judgment | None, current: Signature, now: Instant, targets: Targets, longest: int = LONGEST_SILENCE
) -> Ask:
    """Whether the model is asked. Exactly `longest` (three hours) after the last judgment it is, unless it is quiet; a
    last judgment in the future (the clock was set back) does not count."""
    if last is None:
        return Ask(True, "this is the first judgment")
    if last.at > now:
        return Ask(True, "the clock was set back since the last judgment")
    changes = current.changes(last.signature)
    if changes:
        return Ask(True, f"changed since the last judgment: {', '.join(changes)}")
    if now - last.at >= longest and not targets.is_quiet(now):
        return Ask(True, f"the last judgment was {ago(last.at, now)}")
    return Ask(False, f"nothing has changed since the last judgment {ago(last.at, now)}")


def window(now: Instant, targets: Targets, *, active: bool) -> str:
    """The part of the person's day, with the day it belongs to: "2026-02-18 evening".

    The hour before bedtime and the time after it are parts of their own only while the person is there; nobody need
    judge the bedtime of somebody who is away.
    """
    wall = to_datetime(now, targets.zone)
    awake_since = timedelta(hours=targets.wake_target.hour, minutes=targets.wake_target.minute)
    day = (wall.replace(tzinfo=None) - awake_since).date()
    if active:
        bedtime = bedtime_of(night_of(now, targets), targets)
        if bedtime <= now < bedtime + 6 * HOUR:
            return f"{day} past bedtime"
        if bedtime - WIND_DOWN <= now < bedtime:
            return f"{day} before bedtime"
    late = wall.time() >= EVENING or wall.date() > day
    return f"{day} {'evening' if late else 'day'}"


def _digest(*parts: str) -> str:
    together = sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        together.update(len(data).to_bytes(8, "big") + data)
    return together.hexdigest()[:16]
