"""Prices: which model costs what, how a call's cost is computed, and how old that knowledge is.

A rate is micro-dollars per million tokens, so a call's cost is one sum of products and one division in whole numbers.
That division rounds up: a call is never charged less than it cost.

A table is made from plain mappings, as a TOML file gives them. A model that is not in it is charged at the highest
price that is and flagged as such, never at zero: an unpriced model would be a hole in every budget.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date
from decimal import ROUND_CEILING, Context, Decimal, InvalidOperation
from enum import StrEnum
from typing import Any

from nudge.errors import ConfigError, UsageError
from nudge.instants import Moment, as_instant, local_date
from nudge.spending.money import Micros, Money, parse_money
from nudge.tokens import TokenUse, token_use

MILLION = 1_000_000
THOUSAND = 1_000
WEB_SEARCHES = "10.00"
"""Dollars for a thousand web searches by the service itself, at every provider whose price was read."""


class Caching(StrEnum):
    """How a call may write its prompt to the provider's cache, which costs more than plain input.

    The worst case of a call depends on it: with caching, every token of the input may turn out to be a write.
    """

    NONE = "none"
    SHORT = "5m"
    LONG = "1h"

    @classmethod
    def _missing_(cls, value: object) -> Caching:
        raise UsageError(f"There is no caching called {value!r}.", next_step=f"Use one of {', '.join(cls)}.")


@dataclass(frozen=True, slots=True)
class Rates:
    """Micro-dollars per million tokens, by kind of token."""

    input: int
    output: int
    cache_read: int
    cache_write: int
    cache_write_1h: int

    def cost(self, use: TokenUse) -> Micros:
        return _up(sum(getattr(self, kind) * getattr(use, kind) for kind in KINDS))

    def highest_input(self, caching: Caching) -> int:
        """The most that a token of the input can cost."""
        if caching is Caching.NONE:
            return max(self.input, self.cache_read)
        if caching is Caching.SHORT:
            return max(self.input, self.cache_read, self.cache_write)
        return max(self.input, self.cache_read, self.cache_write, self.cache_write_1h)


KINDS = tuple(field.name for field in fields(Rates))


@dataclass(frozen=True, slots=True)
class Price:
    """What one model costs. Where `long` is set it holds for the whole call, output included, as soon as the prompt is
    longer than `over` tokens; a prompt of exactly `over` tokens still has the base rates. `searches` is what a thousand
    web searches by the service cost."""

    base: Rates
    long: Rates | None = None
    over: int = 0
    searches: Micros = 0

    def rates(self, prompt_tokens: int) -> Rates:
        return self.long if self.long is not None and prompt_tokens > self.over else self.base

    def cost(self, use: TokenUse) -> Micros:
        """The cost of a call that came back."""
        return self.rates(use.prompt).cost(use) + self.search_cost(use.searches)

    def search_cost(self, searches: int) -> Micros:
        return -(-self.searches * searches // THOUSAND)

    def input_cost(self, input_tokens: int, caching: Caching = Caching.SHORT) -> Micros:
        """The most that the input of a call can cost: what a call that breaks off is charged."""
        return self.worst_case(input_tokens, 0, caching)

    def worst_case(self, input_tokens: int, max_tokens: int, caching: Caching = Caching.SHORT) -> Micros:
        """The most that a call can cost if its input is no longer than `input_tokens`: what has to be held for it."""
        rates = self.rates(input_tokens)
        return _up(rates.highest_input(caching) * input_tokens + rates.output * max_tokens)

    def fit_max_tokens(
        self, input_tokens: int, available: Micros, at_most: int, caching: Caching = Caching.SHORT
    ) -> int:
        """The largest `max_tokens` up to `at_most` whose worst case `available` money covers; 0 where not even the
        input fits, or the input takes all there is."""
        rates = self.rates(input_tokens)
        left = available * MILLION - rates.highest_input(caching) * input_tokens
        if left < 0:
            return 0
        return at_most if rates.output == 0 else min(at_most, left // rates.output)


def highest(prices: list[Price]) -> Price:
    """A price that is nowhere below any of these, kind by kind, long prompts included."""
    every = [rates for price in prices for rates in (price.base, price.long) if rates is not None]
    rates = Rates(**{kind: max(getattr(rates, kind) for rates in every) for kind in KINDS})
    return Price(rates, searches=max(price.searches for price in prices))


def _up(millionths: int) -> Micros:
    return -(-millionths // MILLION)


STALE_AFTER_DAYS = 90

_DATED = re.compile(r"(.+?)(?:[-@](?:\d{8}|\d{4}-\d{2}-\d{2})|-latest)")
_TABLE_KEYS = {"read", "source", "models", "weights"}
_MODEL_KEYS = {*KINDS, "family", "aliases", "long_context", "web_search"}


@dataclass(frozen=True, slots=True)
class Quote:
    """The price found for a model id. `known` is False where the highest price stands in for a missing one."""

    model: str
    priced_as: str
    price: Price
    known: bool


@dataclass(frozen=True, slots=True)
class PriceTable:
    """The prices of all known models, and the day on which they were read.

    >>> table = PriceTable.of(
    ...     {"read": "2026-11-15", "models": {"claude-sonnet-5-5": {"input": "2.00", "output": "10.00"}}}
    ... )
    >>> table.cost("claude-sonnet-5-5-20261001", {"input_tokens": 1_000, "output_tokens": 200})
    4000
    >>> table.fit_max_tokens("claude-sonnet-5-5", 1_000, parse_money("$0.01"), at_most=4_096)
    750
    >>> table.quote("somebody-elses-model").known
    False
    """

    models: Mapping[str, Price]
    aliases: Mapping[str, str] = field(default_factory=dict)
    families: Mapping[str, str] = field(default_factory=dict)
    read: date | None = None
    source: str = ""
    local: bool = False
    """The service is on the person's own machine or network: a model that has no price there is free."""

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> PriceTable:
        """The table of a mapping with `models` and, where wanted, `read`, `source` and `weights`.

        A model needs `input` and `output`, in dollars per million tokens. Missing cache prices become the highest they
        could be: a read costs as much as input, a write 1.25 times and for an hour 2 times as much.
        """
        _refuse_unknown("the table", table, _TABLE_KEYS)
        stated = _section("models", table)
        if not stated:
            raise ConfigError("A price table needs at least one model.", next_step="Add a [models.NAME] section.")
        aliases: dict[str, str] = {}
        for name, model in stated.items():
            _refuse_unknown(f"model {name}", model, _MODEL_KEYS)
            if not isinstance(model.get("aliases", ()), list | tuple):
                raise ConfigError(f"model {name}: aliases must be a list.", next_step='Write it like ["proxy"].')
            for alias in model.get("aliases", ()):
                if alias in stated or aliases.setdefault(alias, name) != name:
                    raise ConfigError(f"Two models have the alias {alias!r}.", next_step="Remove it from one of them.")
        families = {name: str(model["family"]) for name, model in stated.items() if "family" in model}
        models = {name: _price(name, model) for name, model in stated.items()}
        if weights := table.get("weights"):
            models = apply_weights(models, aliases, families, weights)
        return cls(models, aliases, families, _date(table.get("read")), str(table.get("source", "")))

    def quote(self, model: str) -> Quote:
        """The price of a model id: its own, its alias's, that of the id without its date, or the highest of all."""
        name = self._find(model)
        if name is None and self.local:
            return Quote(model, "a model of your own", _price(model, {"input": 0, "output": 0}), known=True)
        if name is None:
            return Quote(model, "the highest known price", highest(list(self.models.values())), known=False)
        return Quote(model, name, self.models[name], known=True)

    def cost(self, model: str, usage: object) -> Money:
        """What a call that came back cost, rounded up to a whole micro-dollar: `usage` is that of the reply as it came,
        or a TokenUse."""
        return Money(self.quote(model).price.cost(token_use(usage)))

    def worst_case(self, model: str, input_tokens: int, max_tokens: int, caching: Caching = Caching.SHORT) -> Money:
        """The most that a call can cost. With caching every input token may be charged as a cache write."""
        return Money(self.quote(model).price.worst_case(input_tokens, max_tokens, caching))

    def fit_max_tokens(
        self, model: str, input_tokens: int, available: Micros, *, at_most: int, caching: Caching = Caching.SHORT
    ) -> int:
        """The largest `max_tokens` that `available` money covers in the worst case; 0 where nothing fits."""
        return self.quote(model).price.fit_max_tokens(input_tokens, available, at_most, caching)

    def age_days(self, now: Moment) -> int | None:
        """Whole days (UTC) since the table was read; None where it does not say. A clock that is behind gives 0."""
        if self.read is None:
            return None
        return max(0, (local_date(as_instant(now), UTC) - self.read).days)

    def is_stale(self, now: Moment) -> bool:
        """Whether the prices need a check. Exactly 90 days is not stale yet; no date at all is."""
        age = self.age_days(now)
        return age is None or age > STALE_AFTER_DAYS

    def _find(self, model: str) -> str | None:
        name = self._named(model)
        if name is None and (dated := _DATED.fullmatch(model)):
            name = self._named(dated[1])
        return name

    def _named(self, model: str) -> str | None:
        return model if model in self.models else self.aliases.get(model)


