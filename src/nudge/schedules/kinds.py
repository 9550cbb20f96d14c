"""What every kind of schedule can do, and the kinds that are arithmetic on instants: `at`, `every` and `idle`.

A new kind is one class like these, in a file of its own if it is large, and one row of the table in `schedule.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from nudge.durations import LONGEST, format_duration, parse_duration
from nudge.errors import InvalidScheduleError, UsageError
from nudge.instants import (
    SECOND,
    Instant,
    Moment,
    as_instant,
    from_local,
    from_timedelta,
    parse_rfc3339,
    rfc3339,
    to_datetime,
    zone_of,
)
from nudge.schedules.walls import EARLIEST, LATEST

Given = Moment | timedelta | str
"""What a caller may pass for a schedule: a text, or the datetime or timedelta that the text would mean."""


@dataclass(frozen=True, slots=True)
class Making:
    """What a schedule is made with beside its own text: its zone, its creation, and its limits."""

    tz: str = "UTC"
    now: Instant | None = None
    count: int | None = None
    until: Instant | None = None

    def start(self, what: str) -> Instant:
        """Now, for what counts from it."""
        if self.now is None:
            raise UsageError(f"{what} counts from now, but now is missing.", next_step="Pass now=.")
        return self.now


class AnySchedule(ABC):
    """When something is due, as a frozen value. Nothing here reads a clock."""

    __slots__ = ()

    kind: ClassVar[str]
    recurs: ClassVar[bool] = True
    """Whether it can take a count and an end."""
    has_zone: ClassVar[bool] = True
    """Whether its JSON has a `tz`."""

    @abstractmethod
    def next_after(self, instant: Instant, zone: ZoneInfo) -> Instant | None:
        """The first time strictly after `instant`, or None if there is none. Fast, whatever the schedule says. `zone`
        is for one that has none of its own."""

    @abstractmethod
    def describe(self) -> str:
        """A few words for a list."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]: ...

    @classmethod
    @abstractmethod
    def from_json(cls, data: Mapping[str, Any]) -> AnySchedule:
        """What `to_json` wrote. A field that is missing, wrong or unknown is named."""

    def in_zone(self, tz: str) -> AnySchedule:
        """The same schedule on the clock of another zone: 9:00 stays 9:00. Without a zone it stays as it is."""
        return self

    def moved_to(self, tz: str) -> AnySchedule:
        """The same schedule for somebody who has moved to another zone."""
        return self.in_zone(tz)

    def limited(self, count: int | None, until: Instant | None, now: Instant) -> AnySchedule:
        """The same schedule with another count or end; None keeps the one it has."""
        raise UsageError("Only a recurring schedule takes a count or an end.", next_step="Leave them out.")

    def begun_before(self, start: Instant) -> AnySchedule:
        """The same schedule as if it had been made before `start`, on the same grid, for a simulation that begins
        there. One that is counted, and a rule with a first time of its own, stay as they are."""
        return self

    def shown_in(self, default: ZoneInfo) -> ZoneInfo:
        """The zone to show its times in."""
        return default


class Fields:
    """The fields of one schedule. Each is taken once, and `done` refuses what nobody took."""

    def __init__(self, data: Mapping[str, Any], kind: str) -> None:
        self._left = dict(data)
        if self._left.pop("kind", kind) != kind:
            raise InvalidScheduleError(f"Expected a schedule of kind {kind!r}, got {data['kind']!r}.")
        self._kind = kind

    def text(self, name: str) -> str:
        value = self._take(name)
        if not isinstance(value, str):
            raise self._wrong(name, "text")
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
            raise InvalidScheduleError(f"{name!r} is missing in a schedule of kind {self._kind!r}.")
        return self._left.pop(name)

    def _wrong(self, name: str, what: str) -> InvalidScheduleError:
        return InvalidScheduleError(f"{name!r} of a schedule of kind {self._kind!r} must be {what}.")


def limits_to_json(count: int | None, until: Instant | None) -> dict[str, Any]:
    """The two optional limits, each only where it is set."""
    limits: dict[str, Any] = {}
    if count is not None:
        limits["count"] = count
    if until is not None:
        limits["until"] = rfc3339(until)
    return limits


