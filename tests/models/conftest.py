"""One provider after the other, each with its fake."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.models.providers import KEY, PROVIDERS, Provider, World


@pytest.fixture(params=PROVIDERS, ids=lambda provider: provider.name)
def provider(request: pytest.FixtureRequest) -> Provider:
    found: Provider = request.param
    return found


@pytest.fixture
async def world(provider: Provider) -> AsyncIterator[World]:
    with provider.fake(KEY, shortest_cached=4) as service:
        world = World(provider, service)
        yield world
        for model in world.opened:
            await model.close()
