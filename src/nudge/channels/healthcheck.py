"""The dead-man's switch: calls an address that the person chose. Somebody notices when the calls stop."""

from __future__ import annotations

from nudge.errors import RetryableError

_SECONDS = 10.0


class Healthcheck:
    """Calls the address with GET; any answer below 400 counts.

    >>> Healthcheck("https://hc.example/ping/0123")
    Healthcheck(…)
    """

    def __init__(self, url: str, *, timeout: float = _SECONDS) -> None:
        self._url = url
        self._timeout = timeout

    def __repr__(self) -> str:
        return "Healthcheck(…)"

    async def report(self) -> None:
        """Raises RetryableError if nobody answers. The address is a secret and appears in no message or traceback."""
        import httpx2

        from nudge.tls import tls_context

        trouble = ""
        try:
            async with httpx2.AsyncClient(timeout=self._timeout, follow_redirects=True, verify=tls_context()) as client:
                response = await client.get(self._url)
            if response.status_code >= 400:
                trouble = f"status {response.status_code}"
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            trouble = type(error).__name__
        if trouble:
            raise RetryableError(
                f"The health check did not answer ({trouble}).", next_step="Check NUDGE_HEALTHCHECK_URL."
            )
