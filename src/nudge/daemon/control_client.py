"""Talk to the daemon over its socket. A few lines of HTTP by hand: the standard client takes longer to import than the
whole of `nudge status` may."""

from __future__ import annotations

import json
import socket
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nudge.errors import DaemonUnreachableError, NotFoundError, NudgeError, UsageError
from nudge.home.folder import foreign

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


class _NobodyError(DaemonUnreachableError):
    """No daemon is running here."""


def call(path: Path, method: str, route: str, body: dict[str, Any] | None = None, *, timeout: float = 15.0) -> Any:
    """One request, one JSON answer."""
    received = b""
    with _reaching(path), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout)
        connection.connect(str(path))
        connection.sendall(_request(method, route, body))
        while chunk := connection.recv(65_536):
            received += chunk
    return _answer(received)


def _request(method: str, route: str, body: dict[str, Any] | None) -> bytes:
    content = json.dumps(body).encode() if body is not None else b""
    head = f"{method} {route} HTTP/1.1\r\nHost: nudge\r\nConnection: close\r\nContent-Length: {len(content)}\r\n"
    if content:
        head += "Content-Type: application/json\r\n"
    return head.encode() + b"\r\n" + content


@contextmanager
def _reaching(path: Path) -> Iterator[None]:
    """Says in our words why the daemon at this socket cannot be reached."""
    if foreign(path.parent):
        raise DaemonUnreachableError(
            f"{path.parent} belongs to another user.", next_step="Remove it, or use a shorter NUDGE_HOME."
        )
    try:
        yield
    except TimeoutError:
        raise DaemonUnreachableError(
            "The daemon does not answer.", next_step="Try again in a moment, or run 'nudge stop'."
        ) from None
    except OSError:
        raise _NobodyError(next_step="Start it with 'nudge run'.") from None


def refusal(code: int, answer: Any) -> NudgeError:
    """What the daemon refused, as the error that it was."""
    told = answer if isinstance(answer, dict) else {}
    kinds: dict[int, type[NudgeError]] = {2: UsageError, 3: NotFoundError}
    kind = kinds.get(told.get("exit_code", 1), NudgeError)
    return kind(str(told.get("error", f"The daemon refused ({code}).")), next_step=told.get("next_step"))


def poke(path: Path) -> bool:
    """Tell the daemon that something changed; False if there is none. One that is busy notices by itself, later."""
    try:
        call(path, "POST", "/poke", timeout=2.0)
    except _NobodyError:
        return False
    except NudgeError:
        pass
    return True


def _unchunked(payload: bytes) -> bytes:
    parts = []
    while payload:
        size, _, payload = payload.partition(b"\r\n")
        length = int(size.split(b";")[0] or b"0", 16)
        if length == 0:
            break
        parts.append(payload[:length])
        payload = payload[length + 2 :]
    return b"".join(parts)


async def ask(path: Path, route: str, body: dict[str, Any], *, patience: float = 15.0) -> Any:
    """The same as `call` for whoever must not wait in the meantime: POST, one JSON answer."""
    import asyncio

    with _reaching(path):
        async with asyncio.timeout(patience):
            reader, writer = await asyncio.open_unix_connection(str(path))
            try:
                writer.write(_request("POST", route, body))
                received = await reader.read(-1)
            finally:
                writer.close()
    return _answer(received)


async def events(path: Path, after: str | None = None) -> AsyncIterator[bytes]:
    """The daemon's events as it sends them, from behind a place or from now on, until it ends or is gone."""
    import asyncio

    place = f"Last-Event-ID: {after}\r\n" if after else ""
    with _reaching(path):
        reader, writer = await asyncio.open_unix_connection(str(path), limit=2**20)
    try:
        writer.write(f"GET /events HTTP/1.1\r\nHost: nudge\r\n{place}Connection: close\r\n\r\n".encode())
        header = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in header.split(b"\r\n", 1)[0]:
            raise _refused(header + await reader.read(-1))
        while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
            yield (await reader.readexactly(size + 2))[:-2]
    except (OSError, EOFError, ValueError):
        return
    finally:
        writer.close()


def _refused(received: bytes) -> NudgeError:
    try:
        _answer(received)
    except NudgeError as error:
        return error
    return DaemonUnreachableError("The daemon's answer cannot be read.", next_step="See its log in logs/.")


def _answer(received: bytes) -> Any:
    header, _, payload = received.partition(b"\r\n\r\n")
    if b"transfer-encoding: chunked" in header.lower():
        payload = _unchunked(payload)
    try:
        answer = json.loads(payload)
        code = int(header.split(b" ", 2)[1])
    except (ValueError, IndexError):
        raise DaemonUnreachableError("The daemon's answer cannot be read.", next_step="See its log in logs/.") from None
    if code >= 400:
        raise refusal(code, answer)
    return answer
