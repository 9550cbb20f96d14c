"""Language models: one folder for each provider, and one line here.

To add one: inherit from `nudge.models.remote.RemoteModel`, name the class below, and give the provider its settings in
`home/config.py`. `tests/models/test_conformance.py` says what every provider must do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from nudge.backoff import RetryClock
    from nudge.models.remote import RemoteModel

MODELS: Final[Mapping[str, str]] = {
    "anthropic": "nudge.models.anthropic:AnthropicModel",
    "openai": "nudge.models.openai:OpenAIModel",
}
"""Each provider's class. It is imported only when its models are asked."""


def open_model(provider: str, environment: Mapping[str, str], *, clock: RetryClock) -> RemoteModel:
    """Make the model. It connects when it is first asked. Raises NotConfiguredError if something is missing.

    >>> open_model("openai", {"OPENAI_BASE_URL": "http://localhost:11434/v1"}, clock=None)
    OpenAIModel('http://localhost:11434/v1')
    """
    from importlib import import_module

    module, _, name = MODELS[provider].partition(":")
    return cast("RemoteModel", getattr(import_module(module), name).from_settings(environment, clock=clock))
