"""The service behind the gateway: the same request, sent on, and its raw answer."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlsplit

import httpx2

from nudge.errors import NotConfiguredError
from nudge.gateway.calls import Protocol
from nudge.gateway.routes import RUN_HEADER, Route
from nudge.tls import tls_context

PROVIDERS = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com/v1"}
TOKEN_HEADER = "x-nudge-token"  # noqa: S105
CONNECT_SECONDS = 20.0
SILENCE_SECONDS = 900.0
"""How long a service may think without a word; it sends pings in a stream."""

RawHeaders = Sequence[tuple[bytes, bytes]]

_HOP = {
    b"connection",
    b"keep-alive",
    b"proxy-authenticate",
    b"proxy-authorization",
    b"proxy-connection",
    b"te",
    b"trailer",
    b"transfer-encoding",
    b"upgrade",
}
_OURS = {b"host", b"content-length", b"expect", RUN_HEADER.encode(), TOKEN_HEADER.encode()}
_CREDENTIALS = {b"authorization", b"x-api-key"}
_READABLE = ("gzip", "deflate", "identity")


class Upstreams:
    """The services, by provider. Redirects go to the client: only the operator decides which service is called."""

    def __init__(self, addresses: Mapping[str, str], keys: Mapping[str, str]) -> None:
        self.addresses = {**PROVIDERS, **addresses}
        self._keys = dict(keys)
        self._client = httpx2.AsyncClient(
            verify=tls_context(),
            follow_redirects=False,
            timeout=httpx2.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS, pool=None),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def send(
        self, method: str, route: Route, headers: RawHeaders, body: bytes | None, *, own_key: bool
    ) -> httpx2.Response:
        """The service's answer, as soon as it begins. The caller closes it."""
        request = httpx2.Request(
            method, self._url(route), headers=self._headers(route, headers, own_key=own_key), content=body
        )
        return await self._client.send(request, stream=True)

    def _url(self, route: Route) -> str:
        """OpenAI's base URL ends with /v1, Anthropic's does not."""
        provider = route.protocol.provider
        path = route.path.removeprefix("v1/") if provider == "openai" else route.path
        query = f"?{route.query}" if route.query else ""
        return f"{self.addresses[provider].rstrip('/')}/{path}{query}"

    def _headers(self, route: Route, headers: RawHeaders, *, own_key: bool) -> list[tuple[bytes, bytes]]:
        dropped = _HOP | _OURS | _named(headers) | (_CREDENTIALS if own_key else set())
        kept = [(name, value) for name, value in headers if name not in dropped and name != b"accept-encoding"]
        kept.append((b"accept-encoding", _readable(headers)))
        if own_key:
            kept.append(self._credential(route.protocol))
        return kept

    def _credential(self, protocol: Protocol) -> tuple[bytes, bytes]:
        key = self._keys.get(protocol.provider)
        if not key:
            name = f"{protocol.provider.upper()}_API_KEY"
            raise NotConfiguredError(
                f"There is no key for {protocol.provider}.",
                next_step=f"Put {name} into .env and start the gateway again.",
            )
        if protocol is Protocol.MESSAGES:
            return b"x-api-key", key.encode()
        return b"authorization", f"Bearer {key}".encode()


def answer_headers(headers: RawHeaders) -> list[tuple[bytes, bytes]]:
    """What of a service's headers goes on to the client: all that is not about the connection."""
    dropped = _HOP | _named(headers)
    return [(name, value) for name, value in headers if name.lower() not in dropped]


def _named(headers: RawHeaders) -> set[bytes]:
    """What `Connection` says belongs to this connection alone."""
    values = [value for name, value in headers if name.lower() == b"connection"]
    return {token.strip().lower() for value in values for token in value.split(b",")}


def _readable(headers: RawHeaders) -> bytes:
    """The compressions that the client takes and we can read. A usage that we cannot read would cost the worst case."""
    values = [value.decode("latin-1") for name, value in headers if name == b"accept-encoding"]
    asked = [token.strip() for value in values for token in value.split(",")]
    kept = [token for token in asked if token.partition(";")[0].strip().lower() in _READABLE]
    return ", ".join(kept).encode() or b"identity"


class Unpacked:
    """A decompressed copy of an answer. `readable` is False where its compression is unknown or broken."""

    def __init__(self, encodings: Iterable[str]) -> None:
        steps = [one.strip().lower() for value in encodings for one in value.split(",")]
        kinds = [one for one in steps if one not in ("", "identity")]
        self.readable = len(kinds) <= 1 and all(one in ("gzip", "x-gzip", "deflate") for one in kinds)
        self.plain = not kinds
        self._unpacker = None if self.plain else zlib.decompressobj(wbits=47)

    def feed(self, data: bytes, most: int = 0) -> bytes:
        """What comes out of these bytes; with `most`, at most that many and then no more."""
        if not self.readable:
            return b""
        if self._unpacker is None:
            return data
        try:
            out = self._unpacker.decompress(data, most)
            while self._unpacker.eof and self._unpacker.unused_data:
                rest = self._unpacker.unused_data
                self._unpacker = zlib.decompressobj(wbits=47)
                out += self._unpacker.decompress(rest, most)
            return out
        except zlib.error:
            self.readable = False
            return b""


def check_upstream(address: str, own: str) -> None:
    """Refuse to be one's own upstream: a shell in which ANTHROPIC_BASE_URL points at the gateway started it."""
    there, here = urlsplit(address), urlsplit(own)
    if there.port == here.port and there.hostname in ("127.0.0.1", "localhost", "::1", here.hostname):
        raise NotConfiguredError(
            f"The gateway would call itself: its upstream is {address}.",
            next_step="Unset ANTHROPIC_BASE_URL and OPENAI_BASE_URL, or set [gateway.upstreams] in nudge.toml.",
        )
