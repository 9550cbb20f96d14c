"""Tokens: what one call used, and an estimate of what a text will use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from nudge.errors import UsageError
from nudge.numbers import is_whole

CHARACTERS_PER_TOKEN = 4
MOST_TOKENS = 1_000_000_000
"""No call reads or writes more. A usage that says so is not believed."""

_WORDS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ \t\n\r"


class UnbelievableUsageError(UsageError):
    """The usage of a call says what cannot be true."""


@dataclass(frozen=True, slots=True)
class TokenUse:
    """Tokens of one call, whoever the provider is, each counted once.

    `input` is what was neither read from nor written to the prompt cache. `cache_write` is what was written for five
    minutes, `cache_write_1h` what was written for an hour, which costs more. `reasoning` is the part of `output` that
    the model used to think; it is in `output` already and costs nothing more. `searches` are web searches that the
    service did itself: no tokens, but each has a price.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    reasoning: int = 0
    searches: int = 0

    def __post_init__(self) -> None:
        for name in self.__slots__:
            tokens = getattr(self, name)
            if not is_whole(tokens) or tokens < 0:
                raise UnbelievableUsageError(f"A call cannot have used {tokens!r} tokens ({name}).")
        if self.reasoning > self.output:
            raise UnbelievableUsageError(
                f"A call cannot have used {self.reasoning} tokens to think and {self.output} in all."
            )

    @property
    def prompt(self) -> int:
        """Everything the model read: the size that long-context prices go by."""
        return self.input + self.cache_read + self.cache_write + self.cache_write_1h


def token_use(usage: object) -> TokenUse:
    """The tokens of a usage as it came, object or JSON: our own, Anthropic's, OpenAI's (chat completions and responses)
    or Google's.

    Zero means zero. A count that a usage must have and does not raises UsageError, because an unread usage would be
    charged as nothing; one that cannot be true (no whole number, negative, beyond a billion) raises
    UnbelievableUsageError, which is one too. Details that are missing (cache, reasoning) are zero.

    >>> token_use({"input_tokens": 12, "output_tokens": 3, "cache_read_input_tokens": 100})
    TokenUse(input=12, output=3, cache_read=100, cache_write=0, cache_write_1h=0, reasoning=0, searches=0)
    >>> chat = {"prompt_tokens": 112, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 100}}
    >>> token_use(chat) == TokenUse(input=12, output=3, cache_read=100)
    True
    """
    return usage if isinstance(usage, TokenUse) else believable(_use(usage))


def believable(use: TokenUse) -> TokenUse:
    """The same, unless no call can have used that much: such a number would fit neither a ledger nor a database."""
    if max(use.prompt, use.output, use.searches) > MOST_TOKENS:
        raise UnbelievableUsageError(f"A call cannot have used more than {MOST_TOKENS:,} tokens.")
    return use


def _use(usage: object) -> TokenUse:
    if _has(usage, "prompt_tokens"):
        return _openai(usage, "prompt", "completion")
    if _has(usage, "input_tokens_details"):
        return _openai(usage, "input", "output")
    if _has(usage, "input_tokens"):
        return _anthropic(usage)
    if _has(usage, "promptTokenCount"):
        return _google(usage)
    if _has(usage, "input"):
        return TokenUse(
            _needed(usage, "input"),
            _needed(usage, "output"),
            *(_count(usage, field.name) for field in fields(TokenUse)[2:]),
        )
    raise UsageError(
        f"The usage of a call cannot be read from a {type(usage).__name__}.",
        next_step="Pass the reply's usage, or a TokenUse(input=…, output=…).",
    )


def _anthropic(usage: object) -> TokenUse:
    """The one-hour writes are a part of `cache_creation_input_tokens`, and `input_tokens` has nothing of the cache."""
    parts = _read(usage, "cache_creation")
    long = _count(parts, "ephemeral_1h_input_tokens")
    written = max(_count(usage, "cache_creation_input_tokens"), _count(parts, "ephemeral_5m_input_tokens") + long)
    output = _needed(usage, "output_tokens")
    return TokenUse(
        input=_needed(usage, "input_tokens"),
        output=output,
        cache_read=_count(usage, "cache_read_input_tokens"),
        cache_write=written - long,
        cache_write_1h=long,
        reasoning=min(output, _count(_read(usage, "output_tokens_details"), "thinking_tokens")),
        searches=_count(_read(usage, "server_tool_use"), "web_search_requests"),
    )


def _openai(usage: object, read: str, written: str) -> TokenUse:
    """What was read from the cache or written to it is a part of the input here. Reasoning is a part of the output,
    except with services that count it beside: their total says so."""
    prompt, output = _needed(usage, f"{read}_tokens"), _needed(usage, f"{written}_tokens")
    details = _read(usage, f"{read}_tokens_details")
    cached, stored = _count(details, "cached_tokens"), _count(details, "cache_write_tokens")
    if cached + stored > prompt:
        raise UnbelievableUsageError(f"The usage says that {cached + stored} of {prompt} tokens were cached.")
    reasoning = _count(_read(usage, f"{written}_tokens_details"), "reasoning_tokens")
    if reasoning > output or (reasoning and _count(usage, "total_tokens") == prompt + output + reasoning):
        output += reasoning
    return TokenUse(
        input=prompt - cached - stored, output=output, cache_read=cached, cache_write=stored, reasoning=reasoning
    )


def _google(usage: object) -> TokenUse:
    """What was read from the cache is a part of the prompt; what its own tools read, and what it thought, stand beside.
    A count of zero is left out."""
    prompt, cached = _needed(usage, "promptTokenCount"), _count(usage, "cachedContentTokenCount")
    if cached > prompt:
        raise UnbelievableUsageError(f"The usage says that {cached} of {prompt} tokens were cached.")
    thought = _count(usage, "thoughtsTokenCount")
    return TokenUse(
        input=prompt - cached + _count(usage, "toolUsePromptTokenCount"),
        output=_count(usage, "candidatesTokenCount") + thought,
        cache_read=cached,
        reasoning=thought,
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


def _has(source: object, name: str) -> bool:
    return _read(source, name) is not None


def _needed(source: object, name: str) -> int:
    if not _has(source, name):
        raise UsageError(
            f"The usage does not say {name}.", next_step="Pass the whole usage: without it the call would be free."
        )
    return _count(source, name)


def _count(source: object, name: str) -> int:
    value = _read(source, name)
    if value is None:
        return 0
    if not is_whole(value):
        raise UnbelievableUsageError(f"The usage says {value!r} for {name}, which is not a number of tokens.")
    return value
