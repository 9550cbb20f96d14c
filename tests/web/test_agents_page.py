"""The list of agents: search and paging, also where there are a hundred thousand."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path

import pytest

from nudge.daemon.control_client import ask
from nudge.home.folder import Home
from nudge.instants import Instant
from nudge.queue.agents import Agent
from nudge.stores.open import open_store
from nudge.stores.store import SqlStore
from nudge.web.pages.agents import PAGE
from tests.web.site import started

MANY = 100_000


async def fill(store: SqlStore, count: int) -> None:
    params = [{"name": f"agent-{number:06}", "role": "own", "created_at": 0} for number in range(count)]
    await store.database.run_many("agents_ensure", params)


@pytest.mark.parametrize(
    "search, after, first, count",
    [
        pytest.param("", "", "agent-000000", MANY, id="the first page of all"),
        pytest.param("", "agent-054321", "agent-054322", MANY, id="a page in the middle"),
        pytest.param("4321", "", "agent-004321", 20, id="a search in the middle of names"),
        pytest.param("%", "", None, 0, id="what means something to the database means nothing here"),
    ],
)
def test_a_page_of_a_hundred_thousand(many: SqlStore, search: str, after: str, first: str | None, count: int) -> None:
    async def asked() -> tuple[list[str], int, float]:
        began = time.perf_counter()  # noqa: TID251  (what is measured is real)
        rows = await many.agents.page(search=search, after=after)
        found = await many.agents.count(search)
        return [row.name for row in rows], found, time.perf_counter() - began  # noqa: TID251

    names, found, took = asyncio.run(asked())
    assert (names[0] if names else None) == first
    assert names == sorted(names)
    assert len(names) == min(50, count)
    assert found == sum(search in f"agent-{number:06}" for number in range(MANY))
    assert took < 1.0


@pytest.fixture(scope="module")
def many() -> SqlStore:
    async def made() -> SqlStore:
        store = await open_store("sqlite://:memory:")
        await fill(store, MANY)
        return store

    return asyncio.run(made())


def test_the_page_lists_searches_and_goes_on(tmp_path: Path) -> None:
    with started(tmp_path / "home") as site:

        async def write(store: SqlStore, now: Instant) -> None:
            await fill(store, 2 * PAGE)
            await store.agents.add(Agent("odd-one", "own", now))

        site.write(write)
        cookie = site.enter()

        def shown(path: str) -> str:
            return site.request("GET", path, cookie=cookie).text

        page = shown("/agents")
        assert "102 agents" in page
        assert page.count("<tr") == PAGE + 1
        following = re.search(r'href="(/agents\?[^"]*after=[^"]*)"', page)
        assert following is not None
        second = shown(following[1].replace("&amp;", "&"))
        assert "agent-000000" not in second
        found = shown("/agents?search=odd")
        assert "1 agent<" in found
        assert "odd-one" in found
        base = asyncio.run(ask(Home(site.cli.home).socket, "/read/agents", {}))
        assert (len(base["agents"]), base["all_agents"]) == (PAGE + 1, 102), "the first page shows the first agents"
