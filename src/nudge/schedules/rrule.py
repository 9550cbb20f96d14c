"""Recurrence rules of RFC 5545, evaluated in a zone and bounded in time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from nudge.instants import Instant, rfc3339, zone_of
from nudge.schedules.jsonform import Fields
from nudge.schedules.kinds import check_instant
from nudge.schedules.recurrence import recurrence_of
from nudge.schedules.rule_text import read_rule
from nudge.schedules.rule_words import rule_in_words


@dataclass(frozen=True, slots=True)
class Rrule:
    """An RRULE, with DTSTART, EXDATE and RDATE lines where wanted.

    Without a DTSTART line the rule starts at `dtstart`, its creation, and takes from it what it leaves open:
    `FREQ=DAILY` keeps the time of day at which it was made. A rule that never fires, or that cannot be answered quickly
    whatever the instant, is refused when it is made.
    """

    text: str
    tz: str | None
    dtstart: Instant

    kind: ClassVar[str] = "rrule"

    def __post_init__(self) -> None:
        check_instant(self.dtstart)
        recurrence_of(self.text, self.tz or "UTC", self.dtstart)

    def next_after(self, instant: Instant, zone: ZoneInfo) -> Instant | None:
        """The first time strictly after `instant`. `zone` is for a rule that names none itself."""
        return recurrence_of(self.text, self.tz or zone.key, self.dtstart).next_after(instant)

    def zone(self, default: ZoneInfo) -> ZoneInfo:
        """The zone the rule is evaluated in: its DTSTART's, else its own, else the default."""
        start = read_rule(self.text).start
        name = (start and start.zone) or self.tz
        return zone_of(name) if name else default

    def describe(self) -> str:
        return f"RRULE({rule_in_words(read_rule(self.text))})"

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = {"kind": self.kind, "rrule": self.text, "dtstart": rfc3339(self.dtstart)}
        return data if self.tz is None else data | {"tz": self.tz}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Rrule:
        fields = Fields(data, cls.kind)
        made = cls(fields.text("rrule"), fields.zone(), fields.instant("dtstart"))
        fields.done()
        return made
