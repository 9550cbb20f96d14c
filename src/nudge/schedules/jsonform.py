"""Reading the JSON form of a schedule: strict, so that a slip in an imported file is named and not dropped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nudge.errors import InvalidScheduleError, UsageError
from nudge.instants import Instant, parse_rfc3339, rfc3339, zone_of


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
