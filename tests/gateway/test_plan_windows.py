"""The windows of a subscription: read from answers, kept, and shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx2
import pytest

from nudge.instants import DAY, HOUR, MINUTE, SECOND, Instant
from nudge.spending.plan_windows import (
    PLAN,
    PlanTold,
    PlanWindow,
    asleep_until,
    nothing_spare_until,
    plan_of,
    read_windows,
)
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
            plan = await rig.store.records.get("builder", PLAN)
            assert plan is not None
            assert plan.windows == (PlanWindow("5h", 100, Instant(RESET * SECOND), True),)
            status = await rig.spending.state("builder", rig.clock.now())
            assert (status.state.value, status.refresh_at) == ("asleep", RESET * SECOND)
            (line,) = await rig.store.feed.recent(agent="builder", limit=5)
            assert line.kind == "asleep"
            wake = await rig.store.timers.get("builder", "wake")
            assert wake is not None
            assert wake.due_at == RESET * SECOND
            refused = await client.post(f"{rig.base()}/v1/messages", json=ask(), headers=HEADERS)
            assert refused.status_code == 402
            assert "nudge budget wake --agent builder" in refused.json()["error"]["message"]


HALF = Instant(10 * HOUR)
"""In the middle of a window of five hours that ends at 12:30."""
ENDS = Instant(HALF + 5 * HOUR // 2)


@pytest.mark.parametrize(
    ("windows", "until"),
    [
        pytest.param((), None, id="nothing is known"),
        pytest.param((PlanWindow("5h", 40, ENDS),), None, id="40 % used after half the time: 10 % to spare"),
        pytest.param((PlanWindow("5h", 50, ENDS),), 3 * MINUTE, id="50 % used: after one more percent of the time"),
        pytest.param((PlanWindow("5h", 80, ENDS),), 93 * MINUTE, id="80 % used: when four fifths have passed"),
        pytest.param((PlanWindow("5h", 100, ENDS, True),), 150 * MINUTE, id="used up: at the reset"),
        pytest.param(
            (PlanWindow("5h", 0, ENDS), PlanWindow("7d", 90, Instant(HALF + 3 * DAY))),
            int(0.91 * 7 * DAY) - 4 * DAY,
            id="the week has nothing to spare",
        ),
        pytest.param((PlanWindow("30d", 90, ENDS),), None, id="nobody knows how long it is"),
        pytest.param((PlanWindow("5h", 90, Instant(HALF - 1)),), None, id="it has begun again since"),
    ],
)
def test_what_would_expire_unused_is_spare(windows: tuple[PlanWindow, ...], until: int | None) -> None:
    assert nothing_spare_until(windows, HALF) == (None if until is None else HALF + until)


async def test_agents_of_one_account_know_what_the_other_was_told() -> None:
    async with gateway_on(agents=("builder", "me", "other")) as rig:
        window = PlanWindow("5h", 10, Instant(RESET * SECOND))
        for name, percent, account, at in [
            ("builder", 10, "org-1", 1),
            ("me", 80, "org-1", 2),
            ("other", 99, "org-2", 3),
        ]:
            await rig.spending.note_plan(name, PlanTold((replace(window, percent=percent),), account, Instant(at)))
        assert [one.percent for one in (await plan_of(rig.store, "builder")).windows] == [80]