def lay_over(base: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with what `overlay` states in its place, key by key inside a model and inside the weights.

    A read date in the overlay dates the whole table: whoever writes one has checked it.
    """
    merged = {**base, **{key: value for key, value in overlay.items() if key not in ("models", "weights")}}
    models = dict(base.get("models") or {})
    for name, model in _section("models", overlay).items():
        models[name] = {**models.get(name, {}), **_section(name, {name: model})}
    merged["models"] = models
    if "weights" in base or "weights" in overlay:
        merged["weights"] = {**_section("weights", base), **_section("weights", overlay)}
    return merged


def _price(name: str, model: Mapping[str, Any]) -> Price:
    base = _rates(f"model {name}", model)
    searches = _rate(f"model {name}", "web_search", model.get("web_search", WEB_SEARCHES))
    long = model.get("long_context")
    if long is None:
        return Price(base, searches=searches)
    _refuse_unknown(f"model {name}, long_context", long, {*KINDS, "over"})
    over = long.get("over")
    if isinstance(over, bool) or not isinstance(over, int) or over < 0:
        raise ConfigError(f"model {name}: long_context needs `over`, a number of tokens.")
    return Price(base, _rates(f"model {name}, long_context", long), over, searches)


def _rates(where: str, stated: Mapping[str, Any]) -> Rates:
    if "input" not in stated or "output" not in stated:
        raise ConfigError(f"{where}: set both `input` and `output`, in dollars per million tokens.")
    rates = {kind: _rate(where, kind, stated[kind]) for kind in KINDS if kind in stated}
    plain = rates["input"]
    return Rates(
        input=plain,
        output=rates["output"],
        cache_read=rates.get("cache_read", plain),
        cache_write=rates.get("cache_write", -(-plain * 5 // 4)),
        cache_write_1h=rates.get("cache_write_1h", plain * 2),
    )


def _rate(where: str, kind: str, dollars: object) -> int:
    try:
        # A float's shortest decimal form is what somebody wrote: 0.1, not the binary fraction next to it.
        return int(parse_money(str(dollars) if isinstance(dollars, str) else Decimal(str(dollars))))
    except (UsageError, InvalidOperation) as error:
        raise ConfigError(
            f"{where}: {kind} = {dollars!r} is not a price in dollars per million tokens (at most six decimals)."
        ) from error


def _date(value: object) -> date | None:
    if value is None or type(value) is date:
        return value
    try:
        return date.fromisoformat(str(value))
    except ValueError as error:
        raise ConfigError(f"read = {str(value)!r} is not a day.", next_step="Write it like 2026-11-15.") from error


def _section(name: str, table: Mapping[str, Any]) -> Mapping[str, Any]:
    section = table.get(name) or {}
    if not isinstance(section, Mapping):
        raise ConfigError(f"{name} must be a section with prices.")
    return section


def _refuse_unknown(where: str, stated: object, known: set[str]) -> None:
    if not isinstance(stated, Mapping):
        raise ConfigError(f"{where} must be a section with prices.")
    if unknown := sorted(set(stated) - known):
        raise ConfigError(
            f"{where} has the unknown key {unknown[0]!r}.", next_step=f"Use one of {', '.join(sorted(known))}."
        )


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
            return int(parse_money(stated if isinstance(stated, str) else Decimal(str(stated))))
        except (UsageError, InvalidOperation) as error:
            raise ConfigError(f"weights: unit = {stated!r} is not a price in dollars per million tokens.") from error
    name = aliases.get(UNIT_MODEL, UNIT_MODEL)
    if name not in models:
        raise ConfigError(
            'weights need a unit: the table has no model with the alias "sonnet".',
            next_step="Add unit = 15.00: the dollars per million tokens for a weight of 1.",
        )
    return models[name].base.output


def _split(key: str) -> tuple[str, str]:
    for kind in _BY_LENGTH:
        if key.endswith(f"_{kind}"):
            return key.removesuffix(f"_{kind}"), kind
    raise ConfigError(
        f"weights: {key!r} does not name a kind of tokens.",
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
            f"weights: {key!r} is for {who!r}, which is not in the price table.",
            next_step=f"Use a model or one of the families {', '.join(sorted(set(families.values()))) or '(none)'}.",
        )
    return [name]


def _weighted(key: str, value: object, unit: int) -> int:
    text = str(value).removesuffix("x") if isinstance(value, str) else str(value)
    try:
        weight = Decimal(text)
    except InvalidOperation:
        weight = Decimal("NaN")
    if isinstance(value, bool) or not weight.is_finite() or weight < 0 or weight.adjusted() > 6:
        raise ConfigError(f"weights: {key} = {value!r} is not a weight.", next_step="Write a number such as 5 or 0.2.")
    return int(_EXACT.multiply(weight, unit).to_integral_value(rounding=ROUND_CEILING))


def _moved(price: Price, wanted: Mapping[str, int]) -> Price:
    rates = dict(wanted)
    for kind in ("cache_read", "cache_write", "cache_write_1h"):
        if "input" in wanted and kind not in wanted:
            rates[kind] = _in_proportion(getattr(price.base, kind), wanted["input"], price.base.input)
    base = replace(price.base, **rates)
    if price.long is None:
        return replace(price, base=base)
    long = {
        kind: _in_proportion(getattr(price.long, kind), rate, getattr(price.base, kind)) for kind, rate in rates.items()
    }
    return replace(price, base=base, long=replace(price.long, **long))


def _in_proportion(rate: int, new: int, old: int) -> int:
    return max(rate, new) if old == 0 else -(-rate * new // old)
