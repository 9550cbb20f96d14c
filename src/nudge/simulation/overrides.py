"""Another configuration for a simulation: `key=value` in place of what nudge.toml says."""

from __future__ import annotations

from collections.abc import Mapping

from nudge.errors import UsageError
from nudge.home.config import FIELDS, SECTIONS, Config, kinds_of
from nudge.home.config_values import meant


def overridden(config: Config, changes: Mapping[str, str]) -> Config:
    """The configuration with those changes, checked like a file. A key is `section.field`, or `field` alone where only
    one section has it."""
    known = keys()
    for key, words in changes.items():
        if key not in known:
            close = meant(key, known)
            raise UsageError(
                f"There is no setting called {key!r}." + (f" Did you mean {close!r}?" if close else ""),
                next_step="Try ping_budget, capacity, refill_minutes, reserve, learning, heartbeat or change_gate.",
            )
        section, field = known[key]
        kind = kinds_of(section)[field] if section else FIELDS[field]
        try:
            value = kind.from_words(words)
        except ValueError as error:
            name = f"{section}.{field}" if section else field
            raise UsageError(f"--compare {name}: {error}.", next_step="See 'nudge config show'.") from None
        config = config.with_value(section, field, value)
    if config.spending.tier not in config.spending.routes.table:
        raise UsageError(
            f"--compare spending.tier: there is no tier called {config.spending.tier!r}.",
            next_step=f"Use one of {', '.join(config.spending.routes.table)}.",
        )
    return config


def keys() -> dict[str, tuple[str, str]]:
    """Every setting as (section, field) by its short and by its full name; a short name that two sections share is left
    out."""
    found: dict[str, list[tuple[str, str]]] = {name: [("", name)] for name in FIELDS}
    for section in SECTIONS:
        for field in kinds_of(section):
            found.setdefault(field, []).append((section, field))
            found[f"{section}.{field}"] = [(section, field)]
    return {key: places[0] for key, places in found.items() if len(places) == 1}
