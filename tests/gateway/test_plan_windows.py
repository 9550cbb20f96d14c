"""The windows of a subscription: read from answers, kept, and shown."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from nudge.instants import SECOND, Instant
from nudge.spending.plan_windows import PLAN_WINDOWS, PlanWindow, asleep_until, read_windows
from nudge.testing import Loopback
from tests.gateway.kit import HEADERS, ask, gateway_on

P = b"anthropic-ratelimit-unified-"
RESET = 4_000_000_000


def told(**fields: str) -> list[tuple[bytes, bytes]]:
    return [(P + name.replace("_", "-").encode(), value.encode()) for name, value in fields.items()]


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        pytest.param([], [], id="no windows"),
        pytest.param(
            [(P + b"5h-status", b"allowed"), (P + b"5h-reset", b"%d" % RESET), (P + b"5h-utilization", b"0.42")],
            [("5h", 42, False)],
            id="one that has room",
        ),
        pytest.param(
            [
                *[(P + b"5h-status", b"rejected"), (P + b"5h-reset", b"%d" % RESET), (P + b"5h-utilization", b"1.0")],
                *[(P + b"7d-status", b"allowed_warning"), (P + b"7d-reset", b"%d" % (RESET + 9))],
                *[(P + b"status", b"rejected"), (P + b"reset", b"%d" % RESET)],
            ],
            [("5h", 100, True), ("7d", 0, False)],
            id="one that is used up",
        ),
        pytest.param(
            [(P + b"status", b"rejected"), (P + b"reset", b"%d" % RESET), (P + b"representative-claim", b"seven_day")],
            [("7d", 100, True)],
            id="only the whole plan, with the window that counts",
        ),
        pytest.param(
            [(P + b"5h-status", b"rejected"), (P + b"5h-reset", b"soon"), (P + b"5h-utilization", b"nan")],
            [],
            id="no time to wake at",
        ),
        pytest.param(
            [(P + b"5h-status", b"allowed"), (P + b"5h-reset", b"%d" % RESET), (P + b"5h-utilization", b"nan")],
            [("5h", 0, False)],
            id="a number that is none",
        ),
    ],
)
def test_windows_are_read(headers: list[tuple[bytes, bytes]], expected: list[tuple[str, int, bool]]) -> None:
    assert [(one.name, one.percent, one.used_up) for one in read_windows(headers)] == expected


def test_it_sleeps_until_the_last_used_up_window_begins_again() -> None:
    windows = (PlanWindow("5h", 100, Instant(50), True), PlanWindow("7d", 100, Instant(90), True))
    more = (*windows, PlanWindow("30d", 3, Instant(200)))
    assert asleep_until(more, Instant(10)) == 90
    assert asleep_until(more, Instant(60)) == 90
    assert asleep_until(more, Instant(90)) is None


async def test_the_gateway_keeps_what_the_service_says() -> None:
    async def service(scope: Any, receive: Any, send: Any) -> None:
        headers = [*told(status="rejected", reset=str(RESET)), (P + b"5h-status", b"rejected")]
        headers += [(P + b"5h-reset", b"%d" % RESET), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 429, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"type": "error"}'})

    with Loopback(service) as server:
        async with gateway_on(server.url) as rig, httpx2.AsyncClient() as client:
            said = await client.post(f"{rig.base()}/v1/messages", json=ask(), headers=HEADERS)
            assert said.status_code == 429
            await rig.settled()
            windows = await rig.store.records.get("builder", PLAN_WINDOWS)
    assert windows == (PlanWindow("5h", 100, Instant(RESET * SECOND), True),)
