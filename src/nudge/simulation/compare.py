"""Several configurations on the same person and seed: which numbers differ, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from nudge.errors import UsageError
from nudge.simulation.summary import Summary

AS_CONFIGURED = "as configured"
MOST_COLUMNS = 6


@dataclass(frozen=True, slots=True)
class Row:
    """One number of each column; None where the column has no such thing (the level of a bucket that is off)."""

    name: str
    values: tuple[float | None, ...]
    digits: int = 0

    @property
    def differs(self) -> bool:
        return len({self.cell(column) for column in range(len(self.values))}) > 1

    def cell(self, column: int) -> str:
        value = self.values[column]
        return "off" if value is None else f"{value:,.{self.digits}f}"

    def difference(self, column: int) -> str:
        """The change from the first column, with its share where there is something to compare with."""
        first, value = self.values[0], self.values[column]
        if first is None or value is None:
            return "" if first == value else "≠"
        change = value - first
        if round(change, self.digits) == 0:
            return "="
        text = f"{change:+,.{self.digits}f}"
        return f"{text} ({change / first:+.0%})" if first else text


def variants(words: Sequence[str]) -> list[tuple[str, dict[str, str]]]:
    """The configurations that `key=value …` asks to compare, each with its title.

    One value per key is compared with what is configured; several values of a key (`heartbeat=30m/45m/90m`) are
    compared with each other, and several such keys in all their combinations.

    >>> [title for title, _ in variants(["ping_budget=off"])]
    ['as configured', 'ping_budget=off']
    >>> [title for title, _ in variants(["heartbeat=30m/90m"])]
    ['heartbeat=30m', 'heartbeat=90m']
    """
    choices: dict[str, list[str]] = {}
    for word in words:
        key, equals, value = word.partition("=")
        values = [one.strip() for one in value.split("/") if one.strip()]
        if not equals or not key.strip() or not values:
            raise UsageError(
                f"{word!r} is not a setting to compare.",
                next_step="Write it like --compare ping_budget=off, or --compare heartbeat=30m/45m/90m.",
            )
        choices.setdefault(key.strip(), []).extend(values)
    found = [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]
    if len(found) == 1:
        found = [{}, *found]
    if len(found) > MOST_COLUMNS:
        raise UsageError(
            f"That makes {len(found)} configurations.", next_step=f"Compare at most {MOST_COLUMNS} at a time."
        )
    return [(" ".join(f"{key}={value}" for key, value in one.items()) or AS_CONFIGURED, one) for one in found]


_ROWS: tuple[tuple[str, Callable[[Summary], float | None], int], ...] = (
    ("messages a day", lambda one: one.messages_a_day, 1),
    ("most messages in a day", lambda one: max(one.per_day, default=0), 0),
    ("welcome pings", lambda one: one.welcome, 0),
    ("unwanted pings", lambda one: one.unwanted, 0),
    ("replies", lambda one: one.replies, 0),
    ("quiet-hour violations", lambda one: one.quiet_violations, 0),
    ("suppressed", lambda one: one.results.get("suppressed", 0), 0),
    ("deferred", lambda one: one.results.get("deferred", 0), 0),
    ("skipped", lambda one: one.results.get("skipped", 0), 0),
    ("held back by an empty bucket", lambda one: one.rules.get("bucket-empty", 0), 0),
    ("held back for the reserve", lambda one: one.rules.get("bucket-reserved", 0), 0),
    ("reserve broken", lambda one: one.reserved - one.reserve_kept, 0),
    ("lowest bucket level", lambda one: one.lowest_level, 1),
    ("model calls", lambda one: sum(one.calls.values()), 0),
    ("heartbeat calls", lambda one: one.calls.get("heartbeat", 0), 0),
    ("input tokens", lambda one: one.input_tokens, 0),
    ("output tokens", lambda one: one.output_tokens, 0),
    ("cost a month, dollars (estimate)", lambda one: one.monthly_would_cost / 1_000_000, 2),
    ("hours asleep on the budget", lambda one: one.asleep_hours, 1),
)


def compare(columns: Mapping[str, Summary]) -> list[Row]:
    """All numbers of the columns side by side, in a fixed order."""
    return [Row(name, tuple(value(one) for one in columns.values()), digits) for name, value, digits in _ROWS]
