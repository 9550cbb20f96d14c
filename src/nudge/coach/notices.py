"""Notices: what the person should know although they did not ask, such as a document that cannot be read or a failure.

A notice waits in a timer of its own until the gate lets it through, so that quiet hours delay it and no restart loses
it. What has been mended by then is not brought up any more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from nudge.attention.rules import Candidate, Kind
from nudge.coach.messages import Ping, Pings
from nudge.coach.person_documents import PersonDocuments
from nudge.coach.store import CoachStore
from nudge.instants import DAY, Instant
from nudge.queue import records
from nudge.queue.delivery import KIND as DELIVER
from nudge.queue.dispatch import FailureHook, Firing
from nudge.queue.outcomes import Result
from nudge.queue.records import Record
from nudge.queue.timers import Timer
from nudge.redaction import redact

KIND = "notice"
TARGETS = "targets"
SYNC = "sync"
FAILED = "failed"

ONE_INCIDENT = DAY
"""The same failure of the same thing again within this time is the same incident."""
_LONGEST_ERROR = 300


@dataclass(frozen=True, slots=True)
class Incident:
    """What the person was told about a failure, and when."""

    text: str
    at: Instant


INCIDENT: Record[Incident] = Record(
    FAILED, lambda data: Incident(records.text(data["text"]), records.moment(data["at"])), asdict
)
"""The last incident: one record for each kind of timer."""


def notice_timer(agent: str, about: str, text: str, at: Instant, *, version: str = "") -> Timer:
    """Say it at that time or as soon as the gate allows. A newer notice about the same thing takes its place."""
    payload = {"about": about, "text": text, "version": version}
    return Timer.at(agent, notice_key(about), KIND, at, payload=payload, lane=f"{agent}/notices")


def notice_key(about: str) -> str:
    return f"{KIND}:{about}"


class Notices:
    """The handler of notices."""

    def __init__(self, documents: PersonDocuments, pings: Pings) -> None:
        self._documents = documents
        self._pings = pings

    async def tell(self, firing: Firing) -> None:
        """Handle one notice: say it, or find that it is over."""
        payload, agent = firing.timer.payload, firing.timer.agent
        about = str(payload["about"])
        async with firing.settle() as settlement:
            if about == TARGETS and not self._still_broken(agent, str(payload.get("version") or "")):
                settlement.outcome(Result.SKIPPED, "It is mended by now.")
                return
            candidate = Candidate(Kind.NOTICE, asked_by_person=True, topic=notice_key(about))
            await self._pings.send(settlement, Ping(str(payload["text"]), KIND, candidate, "A notice."), firing.now)

    def _still_broken(self, agent: str, version: str) -> bool:
        complaint = self._documents.complaint(agent)
        return complaint is not None and complaint.version == version


def failure_notice(store: CoachStore, secrets: Iterable[str] = ()) -> FailureHook:
    """The dispatcher's hook: one notice to the person per incident, without secrets, through the gate.

    The dispatcher calls it once for a series of attempts; the same failure in a later series of the same day is no
    news. Sending itself is left out: a channel that is away cannot carry the notice, and the feed has it.
    """
    hidden = tuple(secrets)

    async def tell(timer: Timer, error: Exception, now: Instant) -> None:
        if timer.kind in (KIND, DELIVER) or await store.agents.get(timer.agent) is None:
            return
        text = failure_text(timer.kind, error, hidden)
        record = INCIDENT.of(timer.kind)
        known = await store.records.get(timer.agent, record)
        if known is not None and known.text == text and abs(now - known.at) < ONE_INCIDENT:
            return
        await store.records.set(timer.agent, record, Incident(text, now))
        await store.timers.set(notice_timer(timer.agent, f"{FAILED}/{timer.kind}", text, now))

    return tell


def failure_text(name: str, error: Exception, secrets: Iterable[str] = ()) -> str:
    """What the person reads about a failure.

    >>> failure_text("heartbeat", ValueError("no such thing as sk-ant-0123456789."))
    '⚠️ heartbeat failed: no such thing as [hidden]. Check logs.'
    """
    words = " ".join(redact(str(error) or type(error).__name__, secrets).split())
    if len(words) > _LONGEST_ERROR:
        words = f"{words[: _LONGEST_ERROR - 1].rstrip()}…"
    return f"⚠️ {name} failed: {words.rstrip('.')}. Check logs."
