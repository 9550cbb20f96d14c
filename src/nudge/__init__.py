"""nudge: an always-on agent that acts on time, knows when not to interrupt, never overspends, and can prove it.

What this module exports is the public API. Names are loaded when they are first used, so that `import nudge` costs
next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PLACES: dict[str, str] = {}

if TYPE_CHECKING:
    pass

__all__ = ["__version__", *_PLACES]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'nudge' has no attribute {name!r}")
    value = getattr(import_module(place), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
