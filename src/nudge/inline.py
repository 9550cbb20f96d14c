"""Coroutines that never wait, run without an event loop.

SQLite and what lives in memory answer at once. A command that only reads saves the import of asyncio this way, and a
plain `with` shares its code with `async with`.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run_inline(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    coroutine.close()
    raise RuntimeError("a coroutine that must not wait did")
