"""Language models, one folder per provider. A new one is its folder and its line in PROVIDERS.

A provider is a `RemoteModel` (`models.remote`). It is imported when it is chosen, and not before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from nudge.errors import ConfigError, NotConfiguredError

if TYPE_CHECKING:
    from nudge.backoff import RetryClock
    from nudge.models.remote import RemoteModel

AUTO = "auto"
OFFLINE = "offline"


@dataclass(frozen=True, slots=True)
class Provider:
    """Where a provider's class is, and the settings that it reads.

    `keyless`: a service of another address may need no key. `auto`: the key alone is enough to choose it.
    """

    factory: str
    key: str
    base_url: str
    keyless: bool = False
    auto: bool = False

    @property
    def needs(self) -> tuple[str, ...]:
        """One of these settings has to be there."""
        return (self.key, self.base_url) if self.keyless else (self.key,)


PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider(
        "nudge.models.anthropic:AnthropicModel", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", auto=True
    ),
    "openai": Provider("nudge.models.openai:OpenAIModel", "OPENAI_API_KEY", "OPENAI_BASE_URL", keyless=True),
}


def chosen(wanted: str, settings: Mapping[str, str], env_file: str = ".env") -> str | None:
    """The provider for what `model` in nudge.toml says; None where the coach's own rules answer.

    "auto" takes a provider whose key is there, but never OpenAI: many people have that key in their environment for
    other programs, and it says nothing about which model to ask.

    >>> chosen("auto", {"ANTHROPIC_API_KEY": "sk-ant-x"}), chosen("auto", {"OPENAI_API_KEY": "sk-x"})
    ('anthropic', None)
    """
    if wanted == AUTO:
        ready = (name for name, one in PROVIDERS.items() if one.auto and settings.get(one.key, "").strip())
        return next(ready, None)
    if wanted == OFFLINE:
        return None
    if wanted not in PROVIDERS:
        raise ConfigError(
            f"There is no model provider called {wanted!r}.",
            next_step=f"Use one of {', '.join((AUTO, OFFLINE, *PROVIDERS))}.",
        )
    needs = PROVIDERS[wanted].needs
    if not any(settings.get(name, "").strip() for name in needs):
        raise NotConfiguredError(
            f'model = "{wanted}" in nudge.toml, but there is no {" or ".join(needs)}.',
            next_step=f'Put it into {env_file}, or set model = "{AUTO}".',
        )
    return wanted


def open_model(provider: str, settings: Mapping[str, str], *, clock: RetryClock) -> RemoteModel:
    """The model of a provider, made from the environment and `.env`."""
    module, _, name = PROVIDERS[provider].factory.partition(":")
    model: type[RemoteModel] = getattr(import_module(module), name)
    return model.from_settings(settings, clock=clock)
