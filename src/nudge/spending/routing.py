"""Routing: which model answers for which tier and purpose.

Questions that come up all day go to the small model; only work in a premium tier goes to the large one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nudge.errors import ConfigError, UsageError

HAIKU = "claude-haiku-5-5"
SONNET = "claude-sonnet-5-5"
OPUS = "claude-opus-5-5"

PURPOSES = ("heartbeat", "conversation", "briefing", "review", "summary", "work")
STANDARD = "standard"
PREMIUM = "premium"
EVERY_TIER = "*"
DEFAULT = "default"
"""Stands for every purpose that a configuration does not name."""

_STANDARD_ROUTES = {
    "heartbeat": HAIKU,
    "conversation": SONNET,
    "briefing": SONNET,
    "review": SONNET,
    "summary": HAIKU,
    "work": SONNET,
}


@dataclass(frozen=True, slots=True)
class Routes:
    """A model for every (tier, purpose). Tiers are "standard" and "premium", and those that a configuration adds.

    >>> routes = Routes.of({"premium": {"review": "claude-opus-5-5"}, "*": {"summary": "claude-haiku-4-5"}})
    >>> routes.model("premium", "work"), routes.model("standard", "work"), routes.model("standard", "summary")
    ('claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-4-5')
    >>> Routes.of({"*": {"default": "qwen3:8b"}}).model("premium", "work")
    'qwen3:8b'
    """

    table: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, overlay: Mapping[str, Any] | None = None) -> Routes:
        """The defaults with a configuration laid over them: tier → purpose → model.

        The tier "*" is laid over all of them, and what a tier states itself over that. A tier that is not known yet is
        added, with the standard routes where it states none. The purpose "default" stands for all that are not named.
        """
        stated = {tier: _checked(tier, routes) for tier, routes in (overlay or {}).items()}
        everywhere = stated.pop(EVERY_TIER, {})
        defaults: dict[str, dict[str, str]] = {tier: dict(_STANDARD_ROUTES) for tier in (STANDARD, PREMIUM, *stated)}
        defaults[PREMIUM]["work"] = OPUS
        return cls({tier: {**routes, **everywhere, **stated.get(tier, {})} for tier, routes in defaults.items()})

    def model(self, tier: str, purpose: str) -> str:
        """The model for a purpose in a tier; an error that lists what there is where either is not known."""
        if tier not in self.table:
            raise UsageError(
                f"There is no tier called {tier!r}.", next_step=f"Use one of {', '.join(self.table)}, or configure it."
            )
        if purpose not in self.table[tier]:
            raise UsageError(f"There is no purpose called {purpose!r}.", next_step=f"Use one of {', '.join(PURPOSES)}.")
        return self.table[tier][purpose]


def _checked(tier: str, routes: object) -> dict[str, str]:
    if not isinstance(routes, Mapping):
        raise ConfigError(f"The routes of tier {tier!r} must be a section of purposes.")
    for purpose, model in routes.items():
        if purpose not in (*PURPOSES, DEFAULT):
            raise ConfigError(
                f"The routes of tier {tier!r} name the unknown purpose {purpose!r}.",
                next_step=f"Use one of {', '.join((*PURPOSES, DEFAULT))}.",
            )
        if not isinstance(model, str) or not model.strip():
            raise ConfigError(f"The route of tier {tier!r} for {purpose} needs the id of a model, not {model!r}.")
    spread = {purpose: str(routes[DEFAULT]) for purpose in PURPOSES if DEFAULT in routes}
    return spread | {purpose: model for purpose, model in routes.items() if purpose != DEFAULT}
