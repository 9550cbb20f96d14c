"""Which provider a home's configuration means."""

from __future__ import annotations

import pytest

from nudge.errors import ConfigError, NotConfiguredError, NudgeError
from nudge.models import PROVIDERS, chosen, open_model
from nudge.models.remote import RemoteModel
from tests.coach.outside import HastyClock

ANTHROPIC = {"ANTHROPIC_API_KEY": "sk-ant-x"}
OPENAI = {"OPENAI_API_KEY": "sk-x"}
LOCAL = {"OPENAI_BASE_URL": "http://localhost:11434/v1"}

CHOICES: dict[str, tuple[str, dict[str, str], str | None]] = {
    "auto without a key": ("auto", {}, None),
    "auto with a blank key": ("auto", {"ANTHROPIC_API_KEY": " "}, None),
    "auto with Anthropic's key": ("auto", ANTHROPIC, "anthropic"),
    "auto with both keys": ("auto", {**OPENAI, **ANTHROPIC}, "anthropic"),
    "auto with OpenAI's key, which is for other programs": ("auto", {**OPENAI, **LOCAL}, None),
    "offline with a key": ("offline", ANTHROPIC, None),
    "anthropic": ("anthropic", ANTHROPIC, "anthropic"),
    "openai with a key": ("openai", OPENAI, "openai"),
    "openai on this machine": ("openai", LOCAL, "openai"),
}


@pytest.mark.parametrize("wanted, settings, provider", CHOICES.values(), ids=CHOICES.keys())
def test_which_provider(wanted: str, settings: dict[str, str], provider: str | None) -> None:
    assert chosen(wanted, settings) == provider


MISTAKES: dict[str, tuple[str, dict[str, str], type[NudgeError], str]] = {
    "an unknown name": ("openay", {}, ConfigError, "auto, offline, anthropic, openai"),
    "anthropic without a key": ("anthropic", OPENAI, NotConfiguredError, "there is no ANTHROPIC_API_KEY"),
    "openai with neither": ("openai", ANTHROPIC, NotConfiguredError, "there is no OPENAI_API_KEY or OPENAI_BASE_URL"),
}


@pytest.mark.parametrize("wanted, settings, kind, words", MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_explained(wanted: str, settings: dict[str, str], kind: type[NudgeError], words: str) -> None:
    with pytest.raises(NudgeError, match=words) as caught:
        chosen(wanted, settings)
    assert type(caught.value) is kind


@pytest.mark.parametrize("name", PROVIDERS)
async def test_every_provider_opens_from_its_settings(name: str) -> None:
    provider = PROVIDERS[name]
    model = open_model(name, {provider.key: "sk-x", provider.base_url: "http://127.0.0.1:9"}, clock=HastyClock())
    assert isinstance(model, RemoteModel)
    assert model.name == name
    await model.close()
