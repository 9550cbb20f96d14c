"""Google's protocol: the model is in the path, the limit inside generationConfig, the usage in every piece."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from nudge.gateway.calls import LEAST_ANSWER, MOST_ANSWER, MOST_INPUT, BadCallError, Protocol, read_body
from nudge.gateway.google import read_google
from nudge.gateway.routes import Kind, read_route
from nudge.gateway.tokens import new_token
from nudge.testing import FakeGoogle, Fault, FaultKind
from nudge.tokens import TokenUse, token_use
from tests.gateway.kit import GOOGLE_KEY, PRICES, cost_of, gateway_on

FLASH = "gemini-2.5-flash"
CONTENTS = [{"role": "user", "parts": [{"text": "Hi"}]}]
HEADERS = {"x-goog-api-key": GOOGLE_KEY}


def path(method: str = "streamGenerateContent", version: str = "v1beta") -> str:
    return f"{version}/models/{FLASH}:{method}"


@pytest.mark.parametrize(
    ("method", "asked", "kind"),
    [
        pytest.param("POST", path(), Kind.CALL, id="a stream"),
        pytest.param("POST", path("generateContent", "v1"), Kind.CALL, id="an answer, of the first version"),
        pytest.param("POST", path("countTokens"), Kind.FREE, id="counting is free"),
        pytest.param("GET", "v1beta/models", Kind.FREE, id="so is the list of models"),
        pytest.param("POST", path("batchGenerateContent"), Kind.UNCOUNTED, id="a batch"),
        pytest.param("POST", path("embedContent"), Kind.UNCOUNTED, id="embeddings"),
        pytest.param("POST", f"v1beta/models/a/{FLASH}:generateContent", Kind.UNCOUNTED, id="a path that is another"),
        pytest.param("POST", f"v1beta/models/{FLASH}:generatecontent", Kind.UNCOUNTED, id="other letters"),
        pytest.param("POST", "v1beta/cachedContents", Kind.UNCOUNTED, id="a cache that costs by the hour"),
    ],
)
def test_what_costs_money_is_known_by_its_path(method: str, asked: str, kind: Kind) -> None:
    route = read_route(method, f"/agents/b/{asked}".encode(), b"alt=sse", {})
    assert (route.kind, route.protocol) == (kind, Protocol.GOOGLE)
    assert route.model == (FLASH if kind is Kind.CALL else "")


@pytest.mark.parametrize(
    ("more", "most", "limited"),
    [
        pytest.param("", MOST_ANSWER, '"generationConfig": {"maxOutputTokens": 900}, ', id="no limit"),
        pytest.param(
            '"generationConfig": {}, ', MOST_ANSWER, '"generationConfig": {"maxOutputTokens": 900}, ', id="empty"
        ),
        pytest.param(
            '"generationConfig": {"topK": 3, "maxOutputTokens": 8192}, ',
            8192,
            '"generationConfig": {"topK": 3, "maxOutputTokens": 900}, ',
            id="a limit",
        ),
        pytest.param(
            '"generation_config": {"max_output_tokens":8192}, ',
            8192,
            '"generation_config": {"max_output_tokens":900}, ',
            id="the other spelling",
        ),
    ],
)
def test_only_the_limit_changes(more: str, most: int, limited: str) -> None:
    rest = '"contents": []}'
    call = read_google(read_body(f"{{{more}{rest}".encode()), FLASH, stream=True)
    assert (call.max_tokens, call.model) == (most, FLASH)
    assert call.limited(900).decode() == f"{{{limited}{rest}"
    assert json.loads(call.limited(900))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            '{"contents": [], "generationConfig": {}, "generation_config": {"maxOutputTokens": 9}}', id="twice"
        ),
        pytest.param(
            '{"contents": [], "generationConfig": {"maxOutputTokens": 1, "max_output_tokens": 9}}', id="inside"
        ),
        pytest.param(
            '{"contents": [], "generationConfig": {"maxOutputTokens": 1, "maxOutputTokens": 9}}', id="the same"
        ),
        pytest.param('{"generationConfig": {"maxOutputTokens": -1}}', id="no number"),
        pytest.param('{"generationConfig": {"candidateCount": 1000}}', id="too many answers"),
        pytest.param('{"generationConfig": 7}', id="no object"),
        pytest.param('{"contents": []}', id="a field twice"),
    ],
)
def test_what_could_mean_two_things_is_refused(body: str) -> None:
    with pytest.raises(BadCallError):
        read_google(read_body(body.replace("{", '{"contents": [], ', 1).encode()), FLASH, stream=True)


def read(**more: Any) -> Any:
    return read_google(read_body(json.dumps({"contents": CONTENTS, **more}).encode()), FLASH, stream=False)


def test_thinking_searches_candidates_and_files_are_bounded() -> None:
    config = {"thinkingConfig": {"thinkingBudget": 8_192}, "candidateCount": 2, "maxOutputTokens": 20_000}
    call = read(generationConfig=config, tools=[{"googleSearch": {}}, {"functionDeclarations": []}])
    assert (call.max_tokens, call.least_tokens) == (40_000, 2 * (LEAST_ANSWER + 8_192))
    assert call.searches == 3
    assert read(contents=[{"parts": [{"fileData": {"fileUri": "gs://film"}}]}]).input_bound == MOST_INPUT
    image = read(contents=[{"parts": [{"inlineData": {"mimeType": "image/png", "data": "A" * 400_000}}]}])
    assert image.input_bound < 10_000
    assert read(cachedContent="cachedContents/x").input_bound > 400_000


def test_its_usage_is_read_to_the_token() -> None:
    usage = {
        "promptTokenCount": 1_000,
        "cachedContentTokenCount": 600,
        "toolUsePromptTokenCount": 50,
        "candidatesTokenCount": 20,
        "thoughtsTokenCount": 80,
    }
    assert token_use(usage) == TokenUse(input=450, output=100, cache_read=600, reasoning=80)
    assert token_use({"promptTokenCount": 7}) == TokenUse(input=7)


@pytest.mark.parametrize("method", ["generateContent", "streamGenerateContent"])
async def test_calls_cost_what_the_service_billed(method: str) -> None:
    with FakeGoogle(default="word " * 300) as service:
        async with gateway_on(google=service.url) as rig, httpx2.AsyncClient() as client:
            for _ in range(2):
                asked = {"contents": [{"role": "user", "parts": [{"text": "Go on. " * 900}]}]}
                url = f"{rig.base()}/{path(method)}?alt=sse"
                said = await client.post(url, json=asked, headers=HEADERS)
                assert said.status_code == 200, said.text
            assert service.served[1]["usageMetadata"]["cachedContentTokenCount"] > 0
            assert await rig.spent() == cost_of(service.served) > 0
            counted = await client.post(f"{rig.base()}/{path('countTokens')}", json=asked, headers=HEADERS)
            assert counted.json()["totalTokens"] > 0
            assert len(await rig.calls()) == 2


async def test_a_stream_that_breaks_off_is_not_charged_by_its_first_piece() -> None:
    with FakeGoogle(default="word " * 400) as service:
        service.fail(Fault(FaultKind.CUT, pieces=20))
        async with gateway_on(google=service.url) as rig, httpx2.AsyncClient() as client:
            await client.post(f"{rig.base()}/{path()}?alt=sse", json={"contents": CONTENTS}, headers=HEADERS)
            (call,) = await rig.calls()
            assert call.result == "service broke off"
            came = PRICES.cost(FLASH, {"promptTokenCount": 12, "candidatesTokenCount": 40})
            assert await rig.spent() >= came


async def test_a_token_stands_for_the_key_and_a_refusal_has_googles_shape() -> None:
    with FakeGoogle() as service:
        keys = {"google": GOOGLE_KEY}
        async with gateway_on(google=service.url, keys=keys) as rig, httpx2.AsyncClient() as client:
            token = await new_token(rig.store, "builder", rig.clock.now())
            url = f"{rig.url}/{path('generateContent')}"
            said = await client.post(url, json={"contents": CONTENTS}, headers={"x-goog-api-key": token})
            assert said.status_code == 200
        async with gateway_on(google=service.url, window=0) as rig, httpx2.AsyncClient() as client:
            said = await client.post(f"{rig.base()}/{path()}", json={"contents": CONTENTS}, headers=HEADERS)
            assert said.status_code == 402
            error = said.json()["error"]
            assert (error["code"], error["status"]) == (402, "FAILED_PRECONDITION")
            assert "nudge budget top-up" in error["message"]


async def test_a_token_in_the_query_stands_for_the_key_and_goes_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    with FakeGoogle() as service:
        async with gateway_on(google=service.url, keys={"google": GOOGLE_KEY}) as rig, httpx2.AsyncClient() as client:
            token = await new_token(rig.store, "builder", rig.clock.now())
            url = f"{rig.url}/{path('generateContent')}"
            for query in (f"key={token}", f"alt=json&%6bey={token}"):
                said = await client.post(f"{url}?{query}", json={"contents": CONTENTS})
                assert said.status_code == 200, said.text
            refused = await client.post(f"{url}?key={token}x", json={"contents": CONTENTS})
            assert refused.status_code == 401
            assert token not in refused.text + caplog.text + str(await rig.calls())


@pytest.mark.parametrize(
    ("method", "query", "headers"),
    [
        pytest.param("POST", "fields=candidates,usageMetadata.promptTokenCount", {}, id="a mask hides the usage"),
        pytest.param("POST", "alt=sse&%24fields=candidates", {}, id="by its other name"),
        pytest.param("POST", "", {"X-Goog-FieldMask": "candidates"}, id="in a header"),
        pytest.param("GET", "", {"X-HTTP-Method-Override": "POST"}, id="a read that is a call"),
        pytest.param("DELETE", "", {"X-HTTP-Method": "POST"}, id="a removal that is a call"),
    ],
)
async def test_a_call_that_would_hide_its_cost_does_not_pass(method: str, query: str, headers: dict[str, str]) -> None:
    with FakeGoogle() as service:
        async with gateway_on(google=service.url) as rig, httpx2.AsyncClient() as client:
            url = f"{rig.base()}/{path('generateContent')}?{query}"
            said = await client.request(method, url, json={"contents": CONTENTS}, headers={**HEADERS, **headers})
            assert said.status_code == 400, said.text
            assert not service.requests
