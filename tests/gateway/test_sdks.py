"""The providers' own libraries through the gateway: nothing differs from the service itself but the bill."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext

import anthropic
import openai
import pytest

from nudge.testing import FakeAnthropic, FakeOpenAI, FakeResponses, Fault, FaultKind, Reply
from tests.gateway.kit import KEY, MODEL, OPENAI_KEY, cost_of, gateway_on

TOOL = {"name": "read_file", "description": "Read a file.", "input_schema": {"type": "object", "properties": {}}}
GPT = "gpt-6.1-sol"


@pytest.mark.parametrize("streamed", [False, True], ids=["as a whole", "as a stream"])
async def test_the_anthropic_sdk_talks_with_tools_and_pays_to_the_micro_dollar(streamed: bool) -> None:
    with FakeAnthropic() as service:
        service.reply(Reply("Let me look.", tools=[("read_file", {"path": "app.py"})]))
        service.reply("Fixed it. " * 50)
        async with gateway_on(service.url) as rig:
            client = anthropic.AsyncAnthropic(base_url=rig.base(), api_key=KEY, max_retries=0)
            turns: list[dict[str, object]] = [{"role": "user", "content": "Fix it. " * 600}]
            for _ in range(2):
                asked = {"model": MODEL, "max_tokens": 4_096, "messages": turns, "tools": [TOOL]}
                if streamed:
                    async with client.messages.stream(**asked) as stream:  # type: ignore[arg-type]
                        said = await stream.get_final_message()
                else:
                    said = await client.messages.create(**asked)  # type: ignore[call-overload]
                turns.append({"role": "assistant", "content": [block.model_dump() for block in said.content]})
                uses = [block for block in said.content if block.type == "tool_use"]
                results = [{"type": "tool_result", "tool_use_id": use.id, "content": "print(1)"} for use in uses]
                turns.append({"role": "user", "content": results})
            assert said.content[0].text == "Fixed it. " * 50
            assert await rig.spent() == cost_of(service.served) > 0
            assert await rig.held() == 0
            assert [(call.status, call.result, call.cost) for call in await rig.calls()] == [
                (200, "done", cost_of([answer])) for answer in reversed(service.served)
            ]
            await client.close()


@pytest.mark.parametrize("usage", [True, False], ids=["with usage", "without usage"])
async def test_openai_chat_streams_are_charged_with_and_without_usage(usage: bool) -> None:
    with FakeOpenAI() as service:
        service.reply("word " * 400)
        async with gateway_on(openai=service.base_url) as rig:
            client = openai.AsyncOpenAI(base_url=f"{rig.base()}/v1", api_key=OPENAI_KEY, max_retries=0)
            options = {"stream_options": {"include_usage": True}} if usage else {}
            stream = await client.chat.completions.create(
                model=GPT, messages=[{"role": "user", "content": "Go on."}], stream=True, **options
            )
            text = "".join([c.choices[0].delta.content or "" async for c in stream if c.choices])
            assert text == "word " * 400
            truth = cost_of(service.served)
            spent = await rig.spent()
            assert spent == truth if usage else truth <= spent < 5 * truth
            await client.close()


@pytest.mark.parametrize("streamed", [False, True], ids=["as a whole", "as a stream"])
async def test_openai_responses_pay_for_cached_and_reasoning_tokens(streamed: bool) -> None:
    with FakeResponses() as service:
        service.reply(Reply("Done.", thinking="hm " * 300), times=2)
        async with gateway_on(openai=service.base_url) as rig:
            client = openai.AsyncOpenAI(base_url=f"{rig.base()}/v1", api_key=OPENAI_KEY, max_retries=0)
            for _ in range(2):
                if streamed:
                    async with client.responses.stream(model=GPT, input="Fix it. " * 900) as stream:
                        said = await stream.get_final_response()
                else:
                    said = await client.responses.create(model=GPT, input="Fix it. " * 900)
                assert said.output_text == "Done."
            details = service.served[1]["usage"]
            assert details["input_tokens_details"]["cached_tokens"] > 0
            assert details["output_tokens_details"]["reasoning_tokens"] > 0
            assert await rig.spent() == cost_of(service.served)
            await client.close()


async def test_errors_of_the_service_come_through_as_they_are_and_are_free() -> None:
    with FakeAnthropic() as service:
        service.fail(Fault.status_of(429, retry_after=7, message="slow down"))
        async with gateway_on(service.url) as rig:
            client = anthropic.AsyncAnthropic(base_url=rig.base(), api_key=KEY, max_retries=0)
            with pytest.raises(anthropic.RateLimitError, match="slow down") as caught:
                await client.messages.create(model=MODEL, max_tokens=9, messages=[{"role": "user", "content": "Hi"}])
            assert caught.value.response.headers["retry-after"] == "7"
            wrong = anthropic.AsyncAnthropic(base_url=rig.base(), api_key="sk-wrong", max_retries=0)
            with pytest.raises(anthropic.AuthenticationError):
                await wrong.messages.create(model=MODEL, max_tokens=9, messages=[{"role": "user", "content": "Hi"}])
            assert await rig.spent() == 0
            assert [call.result for call in await rig.calls()] == ["service refused"] * 2
            await client.close()
            await wrong.close()


async def test_counting_tokens_and_models_are_free_even_for_an_agent_without_money() -> None:
    with FakeAnthropic() as service:
        async with gateway_on(service.url, window=0) as rig:
            client = anthropic.AsyncAnthropic(base_url=rig.base(), api_key=KEY, max_retries=0)
            counted = await client.messages.count_tokens(model=MODEL, messages=[{"role": "user", "content": "Hi"}])
            assert counted.input_tokens > 0
            assert [model.id async for model in client.models.list()] == ["claude-fake"]
            with pytest.raises(anthropic.APIStatusError) as caught:
                await client.messages.create(model=MODEL, max_tokens=9, messages=[{"role": "user", "content": "Hi"}])
            assert caught.value.status_code == 402
            assert caught.value.body["error"]["type"] == "billing_error"  # type: ignore[index,call-overload]
            assert "nudge budget top-up" in caught.value.message
            assert caught.value.response.headers["x-should-retry"] == "false"
            assert int(caught.value.response.headers["retry-after"]) > 0
            assert service.requests == []
            await client.close()


async def test_a_client_that_goes_away_ends_the_call_and_pays_for_what_came() -> None:
    with FakeAnthropic() as service:
        service.reply("word " * 2_000)
        service.fail(Fault(FaultKind.STALL, pieces=100))
        async with gateway_on(service.url) as rig:
            client = anthropic.AsyncAnthropic(base_url=rig.base(), api_key=KEY, max_retries=0)
            stream = await client.messages.create(
                model=MODEL, max_tokens=64_000, messages=[{"role": "user", "content": "Go on."}], stream=True
            )
            seen = 0
            async for event in stream:
                seen += event.type == "content_block_delta"
                if seen == 100:
                    break
            await stream.close()
            await client.close()
            assert await asyncio.to_thread(service.wait_for_abandoned, 1)
            assert [call.result for call in await rig.calls()] == ["client gone"]
            usage = service.served[0]["usage"]
            came = cost_of([{"model": MODEL, "usage": {**usage, "output_tokens": 200}}])  # 100 pieces of 8 characters
            most = cost_of([{"model": MODEL, "usage": {**usage, "output_tokens": 800}}])
            assert came <= await rig.spent() <= most
            assert await rig.held() == 0


@pytest.mark.parametrize("kind", [FaultKind.CUT, FaultKind.GIVE_UP], ids=["without a word", "with an error"])
async def test_a_stream_that_breaks_off_is_charged_its_input_and_what_came(kind: FaultKind) -> None:
    with FakeAnthropic() as service:
        service.reply("word " * 500)
        service.fail(Fault(kind, pieces=10, status=529))
        async with gateway_on(service.url) as rig:
            client = anthropic.AsyncAnthropic(base_url=rig.base(), api_key=KEY, max_retries=0)
            with pytest.raises(anthropic.APIStatusError) if kind is FaultKind.GIVE_UP else nullcontext():
                async with client.messages.stream(
                    model=MODEL, max_tokens=4_096, messages=[{"role": "user", "content": "Go on. " * 500}]
                ) as stream:
                    async for _ in stream:
                        pass
            usage = service.served[0]["usage"]
            came = cost_of([{"model": MODEL, "usage": {**usage, "output_tokens": 20}}])
            assert came <= await rig.spent() < cost_of(service.served)
            assert (await rig.calls())[0].result == "service broke off"
            await client.close()
