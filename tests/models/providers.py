"""Every provider with its fake, so that one suite runs over all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from nudge.model import ModelReply, ModelRequest, Purpose, StreamEvent, Text, Tool, ToolUse, user
from nudge.models.anthropic import AnthropicModel
from nudge.models.openai import OpenAIModel
from nudge.models.remote import RemoteModel
from nudge.testing.anthropic_server import FakeAnthropic
from nudge.testing.model_server import ModelServer
from nudge.testing.openai_server import FakeOpenAI
from tests.coach.outside import HastyClock

KEY = "sk-SECRET-of-this-test"
SCHEMA = {"type": "object", "properties": {"action": {"type": "string"}}, "required": ["action"]}
READ = Tool("read_file", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
WRITE = Tool("write_file", "Writes a file.", {"type": "object"})


def question(**changes: Any) -> ModelRequest:
    plain = {
        "purpose": Purpose.HEARTBEAT,
        "model": "claude-haiku",
        "system": (Text("You are a coach."),),
        "turns": (user("It is late."),),
        "max_tokens": 200,
    }
    return ModelRequest(**{**plain, **changes})


@dataclass(frozen=True)
class Provider:
    """`fake` takes the keywords of the fake; `model` the service and the keywords of the model."""

    name: str
    fake: Callable[..., ModelServer]
    model: Callable[..., RemoteModel]
    key_name: str
    base_url_name: str
    path: str = ""

    def open(self, service: ModelServer, clock: HastyClock, **more: Any) -> RemoteModel:
        return self.model(KEY, clock=clock, base_url=service.url + self.path, **{"timeout": 10, **more})


PROVIDERS = [
    Provider("anthropic", FakeAnthropic, AnthropicModel, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    Provider("openai", FakeOpenAI, OpenAIModel, "OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1"),
]


@dataclass
class World:
    """One provider, its fake and a clock that does not wait."""

    provider: Provider
    service: ModelServer
    clock: HastyClock = field(default_factory=HastyClock)
    opened: list[RemoteModel] = field(default_factory=list)

    def open(self, **more: Any) -> RemoteModel:
        self.opened.append(self.provider.open(self.service, self.clock, **more))
        return self.opened[-1]

    @property
    def model(self) -> RemoteModel:
        return self.opened[0] if self.opened else self.open()


async def events_of(model: RemoteModel, request: ModelRequest) -> list[StreamEvent]:
    return [event async for event in model.stream(request)]


async def replies_of(world: World, request: ModelRequest, answer: Any) -> list[ModelReply]:
    """The same answer, asked for in both ways."""
    world.service.reply(answer, times=2)
    whole = await world.model.complete(request)
    streamed = (await events_of(world.model, request))[-1]
    assert isinstance(streamed, ModelReply)
    return [whole, streamed]


def calls(reply: ModelReply) -> list[tuple[str, Any]]:
    return [(use.name, use.input) for use in reply.tool_uses]


def uses(events: list[StreamEvent]) -> list[ToolUse]:
    return [event for event in events if isinstance(event, ToolUse)]
