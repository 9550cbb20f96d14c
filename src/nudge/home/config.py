"""The configuration, checked. Every field has a default: an empty nudge.toml is a valid one."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from nudge.durations import parse_duration
from nudge.errors import ConfigError, NudgeError
from nudge.home.settings import Settings
from nudge.instants import zone_of
from nudge.spending.allowance import DayTurn
from nudge.spending.money import parse_money


def _duration(text: str) -> str:
    return _checked(text, parse_duration)


def _zone(name: str) -> str:
    return _checked(name, zone_of) if name else name


def _checked(text: str, parse: Callable[[str], object]) -> str:
    """The text as it is, once it has been understood; an error of ours as one that pydantic puts in its place."""
    try:
        parse(text)
    except NudgeError as error:
        raise ValueError(f"{error.message.removesuffix('.')}. {error.next_step or ''}".rstrip(" .")) from None
    return text


def _money(text: str) -> str:
    return _checked(text, parse_money)


def _turn(text: str) -> str:
    return _checked(text, DayTurn.parse)


def _day(text: str) -> str:
    if text:
        date.fromisoformat(text)
    return text


def _written(value: object) -> object:
    """A number or a date that was written without quotes, as text."""
    return str(value) if isinstance(value, int | float | date) and not isinstance(value, bool) else value


Duration = Annotated[str, AfterValidator(_duration)]
Money = Annotated[str, BeforeValidator(_written), AfterValidator(_money)]
Day = Annotated[str, BeforeValidator(_written), AfterValidator(_day)]
Turn = Annotated[str, AfterValidator(_turn)]
Zone = Annotated[str, AfterValidator(_zone)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LogSection(_Section):
    level: Literal["debug", "info", "warning", "error"] = "info"


class ChannelSection(_Section):
    """Where the person is. `auto` means Telegram if there is a bot token, else the terminal."""

    kind: Literal["auto", "terminal", "telegram"] = "auto"


class TelegramSection(_Section):
    """`allow` lists the user ids that may talk to the coach; everybody else is ignored."""

    allow: tuple[int, ...] = ()


class AttentionSection(_Section):
    ping_budget: Literal["on", "off"] = "on"
    capacity: int = Field(default=5, ge=1)
    refill_minutes: int = Field(default=90, ge=1)
    reserve: bool = True


class CoachSection(_Section):
    heartbeat: Duration = "45m"
    change_gate: bool = True
    longest_silence: Duration = "3h"


class SpendingSection(_Section):
    """`window` is the money until `renews` (a date; without one, thirty days), and `windows` that of single tiers. A
    day of it begins at `day_starts`.

    `models` are routes of all tiers, purpose by purpose, and `tiers` those of one. `weights` state prices.
    """

    window: Money = "10.00"
    windows: dict[str, Money] = Field(default_factory=dict)
    renews: Day = ""
    day_starts: Turn = "00:00 UTC"
    tier: str = "standard"
    models: dict[str, str] = Field(default_factory=dict)
    tiers: dict[str, dict[str, str]] = Field(default_factory=dict)
    weights: dict[str, float | str] = Field(default_factory=dict)
    alert_to: str = ""


class Config(_Section):
    timezone: Zone = ""
    model: str = "auto"
    log: LogSection = LogSection()
    channel: ChannelSection = ChannelSection()
    telegram: TelegramSection = TelegramSection()
    attention: AttentionSection = AttentionSection()
    coach: CoachSection = CoachSection()
    spending: SpendingSection = SpendingSection()


def load_config(settings: Settings) -> Config:
    """Check nudge.toml. An error names the file, the line where the field stands, and the field."""
    try:
        return Config.model_validate(dict(settings.table))
    except ValidationError as error:
        raise _explained(settings.home.config, *first_problem(error)) from None


def first_problem(error: ValidationError) -> tuple[list[str], str]:
    """Where the first mistake is, as keys from the outside in, and what it is."""
    first = error.errors()[0]
    return [str(part) for part in first["loc"]], first["msg"].removeprefix("Value error, ")


def _explained(path: Path, location: list[str], problem: str) -> ConfigError:
    line = _line_of(path, location)
    where = f"{path}, line {line}" if line else str(path)
    return ConfigError(
        f"{where}: {'.'.join(location)}: {problem}.", next_step="Mend that line, then run 'nudge config check'."
    )


def _line_of(path: Path, location: list[str]) -> int | None:
    """The line of a field. TOML parsers forget positions; the last key of the path inside its table is the line."""
    table, key = ".".join(location[:-1]), location[-1] if location else ""
    current = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if header := re.match(r"\s*\[\[?([^\]]+)\]", line):
            current = header[1].strip()
            if current == ".".join(location):
                return number
        elif current == table and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            return number
    return None
