"""The service behind the gateway: the same request, sent on, and its raw answer."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from nudge.errors import NotConfiguredError
from nudge.gateway.calls import Protocol
from nudge.gateway.routes import KEY_HEADER, RUN_HEADER, Route
from nudge.tls import tls_context

PROVIDERS = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
    "google": "https://generativelanguage.googleapis.com",
}
ADDRESSES = {"anthropic": "ANTHROPIC_BASE_URL", "openai": "OPENAI_BASE_URL", "google": "GOOGLE_GEMINI_BASE_URL"}
"""The variables in which programs look for the address of a provider."""
KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "google": "GEMINI_API_KEY"}
TOKEN_HEADER = "x-nudge-token"  # noqa: S105
CONNECT_SECONDS = 20.0
SILENCE_SECONDS = 900.0
"""How long a service may think without a word; it sends pings in a stream."""

KEPT_SECONDS = 15.0
"""How long an idle connection is used again. A service that closed it meanwhile would cost a call."""
LONGEST_HEADER = 64 * 1024

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
_CREDENTIALS = {b"authorization", b"x-api-key", KEY_HEADER.encode()}
_READABLE = ("gzip", "deflate", "identity")


class ServiceError(Exception):
    """The service broke off, and nobody knows what it did with the call."""


class UnreachableError(ServiceError):
    """The service was never reached: nothing was sent."""


class Answer:
    """A service's answer, as it comes: its bytes are those of the wire."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.status = response.status
        self.headers: RawHeaders = response.raw_headers

    def header(self, name: bytes) -> list[str]:
        return [value.decode("latin-1") for known, value in self.headers if known.lower() == name]

    async def pieces(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._response.content.iter_any():
                yield piece
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ServiceError(type(error).__name__) from error

    def close(self) -> None:
        """Let go of the connection. One whose answer did not come to its end is cut, so that the service stops."""
        self._response.close()


class Upstreams:
    """The services, by provider. Redirects go to the client: only the operator decides which service is called."""

    def __init__(self, addresses: Mapping[str, str], keys: Mapping[str, str]) -> None:
        self.addresses = {**PROVIDERS, **addresses}
        self._proxies = {provider: _proxy_of(address) for provider, address in self.addresses.items()}
        self._keys = dict(keys)
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _connections(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(ssl=tls_context(), limit=0, keepalive_timeout=KEPT_SECONDS),
                timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS, sock_read=SILENCE_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                max_line_size=LONGEST_HEADER,
                max_field_size=LONGEST_HEADER,
                skip_auto_headers=("accept", "accept-encoding", "content-type", "user-agent"),
            )
        return self._session

    async def send(
        self, method: str, route: Route, headers: RawHeaders, body: bytes | None, *, own_key: bool
    ) -> Answer:
        """The service's answer, as soon as it begins. The caller closes it."""
        sent = self._headers(route, headers, own_key=own_key)
        try:
            response = await self._connections().request(
                method,
                URL(self._url(route, own_key=own_key), encoded=True),
                headers=CIMultiDict((name.decode(), value.decode()) for name, value in sent),
                data=body,
                allow_redirects=False,
                proxy=self._proxies[route.protocol.provider],
            )
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.ClientHttpProxyError) as error:
            raise UnreachableError(type(error).__name__) from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ServiceError(type(error).__name__) from error
        return Answer(response)

    def _url(self, route: Route, *, own_key: bool) -> str:
        """OpenAI's base URL ends with /v1, Anthropic's does not. Where our key pays, the client's goes nowhere."""
        provider = route.protocol.provider
        path = route.path.removeprefix("v1/") if provider == "openai" else route.path
        asked = route.query_without_key if own_key else route.query
        query = f"?{asked}" if asked else ""
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
            name = KEYS[protocol.provider]
            raise NotConfiguredError(
                f"There is no key for {protocol.provider}.",
                next_step=f"Put {name} into .env and start the gateway again.",
            )
        if protocol is Protocol.GOOGLE:
            return KEY_HEADER.encode(), key.encode()
        if protocol is Protocol.MESSAGES:
            return b"x-api-key", key.encode()
        return b"authorization", f"Bearer {key}".encode()


def _proxy_of(address: str) -> str | None:
    """The proxy that the environment names for an address: HTTPS_PROXY, HTTP_PROXY and NO_PROXY. Looked up once: the
    library would read them, and the person's .netrc, for every call."""
    there = urlsplit(address)
    return None if proxy_bypass(there.netloc) else getproxies().get(there.scheme)


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
            next_step=f"Unset {', '.join(ADDRESSES.values())}, or set [gateway.upstreams] in nudge.toml.",
        )
