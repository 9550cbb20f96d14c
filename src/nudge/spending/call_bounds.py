"""How much a request can cost at most, before anybody has counted its tokens."""

from __future__ import annotations

from nudge.model import ModelRequest, Opaque, ToolResult, ToolUse
from nudge.spending.holds import MIN_TOKENS
from nudge.tokens import most_tokens

MESSAGE_TOKENS = 12
"""For what stands around the text of one message."""
TOOL_TOKENS = 700
"""For what a service, or asking in words, adds to a request with a schema or tools; Anthropic says 290 to 530."""
CALL_TOKENS = 100
"""For what stands around one tool, its use or its result, names included."""
IMAGE_TOKENS = 5_000
"""For an image; Anthropic says at most 4,784."""
LEAST_SHARE = 4
"""An answer may be clamped to a fourth of what was asked for; a shorter one is not worth its question."""


def most_input_tokens(request: ModelRequest) -> int:
    """More tokens than the request's input has: about twice as many for English."""
    texts = request.texts()
    around = MESSAGE_TOKENS * (len(texts) + 1)
    blocks = [block for turn in request.turns for block in turn.content]
    calls = len(request.tools) + sum(isinstance(block, ToolUse | ToolResult) for block in blocks)
    if request.schema is not None or calls:
        around += TOOL_TOKENS + CALL_TOKENS * calls
    images = sum(isinstance(block, Opaque) and block.type == "image" for block in blocks)
    return around + IMAGE_TOKENS * images + sum(most_tokens(text) for text in texts)


def least_output_tokens(max_tokens: int) -> int:
    return max(MIN_TOKENS, max_tokens // LEAST_SHARE)
