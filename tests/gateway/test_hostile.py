"""What a hostile client may send: refused or cut, nothing charged, nothing passed on, and the gateway goes on."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from typing import Any

import httpx2
import pytest

from nudge.gateway.app import GatewayOptions
from nudge.gateway.calls import Protocol
from nudge.gateway.usage import StreamReader
from nudge.testing import FakeAnthropic, Loopback
from tests.gateway.kit import HEADERS, KEY, ask, cost_of, gateway_on

LONGEST_WORK = 0.5
BODY = json.dumps(ask()).encode()
PATH = b"/agents/builder/v1/messages"
NAMED = b"Host: 127.0.0.1\r\nx-api-key: " + KEY.encode() + b"\r\nanthropic-version: 2023-06-01\r\n"


def request(
    *headers: bytes,
    line: bytes = b"POST " + PATH + b" HTTP/1.1",
    body: bytes = BODY,
    named: bytes = NAMED,
    length: bool = True,
) -> bytes:
    counted = [b"Content-Length: %d" % len(body)] if length else []
    head = b"\r\n".join([line, named.rstrip(b"\r\n"), *headers, *counted])
    return head + b"\r\n\r\n" + body


def chunked(*pieces: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


SMUGGLED = b"POST /agents/builder/v1/messages HTTP/1.1\r\n" + NAMED + b"\r\n"
BOMB = gzip.compress(b"[" * 200_000_000, 1)

HOSTILE = [
    pytest.param(
        request(b"Transfer-Encoding: chunked", b"Content-Length: 4", body=chunked(BODY), length=False),
        id="a length and chunks",
    ),
    pytest.param(
        request(b"Transfer-Encoding: chunked", b"Transfer-Encoding: identity", body=chunked(BODY), length=False),
        id="two transfer encodings",
    ),
    pytest.param(request(b"Transfer-Encoding: xchunked", body=chunked(BODY), length=False), id="a strange encoding"),
    pytest.param(request(b"Content-Length: 3"), id="two lengths"),
    pytest.param(request(b"Content-Length: -1", length=False), id="a negative length"),
    pytest.param(request(b"Content-Length: +5", length=False), id="a length with a sign"),
    pytest.param(request(b"Content-Length: 99999999999999999999", length=False), id="a length without end"),
    pytest.param(request(b"Content-Length: 104857600", length=False, body=b"{"), id="a body of 100 MB is announced"),
    pytest.param(
        request(b"Transfer-Encoding: chunked", body=b"zz\r\n" + BODY + b"\r\n0\r\n\r\n", length=False),
        id="bad chunking",
    ),
    pytest.param(
        request(b"Transfer-Encoding: chunked", body=b"5\r\n{}\r\n0\r\n\r\n" + SMUGGLED, length=False),
        id="a chunk that hides a request",
    ),
    pytest.param(request(b"X-Huge: " + b"x" * 1_000_000), id="a huge header"),
    pytest.param(request(*[b"X-%d: y" % number for number in range(20_000)]), id="twenty thousand headers"),
    pytest.param(request(line=b"POST /" + b"a" * 100_000 + b" HTTP/1.1"), id="a huge path"),
    pytest.param(request(b"X-Bad: a\x00b"), id="a NUL in a header"),
    pytest.param(request(b"X Bad: y"), id="a space in a header's name"),
    pytest.param(request(line=b"POST /agents/builder/v1/../v1/messages HTTP/1.1"), id="dots in the path"),
    pytest.param(
        request(line=b"POST /agents/builder/agents/other/v1/messages HTTP/1.1"), id="an agent inside of an agent"
    ),
    pytest.param(
        request(line=b"POST /agents/builder%0d%0aX-Evil:1/v1/messages HTTP/1.1"), id="a line in an agent's name"
    ),
    pytest.param(request(body=BODY.replace(b"{", b'{"model": "cheap", ', 1)), id="two models"),
    pytest.param(
        request(body=BODY.replace(b"{", b'{"max\\u005ftokens": 1, ', 1)), id="two limits, one of them in disguise"
    ),
    pytest.param(
        request(line=b"POST /agents/builder/v1beta/models/m%3AgenerateContent HTTP/1.1"), id="an escaped colon"
    ),
    pytest.param(request(b"Content-Encoding: gzip, gzip"), id="a body that is packed twice"),
    pytest.param(request(line=b"POST /agents/builder/v1/%2e%2e/messages HTTP/1.1"), id="escaped dots"),
    pytest.param(request(line=b"POST //agents/builder/v1/messages HTTP/1.1"), id="two slashes"),
    pytest.param(request(line=b"POST http://169.254.169.254/v1/messages HTTP/1.1"), id="another server in the line"),
    pytest.param(request(line=b"POST /agents/builder/@evil.example/v1/messages HTTP/1.1"), id="a server in the path"),
    pytest.param(request(line=b"CONNECT evil.example:443 HTTP/1.1"), id="a tunnel"),
    pytest.param(request(line=b"POST /agents/nobody/v1/messages HTTP/1.1"), id="an agent that there is not"),
    pytest.param(request(line=b"POST /v1/messages HTTP/1.1"), id="no agent at all"),
    pytest.param(request(named=NAMED.replace(KEY.encode(), b"nudge.builder." + b"A" * 43)), id="a forged token"),
    pytest.param(request(b"x-nudge-token: nudge.other.abc"), id="a token of another agent"),
    pytest.param(request(b"x-api-key: nudge.builder.abc"), id="two keys"),
    pytest.param(request(named=NAMED.replace(b"127.0.0.1", b"rebound.example")), id="a name that was led here"),
    pytest.param(request(named=NAMED.replace(b"Host: 127.0.0.1\r\n", b"")), id="no name"),
    pytest.param(request(body=b'{"model": "m", "max_tokens": 1, "max_tokens": 99999}'), id="two limits"),
    pytest.param(request(body=b"[" * 1_000_000), id="a million brackets"),
    pytest.param(request(body=b'{"model": "m", "max_tokens": 1e999, "messages": []}'), id="an endless limit"),
    pytest.param(request(b"Content-Encoding: gzip", body=BOMB), id="a body that unpacks to 200 MB"),
    pytest.param(request(b"Content-Encoding: gzip", body=b"not gzip"), id="a body that does not unpack"),
    pytest.param(request(b"Content-Encoding: zstd", body=BODY), id="a compression that we cannot read"),
    pytest.param(request(line=b"GET /agents/builder/v1/messages HTTP/1.1\r\nUpgrade: websocket"), id="a websocket"),
    pytest.param(request(b"Content-Length: 500", length=False, body=BODY[:20]), id="a body that never ends"),
    pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20, id="TLS to a plain port"),
    pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", id="HTTP/2"),
]


@pytest.mark.parametrize("raw", HOSTILE)
async def test_hostile_input_costs_nothing_and_reaches_nobody(raw: bytes) -> None:
    with FakeAnthropic() as service:
        async with gateway_on(service.url, options=GatewayOptions(body_seconds=0.3)) as rig:
            port = int(rig.url.rpartition(":")[2])
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(raw)
                await asyncio.wait_for(writer.drain(), 5)
                answer = await asyncio.wait_for(reader.read(65_536), 5)
            except ConnectionError:
                answer = b""
            finally:
                writer.close()
            assert answer == b"" or answer.startswith(b"HTTP/1.1 4"), answer[:200]
            assert service.requests == []
            assert await rig.spent() == 0
            assert await rig.held() == 0
            async with httpx2.AsyncClient() as client:
                good = await client.post(f"{rig.base()}/v1/messages", json=ask(), headers=HEADERS)
            assert good.status_code == 200, "the gateway goes on"


async def test_timers_keep_their_lag_meanwhile() -> None:
    """Between two ticks of a timer the loop never works for long, whatever arrives. Counted in processor time, because
    other programs on the machine may keep us waiting too."""
    worked: list[float] = []

    async def tick() -> None:
        while True:
            began = time.thread_time()
            await asyncio.sleep(0.005)
            worked.append(time.thread_time() - began)

    async def attack(port: int, raw: bytes) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(raw)
            await asyncio.wait_for(writer.drain(), 20)
            await asyncio.wait_for(reader.read(65_536), 20)
        except (ConnectionError, TimeoutError):
            pass
        finally:
            writer.close()

    with FakeAnthropic() as service:
        async with gateway_on(service.url, options=GatewayOptions(body_seconds=0.3)) as rig:
            port = int(rig.url.rpartition(":")[2])
            ticking = asyncio.create_task(tick())
            for one in HOSTILE:
                await asyncio.gather(*(attack(port, one.values[0]) for _ in range(3)))
            ticking.cancel()
            assert service.requests == []
            assert await rig.spent() == 0
    assert max(worked) < LONGEST_WORK, sorted(worked)[-5:]


async def test_requests_in_one_packet_are_answered_one_after_the_other_and_each_pays() -> None:
    with FakeAnthropic() as service:
        async with gateway_on(service.url) as rig:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(rig.url.rpartition(":")[2]))
            writer.write(request() + request() + request(b"Connection: close"))
            said = await asyncio.wait_for(reader.read(), 20)
            writer.close()
            assert said.count(b"HTTP/1.1 200") == 3
            assert [call.result for call in await rig.calls()] == ["done"] * 3
            assert await rig.spent() == cost_of(service.served) > 0


async def test_a_client_that_waits_for_a_go_gets_one() -> None:
    with FakeAnthropic() as service:
        async with gateway_on(service.url) as rig:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(rig.url.rpartition(":")[2]))
            head, _, body = request(b"Expect: 100-continue", b"Connection: close").partition(b"\r\n\r\n")
            writer.write(head + b"\r\n\r\n")
            assert b"100" in await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)
            writer.write(body)
            assert b"HTTP/1.1 200" in await asyncio.wait_for(reader.read(), 20)
            writer.close()
            assert await rig.spent() == cost_of(service.served) > 0


def service_that(seen: list[str], status: int, body: bytes, *headers: tuple[bytes, bytes]) -> Loopback:
    """One that answers everything so, and notes what it was asked."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["path"])
        await send({"type": "http.response.start", "status": status, "headers": headers})
        for start in range(0, len(body) or 1, 1 << 16):
            more = start + (1 << 16) < len(body)
            await send({"type": "http.response.body", "body": body[start : start + (1 << 16)], "more_body": more})

    return Loopback(app)


