"""Every provider of the configuration can be opened from its settings."""

from __future__ import annotations

import pytest

from nudge.home.config import PROVIDERS
from nudge.models import MODELS, open_model
from nudge.models.remote import RemoteModel
from tests.coach.outside import HastyClock


def test_configuration_and_registry_name_the_same_providers() -> None:
    assert list(MODELS) == list(PROVIDERS)


@pytest.mark.parametrize("name", MODELS)
async def test_every_provider_opens_from_its_settings(name: str) -> None:
    model = open_model(name, dict.fromkeys(PROVIDERS[name][:1], "sk-x"), clock=HastyClock())
    assert isinstance(model, RemoteModel)
    assert model.name == name
    await model.close()
