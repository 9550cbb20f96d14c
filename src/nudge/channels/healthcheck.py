"""The dead-man's switch: a call to an address of the person's choice. Its silence is what somebody notices."""

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
        """Raises RetryableError where nobody answers. The address is as good as a key: it appears in no message and in
        no traceback."""
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
