"""A service and clients for the gateway's benchmark that take next to no processor time themselves.

Three processes share the machine: clients, gateway and service. With ordinary HTTP libraries at both ends, what is
measured is mostly those. `python -m benchmarks.load` is the service: it answers as Anthropic does, plain and streamed,
prints its address and counts what it served (`GET /served`).
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

MODEL = "claude-sonnet-5-5"
INPUT, OUTPUT = 8, 200
PIECES = 10
PAUSE = 0.01
_USAGE = {"input_tokens": INPUT, "output_tokens": OUTPUT}
_MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "stop_sequence": None}


class Service(asyncio.Protocol):
    served = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end].lower()
            length = int(_header(head, b"content-length") or 0)
            if len(self._buffer) < end + 4 + length:
                return
            body, self._buffer = self._buffer[end + 4 : end + 4 + length], self._buffer[end + 4 + length :]
            self._answer(head, body)

    def _answer(self, head: bytes, body: bytes) -> None:
        if head.startswith(b"get"):
            self._whole(json.dumps(Service.served).encode())
            return
        Service.served += 1
        if json.loads(body).get("stream"):
            head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            self._transport.write(head)
            self._stream(_events())
        else:
            text = [{"type": "text", "text": "word " * OUTPUT}]
            self._whole(json.dumps({**_MESSAGE, "content": text, "stop_reason": "end_turn", "usage": _USAGE}).encode())

    def _whole(self, body: bytes) -> None:
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
        self._transport.write(head + body)

    def _stream(self, events: Iterator[bytes]) -> None:
        event = next(events, b"")
        self._transport.write(b"%x\r\n%s\r\n" % (len(event), event))
        if event:
            asyncio.get_running_loop().call_later(PAUSE, self._stream, events)


def _events() -> Iterator[bytes]:
    start = {**_MESSAGE, "content": [], "stop_reason": None, "usage": {**_USAGE, "output_tokens": 1}}
    yield _event("message_start", message=start)
    yield _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    for _ in range(PIECES):
        delta = {"type": "text_delta", "text": "word " * (OUTPUT // PIECES)}
        yield _event("content_block_delta", index=0, delta=delta)
    yield _event("content_block_stop", index=0)
    done = {"stop_reason": "end_turn", "stop_sequence": None}
    yield _event("message_delta", delta=done, usage=_USAGE) + _event("message_stop")


def _event(kind: str, **more: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n".encode()


def _header(head: bytes, name: bytes) -> bytes:
    start = head.find(b"\r\n" + name + b":")
    return b"" if start < 0 else head[start + len(name) + 3 :].partition(b"\r\n")[0].strip()


@dataclass
class Client:
    """One connection, kept between calls. `path` and `headers` are those of its calls."""

    port: int
    path: str = "/v1/messages"
    headers: dict[str, str] = field(default_factory=dict)
    model: str = MODEL
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, max_tokens: int = 250, *, stream: bool = False) -> tuple[int, float]:
        """The status, and how many seconds the first byte of the answer took. A kept connection that the other side
        closed meanwhile is opened again, as clients do."""
        kept = self._streams is not None
        try:
            return await self._ask(max_tokens, stream=stream)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.close()
            if not kept:
                raise
            return await self._ask(max_tokens, stream=stream)

    async def _ask(self, max_tokens: int, *, stream: bool) -> tuple[int, float]:
        body = json.dumps(
            {
                "model": self.model,
                "max_tokens": max_tokens,
                "messages": [{"role": "user", "content": "Hi"}],
                "stream": stream,
            }
        ).encode()
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self._streams
        named = {
            "host": f"127.0.0.1:{self.port}",
            "content-type": "application/json",
            "anthropic-version": "2023-06-01",
            **self.headers,
            "content-length": str(len(body)),
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
        began = time.perf_counter()
        writer.write(f"POST {self.path} HTTP/1.1\r\n{lines}\r\n".encode() + body)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = _header(head, b"content-length")
        if length:
            await reader.readexactly(int(length))
            first = time.perf_counter() - began
        else:
            size = int(await reader.readline(), 16)
            first = time.perf_counter() - began
            while size:
                await reader.readexactly(size + 2)
                size = int(await reader.readline(), 16)
            await reader.readexactly(2)
        if _header(head, b"connection") == b"close":
            self.close()
        return int(head[9:12]), first

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def served(port: int) -> int:
    """How many calls the service answered."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /served HTTP/1.1\r\nhost: here\r\n\r\n")
    head = await reader.readuntil(b"\r\n\r\n")
    count = int(await reader.readexactly(int(_header(head.lower(), b"content-length"))))
    writer.close()
    return count


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(Service, "127.0.0.1", 0, backlog=512)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve())
