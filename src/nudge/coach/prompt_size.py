"""How much a text costs a model to read, estimated without its tokenizer: four bytes a token.

For English that is on the high side of the truth. Bytes, not letters, so that a text in Chinese is not taken for short.
"""

from __future__ import annotations

HEARTBEAT_CAP = 4_000
CONVERSATION_CAP = 8_000
TURNS_BUDGET = 2_000


def estimate(text: str) -> int:
    """Tokens of the text, rounded up.

    >>> estimate("HEARTBEAT_OK")
    3
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


def clip(text: str, tokens: int) -> str:
    """The text in at most so many tokens. Whole lines are taken out of its middle, and a line says so: what a document
    says first and what it says last (Recent Context) matter most."""
    if estimate(text) <= tokens:
        return text
    gap = "[… shortened …]"
    room = max(0, tokens * 4 - len(gap.encode()) - 2)
    head = _within(text, room * 2 // 3)
    tail = _within(text[len(head) :][::-1], room - len(head.encode("utf-8", "surrogatepass")))[::-1]
    whole_head = head.rpartition("\n")[0] or head
    whole_tail = tail.partition("\n")[2] or tail
    result = "\n".join(part for part in (whole_head, gap, whole_tail) if part)
    return result if estimate(result) <= tokens else ""


def _within(text: str, size: int) -> str:
    """The longest beginning of at most `size` bytes that does not cut a character."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= size:
        return text
    cut = max(0, size)
    while cut and data[cut] & 0xC0 == 0x80:
        cut -= 1
    return data[:cut].decode("utf-8", "surrogatepass")
