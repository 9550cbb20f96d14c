"""Notices: what the person should know although they did not ask, such as a document that cannot be read or a failure.

A notice waits in a timer of its own until the gate lets it through, so that quiet hours delay it and no restart loses
it. What has been fixed by then is not brought up any more.
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
from nudge.queue.firing import Firing
from nudge.queue.outcomes import Result
from nudge.queue.records import Record
from nudge.queue.timers import Timer
from nudge.redaction import redact
from nudge.text import short

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
    """The handler of notices, and the one who writes those about failures."""

    def __init__(
        self, store: CoachStore, documents: PersonDocuments, pings: Pings, secrets: Iterable[str] = ()
    ) -> None:
        self._store = store
        self._documents = documents
        self._pings = pings
        self._secrets = tuple(secrets)

    async def tell(self, firing: Firing) -> None:
        """Handle one notice: say it, or find that it is over."""
        payload, agent = firing.timer.payload, firing.timer.agent
        about = str(payload["about"])
        async with firing.settle() as settlement:
            if about == TARGETS and not self._still_broken(agent, str(payload.get("version") or "")):
                settlement.outcome(Result.SKIPPED, "Fixed in the meantime.")
                return
            candidate = Candidate(Kind.NOTICE, asked_by_person=True, topic=notice_key(about))
            await self._pings.send(settlement, Ping(str(payload["text"]), KIND, candidate, "A notice."), firing.now)

    async def failed(self, timer: Timer, error: Exception, now: Instant) -> None:
        """The dispatcher's hook: one notice to the person per incident, without secrets, through the gate.

        The dispatcher calls it once for a series of attempts; the same failure in a later series of the same day is no
        news. Sending itself is left out: a channel that is away cannot carry the notice, and the feed has it.
        """
        agent = timer.agent
        if timer.kind in (KIND, DELIVER) or await self._store.agents.get(agent) is None:
            return
        text = failure_text(timer.kind, error, self._secrets)
        record = INCIDENT.of(timer.kind)
        known = await self._store.records.get(agent, record)
        if known is not None and known.text == text and abs(now - known.at) < ONE_INCIDENT:
            return
        await self._store.records.set(agent, record, Incident(text, now))
        await self._store.timers.set(notice_timer(agent, f"{FAILED}/{timer.kind}", text, now))

    def _still_broken(self, agent: str, version: str) -> bool:
        complaint = self._documents.complaint(agent)
        return complaint is not None and complaint.version == version


def failure_text(name: str, error: Exception, secrets: Iterable[str] = ()) -> str:
    """What the person reads about a failure.

    >>> failure_text("heartbeat", ValueError("no such thing as sk-ant-0123456789."))
    '⚠️ heartbeat failed: no such thing as [hidden]. Check logs.'
    """
    words = short(redact(str(error) or type(error).__name__, secrets), _LONGEST_ERROR)
    return f"⚠️ {name} failed: {words.rstrip('.')}. Check logs."
