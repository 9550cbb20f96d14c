"""Rates: the arithmetic of what one call costs, in whole numbers.

A rate is micro-dollars per million tokens, so that a call's cost is one sum of products and one division. That division
rounds up: a call is never charged less than it cost.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum

from nudge.errors import UsageError
from nudge.spending.money import Micros
from nudge.tokens import TokenUse

MILLION = 1_000_000


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

    def dearest_input(self, caching: Caching) -> int:
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
    longer than `over` tokens; a prompt of exactly `over` tokens still has the base rates."""

    base: Rates
    long: Rates | None = None
    over: int = 0

    def rates(self, prompt_tokens: int) -> Rates:
        return self.long if self.long is not None and prompt_tokens > self.over else self.base

    def cost(self, use: TokenUse) -> Micros:
        """The cost of a call that came back."""
        return self.rates(use.prompt).cost(use)

    def input_cost(self, input_tokens: int, caching: Caching = Caching.SHORT) -> Micros:
        """The most that the input of a call can cost: what a call is charged that was cancelled under way."""
        return self.worst_case(input_tokens, 0, caching)

    def worst_case(self, input_tokens: int, max_tokens: int, caching: Caching = Caching.SHORT) -> Micros:
        """The most that a call can cost if its input is no longer than `input_tokens`: what has to be held for it."""
        rates = self.rates(input_tokens)
        return _up(rates.dearest_input(caching) * input_tokens + rates.output * max_tokens)

    def fit_max_tokens(
        self, input_tokens: int, available: Micros, at_most: int, caching: Caching = Caching.SHORT
    ) -> int:
        """The largest `max_tokens` up to `at_most` whose worst case `available` money covers; 0 where not even the
        input fits, or the input takes all there is."""
        rates = self.rates(input_tokens)
        left = available * MILLION - rates.dearest_input(caching) * input_tokens
        if left < 0:
            return 0
        return at_most if rates.output == 0 else min(at_most, left // rates.output)


def dearest(prices: list[Price]) -> Price:
    """A price that is nowhere below any of these, kind by kind, long prompts included."""
    every = [rates for price in prices for rates in (price.base, price.long) if rates is not None]
    return Price(Rates(**{kind: max(getattr(rates, kind) for rates in every) for kind in KINDS}))


def _up(millionths: int) -> Micros:
    return -(-millionths // MILLION)
