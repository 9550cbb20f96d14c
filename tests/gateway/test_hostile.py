"""What a hostile client may send: refused or cut, nothing charged, nothing passed on, and the gateway goes on."""

from __future__ import annotations

import asyncio
import gzip
import json
import time

import httpx2
import pytest

from nudge.gateway.app import GatewayOptions
from nudge.testing import FakeAnthropic
from tests.gateway.kit import HEADERS, KEY, ask, gateway_on

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
