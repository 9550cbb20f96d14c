"""The attention gate over a home's settings: whoever the person is and however the budget is configured."""

from __future__ import annotations

from nudge.adapters.settings import Settings
from nudge.app.attention import ClaimsOf, Gate
from nudge.app.person import Person, PersonOf
from nudge.app.ports.store import Store
from nudge.core.instants import Instant, zone_of


async def _no_claims(agent: str, now: Instant) -> tuple[Instant, ...]:
    return ()


def gate_of(
    store: Store, settings: Settings, person_of: PersonOf | None = None, claims_of: ClaimsOf = _no_claims
) -> Gate:
    section = settings.table.get("attention")
    options = section if isinstance(section, dict) else {}
    zone = zone_of(settings.timezone)
    return Gate(
        store,
        person_of or (lambda agent: Person(zone)),
        claims_of,
        capacity=int(options.get("capacity", 5)),
        refill_minutes=int(options.get("refill_minutes", 90)),
        budget=options.get("ping_budget", "on") != "off",
        reserve=bool(options.get("reserve", True)),
    )
