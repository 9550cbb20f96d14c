"""Take secrets out of a text before anybody reads it: logs, errors, the feed, outcomes."""

from __future__ import annotations

import re
from collections.abc import Iterable

HIDDEN = "[hidden]"

_SHAPES = (
    (re.compile(r"sk-[A-Za-z0-9_-]{8,}"), HIDDEN),
    (re.compile(r"\b\d{6,}:[A-Za-z0-9_-]{20,}"), HIDDEN),  # a bot token
    (re.compile(r"(?<=/bot)\d+:[^/\s\"']+"), HIDDEN),
    (re.compile(r"(\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"']*:)[^\s@\"']+(?=@)", re.I), r"\1" + HIDDEN),
    (re.compile(r"\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}", re.I), r"\1 " + HIDDEN),
    (
        re.compile(
            r"((?:api[_-]?key|auth[_-]?token|access[_-]?token|bot[_-]?token|token|secret|password|passwd|pwd)"
            r"[\"']?\s*[:=]\s*[\"']?)(?!\[hidden)[^\s\"',;&}\])]{4,}",
            re.I,
        ),
        r"\1" + HIDDEN,
    ),
)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without the known secrets and without anything that has the shape of one.

    Known secrets are taken out wherever they stand, also inside a longer word; shorter ones than six characters would
    take out ordinary words and are left to the shapes.
    """
    for secret in sorted({one for one in secrets if len(one) >= 6}, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    for shape, instead in _SHAPES:
        text = shape.sub(instead, text)
    return text
