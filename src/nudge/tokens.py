"""Tokens: what one call used, and an estimate of what a text will use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from nudge.errors import UsageError
from nudge.numbers import is_whole

CHARACTERS_PER_TOKEN = 4

_WORDS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ \t\n\r"


@dataclass(frozen=True, slots=True)
class TokenUse:
    """Tokens of one call, each counted once.

    `input` is what was neither read from nor written to the prompt cache. `cache_write` is what was written for five
    minutes, `cache_write_1h` what was written for an hour, which costs more.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            tokens = getattr(self, field.name)
            if not is_whole(tokens) or tokens < 0:
                raise UsageError(f"A call cannot have used {tokens!r} tokens ({field.name}).")

    @property
    def prompt(self) -> int:
        """Everything the model read: the size that long-context prices go by."""
        return self.input + self.cache_read + self.cache_write + self.cache_write_1h


def token_use(usage: object) -> TokenUse:
    """The tokens of a usage as it came: our own, another object with the same names, or the `usage` of an Anthropic
    reply (object or JSON), where the one-hour writes are a part of `cache_creation_input_tokens`.

    What is not recognised is refused, because an unread usage would be charged as nothing.

    >>> token_use({"input_tokens": 12, "output_tokens": 3, "cache_read_input_tokens": 100})
    TokenUse(input=12, output=3, cache_read=100, cache_write=0, cache_write_1h=0)
    """
    if isinstance(usage, TokenUse):
        return usage
    if _read(usage, "input_tokens") is not None and _read(usage, "output_tokens") is not None:
        parts = _read(usage, "cache_creation")
        long = _count(parts, "ephemeral_1h_input_tokens")
        written = max(_count(usage, "cache_creation_input_tokens"), _count(parts, "ephemeral_5m_input_tokens") + long)
        return TokenUse(
            input=_count(usage, "input_tokens"),
            output=_count(usage, "output_tokens"),
            cache_read=_count(usage, "cache_read_input_tokens"),
            cache_write=written - long,
            cache_write_1h=long,
        )
    if _read(usage, "input") is not None and _read(usage, "output") is not None:
        return TokenUse(**{field.name: _count(usage, field.name) for field in fields(TokenUse)})
    raise UsageError(
        f"The usage of a call cannot be read from a {type(usage).__name__}.",
        next_step="Pass the reply's usage, or a TokenUse(input=…, output=…).",
    )


def estimate_tokens(text: str) -> int:
    """A quick estimate for English and code: a token for every four characters begun. An empty text has none.

    Chinese, Japanese and Korean need up to a token per character or more: count those with the provider.
    """
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def most_tokens(text: str) -> int:
    """More tokens than a text has, for what must not be underestimated: two letters or spaces a token, every digit and
    sign one, and every UTF-8 byte outside of ASCII one.

    That is about twice what English and code have. Tokens are made of whole bytes, so nothing can have more than one
    for each; only letters without any sense in them could have more than one for every two.

    >>> most_tokens("Call Mia at 5?"), most_tokens("你好")
    (8, 6)
    """
    encoded = text.encode("utf-8", "replace")
    signs = len(encoded.translate(None, _WORDS))
    return signs + -(-(len(encoded) - signs) // 2)


def _read(source: object, name: str) -> object:
    return source.get(name) if isinstance(source, Mapping) else getattr(source, name, None)


def _count(source: object, name: str) -> int:
    value = _read(source, name)
    if value is None:
        return 0
    if not is_whole(value):
        raise UsageError(f"The usage says {value!r} for {name}, which is no number of tokens.")
    return value