JSON = (b"content-type", b"application/json")
EVENTS = (b"content-type", b"text/event-stream")


def told(usage: object) -> bytes:
    return json.dumps({"type": "message", "model": "claude-sonnet-5-5", "content": [], "usage": usage}).encode()


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        pytest.param(told({"input_tokens": -5, "output_tokens": 3}), JSON, id="fewer than nothing"),
        pytest.param(told({"input_tokens": 5.5, "output_tokens": 3}), JSON, id="half a token"),
        pytest.param(told({"input_tokens": "5", "output_tokens": 3}), JSON, id="a text"),
        pytest.param(told({"input_tokens": 10**30, "output_tokens": 3}), JSON, id="more than there is"),
        pytest.param(told({"input_tokens": True, "output_tokens": 3}), JSON, id="yes"),
        pytest.param(told([1, 2]), JSON, id="a list"),
        pytest.param(b"[" * 100_000, JSON, id="a hundred thousand brackets"),
        pytest.param(b"data: " + b"x" * 20_000_000 + b"\n\n", EVENTS, id="an event of 20 MB"),
    ],
)
async def test_a_service_that_lies_about_its_usage_is_paid_the_worst_case_at_most(
    body: bytes, kind: tuple[bytes, bytes]
) -> None:
    with service_that([], 200, body, kind) as server:
        async with gateway_on(server.url) as rig, httpx2.AsyncClient(timeout=60) as client:
            said = await client.post(f"{rig.base()}/v1/messages", json=ask(max_tokens=2_000), headers=HEADERS)
            assert said.content == body, "it passes as it came"
            (call,) = await rig.calls()
            assert 0 < await rig.spent() <= call.held
            assert await rig.held() == 0


async def test_a_redirect_goes_to_the_client_and_the_key_nowhere_else() -> None:
    seen: list[str] = []
    moved = (b"location", b"http://127.0.0.1:9/v1/messages")
    with service_that(seen, 307, b"", moved) as server:
        async with gateway_on(server.url) as rig, httpx2.AsyncClient() as client:
            said = await client.post(f"{rig.base()}/v1/messages", json=ask(), headers=HEADERS)
            assert (said.status_code, said.headers["location"]) == (307, moved[1].decode())
            assert await rig.held() == 0
    assert seen == ["/v1/messages"]


def test_a_huge_event_is_read_in_the_time_of_its_bytes() -> None:
    reader, piece = StreamReader(Protocol.MESSAGES), b"x" * 4_096
    began = time.thread_time()
    for _ in range(3_900):
        reader.feed(piece)
    assert time.thread_time() - began < LONGEST_WORK
    assert not reader.between_events
