"""The schedules that are arithmetic on instants: once at a time, every so often, and after some idleness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from nudge.durations import LONGEST, format_duration
from nudge.errors import InvalidScheduleError, UsageError
from nudge.instants import SECOND, Instant, parse_rfc3339, rfc3339, to_datetime, zone_of
from nudge.schedules.walls import EARLIEST, LATEST


class Fields:
    """The fields of one schedule. Each is taken once, and `done` refuses what nobody took."""

    def __init__(self, data: Mapping[str, Any], kind: str) -> None:
        self._left = dict(data)
        if self._left.pop("kind", kind) != kind:
            raise InvalidScheduleError(f"This is a schedule of kind {data['kind']!r}, not {kind!r}.")
        self._kind = kind

    def text(self, name: str) -> str:
        value = self._take(name)
        if not isinstance(value, str):
            raise self._wrong(name, "a text")
        return value

    def zone(self, name: str = "tz") -> str | None:
        """The name of a zone that exists, or None where there is none."""
        if self._left.get(name) is None:
            self._left.pop(name, None)
            return None
        return zone_of(self.text(name)).key

    def whole(self, name: str) -> int:
        value = self._take(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._wrong(name, "a whole number")
        return value

    def maybe_whole(self, name: str) -> int | None:
        if self._left.get(name) is None:
            self._left.pop(name, None)
            return None
        return self.whole(name)

    def instant(self, name: str) -> Instant:
        text = self.text(name)
        try:
            return parse_rfc3339(text)
        except UsageError as error:
            raise self._wrong(name, "a time such as 2026-02-20T15:00:00-05:00") from error

    def maybe_instant(self, name: str) -> Instant | None:
        if self._left.get(name) is None:
            self._left.pop(name, None)
            return None
        return self.instant(name)

    def done(self) -> None:
        if self._left:
            raise InvalidScheduleError(
                f"A schedule of kind {self._kind!r} has no field {next(iter(self._left))!r}.",
                next_step="Compare with what `to_json` writes.",
            )

    def _take(self, name: str) -> object:
        if name not in self._left:
            raise InvalidScheduleError(f"A schedule of kind {self._kind!r} needs the field {name!r}.")
        return self._left.pop(name)

    def _wrong(self, name: str, what: str) -> InvalidScheduleError:
        return InvalidScheduleError(f"The field {name!r} of a schedule of kind {self._kind!r} is not {what}.")


def limits_to_json(count: int | None, until: Instant | None) -> dict[str, Any]:
    """The two optional limits, each only where it is set."""
    limits: dict[str, Any] = {}
    if count is not None:
        limits["count"] = count
    if until is not None:
        limits["until"] = rfc3339(until)
    return limits


@dataclass(frozen=True, slots=True)
class At:
    """Once, at an instant. What was asked for as `in 2h` is stored as this."""

    instant: Instant
    tz: str | None = None
    """The zone to show it in; it does not move the instant."""

    kind: ClassVar[str] = "at"

    def __post_init__(self) -> None:
        check_instant(self.instant)

    def next_after(self, instant: Instant, zone: ZoneInfo) -> Instant | None:
        """The instant itself, as long as it is strictly after the given one."""
        return self.instant if self.instant > instant else None

    def describe(self) -> str:
        return f"at {in_words(self.instant, self.tz)}"

    def to_json(self) -> dict[str, Any]:
        zone = zone_of(self.tz or "UTC")
        data: dict[str, Any] = {"kind": self.kind, "at": rfc3339(self.instant, zone)}
        return data if self.tz is None else data | {"tz": self.tz}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> At:
        fields = Fields(data, cls.kind)
        made = cls(fields.instant("at"), fields.zone())
        fields.done()
        return made


@dataclass(frozen=True, slots=True)
class Every:
    """Every interval on the grid of its anchor, the first time one interval after it. No clock change can bend it."""

    interval_us: int
    anchor: Instant
    count: int | None = None
    """How many times, counted from the anchor."""
    until: Instant | None = None
    """The last instant at which it may still fire."""

    kind: ClassVar[str] = "every"

    def __post_init__(self) -> None:
        if not SECOND <= self.interval_us <= LONGEST:
            raise InvalidScheduleError(
                f"An interval of {format_duration(self.interval_us)} is not between one second and a hundred years.",
                next_step="Write it like 30m or 2h.",
            )
        check_instant(self.anchor)
        check_limits(self.count, self.until)
        if self.until is not None and self.until < self.anchor + self.interval_us:
            raise InvalidScheduleError(
                "This schedule never fires: it ends before its first time, which is one interval after its start.",
                next_step="Choose a later end or a shorter interval.",
            )

    def next_after(self, instant: Instant, zone: ZoneInfo) -> Instant | None:
        """The next point of the grid; an instant on the grid gives the one after it."""
        number = max(1, (instant - self.anchor) // self.interval_us + 1)
        found = Instant(self.anchor + number * self.interval_us)
        if self.count is not None and number > self.count:
            return None
        return found if found <= (LATEST if self.until is None else min(self.until, LATEST)) else None

    def describe(self) -> str:
        return f"every {format_duration(self.interval_us)}{limits_in_words(self.count, self.until, None)}"

    def to_json(self) -> dict[str, Any]:
        data = {"kind": self.kind, "interval_us": self.interval_us, "anchor": rfc3339(self.anchor)}
        return data | limits_to_json(self.count, self.until)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Every:
        fields = Fields(data, cls.kind)
        made = cls(
            fields.whole("interval_us"),
            fields.instant("anchor"),
            fields.maybe_whole("count"),
            fields.maybe_instant("until"),
        )
        fields.done()
        return made


@dataclass(frozen=True, slots=True)
class Idle:
    """When the agent has had nothing to do for a while. Who asks passes the instant at which it became idle."""

    timeout_us: int

    kind: ClassVar[str] = "idle"

    def __post_init__(self) -> None:
        if not SECOND <= self.timeout_us <= LONGEST:
            raise InvalidScheduleError(
                f"An idle time of {format_duration(self.timeout_us)} is not between one second and a hundred years.",
                next_step="Write it like 5m.",
            )

    def next_after(self, instant: Instant, zone: ZoneInfo) -> Instant | None:
        """One time-out after `instant`, the last activity."""
        return Instant(instant + self.timeout_us)

    def describe(self) -> str:
        return f"idle {format_duration(self.timeout_us)}"

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "timeout_us": self.timeout_us}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Idle:
        fields = Fields(data, cls.kind)
        made = cls(fields.whole("timeout_us"))
        fields.done()
        return made


def check_instant(instant: Instant) -> None:
    """Refuse what no calendar date can show."""
    if not EARLIEST <= instant < LATEST:
        raise InvalidScheduleError("This time is not in the calendar.", next_step="Use a year between 1 and 9998.")


def check_limits(count: int | None, until: Instant | None) -> None:
    if count is not None and count < 1:
        raise InvalidScheduleError(f"A count of {count} never fires.", next_step="Use a count of 1 or more.")
    if until is not None:
        check_instant(until)


def in_words(instant: Instant, tz: str | None) -> str:
    """`2026-02-20 15:00 America/Toronto`; seconds only where there are any."""
    local = to_datetime(instant, zone_of(tz or "UTC"))
    shape = "%Y-%m-%d %H:%M:%S" if local.second else "%Y-%m-%d %H:%M"
    return f"{local.strftime(shape)} {tz or 'UTC'}"


def limits_in_words(count: int | None, until: Instant | None, tz: str | None) -> str:
    times = "" if count is None else f", {count} time{'' if count == 1 else 's'}"
    return times + ("" if until is None else f", until {in_words(until, tz)}")
