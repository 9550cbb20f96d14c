"""The price table as files: the shipped one, the home's laid over it, and one that was named laid over both."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nudge.errors import ConfigError, NotConfiguredError
from nudge.home.private_files import exposure
from nudge.spending.prices import PriceTable, lay_over

if TYPE_CHECKING:
    from nudge.home.config import Config

FILE_NAME = "prices.toml"


def load_prices(
    home: Path | None = None, override: Path | None = None, weights: Mapping[str, Any] | None = None
) -> PriceTable:
    """The prices in force. `home` (a directory such as .nudge) may have a prices.toml; an `override` that is named has
    to exist. `weights` are those of the configuration and come last. Numbers are read as decimals, so that 0.1 is a
    tenth.

    >>> table = load_prices()
    >>> table.quote("sonnet").priced_as
    'claude-sonnet-5-5'
    """
    shipped = resources.files("nudge").joinpath("spending", FILE_NAME).read_text(encoding="utf-8")
    stated: dict[str, Any] = tomllib.loads(shipped, parse_float=Decimal)
    overlays = [home / FILE_NAME] if home is not None and (home / FILE_NAME).exists() else []
    if override is not None:
        overlays.append(override)
    table = PriceTable.of(stated)
    for path in overlays:
        if path.parent == home and (exposed := exposure(path)):
            raise exposed.error()
        try:
            stated = lay_over(stated, _read(path))
            table = PriceTable.of(stated)
        except ConfigError as error:
            raise ConfigError(f"{path}: {error.message}", next_step=error.next_step) from error
    if weights:
        table = PriceTable.of(lay_over(stated, {"weights": weights}))
    return table


def prices_of(config: Config) -> PriceTable:
    """The prices of this home's own model: one on the person's machine or network is free unless it has a price."""
    table = load_prices(config.home.path, weights=config.spending.weights)
    return replace(table, local=config.has_local_model)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"not valid TOML: {error}.", next_step="Fix the line or remove the file.") from error
    except OSError as error:
        raise NotConfiguredError(
            f"The price file {path} cannot be read: {error.strerror}.", next_step="Give the path of a TOML file."
        ) from error
