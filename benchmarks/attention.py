"""Attention: who gets the pings of a day under three policies, and how long the gate takes.

A synthetic day: 14 attempts by day, at random between 08:30 and 20:30, and four evening routines that have a reserve:
wind-down, screens off, bedtime coach, midnight check. A thousand days follow each other on one bucket, with one seed,
and all policies see the same attempts. The second kind of day has 14 attempts on average (a Poisson number), so that
some days are calm and some are hectic.

The bucket gives out all it gets, so what the evening gains the day loses: the day's loss is what the plain bucket left
of the four evening slots, divided by 14.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from zoneinfo import ZoneInfo

from nudge.attention.bucket import PingBudget
from nudge.attention.quiet import QuietHours
from nudge.attention.repeats import RepeatLedger, signature
from nudge.attention.rules import Attention, Candidate, Kind, decide
from nudge.instants import DAY, HOUR, MINUTE, Instant, parse_rfc3339

DAYS = 1000
ATTEMPTS = 14
SEED = 20260220
DAY_STARTS, DAY_ENDS = 8 * HOUR + 30 * MINUTE, 20 * HOUR + 30 * MINUTE
EVENING = (21 * HOUR, 22 * HOUR, 23 * HOUR, 23 * HOUR + 59 * MINUTE)
START = parse_rfc3339("2026-01-01T00:00:00Z")

Take = Callable[[Instant, bool, list[Instant]], bool]
"""Asks a policy for a ping: when, whether the asker holds a claim, the claims still ahead."""


@dataclass
class Served:
    """How many pings were granted, and how many were tried by day."""

    evening: list[int]
    by_day: int = 0
    tried: int = 0


def flat(limit: int = 10) -> Take:
    """A count that is back at 0 at midnight."""
    used: dict[int, int] = {}

    def take(at: Instant, claim: bool, claims: list[Instant]) -> bool:
        day = (at - START) // DAY
        if used.get(day, 0) >= limit:
            return False
        used[day] = used.get(day, 0) + 1
        return True

    return take


def bucket(look_ahead: bool) -> Take:
    budget = PingBudget.at(START)

    def take(at: Instant, claim: bool, claims: list[Instant]) -> bool:
        nonlocal budget
        granted, budget = budget.try_use(at, claims=claims if look_ahead and not claim else ())
        return granted

    return take


def simulate(take: Take, varying: bool, days: int = DAYS, seed: int = SEED) -> Served:
    rng = random.Random(seed)
    served = Served([0] * len(EVENING))
    for day in range(days):
        midnight = START + day * DAY
        evening = [Instant(midnight + time) for time in EVENING]
        count = poisson(rng, ATTEMPTS) if varying else ATTEMPTS
        attempts = [Instant(midnight + rng.randrange(DAY_STARTS, DAY_ENDS)) for _ in range(count)]
        served.tried += count
        for at in sorted(attempts):
            served.by_day += take(at, False, evening)
        for slot, at in enumerate(evening):
            served.evening[slot] += take(at, True, evening)
    return served


def poisson(rng: random.Random, mean: float) -> int:
    """How many events of a random stream fall into one unit of time."""
    count, passed = 0, rng.expovariate(mean)
    while passed < 1:
        count, passed = count + 1, passed + rng.expovariate(mean)
    return count


def microseconds(call: Callable[[], object], times: int = 500, rounds: int = 100) -> float:
    """The best of many short rounds: what the code costs when the machine does nothing else."""
    best = float("inf")
    for _ in range(rounds):
        started = perf_counter()
        for _ in range(times):
            call()
        best = min(best, perf_counter() - started)
    return best / times * 1e6


def timings() -> list[tuple[str, str, str]]:
    zone = ZoneInfo("America/Toronto")
    now = parse_rfc3339("2026-02-20T17:00:00-05:00")
    claims = tuple(Instant(now + hours * HOUR) for hours in (4, 5, 6, 7))
    budget = PingBudget.at(now, available=3, tz=zone)
    state = Attention(
        quiet_hours=QuietHours(2 * 60, 10 * 60, zone),
        quiet_until=Instant(now - HOUR),
        last_conversation=Instant(now - HOUR),
        busy_until=Instant(now - HOUR),
        budget=budget,
        claims=claims,
        repeats=RepeatLedger().remember("inbox", signature("2 mails wait"), Instant(now - HOUR)),
        tz=zone,
    )
    chatter = Candidate(Kind.HEARTBEAT, topic="inbox", signature=signature("Mary has answered"))
    asked = Candidate(Kind.REMINDER, asked_by_person=True)
    empty = Attention(budget=PingBudget.at(now, available=0, tz=zone), claims=claims)
    cases: list[tuple[str, Callable[[], object], int]] = [
        ("try_use", lambda: budget.try_use(now), 5),
        ("try_use with four claims", lambda: budget.try_use(now, claims=claims), 5),
        ("gate, all rules passed, four claims", lambda: decide(state, chatter, now), 20),
        ("gate, deferred to the next free ping", lambda: decide(empty, asked, now), 20),
    ]
    return [(f"attention: {name}", f"{microseconds(call):.1f} µs", f"< {limit} µs") for name, call, limit in cases]


def days(varying: bool) -> list[tuple[str, str, str]]:
    policies = {"flat 10": flat(), "plain bucket": bucket(False), "bucket with reserve": bucket(True)}
    results = {policy: simulate(take, varying) for policy, take in policies.items()}
    plain = results["plain bucket"]
    floor = 100 * plain.by_day / plain.tried - 8
    about = "14 a day on average" if varying else "14 a day"
    table = []
    for policy, served in results.items():
        reserve = policy == "bucket with reserve"
        slots = " / ".join(f"{100 * count / DAYS:.1f}" for count in served.evening)
        table.append((f"attention: {policy}, {about}: evening", f"{slots} %", "≥ 99.5 % each" if reserve else "–"))
        by_day = f"{100 * served.by_day / served.tried:.1f} %"
        table.append((f"attention: {policy}, {about}: by day", by_day, f"≥ {floor:.1f} %" if reserve else "–"))
    return table


def rows() -> list[tuple[str, str, str]]:
    return [*days(varying=False), *days(varying=True), *timings()]


if __name__ == "__main__":
    for row in rows():
        print("{:<65} {:>30}   {}".format(*row))