@dataclass(frozen=True, slots=True)
class At(AnySchedule):
    """Once, at an instant. `in 2h` is stored as this too."""

    instant: Instant
    tz: str | None = None
    """The zone to show it in; it does not move the instant."""

    kind: ClassVar[str] = "at"
    recurs: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_instant(self.instant)

    @classmethod
    def parse(cls, given: Given, making: Making) -> At:
        """At a time. One in the past is kept: whoever fires it does so at once."""
        return cls(read_moment(given), making.tz)

    @classmethod
    def after(cls, given: Given, making: Making) -> At:
        """So long from now. Nothing, or less than nothing, is refused: it says no time."""
        length = read_length(given)
        if length <= 0:
            raise InvalidScheduleError(
                f"{format_duration(length)} from now is not in the future.", next_step="Write it like in 30m or in 2h."
            )
        return cls(Instant(making.start("in") + length), making.tz)

    def next_after(self, instant: Instant, zone: ZoneInfo) -> Instant | None:
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

    def in_zone(self, tz: str) -> At:
        """Shown in another zone; the instant stays."""
        return replace(self, tz=tz)

    def moved_to(self, tz: str) -> At:
        """The same time on the clock of another zone."""
        wall = to_datetime(self.instant, zone_of(self.tz or "UTC")).replace(tzinfo=None)
        return At(from_local(wall, zone_of(tz)), tz)

    def shown_in(self, default: ZoneInfo) -> ZoneInfo:
        return zone_of(self.tz) if self.tz else default


@dataclass(frozen=True, slots=True)
class Every(AnySchedule):
    """Every interval on the grid of its anchor, the first time one interval after it. No clock change can bend it."""

    interval_us: int
    anchor: Instant
    count: int | None = None
    """How many times, counted from the anchor."""
    until: Instant | None = None
    """The last instant at which it may still fire."""

    kind: ClassVar[str] = "every"
    has_zone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_length(self.interval_us, "An interval", "30m or 2h")
        check_instant(self.anchor)
        check_limits(self.count, self.until)
        if self.until is not None and self.until < self.anchor + self.interval_us:
            raise InvalidScheduleError(
                "This schedule never fires: it ends before its first time, which is one interval after its start.",
                next_step="Choose a later end or a shorter interval.",
            )

    @classmethod
    def parse(cls, given: Given, making: Making) -> Every:
        return cls(read_length(given), making.start("every"), making.count, making.until)

    def next_after(self, instant: Instant, zone: ZoneInfo) -> Instant | None:
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

    def limited(self, count: int | None, until: Instant | None, now: Instant) -> Every:
        count, until = self.count if count is None else count, self.until if until is None else until
        return replace(self, count=count, until=until)

    def begun_before(self, start: Instant) -> Every:
        """
        >>> from nudge.instants import HOUR
        >>> Every(2 * HOUR, Instant(9 * HOUR)).begun_before(Instant(4 * HOUR)).anchor // HOUR
        3
        """
        if self.count is not None or self.anchor <= start:
            return self
        periods = -(-(self.anchor - start) // self.interval_us)
        return replace(self, anchor=Instant(self.anchor - periods * self.interval_us))


@dataclass(frozen=True, slots=True)
class Idle(AnySchedule):
    """When the agent has had nothing to do for a while. The caller passes the instant at which it became idle."""

    timeout_us: int

    kind: ClassVar[str] = "idle"
    recurs: ClassVar[bool] = False
    has_zone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_length(self.timeout_us, "An idle time", "5m")

    @classmethod
    def parse(cls, given: Given, making: Making) -> Idle:
        return cls(read_length(given))

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


def read_moment(given: Given) -> Instant:
    if isinstance(given, timedelta):
        raise UsageError(f"{given!r} is a duration, not a time.", next_step="Pass a datetime, or use in_=.")
    return parse_rfc3339(given) if isinstance(given, str) else as_instant(given)


def read_length(given: Given) -> int:
    """A duration in microseconds."""
    if isinstance(given, str):
        return parse_duration(given)
    if isinstance(given, timedelta):
        return from_timedelta(given)
    raise UsageError(f"{given!r} is not a duration.", next_step="Pass a text such as 30m, or a timedelta.")


def check_length(length: int, what: str, example: str) -> None:
    if not SECOND <= length <= LONGEST:
        raise InvalidScheduleError(
            f"{what} must be between 1 second and 100 years, not {format_duration(length)}.",
            next_step=f"Write it like {example}.",
        )


def check_instant(instant: Instant) -> None:
    """Refuse what no calendar date can show."""
    if not EARLIEST <= instant < LATEST:
        raise InvalidScheduleError("That time is outside the calendar.", next_step="Use a year from 1 to 9998.")


def check_limits(count: int | None, until: Instant | None) -> None:
    if count is not None and count < 1:
        raise InvalidScheduleError(f"With a count of {count} it never fires.", next_step="Use a count of 1 or more.")
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
