"""Requests on the control socket that make no sense are refused in words."""

from collections.abc import Mapping
from typing import Any

import httpx2
import pytest

from nudge.daemon.control import control_app


async def _nothing() -> None:
    return None


async def _empty() -> Mapping[str, Any]:
    return {}


async def _echo(body: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"keys": sorted(body)}


@pytest.mark.parametrize(
    "body", [b"[" * 100_000, b'{"text":' + b"[" * 100_000, b"{", b"\xff", b"[]", b""], ids=lambda body: repr(body[:12])
)
async def test_what_is_no_object_is_refused(body: bytes) -> None:
    app = control_app(_empty, _nothing, lambda: None, {"chat": _echo})
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://nudge") as client:
        answer = await client.post("/chat", content=body)
    assert answer.status_code == 400
    assert answer.json() == {"error": "the body must be a JSON object"}
