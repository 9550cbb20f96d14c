"""What the [spending] section of nudge.toml grants: money for a window, the tier, and a model for every purpose.

Read from the table itself: a command that shows the budget does not pay for validating the rest of the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from nudge.errors import ConfigError, NudgeError
from nudge.home.settings import Settings
from nudge.spending.allowance import DayTurn
from nudge.spending.budgets import SpendingPlan
from nudge.spending.money import Micros, parse_money
from nudge.spending.routing import EVERY_TIER, STANDARD, Routes


def plan_of(settings: Settings) -> SpendingPlan:
    """The money: `windows` says how much for each tier, and `window` for those that it does not name."""
    section = _section(settings)
    tier = str(section.get("tier", STANDARD))
    if tier not in routes_of(settings).table:
        raise _mistake(settings, "tier", f"there is no tier called {tier!r}", "Name it under [spending.tiers] first.")
    default = SpendingPlan()
    by_tier = _table(settings, "windows")
    if tier in by_tier:
        window = _money(settings, f"windows.{tier}", by_tier[tier])
    else:
        window = _money(settings, "window", section["window"]) if "window" in section else default.window
    return SpendingPlan(window, _day(settings, section.get("renews")), tier)


def turn_of(settings: Settings) -> DayTurn:
    """When a day of it starts."""
    try:
        return DayTurn.parse(str(_section(settings).get("day_starts", "00:00 UTC")))
    except NudgeError as error:
        raise _mistake(settings, "day_starts", error.message.removesuffix("."), error.next_step) from None


def routes_of(settings: Settings) -> Routes:
    overlay: dict[str, Any] = dict(_table(settings, "tiers"))
    for tier in _table(settings, "windows"):
        overlay.setdefault(tier, {})
    if models := _table(settings, "models"):
        overlay[EVERY_TIER] = models
    try:
        return Routes.of(overlay)
    except ConfigError as error:
        raise ConfigError(f"{settings.home.config}: {error.message}", next_step=error.next_step) from None


def _section(settings: Settings) -> Mapping[str, Any]:
    section = settings.table.get("spending")
    return section if isinstance(section, Mapping) else {}


def _table(settings: Settings, name: str) -> Mapping[str, Any]:
    table = _section(settings).get(name) or {}
    if not isinstance(table, Mapping):
        raise _mistake(settings, name, "this is no section", f"Write it as [spending.{name}].")
    return table


def _money(settings: Settings, name: str, value: object) -> Micros:
    try:
        return parse_money(str(value))
    except NudgeError as error:
        raise _mistake(settings, name, error.message.removesuffix("."), error.next_step) from None


def _day(settings: Settings, value: object) -> date | None:
    if not value:
        return None
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        raise _mistake(settings, "renews", f"{str(value)!r} is not a date", "Write it like 2026-12-01.") from None


def _mistake(settings: Settings, name: str, problem: str, next_step: str | None) -> ConfigError:
    return ConfigError(f"{settings.home.config}: spending.{name}: {problem}.", next_step=next_step)
