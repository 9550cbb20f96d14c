"""What a worker counts, for Prometheus: through the SDK's own exporter, beside its own numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from temporalio.common import MetricMeter

from nudge.fleet.tables import Counts
from nudge.instants import SECOND, Instant


@dataclass
class Metrics:
    """Without a meter nothing is counted."""

    meter: MetricMeter = field(default_factory=lambda: MetricMeter.noop)

    def __post_init__(self) -> None:
        self._visits = self.meter.create_counter("nudge_visits", "Visits to agents")
        self._fired = self.meter.create_counter("nudge_fired", "Timers fired")
        self._lasted = self.meter.create_histogram_float("nudge_visit_seconds", "How long visits took", "s")
        self._swept = self.meter.create_counter("nudge_swept", "Agents that the sweep had to wake")
        self._outcomes = self.meter.create_gauge(
            "nudge_outcomes_recent", "Outcomes of the last five minutes, by result"
        )
        self._agents = self.meter.create_gauge("nudge_agents", "Agents of the fleet")
        self._due = self.meter.create_gauge("nudge_agents_due", "Agents whose wake is due now")
        self._late = self.meter.create_gauge("nudge_agents_late", "Agents whose wake is more than 30 s late")
        self._states = self.meter.create_gauge("nudge_agents_by_state", "Agents by spending state")
        self._holds = self.meter.create_gauge("nudge_holds_open", "Calls with money held for them")
        self._pokes = self.meter.create_gauge("nudge_pokes_waiting", "Pokes waiting to be sent")
        self._lag = self.meter.create_gauge_float("nudge_lag_seconds", "How late the latest wake is", "s")

    def visited(self, *, fired: int, lasted: int) -> None:
        self._visits.add(1)
        self._fired.add(fired)
        self._lasted.record(lasted / SECOND)

    def swept(self, found: Mapping[str, int]) -> None:
        for what, count in found.items():
            self._swept.add(count, {"found": what})

    def looked(
        self, counts: Counts, now: Instant, *, results: Mapping[str, int], states: Mapping[str, int], holds: int
    ) -> None:
        self._agents.set(counts.agents)
        self._due.set(counts.due)
        self._late.set(counts.late)
        self._pokes.set(counts.pokes)
        self._holds.set(holds)
        self._lag.set(0.0 if counts.first_wake is None else max(0, now - counts.first_wake) / SECOND)
        for result, count in results.items():
            self._outcomes.set(count, {"result": result})
        for state, count in states.items():
            self._states.set(count, {"state": state})
