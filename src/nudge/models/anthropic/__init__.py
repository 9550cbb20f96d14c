"""Anthropic's models, and any service that speaks the same protocol."""

from nudge.models.anthropic.model import AnthropicModel

__all__ = ["AnthropicModel"]
