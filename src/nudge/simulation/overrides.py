"""Another configuration for a simulation: `key=value` on top of what nudge.toml says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from nudge.errors import UsageError
from nudge.home.config import Config, first_problem, load_config
from nudge.home.settings import Settings

_WORDS = {"true": True, "false": False, "on": True, "off": False, "yes": True, "no": False}


def overridden(settings: Settings, changes: Mapping[str, str]) -> Settings:
    """The settings with those changes, checked like a file. A key is `section.field`, or `field` alone where only one
    section has it. A mistake in the file itself is told as the file's."""
    load_config(settings)
    table: dict[str, Any] = {
        key: dict(value) if isinstance(value, Mapping) else value for key, value in settings.table.items()
    }
    for key, value in changes.items():
        section, field = _place(key)
        if section:
            table[section] = {**table.get(section, {}), field: _read(section, field, value)}
        else:
            table[field] = value
    try:
        Config.model_validate(table)
    except ValidationError as error:
        location, problem = first_problem(error)
        raise UsageError(
            f"--compare {'.'.join(location)}: {problem}.", next_step="See 'nudge config show' for what is possible."
        ) from None
    return Settings(settings.home, settings.environment, table)


def keys() -> dict[str, tuple[str, str]]:
    """Every key by its short and by its full name; a short one that two sections share is left out."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name, info in Config.model_fields.items():
        model = info.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            for field in model.model_fields:
                found.setdefault(field, []).append((name, field))
                found[f"{name}.{field}"] = [(name, field)]
        else:
            found.setdefault(name, []).append(("", name))
    return {key: places[0] for key, places in found.items() if len(places) == 1}


def _place(key: str) -> tuple[str, str]:
    known = keys()
    if key not in known:
        from difflib import get_close_matches

        close = get_close_matches(key, known, 1)
        meant = f" Did you mean {close[0]!r}?" if close else ""
        raise UsageError(
            f"There is nothing called {key!r} to change.{meant}",
            next_step="Try ping_budget, capacity, refill_minutes, reserve, heartbeat or change_gate.",
        )
    return known[key]


def _read(section: str, field: str, value: str) -> Any:
    """A value as TOML would have it: a switch, a number, else a text."""
    model = Config.model_fields[section].annotation
    assert isinstance(model, type)
    assert issubclass(model, BaseModel)
    wanted = model.model_fields[field].annotation
    if wanted is bool:
        return _WORDS.get(value.lower(), value)
    return int(value) if wanted is int and value.lstrip("-").isdigit() else value
