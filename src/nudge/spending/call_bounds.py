"""How much a request can cost at most, before anybody has counted its tokens."""

from __future__ import annotations

import json

from nudge.model import ModelRequest, Usage
from nudge.spending.holds import MIN_TOKENS
from nudge.tokens import TokenUse, most_tokens

MESSAGE_TOKENS = 12
"""For what stands around the text of one message."""
TOOL_TOKENS = 700
"""For what a service adds to a request with a schema; Anthropic says 290 to 530."""
LEAST_SHARE = 4
"""An answer may be clamped to a fourth of what was asked for; a shorter one is not worth its question."""


def most_input_tokens(request: ModelRequest) -> int:
    """More tokens than the request's input has: about twice as many for English."""
    texts = [request.system, *(turn.text for turn in request.turns)]
    around = MESSAGE_TOKENS * (len(texts) + 1)
    if request.schema is not None:
        texts.append(json.dumps(dict(request.schema), default=str))
        around += TOOL_TOKENS
    return around + sum(most_tokens(text) for text in texts)


def least_output_tokens(max_tokens: int) -> int:
    return max(MIN_TOKENS, max_tokens // LEAST_SHARE)


def as_use(usage: Usage) -> TokenUse:
    return TokenUse(usage.input, usage.output, usage.cache_read, usage.cache_write)
