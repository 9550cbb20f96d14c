"""What a simulated stretch of life comes to, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nudge.attention.reserve import PING
from nudge.instants import HOUR, Instant, to_datetime
from nudge.queue.outcomes import Result
from nudge.simulation.channel import CURSED, IGNORED, WELCOME
from nudge.simulation.timeline import Asked, Ended, Event, Noted, Plan, Said, Sent, Timeline, days_of
from nudge.spending.lifecycle import PAUSED, RESUMING, STOPPED
from nudge.spending.money import Micros
from nudge.worker.sessions import KIND as WORK

MONTH_DAYS = 30
BUCKET_RULES = ("bucket-empty", "bucket-reserved")


@dataclass(frozen=True, slots=True)
class Summary:
    """`messages` are those that came by themselves; replies are counted apart.

    `cost` is what was charged. `would_cost` is the price of every call, also of those that rules answered for nothing;
    both are for the whole run, `monthly_*` for thirty days of it.
    """

    days: int
    messages: int
    per_day: tuple[int, ...]
    by_hour: tuple[int, ...]
    by_kind: Mapping[str, int]
    welcome: int
    ignored: int
    cursed: int
    replies: int
    said: int
    tasks: Mapping[str, int]
    """How the tasks of a worker ended."""
    results: Mapping[str, int]
    rules: Mapping[str, int]
    quiet_violations: int
    quiet_asked: int
    reserved: int
    reserve_kept: int
    lowest_level: float | None
    capacity: int
    calls: Mapping[str, int]
    input_tokens: int
    output_tokens: int
    cost: Micros
    would_cost: Micros
    highest_percent: int
    sleeps: int
    asleep_hours: float

    @property
    def unwanted(self) -> int:
        """Pings that the person ignored or cursed."""
        return self.ignored + self.cursed

    @property
    def tasks_finished(self) -> int:
        return sum(self.tasks.values()) - self.tasks.get(Result.FAILED.value, 0)

    @property
    def messages_a_day(self) -> float:
        return self.messages / self.days

    @property
    def monthly_cost(self) -> Micros:
        return self.cost * MONTH_DAYS // self.days

    @property
    def monthly_would_cost(self) -> Micros:
        return self.would_cost * MONTH_DAYS // self.days


def summarise(timeline: Timeline) -> Summary:
    plan, events = timeline.plan, timeline.events
    sent = [event for event in events if isinstance(event, Sent)]
    pings = [event for event in sent if not event.reply]
    ended = [event for event in events if isinstance(event, Ended)]
    asked = [event for event in events if isinstance(event, Asked)]
    hours = Counter(to_datetime(event.at, plan.zone).hour for event in pings)
    levels = [sample.level for sample in timeline.samples if sample.level is not None]
    levels += [event.level for event in sent if event.level is not None]
    reserved, kept = _reserve(ended)
    sleeps, asleep = _asleep(events, plan.end)
    return Summary(
        days=plan.days,
        messages=len(pings),
        per_day=tuple(sum(not event.reply for event in day.sent()) for day in days_of(timeline)),
        by_hour=tuple(hours.get(hour, 0) for hour in range(24)),
        by_kind=_counted(event.kind for event in pings),
        welcome=sum(event.taken == WELCOME for event in sent),
        ignored=sum(event.taken == IGNORED for event in sent),
        cursed=sum(event.taken == CURSED for event in sent),
        replies=len(sent) - len(pings),
        said=sum(isinstance(event, Said) for event in events),
        tasks=_counted(event.result.value for event in ended if event.kind == WORK),
        results=_counted(event.result.value for event in ended),
        rules=_counted(event.rule for event in ended if event.rule),
        quiet_violations=sum(is_violation(event, plan) for event in sent),
        quiet_asked=sum(event.exact and not event.reply and plan.quiet_end(event.at) is not None for event in sent),
        reserved=reserved,
        reserve_kept=kept,
        lowest_level=min(levels) / PING if levels else None,
        capacity=max((sample.capacity for sample in timeline.samples), default=0),
        calls=_counted(event.purpose for event in asked),
        input_tokens=sum(event.input for event in asked),
        output_tokens=sum(event.output for event in asked),
        cost=sum(event.cost for event in asked if not event.free),
        would_cost=sum(event.cost for event in asked),
        highest_percent=max((sample.percent for sample in timeline.samples), default=0),
        sleeps=sleeps,
        asleep_hours=asleep / HOUR,
    )


def is_violation(event: Sent, plan: Plan) -> bool:
    """A message in the quiet hours that neither answers the person nor was set by them for this time."""
    return not event.reply and not event.exact and plan.quiet_end(event.at) is not None


def summary_json(summary: Summary) -> dict[str, Any]:
    return {
        "days": summary.days,
        "messages": summary.messages,
        "messages_per_day": list(summary.per_day),
        "messages_by_hour": list(summary.by_hour),
        "messages_by_kind": dict(summary.by_kind),
        "pings": {"welcome": summary.welcome, "ignored": summary.ignored, "cursed": summary.cursed},
        "replies": summary.replies,
        "said_by_person": summary.said,
        "tasks": dict(summary.tasks),
        "results": dict(summary.results),
        "held_back_by": dict(summary.rules),
        "quiet_hour_violations": summary.quiet_violations,
        "quiet_hour_messages_asked_for": summary.quiet_asked,
        "reserve": {"occurrences": summary.reserved, "kept": summary.reserve_kept},
        "lowest_ping_level": summary.lowest_level,
        "ping_capacity": summary.capacity or None,
        "model_calls": dict(summary.calls),
        "input_tokens": summary.input_tokens,
        "output_tokens": summary.output_tokens,
        "cost_micros": summary.cost,
        "estimated_cost_micros": summary.would_cost,
        "monthly_cost_micros": summary.monthly_cost,
        "estimated_monthly_cost_micros": summary.monthly_would_cost,
        "highest_budget_percent": summary.highest_percent,
        "sleeps": summary.sleeps,
        "asleep_hours": round(summary.asleep_hours, 2),
    }


def _counted(words: Any) -> dict[str, int]:
    """The most frequent first; equally frequent ones by name, so that the order is always the same."""
    return dict(sorted(Counter(words).items(), key=lambda pair: (-pair[1], pair[0])))


def _reserve(ended: list[Ended]) -> tuple[int, int]:
    """How many occurrences had a claim on the bucket, and how many of them found their ping there when they came."""
    claims = {(event.key, event.slot_at) for event in ended if event.reserved}
    broken = {(event.key, event.slot_at) for event in ended if event.reserved and event.rule in BUCKET_RULES}
    return len(claims), len(claims) - len(broken)


def _asleep(events: tuple[Event, ...], end: Instant) -> tuple[int, int]:
    """How often the agent fell asleep on its budget, and for how long altogether."""
    sleeps, total = 0, 0
    since: Instant | None = None
    for event in events:
        if not isinstance(event, Noted):
            continue
        if event.text in (PAUSED, STOPPED) and since is None:
            sleeps, since = sleeps + 1, event.at
        elif event.text.startswith(RESUMING) and since is not None:
            total, since = total + (event.at - since), None
    return sleeps, total + (end - since if since is not None else 0)
