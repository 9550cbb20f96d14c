"""Cost weights: prices stated as multiples of a unit (`opus_output = 5`, `sonnet_input = 0.2`).

The unit is what a million tokens of weight 1 cost. Unless `unit` says so in dollars, it is the price of a million
output tokens of the table's current Sonnet, the model that the alias "sonnet" stands for: with that, weights need no
edit when all prices move together. A weight names a family (every model of it) or one model by id or alias, and the
kind of token; where both are weighed, the model's own weight holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import ROUND_CEILING, Context, Decimal, InvalidOperation
from typing import Any

from nudge.errors import ConfigError, UsageError
from nudge.spending.money import parse_money
from nudge.spending.rates import KINDS, Price

UNIT_MODEL = "sonnet"

_BY_LENGTH = sorted(KINDS, key=len, reverse=True)
_EXACT = Context(prec=60, rounding=ROUND_CEILING)


def apply_weights(
    models: Mapping[str, Price],
    aliases: Mapping[str, str],
    families: Mapping[str, str],
    weights: Mapping[str, Any],
) -> dict[str, Price]:
    """The models' prices with those that the weights name in place of the table's.

    A weight for input moves the cache prices of the model with it unless they have weights of their own, and every
    weight moves the long-context price of its kind: the ratios of the table stay. Rounded up.
    """
    unit = _unit(models, aliases, weights)
    wanted: dict[str, dict[str, int]] = {}
    stated = {_split(key): (key, value) for key, value in weights.items() if key != "unit"}
    for (who, kind), (key, value) in sorted(stated.items(), key=lambda item: item[0][0] not in families.values()):
        for name in _named(who, models, aliases, families, key):
            wanted.setdefault(name, {})[kind] = _weighted(key, value, unit)
    return {name: _moved(price, wanted[name]) if name in wanted else price for name, price in models.items()}


def _unit(models: Mapping[str, Price], aliases: Mapping[str, str], weights: Mapping[str, Any]) -> int:
    if "unit" in weights:
        stated = weights["unit"]
        try:
            return parse_money(stated if isinstance(stated, str) else Decimal(str(stated)))
        except (UsageError, InvalidOperation) as error:
            raise ConfigError(f"weights: unit = {stated!r} is no price in dollars per million tokens.") from error
    name = aliases.get(UNIT_MODEL, UNIT_MODEL)
    if name not in models:
        raise ConfigError(
            'weights need a unit: the table has no model with the alias "sonnet".',
            next_step="Add unit = 15.00, the dollars per million tokens that weight 1 stands for.",
        )
    return models[name].base.output


def _split(key: str) -> tuple[str, str]:
    for kind in _BY_LENGTH:
        if key.endswith(f"_{kind}"):
            return key.removesuffix(f"_{kind}"), kind
    raise ConfigError(
        f"weights: {key!r} does not say which tokens it weighs.",
        next_step=f"End it with one of {', '.join(f'_{kind}' for kind in KINDS)}.",
    )


def _named(
    who: str, models: Mapping[str, Price], aliases: Mapping[str, str], families: Mapping[str, str], key: str
) -> list[str]:
    if family := [name for name in models if families.get(name) == who]:
        return family
    name = aliases.get(who, who)
    if name not in models:
        raise ConfigError(
            f"weights: {key!r} is for {who!r}, which the table does not know.",
            next_step=f"It knows the families {', '.join(sorted(set(families.values()))) or '(none)'}.",
        )
    return [name]


def _weighted(key: str, value: object, unit: int) -> int:
    text = str(value).removesuffix("x") if isinstance(value, str) else str(value)
    try:
        weight = Decimal(text)
    except InvalidOperation:
        weight = Decimal("NaN")
    if isinstance(value, bool) or not weight.is_finite() or weight < 0 or weight.adjusted() > 6:
        raise ConfigError(f"weights: {key} = {value!r} is no weight.", next_step="Write a number such as 5 or 0.2.")
    return int(_EXACT.multiply(weight, unit).to_integral_value(rounding=ROUND_CEILING))


def _moved(price: Price, wanted: Mapping[str, int]) -> Price:
    rates = dict(wanted)
    for kind in ("cache_read", "cache_write", "cache_write_1h"):
        if "input" in wanted and kind not in wanted:
            rates[kind] = _in_proportion(getattr(price.base, kind), wanted["input"], price.base.input)
    base = replace(price.base, **rates)
    if price.long is None:
        return Price(base)
    long = {
        kind: _in_proportion(getattr(price.long, kind), rate, getattr(price.base, kind)) for kind, rate in rates.items()
    }
    return Price(base, replace(price.long, **long), price.over)


def _in_proportion(rate: int, new: int, old: int) -> int:
    return max(rate, new) if old == 0 else -(-rate * new // old)
