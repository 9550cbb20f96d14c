"""Take secrets out of a text before anybody reads it: logs, errors, the feed, outcomes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import quote, unquote

HIDDEN = "[hidden]"
_SHORTEST = 6

_NAME = (
    r"(?:api[_-]?key|(?:secret[_-]?)?access[_-]?key|(?:auth|access|bot)[_-]?token|token|secret|password|passwd|pwd"
    r"|authorization)"
)
_QUOTE = r"\\{0,9}[\"']"  # a text inside JSON inside JSON has its quotes escaped, and escaped again

_SHAPES = (
    (re.compile(r"(?<![A-Za-z])sk-[A-Za-z0-9_-]{8,}|sk-[A-Za-z0-9_-]{32,}"), HIDDEN),
    (re.compile(r"sk-(?:ant|proj)-[A-Za-z0-9_-]{8,}", re.I), HIDDEN),
    (re.compile(r"(?<!\d)\d{6,}(?::|%3A)[A-Za-z0-9_-]{20,}", re.I), HIDDEN),  # a bot token
    (re.compile(r"(?<=/bot)\d+(?::|%3A)[^/\s\"']+", re.I), HIDDEN),
    (  # "password@host" is what our own sentences show for an example
        re.compile(
            r"(\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"']{0,99}:)(?!password@host[/:]\w+\b(?!@))[^\s\"']{1,200}(?=@)", re.I
        ),
        r"\1" + HIDDEN,
    ),
    (re.compile(r"(://)[^\s/:@\"']{16,200}(?=@)"), r"\1" + HIDDEN),
    (re.compile(r"\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}", re.I), r"\1 " + HIDDEN),
    (
        re.compile(rf"({_NAME}(?:{_QUOTE})?\s*[:=,]\s*b?{_QUOTE})(?!\[hidden)[^\"'\\]{{4,}}", re.I),
        r"\1" + HIDDEN,
    ),
    (
        re.compile(
            rf"({_NAME}(?:{_QUOTE})?\s*[:=]\s*(?!(?:\w+ )?\[hidden)(?:(?:bearer|basic|token)\s+)?)"
            r"[^\s\"',;&}\])\\]{4,}",
            re.I,
        ),
        r"\1" + HIDDEN,
    ),
)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without the known secrets and without anything that has the shape of one."""
    text = hide(text, secrets)
    for shape, instead in _SHAPES:
        text = shape.sub(instead, text)
    return text


def hide(text: str, secrets: Iterable[str]) -> str:
    """The text without the known secrets, also inside a longer word, and however JSON or a URL writes them.

    Shorter ones than six characters would take out ordinary words and are left alone.

    >>> hide("The key is s3cret/key, s3cret%2Fkey in a URL.", ["s3cret/key", "key"])
    'The key is [hidden], [hidden] in a URL.'
    """
    known = {form for secret in secrets for form in _forms(secret) if len(form) >= _SHORTEST}
    for secret in sorted(known, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text


@lru_cache(maxsize=64)
def _forms(secret: str) -> tuple[str, ...]:
    if secret.isalnum():
        return (secret,)
    escaped, plain = json.dumps(secret), json.dumps(secret, ensure_ascii=False)
    return (
        secret,
        escaped[1:-1],
        plain[1:-1],
        repr(secret)[1:-1],
        quote(secret),
        quote(secret, safe=""),
        unquote(secret),
    )
