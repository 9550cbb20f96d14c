"""The dead-man's switch: a call to an address of the person's choice. Its silence is what somebody notices."""

from __future__ import annotations

from nudge.errors import RetryableError

_SECONDS = 10.0


class Healthcheck:
    def __init__(self, url: str) -> None:
        self._url = url

    async def report(self) -> None:
        import httpx2

        try:
            async with httpx2.AsyncClient(timeout=_SECONDS, follow_redirects=True) as client:
                (await client.get(self._url)).raise_for_status()
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            # The address is as good as a key: it appears in no message.
            raise RetryableError(f"The health check did not answer ({type(error).__name__}).") from None
