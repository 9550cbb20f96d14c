"""The trust in the outside world, loaded once.

Reading the certificates takes 75 to 150 ms, and every HTTP client would do it again: two for a chat
service, one for the model, and one more whenever a dead connection is replaced.
"""

from __future__ import annotations

import ssl
from functools import cache

import httpx2


@cache
def tls_context() -> ssl.SSLContext:
    """The default context of httpx2, shared by all clients of this process."""
    return httpx2.create_ssl_context()
