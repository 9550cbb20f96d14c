"""The dead-man's switch against a real server on this machine, and the log of decisions on a real disk."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from nudge.channels.healthcheck import Healthcheck
from nudge.errors import RetryableError
from nudge.home.decision_log import DecisionFile
from nudge.testing.loopback import Bell, Loopback
from tests.coach.outside import everything_said

SECRET = "0b5c-secret-4711"


class Watcher:
    """A service that counts the signs of life it gets."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self._bell = Bell()
        self.server = Loopback(
            Starlette(
                routes=[
                    Route(f"/ping/{SECRET}", self.ok),
                    Route(f"/moved/{SECRET}", self.moved),
                    Route(f"/gone/{SECRET}", self.gone),
                    Route(f"/hang/{SECRET}", self.hang),
                ]
            )
        )

    async def ok(self, request: Request) -> Response:
        self.calls.append((request.method, request.url.path))
        return PlainTextResponse("OK")

    async def moved(self, request: Request) -> Response:
        return RedirectResponse(f"/ping/{SECRET}")

    async def gone(self, request: Request) -> Response:
        return PlainTextResponse("no such check", 404)

    async def hang(self, request: Request) -> Response:
        await self._bell.heard(lambda: False, None, request)
        return PlainTextResponse("too late")


@pytest.fixture
def watcher() -> Iterator[Watcher]:
    service = Watcher()
    with service.server:
        yield service


@pytest.mark.parametrize("path", ["ping", "moved"])
async def test_a_sign_of_life_arrives(watcher: Watcher, path: str) -> None:
    await Healthcheck(f"{watcher.server.url}/{path}/{SECRET}").report()
    assert watcher.calls == [("GET", f"/ping/{SECRET}")]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        pytest.param("gone", "status 404", id="a check that was deleted"),
        pytest.param("hang", "ReadTimeout", id="a service that takes the call and says nothing"),
    ],
)
async def test_a_service_that_does_not_take_it_may_do_so_later(watcher: Watcher, path: str, why: str) -> None:
    with pytest.raises(RetryableError, match=why) as caught:
        await Healthcheck(f"{watcher.server.url}/{path}/{SECRET}", timeout=0.2).report()
    assert SECRET not in everything_said(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        pytest.param(f"http://127.0.0.1:1/{SECRET}", id="nobody listens"),
        pytest.param(f"http://[{SECRET}", id="no address at all"),
        pytest.param(f"ftp://127.0.0.1/{SECRET}", id="an unknown protocol"),
        pytest.param(SECRET, id="only a key"),
    ],
)
async def test_an_address_that_leads_nowhere_is_not_shown(url: str) -> None:
    with pytest.raises(RetryableError, match="did not answer") as caught:
        await Healthcheck(url, timeout=0.2).report()
    assert SECRET not in everything_said(caught.value)
    assert SECRET not in repr(Healthcheck(url))


# heartbeat.log


def test_each_decision_is_a_line_that_only_the_person_can_read(tmp_path: Path) -> None:
    decisions = DecisionFile(tmp_path / "logs", ["4711-secret"])
    decisions({"decision": "message", "message": "Grüße,\nüber zwei Zeilen", "reason": "the key 4711-secret"})
    decisions({"decision": "heartbeat_ok", "odd": {1, 2}.__class__})
    path = tmp_path / "logs" / "heartbeat.log"
    first, second = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    assert first == {"decision": "message", "message": "Grüße,\nüber zwei Zeilen", "reason": "the key [hidden]"}
    assert second["decision"] == "heartbeat_ok"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_log_that_has_grown_begins_anew_and_keeps_the_one_before(tmp_path: Path) -> None:
    decisions = DecisionFile(tmp_path, largest=120)
    for number in range(5):
        decisions({"number": number, "reason": "x" * 30})
    kept = [(tmp_path / name).read_text().splitlines() for name in ("heartbeat.log.1", "heartbeat.log")]
    assert [[json.loads(line)["number"] for line in lines] for lines in kept] == [[2, 3], [4]]


def test_a_disk_that_refuses_costs_the_line_and_not_the_heartbeat(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "logs").write_text("a file where the folder should be")
    DecisionFile(tmp_path / "logs")({"decision": "message"})
    assert "could not be logged" in caplog.text


def test_half_a_surrogate_pair_does_not_stop_it(tmp_path: Path) -> None:
    DecisionFile(tmp_path)({"message": "\ud83d"})
    assert json.loads((tmp_path / "heartbeat.log").read_text()) == {"message": "?"}
