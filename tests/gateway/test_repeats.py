"""Repeats: tool calls are read from what clients send, each is counted once, and a loop is reported or refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anthropic
import openai
import pytest

from nudge.coach.explain import explain
from nudge.gateway.app import GatewayOptions
from nudge.gateway.calls import Protocol
from nudge.gateway.repeats import Repeats, Turn, Watch, turns_of
from nudge.progress.loops import LoopAction
from nudge.testing import FakeAnthropic, FakeResponses, Reply
from tests.gateway.kit import KEY, MODEL, OPENAI_KEY, Rig, gateway_on

Round = tuple[str, str, str]
"""One round of a conversation: a tool, its argument, and what it brought."""
Body = dict[str, Any]


def messages(rounds: list[Round]) -> Body:
    said: list[Body] = [{"role": "user", "content": "Fix it."}]
    for number, (tool, argument, result) in enumerate(rounds):
        use = {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": {"command": argument}}
        said.append({"role": "assistant", "content": [{"type": "text", "text": "Let me see."}, use]})
        told = [{"type": "text", "text": result}]
        block = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": told, "is_error": False}
        reminder = {"type": "text", "text": "<system-reminder>Use the to-do list.</system-reminder>"}
        said.append({"role": "user", "content": [block, reminder]})
    return {"messages": said}


def chat(rounds: list[Round]) -> Body:
    said: list[Body] = [{"role": "system", "content": "You code."}, {"role": "user", "content": "Fix it."}]
    for tool, argument, result in rounds:
        function = {"name": tool, "arguments": json.dumps({"command": argument})}
        # Some servers number the calls of every answer from 0.
        said.append({"role": "assistant", "content": None, "tool_calls": [{"id": "call_0", "function": function}]})
        said.append({"role": "tool", "tool_call_id": "call_0", "content": result})
    return {"messages": said}


def responses(rounds: list[Round]) -> Body:
    said: list[Body] = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix it."}]}]
    for number, (tool, argument, result) in enumerate(rounds):
        arguments = json.dumps({"command": argument})
        said.append({"type": "reasoning", "summary": [], "encrypted_content": "…"})
        said.append({"type": "function_call", "call_id": f"c{number}", "name": tool, "arguments": arguments})
        said.append({"type": "function_call_output", "call_id": f"c{number}", "output": result})
    return {"input": said}


def google(rounds: list[Round]) -> Body:
    said: list[Body] = [{"role": "user", "parts": [{"text": "Fix it."}]}]
    for tool, argument, result in rounds:
        said.append({"role": "model", "parts": [{"functionCall": {"name": tool, "args": {"command": argument}}}]})
        response = {"id": f"{tool}_{len(said)}", "name": tool, "response": {"output": result}}
        said.append({"role": "user", "parts": [{"functionResponse": response}]})
    return {"contents": said}


SHAPES = [
    pytest.param(Protocol.MESSAGES, messages, id="Anthropic's messages"),
    pytest.param(Protocol.CHAT, chat, id="OpenAI's chat"),
    pytest.param(Protocol.RESPONSES, responses, id="OpenAI's responses"),
    pytest.param(Protocol.GOOGLE, google, id="Google's contents"),
]
Shape = Callable[[list[Round]], Body]
SAME: Round = ("Bash", "make", "no rule")


def actions(protocol: Protocol, shape: Shape, rounds: list[Round]) -> list[str]:
    """What is said to each call of a client that repeats its whole conversation with every call."""
    watch = Watch()
    bodies = [shape(rounds[:count]) for count in range(1, len(rounds) + 1)]
    return [watch.look("builder", "s1", protocol, body)[1].action.value for body in bodies]


@pytest.mark.parametrize(("protocol", "shape"), SHAPES)
@pytest.mark.parametrize(
    ("rounds", "expected"),
    [
        pytest.param(
            [SAME] * 6,
            ["none", "none", "nudge", "warn", "refuse", "refuse"],
            id="the same call is a loop",
        ),
        pytest.param(
            [("Bash", "job 7", f"{done} %") for done in range(0, 60, 10)],
            ["none"] * 6,
            id="a job that moves",
        ),
        pytest.param(
            [("Read", f"file{number}", "text") for number in range(6)], ["none"] * 6, id="other arguments are no loop"
        ),
    ],
)
def test_each_tool_call_counts_once(protocol: Protocol, shape: Shape, rounds: list[Round], expected: list[str]) -> None:
    assert actions(protocol, shape, rounds) == expected


@pytest.mark.parametrize(("protocol", "shape"), SHAPES)
def test_after_a_restart_the_conversation_tells_the_same(protocol: Protocol, shape: Shape) -> None:
    before, after = Watch(), Watch()
    for count in range(1, 6):
        before.look("builder", "s1", protocol, shape([SAME] * count))
    whole = shape([SAME] * 5)
    assert after.look("builder", "s1", protocol, whole)[1] == before.look("builder", "s1", protocol, whole)[1]
    moves = shape([("Bash", "job 7", f"{done} %") for done in range(0, 60, 10)])
    assert not Watch().look("builder", "s1", protocol, moves)[1].is_loop


def said_after(body: Body, text: str) -> Body:
    turns = next(iter(body.values()))
    return {name: [*turns, {"role": "user", "content": text, "parts": [{"text": text}]}] for name in body}


@pytest.mark.parametrize(("protocol", "shape"), SHAPES)
def test_the_person_gives_it_a_new_reason(protocol: Protocol, shape: Shape) -> None:
    watch = Watch()
    looping = shape([SAME] * 5)
    assert watch.look("builder", "s1", protocol, looping)[1].action is LoopAction.REFUSE
    assert watch.look("builder", "s1", protocol, looping)[1].action is LoopAction.REFUSE, "a retry is the same call"
    assert not watch.look("builder", "s1", protocol, said_after(looping, "Try once more."))[1].is_loop


def test_a_conversation_that_was_compacted_starts_over() -> None:
    watch = Watch()
    assert watch.look("builder", "s1", Protocol.MESSAGES, messages([SAME] * 4))[1].is_loop
    summary = {"role": "user", "content": "You ran make four times."}
    use = {"type": "tool_use", "id": "toolu_9", "name": "Bash", "input": {"command": "make"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_9", "content": "no rule"}
    compacted = [summary, {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    assert not watch.look("builder", "s1", Protocol.MESSAGES, {"messages": compacted})[1].is_loop


def test_calls_of_one_answer_are_one_turn_and_errors_are_errors() -> None:
    uses = [{"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"command": "make"}} for n in (1, 2)]
    results = [{"type": "tool_result", "tool_use_id": f"t{n}", "content": "no", "is_error": True} for n in (1, 2)]
    body = {"messages": [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]}
    (turn,) = turns_of(Protocol.MESSAGES, body)
    assert [(call.id, call.error) for call in turn.calls] == [("t1", "no"), ("t2", "no")]


@pytest.mark.parametrize(
    "said",
    [
        {"messages": 7},
        {"messages": [None, {"role": "assistant", "content": [{"type": "tool_use"}]}, {"role": "user"}]},
        {"messages": [{"role": "assistant", "tool_calls": [{"function": 3}, 5]}, {"role": "tool"}]},
        {"input": [{"type": 4}, {"type": "function_call_output", "call_id": "x"}, {"type": "function_call"}]},
    ],
)
@pytest.mark.parametrize("protocol", list(Protocol))
def test_what_makes_no_sense_does_no_harm(protocol: Protocol, said: Body) -> None:
    assert all(isinstance(turn, Turn) for turn in turns_of(protocol, said))


async def loop_with_the_sdk(rig: Rig, rounds: int) -> str:
    """A loop that asks for the same again and again; what it was refused with."""
    turns: list[Body] = [{"role": "user", "content": "Fix it."}]
    async with anthropic.AsyncAnthropic(base_url=rig.base(), api_key=KEY, max_retries=0) as client:
        for _ in range(rounds):
            try:
                said = await client.messages.create(
                    model=MODEL,
                    max_tokens=100,
                    messages=turns,  # type: ignore[arg-type]
                    tools=[{"name": "make", "input_schema": {"type": "object"}}],
                    extra_headers={"x-nudge-run": "s1"},
                )
            except anthropic.APIStatusError as error:
                return str(error)
            turns.append({"role": "assistant", "content": [block.model_dump() for block in said.content]})
            (use,) = [block for block in said.content if block.type == "tool_use"]
            result = {"type": "tool_result", "tool_use_id": use.id, "content": "no rule"}
            turns.append({"role": "user", "content": [result]})
    return ""


@pytest.mark.parametrize(
    ("wanted", "made", "lines", "refusal"),
    [
        pytest.param(Repeats.OFF, 9, 0, "", id="off: nothing is said"),
        pytest.param(Repeats.OBSERVE, 9, 3, "", id="observe: each step of the loop is reported once"),
        pytest.param(Repeats.REFUSE, 5, 3, "This call is refused because it brought nothing new", id="refuse"),
    ],
)
async def test_a_loop_through_the_gateway(wanted: Repeats, made: int, lines: int, refusal: str) -> None:
    with FakeAnthropic(answer=lambda body: Reply("", tools=[("make", {})])) as service:
        async with gateway_on(service.url, options=GatewayOptions(repeats=lambda agent: wanted)) as rig:
            said = await loop_with_the_sdk(rig, 9)
            assert refusal in said
            assert len(service.served) == made
            calls = await rig.calls()
            feed = await rig.store.feed.recent(agent="builder", limit=10)
            assert [line.kind for line in feed] == ["repeats"] * lines
            why = await explain(rig.store, "s1")
            assert why.thing is not None
            assert ("Doom loop detected" in why.thing.text) == (wanted is not Repeats.OFF)
            if refusal:
                assert (calls[0].result, calls[0].granted) == ("repeats itself", 0)
                assert "its calls are refused" in feed[0].text
                assert await rig.held() == 0


async def test_a_conversation_that_the_service_keeps_is_followed() -> None:
    with FakeResponses(answer=lambda body: Reply("", tools=[("make", {})])) as service:
        async with gateway_on(
            openai=service.base_url, options=GatewayOptions(repeats=lambda agent: Repeats.REFUSE)
        ) as rig:
            async with openai.AsyncOpenAI(base_url=f"{rig.base()}/v1", api_key=OPENAI_KEY, max_retries=0) as client:
                tools: list[Any] = [{"type": "function", "name": "make", "parameters": {"type": "object"}}]
                said = await client.responses.create(model="gpt-6.1-sol", input="Fix it.", tools=tools)
                with pytest.raises(openai.BadRequestError, match="Doom loop detected: 'make' called 5 times"):
                    for _ in range(9):
                        (call,) = [item for item in said.output if item.type == "function_call"]
                        output: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "no rule"}
                        said = await client.responses.create(
                            model="gpt-6.1-sol", previous_response_id=said.id, input=[output], tools=tools
                        )
            assert len(service.served) == 5
