from __future__ import annotations

from typing import Any

import pytest

from nudge.errors import ConfigError, UsageError
from nudge.home.prices import load_prices
from nudge.model import Purpose
from nudge.spending.routing import PURPOSES, Routes

SHIPPED = load_prices()


@pytest.mark.parametrize(
    ("tier", "purpose", "family"),
    [
        ("standard", "heartbeat", "haiku"),
        ("standard", "conversation", "sonnet"),
        ("standard", "work", "sonnet"),
        ("standard", "summary", "haiku"),
        ("standard", "briefing", "sonnet"),
        ("standard", "review", "sonnet"),
        ("premium", "heartbeat", "haiku"),
        ("premium", "conversation", "sonnet"),
        ("premium", "work", "opus"),
        ("premium", "summary", "haiku"),
    ],
)
def test_the_defaults_route_by_tier_and_purpose(tier: str, purpose: str, family: str) -> None:
    model = Routes.of().model(tier, purpose)
    assert SHIPPED.families[model] == family
    assert SHIPPED.quote(family).priced_as == model, "the current model of its family, with a price"


def test_every_purpose_of_the_model_port_has_a_route_in_every_tier() -> None:
    assert set(PURPOSES) == {str(purpose) for purpose in Purpose}
    for tier in ("standard", "premium"):
        assert all(Routes.of().model(tier, purpose) for purpose in Purpose)


@pytest.mark.parametrize(
    ("overlay", "tier", "purpose", "expected"),
    [
        pytest.param({"premium": {"work": "mine"}}, "premium", "work", "mine", id="one route of one tier"),
        pytest.param({"premium": {"work": "mine"}}, "standard", "work", "claude-sonnet-5-5", id="the others stay"),
        pytest.param({"*": {"heartbeat": "mine"}}, "premium", "heartbeat", "mine", id="all tiers at once"),
        pytest.param({"*": {"work": "a"}, "premium": {"work": "b"}}, "premium", "work", "b", id="its own word wins"),
        pytest.param({"team": {"work": "mine"}}, "team", "summary", "claude-haiku-5-5", id="a tier of one's own"),
        pytest.param({}, "premium", "work", "claude-opus-5-5", id="an empty configuration"),
    ],
)
def test_a_configuration_is_laid_over_the_defaults(
    overlay: dict[str, Any], tier: str, purpose: str, expected: str
) -> None:
    assert Routes.of(overlay).model(tier, purpose) == expected


def test_unknown_names_are_refused_with_what_there_is() -> None:
    with pytest.raises(UsageError, match=r"no tier called 'gold'.*standard, premium"):
        Routes.of().model("gold", "work")
    with pytest.raises(UsageError, match=r"no purpose called 'play'.*heartbeat"):
        Routes.of().model("standard", "play")
    with pytest.raises(UsageError, match="no tier called"):
        Routes.of({"*": {}}).model("*", "work")


@pytest.mark.parametrize(
    "overlay", [{"premium": {"wrok": "m"}}, {"premium": {"work": ""}}, {"premium": {"work": 3}}, {"premium": "opus"}]
)
def test_a_broken_configuration_is_refused(overlay: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="tier 'premium'"):
        Routes.of(overlay)
