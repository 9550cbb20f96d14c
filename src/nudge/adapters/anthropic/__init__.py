"""Anthropic's models, and any service that speaks the same protocol."""

from nudge.adapters.anthropic.model import AnthropicModel

__all__ = ["AnthropicModel"]
